/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A folder for one test: a store inside, and a root whose boot id can be changed. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "runs/collect.h"

struct place {
	char dir[64], store[96], root[96];
};

static inline void place_file(const struct place *p, const char *name, const char *text)
{
	char path[256], folder[256];
	snprintf(path, sizeof(path), "%s/%s", p->root, name);
	snprintf(folder, sizeof(folder), "%s", path);
	*strrchr(folder, '/') = '\0';
	assert_int_equal(file_make_dirs(folder), 0);
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static inline void place_boot(const struct place *p, const char *boot_id)
{
	place_file(p, "proc/sys/kernel/random/boot_id", boot_id);
}

static inline void place_init(struct place *p)
{
	snprintf(p->dir, sizeof(p->dir), "/tmp/barscope-runs-XXXXXX");
	assert_non_null(mkdtemp(p->dir));
	snprintf(p->store, sizeof(p->store), "%s/store.db", p->dir);
	snprintf(p->root, sizeof(p->root), "%s/root", p->dir);
	place_boot(p, "11111111-0000-0000-0000-000000000000\n");
	place_file(p, "proc/sys/kernel/osrelease", "6.1.0-test\n");
	place_file(p, "proc/cpuinfo", "processor\t: 0\nmodel name\t: Test CPU\n");
}

static inline void place_finish(struct place *p)
{
	char cmd[128];
	snprintf(cmd, sizeof(cmd), "rm -rf '%s'", p->dir);
	assert_int_equal(system(cmd), 0);
}

/* For cmocka: each test gets a place of its own as its state. */
static inline int place_setup(void **state)
{
	static struct place p;
	place_init(&p);
	*state = &p;
	return 0;
}

static inline int place_teardown(void **state)
{
	place_finish(*state);
	return 0;
}

/* Second SEC of a run: N samples around MEAN ns, host = launch + device + notify. */
static inline struct runs_second *place_second(uint32_t sec, size_t n, uint64_t mean)
{
	struct runs_collect *c = runs_collect_create(0, false);
	uint64_t seed = sec + 1;
	for (size_t i = 0; i < n; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		uint64_t submit = sec * (uint64_t)1000000000 + i * (900000000 / n);
		uint64_t device = mean + (seed >> 33) % (mean / 10);
		struct stress_sample s = {
			.seq = sec * n + i,
			.submit_ns = submit,
			.start_ns = submit + 1000,
			.end_ns = submit + 1000 + device,
			.done_ns = submit + 1500 + device,
			.flags = STRESS_GEMM | STRESS_HAS_DEVICE,
		};
		runs_collect_add(c, &s, 1);
	}
	struct runs_second *chain = runs_collect_take(c, UINT64_MAX);
	runs_collect_destroy(c);
	/* Start at 0: all seconds before are empty and were never finished. */
	while (chain->next) {
		struct runs_second *next = chain->next;
		chain->next = NULL;
		runs_second_destroy(chain);
		chain = next;
	}
	return chain;
}
