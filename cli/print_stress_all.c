/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>

#include "cli/layout.h"
#include "cli/stress_all.h"

static const char *const ways[CMD_WAYS] = {"together", "alone"};

/* Batches have no host latency of their own. */
const struct runs_hist *cmd_all_shown(const struct cmd_all_gpu *g, int way)
{
	return g->host[way].total ? &g->host[way] : &g->on_device[way];
}

static void print_way(struct text *out, const struct cmd_all_gpu *g, int way)
{
	const struct runs_hist *h = cmd_all_shown(g, way), *d = &g->on_device[way];
	char p50[TEXT_TIME_MAX], p99[TEXT_TIME_MAX], max[TEXT_TIME_MAX], dev[TEXT_TIME_MAX] = "-";

	if (!h->total) {
		text_addf(out, "  %-10s nothing was measured\n", ways[way]);
		return;
	}
	if (d->total) {
		text_ns(runs_hist_quantile(d, 0.5), dev);
	}
	text_addf(out, "  %-10s %10s %7.1f %% %10s %10s   device %-10s %llu samples\n", ways[way],
		text_ns(runs_hist_quantile(h, 0.5), p50), runs_hist_band(h) * 100,
		text_ns(runs_hist_quantile(h, 0.99), p99), text_ns(h->max, max), dev,
		(unsigned long long)h->total);
}

/* What was recorded, and outputs that another run's contradict. */
static void add_runs(struct text *out, const struct cmd_all_gpu *g)
{
	char text[RUNS_GOLDEN_TEXT];

	for (int way = 0; way < CMD_WAYS; way++) {
		if (g->golden[way].verdict == RUNS_GOLDEN_DIFFERS) {
			runs_golden_text(&g->golden[way], g->status.golden_hash, text);
			text_addf(out, "  corruption: %s\n", text);
		}
		if (g->run[way]) {
			text_addf(out, "  recorded %s: run %lld\n", ways[way],
				(long long)g->run[way]);
		}
	}
}

static double share(uint64_t together, uint64_t alone)
{
	return alone ? (double)together / (double)alone - 1 : NAN;
}

void cmd_all_print(struct text *out, const struct cmd_all *a)
{
	char shape[STRESS_SHAPE_MAX];

	text_addf(out, "%d GPU%s, %s, %s, %.3g s each way\n", a->n, a->n == 1 ? "" : "s",
		stress_shape_name(&a->o->config, shape), stress_mode_name(a->o->config.mode),
		(double)a->o->duration_ns / 1e9);
	for (int i = 0; i < a->n; i++) {
		const struct cmd_all_gpu *g = &a->gpu[i];
		const struct runs_hist *t = cmd_all_shown(g, CMD_TOGETHER),
				       *l = cmd_all_shown(g, CMD_ALONE);

		text_addf(out, "\n%s  %s, kernel %s, %u copies\n", g->device.address,
			g->device.name, *g->status.kernel ? g->status.kernel : "-",
			g->status.copies);
		if (*g->status.why) {
			text_addf(out, "  %s\n", g->status.why);
		}
		text_addf(out, "  %-10s %10s %9s %10s %10s\n", "", "p50", "band", "p99", "max");
		print_way(out, g, CMD_TOGETHER);
		print_way(out, g, CMD_ALONE);
		if (t->total && l->total) {
			text_addf(out,
				"  together against alone: p50 %+.1f %%, p99 %+.1f %%, band %+.1f "
				"points\n",
				share(runs_hist_quantile(t, 0.5), runs_hist_quantile(l, 0.5)) * 100,
				share(runs_hist_quantile(t, 0.99), runs_hist_quantile(l, 0.99)) *
					100,
				(runs_hist_band(t) - runs_hist_band(l)) * 100);
		}
		if (g->status.mismatches) {
			text_addf(out, "  corruption: %llu outputs differ\n",
				(unsigned long long)g->status.mismatches);
		}
		add_runs(out, g);
	}
}

char *cmd_all_json(const struct cmd_all *a)
{
	struct js *j = js_object(), *gpus = js_array();
	char shape[STRESS_SHAPE_MAX];

	js_set_str(j, "schema", "barscope.stress-all/1");
	js_set_str(j, "shape", stress_shape_name(&a->o->config, shape));
	js_set_str(j, "mode", stress_mode_name(a->o->config.mode));
	js_set_real(j, "seconds", (double)a->o->duration_ns / 1e9);
	for (int i = 0; i < a->n; i++) {
		const struct cmd_all_gpu *g = &a->gpu[i];
		struct js *one = js_object();

		js_set_str(one, "address", g->device.address);
		js_set_str(one, "name", g->device.name);
		js_set_str(one, "kernel", g->status.kernel);
		js_set_int(one, "copies", g->status.copies);
		if (*g->status.why) {
			js_set_str(one, "why", g->status.why);
		}
		js_set_u64(one, "mismatches", g->status.mismatches);
		for (int way = 0; way < CMD_WAYS; way++) {
			const struct runs_hist *h = cmd_all_shown(g, way), *d = &g->on_device[way];
			struct js *w = js_object();

			if (g->run[way]) {
				js_set_int(w, "run", g->run[way]);
			}

			js_set_u64(w, "samples", h->total);
			if (h->total) {
				js_set_u64(w, "p50_ns", runs_hist_quantile(h, 0.5));
				js_set_u64(w, "p99_ns", runs_hist_quantile(h, 0.99));
				js_set_u64(w, "max_ns", h->max);
				js_set_real(w, "band", runs_hist_band(h));
			}
			if (d->total) {
				js_set_u64(w, "device_p50_ns", runs_hist_quantile(d, 0.5));
				js_set_real(w, "device_band", runs_hist_band(d));
			}
			js_set(one, ways[way], w);
		}
		js_push(gpus, one);
	}
	js_set(j, "gpus", gpus);
	char *s = js_text(j);

	js_free(j);
	return s;
}
