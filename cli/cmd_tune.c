/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "base/macros.h"
#include "base/sort.h"
#include "base/text.h"
#include "cli/cmd.h"
#include "cli/tune.h"

static const char help[] =
	"usage: barscope tune [OPTIONS]\n\n"
	"How fast every way to multiply this shape is on the GPU: own kernels, cuBLASLt's candidates\n"
	"(where it is installed) and read-only loops over the same weights. In CUDA graphs, weights\n"
	"cold (rotating copies), all interleaved; each own kernel is checked against FP64.\n\n" CMD_TUNE_HELP
	"  --rounds N       graphs of each, default 40\n"
	"  --copies N       rotating copies of the weights; default: 5 times L2, and one. 1: hot\n"
	"  --cublaslt FILE  this libcublasLt instead of the one the system finds\n"
	"  --ladder         the steps from a plain kernel to the floor, with what each gains\n"
	"  --json           for programs (schema barscope.tune/1)\n\n"
	"Exit status: 0 done, 1 a kernel computes wrong, 3 usage or failure, 4 no GPU.\n";

static bool is_right(const struct stress_tune_row *r)
{
	return r->kind != STRESS_TUNE_OWN || r->error < 0 ||
	       (r->same && r->error <= r->error_limit);
}

/* The fastest right row of a kind whose name begins with PREFIX; NULL: none. */
static const struct stress_tune_row *fastest(const struct cmd_tune_result *r,
	enum stress_tune_kind kind, const char *prefix, bool dependent)
{
	const struct stress_tune_row *b = NULL;

	for (size_t i = 0; i < r->n; i++) {
		const struct stress_tune_row *c = &r->row[i];

		if (c->kind == kind && c->measured && !c->wrong && is_right(c) &&
			(dependent || !c->dependent) && !strncmp(c->name, prefix, strlen(prefix)) &&
			(!b || c->p50_ns < b->p50_ns)) {
			b = c;
		}
	}
	return b;
}

static const struct stress_tune_row *best(
	const struct cmd_tune_result *r, enum stress_tune_kind kind, const char *prefix)
{
	return fastest(r, kind, prefix, true);
}

static const struct stress_tune_row *best_alone(
	const struct cmd_tune_result *r, enum stress_tune_kind kind)
{
	return fastest(r, kind, "", false);
}

static const struct stress_tune_row *named(const struct cmd_tune_result *r, const char *name)
{
	for (size_t i = 0; i < r->n; i++) {
		if (!strcmp(r->row[i].name, name) && r->row[i].measured) {
			return &r->row[i];
		}
	}
	return NULL;
}

static int by_time(const void *a, const void *b)
{
	const struct stress_tune_row *x = a, *y = b;
	const double dx = x->measured ? x->p50_ns : 1e18, dy = y->measured ? y->p50_ns : 1e18;

	return dx < dy ? -1 : dx > dy;
}

static void print_head(
	struct text *out, const struct cmd_tune_result *r, const struct stress_config *c)
{
	const struct stress_tune_facts *f = &r->facts;
	char bytes[TEXT_SIZE_MAX];

	text_addf(out, "%s, driver CUDA %d.%d, %ux%ux%u %s, %s a launch\n", f->device,
		f->driver / 1000, f->driver % 1000 / 10, c->shape.m, c->shape.k, c->shape.n,
		c->dtype == STRESS_F16 ? "f16" : "f32", text_size(f->bytes, bytes));
	text_addf(out, "%u copies of the weights in turn, %u launches a graph\n", f->copies,
		f->launches);
	if (*f->library) {
		text_addf(out, "cuBLASLt %llu.%llu.%llu, %s\n",
			(unsigned long long)f->library_version / 10000,
			(unsigned long long)f->library_version / 100 % 100,
			(unsigned long long)f->library_version % 100, f->library);
	} else if (*f->library_why) {
		text_addf(out, "%s\n", f->library_why);
	}
}

static void print_rows(struct text *out, const struct cmd_tune_result *r, double floor_ns)
{
	text_addf(out, "\n%-20s %9s %7s %6s %6s %9s %5s %6s %s\n", "", "us", "TB/s", "band",
		"floor", "error", "regs", "spill", "launch");
	for (size_t i = 0; i < r->n; i++) {
		const struct stress_tune_row *w = &r->row[i];

		if (!w->measured) {
			text_addf(out, "%-20s %s\n", w->name,
				*w->refused ? w->refused : "not measured");
			continue;
		}
		text_addf(out, "%-20s %9.2f %7.3f %5.1f%% %6.3f", w->name, w->p50_ns / 1000,
			(double)r->facts.weight_bytes / w->p50_ns / 1000, w->band * 100,
			floor_ns > 0 ? w->p50_ns / floor_ns : 0);
		if (w->kind == STRESS_TUNE_OWN) {
			text_addf(out, " %9.1e %5d %6d %ux%u%s%s", w->error, w->registers,
				w->local_bytes, w->grid, w->threads,
				w->cluster > 1 ? " cluster" : "",
				is_right(w) ? ""
				: w->wrong  ? "  (wrong on purpose)"
					    : "  WRONG");
		}
		text_add(out, "\n");
	}
}

/*
 * Where dependent launch won: what each launch costs when it begins only after the one before
 * has ended, against reading under the same rule.
 */
static void print_alone(struct text *out, const struct cmd_tune_result *r)
{
	const struct stress_tune_row *all = best(r, STRESS_TUNE_OWN, ""),
				     *own = best_alone(r, STRESS_TUNE_OWN),
				     *read = best_alone(r, STRESS_TUNE_READ);

	if (!all || !all->dependent || !own || !read) {
		return;
	}
	text_addf(out,
		"without dependent launch: own %.2f us (%s), floor %.2f us (%s); %.3f of it\n",
		own->p50_ns / 1000, own->name, read->p50_ns / 1000, read->name,
		own->p50_ns / read->p50_ns);
}

static void print_gap(struct text *out, const struct cmd_tune_result *r)
{
	const struct stress_tune_row *first = named(r, "cublaslt #1"),
				     *library = best(r, STRESS_TUNE_LIBRARY, ""),
				     *own = best(r, STRESS_TUNE_OWN, ""),
				     *read = best(r, STRESS_TUNE_READ, "");

	text_add(out, "\n");
	if (first && library) {
		text_addf(out, "cuBLASLt's first choice %.2f us, its best %.2f us\n",
			first->p50_ns / 1000, library->p50_ns / 1000);
	}
	if (own) {
		text_addf(out, "own best %.2f us (%s)", own->p50_ns / 1000, own->name);
		if (library) {
			text_addf(out, ", %.3f of cuBLASLt's best", own->p50_ns / library->p50_ns);
		}
		text_add(out, "\n");
	}
	if (read) {
		text_addf(out, "floor %.2f us: reading the weights alone (%s)%s",
			read->p50_ns / 1000, read->name, own ? "" : "\n");
		if (own) {
			text_addf(out, "; own best is %.3f of it\n", own->p50_ns / read->p50_ns);
		}
	}
	print_alone(out, r);
}

static void print_ladder(struct text *out, const struct cmd_tune_result *r)
{
	const struct {
		const char *what;
		const struct stress_tune_row *row;
	} steps[] = {
		{"a thread an output", named(r, "naive")},
		{"tiles in shared memory", best(r, STRESS_TUNE_OWN, "tiled")},
		{"cuBLASLt, first choice", named(r, "cublaslt #1")},
		{"cuBLASLt, timed search", best(r, STRESS_TUNE_LIBRARY, "")},
		{"warps over rows", best(r, STRESS_TUNE_OWN, "gemv")},
		{"tensor cores, cp.async ring", best(r, STRESS_TUNE_OWN, "mma")},
		{"tensor cores, bulk copies", best(r, STRESS_TUNE_OWN, "bulk")},
		{"FP32, warps over rows", best(r, STRESS_TUNE_OWN, "f32")},
		{"the floor: reading alone", best(r, STRESS_TUNE_READ, "")},
	};
	double base = 0;

	text_addf(out, "\n%-28s %9s %7s  %s\n", "", "us", "gain", "kernel");
	for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
		if (!steps[i].row) {
			continue;
		}
		base = base > 0 ? base : steps[i].row->p50_ns;
		text_addf(out, "%-28s %9.2f %6.1f%%  %s\n", steps[i].what,
			steps[i].row->p50_ns / 1000, (1 - steps[i].row->p50_ns / base) * 100,
			steps[i].row->name);
	}
}

static const char *kind_name(enum stress_tune_kind k)
{
	return k == STRESS_TUNE_OWN ? "own" : k == STRESS_TUNE_LIBRARY ? "cublaslt" : "read";
}

static char *json_text(const struct cmd_tune_result *r, const struct stress_config *c)
{
	const struct stress_tune_facts *f = &r->facts;
	struct js *j = js_object(), *rows = js_array();

	js_set_str(j, "schema", "barscope.tune/1");
	js_set_str(j, "device", f->device);
	js_set_strf(j, "shape", "%ux%ux%u", c->shape.m, c->shape.k, c->shape.n);
	js_set_str(j, "dtype", c->dtype == STRESS_F16 ? "f16" : "f32");
	js_set_int(j, "copies", f->copies);
	js_set_u64(j, "bytes", f->bytes);
	js_set_u64(j, "weight_bytes", f->weight_bytes);
	js_set_int(j, "driver", f->driver);
	if (*f->library) {
		js_set_str(j, "library", f->library);
		js_set_u64(j, "library_version", f->library_version);
	}
	for (size_t i = 0; i < r->n; i++) {
		const struct stress_tune_row *w = &r->row[i];
		struct js *o = js_object();

		js_set_str(o, "name", w->name);
		js_set_str(o, "kind", kind_name(w->kind));
		js_set_bool(o, "dependent", w->dependent);
		if (w->measured) {
			js_set_int(o, "p50_ns", (int64_t)(w->p50_ns + 0.5));
			js_set_real(o, "band", w->band);
		}
		if (*w->refused) {
			js_set_str(o, "refused", w->refused);
		}
		if (w->error >= 0) {
			js_set_real(o, "error", w->error);
			js_set_real(o, "error_limit", w->error_limit);
			js_set_bool(o, "right", is_right(w));
			js_set_hex(o, "hash", w->hash);
			js_set_int(o, "registers", w->registers);
			js_set_int(o, "local_bytes", w->local_bytes);
			js_set_int(o, "blocks_per_sm", w->blocks_per_sm);
		}
		js_push(rows, o);
	}
	js_set(j, "rows", rows);
	char *s = js_text(j);

	js_free(j);
	return s;
}

static int print_all(const struct cmd_tune_result *r, const struct stress_config *c, bool ladder)
{
	const struct stress_tune_row *read = best(r, STRESS_TUNE_READ, "");
	struct text out = {0};

	print_head(&out, r, c);
	if (ladder) {
		print_ladder(&out, r);
	} else {
		print_rows(&out, r, read ? read->p50_ns : 0);
	}
	print_gap(&out, r);
	_cleanup_free_ char *s = text_steal(&out);

	return cmd_print(s);
}

int cmd_tune(int argc, char **argv)
{
	struct cmd_tune_args a = {0};
	const char *rounds = NULL, *copies = NULL, *library = NULL;
	bool ladder = false;
	const struct cmd_option options[] = {
		{"shape", NULL, &a.shape, 0},
		{"dtype", NULL, &a.dtype, 0},
		{"device", NULL, &a.device, 0},
		{"kernel", NULL, &a.kernel, 0},
		{"rounds", NULL, &rounds, 0},
		{"copies", NULL, &copies, 0},
		{"cublaslt", NULL, &library, 0},
		{"ladder", &ladder, NULL, 0},
		{"json", &a.json, NULL, 0},
	};
	struct stress_tune_options o = {.check_terms = (uint64_t)1 << 21};
	unsigned long long n = 40;
	const char *none[1];
	size_t nnone;
	int status;

	if (!cmd_args_parse(
		    argc, argv, options, ARRAY_LEN(options), help, 0, 0, none, &nnone, &status) ||
		!cmd_tune_config("tune", &a, &o.config, &status)) {
		return status;
	}
	if (rounds && !cmd_args_number("tune", "rounds", rounds, 3, 10000, &n)) {
		return EXIT_USAGE;
	}
	o.rounds = (uint32_t)n;
	n = 0;
	if (copies && !cmd_args_number("tune", "copies", copies, 1, 4096, &n)) {
		return EXIT_USAGE;
	}
	o.config.copies = (uint32_t)n;
	o.library = library;
	static struct cmd_tune_result r; /* tens of KiB */

	status = cmd_tune_run("tune", &o, &r);
	if (status) {
		return status;
	}
	sort_array(r.row, r.n, sizeof(r.row[0]), by_time);
	if (a.json) {
		_cleanup_free_ char *s = json_text(&r, &o.config);

		status = cmd_print(s);
	} else {
		status = print_all(&r, &o.config, ladder);
	}
	for (size_t i = 0; i < r.n; i++) {
		if (!r.row[i].wrong && !is_right(&r.row[i])) {
			return EXIT_FINDING;
		}
	}
	return status;
}
