/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/dump.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/text.h"
#include "kernels/half.h"

enum { LARGEST = 1 << 30, HEAD_MAX = 512 };

static size_t size_of(enum stress_dtype t)
{
	return t == STRESS_F16 ? 2 : 4;
}

int cmd_dump_write(const char *path, const struct cmd_dump *d, struct why *why)
{
	struct text t = {0};

	text_addf(&t,
		"barscope-dump 1\nshape %ux%ux%u\ndtype %s\nseed %llu\nkernel %s\nisa %s\n"
		"build 0x%016llx\n\n",
		d->shape.m, d->shape.k, d->shape.n, d->dtype == STRESS_F16 ? "f16" : "f32",
		(unsigned long long)d->seed, d->kernel, d->isa, (unsigned long long)d->build);
	text_addn(&t, d->y, d->bytes);
	const size_t len = t.len;
	_cleanup_free_ char *s = text_steal(&t);

	return file_write_atomic(path, s, len, why);
}

/* The head's values; how many of its lines were read. */
static int read_head(const char *head, struct cmd_dump *d, char shape[48], char dtype[4])
{
	unsigned long long seed = 0, build = 0;
	const int n = sscanf(head,
		"barscope-dump 1\nshape %47s\ndtype %3s\nseed %llu\nkernel %39s\nisa %15s\n"
		"build 0x%16llx",
		shape, dtype, &seed, d->kernel, d->isa, &build);

	d->seed = seed;
	d->build = build;
	return n;
}

static int parse(const char *path, struct cmd_dump *d, size_t len, struct why *why)
{
	const char *end = memmem(d->text, len < HEAD_MAX ? len : HEAD_MAX, "\n\n", 2);
	char head[HEAD_MAX + 1] = "", shape[48] = "", dtype[4] = "";
	static const char magic[] = "barscope-dump ";

	if (len < sizeof(magic) || memcmp(d->text, magic, sizeof(magic) - 1) != 0) {
		why_set(why, "%s is no output that 'verify --dump' wrote", path);
		return -EBADMSG;
	}
	if (d->text[sizeof(magic) - 1] != '1' || d->text[sizeof(magic)] != '\n') {
		why_set(why, "%s was written by a later barscope (this one knows version 1)", path);
		return -EPROTONOSUPPORT;
	}
	if (end) {
		memcpy(head, d->text, (size_t)(end - d->text));
	}
	if (!end || read_head(head, d, shape, dtype) != 6 ||
		stress_shape_parse(shape, &d->shape, why) < 0 ||
		(strcmp(dtype, "f16") && strcmp(dtype, "f32"))) {
		why_set(why, "%s: the head of the dump is damaged", path);
		return -EBADMSG;
	}
	d->dtype = strcmp(dtype, "f16") ? STRESS_F32 : STRESS_F16;
	d->y = end + 2;
	d->bytes = len - (size_t)(end + 2 - d->text);
	const uint64_t want = (uint64_t)d->shape.m * d->shape.n * size_of(d->dtype);

	if (d->bytes != want) {
		why_set(why, "%s holds %zu bytes of outputs where %s %s has %llu", path, d->bytes,
			shape, dtype, (unsigned long long)want);
		return -EBADMSG;
	}
	return 0;
}

int cmd_dump_read(const char *path, struct cmd_dump *ret, struct why *why)
{
	struct cmd_dump d = {.text = NULL};
	size_t len = 0;
	int r = file_read_all(path, LARGEST, &d.text, &len, why);

	r = r ? r : parse(path, &d, len, why);
	if (r < 0) {
		free(d.text);
		return r;
	}
	*ret = d;
	return 0;
}

void cmd_dump_finish(struct cmd_dump *d)
{
	free(d->text);
	d->text = NULL;
}

static double value(const struct cmd_dump *d, const void *y, size_t i, uint32_t *ret_bits)
{
	uint16_t half = 0;
	float single = 0;

	if (d->dtype == STRESS_F16) {
		memcpy(&half, (const char *)y + i * 2, 2);
		*ret_bits = half;
		return gemm_half_to_float(half);
	}
	memcpy(&single, (const char *)y + i * 4, 4);
	memcpy(ret_bits, &single, 4);
	return single;
}

void cmd_dump_compare(const struct cmd_dump *d, const void *y, struct cmd_dump_diff *ret)
{
	struct cmd_dump_diff f = {.outputs = (uint64_t)d->shape.m * d->shape.n};

	for (uint64_t i = 0; i < f.outputs; i++) {
		uint32_t bits_is, bits_was;
		const double is = value(d, y, i, &bits_is), was = value(d, d->y, i, &bits_was);
		const double off = isfinite(is - was) ? fabs(is - was) : INFINITY;

		if (bits_is == bits_was) {
			continue;
		}
		if (f.differ++ == 0 || off > f.largest) {
			f.largest = off;
			f.is = is;
			f.was = was;
			f.m = (uint32_t)(i / d->shape.n);
			f.n = (uint32_t)(i % d->shape.n);
		}
	}
	*ret = f;
}
