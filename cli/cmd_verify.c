/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "base/macros.h"
#include "base/text.h"
#include "cli/cmd.h"
#include "cli/dump.h"
#include "cli/tune.h"
#include "kernels/cuda/table.h"
#include "runs/golden.h"
#include "stress/data.h"

static const char help[] =
	"usage: barscope verify [OPTIONS]\n\n"
	"Every GPU kernel that suits the shape against FP64 on the CPU, all outputs: plain, with\n"
	"bias and ReLU or GELU, and with all signs taken off; and whether every copy of the\n"
	"weights gives the same bits. One kernel that accumulates in FP16 is there to fail: it\n"
	"shows that the bound can be missed.\n\n" CMD_TUNE_HELP
	"  --dump FILE      write one kernel's output, of --kernel or the first, to FILE\n"
	"  --against FILE   compare every output with that one, element by element\n"
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

struct against {
	const struct cmd_dump *dump; /* NULL: nothing to compare with */
	const char *file;            /* to write; NULL: nothing */
	const struct stress_config *config;
	bool wrote;
	struct why why; /* writing failed */
	struct {
		char kernel[40];
		struct cmd_dump_diff diff;
	} row[CMD_TUNE_ROWS];
	size_t n;
	struct runs_golden_found golden[CMD_TUNE_ROWS]; /* of each row of the result */
};

/* Each right kernel's hash against the one that a recorded run has stored; nothing is written. */
static void look_at_golden(
	struct against *a, const struct cmd_tune_result *r, const struct stress_config *c)
{
	_cleanup_free_ char *path = NULL;
	_cleanup_store_ struct runs_store *s = NULL;
	struct why why;

	if (runs_store_path(NULL, &path, &why) < 0 || access(path, F_OK) ||
		runs_store_open(path, RUNS_STORE_READ, &s, &why) < 0) {
		return;
	}
	for (size_t i = 0; i < r->n; i++) {
		struct runs_golden_key k = {
			.build = gemm_cuda_build() + STRESS_DATA_VERSION, .seed = c->seed};

		snprintf(k.isa, sizeof(k.isa), "sm_%d", r->facts.cc);
		text_copy(k.kernel, sizeof(k.kernel), r->row[i].name);
		snprintf(k.shape, sizeof(k.shape), "%ux%ux%u", c->shape.m, c->shape.k, c->shape.n);
		text_copy(k.dtype, sizeof(k.dtype), c->dtype == STRESS_F16 ? "f16" : "f32");
		if (r->row[i].hash) {
			runs_golden_look(s, &k, r->row[i].hash, &a->golden[i], &why);
		}
	}
}

static void take_output(struct cmd_tune_result *r, const char *kernel, const void *y, size_t bytes)
{
	struct against *a = r->data;
	const struct gemm_cuda_kernel *k = gemm_cuda_find(kernel);

	if (a->dump && a->n < CMD_TUNE_ROWS && bytes == a->dump->bytes) {
		text_copy(a->row[a->n].kernel, sizeof(a->row[a->n].kernel), kernel);
		cmd_dump_compare(a->dump, y, &a->row[a->n++].diff);
	}
	if (a->file && !a->wrote && k && (!k->wrong || *a->config->kernel)) {
		struct cmd_dump d = {
			.shape = a->config->shape,
			.dtype = a->config->dtype,
			.seed = a->config->seed,
			.build = gemm_cuda_build() + STRESS_DATA_VERSION,
			.y = y,
			.bytes = bytes,
		};

		text_copy(d.kernel, sizeof(d.kernel), kernel);
		snprintf(d.isa, sizeof(d.isa), "sm_%d", r->facts.cc);
		a->wrote = cmd_dump_write(a->file, &d, &a->why) == 0;
	}
}

/* The dump's own kernel must give its bits again; others sum in another order. */
static bool must_agree(const struct against *a, const struct cmd_tune_result *r, size_t i)
{
	char isa[16];

	snprintf(isa, sizeof(isa), "sm_%d", r->facts.cc);
	return !strcmp(a->row[i].kernel, a->dump->kernel) && !strcmp(isa, a->dump->isa) &&
	       a->dump->build == gemm_cuda_build() + STRESS_DATA_VERSION;
}

static void add_against(struct text *out, const struct against *a, const struct cmd_tune_result *r)
{
	if (!a->dump) {
		return;
	}
	text_addf(out, "\nelement by element against the dump of %s:\n", a->dump->kernel);
	for (size_t i = 0; i < a->n; i++) {
		const struct cmd_dump_diff *d = &a->row[i].diff;

		text_addf(out, "%-20s ", a->row[i].kernel);
		if (!d->differ) {
			text_add(out, "the same bits\n");
			continue;
		}
		text_addf(out, "%llu of %llu differ, most y[%u][%u]: %.9g, was %.9g%s\n",
			(unsigned long long)d->differ, (unsigned long long)d->outputs, d->m, d->n,
			d->is, d->was, must_agree(a, r, i) ? "  WRONG: same kernel" : "");
	}
}

static bool disagrees(const struct against *a, const struct cmd_tune_result *r)
{
	for (size_t i = 0; i < a->n; i++) {
		if (a->row[i].diff.differ && must_agree(a, r, i)) {
			return true;
		}
	}
	return false;
}

static struct js *against_json(const struct against *a, const struct cmd_tune_result *r)
{
	struct js *rows = js_array();

	for (size_t i = 0; i < a->n; i++) {
		const struct cmd_dump_diff *d = &a->row[i].diff;
		struct js *o = js_object();

		js_set_str(o, "name", a->row[i].kernel);
		js_set_bool(o, "must_agree", must_agree(a, r, i));
		js_set_u64(o, "outputs", d->outputs);
		js_set_u64(o, "differ", d->differ);
		if (d->differ) {
			js_set_real(o, "largest", d->largest);
			js_set_u64(o, "m", d->m);
			js_set_u64(o, "n", d->n);
		}
		js_push(rows, o);
	}
	return rows;
}

static char *as_text(
	const struct cmd_tune_result *r, const struct stress_config *c, const struct against *a)
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
		char golden[RUNS_GOLDEN_TEXT];

		runs_golden_text(&a->golden[i], w->hash, golden);
		text_addf(&out, "  hash 0x%016llx%s%s\n", (unsigned long long)w->hash,
			*golden ? "; " : "", golden);
	}
	text_add(&out,
		"\n/sum|wx|: the error of the output that exceeds its bound most, as a share of its\n"
		"sum of |w||x|. bound: what FP32 sums and one rounding explain there. 1e-2: whether\n"
		"the customary 1e-2 of |y| holds everywhere; wrong kernels can pass that one, and\n"
		"right ones miss it near zero.\n");
	add_against(&out, a, r);
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

static char *as_json(
	const struct cmd_tune_result *r, const struct stress_config *c, const struct against *a)
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
			if (a->golden[i].verdict) {
				js_set_bool(
					o, "golden_same", a->golden[i].verdict == RUNS_GOLDEN_SAME);
			}
		}
		for (size_t k = 0; k < STRESS_TUNE_CHECKS; k++) {
			if (w->more[k].checked) {
				js_set(o, keys[k], check_json(&w->more[k]));
			}
		}
		js_push(rows, o);
	}
	js_set(j, "kernels", rows);
	if (a->dump) {
		js_set(j, "against", against_json(a, r));
	}
	char *s = js_text(j);

	js_free(j);
	return s;
}

int cmd_verify(int argc, char **argv)
{
	struct cmd_tune_args a = {0};
	const char *dump = NULL, *file = NULL;
	const struct cmd_option options[] = {
		{"shape", NULL, &a.shape, 0},
		{"dtype", NULL, &a.dtype, 0},
		{"device", NULL, &a.device, 0},
		{"kernel", NULL, &a.kernel, 0},
		{"dump", NULL, &dump, 0},
		{"against", NULL, &file, 0},
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
	struct cmd_dump given = {.text = NULL};
	static struct cmd_tune_result r; /* tens of KiB, */
	static struct against against;   /* these too */
	struct why why;

	if (file && cmd_dump_read(file, &given, &why) < 0) {
		return cmd_fail(EXIT_USAGE, "verify: %s", why.text);
	}
	if (file && (memcmp(&given.shape, &o.config.shape, sizeof(given.shape)) != 0 ||
			    given.dtype != o.config.dtype || given.seed != o.config.seed)) {
		status = cmd_fail(EXIT_USAGE,
			"verify: %s is of %ux%ux%u %s with seed %llu, which is not what is verified",
			file, given.shape.m, given.shape.k, given.shape.n,
			given.dtype == STRESS_F16 ? "f16" : "f32", (unsigned long long)given.seed);
		cmd_dump_finish(&given);
		return status;
	}
	against = (struct against){.dump = file ? &given : NULL, .file = dump, .config = &o.config};
	r.output = dump || file ? take_output : NULL;
	r.data = &against;
	status = cmd_tune_run("verify", &o, &r);
	if (!status && dump && !against.wrote) {
		status = cmd_fail(EXIT_USAGE, "verify: %s",
			*against.why.text ? against.why.text : "no kernel gave an output to dump");
	}
	if (status) {
		cmd_dump_finish(&given);
		return status;
	}
	look_at_golden(&against, &r, &o.config);
	_cleanup_free_ char *s =
		a.json ? as_json(&r, &o.config, &against) : as_text(&r, &o.config, &against);

	status = cmd_print(s);
	if (disagrees(&against, &r)) {
		status = EXIT_FINDING;
	}
	cmd_dump_finish(&given);
	for (size_t i = 0; i < r.n; i++) {
		if ((!r.row[i].wrong && !*r.row[i].refused && !passes(&r.row[i])) ||
			against.golden[i].verdict == RUNS_GOLDEN_DIFFERS) {
			return EXIT_FINDING;
		}
	}
	return status;
}
