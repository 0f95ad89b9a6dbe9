/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What `tune` found, for a person and for programs. */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/macros.h"
#include "base/text.h"
#include "cli/tune.h"

bool cmd_tune_is_right(const struct stress_tune_row *r)
{
	return r->kind == STRESS_TUNE_READ || r->error < 0 || (r->same && !r->over);
}

/* Which rows stand against one another. */
enum wanted { ANY, ALONE, DEPENDENT, READY, CACHED, FUSED, STAMPED };

static bool is_wanted(const struct stress_tune_row *c, enum wanted w)
{
	return c->fused == (w == FUSED) && c->stamped == (w == STAMPED) &&
	       c->x_ready == (w == READY) && (w != ALONE || !c->dependent) &&
	       (w != DEPENDENT || c->dependent) && (w != CACHED || c->cached);
}

/* The fastest right row of a kind whose name begins with PREFIX; NULL: none. */
static const struct stress_tune_row *fastest(const struct cmd_tune_result *r,
	enum stress_tune_kind kind, const char *prefix, enum wanted w)
{
	const struct stress_tune_row *b = NULL;

	for (size_t i = 0; i < r->n; i++) {
		const struct stress_tune_row *c = &r->row[i];

		if (c->kind == kind && c->measured && !c->wrong && cmd_tune_is_right(c) &&
			is_wanted(c, w) && !strncmp(c->name, prefix, strlen(prefix)) &&
			(!b || c->p50_ns < b->p50_ns)) {
			b = c;
		}
	}
	return b;
}

const struct stress_tune_row *cmd_tune_own(const struct cmd_tune_result *r)
{
	return fastest(r, STRESS_TUNE_OWN, "", ALONE);
}

const struct stress_tune_row *cmd_tune_library(const struct cmd_tune_result *r)
{
	return fastest(r, STRESS_TUNE_LIBRARY, "", ANY);
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

static void print_head(
	struct text *out, const struct cmd_tune_result *r, const struct stress_config *c)
{
	const struct stress_tune_facts *f = &r->facts;
	char bytes[TEXT_SIZE_MAX];

	if (f->threads) {
		text_addf(out, "%s, %u thread%s, %ux%ux%u %s, %s a launch\n", f->device, f->threads,
			f->threads == 1 ? "" : "s", c->shape.m, c->shape.k, c->shape.n,
			c->dtype == STRESS_F16 ? "f16" : "f32", text_size(f->bytes, bytes));
		text_addf(out, "%u cop%s of the weights in turn%s%s\n", f->copies,
			f->copies == 1 ? "y" : "ies", *f->library ? "; " : "", f->library);
		return;
	}
	text_addf(out, "%s, driver CUDA %d.%d, %ux%ux%u %s, %s a launch\n", f->device,
		f->driver / 1000, f->driver % 1000 / 10, c->shape.m, c->shape.k, c->shape.n,
		c->dtype == STRESS_F16 ? "f16" : "f32", text_size(f->bytes, bytes));
	text_addf(out, "%u cop%s of the weights in turn, %u launches a graph\n", f->copies,
		f->copies == 1 ? "y" : "ies", f->launches);
	if (*f->library) {
		text_addf(out, "cuBLASLt %llu.%llu.%llu, %s\n",
			(unsigned long long)f->library_version / 10000,
			(unsigned long long)f->library_version / 100 % 100,
			(unsigned long long)f->library_version % 100, f->library);
	} else if (*f->library_why) {
		text_addf(out, "%s\n", f->library_why);
	}
	if (*f->cache_note) {
		text_addf(out, "%s\n", f->cache_note);
	}
}

static const char *remark(const struct stress_tune_row *w)
{
	if (cmd_tune_is_right(w)) {
		return w->cached ? "  (cached)" : "";
	}
	return w->wrong ? "  (wrong on purpose)" : "  WRONG";
}

static void print_rows(struct text *out, const struct cmd_tune_result *r, double floor_ns)
{
	text_addf(out, "\n%-23s %8s %8s %7s %6s %6s %9s %8s %5s %6s %s\n", "", "us", "p99", "TB/s",
		"band", "floor", "error", "hash", "regs", "spill", "launch");
	for (size_t i = 0; i < r->n; i++) {
		const struct stress_tune_row *w = &r->row[i];
		char p99[24] = "-";

		if (!w->measured) {
			text_addf(out, "%-23s %s\n", w->name,
				*w->refused ? w->refused : "not measured");
			continue;
		}
		if (w->p99_ns > 0) {
			snprintf(p99, sizeof(p99), "%.2f", w->p99_ns / 1000);
		}
		text_addf(out, "%-23s %8.2f %8s %7.3f %5.1f%% %6.3f", w->name, w->p50_ns / 1000,
			p99, (double)r->facts.weight_bytes / w->p50_ns / 1000, w->band * 100,
			floor_ns > 0 ? w->p50_ns / floor_ns : 0);
		if (w->error >= 0) {
			text_addf(out, " %9.1e %08x", w->error, (unsigned)(w->hash >> 32));
		}
		if (w->kind == STRESS_TUNE_OWN) {
			text_addf(out, " %5d %6d %ux%u, %d/SM%s", w->registers, w->local_bytes,
				w->grid, w->threads, w->blocks_per_sm,
				w->cluster > 1 ? " cluster" : "");
		}
		text_addf(out, "%s\n", remark(w));
	}
}

/*
 * Where dependent launch won: what each launch costs when it begins only after the one before
 * has ended, against reading under the same rule.
 */
static void print_alone(struct text *out, const struct cmd_tune_result *r)
{
	const struct stress_tune_row *all = fastest(r, STRESS_TUNE_OWN, "", ANY),
				     *own = cmd_tune_own(r),
				     *read = fastest(r, STRESS_TUNE_READ, "", ALONE);

	const struct stress_tune_row *floor = fastest(r, STRESS_TUNE_READ, "", ANY);

	if (!all || !own || !read || (!all->dependent && !floor->dependent)) {
		return;
	}
	text_addf(out,
		"without dependent launch: own %.2f us (%s), floor %.2f us (%s); %.3f of it\n",
		own->p50_ns / 1000, own->name, read->p50_ns / 1000, read->name,
		own->p50_ns / read->p50_ns);
}

/* Where x was complete before the launch before began, as in this benchmark: it is one for all. */
static void print_ready(struct text *out, const struct cmd_tune_result *r)
{
	const struct stress_tune_row *own = fastest(r, STRESS_TUNE_OWN, "", READY),
				     *library = cmd_tune_library(r),
				     *read = fastest(r, STRESS_TUNE_READ, "", ANY);

	if (!own || !read) {
		return;
	}
	text_addf(out,
		"where x was there before the launch before began: own %.2f us (%s), %.3f of the floor",
		own->p50_ns / 1000, own->name, own->p50_ns / read->p50_ns);
	if (library) {
		text_addf(out, ", %.3f of cuBLASLt's best", own->p50_ns / library->p50_ns);
	}
	text_add(out, "\n");
}

static void print_library_gap(struct text *out, const struct cmd_tune_result *r)
{
	const struct stress_tune_row *first = named(r, "cublaslt #1"),
				     *library = cmd_tune_library(r),
				     *cached = fastest(r, STRESS_TUNE_LIBRARY, "", CACHED);
	unsigned n = 0;

	for (size_t i = 0; i < r->n; i++) {
		n += r->row[i].kind == STRESS_TUNE_LIBRARY && r->row[i].measured &&
		     !r->row[i].fused;
	}
	if (first && library) {
		text_addf(out, "cuBLASLt's first choice %.2f us, its best %.2f us of %u",
			first->p50_ns / 1000, library->p50_ns / 1000, n);
		if (cached) {
			text_addf(
				out, ", that of an earlier search %.2f us", cached->p50_ns / 1000);
		}
		text_add(out, "\n");
	}
}

static void print_cost(struct text *out, const char *of, const struct stress_tune_row *with,
	const struct stress_tune_row *without)
{
	if (with && without) {
		text_addf(out, "%s: %.2f us with them, %.2f us without: %+.1f %%\n", of,
			with->p50_ns / 1000, without->p50_ns / 1000,
			(with->p50_ns / without->p50_ns - 1) * 100);
	}
}

/* What an epilogue costs, and what measuring costs. */
static void print_extras(struct text *out, const struct cmd_tune_result *r)
{
	const struct stress_tune_row *own = fastest(r, STRESS_TUNE_OWN, "", FUSED),
				     *library = fastest(r, STRESS_TUNE_LIBRARY, "", FUSED),
				     *stamped = fastest(r, STRESS_TUNE_OWN, "", STAMPED);

	if (own) {
		text_addf(
			out, "with bias and ReLU in the epilogue: own %.2f us", own->p50_ns / 1000);
		if (library) {
			text_addf(out, ", cuBLASLt %.2f us", library->p50_ns / 1000);
		}
		text_add(out, "\n");
	}
	print_cost(out, "stamps and hash", stamped, cmd_tune_own(r));
	print_cost(out, "stamps alone, of the read-only loop",
		fastest(r, STRESS_TUNE_READ, "", STAMPED), fastest(r, STRESS_TUNE_READ, "", ALONE));
}

static void print_gap(struct text *out, const struct cmd_tune_result *r)
{
	const struct stress_tune_row *library = cmd_tune_library(r),
				     *own = fastest(r, STRESS_TUNE_OWN, "", ANY),
				     *read = fastest(r, STRESS_TUNE_READ, "", ANY);

	text_add(out, "\n");
	print_library_gap(out, r);
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
	print_ready(out, r);
	print_alone(out, r);
	print_extras(out, r);
}

/* A run of the store as a step: its device latency, with the band that is the jitter. */
static void print_stored(
	struct text *out, const struct cmd_tune_stored *s, const char *what, double base)
{
	if (!s->n) {
		text_addf(out, "%-34s %s\n", what, s->why);
		return;
	}
	text_addf(out, "%-34s %9.2f %6.1f%%  band %.1f %%, run %lld of '%s', isolated\n", what,
		s->p50_ns / 1000, base > 0 ? (1 - s->p50_ns / base) * 100 : 0, s->band * 100,
		(long long)s->run, s->label);
}

static void print_ladder(
	struct text *out, const struct cmd_tune_result *r, const struct cmd_tune_stored stored[2])
{
	const struct {
		const char *what;
		const struct stress_tune_row *row;
	} steps[] = {
		{"a thread an output", named(r, "naive")},
		{"tiles in shared memory", fastest(r, STRESS_TUNE_OWN, "tiled", ANY)},
		{"cuBLASLt, first choice", named(r, "cublaslt #1")},
		{"cuBLASLt, timed search", cmd_tune_library(r)},
		{"cuBLASLt, bias and ReLU fused", fastest(r, STRESS_TUNE_LIBRARY, "", FUSED)},
		{"FP32, warps over rows", fastest(r, STRESS_TUNE_OWN, "f32", ANY)},
		{"warps over rows", fastest(r, STRESS_TUNE_OWN, "gemv", ANY)},
		{"tensor cores, cp.async ring", fastest(r, STRESS_TUNE_OWN, "mma", ANY)},
		{"tensor cores, bulk copies", fastest(r, STRESS_TUNE_OWN, "bulk", ALONE)},
		{"tensor cores, dependent launch", fastest(r, STRESS_TUNE_OWN, "", DEPENDENT)},
		{"the same, x there before", fastest(r, STRESS_TUNE_OWN, "", READY)},
		{"own best, bias and ReLU fused", fastest(r, STRESS_TUNE_OWN, "", FUSED)},
		{"the floor: reading alone", fastest(r, STRESS_TUNE_READ, "", ANY)},
	};
	double base = 0;

	text_addf(out, "\n%-34s %9s %7s  %s\n", "", "us", "gain", "kernel");
	for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
		const struct stress_tune_row *w = steps[i].row;

		if (!w) {
			continue;
		}
		base = base > 0 ? base : w->p50_ns;
		text_addf(out, "%-34s %9.2f %6.1f%%  %s\n", steps[i].what, w->p50_ns / 1000,
			(1 - w->p50_ns / base) * 100, w->name);
	}
	print_stored(out, &stored[0], "before the BIOS change", base);
	print_stored(out, &stored[1], "after the BIOS change", base);
}

static const char *kind_name(enum stress_tune_kind k)
{
	return k == STRESS_TUNE_OWN ? "own" : k == STRESS_TUNE_LIBRARY ? "cublaslt" : "read";
}

char *cmd_tune_json(const struct cmd_tune_result *r, const struct stress_config *c)
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
		if (*w->view) {
			js_set_str(o, "rows_lie", w->view);
		}
		js_set_bool(o, "dependent", w->dependent);
		js_set_bool(o, "x_ready", w->x_ready);
		js_set_bool(o, "fused", w->fused);
		js_set_bool(o, "stamped", w->stamped);
		if (w->kind == STRESS_TUNE_LIBRARY) {
			js_set_bool(o, "cached", w->cached);
		}
		if (w->measured) {
			js_set_int(o, "p50_ns", (int64_t)(w->p50_ns + 0.5));
			js_set_real(o, "band", w->band);
			js_set_int(o, "rounds", w->rounds);
			if (w->p99_ns > 0) {
				js_set_int(o, "p99_ns", (int64_t)(w->p99_ns + 0.5));
			}
		}
		if (*w->refused) {
			js_set_str(o, "refused", w->refused);
		}
		if (w->error >= 0) {
			js_set_real(o, "error", w->error);
			js_set_real(o, "error_limit", w->error_limit);
			js_set_bool(o, "right", cmd_tune_is_right(w));
			js_set_hex(o, "hash", w->hash);
		}
		if (w->kind == STRESS_TUNE_OWN) {
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

void cmd_tune_print(struct text *out, const struct cmd_tune_result *r,
	const struct stress_config *c, const struct cmd_tune_stored *stored)
{
	const struct stress_tune_row *read = fastest(r, STRESS_TUNE_READ, "", ANY);

	print_head(out, r, c);
	if (stored) {
		print_ladder(out, r, stored);
	} else {
		print_rows(out, r, read ? read->p50_ns : 0);
	}
	print_gap(out, r);
}

void cmd_tune_print_misaligned(
	struct text *out, const struct cmd_tune_result *r, const struct stress_config *c)
{
	const struct stress_tune_row *aligned = NULL;

	print_head(out, r, c);
	text_addf(out, "\n%-22s %9s %7s %9s  %s\n", "8 columns fewer", "us", "price", "error",
		"kernel");
	for (size_t i = 0; i < r->n; i++) {
		const struct stress_tune_row *w = &r->row[i], *b = NULL;
		bool first = true;

		for (size_t k = 0; k < r->n; k++) {
			const struct stress_tune_row *o = &r->row[k];

			if (strcmp(o->view, w->view) != 0) {
				continue;
			}
			first &= k >= i;
			if (o->measured && cmd_tune_is_right(o) && (!b || o->p50_ns < b->p50_ns)) {
				b = o;
			}
		}
		if (!first) {
			continue;
		}
		if (!b) {
			text_addf(out, "%-22s nothing right was measured\n", w->view);
			continue;
		}
		aligned = aligned ? aligned : b;
		text_addf(out, "%-22s %9.2f %6.2fx %9.1e  %s\n", w->view, b->p50_ns / 1000,
			b->p50_ns / aligned->p50_ns, b->error, b->name);
	}
}

void cmd_tune_print_cpu(
	struct text *out, const struct cmd_tune_result *r, const struct stress_config *c)
{
	const struct stress_tune_row *read = fastest(r, STRESS_TUNE_READ, "", ANY),
				     *own = fastest(r, STRESS_TUNE_OWN, "", ANY);

	print_head(out, r, c);
	text_addf(out, "\n%-24s %9s %9s %7s %7s %7s %9s\n", "", "ms", "p99", "GB/s", "band",
		"floor", "error");
	for (size_t i = 0; i < r->n; i++) {
		const struct stress_tune_row *w = &r->row[i];
		char p99[24] = "-", error[24] = "";

		if (!w->measured) {
			text_addf(out, "%-24s %s\n", w->name,
				*w->refused ? w->refused : "not measured");
			continue;
		}
		if (w->p99_ns > 0) {
			snprintf(p99, sizeof(p99), "%.3f", w->p99_ns / 1e6);
		}
		if (w->error >= 0) {
			snprintf(error, sizeof(error), "%.1e", w->error);
		}
		text_addf(out, "%-24s %9.3f %9s %7.1f %6.1f%% %7.3f %9s%s%s\n", w->name,
			w->p50_ns / 1e6, p99, (double)w->bytes / w->p50_ns, w->band * 100,
			read ? w->p50_ns / read->p50_ns : 0, error,
			w->kind == STRESS_TUNE_READ ? "  reading alone" : "", remark(w));
	}
	for (size_t i = 0; own && i < r->n; i++) {
		if (r->row[i].kind == STRESS_TUNE_LIBRARY && r->row[i].measured) {
			text_addf(out, "%s%s takes %.2f times as long as %s\n", i ? "" : "\n",
				r->row[i].name, r->row[i].p50_ns / own->p50_ns, own->name);
		}
	}
}
