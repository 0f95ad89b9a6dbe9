/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/print_episodes.h"

#include <math.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "cli/layout.h"
#include "cli/print_runs.h"
#include "runs/attribute.h"

enum { LISTED = 1000 }; /* episodes in JSON */

static void print_parts(struct text *line, const struct runs_attribution *a)
{
	const char *between = "";
	for (unsigned i = 0; i < RUNS_PARTS; i++) {
		if (a->part[i]) {
			text_addf(line, "%s%zu %s", between, a->part[i], runs_part_name(i));
			between = ", ";
		}
	}
}

int cmd_episodes_print(
	struct text *t, struct runs_store *s, const struct runs_info *run, struct why *why)
{
	struct runs_attribution a;
	int r = runs_attribute_load(s, run, &a, why);
	if (r) {
		return r;
	}
	if (a.episodes) {
		char ns[TEXT_TIME_MAX], share[CMD_WHEN_MAX];
		struct text line = {0};
		text_addf(&line,
			"%zu slow episode%s, %s above the median in all, by layer: ", a.episodes,
			a.episodes == 1 ? "" : "s", text_ns(a.excess_ns, ns));
		print_parts(&line, &a);
		cmd_wrapped(t, 0, 2, line.s);
		text_finish(&line);
		for (size_t i = 0; i < a.nsource; i++) {
			const struct runs_source *src = &a.source[i];
			if (src->associated && src->named) {
				text_addf(t, "  %4zu associated with %s (", src->named, src->name);
				if (!isnan(src->share)) {
					text_addf(t, "it accounts for %s of all excess, ",
						cmd_percent(src->share, share));
				}
				text_addf(t, "chance puts %.1f there, p = %.2g)\n", src->expected,
					src->p);
			}
		}
		text_addf(t, "  %4zu unexplained (%s)\n", a.unexplained,
			cmd_percent((double)a.unexplained / (double)a.episodes, share));
	}
	runs_attribution_finish(&a);
	return 0;
}

static struct js *attribution_json(const struct runs_attribution *a)
{
	struct js *j = js_object(), *sources = js_array(), *parts = js_object();
	js_set_int(j, "episodes", (int64_t)a->episodes);
	js_set_int(j, "unexplained", (int64_t)a->unexplained);
	js_set_u64(j, "excess_ns", a->excess_ns);
	for (unsigned i = 0; i < RUNS_PARTS; i++) {
		if (a->part[i]) {
			js_set_int(parts, runs_part_name(i), (int64_t)a->part[i]);
		}
	}
	js_set(j, "parts", parts);
	for (size_t i = 0; i < a->nsource; i++) {
		const struct runs_source *s = &a->source[i];
		struct js *o = js_object();
		js_set_str(o, "source", s->name);
		js_set_int(o, "events", (int64_t)s->events);
		js_set_int(o, "near", (int64_t)s->near);
		js_set_real(o, "expected", s->expected);
		js_set_real(o, "p", s->p);
		js_set_real(o, "share", s->share);
		js_set_bool(o, "associated", s->associated);
		js_set_int(o, "named", (int64_t)s->named);
		js_push(sources, o);
	}
	js_set(j, "sources", sources);
	return j;
}

int cmd_episodes_json(
	struct js *obj, struct runs_store *s, const struct runs_info *run, struct why *why)
{
	_cleanup_free_ struct runs_episode *e = NULL;
	size_t n;
	struct runs_attribution a;
	int r = runs_info_episodes(s, run->id, LISTED, &e, &n, why);
	if (!r) {
		r = runs_attribute_load(s, run, &a, why);
	}
	if (r) {
		return r;
	}
	struct js *list = js_array();
	for (size_t i = 0; i < n; i++) {
		struct js *o = js_object();
		js_set_u64(o, "from_ns", e[i].from_ns - run->start_ns);
		js_set_u64(o, "to_ns", e[i].to_ns - run->start_ns);
		js_set_u64(o, "worst_ns", e[i].worst_ns);
		js_set_u64(o, "excess_ns", e[i].excess_ns);
		js_set_int(o, "launches", e[i].n);
		js_set_str(o, "part", runs_part_name(e[i].part));
		if (a.of[i] >= 0) {
			js_set_str(o, "associated_with", a.source[a.of[i]].name);
		}
		js_push(list, o);
	}
	js_set(obj, "attribution", attribution_json(&a));
	js_set(obj, "episodes", list);
	runs_attribution_finish(&a);
	return 0;
}
