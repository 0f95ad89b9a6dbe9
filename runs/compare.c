/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "runs/compare.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/macros.h"
#include "base/sort.h"
#include "base/text.h"

static const double alpha = 0.05;

static const char *const verdicts[] = {
	[RUNS_NOT_COMPARABLE] = "not-comparable",
	[RUNS_DESCRIPTION] = "description",
	[RUNS_NO_DIFFERENCE] = "no-difference-shown",
	[RUNS_BETTER] = "better",
	[RUNS_WORSE] = "worse",
};

const char *runs_verdict_name(enum runs_verdict v)
{
	return verdicts[v];
}

int runs_verdict_status(enum runs_verdict v)
{
	return v == RUNS_WORSE ? 1 : v <= RUNS_DESCRIPTION ? 2 : 0;
}

void runs_comparison_finish(struct runs_comparison *c)
{
	free(c->pair);
	free(c->device);
	free(c->reason);
	free(c->noted);
	*c = (struct runs_comparison){0};
}

static bool same_shape(const struct runs_info *x, const struct runs_info *y)
{
	return !strcmp(x->backend, y->backend) && !strcmp(x->shape, y->shape) &&
	       !strcmp(x->dtype, y->dtype);
}

bool runs_pair_has(const struct runs_pair *p, const struct runs_info *x, bool b)
{
	const char *device = b ? p->device_b : p->device;
	return !strcmp(x->backend, p->backend) && !strcmp(x->shape, p->shape) &&
	       !strcmp(x->dtype, p->dtype) && (!*device || !strcmp(x->device, device));
}

/* One value a boot: each of its runs counts alike. */
static int gather(const struct runs_pair *p, const struct runs_side *s, bool b,
	struct runs_values *ret, struct why *why)
{
	*ret = (struct runs_values){0};
	double *v = xmalloc(s->n * sizeof(*v));
	int r = 0;
	for (size_t boot = 0; !r && boot < s->nboot; boot++) {
		double band = 0, p99 = 0;
		size_t k = 0;
		for (size_t i = 0; i < s->n; i++) {
			const struct runs_member *m = &s->run[i];
			const struct runs_description *d = &m->layer[STRESS_GEMM][p->layer];
			if (m->boot != boot || !d->n || !runs_pair_has(p, &m->info, b)) {
				continue;
			}
			v[k++] = (double)d->p50;
			/* A band of nothing (a script, a coarse clock) is one bucket's width. */
			band += log(fmax(d->band, 1.0 / (1 << RUNS_HIST_TENTH_PCT)));
			p99 += d->p99;
		}
		if (!k) {
			continue;
		}
		if (ret->n == RUNS_BOOTS_MAX) {
			why_set(why, "%s has more than %d boots", s->name, RUNS_BOOTS_MAX);
			r = -EINVAL;
			break;
		}
		ret->p50[ret->n] = runs_boots_median(v, k);
		ret->log_band[ret->n] = band / (double)k;
		ret->p99[ret->n++] = p99 / (double)k;
	}
	free(v);
	return r;
}

static bool share_a_boot(const struct runs_side *a, const struct runs_side *b)
{
	for (size_t i = 0; i < a->nboot; i++) {
		for (size_t j = 0; j < b->nboot; j++) {
			if (!strcmp(a->boot[i].boot_id, b->boot[j].boot_id)) {
				return true;
			}
		}
	}
	return false;
}

/* Spread of ln(band) between boots of the same side, both sides pooled. */
static double noise_of(const struct runs_pair *p)
{
	size_t degrees = (p->a.n ? p->a.n - 1 : 0) + (p->b.n ? p->b.n - 1 : 0);
	if (!degrees) {
		return NAN;
	}
	double sa = runs_boots_sd(p->a.log_band, p->a.n), sb = runs_boots_sd(p->b.log_band, p->b.n);
	double sum = sa * sa * (double)(p->a.n - 1) + sb * sb * (double)(p->b.n - 1);
	return sqrt(sum / (double)degrees);
}

struct timed {
	int64_t started;
	double residual;
};

static int by_start(const void *x, const void *y)
{
	const struct timed *a = x, *b = y;
	return a->started < b->started ? -1 : a->started > b->started;
}

/* Boots in the order in which they were made, each side's median taken away. */
static double trend_of(
	const struct runs_side *a, const struct runs_side *b, const struct runs_pair *p)
{
	struct timed t[2 * RUNS_BOOTS_MAX];
	double v[2 * RUNS_BOOTS_MAX], tau, trend;
	size_t n = 0;
	if (p->a.n != a->nboot || p->b.n != b->nboot) {
		return 1; /* some boots lack this configuration: their order cannot be told */
	}
	double ma = runs_boots_median(p->a.log_band, p->a.n);
	double mb = runs_boots_median(p->b.log_band, p->b.n);
	for (size_t i = 0; i < p->a.n; i++) {
		t[n++] = (struct timed){a->boot[i].started, p->a.log_band[i] - ma};
	}
	for (size_t i = 0; i < p->b.n; i++) {
		t[n++] = (struct timed){b->boot[i].started, p->b.log_band[i] - mb};
	}
	sort_array(t, n, sizeof(*t), by_start);
	for (size_t i = 0; i < n; i++) {
		v[i] = t[i].residual;
	}
	runs_boots_trend(v, n, &tau, &trend);
	return trend;
}

/* Adds the configuration of LIKE, on DEVICE, when both sides have it. */
static int add_pair(struct runs_comparison *c, const struct runs_info *like,
	const struct runs_device_pair *device, struct why *why)
{
	struct runs_pair p = {.layer = RUNS_HOST, .p = 1};
	text_copy(p.backend, sizeof(p.backend), like->backend);
	text_copy(p.shape, sizeof(p.shape), like->shape);
	text_copy(p.dtype, sizeof(p.dtype), like->dtype);
	text_copy(p.device, sizeof(p.device), c->by_device ? device->a : "");
	text_copy(p.device_b, sizeof(p.device_b), c->by_device ? device->b : "");
	for (int tries = 0; tries < 2; tries++) {
		int r = gather(&p, c->a, false, &p.a, why);
		if (!r) {
			r = gather(&p, c->b, true, &p.b, why);
		}
		if (r) {
			return r;
		}
		if (p.a.n && p.b.n) {
			break;
		}
		p.layer = RUNS_DEVICE;
	}
	if (!p.a.n || !p.b.n) {
		return 0;
	}
	p.same_boot = share_a_boot(c->a, c->b);
	runs_boots_shift(p.a.p50, p.a.n, p.b.p50, p.b.n, &p.shift);
	runs_boots_shift(p.a.log_band, p.a.n, p.b.log_band, p.b.n, &p.ratio);
	p.ratio.estimate = exp(p.ratio.estimate);
	p.ratio.low = exp(p.ratio.low);
	p.ratio.high = exp(p.ratio.high);
	runs_boots_permute(p.a.log_band, p.a.n, p.b.log_band, p.b.n, &p.spread);
	p.noise = noise_of(&p);
	p.trend_p = trend_of(c->a, c->b, &p);
	c->pair = xreallocarray(c->pair, c->npair + 1, sizeof(*c->pair));
	c->pair[c->npair++] = p;
	return 0;
}

/* The device of both sides that A calls NAME; NULL: B has none like it. */
static const struct runs_device_pair *device_of(const struct runs_comparison *c, const char *name)
{
	for (size_t i = 0; i < c->ndevice; i++) {
		if (!strcmp(c->device[i].a, name)) {
			return &c->device[i];
		}
	}
	return NULL;
}

static int add_pairs(struct runs_comparison *c, struct why *why)
{
	for (size_t i = 0; i < c->a->n; i++) {
		const struct runs_info *like = &c->a->run[i].info;
		const struct runs_device_pair *device = device_of(c, like->device);
		bool seen = !device;
		for (size_t k = 0; !seen && k < i; k++) {
			const struct runs_info *x = &c->a->run[k].info;
			seen = same_shape(x, like) && !strcmp(x->device, like->device);
		}
		int r = seen || c->npair == RUNS_BOOTS_MAX ? 0 : add_pair(c, like, device, why);
		if (r) {
			return r;
		}
	}
	return 0;
}

/* Which pairs are tested, and what came of it. */
static void judge(struct runs_comparison *c)
{
	double p[RUNS_BOOTS_MAX];
	double most = 0; /* the weakest pair decides whether all can be tested */
	for (size_t i = 0; i < c->npair; i++) {
		most = fmax(most, c->pair[i].spread.least);
	}
	size_t tests = most * (double)c->npair <= alpha ? c->npair : 1;
	for (size_t i = 0; i < tests; i++) {
		p[i] = c->pair[i].spread.p;
	}
	runs_boots_holm(p, tests);
	for (size_t i = 0; i < c->npair; i++) {
		struct runs_pair *pair = &c->pair[i];
		pair->verdict = RUNS_DESCRIPTION;
		if (i >= tests || pair->same_boot || pair->spread.least > alpha) {
			continue;
		}
		pair->tested = true;
		pair->p = p[i];
		pair->verdict = pair->p > alpha            ? RUNS_NO_DIFFERENCE
				: pair->ratio.estimate < 1 ? RUNS_BETTER
							   : RUNS_WORSE;
	}
}

/* "B is WORD", and of which pair where there are several. */
static void say_found(struct runs_comparison *c, const struct runs_pair *p)
{
	size_t size = sizeof(c->sentence);
	char of[160] = "";
	if (c->npair > 1) {
		snprintf(of, sizeof(of), " with %s%s%s", p->shape, *p->device ? " on " : "",
			p->device);
	}
	if (c->verdict == RUNS_NO_DIFFERENCE) {
		snprintf(c->sentence, size,
			"No difference shown%s: B's spread is %.2f times A's (%.1f %% interval %.2f "
			"to %.2f, p = %.2g), within boot-to-boot noise.",
			of, p->ratio.estimate, 100 * p->ratio.level, p->ratio.low, p->ratio.high,
			p->p);
	} else {
		snprintf(c->sentence, size,
			"B is %s%s: its spread is %.2f times A's (%.1f %% interval %.2f to %.2f, p = "
			"%.2g, %zu against %zu boots).",
			c->verdict == RUNS_BETTER ? "steadier" : "less steady", of,
			p->ratio.estimate, 100 * p->ratio.level, p->ratio.low, p->ratio.high, p->p,
			p->b.n, p->a.n);
	}
}

static void say(struct runs_comparison *c)
{
	const struct runs_pair *p = &c->pair[c->decided];
	size_t na = p->a.n, nb = p->b.n, size = sizeof(c->sentence);
	if (c->nreason) {
		snprintf(c->sentence, size,
			"Not comparable: %s differs (%.60s against %.60s)%s. What follows describes the two.",
			c->reason[0].name, c->reason[0].a, c->reason[0].b,
			c->nreason > 1 ? ", and more" : "");
	} else if (p->same_boot) {
		snprintf(c->sentence, size,
			"Both sides hold runs of one and the same boot: this is a description and no "
			"verdict, since the unit of a comparison is the boot.");
	} else if (na == 1 || nb == 1) {
		snprintf(c->sentence, size,
			"One boot a side is a description and no verdict: boots differ by themselves. "
			"Four boots a side can carry one test.");
	} else if (!p->tested) {
		snprintf(c->sentence, size,
			"%zu and %zu boots are a description and no verdict: no result of theirs can be "
			"rarer than p = %.2g. Four boots a side can carry one test.",
			na, nb, p->spread.least);
	} else {
		say_found(c, p);
	}
}

/* No pair: what each side has instead. */
static void say_nothing_in_common(const struct runs_comparison *c, struct why *why)
{
	const struct runs_info *a = &c->a->run[0].info, *b = &c->b->run[0].info;
	if (c->ndevice) {
		why_set(why,
			"%s and %s have no %sback end, shape and type in common (%s %s against %s %s)",
			c->a->name, c->b->name, c->by_device ? "device, " : "", a->backend,
			a->shape, b->backend, b->shape);
		return;
	}
	struct text t = {0};
	runs_devices_say(c->a, &t);
	text_add(&t, " against ");
	runs_devices_say(c->b, &t);
	why_set(why, "%.40s and %.40s have no device in common (%s)", c->a->name, c->b->name, t.s);
	text_finish(&t);
}

int runs_compare(const struct runs_side *a, const struct runs_side *b, const char *const *despite,
	size_t n, struct runs_comparison *ret, struct why *why)
{
	struct runs_comparison c = {
		.a = a,
		.b = b,
		.by_device = runs_side_devices(a) > 1 || runs_side_devices(b) > 1,
	};
	c.ndevice = runs_devices_pair(a, b, &c.device);
	int r = add_pairs(&c, why);
	if (!r && !c.npair) {
		say_nothing_in_common(&c, why);
		r = -EINVAL;
	}
	if (r) {
		runs_comparison_finish(&c);
		return r;
	}
	judge(&c);
	runs_compare_reasons(&c, despite, n);
	/* A worse secondary shape, tested with Holm, is a finding too; 1 beats 0. */
	for (size_t i = 0; i < c.npair && c.pair[c.decided].verdict != RUNS_WORSE; i++) {
		c.decided = c.pair[i].verdict == RUNS_WORSE ? i : c.decided;
	}
	c.verdict = c.nreason ? RUNS_NOT_COMPARABLE : c.pair[c.decided].verdict;
	say(&c);
	*ret = c;
	return 0;
}
