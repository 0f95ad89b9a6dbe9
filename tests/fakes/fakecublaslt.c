/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A libcublasLt.so.13 that multiplies on the CPU, for fakecuda.c. It insists on what the real
 * one needs to be told: transposes, an epilogue before the heuristic, a workspace, reductions
 * that do not round twice. FAKE_CUBLASLT: none, the heuristic knows nothing; refuse, no algorithm
 * passes the check; wrong, epilogues are left out. Algorithms 1 and 2 are the heuristic's, 3 is
 * not.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/half.h"
#include "stress/cuda_api.h"

#define EXPORT(type, name, ...)                                                                    \
	__attribute__((visibility("default"))) type name(__VA_ARGS__);                             \
	type name(__VA_ARGS__)

struct desc {
	int32_t transa, transb;
	uint32_t epilogue;
	uint64_t bias;
};

struct layout {
	int type;
	uint64_t rows, cols;
	int64_t ld;
};

struct preference {
	uint64_t workspace;
	uint32_t reductions;
};

struct result {
	uint64_t algo[8];
	size_t workspace;
	int state;
	float waves;
	int reserved[4];
};

static int is_ordered(const char *what)
{
	const char *plan = getenv("FAKE_CUBLASLT");

	return plan && !strcmp(plan, what);
}

static int make(void **ret, size_t size)
{
	*ret = calloc(1, size);
	return *ret ? 0 : 3;
}

EXPORT(int, cublasLtCreate, void **ret)
{
	return make(ret, 8);
}

EXPORT(int, cublasLtDestroy, void *h)
{
	free(h);
	return 0;
}

EXPORT(size_t, cublasLtGetVersion, void)
{
	return 130100;
}

EXPORT(int, cublasLtMatmulDescCreate, void **ret, int compute, int scale)
{
	return compute == 68 && scale == 0 ? make(ret, sizeof(struct desc)) : 7;
}

EXPORT(int, cublasLtMatmulDescDestroy, void *d)
{
	free(d);
	return 0;
}

EXPORT(int, cublasLtMatmulDescSetAttribute, void *desc, int attr, const void *v, size_t size)
{
	struct desc *d = desc;

	switch (attr) {
	case 3:
		memcpy(&d->transa, v, size);
		return size == 4 ? 0 : 7;
	case 4:
		memcpy(&d->transb, v, size);
		return size == 4 ? 0 : 7;
	case 7:
		memcpy(&d->epilogue, v, size);
		return size == 4 ? 0 : 7;
	case 8:
		memcpy(&d->bias, v, size);
		return size == 8 ? 0 : 7;
	default:
		return 0;
	}
}

EXPORT(int, cublasLtMatrixLayoutCreate, void **ret, int type, uint64_t rows, uint64_t cols,
	int64_t ld)
{
	if (make(ret, sizeof(struct layout))) {
		return 3;
	}
	*(struct layout *)*ret = (struct layout){type, rows, cols, ld};
	return 0;
}

EXPORT(int, cublasLtMatrixLayoutDestroy, void *l)
{
	free(l);
	return 0;
}

EXPORT(int, cublasLtMatmulPreferenceCreate, void **ret)
{
	return make(ret, sizeof(struct preference));
}

EXPORT(int, cublasLtMatmulPreferenceDestroy, void *p)
{
	free(p);
	return 0;
}

EXPORT(int, cublasLtMatmulPreferenceSetAttribute, void *pref, int attr, const void *v, size_t size)
{
	struct preference *p = pref;

	if (attr == 1) {
		memcpy(&p->workspace, v, size);
	} else if (attr == 3) {
		memcpy(&p->reductions, v, size);
	}
	return 0;
}

EXPORT(int, cublasLtMatmulAlgoGetHeuristic, void *h, void *desc, void *a, void *b, void *c, void *d,
	void *pref, int wanted, struct result *ret, int *ret_n)
{
	const struct desc *m = desc;
	const struct preference *p = pref;
	(void)h, (void)a, (void)b, (void)c, (void)d;
	*ret_n = 0;
	if (m->transa != 1 || m->transb != 0 || !m->epilogue || !p->workspace ||
		p->reductions & 4 || is_ordered("none")) {
		return 15;
	}
	for (int i = 0; i < wanted && i < 2; i++) {
		ret[i] = (struct result){.algo = {(uint64_t)i + 1}, .waves = 1};
	}
	*ret_n = wanted < 2 ? wanted : 2;
	return 0;
}

EXPORT(int, cublasLtMatmulAlgoCheck, void *h, void *desc, void *a, void *b, void *c, void *d,
	const uint64_t *algo, struct result *ret)
{
	(void)h, (void)desc, (void)a, (void)b, (void)c, (void)d;
	*ret = (struct result){.algo = {algo[0]}};
	return (algo[0] >= 1 && algo[0] <= 3) && !is_ordered("refuse") ? 0 : 7;
}

static double value_of(const struct layout *l, const void *p, size_t i)
{
	return l->type == 2 ? (double)gemm_half_to_float(((const uint16_t *)p)[i])
			    : (double)((const float *)p)[i];
}

/* D = Wᵀ x column-major: A is K × N, B is K × M, D is N × M. */
EXPORT(int, cublasLtMatmul, void *h, void *desc, const float *alpha, const void *a, void *al,
	const void *b, void *bl, const float *beta, const void *c, void *cl, void *d, void *dl,
	const uint64_t *algo, void *workspace, size_t bytes, CUstream s)
{
	const struct layout *w = al, *x = bl, *y = dl;
	const struct desc *m_desc = desc;
	const void *bias = (const void *)(uintptr_t)m_desc->bias;

	(void)h, (void)alpha, (void)beta, (void)c, (void)cl, (void)workspace;
	(void)bytes, (void)s;
	if (!algo || w->rows != x->rows || y->rows != w->cols || y->cols != x->cols) {
		return 7;
	}
	for (size_t m = 0; m < y->cols; m++) {
		for (size_t n = 0; n < y->rows; n++) {
			double sum = 0;

			for (size_t k = 0; k < w->rows; k++) {
				sum += value_of(w, a, n * (size_t)w->ld + k) *
				       value_of(x, b, m * (size_t)x->ld + k);
			}
			const size_t at = m * (size_t)y->ld + n;

			/* BIAS 4, RELU 2; "wrong" leaves them out. */
			if (m_desc->epilogue & 4 && bias && !is_ordered("wrong")) {
				sum += value_of(y, bias, n);
			}
			if (m_desc->epilogue & 2 && sum < 0 && !is_ordered("wrong")) {
				sum = 0;
			}

			if (y->type == 2) {
				((uint16_t *)d)[at] = gemm_half_from_double(sum);
			} else {
				((float *)d)[at] = (float)sum;
			}
		}
	}
	return 0;
}
