/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How much does the band differ by itself? From what the store holds of earlier runs of the same
 * configuration: between boots of one label (the same state, as far as anybody said), and between
 * runs of one boot. What a comparison can find follows from it. Blocking; errors are db.h's.
 */
#pragma once

#include <stddef.h>

#include "base/why.h"
#include "runs/info.h"

struct runs_floor {
	size_t runs;          /* that were looked at */
	size_t boots;         /* of labels with two or more, which BETWEEN_BOOTS comes from */
	size_t most;          /* boots of the label that has most of them */
	double between_boots; /* standard deviation of ln(band); NaN: no label has two boots */
	double resolution;    /* deviation of ln(band) that buckets alone make; NaN: no run */
	double within_boot;   /* between runs of one boot and label; NaN: none has two runs */
};

/*
 * The finished runs of LIKE's back end ("" or "auto": that of the newest), shape, dtype and pace in
 * S, the newest 400 of them. A study's sides are labels of their own.
 */
int runs_floor_load(struct runs_store *s, const struct runs_info *like, struct runs_floor *ret,
	struct why *why);

enum { RUNS_NOISE_BOOTS = 3 }; /* of one label, before its noise counts as measured */

enum runs_noise_from {
	RUNS_NOISE_ASSUMED, /* nothing is known: what boots often differ by */
	RUNS_NOISE_STUDY,   /* the boots that the study has filed */
	RUNS_NOISE_STORE,   /* earlier runs of this machine */
};

struct runs_noise {
	enum runs_noise_from from;
	size_t boots;  /* that it comes from; 0: assumed */
	double log_sd; /* standard deviation of ln(band) between boots of one side; never below
			  what the histograms can tell apart */
	char why[240]; /* assumed since what is stored cannot be read; "": too few boots are */
};

/*
 * What a plan's smallest effect follows from: the noise between the boots of STUDY as soon as one
 * side has three, else that between boots of one label in the store, if three have one, else 0.2.
 * LIKE is the configuration of the shape that is tested. Runs that were imported are another
 * machine's. Runs of others that cannot be read are no error of the study: it is assumed then.
 */
void runs_floor_study(
	struct runs_store *s, int64_t study, const struct runs_info *like, struct runs_noise *ret);

/* The noise that is assumed, and WHY ("": nothing is known yet). */
struct runs_noise runs_noise_assumed(const char *why);
