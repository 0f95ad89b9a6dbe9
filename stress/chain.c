/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stress/chain.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/macros.h"
#include "base/text.h"
#include "stress/data.h"

enum { PARTS = 4, STEPS = 5 };

/* A layer in its order: the part that multiplies, and which of its matrices. */
static const struct {
	unsigned part, matrix;
} steps[STEPS] = {{0, 0}, {1, 0}, {2, 0}, {2, 1}, {3, 0}};

static const unsigned matrices[PARTS] = {1, 1, 2, 1}; /* a layer's of each part */

struct stress_chain {
	uint32_t layers, sets;
	uint32_t next; /* set of weights */
	struct stress_gpu *part[PARTS];
	struct cuda_kernel kernel[PARTS];
	bool tuned;
};

static struct stress_shape part_shape(const struct stress_config *c, unsigned part)
{
	const uint32_t m = c->shape.m, k = c->shape.k, n = c->shape.n;
	const struct stress_shape all[PARTS] = {
		{m, k, 3 * k},
		{m, k, k},
		{m, k, n},
		{m, n, k},
	};

	return all[part];
}

static uint64_t layer_bytes(const struct stress_config *c)
{
	uint64_t elements = 0;

	for (unsigned p = 0; p < PARTS; p++) {
		const struct stress_shape s = part_shape(c, p);

		elements += (uint64_t)s.k * s.n * matrices[p];
	}
	return elements * stress_dtype_size(c->dtype);
}

/* As many sets of weights as layers, in at most half of what is free; else by the rule for L2. */
static int choose_sets(struct stress_chain *c, const struct stress_config *config,
	struct cuda_dev *d, struct why *why)
{
	const uint64_t bytes = layer_bytes(config);
	size_t free_bytes = 0, total = 0;
	const CUresult e = d->api.MemGetInfo(&free_bytes, &total);

	if (e != CUDA_SUCCESS) {
		return cuda_fail(&d->api, e, why, "asking for the GPU's free memory");
	}
	const uint32_t rule = stress_gpu_copies(d, bytes);

	c->sets = config->copies ? config->copies : c->layers;
	if (!config->copies && (c->sets < rule || c->sets * bytes > free_bytes / 2)) {
		/* A whole number of tokens goes through all of them. */
		c->sets = rule > c->layers ? (rule + c->layers - 1) / c->layers * c->layers : rule;
	}
	return 0;
}

int stress_chain_open(const struct stress_config *c, struct stress_lender *lender,
	struct stress_chain **ret, struct why *why)
{
	struct stress_chain *chain = xcalloc(1, sizeof(*chain));
	struct cuda_dev *dev = NULL;
	int r = cuda_dev_open(NULL, c->device, &dev, why);

	chain->layers = c->layers;
	r = r ? r : choose_sets(chain, c, dev, why);
	for (unsigned p = 0; r == 0 && p < PARTS; p++) {
		struct stress_config config = *c;
		bool tuned = false;

		config.shape = part_shape(c, p);
		config.copies = chain->sets * matrices[p];
		config.layers = 0;
		r = stress_gpu_open_on(dev, p == 0, &config, lender, &chain->part[p], why);
		dev = p == 0 && r == 0 ? chain->part[0]->dev : dev;
		r = r ? r
		      : stress_gpu_kernel(
				chain->part[p], c->kernel, &chain->kernel[p], &tuned, why);
		chain->tuned = (p == 0 || chain->tuned) && tuned;
	}
	if (r < 0) {
		if (!chain->part[0]) {
			cuda_dev_close(dev);
		}
		stress_chain_close(chain);
		return r;
	}
	*ret = chain;
	return 0;
}

void stress_chain_close(struct stress_chain *c)
{
	if (!c) {
		return;
	}
	/* The first one owns the device. */
	for (unsigned p = PARTS; p-- > 0;) {
		stress_gpu_close(c->part[p]);
	}
	free(c);
}

struct stress_gpu *stress_chain_gpu(const struct stress_chain *c)
{
	return c->part[0];
}

int stress_chain_check(struct stress_chain *c, uint64_t terms, struct stress_lender *lender,
	struct stress_chain_facts *ret, struct why *why)
{
	struct stress_chain_facts f = {.sets = c->sets, .tuned = c->tuned};
	bool same_kernel = true, same = true;

	for (unsigned p = 0; p < PARTS; p++) {
		const struct stress_gpu *g = c->part[p];
		const uint64_t launches = (uint64_t)c->layers * matrices[p];
		struct stress_gpu_check check;

		if (!lender->beat(lender)) {
			return -ECANCELED;
		}
		const int r = stress_gpu_check(
			c->part[p], &c->kernel[p], GEMM_CUDA_ACT_NONE, false, terms, &check, why);

		if (r < 0) {
			return r;
		}
		const uint64_t hash = f.check.hash + launches * check.hash;
		const bool worse =
			p == 0 || check.over > f.check.over ||
			(check.over == f.check.over &&
				check.error / check.limit > f.check.error / f.check.limit);

		if (worse) {
			f.check = check;
		}
		f.check.hash = hash;
		same &= check.same;
		f.set_bytes += g->w_bytes * matrices[p];
		f.bytes += launches * (g->w_bytes + g->x_bytes + g->y_bytes);
		same_kernel &= c->kernel[p].of == c->kernel[0].of;
	}
	f.check.same = same;
	snprintf(f.kernel, sizeof(f.kernel), "%.24s%s", c->kernel[0].of->name,
		same_kernel ? "" : ", \xe2\x80\xa6");
	*ret = f;
	return 0;
}

unsigned stress_chain_turns(const struct stress_chain *c)
{
	return (c->sets + c->layers - 1) / c->layers;
}

CUresult stress_chain_launch(struct stress_chain *c, int slot)
{
	struct stress_gpu *first = c->part[0];
	const CUdeviceptr stamp = stress_gpu_args(first, 0, slot).stamp;
	CUresult e = CUDA_SUCCESS;

	for (uint32_t layer = 0; layer < c->layers; layer++, c->next = (c->next + 1) % c->sets) {
		for (unsigned i = 0; e == CUDA_SUCCESS && i < STEPS; i++) {
			const unsigned p = steps[i].part;
			const uint32_t copy = c->next * matrices[p] + steps[i].matrix;
			struct gemm_cuda_args a = stress_gpu_args(c->part[p], copy, -1);

			a.stamp = stamp;
			e = cuda_dev_launch(first->dev, &c->kernel[p], &a, first->dev->stream);
		}
	}
	return e;
}
