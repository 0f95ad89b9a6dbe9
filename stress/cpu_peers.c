/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stress/cpu_peers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/macros.h"
#include "base/text.h"
#include "stress/library.h"

/* Values of cblas.h, and of oneDNN's documentation of its C API (2.x). */
enum {
	ROW_MAJOR = 101,
	NO_TRANS = 111,
	TRANS = 112,
	DNNL_SUCCESS = 0,
	DNNL_CPU = 1,
	DNNL_STREAM_IN_ORDER = 1,
	DNNL_BF16 = 2,
	DNNL_F32 = 3,
	DNNL_TAG_ANY = 1,
	DNNL_QUERY_WEIGHTS_MD = 131,
	DNNL_ARG_SRC = 1,  /* and FROM */
	DNNL_ARG_DST = 17, /* and TO */
	DNNL_ARG_WEIGHTS = 33,
	DESCRIPTOR = 8192, /* more than dnnl_memory_desc_t and dnnl_matmul_desc_t have */
};

struct dnnl_arg {
	int arg;
	void *memory;
};

struct dnnl_version {
	int major, minor, patch;
};

struct dnnl_functions {
	const struct dnnl_version *(*version)(void);
	int (*engine_create)(void **ret, int kind, size_t index);
	int (*engine_destroy)(void *e);
	int (*stream_create)(void **ret, void *engine, unsigned flags);
	int (*stream_destroy)(void *s);
	int (*stream_wait)(void *s);
	int (*memory_desc_init_by_strides)(
		void *md, int ndims, const int64_t *dims, int type, const int64_t *strides);
	int (*memory_desc_init_by_tag)(void *md, int ndims, const int64_t *dims, int type, int tag);
	size_t (*memory_desc_get_size)(const void *md);
	int (*memory_create)(void **ret, const void *md, void *engine, void *data);
	int (*memory_destroy)(void *m);
	int (*matmul_desc_init)(void *desc, const void *src, const void *weights, const void *bias,
		const void *dst);
	int (*primitive_desc_create)(
		void **ret, const void *desc, const void *attr, void *engine, const void *hint);
	const void *(*primitive_desc_query_md)(const void *pd, int what, int index);
	int (*primitive_desc_destroy)(void *pd);
	int (*reorder_primitive_desc_create)(void **ret, const void *from, void *from_engine,
		const void *to, void *to_engine, const void *attr);
	int (*primitive_create)(void **ret, const void *pd);
	int (*primitive_execute)(const void *p, void *stream, int n, const struct dnnl_arg *args);
	int (*primitive_destroy)(void *p);
};

/* A matmul that is ready: memories of the copies, in the order that the library likes. */
struct dnnl_matmul {
	void *pd, *primitive, *x, *y;
	void **w;
	void **data;
	void *converted_x; /* BF16 */
	uint32_t copies;
};

struct blas_functions {
	void (*sgemv)(int order, int trans, int rows, int cols, float alpha, const float *a,
		int lda, const float *x, int incx, float beta, float *y, int incy);
	void (*sgemm)(int order, int ta, int tb, int m, int n, int k, float alpha, const float *a,
		int lda, const float *b, int ldb, float beta, float *c, int ldc);
	void (*set_num_threads)(int n);
	char *(*get_config)(void);
};

struct cpu_peers {
	void *blas, *dnnl; /* NULL: not there */
	char blas_version[48], dnnl_version[48];
	struct blas_functions b;
	struct dnnl_functions f;
	void *engine, *stream;
	struct dnnl_matmul matmul[CPU_PEERS];
	/* OpenBLAS takes what it is given. */
	uint32_t m, n, k;
	const float *x, *w;
	size_t stride;
	float *y;
};

static const struct stress_symbol blas_symbols[] = {
	{{"cblas_sgemv"}, 0, false, offsetof(struct blas_functions, sgemv)},
	{{"cblas_sgemm"}, 0, false, offsetof(struct blas_functions, sgemm)},
	{{"openblas_set_num_threads"}, 0, false, offsetof(struct blas_functions, set_num_threads)},
	{{"openblas_get_config"}, 0, true, offsetof(struct blas_functions, get_config)},
};

static const struct stress_symbol dnnl_symbols[] = {
#define SYMBOL(member)                                                                             \
	{                                                                                          \
		{"dnnl_" #member}, 0, false, offsetof(struct dnnl_functions, member)               \
	}
	SYMBOL(version),
	SYMBOL(engine_create),
	SYMBOL(engine_destroy),
	SYMBOL(stream_create),
	SYMBOL(stream_destroy),
	SYMBOL(stream_wait),
	SYMBOL(memory_desc_init_by_strides),
	SYMBOL(memory_desc_init_by_tag),
	SYMBOL(memory_desc_get_size),
	SYMBOL(memory_create),
	SYMBOL(memory_destroy),
	SYMBOL(matmul_desc_init),
	SYMBOL(primitive_desc_create),
	SYMBOL(primitive_desc_query_md),
	SYMBOL(primitive_desc_destroy),
	SYMBOL(reorder_primitive_desc_create),
	SYMBOL(primitive_create),
	SYMBOL(primitive_execute),
	SYMBOL(primitive_destroy),
};

static const char *const names[CPU_PEERS] = {
	[CPU_PEER_OPENBLAS] = "openblas f32",
	[CPU_PEER_ONEDNN_F32] = "onednn f32",
	[CPU_PEER_ONEDNN_BF16] = "onednn bf16",
};

const char *cpu_peer_name(enum cpu_peer which)
{
	return names[which];
}

const char *cpu_peers_version(const struct cpu_peers *p, enum cpu_peer which)
{
	return which == CPU_PEER_OPENBLAS ? p->blas_version : p->dnnl_version;
}

size_t cpu_peer_bytes(enum cpu_peer which, uint32_t n, uint32_t k)
{
	return (size_t)n * k * (which == CPU_PEER_ONEDNN_BF16 ? 2 : 4);
}

/* -- loading ------------------------------------------------------------------------------- */

/* The library NAME with the N functions of TABLE in RET; NULL: it lacks one, or is not there. */
static void *open_peer(const char *name, const struct stress_symbol *table, size_t n, void *ret)
{
	void *library = stress_library_open(&name, 1, NULL);

	if (library && stress_library_load(table, n, stress_library_find, library, ret)) {
		stress_library_close(library);
		return NULL;
	}
	return library;
}

static void open_blas(struct cpu_peers *p, unsigned threads)
{
	p->blas = open_peer("libopenblas.so.0", blas_symbols, ARRAY_LEN(blas_symbols), &p->b);
	if (!p->blas) {
		return;
	}
	p->b.set_num_threads((int)threads);
	text_copy(p->blas_version, sizeof(p->blas_version),
		p->b.get_config ? p->b.get_config() : "OpenBLAS");
	/* "OpenBLAS 0.3.21 NO_AFFINITY …": the first two words. */
	char *space = strchr(p->blas_version, ' ');

	space = space ? strchr(space + 1, ' ') : NULL;
	if (space) {
		*space = '\0';
	}
}

static void open_dnnl(struct cpu_peers *p, unsigned threads)
{
	char n[12];

	/* Its OpenMP reads that when it is loaded. */
	snprintf(n, sizeof(n), "%u", threads);
	setenv("OMP_NUM_THREADS", n, 1);
	p->dnnl = open_peer("libdnnl.so.2", dnnl_symbols, ARRAY_LEN(dnnl_symbols), &p->f);
	if (!p->dnnl) {
		return;
	}
	/* 3.x has other functions under some of these names. */
	if (p->f.version()->major != 2 ||
		p->f.engine_create(&p->engine, DNNL_CPU, 0) != DNNL_SUCCESS ||
		p->f.stream_create(&p->stream, p->engine, DNNL_STREAM_IN_ORDER) != DNNL_SUCCESS) {
		stress_library_close(p->dnnl);
		p->dnnl = NULL;
		return;
	}
	const struct dnnl_version *v = p->f.version();

	snprintf(p->dnnl_version, sizeof(p->dnnl_version), "oneDNN %d.%d.%d", v->major, v->minor,
		v->patch);
}

struct cpu_peers *cpu_peers_open(unsigned threads)
{
	struct cpu_peers *p = xcalloc(1, sizeof(*p));

	open_blas(p, threads);
	open_dnnl(p, threads);
	return p;
}

static void free_matmul(struct cpu_peers *p, struct dnnl_matmul *m)
{
	for (uint32_t i = 0; m->w && i < m->copies; i++) {
		if (m->w[i]) {
			p->f.memory_destroy(m->w[i]);
		}
		free(m->data[i]);
	}
	if (m->x) {
		p->f.memory_destroy(m->x);
	}
	if (m->y) {
		p->f.memory_destroy(m->y);
	}
	if (m->primitive) {
		p->f.primitive_destroy(m->primitive);
	}
	if (m->pd) {
		p->f.primitive_desc_destroy(m->pd);
	}
	free(m->w);
	free(m->data);
	free(m->converted_x);
}

void cpu_peers_close(struct cpu_peers *p)
{
	if (!p) {
		return;
	}
	for (size_t i = 0; i < CPU_PEERS; i++) {
		free_matmul(p, &p->matmul[i]);
	}
	if (p->stream) {
		p->f.stream_destroy(p->stream);
	}
	if (p->engine) {
		p->f.engine_destroy(p->engine);
	}
	/* Their threads may live on: the libraries stay loaded. */
	free(p);
}

/* -- oneDNN --------------------------------------------------------------------------------- */

/* FROM as MD describes it becomes TO as TO_MD does. */
static bool reorder(struct cpu_peers *p, const void *md, void *from, const void *to_md, void *to)
{
	void *pd = NULL, *primitive = NULL, *a = NULL, *b = NULL;
	bool ok = p->f.reorder_primitive_desc_create(&pd, md, p->engine, to_md, p->engine, NULL) ==
			  DNNL_SUCCESS &&
		  p->f.primitive_create(&primitive, pd) == DNNL_SUCCESS &&
		  p->f.memory_create(&a, md, p->engine, from) == DNNL_SUCCESS &&
		  p->f.memory_create(&b, to_md, p->engine, to) == DNNL_SUCCESS;

	if (ok) {
		const struct dnnl_arg args[] = {{DNNL_ARG_SRC, a}, {DNNL_ARG_DST, b}};

		ok = p->f.primitive_execute(primitive, p->stream, 2, args) == DNNL_SUCCESS &&
		     p->f.stream_wait(p->stream) == DNNL_SUCCESS;
	}
	if (a) {
		p->f.memory_destroy(a);
	}
	if (b) {
		p->f.memory_destroy(b);
	}
	if (primitive) {
		p->f.primitive_destroy(primitive);
	}
	if (pd) {
		p->f.primitive_desc_destroy(pd);
	}
	return ok;
}

static int prepare_dnnl(struct cpu_peers *p, enum cpu_peer which, uint32_t copies, struct why *why)
{
	struct dnnl_matmul *m = &p->matmul[which];
	const int type = which == CPU_PEER_ONEDNN_BF16 ? DNNL_BF16 : DNNL_F32;
	const int64_t xd[] = {p->m, p->k}, wd[] = {p->k, p->n}, yd[] = {p->m, p->n};
	const int64_t xs[] = {p->k, 1}, ws[] = {1, p->k}, ys[] = {p->n, 1};
	_Alignas(16) unsigned char plain_w[DESCRIPTOR] = {0}, plain_x[DESCRIPTOR] = {0},
				   x[DESCRIPTOR] = {0}, w[DESCRIPTOR] = {0}, y[DESCRIPTOR] = {0},
				   desc[DESCRIPTOR] = {0};

	why_set(why, "%s has no %s multiplication on this CPU", p->dnnl_version,
		type == DNNL_BF16 ? "bf16" : "f32");
	if (p->f.memory_desc_init_by_strides(plain_x, 2, xd, DNNL_F32, xs) != DNNL_SUCCESS ||
		p->f.memory_desc_init_by_strides(plain_w, 2, wd, DNNL_F32, ws) != DNNL_SUCCESS ||
		p->f.memory_desc_init_by_strides(x, 2, xd, type, xs) != DNNL_SUCCESS ||
		p->f.memory_desc_init_by_strides(y, 2, yd, DNNL_F32, ys) != DNNL_SUCCESS ||
		p->f.memory_desc_init_by_tag(w, 2, wd, type, DNNL_TAG_ANY) != DNNL_SUCCESS ||
		p->f.matmul_desc_init(desc, x, w, NULL, y) != DNNL_SUCCESS ||
		p->f.primitive_desc_create(&m->pd, desc, NULL, p->engine, NULL) != DNNL_SUCCESS ||
		p->f.primitive_create(&m->primitive, m->pd) != DNNL_SUCCESS) {
		return -EOPNOTSUPP;
	}
	const void *liked = p->f.primitive_desc_query_md(m->pd, DNNL_QUERY_WEIGHTS_MD, 0);

	m->copies = copies;
	m->w = xcalloc(copies, sizeof(*m->w));
	m->data = xcalloc(copies, sizeof(*m->data));
	m->converted_x = malloc(p->f.memory_desc_get_size(x) + 64);
	bool ok = m->converted_x &&
		  reorder(p, plain_x, (void *)(uintptr_t)p->x, x, m->converted_x) &&
		  p->f.memory_create(&m->x, x, p->engine, m->converted_x) == DNNL_SUCCESS &&
		  p->f.memory_create(&m->y, y, p->engine, p->y) == DNNL_SUCCESS;

	for (uint32_t i = 0; ok && i < copies; i++) {
		const float *from =
			(const float *)(const void *)((const char *)p->w + i * p->stride);

		m->data[i] = aligned_alloc(64, (p->f.memory_desc_get_size(liked) + 63) / 64 * 64);
		ok = m->data[i] &&
		     reorder(p, plain_w, (void *)(uintptr_t)from, liked, m->data[i]) &&
		     p->f.memory_create(&m->w[i], liked, p->engine, m->data[i]) == DNNL_SUCCESS;
	}
	if (!ok) {
		why_set(why, "%s: no memory for its copies of the weights", p->dnnl_version);
		return -ENOMEM;
	}
	return 0;
}

int cpu_peers_prepare(struct cpu_peers *p, enum cpu_peer which, uint32_t m, uint32_t n, uint32_t k,
	const float *x, const float *w, size_t stride, uint32_t copies, float *y, struct why *why)
{
	p->m = m;
	p->n = n;
	p->k = k;
	p->x = x;
	p->w = w;
	p->stride = stride;
	p->y = y;
	if (which == CPU_PEER_OPENBLAS) {
		if (!p->blas) {
			why_set(why, "OpenBLAS is not installed (libopenblas.so.0)");
			return -ENOENT;
		}
		return 0;
	}
	if (!p->dnnl) {
		why_set(why, "oneDNN 2 is not installed (libdnnl.so.2)");
		return -ENOENT;
	}
	return prepare_dnnl(p, which, copies, why);
}

bool cpu_peers_run(struct cpu_peers *p, enum cpu_peer which, uint32_t copy)
{
	if (which == CPU_PEER_OPENBLAS) {
		const float *w =
			(const float *)(const void *)((const char *)p->w + copy * p->stride);
		const int m = (int)p->m, n = (int)p->n, k = (int)p->k;

		if (m == 1) {
			p->b.sgemv(ROW_MAJOR, NO_TRANS, n, k, 1, w, k, p->x, 1, 0, p->y, 1);
		} else {
			p->b.sgemm(
				ROW_MAJOR, NO_TRANS, TRANS, m, n, k, 1, p->x, k, w, k, 0, p->y, n);
		}
		return true;
	}
	const struct dnnl_matmul *d = &p->matmul[which];
	const struct dnnl_arg args[] = {
		{DNNL_ARG_SRC, d->x},
		{DNNL_ARG_WEIGHTS, d->w[copy]},
		{DNNL_ARG_DST, d->y},
	};

	return p->f.primitive_execute(d->primitive, p->stream, ARRAY_LEN(args), args) ==
		       DNNL_SUCCESS &&
	       p->f.stream_wait(p->stream) == DNNL_SUCCESS;
}
