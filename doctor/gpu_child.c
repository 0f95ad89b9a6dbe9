/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The child that uses the driver: one thread, no allocation that it would have to give back. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/macros.h"
#include "base/text.h"
#include "doctor/gpu.h"
#include "runs/hist.h"
#include "stress/cublaslt.h"
#include "stress/cuda_dev.h"
#include "stress/tune.h"

enum {
	LAUNCHES = 400,
	LAUNCHES_WARM = 40,
	/* Few: the gap is told to a percent or two, "barscope tune" tells it better. */
	TIME_ROUNDS = 9,
	TIME_CHECKED = 1 << 20,
};

/* The lowest target and version that every driver since CUDA 9 compiles. */
static const char tiny_ptx[] = ".version 6.0\n"
			       ".target sm_50\n"
			       ".address_size 64\n"
			       ".visible .entry empty(.param .align 8 .b8 empty_param_0[32])\n"
			       "{\n"
			       "\tret;\n"
			       "}\n";

/* Tells the front what is known so far, and what comes next. */
static void tell(struct doctor_gpu *g, enum doctor_gpu_step next)
{
	g->step = next;
	if (write(STDOUT_FILENO, g, sizeof(*g)) != (ssize_t)sizeof(*g)) {
		_exit(1); /* nobody listens any more */
	}
}

/* Tells that the present step failed; the status to exit with. */
static int give_up(struct doctor_gpu *g, int error, const struct why *why)
{
	g->error = error;
	text_copy(g->why, sizeof(g->why), why->text);
	tell(g, g->step);
	return 0;
}

static void read_device(const struct cuda_api *api, CUdevice d, struct doctor_gpu *g)
{
	int v[5] = {0};
	static const int attrs[] = {CUDA_ATTR_PCI_DOMAIN, CUDA_ATTR_PCI_BUS, CUDA_ATTR_PCI_DEVICE,
		CUDA_ATTR_CC_MAJOR, CUDA_ATTR_CC_MINOR};

	for (size_t i = 0; i < ARRAY_LEN(attrs); i++) {
		api->DeviceGetAttribute(&v[i], attrs[i], d);
	}
	snprintf(g->address, sizeof(g->address), "%04x:%02x:%02x.0", (unsigned)v[0], (unsigned)v[1],
		(unsigned)v[2]);
	g->cc = 10 * v[3] + v[4];
	api->DeviceGetName(g->device, sizeof(g->device), d);
	api->DeviceGetCount(&g->devices);
}

static CUresult launch_often(const struct cuda_api *api, CUfunction f, struct doctor_gpu *g)
{
	struct gemm_cuda_span none = {0};
	void *params[] = {&none};
	struct runs_hist times;
	CUstream s;
	CUresult e = api->StreamCreate(&s, CUDA_STREAM_NON_BLOCKING);

	runs_hist_init(&times, RUNS_HIST_1PCT);
	for (unsigned i = 0; i < LAUNCHES_WARM + LAUNCHES && e == CUDA_SUCCESS; i++) {
		const uint64_t from = clock_ns();

		e = api->LaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, s, params, NULL);
		e = e == CUDA_SUCCESS ? api->StreamSynchronize(s) : e;
		if (i >= LAUNCHES_WARM && e == CUDA_SUCCESS) {
			runs_hist_add(&times, clock_ns() - from);
			g->launches++;
		}
	}
	if (g->launches) {
		g->launch_p50_ns = runs_hist_quantile(&times, 0.5);
		g->launch_p99_ns = runs_hist_quantile(&times, 0.99);
		g->launch_max_ns = times.max;
	}
	runs_hist_finish(&times);
	return e;
}

static void find_cublaslt(const char *library, struct doctor_gpu *g)
{
	struct cublaslt *lt;
	struct why why = {""};

	if (cublaslt_open(library, &lt, &why) < 0) {
		text_copy(g->cublaslt_why, sizeof(g->cublaslt_why), why.text);
		return;
	}
	text_copy(g->cublaslt, sizeof(g->cublaslt), cublaslt_path(lt));
	g->cublaslt_version = cublaslt_version(lt);
	cublaslt_close(lt);
}

/* Everything but the shape's kernel. The libraries stay loaded: the process ends soon. */
static int run_compile(struct doctor_gpu *g, const char *libcuda, const char *lt, bool launches)
{
	struct cuda_api api;
	struct why why = {""};
	CUdevice d = 0;
	CUcontext context;
	CUmodule m;
	CUfunction f;

	tell(g, DOCTOR_GPU_LOAD);
	cuda_api_path(libcuda ? libcuda : "libcuda.so.1", "cuInit", g->libcuda, sizeof(g->libcuda));
	cuda_api_path("libnvidia-ml.so.1", "nvmlInit_v2", g->nvml, sizeof(g->nvml));
	const int r = cuda_api_init(&api, libcuda, &why);

	if (r < 0) {
		return give_up(g, r, &why);
	}
	g->version = api.version;
	tell(g, DOCTOR_GPU_CONTEXT);
	CUresult e = api.DeviceGet(&d, 0);

	if (e == CUDA_SUCCESS) {
		read_device(&api, d, g);
		e = api.DevicePrimaryCtxRetain(&context, d);
	}
	e = e == CUDA_SUCCESS ? api.CtxSetCurrent(context) : e;
	if (e != CUDA_SUCCESS) {
		return give_up(g, cuda_fail(&api, e, &why, "making a context"), &why);
	}
	tell(g, DOCTOR_GPU_COMPILE);
	const uint64_t from = clock_ns();

	e = api.ModuleLoadDataEx(&m, tiny_ptx, 0, NULL, NULL);
	e = e == CUDA_SUCCESS ? api.ModuleGetFunction(&f, m, "empty") : e;
	if (e != CUDA_SUCCESS) {
		return give_up(g, cuda_fail(&api, e, &why, "compiling a tiny kernel"), &why);
	}
	g->compile_ns = clock_ns() - from;
	tell(g, DOCTOR_GPU_LAUNCH);
	e = launches ? launch_often(&api, f, g) : CUDA_SUCCESS;
	if (e != CUDA_SUCCESS) {
		return give_up(g, cuda_fail(&api, e, &why, "launching an empty kernel"), &why);
	}
	tell(g, DOCTOR_GPU_LIBRARY);
	find_cublaslt(lt, g);
	tell(g, DOCTOR_GPU_DONE);
	return 0;
}

/* The fastest of each kind. */
struct times {
	struct stress_tune_sink sink; /* first */
	struct doctor_gpu *g;
};

static void ignore_facts(struct stress_tune_sink *s, const struct stress_tune_facts *f)
{
	(void)s, (void)f;
}

static void take_row(struct stress_tune_sink *s, const struct stress_tune_row *r)
{
	struct doctor_gpu *g = ((struct times *)s)->g;
	double *best = r->kind == STRESS_TUNE_OWN       ? &g->own_ns
		       : r->kind == STRESS_TUNE_LIBRARY ? &g->library_ns
							: &g->read_ns;

	if (r->measured && (*best == 0 || r->p50_ns < *best)) {
		*best = r->p50_ns;
	}
}

static int run_times(struct doctor_gpu *g, const char *lt, const struct stress_shape *s)
{
	struct stress_tune_options o = {
		.library = lt, .rounds = TIME_ROUNDS, .check_terms = TIME_CHECKED, .brief = true};
	struct times t = {.sink = {ignore_facts, take_row}, .g = g};
	struct why why = {""};

	stress_config_init(&o.config);
	o.config.shape = *s;
	text_copy(o.config.kernel, sizeof(o.config.kernel), g->kernel);
	tell(g, DOCTOR_GPU_TIME);
	const int r = stress_tune(&o, &t.sink, &why);

	if (r < 0) {
		return give_up(g, r, &why);
	}
	tell(g, DOCTOR_GPU_DONE);
	return 0;
}

static int run_kernel(
	struct doctor_gpu *g, const char *libcuda, const char *lt, const struct stress_shape *s)
{
	struct cuda_dev *dev;
	struct cuda_kernel k;
	struct why why = {""};

	tell(g, DOCTOR_GPU_KERNEL);
	int r = cuda_dev_open(libcuda, "", &dev, &why);

	if (r == 0) {
		r = cuda_dev_best(dev, GEMM_F16, s->m, s->n, s->k, s->k % 8 == 0, &k, &why);
		text_copy(g->kernel_note, sizeof(g->kernel_note), dev->jit_note);
	}
	if (r < 0) {
		return give_up(g, r, &why);
	}
	text_copy(g->kernel, sizeof(g->kernel), k.of->name);
	g->registers = k.registers;
	g->local_bytes = k.local_bytes;
	g->blocks_per_sm = k.blocks_per_sm;
	cuda_dev_close(dev);
	/* Times need what a run needs: the usual library. */
	if (libcuda) {
		tell(g, DOCTOR_GPU_DONE);
		return 0;
	}
	return run_times(g, lt, s);
}

int doctor_gpu_main(int argc, char **argv)
{
	struct doctor_gpu g = {0};
	struct stress_shape shape;

	if (argc != 6 || stress_shape_parse(argv[5], &shape, NULL) < 0 || isatty(STDOUT_FILENO)) {
		return 3; /* not started by the front */
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	const char *libcuda = *argv[3] ? argv[3] : NULL, *lt = *argv[4] ? argv[4] : NULL;

	return strcmp(argv[2], "kernel") ? run_compile(&g, libcuda, lt, strcmp(argv[2], "quick"))
					 : run_kernel(&g, libcuda, lt, &shape);
}
