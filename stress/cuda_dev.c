/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stress/cuda_dev.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/macros.h"
#include "base/text.h"

static int attribute(const struct cuda_api *api, CUdevice d, int attr)
{
	int v = 0;

	return api->DeviceGetAttribute(&v, attr, d) == CUDA_SUCCESS ? v : 0;
}

void cuda_dev_address(const struct cuda_api *api, CUdevice d, char ret[static 24])
{
	/* Function 0: a GPU's compute function is always the first. */
	snprintf(ret, 24, "%04x:%02x:%02x.0", (unsigned)attribute(api, d, CUDA_ATTR_PCI_DOMAIN),
		(unsigned)attribute(api, d, CUDA_ATTR_PCI_BUS),
		(unsigned)attribute(api, d, CUDA_ATTR_PCI_DEVICE));
}

int cuda_dev_list(const char *library, struct cuda_dev_fact *ret, size_t max, struct why *why)
{
	struct cuda_api api;
	int count = 0, n = 0;
	int r = cuda_api_init(&api, library, why);

	if (r < 0) {
		return r;
	}
	api.DeviceGetCount(&count);
	for (int i = 0; i < count && (size_t)n < max; i++) {
		CUdevice d;

		if (api.DeviceGet(&d, i) != CUDA_SUCCESS) {
			continue;
		}
		ret[n] = (struct cuda_dev_fact){0};
		cuda_dev_address(&api, d, ret[n].address);
		api.DeviceGetName(ret[n].name, sizeof(ret[n].name), d);
		ret[n].cc = attribute(&api, d, CUDA_ATTR_CC_MAJOR) * 10 +
			    attribute(&api, d, CUDA_ATTR_CC_MINOR);
		n++;
	}
	cuda_api_finish(&api);
	return n;
}

static int find_device(struct cuda_dev *d, const char *address, struct why *why)
{
	int count = 0;

	d->api.DeviceGetCount(&count);
	for (int i = 0; i < count; i++) {
		CUresult e = d->api.DeviceGet(&d->device, i);

		if (e != CUDA_SUCCESS) {
			return cuda_fail(&d->api, e, why, "asking for device %d", i);
		}
		cuda_dev_address(&d->api, d->device, d->address);
		if (!address[0] || !strcasecmp(address, d->address)) {
			return 0;
		}
	}
	why_set(why,
		"the NVIDIA driver has no device at %s; it sees %d: is it bound to another driver, "
		"or hidden by CUDA_VISIBLE_DEVICES?",
		address, count);
	return -ENODEV;
}

static void read_facts(struct cuda_dev *d)
{
	size_t total = 0;
	int l2 = attribute(&d->api, d->device, CUDA_ATTR_L2_BYTES);
	int shared = attribute(&d->api, d->device, CUDA_ATTR_MAX_SHARED_OPTIN);

	d->api.DeviceGetName(d->name, sizeof(d->name), d->device);
	d->api.DeviceTotalMem(&total, d->device);
	d->memory = total;
	d->l2 = l2 > 0 ? (uint64_t)l2 : 0;
	if (shared <= 0) {
		shared = attribute(&d->api, d->device, CUDA_ATTR_MAX_SHARED_PER_BLOCK);
	}
	d->limits = (struct gemm_cuda_device){
		.cc = attribute(&d->api, d->device, CUDA_ATTR_CC_MAJOR) * 10 +
		      attribute(&d->api, d->device, CUDA_ATTR_CC_MINOR),
		.sms = (uint32_t)attribute(&d->api, d->device, CUDA_ATTR_SM_COUNT),
		.shared = (uint32_t)shared,
	};
	d->mem_clock_khz = attribute(&d->api, d->device, CUDA_ATTR_MEMORY_CLOCK_KHZ);
	d->bus_bits = attribute(&d->api, d->device, CUDA_ATTR_MEMORY_BUS_BITS);
	d->watchdog = attribute(&d->api, d->device, CUDA_ATTR_KERNEL_EXEC_TIMEOUT) > 0;
}

static int open_context(struct cuda_dev *d, struct why *why)
{
	/* Spin: a blocked host thread would add its own wake-up to every latency. */
	d->api.DevicePrimaryCtxSetFlags(d->device, CUDA_CTX_SCHED_SPIN);
	CUresult e = d->api.DevicePrimaryCtxRetain(&d->context, d->device);

	if (e != CUDA_SUCCESS) {
		d->context = NULL;
		return cuda_fail(&d->api, e, why, "making a context on %s", d->address);
	}
	e = d->api.CtxSetCurrent(d->context);
	if (e == CUDA_SUCCESS) {
		e = d->api.StreamCreate(&d->stream, CUDA_STREAM_NON_BLOCKING);
	}
	if (e != CUDA_SUCCESS) {
		return cuda_fail(&d->api, e, why, "making a stream on %s", d->address);
	}
	return 0;
}

int cuda_dev_open(const char *library, const char *address, struct cuda_dev **ret, struct why *why)
{
	struct cuda_dev *d = xcalloc(1, sizeof(*d));
	int r = cuda_api_init(&d->api, library, why);

	if (r == 0) {
		r = find_device(d, address, why);
	}
	if (r == 0) {
		read_facts(d);
		if (d->limits.cc < 80) {
			why_set(why,
				"%s at %s has compute capability %d.%d; the kernels need 8.0: use "
				"--backend cpu",
				d->name, d->address, d->limits.cc / 10, d->limits.cc % 10);
			r = -ENODEV;
		}
	}
	if (r == 0) {
		r = open_context(d, why);
	}
	if (r < 0) {
		cuda_dev_close(d);
		return r;
	}
	*ret = d;
	return 0;
}

void cuda_dev_close(struct cuda_dev *d)
{
	if (!d) {
		return;
	}
	for (size_t i = 0; i < GEMM_CUDA_MODULES; i++) {
		if (d->modules[i]) {
			d->api.ModuleUnload(d->modules[i]);
		}
	}
	if (d->stream) {
		d->api.StreamDestroy(d->stream);
	}
	if (d->context) {
		d->api.DevicePrimaryCtxRelease(d->device);
	}
	cuda_api_finish(&d->api);
	free(d);
}

/* The first line of the compiler's log, for a sentence. */
static void first_line(char *log)
{
	log[strcspn(log, "\n")] = '\0';
}

static int load_module(struct cuda_dev *d, enum gemm_cuda_module m, struct why *why)
{
	const struct gemm_cuda_ptx *ptx = gemm_cuda_ptx(m);
	char log[2048] = "", buf[CUDA_ERROR_MAX];
	int option[] = {CUDA_JIT_ERROR_LOG, CUDA_JIT_ERROR_LOG_BYTES};
	void *value[] = {log, (void *)(uintptr_t)(sizeof(log) - 1)};

	if (d->refused[m]) {
		why_set(why, "%s", d->jit_note);
		return -ENOEXEC;
	}
	CUresult e = d->api.ModuleLoadDataEx(
		&d->modules[m], ptx->text, ARRAY_LEN(option), option, value);

	if (e == CUDA_SUCCESS) {
		return 0;
	}
	d->modules[m] = NULL;
	int r = cuda_fail(&d->api, e, why, "loading the kernels '%s'", ptx->name);

	if (r == -ENOEXEC) {
		first_line(log);
		d->refused[m] = true;
		snprintf(d->jit_note, sizeof(d->jit_note), "kernels '%s' refused: %s%s%.100s",
			ptx->name, cuda_error(&d->api, e, buf), log[0] ? ": " : "", log);
	}
	return r;
}

int cuda_dev_function(struct cuda_dev *d, enum gemm_cuda_module m, const char *name,
	CUfunction *ret, struct why *why)
{
	if (!d->modules[m]) {
		int r = load_module(d, m, why);

		if (r < 0) {
			return r;
		}
	}
	CUresult e = d->api.ModuleGetFunction(ret, d->modules[m], name);

	return e == CUDA_SUCCESS ? 0 : cuda_fail(&d->api, e, why, "looking up kernel %s", name);
}

/* The launch of P; ATTRS has room for two. DEPENDENT: it may begin while the one before ends. */
static struct cuda_launch_config launch_config(const struct gemm_cuda_plan *p, bool dependent,
	CUstream s, struct cuda_launch_attribute *attrs)
{
	struct cuda_launch_config c = {
		.grid_x = p->grid_x,
		.grid_y = p->grid_y,
		.grid_z = 1,
		.block_x = p->threads,
		.block_y = 1,
		.block_z = 1,
		.shared_bytes = p->shared,
		.stream = s,
		.attrs = attrs,
	};

	if (p->cluster > 1) {
		attrs[c.attr_count++] = (struct cuda_launch_attribute){
			.id = CUDA_LAUNCH_CLUSTER_DIMENSION,
			.value.cluster = {p->cluster, 1, 1},
		};
	}
	if (dependent) {
		attrs[c.attr_count++] = (struct cuda_launch_attribute){
			.id = CUDA_LAUNCH_PROGRAMMATIC_SERIALIZATION,
			.value.programmatic = 1,
		};
	}
	return c;
}

/*
 * How many clusters run at once, a block to an SM; fewer than sms / split where SMs come in odd
 * groups.
 */
static uint32_t clusters_at_once(struct cuda_dev *d, CUfunction f, const struct gemm_cuda_plan *p)
{
	struct cuda_launch_attribute attrs[2];
	struct cuda_launch_config config = launch_config(p, false, d->stream, attrs);
	int n = 0;

	config.shared_bytes = MAX(config.shared_bytes, d->limits.shared / 2 + 1);

	if (!d->api.OccupancyMaxActiveClusters ||
		d->api.OccupancyMaxActiveClusters(&n, f, &config) != CUDA_SUCCESS || n < 1) {
		return 0;
	}
	return (uint32_t)n;
}

int cuda_dev_kernel(struct cuda_dev *d, const struct gemm_cuda_kernel *k, uint32_t m, uint32_t n,
	uint32_t kk, bool vec, struct cuda_kernel *ret, struct why *why)
{
	struct cuda_kernel r = {.of = k};

	if (!gemm_cuda_plan(k, &d->limits, m, n, kk, vec, 1, 0, &r.plan) ||
		((k->split > 1 || k->dependent) && !d->api.LaunchKernelEx)) {
		why_set(why, "kernel %s does not suit this shape or GPU", k->name);
		return -EOPNOTSUPP;
	}
	int e = cuda_dev_function(d, k->module, gemm_cuda_entry(k), &r.function, why);

	if (e < 0) {
		return e;
	}
	if (r.plan.shared > 0) {
		CUresult c = d->api.FuncSetAttribute(
			r.function, CUDA_FUNC_MAX_DYNAMIC_SHARED, (int)d->limits.shared);

		if (c != CUDA_SUCCESS) {
			return cuda_fail(&d->api, c, why, "readying kernel %s", k->name);
		}
	}
	d->api.OccupancyMaxActiveBlocksPerMultiprocessor(
		&r.blocks_per_sm, r.function, (int)r.plan.threads, r.plan.shared);
	if (r.blocks_per_sm < 1) {
		why_set(why, "kernel %s does not fit this GPU's multiprocessors", k->name);
		return -EOPNOTSUPP;
	}
	const uint32_t clusters = k->split > 1 ? clusters_at_once(d, r.function, &r.plan) : 0;

	if (!gemm_cuda_plan(
		    k, &d->limits, m, n, kk, vec, (uint32_t)r.blocks_per_sm, clusters, &r.plan)) {
		why_set(why, "kernel %s does not suit this shape or GPU", k->name);
		return -EOPNOTSUPP;
	}
	d->api.FuncGetAttribute(&r.registers, CUDA_FUNC_REGISTERS, r.function);
	d->api.FuncGetAttribute(&r.local_bytes, CUDA_FUNC_LOCAL_BYTES, r.function);
	d->api.FuncGetAttribute(&r.static_shared, CUDA_FUNC_STATIC_SHARED, r.function);
	*ret = r;
	return 0;
}

int cuda_dev_best(struct cuda_dev *d, enum gemm_dtype dtype, uint32_t m, uint32_t n, uint32_t k,
	bool vec, struct cuda_kernel *ret, struct why *why)
{
	const struct gemm_cuda_kernel *ranked[32];
	const size_t count =
		gemm_cuda_rank(&d->limits, dtype, m, n, k, vec, ranked, ARRAY_LEN(ranked));
	int r = -EOPNOTSUPP;

	for (size_t i = 0; i < count; i++) {
		r = cuda_dev_kernel(d, ranked[i], m, n, k, vec, ret, why);
		if (r != -ENOEXEC && r != -EOPNOTSUPP) {
			break;
		}
	}
	return r;
}

/* PTX 7.x came with CUDA 11.x, 8.x with 12.x, 9.x with 13.x. */
static int cuda_of_ptx(const char *text)
{
	unsigned major = 0, minor = 0;
	const char *at = strstr(text, "\n.version ");

	if (!at || sscanf(at, "\n.version %u.%u", &major, &minor) != 2) {
		return 0;
	}
	return (int)(1000 * (major + 4) + 10 * minor);
}

void cuda_dev_needs(int cc, int *ret_least, int *ret_all)
{
	*ret_least = *ret_all = cuda_of_ptx(gemm_cuda_ptx(GEMM_CUDA_BASIC)->text);
	for (int m = 0; m < GEMM_CUDA_MODULES; m++) {
		const struct gemm_cuda_ptx *p = gemm_cuda_ptx((enum gemm_cuda_module)m);

		if (p->cc <= cc) {
			*ret_all = MAX(*ret_all, cuda_of_ptx(p->text));
		}
	}
}

int cuda_dev_pin(
	struct cuda_dev *d, size_t bytes, void **ret, CUdeviceptr *ret_device, struct why *why)
{
	CUresult e = d->api.MemHostAlloc(ret, bytes, CUDA_HOST_PORTABLE | CUDA_HOST_MAPPED);

	if (e == CUDA_SUCCESS) {
		memset(*ret, 0x35, bytes);
		e = d->api.MemHostGetDevicePointer(ret_device, *ret, 0);
	}
	return e == CUDA_SUCCESS ? 0 : cuda_fail(&d->api, e, why, "allocating pinned memory");
}

CUresult cuda_dev_launch(struct cuda_dev *d, const struct cuda_kernel *k,
	const struct gemm_cuda_args *args, CUstream s)
{
	struct gemm_cuda_args a = *args;
	void *params[] = {&a};

	a.stages = k->plan.stages;
	a.rows = k->plan.rows;
	a.rest = k->plan.rest;
	a.window = k->plan.window;
	a.ahead = k->plan.ahead;
	a.tiles = k->plan.tiles;
	a.tile_rows = k->plan.tile_rows;
	a.tile_more = k->plan.tile_more;
	a.fetch = k->plan.fetch;
	a.launch_at = k->plan.launch_at;
	a.x_ready = k->of->x_ready;
	/* Stamps time the layers of one launch: nothing else may then run beside it. */
	const bool dependent = k->of->dependent && !a.stamp;

	if (k->plan.cluster > 1 || dependent) {
		struct cuda_launch_attribute attrs[2];
		const struct cuda_launch_config config =
			launch_config(&k->plan, dependent, s, attrs);

		return d->api.LaunchKernelEx(&config, k->function, params, NULL);
	}
	return d->api.LaunchKernel(k->function, k->plan.grid_x, k->plan.grid_y, 1, k->plan.threads,
		1, 1, k->plan.shared, s, params, NULL);
}

CUresult cuda_dev_launch_span(struct cuda_dev *d, CUfunction f, uint32_t grid, uint32_t threads,
	uint32_t shared, const struct gemm_cuda_span *span, CUstream s)
{
	struct gemm_cuda_span a = *span;
	void *params[] = {&a};

	return d->api.LaunchKernel(f, grid, 1, 1, threads, 1, 1, shared, s, params, NULL);
}

int cuda_dev_read(
	struct cuda_dev *d, const struct gemm_cuda_read *r, CUfunction *ret, struct why *why)
{
	if (d->limits.cc < gemm_cuda_ptx(r->module)->cc ||
		(r->dependent && !d->api.LaunchKernelEx)) {
		why_set(why, "loop %s does not suit this GPU", r->name);
		return -EOPNOTSUPP;
	}
	const int e = cuda_dev_function(d, r->module, r->entry, ret, why);

	if (e < 0 || !r->shared) {
		return e;
	}
	const CUresult c =
		d->api.FuncSetAttribute(*ret, CUDA_FUNC_MAX_DYNAMIC_SHARED, (int)r->shared);

	return c == CUDA_SUCCESS ? 0 : cuda_fail(&d->api, c, why, "readying %s", r->name);
}

CUresult cuda_dev_launch_read(struct cuda_dev *d, const struct gemm_cuda_read *r, CUfunction f,
	const struct gemm_cuda_span *span, CUstream s)
{
	const struct gemm_cuda_plan plan = {
		.grid_x = d->limits.sms * r->blocks_per_sm,
		.grid_y = 1,
		.threads = r->threads,
		.shared = r->shared,
	};
	struct cuda_launch_attribute attrs[2];
	struct gemm_cuda_span a = *span;
	void *params[] = {&a};

	if (!r->dependent || a.stamp) {
		return cuda_dev_launch_span(d, f, plan.grid_x, r->threads, r->shared, span, s);
	}
	const struct cuda_launch_config config = launch_config(&plan, true, s, attrs);

	return d->api.LaunchKernelEx(&config, f, params, NULL);
}
