/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Golden hashes: what a kernel's verified output was when it was first seen, under everything that
 * its bits depend on. Compared in every later run, in this boot and after it. Blocking; one thread.
 */
#pragma once

#include <stdint.h>

#include "base/why.h"
#include "runs/store.h"

struct runs_golden_key {
	uint64_t build; /* of the kernels and of the numbers they multiply; 0: not known */
	char isa[16];   /* "sm_90", "avx2" */
	char kernel[40], shape[32], dtype[8];
	uint64_t seed;
};

enum runs_golden {
	RUNS_GOLDEN_UNKNOWN, /* not asked, or there is none */
	RUNS_GOLDEN_NEW,     /* stored now */
	RUNS_GOLDEN_SAME,
	RUNS_GOLDEN_DIFFERS,
};

struct runs_golden_found {
	enum runs_golden verdict;
	uint64_t hash;    /* the stored one */
	int64_t since;    /* UNIX ns, when it was stored, */
	char boot_id[40]; /* and in which boot */
	int64_t seen;     /* how often it was the same, this time among them */
};

/*
 * Compares HASH with the stored one, which is never overwritten. TAKE: inside a transaction for
 * writing; stores HASH where there is none. LOOK reads only.
 */
int runs_golden_take(struct runs_store *s, const struct runs_golden_key *k, uint64_t hash,
	const char *boot_id, int64_t now, struct runs_golden_found *ret, struct why *why);
int runs_golden_look(struct runs_store *s, const struct runs_golden_key *k, uint64_t hash,
	struct runs_golden_found *ret, struct why *why);

enum { RUNS_GOLDEN_TEXT = 200 };

/* One sentence; "" for UNKNOWN. */
void runs_golden_text(
	const struct runs_golden_found *f, uint64_t hash, char ret[static RUNS_GOLDEN_TEXT]);
