/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "base/macros.h"
#include "base/text.h"
#include "cli/cmd.h"
#include "cli/tune.h"

static const char help[] =
	"usage: barscope verify [OPTIONS]\n\n"
	"Every GPU kernel that suits the shape against FP64 on the CPU, all outputs: plain, with\n"
	"bias and ReLU or GELU, and with all signs taken off; and whether every copy of the\n"
	"weights gives the same bits. One kernel that accumulates in FP16 is there to fail: it\n"
	"shows that the bound can be missed.\n\n" CMD_TUNE_HELP
	"  --json           for programs (schema barscope.verify/1)\n\n"
	"Exit status: 0 all right, 1 a kernel computes wrong, 3 usage or failure, 4 no GPU.\n";

static const double customary = 1e-2; /* of |y|: what frameworks' tests ask for */

static const char *const check_names[STRESS_TUNE_CHECKS] = {
	[STRESS_TUNE_RELU] = "bias, ReLU",
	[STRESS_TUNE_GELU] = "bias, GELU",
	[STRESS_TUNE_POSITIVE] = "no signs",
};

static bool is_within(const struct stress_tune_error *e)
{
	return !e->checked || (e->same && e->over == 0);
}

static bool passes(const struct stress_tune_row *r)
{
	bool all = r->same && r->error >= 0 && r->over == 0;

	for (size_t i = 0; i < STRESS_TUNE_CHECKS; i++) {
		all &= is_within(&r->more[i]);
	}
	return all;
}

/* The row's own check as one of the others. */
static struct stress_tune_error plain(const struct stress_tune_row *r)
{
	return (struct stress_tune_error){
		.checked = r->error >= 0,
		.same = r->same,
		.outputs = r->outputs,
		.over = r->over,
		.error = r->error,
		.error_limit = r->error_limit,
		.error_absolute = r->error_absolute,
		.error_relative = r->error_relative,
	};
}

static void add_check(
	struct text *out, const char *name, const struct stress_tune_error *e, bool wrong)
{
	if (!e->checked) {
		return;
	}
	text_addf(out, "%-20s %9.2e %9.2e %9.2e %9.2e %-4s ", name, e->error_absolute,
		e->error_relative, e->error, e->error_limit,
		e->error_relative <= customary ? "ok" : "no");
	if (!e->same) {
		text_add(out, "WRONG: copies differ\n");
	} else if (e->over == 0) {
		text_add(out, wrong ? "not told apart\n" : "ok\n");
	} else {
		text_addf(out, "%s: %llu of %llu\n", wrong ? "fails, as it should" : "WRONG",
			(unsigned long long)e->over, (unsigned long long)e->outputs);
	}
}

static char *as_text(const struct cmd_tune_result *r, const struct stress_config *c)
{
	struct text out = {0};

	text_addf(&out, "%s, %ux%ux%u %s, seed %llu, %u copies\n\n", r->facts.device, c->shape.m,
		c->shape.k, c->shape.n, c->dtype == STRESS_F16 ? "f16" : "f32",
		(unsigned long long)c->seed, r->facts.copies);
	text_addf(&out, "%-20s %9s %9s %9s %9s %-4s\n", "", "|y-ref|", "/|ref|", "/sum|wx|",
		"bound", "1e-2");
	for (size_t i = 0; i < r->n; i++) {
		const struct stress_tune_row *w = &r->row[i];
		const struct stress_tune_error own = plain(w);

		if (*w->refused) {
			text_addf(&out, "%-20s %s\n", w->name, w->refused);
			continue;
		}
		add_check(&out, w->name, &own, w->wrong);
		for (size_t k = 0; k < STRESS_TUNE_CHECKS; k++) {
			char name[24];

			snprintf(name, sizeof(name), "  %s", check_names[k]);
			add_check(&out, name, &w->more[k], w->wrong);
		}
		text_addf(&out, "  hash 0x%016llx\n", (unsigned long long)w->hash);
	}
	text_add(&out,
		"\n/sum|wx|: the error of the output that exceeds its bound most, as a share of its\n"
		"sum of |w||x|. bound: what FP32 sums and one rounding explain there. 1e-2: whether\n"
		"the customary 1e-2 of |y| holds everywhere; wrong kernels can pass that one, and\n"
		"right ones miss it near zero.\n");
	return text_steal(&out);
}

static struct js *check_json(const struct stress_tune_error *e)
{
	struct js *o = js_object();

	js_set_bool(o, "right", is_within(e));
	js_set_bool(o, "customary", e->error_relative <= customary);
	js_set_bool(o, "copies_agree", e->same);
	js_set_real(o, "error", e->error);
	js_set_real(o, "error_absolute", e->error_absolute);
	js_set_real(o, "error_relative", e->error_relative);
	js_set_real(o, "error_limit", e->error_limit);
	js_set_u64(o, "outputs", e->outputs);
	js_set_u64(o, "over", e->over);
	return o;
}

static char *as_json(const struct cmd_tune_result *r, const struct stress_config *c)
{
	static const char *const keys[STRESS_TUNE_CHECKS] = {
		[STRESS_TUNE_RELU] = "relu",
		[STRESS_TUNE_GELU] = "gelu",
		[STRESS_TUNE_POSITIVE] = "no_signs",
	};
	struct js *j = js_object(), *rows = js_array();

	js_set_str(j, "schema", "barscope.verify/1");
	js_set_str(j, "device", r->facts.device);
	js_set_strf(j, "shape", "%ux%ux%u", c->shape.m, c->shape.k, c->shape.n);
	js_set_str(j, "dtype", c->dtype == STRESS_F16 ? "f16" : "f32");
	js_set_u64(j, "seed", c->seed);
	for (size_t i = 0; i < r->n; i++) {
		const struct stress_tune_row *w = &r->row[i];
		const struct stress_tune_error own = plain(w);
		struct js *o = *w->refused ? js_object() : check_json(&own);

		js_set_str(o, "name", w->name);
		js_set_bool(o, "meant_to_fail", w->wrong);
		if (*w->refused) {
			js_set_str(o, "refused", w->refused);
		} else {
			js_set_hex(o, "hash", w->hash);
		}
		for (size_t k = 0; k < STRESS_TUNE_CHECKS; k++) {
			if (w->more[k].checked) {
				js_set(o, keys[k], check_json(&w->more[k]));
			}
		}
		js_push(rows, o);
	}
	js_set(j, "kernels", rows);
	char *s = js_text(j);

	js_free(j);
	return s;
}

int cmd_verify(int argc, char **argv)
{
	struct cmd_tune_args a = {0};
	const struct cmd_option options[] = {
		{"shape", NULL, &a.shape, 0},
		{"dtype", NULL, &a.dtype, 0},
		{"device", NULL, &a.device, 0},
		{"kernel", NULL, &a.kernel, 0},
		{"json", &a.json, NULL, 0},
	};
	struct stress_tune_options o = {.check_terms = UINT64_MAX, .thorough = true};
	const uint32_t copies = 4; /* enough to see whether they agree */
	const char *none[1];
	size_t nnone;
	int status;

	if (!cmd_args_parse(
		    argc, argv, options, ARRAY_LEN(options), help, 0, 0, none, &nnone, &status) ||
		!cmd_tune_config("verify", &a, &o.config, &status)) {
		return status;
	}
	o.config.copies = copies;
	static struct cmd_tune_result r; /* tens of KiB */

	status = cmd_tune_run("verify", &o, &r);
	if (status) {
		return status;
	}
	_cleanup_free_ char *s = a.json ? as_json(&r, &o.config) : as_text(&r, &o.config);

	size_t checked = 0;

	status = cmd_print(s);
	for (size_t i = 0; i < r.n; i++) {
		if (*r.row[i].refused) {
			continue;
		}
		if (!r.row[i].wrong && !passes(&r.row[i])) {
			return EXIT_FINDING;
		}
		checked++;
	}
	if (status == EXIT_FINE && checked == 0) {
		return cmd_fail(EXIT_UNDETERMINED, "verify: no kernel could be checked");
	}
	return status;
}
