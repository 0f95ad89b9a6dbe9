/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "runs/readings.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "base/text.h"

/* How a kind is taken in. */
enum way {
	WAY_STATE,   /* stored when it differs from before */
	WAY_STEADY,  /* not stored: the second's state holds it */
	WAY_HAPPENS, /* stored always */
	WAY_ERRORS,  /* the same, and counted */
	WAY_CALL,    /* a call that told nothing */
};

static enum way way_of(unsigned kind)
{
	switch (kind) {
	case STRESS_EVENT_TEMPERATURE:
	case STRESS_EVENT_POWER:
	case STRESS_EVENT_MEM_TEMPERATURE:
	case STRESS_EVENT_MARGIN:
		return WAY_STEADY;
	case STRESS_EVENT_XID:
	case STRESS_EVENT_THROTTLED:
	case STRESS_EVENT_GAP:
		return WAY_HAPPENS;
	case STRESS_EVENT_ECC:
	case STRESS_EVENT_REPLAY:
	case STRESS_EVENT_AER:
		return WAY_ERRORS;
	case STRESS_EVENT_READING:
		return WAY_CALL;
	default:
		return WAY_STATE;
	}
}

static void take_cost(struct runs_readings *r, const struct stress_event *e)
{
	if (!e->took_ns) {
		return;
	}
	r->calls++;
	r->took_ns += e->took_ns;
	r->first_ns = r->first_ns ? r->first_ns : e->ns;
	r->last_ns = e->ns + e->took_ns;
	if (e->took_ns > r->slowest_ns) {
		r->slowest_ns = e->took_ns;
		text_copy(r->slowest, sizeof(r->slowest), e->text);
	}
}

static void take_value(struct runs_readings *r, const struct stress_event *e, enum way way)
{
	const unsigned k = e->kind;
	const int64_t v = way == WAY_ERRORS && r->has[k] ? r->value[k] + e->value : e->value;

	r->fresh = r->fresh || !r->has[k] || r->value[k] != v;
	r->least[k] = r->has[k] ? MIN(r->least[k], v) : v;
	r->most[k] = r->has[k] ? MAX(r->most[k], v) : v;
	r->has[k] = true;
	r->value[k] = v;
	if (k == STRESS_EVENT_THROTTLE) {
		r->reasons |= (uint64_t)v;
	}
	for (unsigned p = 0; k == STRESS_EVENT_THROTTLED && p < NVML_POLICIES; p++) {
		if (!strcmp(e->text, nvml_policy_name(p))) {
			r->throttled_ns[p] += (uint64_t)e->value;
		}
	}
}

/* A clock that wobbles by a step of the table is stored when it moved by more than a percent. */
static bool moved(struct runs_readings *r, int64_t mhz)
{
	const int64_t by = mhz > r->stored_mhz ? mhz - r->stored_mhz : r->stored_mhz - mhz;

	if (r->stored_mhz && by * 100 <= r->stored_mhz) {
		return false;
	}
	r->stored_mhz = mhz;
	return true;
}

static void describe(const struct stress_event *e, struct runs_event *ret)
{
	char reasons[NVML_REASONS_MAX];

	text_copy(ret->source, sizeof(ret->source), stress_event_name(e->kind));
	text_copy(ret->note, sizeof(ret->note), e->text);
	if (e->kind == STRESS_EVENT_THROTTLE) {
		text_copy(ret->note, sizeof(ret->note),
			nvml_reasons_text((uint64_t)e->value, reasons));
	}
	if (e->kind == STRESS_EVENT_THROTTLED) {
		/* Each policy is a source of its own. */
		snprintf(ret->source, sizeof(ret->source), "throttled-%.13s", e->text);
		for (char *c = ret->source; *c; c++) {
			*c = *c == ' ' ? '-' : *c;
		}
	}
}

bool runs_readings_take(
	struct runs_readings *r, const struct stress_event *e, struct runs_event *ret)
{
	if (e->kind >= STRESS_EVENT_KINDS) {
		return false;
	}
	const enum way way = way_of(e->kind);
	const bool first = !r->has[e->kind], same = !first && r->value[e->kind] == e->value;
	const bool happens = way == WAY_HAPPENS || way == WAY_ERRORS;

	take_cost(r, e);
	if (way == WAY_CALL) {
		return false;
	}
	take_value(r, e, way);
	if (e->kind == STRESS_EVENT_CLOCK_SM ? !moved(r, e->value) || first
					     : !happens && (same || first || way == WAY_STEADY)) {
		return false;
	}
	const uint64_t since = e->since_us * (uint64_t)1000;

	*ret = (struct runs_event){
		.from_ns = e->ns > since ? e->ns - since : e->ns,
		.to_ns = e->ns + e->took_ns,
		.code = e->value,
		.value = NAN,
	};
	if (e->kind == STRESS_EVENT_GAP) {
		ret->to_ns = e->ns + (uint64_t)MAX(e->value, 0);
		ret->value =
			(double)e->value; /* what it took from every launch, were all cores still */
	}
	describe(e, ret);
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
		case STRESS_EVENT_REPLAY:
			js_set_int(j, "pcie_replays", v);
			break;
		case STRESS_EVENT_AER:
			js_set_int(j, "aer_errors", v);
			break;
		case STRESS_EVENT_MEM_TEMPERATURE:
			js_set_real(j, "memory_temperature_c", (double)v / 1000);
			break;
		case STRESS_EVENT_MARGIN:
			js_set_real(j, "temperature_margin_c", (double)v / 1000);
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
