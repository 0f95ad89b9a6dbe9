/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Why two sides cannot be compared: what differs beside what was meant to. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "runs/compare.h"

struct reasons {
	struct runs_comparison *c;
	const char *const *despite;
	size_t n;
	size_t cap_reason, cap_noted;
};

static void add(struct reasons *r, const char *name, enum runs_env_weight weight, const char *a,
	const char *b)
{
	struct runs_comparison *c = r->c;
	bool matters = weight == RUNS_ENV_MATTERS;
	for (size_t i = 0; i < r->n; i++) {
		matters = matters && strcmp(r->despite[i], name) != 0;
	}
	struct runs_reason *one;
	if (matters) {
		c->reason = xgrow(c->reason, c->nreason, &r->cap_reason, sizeof(*c->reason));
		one = &c->reason[c->nreason++];
	} else {
		c->noted = xgrow(c->noted, c->nnoted, &r->cap_noted, sizeof(*c->noted));
		one = &c->noted[c->nnoted++];
	}
	text_copy(one->name, sizeof(one->name), name);
	text_copy(one->a, sizeof(one->a), a);
	text_copy(one->b, sizeof(one->b), b);
}

enum { OF_RUN = 7 }; /* differences of two runs at most */

/* How two runs of one pair were made differently: into RET, how many. */
static size_t differences(
	const struct runs_info *a, const struct runs_info *b, struct runs_reason ret[static OF_RUN])
{
	const struct {
		const char *name, *a, *b;
	} texts[] = {
		{"device", a->device, b->device},
		{"gemm_kernel", a->kernel, b->kernel},
		{"program", a->program, b->program},
	};
	const struct {
		const char *name;
		uint64_t a, b;
	} numbers[] = {
		{"threads", a->threads, b->threads},
		{"copies", a->copies, b->copies},
		{"paced_ns", a->paced_ns, b->paced_ns},
	};
	size_t n = 0;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		if (strcmp(texts[i].a, texts[i].b) != 0) {
			struct runs_reason *r = &ret[n++];
			text_copy(r->name, sizeof(r->name), texts[i].name);
			text_copy(r->a, sizeof(r->a), texts[i].a);
			text_copy(r->b, sizeof(r->b), texts[i].b);
		}
	}
	for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
		if (numbers[i].a != numbers[i].b) {
			struct runs_reason *r = &ret[n++];
			text_copy(r->name, sizeof(r->name), numbers[i].name);
			snprintf(r->a, sizeof(r->a), "%llu", (unsigned long long)numbers[i].a);
			snprintf(r->b, sizeof(r->b), "%llu", (unsigned long long)numbers[i].b);
		}
	}
	if (a->golden && b->golden && a->golden != b->golden && !strcmp(a->kernel, b->kernel) &&
		runs_device_same_model(a->device, b->device) && a->seed == b->seed) {
		struct runs_reason *r = &ret[n++];
		text_copy(r->name, sizeof(r->name), "output_hash");
		snprintf(r->a, sizeof(r->a), "%016llx", (unsigned long long)a->golden);
		snprintf(r->b, sizeof(r->b), "%016llx", (unsigned long long)b->golden);
	}
	return n;
}

/* Differences of runs, and the device whose pairs have them (A's name). */
struct found {
	struct {
		struct runs_reason r;
		const char *device;
	} * at; /* owned */
	size_t n, cap;
};

/* One of a name and device is enough: the first. */
static void find(struct found *f, const struct runs_reason *r, const char *device)
{
	for (size_t i = 0; i < f->n; i++) {
		if (!strcmp(f->at[i].r.name, r->name) && !strcmp(f->at[i].device, device)) {
			return;
		}
	}
	f->at = xgrow(f->at, f->n, &f->cap, sizeof(*f->at));
	f->at[f->n].r = *r;
	f->at[f->n++].device = device;
}

/* Every run of A against every run of B in a pair. */
static void find_in_pair(
	struct found *f, const struct runs_comparison *c, const struct runs_pair *p)
{
	struct runs_reason r[OF_RUN];
	for (size_t i = 0; i < c->a->n; i++) {
		for (size_t j = 0; j < c->b->n; j++) {
			const struct runs_info *a = &c->a->run[i].info, *b = &c->b->run[j].info;
			if (!runs_pair_has(p, a, false) || !runs_pair_has(p, b, true)) {
				continue;
			}
			size_t n = differences(a, b, r);
			for (size_t k = 0; k < n; k++) {
				find(f, &r[k], p->device);
			}
		}
	}
}

static bool same_reason(const struct runs_reason *x, const struct runs_reason *y)
{
	return !strcmp(x->name, y->name) && !strcmp(x->a, y->a) && !strcmp(x->b, y->b);
}

/* Differences in how the runs were made; what all devices have alike is said once. */
static void configured(struct reasons *r)
{
	const struct runs_comparison *c = r->c;
	struct found f = {.n = 0};
	for (size_t i = 0; i < c->npair; i++) {
		find_in_pair(&f, c, &c->pair[i]);
	}
	for (size_t i = 0; i < f.n; i++) {
		struct runs_reason one = f.at[i].r;
		size_t alike = 0, earlier = 0;
		for (size_t k = 0; k < f.n; k++) {
			bool same = same_reason(&f.at[k].r, &one);
			alike += same;
			earlier += same && k < i;
		}
		bool device = !strcmp(one.name, "device");
		bool all = c->by_device ? alike == c->ndevice : true;
		if (all && earlier) {
			continue;
		}
		if (!all && !device) {
			size_t a = strlen(one.a), b = strlen(one.b);
			snprintf(one.a + a, sizeof(one.a) - a, " (%s)", f.at[i].device);
			snprintf(one.b + b, sizeof(one.b) - b, " (%s)", f.at[i].device);
		}
		/* Bus numbers move by themselves when a BAR or an aperture does. */
		bool moved = device && runs_device_same_model(one.a, one.b);
		add(r, one.name, moved ? RUNS_ENV_NOTED : RUNS_ENV_MATTERS, one.a, one.b);
	}
	free(f.at);
}

static bool known(const struct runs_comparison *c, const char *name)
{
	for (size_t i = 0; i < c->nreason; i++) {
		if (!strcmp(c->reason[i].name, name)) {
			return true;
		}
	}
	for (size_t i = 0; i < c->nnoted; i++) {
		if (!strcmp(c->noted[i].name, name)) {
			return true;
		}
	}
	return false;
}

/* Every run of A against every run of B: one odd boot is enough to confound. */
static void surrounded(struct reasons *r)
{
	const struct runs_side *a = r->c->a, *b = r->c->b;
	for (size_t i = 0; i < a->n; i++) {
		for (size_t j = 0; j < b->n; j++) {
			if (!a->run[i].env || !b->run[j].env) {
				continue;
			}
			struct runs_env_diff *d;
			size_t n = runs_env_compare(a->run[i].env, b->run[j].env, &d);
			for (size_t k = 0; k < n; k++) {
				if (!known(r->c, d[k].name)) {
					add(r, d[k].name, d[k].weight, d[k].a, d[k].b);
				}
			}
			free(d);
		}
	}
}

void runs_compare_reasons(struct runs_comparison *c, const char *const *despite, size_t n)
{
	struct reasons r = {.c = c, .despite = despite, .n = n};
	configured(&r);
	surrounded(&r);
}

/* What configured() above can name. */
static const char *const of_runs[] = {
	"device", "gemm_kernel", "program", "threads", "copies", "paced_ns", "output_hash"};

static bool side_has(const struct runs_side *s, const char *name)
{
	for (size_t i = 0; i < s->n; i++) {
		if (s->run[i].env && js_get_str(s->run[i].env, name)) {
			return true;
		}
	}
	return false;
}

bool runs_compare_may_differ(const struct runs_side *a, const struct runs_side *b, const char *name)
{
	const char *read;
	for (size_t i = 0; i < ARRAY_LEN(of_runs); i++) {
		if (!strcmp(of_runs[i], name)) {
			return true;
		}
	}
	for (size_t i = 0; (read = runs_env_name(i)); i++) {
		if (!strcmp(read, name)) {
			return true;
		}
	}
	return side_has(a, name) || side_has(b, name);
}
