/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A wrong output or a weight that changed: what it was, told apart, and kept with its inputs,
 * which seed, shape and copy name. Plain data; the functions are pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum stress_wrong {
	STRESS_WRONG_NOTHING,
	STRESS_WRONG_TRANSIENT, /* inputs intact, and repetitions are right */
	STRESS_WRONG_REPEATED,  /* inputs intact, and a repetition was wrong again */
	STRESS_WRONG_WEIGHTS,   /* they changed in memory */
	STRESS_WRONG_X,         /* the other input did */
	STRESS_WRONG_MEMORY,    /* a pattern did not come back (--fill) */
	STRESS_WRONG_KINDS,
};

struct stress_finding {
	uint32_t kind; /* enum stress_wrong */
	uint32_t copy; /* of the weights */
	uint64_t ns;   /* CLOCK_MONOTONIC_RAW: the launch, or the check */
	uint64_t hash; /* of the wrong output; 0: a checksum found it */

	uint64_t outputs;               /* that differ; 0: the output was not kept */
	uint32_t m, n;                  /* the first of them, */
	uint32_t output_is, output_was; /* its bits, and those of the golden output */
	uint32_t repeated, repeated_wrong;

	uint64_t words;   /* changed in memory, 4 bytes each; 0: none */
	uint64_t offset;  /* the first: bytes into the copy, */
	uint64_t address; /* where it lies */
	uint32_t word_is, word_was;
};

/* "transient", "repeated", "weights", "x", "memory"; "?" for others. */
const char *stress_wrong_name(unsigned kind);

enum { STRESS_FINDING_TEXT = 400 };

/* One sentence. */
void stress_finding_text(const struct stress_finding *f, char ret[static STRESS_FINDING_TEXT]);

/* The COUNT outputs (16 or 32 bits each) of N columns against the golden ones. */
void stress_finding_outputs(struct stress_finding *f, const void *is, const void *was, size_t count,
	uint32_t n, size_t each);

/*
 * BYTES that lie at OFFSET of a copy, which begins at ADDRESS, against what was put there: adds
 * the words that differ. True: all are equal.
 */
bool stress_finding_words(struct stress_finding *f, const void *is, const void *was, size_t bytes,
	uint64_t offset, uint64_t address);
