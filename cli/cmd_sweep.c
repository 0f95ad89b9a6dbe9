/* SPDX-License-Identifier: GPL-2.0-or-later */
/* "stress --sweep": every shape in a worker and a run of its own, so that one that fails ends
 * alone. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/macros.h"
#include "base/text.h"
#include "cli/cmd.h"
#include "cli/stress.h"

/* Decoding a 7B and a 70B model, and one where nothing is a multiple of anything. */
static const char decoding[] =
	"1x4096x4096,1x4096x11008,1x11008x4096,1x4096x12288,2x4096x11008,4x4096x11008,8x4096x11008,"
	"16x4096x11008,1x8192x28672,1x28672x8192,8x8192x28672,16x28672x8192,3x4097x11009";

struct sweep {
	const struct cmd_stress_options *o;
	struct js *steps; /* --json */
	int status;       /* the worst so far */
};

/* 1 beats 3 beats 2 beats 0; a signal ends it anyway. */
static int worse(int a, int b)
{
	static const int rank[] = {[EXIT_FINE] = 0,
		[EXIT_UNDETERMINED] = 1,
		[EXIT_USAGE] = 2,
		[EXIT_NO_GPU] = 2,
		[EXIT_FINDING] = 3};
	if (a > EXIT_NO_GPU || b > EXIT_NO_GPU) {
		return MAX(a, b);
	}
	return rank[b] > rank[a] ? b : a;
}

static const char *word(const struct cmd_stress_result *r, const struct cmd_stress_summary *s)
{
	return s->corrupt                       ? "CORRUPT"
	       : r->status.phase == STRESS_DIED ? "DIED"
	       : *r->trouble                    ? "FAILED"
	       : r->status.ended                ? "ENDED"
	       : r->signal                      ? "stopped"
						: "ok";
}

static void print_step(bool ascii, const char *shape, const struct cmd_stress_result *r,
	const struct cmd_stress_summary *s)
{
	const struct cmd_stress_layer *host = &s->layer[RUNS_HOST];
	_cleanup_free_ char *line = NULL;
	struct text t = {0};
	char finding[STRESS_FINDING_TEXT];
	text_addf(&t, "%-16s %10.1f %7.1f %6.0f %7u %7lld %s\n", shape, (double)host->p50 / 1e3,
		s->bytes_per_s / 1e9, s->share * 100, r->status.copies, (long long)r->run,
		word(r, s));
	if (r->status.finding.kind) {
		stress_finding_text(&r->status.finding, finding);
		text_addf(&t, "  %s\n", finding);
	}
	if (*r->trouble) {
		text_addf(&t, "  %s\n", r->trouble);
	} else if (r->status.ended) {
		text_addf(&t, "  %s\n", r->status.why);
	}
	line = cmd_style_plain(cmd_style_detect(ascii), text_steal(&t));
	fputs(line, stdout);
	fflush(stdout);
}

/* All shapes are shapes: said before the first of them runs. */
static int check_shapes(const char *list)
{
	_cleanup_free_ char *shapes = xstrdup(list);
	char *rest = NULL;
	size_t n = 0;
	for (char *s = strtok_r(shapes, ",", &rest); s; s = strtok_r(NULL, ",", &rest), n++) {
		struct stress_shape shape;
		struct why why;
		if (stress_shape_parse(s, &shape, &why) < 0) {
			return cmd_usage_error("stress", "--sweep: %s", why.text);
		}
	}
	return n ? 0 : cmd_usage_error("stress", "--sweep= needs shapes, such as 1x4096x11008");
}

/* Shape after shape; false: a signal, a GPU that is lost, or nothing can run at all. */
static bool step(struct sweep *w, const char *shape)
{
	struct cmd_stress_options o = *w->o;
	struct cmd_stress_loop *loop;
	struct cmd_stress_result r;
	struct cmd_stress_summary s;
	struct why why;
	if (stress_shape_parse(shape, &o.config.shape, &why) < 0) {
		w->status = worse(w->status, EXIT_USAGE); /* checked before */
		return false;
	}
	const int started = cmd_stress_loop(&o, &loop, &r);
	if (started) {
		w->status = worse(w->status, started);
		return false;
	}
	cmd_stress_summarise(&r, &s);
	if (w->steps) {
		js_push(w->steps, cmd_stress_json(&o, &r, &s));
	} else {
		print_step(o.ascii, shape, &r, &s);
	}
	const int status = cmd_stress_status(&r, &s);
	const bool lost = r.status.ended == STRESS_ENDED_XID || r.status.ended == STRESS_ENDED_LOST;
	const bool on = !r.signal && !lost;
	cmd_stress_loop_finish(loop);
	w->status = worse(w->status, status);
	return on;
}

int cmd_sweep(const struct cmd_stress_options *o)
{
	struct sweep w = {.o = o};
	_cleanup_free_ char *shapes = xstrdup(o->shapes ? o->shapes : decoding);
	char *rest = NULL;
	const int bad = check_shapes(shapes);
	if (bad) {
		return bad;
	}
	if (o->json) {
		w.steps = js_array();
	} else {
		printf("%-16s %10s %7s %6s %7s %7s\n", "shape", "p50 us", "GB/s", "% read",
			"copies", "run");
	}
	for (char *s = strtok_r(shapes, ",", &rest); s; s = strtok_r(NULL, ",", &rest)) {
		if (!step(&w, s)) {
			break;
		}
	}
	if (w.steps) {
		struct js *j = js_object();
		js_set_str(j, "schema", "barscope.sweep/1");
		js_set(j, "steps", w.steps);
		_cleanup_free_ char *out = js_text(j);
		js_free(j);
		const int printed = cmd_print(out);
		w.status = worse(w.status, printed);
	}
	return w.status;
}
