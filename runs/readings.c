/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "runs/readings.h"

#include <math.h>
#include <stdlib.h>

#include "base/text.h"

bool runs_readings_take(
	struct runs_readings *r, const struct stress_event *e, struct runs_event *ret)
{
	if (e->kind >= STRESS_EVENT_KINDS) {
		return false;
	}
	bool same = r->has[e->kind] && r->value[e->kind] == e->value;
	bool happening = e->kind == STRESS_EVENT_NOTE || e->kind == STRESS_EVENT_XID ||
			 e->kind == STRESS_EVENT_ECC;
	bool steady = e->kind == STRESS_EVENT_TEMPERATURE || e->kind == STRESS_EVENT_POWER;
	bool first = !r->has[e->kind];
	r->has[e->kind] = true;
	r->value[e->kind] = e->value;
	r->fresh = r->fresh || !same;
	if (!happening && (same || steady || first)) {
		return false;
	}
	*ret = (struct runs_event){
		.from_ns = e->ns,
		.to_ns = e->ns + e->took_ns,
		.code = e->value,
		.value = NAN,
	};
	text_copy(ret->source, sizeof(ret->source), stress_event_name(e->kind));
	text_copy(ret->note, sizeof(ret->note), e->text);
	return true;
}

char *runs_readings_json(struct runs_readings *r)
{
	struct js *j = js_object();
	bool any = false;
	for (unsigned k = 0; k < STRESS_EVENT_KINDS; k++) {
		if (!r->has[k]) {
			continue;
		}
		int64_t v = r->value[k];
		any = true;
		switch (k) {
		case STRESS_EVENT_CLOCK_SM:
			js_set_int(j, "clock_sm_mhz", v);
			break;
		case STRESS_EVENT_CLOCK_MEM:
			js_set_int(j, "clock_mem_mhz", v);
			break;
		case STRESS_EVENT_TEMPERATURE:
			js_set_real(j, "temperature_c", (double)v / 1000);
			break;
		case STRESS_EVENT_POWER:
			js_set_real(j, "power_w", (double)v / 1000);
			break;
		case STRESS_EVENT_THROTTLE:
			js_set_hex(j, "throttle", (uint64_t)v);
			break;
		case STRESS_EVENT_PSTATE:
			js_set_int(j, "pstate", v);
			break;
		case STRESS_EVENT_XID:
			js_set_int(j, "xid", v);
			break;
		case STRESS_EVENT_ECC:
			js_set_int(j, "ecc_errors", v);
			break;
		case STRESS_EVENT_LINK:
			js_set_strf(j, "link", "Gen%d x%d", (int)(v >> 8), (int)(v & 0xff));
			break;
		default:
			break;
		}
	}
	char *s = any ? js_text_compact(j) : NULL;
	js_free(j);
	r->fresh = false;
	return s;
}
