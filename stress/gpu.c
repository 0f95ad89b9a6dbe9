/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stress/gpu.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/macros.h"
#include "base/text.h"
#include "stress/data.h"

static const uint64_t spared_bytes = (uint64_t)512 << 20; /* of the GPU's free memory */
static const uint64_t unknown_l2 = (uint64_t)64 << 20;
static const size_t outputs_kept = (size_t)16 << 20; /* bytes, for launches on their way */
static const size_t part_bytes = (size_t)16 << 20;   /* between two signs of life */

static bool beat(struct stress_lender *l)
{
	return !l || l->beat(l);
}

/* The next copy must never be in L2 any more: five times its size, and one. */
uint32_t stress_gpu_copies(const struct cuda_dev *d, uint64_t w_bytes)
{
	const uint64_t l2 = d->l2 ? d->l2 : unknown_l2;
	const uint64_t n = (5 * l2 + w_bytes - 1) / w_bytes + 1;

	return (uint32_t)MIN(MAX(n, 2u), (uint64_t)STRESS_GPU_COPIES_MAX);
}

/* As many copies as --fill asks for; 0 and why: there is not so much memory. */
static uint64_t copies_to_fill(const struct stress_gpu *g, size_t free_bytes, struct why *why)
{
	const struct stress_config *c = &g->config;
	const uint64_t part = (uint64_t)((double)free_bytes * c->fill_permille / 1000);
	const uint64_t kept = spared_bytes + g->x_bytes + g->y_stride * g->y_slots;
	const uint64_t most = free_bytes > kept ? free_bytes - kept : 0;
	const uint64_t fill = MIN(c->fill_bytes ? c->fill_bytes : part, most);

	if (c->fill_bytes > most) {
		char n[TEXT_SIZE_MAX], h[TEXT_SIZE_MAX];

		why_set(why,
			"%s of the GPU's memory cannot be filled: %s are free, of which %d MiB and "
			"what the launches need stay untouched",
			text_size(c->fill_bytes, n), text_size(free_bytes, h),
			(int)(spared_bytes >> 20));
		return 0;
	}
	return MIN(MAX(fill / g->w_span, 1u), (uint64_t)STRESS_GPU_COPIES_MAX);
}

static int choose_sizes(struct stress_gpu *g, struct why *why)
{
	const struct stress_shape *s = &g->config.shape;
	const size_t e = stress_dtype_size(g->config.dtype);
	size_t free_bytes = 0, total = 0;

	g->w_bytes = (size_t)s->n * s->k * e;
	g->x_bytes = (size_t)s->m * s->k * e;
	g->y_bytes = (size_t)s->m * s->n * e;
	g->w_span = (g->w_bytes + 15) / 16 * 16;
	g->y_stride = (g->y_bytes + 255) / 256 * 256;
	g->y_slots = (uint32_t)MIN(MAX(outputs_kept / g->y_stride, 1u), (size_t)STRESS_GPU_SLOTS);
	g->vec = s->k * e % 16 == 0;
	g->copies = g->config.copies ? g->config.copies : stress_gpu_copies(g->dev, g->w_bytes);
	if (g->copies > STRESS_GPU_COPIES_MAX) {
		why_set(why, "%u copies of the weights: at most %d", g->copies,
			STRESS_GPU_COPIES_MAX);
		return -EINVAL;
	}
	CUresult r = g->dev->api.MemGetInfo(&free_bytes, &total);

	if (r != CUDA_SUCCESS) {
		return cuda_fail(&g->dev->api, r, why, "asking for the GPU's free memory");
	}
	if (g->config.fill_bytes || g->config.fill_permille) {
		g->copies = (uint32_t)copies_to_fill(g, free_bytes, why);
		if (!g->copies) {
			return -ENOMEM;
		}
	}
	const uint64_t need =
		(uint64_t)g->copies * g->w_span + g->x_bytes + g->y_stride * g->y_slots;

	if (need > free_bytes || free_bytes - need < spared_bytes) {
		char n[TEXT_SIZE_MAX], h[TEXT_SIZE_MAX];

		why_set(why,
			"shape %ux%ux%u with %u copies of the weights needs %s on the GPU; %s are "
			"free, of which %d MiB stay untouched: end other programs, or use --copies",
			s->m, s->k, s->n, g->copies, text_size(need, n), text_size(free_bytes, h),
			(int)(spared_bytes >> 20));
		return -ENOMEM;
	}
	return 0;
}

static int take(
	struct stress_gpu *g, CUdeviceptr *ret, size_t bytes, const char *what, struct why *why)
{
	char size[TEXT_SIZE_MAX];
	CUresult r = g->dev->api.MemAlloc(ret, bytes);

	if (r != CUDA_SUCCESS) {
		*ret = 0;
		return cuda_fail(
			&g->dev->api, r, why, "allocating %s of %s", text_size(bytes, size), what);
	}
	return 0;
}

static int allocate(struct stress_gpu *g, struct why *why)
{
	const size_t stamps = STRESS_GPU_SLOTS * sizeof(*g->host_stamps);
	void *pinned = NULL;
	int r = 0;

	g->w = xcalloc(g->copies, sizeof(*g->w));
	for (uint32_t i = 0; r == 0 && i < g->copies; i++) {
		r = take(g, &g->w[i], g->w_span, "weights", why);
		/* Full before it was reckoned to be: the driver rounds every piece up. */
		if (r == -ENOMEM && i > 0 && (g->config.fill_bytes || g->config.fill_permille)) {
			g->copies = i;
			r = 0;
		}
	}
	r = r ? r : take(g, &g->x, g->x_bytes, "x", why);
	r = r ? r : take(g, &g->y, g->y_stride * g->y_slots, "y", why);
	r = r ? r : take(g, &g->bias, (size_t)g->config.shape.n * 4, "bias", why);
	r = r ? r : take(g, &g->sink, 64, "a sink", why);
	r = r ? r : take(g, &g->stamps, stamps, "stamps", why);
	if (r < 0) {
		return r;
	}
	CUresult e = g->dev->api.MemHostAlloc(&pinned, stamps + 64, CUDA_HOST_PORTABLE);

	if (e != CUDA_SUCCESS) {
		return cuda_fail(&g->dev->api, e, why, "allocating pinned memory");
	}
	g->host_stamps = pinned;
	g->host_sum = (uint64_t *)(void *)((char *)pinned + stamps);
	g->hw = malloc(g->w_bytes);
	g->hx = malloc(g->x_bytes);
	g->hy = malloc(g->y_bytes);
	g->hbias = malloc((size_t)g->config.shape.n * 4);
	if (!g->hw || !g->hx || !g->hy || !g->hbias) {
		why_set(why, "no memory for the host's copy of the weights");
		return -ENOMEM;
	}
	return 0;
}

/* The host's numbers, in parts so that the front sees signs of life. */
static int make_numbers(struct stress_gpu *g, struct stress_lender *lender)
{
	const enum stress_dtype type = g->config.dtype;
	const size_t e = stress_dtype_size(type), part = part_bytes / e;
	const size_t n = g->w_bytes / e;

	for (size_t at = 0; at < n; at += part) {
		stress_fill((char *)g->hw + at * e, at, MIN(part, n - at), type, STRESS_W,
			g->config.seed);
		if (!beat(lender)) {
			return -ECANCELED;
		}
	}
	stress_fill(g->hx, 0, g->x_bytes / e, type, STRESS_X, g->config.seed);
	stress_fill(g->hbias, 0, g->config.shape.n, type, STRESS_X, g->config.seed + 1);
	return 0;
}

int stress_gpu_upload(struct stress_gpu *g, struct stress_lender *lender, struct why *why)
{
	const struct cuda_api *api = &g->dev->api;
	CUstream s = g->dev->stream;
	CUresult e = api->MemcpyHtoDAsync(g->x, g->hx, g->x_bytes, s);

	if (e == CUDA_SUCCESS) {
		e = api->MemcpyHtoDAsync(g->bias, g->hbias,
			g->config.shape.n * stress_dtype_size(g->config.dtype), s);
	}
	for (size_t at = 0; e == CUDA_SUCCESS && at < g->w_bytes; at += part_bytes) {
		e = api->MemcpyHtoDAsync(
			g->w[0] + at, (char *)g->hw + at, MIN(part_bytes, g->w_bytes - at), s);
		if (!beat(lender)) {
			return -ECANCELED;
		}
	}
	if (e == CUDA_SUCCESS && g->w_span > g->w_bytes) {
		e = api->MemsetD8Async(g->w[0] + g->w_bytes, 0, g->w_span - g->w_bytes, s);
	}
	for (uint32_t i = 1; e == CUDA_SUCCESS && i < g->copies; i++) {
		e = api->MemcpyDtoDAsync(g->w[i], g->w[0], g->w_span, s);
	}
	if (e == CUDA_SUCCESS) {
		e = api->MemsetD8Async(g->stamps, 0, STRESS_GPU_SLOTS * sizeof(*g->host_stamps), s);
	}
	if (e == CUDA_SUCCESS) {
		e = api->StreamSynchronize(s);
	}
	return e == CUDA_SUCCESS ? 0 : cuda_fail(api, e, why, "uploading the weights");
}

int stress_gpu_open_on(struct cuda_dev *dev, bool owned, const struct stress_config *c,
	struct stress_lender *lender, struct stress_gpu **ret, struct why *why)
{
	struct stress_gpu *g = xcalloc(1, sizeof(*g));

	g->config = *c;
	g->dev = dev;
	int r = choose_sizes(g, why);

	r = r ? r : allocate(g, why);
	if (r == 0 && (c->fill_bytes || c->fill_permille)) {
		r = stress_gpu_memory_test(g, lender, why);
	}
	r = r ? r : make_numbers(g, lender);
	r = r ? r : stress_gpu_upload(g, lender, why);
	if (r < 0) {
		stress_gpu_close(g);
		return r;
	}
	g->owns_dev = owned;
	*ret = g;
	return 0;
}

int stress_gpu_open(const struct stress_config *c, struct stress_lender *lender,
	struct stress_gpu **ret, struct why *why)
{
	struct cuda_dev *dev;
	int r = cuda_dev_open(NULL, c->device, &dev, why);

	if (r < 0) {
		return r;
	}
	r = stress_gpu_open_on(dev, true, c, lender, ret, why);
	if (r < 0) {
		cuda_dev_close(dev);
	}
	return r;
}

void stress_gpu_close(struct stress_gpu *g)
{
	if (!g) {
		return;
	}
	if (g->dev) {
		const struct cuda_api *api = &g->dev->api;
		const CUdeviceptr each[] = {g->x, g->y, g->bias, g->sink, g->stamps};

		for (uint32_t i = 0; g->w && i < g->copies; i++) {
			if (g->w[i]) {
				api->MemFree(g->w[i]);
			}
		}
		for (size_t i = 0; i < ARRAY_LEN(each); i++) {
			if (each[i]) {
				api->MemFree(each[i]);
			}
		}
		if (g->host_stamps) {
			api->MemFreeHost(g->host_stamps);
		}
	}
	if (g->owns_dev) {
		cuda_dev_close(g->dev);
	}
	free(g->w);
	free(g->hw);
	free(g->hx);
	free(g->hy);
	free(g->hbias);
	free(g->reference);
	free(g);
}

struct stress_choice stress_gpu_choice(const struct stress_gpu *g)
{
	const struct stress_shape *s = &g->config.shape;
	struct stress_choice c = {
		.device =
			{
				.cc = (uint32_t)g->dev->limits.cc,
				.sms = g->dev->limits.sms,
				.driver = (uint32_t)g->dev->api.version,
			},
		.build = gemm_cuda_build(),
		.m = s->m,
		.k = s->k,
		.n = s->n,
		.f32 = g->config.dtype == STRESS_F32,
		.hot = g->copies == 1,
	};

	text_copy(c.device.name, sizeof(c.device.name), g->dev->name);
	return c;
}

/* What `tune` found, where that holds here and still loads. */
static bool take_choice(struct stress_gpu *g, struct cuda_kernel *ret)
{
	const struct stress_shape *s = &g->config.shape;
	const struct stress_choice here = stress_gpu_choice(g);

	for (uint32_t i = 0; i < g->config.choices && i < STRESS_CHOICES; i++) {
		const struct stress_choice *c = &g->config.choice[i];
		const struct gemm_cuda_kernel *k = gemm_cuda_find(c->kernel);
		struct why why;

		if (stress_choice_fits(c, &here) && k && !k->wrong &&
			(k->dtype == GEMM_F32) == here.f32 &&
			cuda_dev_kernel(g->dev, k, s->m, s->n, s->k, g->vec, ret, &why) == 0) {
			return true;
		}
	}
	return false;
}

int stress_gpu_kernel(struct stress_gpu *g, const char *name, struct cuda_kernel *ret,
	bool *ret_tuned, struct why *why)
{
	const struct stress_shape *s = &g->config.shape;
	const enum gemm_dtype type = g->config.dtype == STRESS_F16 ? GEMM_F16 : GEMM_F32;

	*ret_tuned = !*name && take_choice(g, ret);
	if (*ret_tuned) {
		return 0;
	}
	if (*name) {
		const struct gemm_cuda_kernel *named = gemm_cuda_find(name);

		if (!named || named->dtype != type) {
			why_set(why, "there is no GPU kernel '%s' for this type", name);
			return -EINVAL;
		}
		return cuda_dev_kernel(g->dev, named, s->m, s->n, s->k, g->vec, ret, why);
	}
	return cuda_dev_best(g->dev, type, s->m, s->n, s->k, g->vec, ret, why);
}

struct gemm_cuda_args stress_gpu_args(const struct stress_gpu *g, uint32_t copy, int slot)
{
	const struct stress_shape *s = &g->config.shape;

	return (struct gemm_cuda_args){
		.x = g->x,
		.w = g->w[copy],
		.y = g->y + (slot < 0 ? 0 : (uint32_t)slot % g->y_slots) * g->y_stride,
		.stamp = slot < 0 ? 0 : g->stamps + (uint64_t)slot * sizeof(*g->host_stamps),
		.m = s->m,
		.n = s->n,
		.k = s->k,
		.ldx = s->k,
		.ldw = s->k,
		.ldy = s->n,
		.vec = g->vec,
	};
}

int stress_gpu_take_stamps(struct stress_gpu *g, int slot, int n, struct why *why)
{
	const struct cuda_api *api = &g->dev->api;
	const size_t one = sizeof(*g->host_stamps);
	const CUdeviceptr at = g->stamps + (uint64_t)slot * one;
	CUresult e =
		api->MemcpyDtoHAsync(g->host_stamps + slot, at, (size_t)n * one, g->dev->stream);

	if (e == CUDA_SUCCESS) {
		e = api->MemsetD8Async(at, 0, (size_t)n * one, g->dev->stream);
	}
	if (e == CUDA_SUCCESS) {
		e = api->StreamSynchronize(g->dev->stream);
	}
	return e == CUDA_SUCCESS ? 0 : cuda_fail(api, e, why, "fetching the stamps");
}
