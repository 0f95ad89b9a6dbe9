/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "runs/side.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/macros.h"
#include "base/text.h"
#include "runs/study.h"

void runs_side_finish(struct runs_side *s)
{
	for (size_t i = 0; i < s->n; i++) {
		js_free(s->run[i].env);
	}
	free(s->run);
	free(s->boot);
	*s = (struct runs_side){0};
}

static size_t boot_of(struct runs_side *s, const struct runs_info *run)
{
	size_t i = 0;
	while (i < s->nboot && strcmp(s->boot[i].boot_id, run->boot_id) != 0) {
		i++;
	}
	if (i == s->nboot) {
		s->boot = xreallocarray(s->boot, s->nboot + 1, sizeof(*s->boot));
		s->boot[s->nboot] = (struct runs_boot){.started = run->started};
		text_copy(s->boot[s->nboot++].boot_id, sizeof(s->boot->boot_id), run->boot_id);
	}
	s->boot[i].nrun++;
	return i;
}

static int load_layers(struct runs_store *store, struct runs_member *m, struct why *why)
{
	uint32_t layers[STRESS_SERIES];
	int r = runs_info_layers(store, m->info.id, layers, why);
	for (unsigned s = 0; !r && s < STRESS_SERIES; s++) {
		for (unsigned l = 0; !r && l < RUNS_LAYERS; l++) {
			if (layers[s] & 1u << l) {
				r = runs_describe_load(store, &m->info, s, l, &m->layer[s][l], why);
			}
		}
	}
	return r;
}

/* The endpoint's samples: host latency of the GEMM, or the device's where that is all there is. */
static bool has_endpoint(const struct runs_member *m)
{
	return m->layer[STRESS_GEMM][RUNS_HOST].n || m->layer[STRESS_GEMM][RUNS_DEVICE].n;
}

int runs_side_load(struct runs_store *store, const struct runs_list *list, const char *name,
	struct runs_side *ret, struct why *why)
{
	_cleanup_side_ struct runs_side s = {0};
	text_copy(s.name, sizeof(s.name), name);
	s.run = xcalloc(list->n, sizeof(*s.run));
	for (size_t i = 0; i < list->n; i++) {
		struct runs_member *m = &s.run[s.n];
		*m = (struct runs_member){.info = list->run[i]};
		int r = runs_info_totals(store, m->info.id, &m->totals, why);
		if (!r) {
			r = load_layers(store, m, why);
		}
		if (r) {
			return r;
		}
		if (!has_endpoint(m)) {
			continue;
		}
		/* An environment that is missing or damaged is one that nobody knows. */
		if (runs_info_env(store, m->info.id, &m->env, NULL)) {
			m->env = NULL;
		}
		m->boot = boot_of(&s, &m->info);
		s.n++;
	}
	if (!s.n) {
		why_set(why, "%s has no samples to compare", name);
		return -ENODATA;
	}
	*ret = s;
	s = (struct runs_side){0};
	return 0;
}

size_t runs_side_devices(const struct runs_side *s)
{
	size_t devices = 0;
	for (size_t i = 0; i < s->n; i++) {
		size_t k = 0;
		while (k < i && strcmp(s->run[k].info.device, s->run[i].info.device) != 0) {
			k++;
		}
		devices += k == i;
	}
	return devices;
}

/* A path, and not a run or label that happens to be spelt like one. */
static bool is_file(const char *ref)
{
	struct stat st;
	static const char *const forced[] = {"run:", "label:", "study:"};
	for (size_t i = 0; i < ARRAY_LEN(forced); i++) {
		if (!strncmp(ref, forced[i], strlen(forced[i]))) {
			return false;
		}
	}
	return !stat(ref, &st);
}

int runs_side_file(const char *ref, struct runs_store **ret, struct why *why)
{
	*ret = NULL;
	return is_file(ref) ? runs_store_open(ref, RUNS_STORE_READ, ret, why) : 0;
}

int runs_side_open(struct runs_store *store, const char *ref, const char *boot_id,
	struct runs_side *ret, struct why *why)
{
	_cleanup_store_ struct runs_store *file = NULL;
	_cleanup_runs_ struct runs_list list = {0};
	int r = runs_side_file(ref, &file, why);
	if (r) {
		return r;
	}
	if (file) {
		r = runs_info_list(file, NULL, NULL, &list, why);
		store = file;
	} else if (store) {
		r = strncmp(ref, "study:", 6) ? runs_info_find(store, ref, boot_id, &list, why)
					      : runs_study_find(store, ref, &list, why);
	} else {
		why_set(why, "there is no store yet, so nothing is called '%s'", ref);
		r = -ENOENT;
	}
	return r ? r : runs_side_load(store, &list, ref, ret, why);
}

int runs_side_machine(struct runs_store *store, const char *ref, const struct runs_side *s,
	bool last, char **ret, size_t *ret_len, struct why *why)
{
	_cleanup_store_ struct runs_store *file = NULL;
	int r = runs_side_file(ref, &file, why);
	if (r) {
		return r;
	}
	store = file ? file : store;
	for (size_t i = 0; i < s->n; i++) {
		const struct runs_info *run = &s->run[last ? s->n - 1 - i : i].info;
		if (run->machine) {
			return runs_info_machine(store, run->machine, ret, ret_len, why);
		}
	}
	why_set(why, "%s kept no machine", s->name);
	return -ENODATA;
}
