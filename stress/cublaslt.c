/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stress/cublaslt.h"

#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/macros.h"
#include "base/text.h"
#include "kernels/cuda/args.h"
#include "stress/library.h"

/* Values from NVIDIA's documentation of cuBLASLt. */
enum {
	STATUS_SUCCESS = 0,
	COMPUTE_32F = 68,
	TYPE_R_32F = 0,
	TYPE_R_16F = 2,
	DESC_TRANSA = 3,
	DESC_TRANSB = 4,
	DESC_EPILOGUE = 7,
	DESC_BIAS_POINTER = 8,
	DESC_BIAS_DATA_TYPE = 26,
	OP_N = 0,
	OP_T = 1,
	EPILOGUE_DEFAULT = 1,
	EPILOGUE_RELU = 2,
	EPILOGUE_BIAS = 4,
	EPILOGUE_GELU = 32,
	PREF_MAX_WORKSPACE = 1,
	PREF_REDUCTION_MASK = 3,
	PREF_ALIGN_A = 5, /* B, C and D follow */
};

/* cublasLtMatmulHeuristicResult_t */
struct result {
	struct cublaslt_algo algo;
	size_t workspace;
	int state;
	float waves;
	int reserved[4];
};

struct functions {
	int (*Create)(void **ret);
	int (*Destroy)(void *h);
	size_t (*GetVersion)(void);
	int (*MatmulDescCreate)(void **ret, int compute, int scale_type);
	int (*MatmulDescDestroy)(void *d);
	int (*MatmulDescSetAttribute)(void *d, int attr, const void *v, size_t size);
	int (*MatrixLayoutCreate)(void **ret, int type, uint64_t rows, uint64_t cols, int64_t ld);
	int (*MatrixLayoutDestroy)(void *l);
	int (*MatmulPreferenceCreate)(void **ret);
	int (*MatmulPreferenceDestroy)(void *p);
	int (*MatmulPreferenceSetAttribute)(void *p, int attr, const void *v, size_t size);
	int (*MatmulAlgoGetHeuristic)(void *h, void *desc, void *a, void *b, void *c, void *d,
		void *pref, int wanted, struct result *ret, int *ret_n);
	int (*MatmulAlgoCheck)(void *h, void *desc, void *a, void *b, void *c, void *d,
		const struct cublaslt_algo *algo, struct result *ret);
	int (*Matmul)(void *h, void *desc, const void *alpha, const void *a, void *al,
		const void *b, void *bl, const void *beta, const void *c, void *cl, void *d,
		void *dl, const struct cublaslt_algo *algo, void *workspace, size_t bytes,
		CUstream s);
};

struct cublaslt {
	struct functions f;
	void *library, *handle;
	char path[256], build_id[44];
	struct cublaslt_problem p;
	void *desc, *lw, *lx, *ly, *pref;
};

static const struct stress_symbol symbols[] = {
#define SYMBOL(member)                                                                             \
	{                                                                                          \
		{"cublasLt" #member}, 0, false, offsetof(struct functions, member)                 \
	}
	SYMBOL(Create),
	SYMBOL(Destroy),
	SYMBOL(GetVersion),
	SYMBOL(MatmulDescCreate),
	SYMBOL(MatmulDescDestroy),
	SYMBOL(MatmulDescSetAttribute),
	SYMBOL(MatrixLayoutCreate),
	SYMBOL(MatrixLayoutDestroy),
	SYMBOL(MatmulPreferenceCreate),
	SYMBOL(MatmulPreferenceDestroy),
	SYMBOL(MatmulPreferenceSetAttribute),
	SYMBOL(MatmulAlgoGetHeuristic),
	SYMBOL(MatmulAlgoCheck),
	SYMBOL(Matmul),
};

static int resolve(struct cublaslt *lt, struct why *why)
{
	const char *missing = stress_library_load(
		symbols, ARRAY_LEN(symbols), stress_library_find, lt->library, &lt->f);

	if (missing) {
		why_set(why, "%s has no %s: cuBLAS 11 or newer is needed", lt->path, missing);
		return -ENOSYS;
	}
	return 0;
}

struct build_id_query {
	uintptr_t address; /* inside the library */
	char *ret;
	size_t size;
};

/* The note of the object that holds the address (ELF gABI, "Note Section"; GNU type 3). */
static int read_build_id(struct dl_phdr_info *info, size_t size, void *data)
{
	const struct build_id_query *q = data;
	bool inside = false;

	(void)size;
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		inside |= p->p_type == PT_LOAD &&
			  q->address - info->dlpi_addr - p->p_vaddr < p->p_memsz;
	}
	for (size_t i = 0; inside && i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		const unsigned char *at = (const unsigned char *)(info->dlpi_addr + p->p_vaddr);
		size_t left = p->p_type == PT_NOTE ? p->p_memsz : 0;

		while (left >= sizeof(ElfW(Nhdr))) {
			ElfW(Nhdr) n;

			memcpy(&n, at, sizeof(n));
			const size_t name = (n.n_namesz + 3u) & ~(size_t)3;
			const size_t all = sizeof(n) + name + ((n.n_descsz + 3u) & ~(size_t)3);

			if (all > left) {
				break;
			}
			if (n.n_type == NT_GNU_BUILD_ID && n.n_namesz == 4 &&
				!memcmp(at + sizeof(n), "GNU", 4)) {
				for (size_t k = 0; k < n.n_descsz && 2 * k + 2 < q->size; k++) {
					snprintf(q->ret + 2 * k, 3, "%02x",
						at[sizeof(n) + name + k]);
				}
			}
			at += all;
			left -= all;
		}
	}
	return inside;
}

int cublaslt_open(const char *library, struct cublaslt **ret, struct why *why)
{
	static const char *const names[] = {
		"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so.11"};
	struct cublaslt *lt = xcalloc(1, sizeof(*lt));
	int r = 0;

	lt->library = library ? stress_library_open(&library, 1, NULL)
			      : stress_library_open(names, ARRAY_LEN(names), NULL);
	if (!lt->library) {
		why_set(why,
			"cuBLASLt is not installed (looked for %s); rows that need it are left out",
			library ? library : "libcublasLt.so.13, .12 and .11");
		cublaslt_close(lt);
		return -ENOENT;
	}
	void *symbol = stress_library_symbol(lt->library, "cublasLtCreate");
	const char *file = stress_library_file(symbol);

	text_copy(lt->path, sizeof(lt->path), file ? file : library ? library : "libcublasLt");
	if (file) {
		struct build_id_query q = {(uintptr_t)symbol, lt->build_id, sizeof(lt->build_id)};

		dl_iterate_phdr(read_build_id, &q);
	}
	r = resolve(lt, why);
	if (r == 0) {
		int status = lt->f.Create(&lt->handle);

		if (status != STATUS_SUCCESS) {
			lt->handle = NULL;
			why_set(why, "cublasLtCreate of %s: status %d", lt->path, status);
			r = -EIO;
		}
	}
	if (r < 0) {
		cublaslt_close(lt);
		return r;
	}
	*ret = lt;
	return 0;
}

static void forget(struct cublaslt *lt)
{
	if (lt->desc) {
		lt->f.MatmulDescDestroy(lt->desc);
	}
	if (lt->lw) {
		lt->f.MatrixLayoutDestroy(lt->lw);
	}
	if (lt->lx) {
		lt->f.MatrixLayoutDestroy(lt->lx);
	}
	if (lt->ly) {
		lt->f.MatrixLayoutDestroy(lt->ly);
	}
	if (lt->pref) {
		lt->f.MatmulPreferenceDestroy(lt->pref);
	}
	lt->desc = lt->lw = lt->lx = lt->ly = lt->pref = NULL;
}

void cublaslt_close(struct cublaslt *lt)
{
	if (!lt) {
		return;
	}
	forget(lt);
	if (lt->handle) {
		lt->f.Destroy(lt->handle);
	}
	stress_library_close(lt->library);
	free(lt);
}

size_t cublaslt_version(const struct cublaslt *lt)
{
	return lt->f.GetVersion();
}

const char *cublaslt_build_id(const struct cublaslt *lt)
{
	return lt->build_id;
}

const char *cublaslt_path(const struct cublaslt *lt)
{
	return lt->path;
}

static int make_desc(struct cublaslt *lt, const struct cublaslt_problem *p)
{
	const int32_t ta = OP_T, tb = OP_N, type = p->f32 ? TYPE_R_32F : TYPE_R_16F;
	uint32_t epilogue = EPILOGUE_DEFAULT;
	int s = lt->f.MatmulDescCreate(&lt->desc, COMPUTE_32F, TYPE_R_32F);

	if (p->act == GEMM_CUDA_ACT_RELU || p->act == GEMM_CUDA_ACT_GELU) {
		epilogue = p->act == GEMM_CUDA_ACT_RELU ? EPILOGUE_RELU : EPILOGUE_GELU;
	}
	if (p->bias) {
		epilogue = epilogue == EPILOGUE_DEFAULT ? EPILOGUE_BIAS : epilogue | EPILOGUE_BIAS;
	}
	if (s == 0) {
		s = lt->f.MatmulDescSetAttribute(lt->desc, DESC_TRANSA, &ta, sizeof(ta));
	}
	if (s == 0) {
		s = lt->f.MatmulDescSetAttribute(lt->desc, DESC_TRANSB, &tb, sizeof(tb));
	}
	/* The epilogue stands before the heuristic is asked: it decides what suits. */
	if (s == 0) {
		s = lt->f.MatmulDescSetAttribute(
			lt->desc, DESC_EPILOGUE, &epilogue, sizeof(epilogue));
	}
	if (s == 0 && p->bias) {
		s = lt->f.MatmulDescSetAttribute(
			lt->desc, DESC_BIAS_DATA_TYPE, &type, sizeof(type));
	}
	return s;
}

static int make_preference(struct cublaslt *lt, const struct cublaslt_problem *p)
{
	const uint32_t mask = CUBLASLT_REDUCTIONS;
	const uint64_t workspace = p->workspace;
	int s = lt->f.MatmulPreferenceCreate(&lt->pref);

	if (s == 0) {
		s = lt->f.MatmulPreferenceSetAttribute(
			lt->pref, PREF_MAX_WORKSPACE, &workspace, sizeof(workspace));
	}
	if (s == 0) {
		s = lt->f.MatmulPreferenceSetAttribute(
			lt->pref, PREF_REDUCTION_MASK, &mask, sizeof(mask));
	}
	for (int i = 0; s == 0 && i < 4; i++) {
		s = lt->f.MatmulPreferenceSetAttribute(
			lt->pref, PREF_ALIGN_A + i, &p->align, sizeof(p->align));
	}
	return s;
}

int cublaslt_set(struct cublaslt *lt, const struct cublaslt_problem *p, struct why *why)
{
	const int type = p->f32 ? TYPE_R_32F : TYPE_R_16F;

	forget(lt);
	lt->p = *p;
	int s = make_desc(lt, p);

	if (s == 0) {
		s = lt->f.MatrixLayoutCreate(&lt->lw, type, p->k, p->n, p->ldw);
	}
	if (s == 0) {
		s = lt->f.MatrixLayoutCreate(&lt->lx, type, p->k, p->m, p->ldx);
	}
	if (s == 0) {
		s = lt->f.MatrixLayoutCreate(&lt->ly, type, p->n, p->m, p->ldy);
	}
	if (s == 0) {
		s = make_preference(lt, p);
	}
	if (s != 0) {
		why_set(why, "cuBLASLt refused the problem: status %d", s);
		return -EIO;
	}
	return 0;
}

int cublaslt_candidates(
	struct cublaslt *lt, struct cublaslt_candidate *ret, size_t max, struct why *why)
{
	struct result r[64] = {0};
	const int wanted = (int)MIN(max, ARRAY_LEN(r));
	int found = 0, n = 0;
	int s = lt->f.MatmulAlgoGetHeuristic(
		lt->handle, lt->desc, lt->lw, lt->lx, lt->ly, lt->ly, lt->pref, wanted, r, &found);

	if (s != 0 || found == 0) {
		why_set(why, "cuBLASLt knows no algorithm for this problem: status %d", s);
		return -EOPNOTSUPP;
	}
	for (int i = 0; i < found && i < wanted; i++) {
		if (r[i].state == STATUS_SUCCESS) {
			ret[n++] =
				(struct cublaslt_candidate){r[i].algo, r[i].workspace, r[i].waves};
		}
	}
	return n;
}

bool cublaslt_check(struct cublaslt *lt, const struct cublaslt_algo *algo, size_t *ret_workspace)
{
	struct result r = {0};

	if (lt->f.MatmulAlgoCheck(lt->handle, lt->desc, lt->lw, lt->lx, lt->ly, lt->ly, algo, &r) !=
			STATUS_SUCCESS ||
		r.workspace > lt->p.workspace) {
		return false;
	}
	*ret_workspace = r.workspace;
	return true;
}

int cublaslt_run(struct cublaslt *lt, const struct cublaslt_algo *algo, CUdeviceptr x,
	CUdeviceptr w, CUdeviceptr y, CUdeviceptr bias, CUdeviceptr workspace, size_t bytes,
	CUstream s)
{
	const float alpha = 1.0f, beta = 0.0f;

	if (lt->p.bias) {
		const uint64_t pointer = bias;
		int e = lt->f.MatmulDescSetAttribute(
			lt->desc, DESC_BIAS_POINTER, &pointer, sizeof(pointer));

		if (e != 0) {
			return e;
		}
	}
	return lt->f.Matmul(lt->handle, lt->desc, &alpha, (const void *)(uintptr_t)w, lt->lw,
		(const void *)(uintptr_t)x, lt->lx, &beta, (const void *)(uintptr_t)y, lt->ly,
		(void *)(uintptr_t)y, lt->ly, algo, (void *)(uintptr_t)workspace, bytes, s);
}
