/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * make_run STORE LABEL [NAME=VALUE]...: records a made-up run, for tests of the commands.
 * boot (a root folder below BARSCOPE_ROOT is read for the rest), p50 (ns), sd (of ln), seconds,
 * seed, shape, threads, device, kernel, machine (a capture record's file), keep, end (done, open).
 */
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/macros.h"
#include "base/text.h"
#include "runs/random.h"
#include "runs/recorder.h"

static const char *machine;

static int capture(
	const char *root, bool with_log, bool wake, char **ret, size_t *ret_len, struct why *why)
{
	(void)root;
	(void)with_log;
	(void)wake;
	return machine ? file_read_all(machine, 16 * MIB, ret, ret_len, why) : -1;
}

static const char *option(int argc, char **argv, const char *name, const char *otherwise)
{
	size_t n = strlen(name);
	for (int i = 3; i < argc; i++) {
		if (!strncmp(argv[i], name, n) && argv[i][n] == '=') {
			return argv[i] + n + 1;
		}
	}
	return otherwise;
}

static struct runs_collect *model(int argc, char **argv)
{
	double p50 = atof(option(argc, argv, "p50", "3900000"));
	double sd = atof(option(argc, argv, "sd", "0.03"));
	double end = atof(option(argc, argv, "seconds", "5")) * 1e9;
	uint64_t seed = strtoull(option(argc, argv, "seed", "1"), NULL, 10) * 7919, t = 0, i = 0;
	struct runs_collect *c = runs_collect_create(0, *option(argc, argv, "keep", "") != '\0');
	while ((double)t < end) {
		uint64_t d = (uint64_t)(p50 * exp(sd * runs_random_normal(&seed)));
		struct stress_sample s = {.seq = i++,
			.submit_ns = t,
			.start_ns = t + 2000,
			.end_ns = t + d - 1500,
			.done_ns = t + d,
			.flags = STRESS_HAS_DEVICE};
		t += d + 500;
		runs_collect_add(c, &s, 1);
	}
	return c;
}

static void must(struct runs_recorder *r, uint64_t ticket)
{
	struct why why;
	if (runs_recorder_wait(r, ticket, 600000, &why)) {
		fprintf(stderr, "make_run: %s\n", why.text);
		exit(3);
	}
}

int main(int argc, char **argv)
{
	if (argc < 3) {
		fprintf(stderr, "usage: make_run STORE LABEL [NAME=VALUE]...\n");
		return 3;
	}
	machine = option(argc, argv, "machine", NULL);
	struct why why;
	struct runs_recorder *r;
	struct runs_recorder_options o = {argv[1], getenv("BARSCOPE_ROOT"), capture};
	if (runs_recorder_create(&o, &r, &why)) {
		return 3;
	}
	struct runs_info run = {.seed = 1, .asked_s = 5};
	text_copy(run.label, sizeof(run.label), argv[2]);
	text_copy(run.backend, sizeof(run.backend), "cpu");
	text_copy(run.shape, sizeof(run.shape), option(argc, argv, "shape", "1x4096x11008"));
	text_copy(run.dtype, sizeof(run.dtype), "f16");
	must(r, runs_recorder_begin(r, &run));
	must(r, runs_recorder_intent(r, "first launch of avx2", NULL));
	struct stress_status st = {.copies = 4,
		.bytes = 90200000,
		.max_error = -1,
		.threads = (uint32_t)atoi(option(argc, argv, "threads", "1"))};
	text_copy(st.backend, sizeof(st.backend), "cpu");
	text_copy(st.device, sizeof(st.device), option(argc, argv, "device", "Test CPU"));
	text_copy(st.kernel, sizeof(st.kernel), option(argc, argv, "kernel", "avx2"));
	runs_recorder_facts(r, &st);
	struct runs_collect *c = model(argc, argv);
	runs_recorder_seconds(r, runs_collect_take(c, UINT64_MAX));
	runs_recorder_rollups(r, c);
	runs_collect_destroy(c);
	if (!strcmp(option(argc, argv, "end", "done"), "open")) {
		must(r, runs_recorder_intent(r, "the last step", NULL));
		raise(SIGKILL);
	}
	must(r, runs_recorder_end(r, RUNS_DONE, ""));
	return runs_recorder_destroy(r, -1);
}
