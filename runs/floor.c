/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "runs/floor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/macros.h"
#include "base/sort.h"
#include "base/text.h"
#include "runs/study.h"

enum { NEWEST = 400 };
static const double assumed = 0.2;

struct value {
	char label[64], boot[40];
	double log_band;
};

static int by_label_and_boot(const void *x, const void *y)
{
	const struct value *a = x, *b = y;
	int c = strcmp(a->label, b->label);
	return c ? c : strcmp(a->boot, b->boot);
}

/* Sums of squares around means of groups, for a pooled standard deviation. */
struct pool {
	double sum, sum2; /* of the open group */
	size_t n;         /* in it */
	double squares;   /* of the closed ones */
	size_t degrees;
};

static void pool_add(struct pool *p, double v)
{
	p->sum += v;
	p->sum2 += v * v;
	p->n++;
}

/* Closes the group and returns its mean. */
static double pool_close(struct pool *p)
{
	double mean = p->sum / (double)p->n;
	if (p->n > 1) {
		p->squares += fmax(p->sum2 - p->sum * mean, 0);
		p->degrees += p->n - 1;
	}
	p->sum = p->sum2 = 0;
	p->n = 0;
	return mean;
}

static double pool_sd(const struct pool *p)
{
	return p->degrees ? sqrt(p->squares / (double)p->degrees) : NAN;
}

static int by_text(const void *x, const void *y)
{
	return strcmp(*(const char *const *)x, *(const char *const *)y);
}

/* How many different ones are among N; sorts them. */
static size_t distinct(const char **boot, size_t n)
{
	size_t found = 0;
	sort_array(boot, n, sizeof(*boot), by_text);
	for (size_t i = 0; i < n; i++) {
		found += !i || strcmp(boot[i - 1], boot[i]) != 0;
	}
	return found;
}

static void judge(struct value *v, size_t n, struct runs_floor *ret)
{
	struct pool boots = {0}, runs = {0};
	_cleanup_free_ const char **used = xcalloc(MAX(n, 1), sizeof(*used));
	size_t nused = 0, of_label = 0;
	double sum = 0;
	sort_array(v, n, sizeof(*v), by_label_and_boot);
	*ret = (struct runs_floor){.runs = n};
	for (size_t i = 0; i < n; i++) {
		bool last = i + 1 == n;
		sum += v[i].log_band;
		pool_add(&runs, v[i].log_band);
		if (last || by_label_and_boot(&v[i], &v[i + 1]) != 0) {
			pool_add(&boots, pool_close(&runs));
			used[nused + of_label++] = v[i].boot;
			ret->most = MAX(ret->most, of_label);
		}
		if (last || strcmp(v[i].label, v[i + 1].label) != 0) {
			pool_close(&boots);
			/* A label with one boot says nothing of how boots differ. */
			nused += of_label > 1 ? of_label : 0;
			of_label = 0;
		}
	}
	/* Each of a band's two quantiles is off by up to a bucket, evenly: w / sqrt(12) of one. */
	ret->resolution = exp(-sum / (double)n) / (1 << RUNS_HIST_TENTH_PCT) / sqrt(24);
	ret->boots = distinct(used, nused);
	ret->between_boots = pool_sd(&boots);
	ret->within_boot = pool_sd(&runs);
}

static bool is_like(const struct runs_info *r, const struct runs_info *like)
{
	bool chosen = *like->backend && strcmp(like->backend, "auto") != 0;
	return (r->state == RUNS_DONE || r->state == RUNS_STOPPED) && !r->imported &&
	       (!chosen || !strcmp(r->backend, like->backend)) && !strcmp(r->shape, like->shape) &&
	       !strcmp(r->dtype, like->dtype) && r->paced_ns == like->paced_ns;
}

/* The floor of those in L that are like LIKE, the latest ones. */
static int floor_of(struct runs_store *s, const struct runs_list *l, const struct runs_info *like,
	struct runs_floor *ret, struct why *why)
{
	struct runs_info alike = *like;
	_cleanup_free_ struct value *v = xcalloc(NEWEST, sizeof(*v));
	size_t n = 0;
	int r = 0;
	struct runs_hist h;
	runs_hist_init(&h, RUNS_HIST_1PCT);
	for (size_t i = l->n; !r && i-- > 0 && n < NEWEST;) {
		const struct runs_info *run = &l->run[i];
		if (!is_like(run, &alike)) {
			continue;
		}
		/* Where the choice was left open, what was chosen last. */
		text_copy(alike.backend, sizeof(alike.backend), run->backend);
		r = runs_info_hist(s, run, STRESS_GEMM, RUNS_HOST, &h, why);
		double band = runs_hist_band(&h);
		if (!r && h.total && !isnan(band)) {
			v[n] = (struct value){
				.log_band = log(fmax(band, 1.0 / (1 << RUNS_HIST_TENTH_PCT)))};
			text_copy(v[n].label, sizeof(v[n].label), run->label);
			text_copy(v[n].boot, sizeof(v[n].boot), run->boot_id);
			n++;
		}
	}
	runs_hist_finish(&h);
	if (!r) {
		judge(v, n, ret);
	}
	return r;
}

int runs_floor_load(
	struct runs_store *s, const struct runs_info *like, struct runs_floor *ret, struct why *why)
{
	_cleanup_runs_ struct runs_list l = {0};
	int r = runs_info_list(s, NULL, NULL, &l, why);
	return r ? r : floor_of(s, &l, like, ret, why);
}

struct runs_noise runs_noise_assumed(const char *why)
{
	struct runs_noise n = {.from = RUNS_NOISE_ASSUMED, .log_sd = assumed};
	text_copy(n.why, sizeof(n.why), why);
	return n;
}

void runs_floor_study(
	struct runs_store *s, int64_t study, const struct runs_info *like, struct runs_noise *ret)
{
	_cleanup_runs_ struct runs_list filed = {0};
	struct runs_floor f;
	struct why why;
	enum runs_noise_from from = RUNS_NOISE_STUDY;
	int r = runs_study_runs(s, study, 0, &filed, &why);
	if (!r) {
		r = floor_of(s, &filed, like, &f, &why);
	}
	if (!r && f.most < RUNS_NOISE_BOOTS) {
		from = RUNS_NOISE_STORE;
		r = runs_floor_load(s, like, &f, &why);
	}
	if (r || f.most < RUNS_NOISE_BOOTS || isnan(f.between_boots)) {
		*ret = runs_noise_assumed(r ? why.text : "");
	} else {
		*ret = (struct runs_noise){.from = from,
			.boots = f.boots,
			.log_sd = fmax(f.between_boots, f.resolution)};
	}
}
