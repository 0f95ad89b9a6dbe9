/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `tune` on the CPU: own kernels, OpenBLAS and oneDNN where they are installed, and the read-only
 * loops, round by round over rotating copies, all with as many threads; or own kernels over rows
 * that lie badly.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/macros.h"
#include "base/sort.h"
#include "base/text.h"
#include "kernels/cpu.h"
#include "kernels/gemm_ref.h"
#include "kernels/half.h"
#include "stress/cpu_peers.h"
#include "stress/data.h"
#include "stress/host.h"
#include "stress/pool.h"
#include "stress/tune.h"
#include "stress/tune_views.h"

enum { CANDIDATES = 64, ROWS_TOGETHER = 32, P99_LEAST = 100, WARM_ROUNDS = 2 };

static const uint64_t unknown_llc = (uint64_t)64 << 20;
static const uint64_t spared_bytes = (uint64_t)256 << 20;

struct candidate {
	struct stress_tune_row row;
	const struct gemm_kernel *gemm;
	const struct read_kernel *read;
	enum cpu_peer peer;
	size_t view; /* where ROW has one */
	uint64_t *ns;
};

struct cpu {
	const struct stress_tune_options *o;
	struct stress_host host;
	struct stress_pool *pool;
	struct cpu_peers *peers;
	unsigned threads;
	size_t e, w_bytes, x_bytes, y_bytes, w32_bytes;
	uint32_t copies, copies32; /* of W in its type, and in FP32 for the others */
	uint32_t next_copy; /* of the former: who runs next must not find what the last one read */
	char *w, *x, *y;
	float *w32, *x32, *y32;
	uint64_t *partial; /* a read-only loop's results */
	struct candidate c[CANDIDATES];
	size_t n;
};

struct task {
	const struct cpu *t;
	const struct candidate *c;
	struct gemm gemm;
	const char *w;
};

static void slice(const struct cpu *t, unsigned index, size_t *ret_n0, size_t *ret_n1)
{
	const size_t n = t->o->config.shape.n, groups = (n + ROWS_TOGETHER - 1) / ROWS_TOGETHER;

	*ret_n0 = MIN(n, groups * index / t->threads * ROWS_TOGETHER);
	*ret_n1 = MIN(n, groups * (index + 1) / t->threads * ROWS_TOGETHER);
}

static void gemm_part(void *context, unsigned index)
{
	const struct task *k = context;
	struct gemm g = k->gemm;

	slice(k->t, index, &g.n0, &g.n1);
	if (g.n0 < g.n1) {
		k->c->gemm->run(&g);
	}
}

static void read_part(void *context, unsigned index)
{
	const struct task *k = context;
	const size_t row = k->t->o->config.shape.k * k->t->e;
	size_t n0, n1;

	slice(k->t, index, &n0, &n1);
	k->t->partial[index * 8] = k->c->read->run(k->w + n0 * row, (n1 - n0) * row);
}

static struct gemm gemm_of(const struct cpu *t, const struct candidate *c, uint32_t copy)
{
	const struct stress_shape *s = &t->o->config.shape;
	struct gemm g = {
		.m = s->m,
		.n = s->n,
		.k = s->k,
		.dtype = t->o->config.dtype == STRESS_F16 ? GEMM_F16 : GEMM_F32,
		.x = t->x,
		.w = t->w + copy * t->w_bytes,
		.y = t->y,
		.ldx = s->k,
		.ldw = s->k,
		.ldy = s->n,
	};

	if (*c->row.view) {
		const struct tune_view *v = tune_view(c->view);

		g.x = t->x + v->x * t->e;
		g.w = (const char *)g.w + v->w * t->e;
		g.k -= TUNE_VIEW_FEWER;
		g.ldw -= v->shorter;
	}
	return g;
}

/*
 * How long one launch took; 0: it was refused. Every launch takes the next copy; a library's copies
 * are its own, and ROUND counts them.
 */
static uint64_t run_one(struct cpu *t, const struct candidate *c, uint32_t round)
{
	const uint32_t copy = t->next_copy;
	struct task k = {.t = t, .c = c, .gemm = gemm_of(t, c, copy)};
	uint64_t start, end;
	bool ok = true;

	k.w = t->w + copy * t->w_bytes;
	t->next_copy = (copy + (c->gemm || c->read)) % t->copies;
	const uint64_t from = clock_ns();

	if (c->gemm) {
		stress_pool_run(t->pool, gemm_part, &k, &start, &end);
	} else if (c->read) {
		stress_pool_run(t->pool, read_part, &k, &start, &end);
	} else {
		ok = cpu_peers_run(t->peers, c->peer, round % t->copies32);
	}
	return ok ? MAX(clock_ns() - from, 1u) : 0;
}

/* -- what there is --------------------------------------------------------------------------- */

static struct candidate *add(struct cpu *t, enum stress_tune_kind kind, const char *name)
{
	struct candidate *c = &t->c[t->n++];

	c->row = (struct stress_tune_row){.kind = kind, .error = -1, .bytes = t->w_bytes};
	text_copy(c->row.name, sizeof(c->row.name), name);
	return c;
}

static void find_own(struct cpu *t)
{
	const enum gemm_dtype type = t->o->config.dtype == STRESS_F16 ? GEMM_F16 : GEMM_F32;
	const unsigned flags = cpu_flags();

	for (const struct gemm_kernel *k = gemm_kernels(); k->name && t->n + 16 < CANDIDATES; k++) {
		if (k->dtype == type && (k->needs & flags) == k->needs && strcmp(k->name, "ref")) {
			add(t, STRESS_TUNE_OWN, k->name)->gemm = k;
		}
	}
	for (const struct read_kernel *r = read_kernels(); r->name && t->n + 8 < CANDIDATES; r++) {
		if ((r->needs & flags) == r->needs) {
			add(t, STRESS_TUNE_READ, r->name)->read = r;
		}
	}
}

static void find_misaligned(struct cpu *t)
{
	const enum gemm_dtype type = t->o->config.dtype == STRESS_F16 ? GEMM_F16 : GEMM_F32;
	const struct gemm_kernel *k = gemm_pick(cpu_flags(), type);

	for (size_t view = 0; tune_view(view); view++) {
		struct candidate *c = add(t, STRESS_TUNE_OWN, k->name);

		c->gemm = k;
		c->view = view;
		text_copy(c->row.view, sizeof(c->row.view), tune_view(view)->name);
	}
}

static void find_peers(struct cpu *t, struct stress_tune_facts *f)
{
	const struct stress_shape *s = &t->o->config.shape;

	for (unsigned i = 0; i < CPU_PEERS; i++) {
		struct why why = {""};
		struct candidate *c = add(t, STRESS_TUNE_LIBRARY, cpu_peer_name(i));

		c->peer = i;
		c->row.bytes = cpu_peer_bytes(i, s->n, s->k);
		if (!t->w32) {
			text_copy(c->row.refused, sizeof(c->row.refused),
				"no memory for the weights in f32 besides");
		} else if (cpu_peers_prepare(t->peers, i, s->m, s->n, s->k, t->x32, t->w32,
				   t->w32_bytes, t->copies32, t->y32, &why) < 0) {
			text_copy(c->row.refused, sizeof(c->row.refused), why.text);
		} else if (i != CPU_PEER_ONEDNN_BF16) {
			const size_t have = strlen(f->library);

			snprintf(f->library + have, sizeof(f->library) - have, "%s%s",
				have ? ", " : "", cpu_peers_version(t->peers, i));
		}
	}
}

/* -- memory ---------------------------------------------------------------------------------- */

static uint32_t copies_for(const struct cpu *t, size_t bytes)
{
	const uint64_t llc = t->host.llc_bytes ? t->host.llc_bytes : unknown_llc;

	return (uint32_t)MAX((5 * llc + bytes - 1) / bytes, 2u);
}

static void *map(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED) {
		return NULL;
	}
	madvise(p, bytes, MADV_HUGEPAGE);
	return p;
}

static void fill32(float *to, const void *from, size_t n, enum stress_dtype type)
{
	for (size_t i = 0; i < n; i++) {
		to[i] = type == STRESS_F16 ? gemm_half_to_float(((const uint16_t *)from)[i])
					   : ((const float *)from)[i];
	}
}

static int make_memory(struct cpu *t, struct why *why)
{
	const struct stress_config *c = &t->o->config;
	const size_t n = (size_t)c->shape.n * c->shape.k, m = (size_t)c->shape.m;

	t->e = stress_dtype_size(c->dtype);
	t->w_bytes = n * t->e;
	t->x_bytes = m * c->shape.k * t->e;
	t->y_bytes = m * c->shape.n * t->e;
	t->w32_bytes = n * 4;
	t->copies = c->copies ? c->copies : copies_for(t, t->w_bytes);
	t->copies32 = c->copies ? c->copies : copies_for(t, t->w32_bytes);
	const uint64_t own = t->copies * (uint64_t)t->w_bytes + t->x_bytes + t->y_bytes;
	/* oneDNN keeps copies of its own in each type. */
	const uint64_t others = t->copies32 * (uint64_t)t->w32_bytes * 5 / 2;
	const uint64_t have = t->host.available_bytes;

	if (have && own + spared_bytes > have) {
		char a[TEXT_SIZE_MAX], b[TEXT_SIZE_MAX];

		why_set(why, "%u copies of the weights need %s of memory; %s are free", t->copies,
			text_size(own, a), text_size(have, b));
		return -ENOMEM;
	}
	t->w = map(t->copies * t->w_bytes);
	t->x = map(t->x_bytes + 64);
	t->y = map(t->y_bytes + 64);
	if (!t->w || !t->x || !t->y) {
		why_set(why, "no memory for the weights");
		return -ENOMEM;
	}
	stress_fill(t->w, 0, n, c->dtype, STRESS_W, c->seed);
	stress_fill(t->x, 0, m * c->shape.k, c->dtype, STRESS_X, c->seed);
	for (uint32_t i = 1; i < t->copies; i++) {
		memcpy(t->w + i * t->w_bytes, t->w, t->w_bytes);
	}
	if (t->o->misaligned || (have && own + others + spared_bytes > have)) {
		return 0;
	}
	t->w32 = map(t->copies32 * t->w32_bytes);
	t->x32 = map(m * c->shape.k * 4 + 64);
	t->y32 = map(m * c->shape.n * 4 + 64);
	if (t->w32 && t->x32 && t->y32) {
		fill32(t->w32, t->w, n, c->dtype);
		fill32(t->x32, t->x, m * c->shape.k, c->dtype);
		for (uint32_t i = 1; i < t->copies32; i++) {
			memcpy((char *)t->w32 + i * t->w32_bytes, t->w32, t->w32_bytes);
		}
	}
	return 0;
}

/* -- right and fast --------------------------------------------------------------------------- */

/* Against FP64; BF16 rounds the weights themselves, so its error is told and not judged. */
static void check(struct cpu *t, struct candidate *c)
{
	const struct stress_shape *s = &t->o->config.shape;
	struct gemm ref = gemm_of(t, c, 0);
	const uint64_t all = (uint64_t)s->m * s->n, want = MAX(t->o->check_terms / s->k, 1u);
	enum gemm_dtype type = ref.dtype;

	if (c->row.kind == STRESS_TUNE_READ || *c->row.refused || !run_one(t, c, 0)) {
		return;
	}
	c->row.error = 0;
	c->row.same = true;
	if (c->row.kind == STRESS_TUNE_LIBRARY) {
		ref.y = t->y32;
		type = GEMM_F32;
	} else {
		c->row.hash = stress_hash(t->y, t->y_bytes);
	}
	for (uint64_t i = 0; i < all; i += MAX(all / MIN(want, all), 1u)) {
		const size_t m = (size_t)(i / s->n), n = (size_t)(i % s->n);
		const struct gemm_ref_sum sum = gemm_ref_sum(&ref, m, n);
		const double y = type == GEMM_F32 ? (double)((const float *)ref.y)[i]
						  : gemm_ref_element(&ref, m, n);
		const double off = gemm_error(&sum, y, type);
		const double unit = sum.magnitude > 0 ? sum.magnitude : 1;
		const double bound = gemm_error_bound(&sum, ref.k, type);

		c->row.outputs++;
		c->row.over += !(off <= bound) && c->peer != CPU_PEER_ONEDNN_BF16;
		if (!(off / unit <= c->row.error)) {
			c->row.error = off / unit;
			c->row.error_limit = bound / unit;
		}
	}
}

static int by_value(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void time_all(struct cpu *t)
{
	for (size_t i = 0; i < t->n; i++) {
		t->c[i].ns = xcalloc(t->o->rounds, sizeof(*t->c[i].ns));
	}
	for (uint32_t round = 0; round < t->o->rounds + WARM_ROUNDS; round++) {
		for (size_t i = 0; i < t->n; i++) {
			struct candidate *c = &t->c[(i + round * 7) % t->n];

			if (*c->row.refused) {
				continue;
			}
			const uint64_t ns = run_one(t, c, round);

			if (round >= WARM_ROUNDS && ns) {
				c->ns[c->row.rounds++] = ns;
			}
		}
	}
	for (size_t i = 0; i < t->n; i++) {
		struct stress_tune_row *r = &t->c[i].row;
		const uint32_t n = r->rounds;

		if (n == 0) {
			continue;
		}
		sort_array(t->c[i].ns, n, sizeof(*t->c[i].ns), by_value);
		const double p50 = (double)t->c[i].ns[n / 2];

		r->measured = true;
		r->p50_ns = p50;
		r->band = (double)(t->c[i].ns[n - 1 - n / 20] - t->c[i].ns[n / 20]) / 2 / p50;
		r->p99_ns = n >= P99_LEAST ? (double)t->c[i].ns[n - 1 - n / 100] : 0;
	}
}

static int run(struct cpu *t, struct stress_tune_sink *sink, struct why *why)
{
	const struct stress_config *c = &t->o->config;
	struct stress_tune_facts f = {.launches = 1, .threads = t->threads};
	int r = make_memory(t, why);

	if (r < 0) {
		return r;
	}
	text_copy(f.device, sizeof(f.device), *t->host.model ? t->host.model : "CPU");
	f.copies = t->copies;
	f.bytes = t->w_bytes + t->x_bytes + t->y_bytes;
	f.weight_bytes = t->w_bytes;
	f.l2 = t->host.llc_bytes;
	if (t->o->misaligned && c->shape.k < 2 * TUNE_VIEW_FEWER) {
		why_set(why, "--misaligned needs a K of %d or more", 2 * TUNE_VIEW_FEWER);
		return -EINVAL;
	}
	if (t->o->misaligned) {
		find_misaligned(t);
	} else {
		find_own(t);
		find_peers(t, &f);
	}
	sink->facts(sink, &f);
	for (size_t i = 0; i < t->n; i++) {
		check(t, &t->c[i]);
	}
	time_all(t);
	for (size_t i = 0; i < t->n; i++) {
		sink->row(sink, &t->c[i].row);
	}
	return 0;
}

static int open_threads(struct cpu *t, struct why *why)
{
	const uint32_t asked = t->o->config.threads;
	int pin_errno = 0;

	if (asked > t->host.cpus) {
		why_set(why, "%u threads: this process may run on %u CPUs only", asked,
			t->host.cpus);
		return -EINVAL;
	}
	t->threads = asked ? asked : MAX(t->host.cpus - 1, 1u);
	t->partial = xcalloc((size_t)t->threads * 8, sizeof(*t->partial));
	/* Their threads are made before this one is pinned: they may go where they want. */
	t->peers = cpu_peers_open(t->threads);
	return stress_pool_create(
		t->threads, t->host.cpu + (t->host.cpus - t->threads), &t->pool, &pin_errno, why);
}

static void unmap(void *p, size_t bytes)
{
	if (p) {
		munmap(p, bytes);
	}
}

int stress_tune_cpu(
	const struct stress_tune_options *o, struct stress_tune_sink *sink, struct why *why)
{
	const size_t m = o->config.shape.m, k = o->config.shape.k, n = o->config.shape.n;
	struct cpu *t = xcalloc(1, sizeof(*t));

	t->o = o;
	stress_host_read("", &t->host);
	int r = open_threads(t, why);

	r = r ? r : run(t, sink, why);
	for (size_t i = 0; i < t->n; i++) {
		free(t->c[i].ns);
	}
	cpu_peers_close(t->peers);
	stress_pool_destroy(t->pool);
	unmap(t->w, t->copies * t->w_bytes);
	unmap(t->x, t->x_bytes + 64);
	unmap(t->y, t->y_bytes + 64);
	unmap(t->w32, t->copies32 * t->w32_bytes);
	unmap(t->x32, m * k * 4 + 64);
	unmap(t->y32, m * n * 4 + 64);
	free(t->partial);
	free(t);
	return r;
}
