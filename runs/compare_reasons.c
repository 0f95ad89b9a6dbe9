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

/* A run of each side that may be compared: the first ones, of the first pair's device. */
static const struct runs_info *first_of(const struct runs_comparison *c, const struct runs_side *s)
{
	for (size_t i = 0; c->by_device && i < s->n; i++) {
		if (!strcmp(s->run[i].info.device, c->pair[0].device)) {
			return &s->run[i].info;
		}
	}
	return &s->run[0].info;
}

/* Differences in how the runs were made. */
static void configured(struct reasons *r)
{
	const struct runs_info *a = first_of(r->c, r->c->a), *b = first_of(r->c, r->c->b);
	char x[24], y[24];
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
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		if (strcmp(texts[i].a, texts[i].b) != 0) {
			add(r, texts[i].name, RUNS_ENV_MATTERS, texts[i].a, texts[i].b);
		}
	}
	for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
		if (numbers[i].a != numbers[i].b) {
			snprintf(x, sizeof(x), "%llu", (unsigned long long)numbers[i].a);
			snprintf(y, sizeof(y), "%llu", (unsigned long long)numbers[i].b);
			add(r, numbers[i].name, RUNS_ENV_MATTERS, x, y);
		}
	}
	if (a->golden && b->golden && a->golden != b->golden && !strcmp(a->kernel, b->kernel) &&
		!strcmp(a->device, b->device) && a->seed == b->seed) {
		snprintf(x, sizeof(x), "%016llx", (unsigned long long)a->golden);
		snprintf(y, sizeof(y), "%016llx", (unsigned long long)b->golden);
		add(r, "output_hash", RUNS_ENV_MATTERS, x, y);
	}
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
