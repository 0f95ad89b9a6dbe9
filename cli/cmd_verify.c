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
	"Every GPU kernel that suits the shape against FP64 on the CPU, all outputs; and whether\n"
	"every copy of the weights gives the same bits. One kernel that accumulates in FP16 is\n"
	"there to fail: it shows that the bound can be missed.\n\n" CMD_TUNE_HELP
	"  --json           for programs (schema barscope.verify/1)\n\n"
	"Exit status: 0 all right, 1 a kernel computes wrong, 3 usage or failure, 4 no GPU.\n";

static bool passes(const struct stress_tune_row *r)
{
	return r->same && r->error >= 0 && r->error <= r->error_limit;
}

static const char *verdict(const struct stress_tune_row *r)
{
	if (*r->refused) {
		return r->refused;
	}
	if (r->wrong) {
		return passes(r) ? "not told apart: the bound grows with K" : "fails, as it should";
	}
	return passes(r) ? "ok" : r->same ? "WRONG" : "WRONG: copies differ";
}

static char *as_text(const struct cmd_tune_result *r, const struct stress_config *c)
{
	struct text out = {0};

	text_addf(&out, "%s, %ux%ux%u %s, seed %llu, %u copies\n\n", r->facts.device, c->shape.m,
		c->shape.k, c->shape.n, c->dtype == STRESS_F16 ? "f16" : "f32",
		(unsigned long long)c->seed, r->facts.copies);
	text_addf(&out, "%-20s %9s %9s %9s %18s\n", "", "|y-ref|", "/sum|wx|", "limit", "hash");
	for (size_t i = 0; i < r->n; i++) {
		const struct stress_tune_row *w = &r->row[i];

		text_addf(&out, "%-20s %9.2e %9.2e %9.2e 0x%016llx %s\n", w->name,
			w->error_absolute, w->error, w->error_limit, (unsigned long long)w->hash,
			verdict(w));
	}
	text_add(&out, "\n/sum|wx|: the error as a share of the sum of |w||x|; the limit is what\n"
		       "FP32 sums and one rounding explain, not the customary 1e-2.\n");
	return text_steal(&out);
}

static char *as_json(const struct cmd_tune_result *r, const struct stress_config *c)
{
	struct js *j = js_object(), *rows = js_array();

	js_set_str(j, "schema", "barscope.verify/1");
	js_set_str(j, "device", r->facts.device);
	js_set_strf(j, "shape", "%ux%ux%u", c->shape.m, c->shape.k, c->shape.n);
	js_set_str(j, "dtype", c->dtype == STRESS_F16 ? "f16" : "f32");
	js_set_u64(j, "seed", c->seed);
	for (size_t i = 0; i < r->n; i++) {
		const struct stress_tune_row *w = &r->row[i];
		struct js *o = js_object();

		js_set_str(o, "name", w->name);
		js_set_bool(o, "right", passes(w));
		js_set_bool(o, "meant_to_fail", w->wrong);
		js_set_bool(o, "copies_agree", w->same);
		js_set_real(o, "error", w->error);
		js_set_real(o, "error_absolute", w->error_absolute);
		js_set_real(o, "error_limit", w->error_limit);
		js_set_u64(o, "outputs", w->outputs);
		js_set_hex(o, "hash", w->hash);
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
	struct stress_tune_options o = {.check_terms = UINT64_MAX};
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

	status = cmd_print(s);
	for (size_t i = 0; i < r.n; i++) {
		if (!r.row[i].wrong && !*r.row[i].refused && !passes(&r.row[i])) {
			return EXIT_FINDING;
		}
	}
	return status;
}
