/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two sides against each other. The unit is the boot; one endpoint is tested,
 * the spread of the host latency of the first configuration, the rest is description unless
 * there are boots enough for all. Pure; any thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "runs/boots.h"
#include "runs/devices.h"
#include "runs/env.h"
#include "runs/side.h"

/* The ladder, from the bottom. */
enum runs_verdict {
	RUNS_NOT_COMPARABLE,
	RUNS_DESCRIPTION,   /* too few boots for any verdict */
	RUNS_NO_DIFFERENCE, /* none shown: within boot-to-boot noise */
	RUNS_BETTER,        /* B is steadier */
	RUNS_WORSE,
};

const char *runs_verdict_name(enum runs_verdict v); /* "not-comparable", … */

struct runs_values {
	double p50[RUNS_BOOTS_MAX]; /* ns; one a boot */
	double log_band[RUNS_BOOTS_MAX];
	double p99[RUNS_BOOTS_MAX]; /* NaN: too few samples in that boot */
	size_t n;
};

/*
 * One configuration (back end, shape, dtype) that both sides have; where a side holds runs of
 * several devices, of one of them.
 */
struct runs_pair {
	char backend[16], shape[32], dtype[8];
	char device[96];   /* A's; "": each side has one */
	char device_b[96]; /* B's, which may have moved to another address */
	unsigned layer;    /* RUNS_HOST, or RUNS_DEVICE where only batches were measured */
	struct runs_values a, b;
	bool same_boot;                 /* a boot stands on both sides */
	struct runs_shift shift;        /* of the median, ns */
	struct runs_shift ratio;        /* of the band: estimate, low and high are factors */
	struct runs_permutation spread; /* of ln(band) */
	bool tested;
	double p;       /* of the test, Holm's where several were made; 1 when not tested */
	double noise;   /* standard deviation of ln(band) between boots of one side; NaN: unknown */
	double trend_p; /* does ln(band) drift over the boots, sides apart? */
	enum runs_verdict verdict;
};

/* What differs. Of one device among several, the values end with its name in parentheses. */
struct runs_reason {
	char name[32];
	char a[200], b[200];
};

struct runs_comparison {
	const struct runs_side *a, *b; /* not owned */
	bool by_device;                /* a side has several: each is compared with itself */
	struct runs_pair *pair;        /* the first is the primary one; owned */
	size_t npair;
	size_t decided;                  /* the pair whose verdict is the comparison's */
	struct runs_device_pair *device; /* the same device on both sides; owned */
	size_t ndevice;
	struct runs_reason *reason; /* why they cannot be compared; owned */
	size_t nreason;
	struct runs_reason *noted; /* differs, and is said; owned */
	size_t nnoted;
	enum runs_verdict verdict;
	char sentence[480];
};

/*
 * DESPITE: names of differences (N of them) that do not stand in the way, since they are what
 * was changed. -EINVAL with why: the sides have no configuration in common, or too many boots.
 */
int runs_compare(const struct runs_side *a, const struct runs_side *b, const char *const *despite,
	size_t n, struct runs_comparison *ret, struct why *why);
void runs_comparison_finish(struct runs_comparison *c);

/* Is X, a run of side A (or, B given, of B), one of PAIR's configuration and device? */
bool runs_pair_has(const struct runs_pair *p, const struct runs_info *x, bool b);

/* Fills C's reasons and notes: what differs beside what was meant to. Called by runs_compare. */
void runs_compare_reasons(struct runs_comparison *c, const char *const *despite, size_t n);

/*
 * Is NAME one that DESPITE can hold for these sides: one of this version's, or a member of an
 * environment that a later one kept?
 */
bool runs_compare_may_differ(
	const struct runs_side *a, const struct runs_side *b, const char *name);

/* The exit status of a verdict: 0, 1 or 2. */
int runs_verdict_status(enum runs_verdict v);
