/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every sample of a second, packed and gzipped: what --keep-samples stores. Pure.
 *
 * Inside the gzip: the byte 1, then for each sample LEB128 numbers: flags, sequence minus the
 * one before, submit minus the previous done (zigzag), done − submit; with STRESS_HAS_DEVICE
 * start − submit (zigzag) and end − start; with STRESS_HAS_CYCLES the cycles; the copy; with
 * STRESS_HAS_HASH the hash. The first sample's predecessor is all zero.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "stress/sample.h"

struct runs_raw {
	uint8_t *data;
	size_t len, cap;
	struct stress_sample last;
	size_t n;
};

void runs_raw_add(struct runs_raw *r, const struct stress_sample *s);
/* The packed bytes, gzipped, in a fresh buffer that the caller frees; empties R. 0 samples:
 * NULL and 0. */
int runs_raw_take(struct runs_raw *r, uint8_t **ret, size_t *ret_len);
void runs_raw_finish(struct runs_raw *r);

/* Unpacks into a fresh array that the caller frees. -EBADMSG: damaged. */
int runs_raw_parse(const uint8_t *data, size_t len, struct stress_sample **ret, size_t *ret_n);
