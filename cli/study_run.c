/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One boot of a study: recognise it, warm up, measure, file it under what the machine is. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "cli/args.h"
#include "cli/cmd.h"
#include "cli/store_args.h"
#include "cli/stress.h"
#include "cli/study.h"
#include "pcie/scan.h"
#include "pcie/verdict.h"
#include "runs/driver.h"

static const double steady = 0.01; /* two windows in a row agree to this */
static const uint64_t window_ns = 5000000000u;

/* The fact's name without "=answer". */
static void name_of(const char *fact, char *ret, size_t size)
{
	text_copy(ret, size, fact);
	ret[strcspn(ret, "=")] = '\0';
}

void cmd_study_fact(const char *fact, const char *gpu, char *ret, size_t size)
{
	char name[64];
	name_of(fact, name, sizeof(name));
	text_copy(ret, size, "unknown");
	if (!strncmp(name, "env.", 4)) {
		struct js *env = runs_env_read(cmd_root());
		const char *value = js_get_str(env, name + 4);
		text_copy(ret, size, value ? value : "unknown");
		js_free(env);
		return;
	}
	/* As 'check' does it: a study's fact is what check says. */
	struct pcie_scan_options o = {
		.sysfs = cmd_root(), .log = true, .driver = cmd_root() ? NULL : &runs_driver};
	struct pcie_snapshot *s;
	struct why why;
	if (pcie_scan(&o, &s, &why)) {
		return;
	}
	struct pcie_verdicts *v = pcie_verdicts_create(s);
	bool found = false;
	for (size_t i = 0; i < v->ngpu && !found; i++) {
		char addr[PCIE_ADDR_MAX];
		pcie_addr_format(v->gpu[i].addr, addr);
		found = *gpu ? !strcmp(gpu, addr)
			     : v->gpu[i].kind == PCIE_GPU_DISCRETE || v->ngpu == 1;
		if (found) {
			text_copy(ret, size, pcie_gpu_answer(&v->gpu[i], name));
		}
	}
	if (!found && !*gpu && v->ngpu) {
		text_copy(ret, size, pcie_gpu_answer(&v->gpu[0], name));
	}
	pcie_verdicts_destroy(v);
	pcie_snapshot_destroy(s);
}

bool cmd_study_stress(
	const struct cmd_study *s, const char *shape, struct cmd_stress_options *ret, int *status)
{
	char *argv[CMD_STUDY_ARGS + 4];
	const struct js *list = js_get(s->options, "stress");
	int argc = 0;
	argv[argc++] = (char *)(uintptr_t) "stress";
	for (size_t i = 0; i < js_len(list) && argc < CMD_STUDY_ARGS; i++) {
		const char *arg = js_str(js_at(list, i));
		/* An earlier version kept a shape beside those of --shapes, which won: they do. */
		if (shape && arg && !strncmp(arg, "--shape", 7) &&
			cmd_args_is_whole(arg, "shape")) {
			i += !arg[7];
			continue;
		}
		argv[argc++] = (char *)(uintptr_t)(arg ? arg : "");
	}
	if (shape) {
		argv[argc++] = (char *)(uintptr_t) "--shape";
		argv[argc++] = (char *)(uintptr_t)shape;
	}
	argv[argc] = NULL;
	return cmd_stress_parse(argc, argv, ret, status);
}

/*
 * Runs without recording until two windows in a row have the same median, or the time is over.
 * 0, or the exit status that ends the command; WHY: the worker did not start.
 */
static int warm_up(const struct cmd_study *s, struct why *why)
{
	int64_t most = js_get_int(s->options, "warmup", 60);
	double last = NAN;
	why->text[0] = '\0';
	for (int64_t spent = 0; spent < most; spent += (int64_t)(window_ns / 1000000000u)) {
		struct cmd_stress_options o;
		struct cmd_stress_loop *loop;
		struct cmd_stress_result r;
		int status;
		if (!cmd_study_stress(s, NULL, &o, &status)) {
			return status;
		}
		o.duration_ns = window_ns;
		status = cmd_stress_loop(&o, &loop, &r);
		if (status) {
			return status;
		}
		const struct runs_hist *h = runs_collect_rollup(r.collect, STRESS_GEMM, RUNS_HOST);
		double p50 = h ? (double)runs_hist_quantile(h, 0.5) : NAN;
		bool died = *r.trouble && !h;
		if (died) {
			why_set(why, "%s", r.trouble);
		}
		int signal = r.signal;
		cmd_stress_loop_finish(loop);
		if (signal || died || isnan(p50)) {
			return signal ? 128 + signal : 0;
		}
		if (fabs(p50 / last - 1) < steady) {
			fprintf(stderr, "steady after %lld s\n",
				(long long)(spent + (int64_t)(window_ns / 1000000000u)));
			return 0;
		}
		last = p50;
	}
	fprintf(stderr, "not steady after %lld s; measuring all the same\n", (long long)most);
	return 0;
}

/* One process, recorded. Its run's number, 0: it did not start; negative: the status to end with.
 */
static int64_t measure(
	const struct cmd_study *s, const char *store, const char *shape, char side, struct why *why)
{
	struct cmd_stress_options o;
	struct cmd_stress_loop *loop;
	struct cmd_stress_result r;
	char label[64];
	int status;
	if (!cmd_study_stress(s, shape, &o, &status)) {
		return -status;
	}
	snprintf(label, sizeof(label), "%s/%c", s->study.name, side);
	o.record = label;
	o.store = store;
	status = cmd_stress_loop(&o, &loop, &r);
	if (status) {
		return -status;
	}
	bool none = !runs_collect_samples(r.collect);
	int64_t run = r.run;
	if (*r.trouble) {
		why_set(why, "%s", r.trouble);
		fprintf(stderr, "barscope: %s\n", r.trouble);
		run = none ? 0 : -EXIT_USAGE;
	}
	if (r.signal) {
		run = -(128 + r.signal);
	}
	cmd_stress_loop_finish(loop);
	return run;
}

static int64_t unix_ns(void)
{
	struct timespec ts;
	clock_gettime(CLOCK_REALTIME, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/* Opens the store for a moment: the recorder has it else. */
static int file_boot(const struct cmd_study *s, const char *store, const struct runs_study_boot *b,
	struct why *why)
{
	_cleanup_store_ struct runs_store *st = NULL;
	char boot_id[RUNS_BOOT_ID_MAX];
	int r = cmd_store_open(store, RUNS_STORE_WRITE, &st, boot_id, why);
	return r ? r : runs_study_file(st, s->study.id, b, why);
}

static int add_run(const struct cmd_study *s, const char *store, int64_t run, struct why *why)
{
	_cleanup_store_ struct runs_store *st = NULL;
	char boot_id[RUNS_BOOT_ID_MAX];
	int r = cmd_store_open(store, RUNS_STORE_WRITE, &st, boot_id, why);
	return r ? r : runs_study_add_run(st, s->study.id, run, why);
}

/* --side as a letter, 0 without one; false after a sentence. */
static bool take_side(const struct cmd_study_options *o, char *ret)
{
	*ret = o->side ? (char)(*o->side & ~0x20) : 0;
	if (o->side && ((*ret != 'A' && *ret != 'B') || o->side[1])) {
		cmd_usage_error("study", "--side takes A (before) or B (with the change)");
		return false;
	}
	return true;
}

/* What is asked of a boot that is in the study already: 0, or EXIT_USAGE after a sentence. */
static int check_filed(
	const struct runs_study_boot *b, const struct cmd_study_options *o, char by_hand)
{
	const bool done = b->outcome != RUNS_UNFINISHED;
	if (by_hand && by_hand != b->side) {
		return cmd_fail(EXIT_USAGE,
			"this boot is filed already, as %c: a boot is on one side. %c is what you file "
			"after the next restart",
			b->side, by_hand);
	}
	if (o->failed && done && (b->outcome != RUNS_DID_NOT_START || strcmp(b->why, o->failed))) {
		return cmd_fail(EXIT_USAGE,
			"this boot is filed already, as %c: %s%s%s. That stays; --did-not-start files "
			"a boot that is not in the study yet",
			b->side, runs_outcome_name(b->outcome), *b->why ? ": " : "", b->why);
	}
	return 0;
}

/* Which side this boot is; 0 after a sentence, with *STATUS. */
static char side_of(const struct cmd_study *s, char by_hand, char *value, size_t size, int *status)
{
	text_copy(value, size, "");
	if (!*s->study.fact) {
		if (!by_hand) {
			*status = cmd_usage_error(
				"study", "the study has no fact: say --side A or B");
		}
		return by_hand;
	}
	const char *gpu = js_get_str(s->options, "gpu");
	cmd_study_fact(s->study.fact, gpu ? gpu : "", value, size);
	char side = runs_study_side(s->study.fact, value);
	if (side && by_hand && side != by_hand) {
		*status = cmd_fail(EXIT_UNDETERMINED,
			"this boot is not %c: %.*s is %s here. The machine decides, not --side",
			by_hand, (int)strcspn(s->study.fact, "="), s->study.fact, value);
		return 0;
	}
	if (!side && !by_hand) {
		*status = cmd_fail(EXIT_UNDETERMINED,
			"%s cannot be told on this machine, so the boot cannot be filed; "
			"--side A or B files it by hand",
			s->study.fact);
	}
	return side ? side : by_hand;
}

/* All runs of the boot that are not there yet. 0, or the status to end with. */
static int measure_all(
	const struct cmd_study *s, const char *store, struct runs_study_boot *b, struct why *why)
{
	const struct js *shapes = js_get(s->options, "shapes");
	size_t nshape = js_len(shapes) ? js_len(shapes) : 1;
	size_t restarts = (size_t)js_get_int(s->options, "restarts", 3);
	for (size_t k = b->nrun; k < restarts * nshape; k++) {
		const char *shape = js_len(shapes) ? js_str(js_at(shapes, k % nshape)) : NULL;
		fprintf(stderr, "run %zu of %zu%s%s\n", k + 1, restarts * nshape, shape ? ", " : "",
			shape ? shape : "");
		int64_t run = measure(s, store, shape, b->side, why);
		if (run < 0) {
			return (int)-run;
		}
		if (!run) {
			b->outcome = RUNS_DID_NOT_START;
			text_copy(b->why, sizeof(b->why), why->text);
			return 0;
		}
		int r = add_run(s, store, run, why);
		if (r) {
			return cmd_fail(EXIT_USAGE, "%s", why->text);
		}
		b->nrun++;
	}
	b->outcome = RUNS_MEASURED;
	return 0;
}

/* A worker that never started is a result only where it could have started. */
static bool could_start(const struct cmd_study *s)
{
	const struct js *list = js_get(s->options, "stress");
	for (size_t i = 0; i < js_len(list); i++) {
		const char *arg = js_str(js_at(list, i));
		if (arg && (!strcmp(arg, "cuda") || !strcmp(arg, "--backend=cuda"))) {
			return true;
		}
	}
	for (size_t i = 0; i < s->boots.n; i++) {
		if (s->boots.boot[i].outcome == RUNS_MEASURED) {
			return true;
		}
	}
	return false;
}

static int say_next(const struct cmd_study_options *o)
{
	_cleanup_store_ struct runs_store *st = NULL;
	char boot_id[RUNS_BOOT_ID_MAX];
	struct cmd_study now = {0};
	struct why why;
	struct text t = {0};
	int r = cmd_store_open(o->store, RUNS_STORE_READ, &st, boot_id, &why);
	if (!r) {
		r = cmd_study_load(st, o->arg[0], &now, &why);
	}
	if (r) {
		return cmd_fail(EXIT_USAGE, "%s", why.text);
	}
	cmd_study_power(&t, &now);
	cmd_study_next(&t, &now);
	cmd_study_finish(&now);
	_cleanup_free_ char *out = text_steal(&t);
	return cmd_print(out);
}

static int run_boot(const struct cmd_study_options *o, struct cmd_study *s)
{
	struct why why = {""};
	struct runs_study_boot b = {.at = unix_ns(), .outcome = RUNS_UNFINISHED};
	char by_hand;
	if (!take_side(o, &by_hand)) {
		return EXIT_USAGE;
	}
	for (size_t i = 0; i < s->boots.n; i++) {
		if (!strcmp(s->boots.boot[i].boot_id, s->boot_id)) {
			b = s->boots.boot[i];
		}
	}
	int status = b.side ? check_filed(&b, o, by_hand) : 0;
	if (status) {
		return status;
	}
	if (b.outcome != RUNS_UNFINISHED) {
		fprintf(stderr, "this boot is filed already, as %c\n", b.side);
		return say_next(o);
	}
	b.side = side_of(s, by_hand, b.value, sizeof(b.value), &status);
	if (!b.side) {
		return status;
	}
	text_copy(b.boot_id, sizeof(b.boot_id), s->boot_id);
	if (o->failed) {
		b.outcome = RUNS_DID_NOT_START;
		text_copy(b.why, sizeof(b.why), o->failed);
	} else {
		if (*b.value) {
			fprintf(stderr, "this boot is %c: %.*s is %s\n", b.side,
				(int)strcspn(s->study.fact, "="), s->study.fact, b.value);
		} else {
			fprintf(stderr, "this boot is %c\n", b.side);
		}
		if (file_boot(s, o->store, &b, &why)) {
			return cmd_fail(EXIT_USAGE, "%s", why.text);
		}
		status = warm_up(s, &why);
		if (!status && *why.text) {
			b.outcome = RUNS_DID_NOT_START;
			text_copy(b.why, sizeof(b.why), why.text);
		} else if (!status) {
			status = measure_all(s, o->store, &b, &why);
		}
		if (status) {
			return status;
		}
	}
	if (b.outcome == RUNS_DID_NOT_START && !o->failed && !could_start(s)) {
		return cmd_fail(EXIT_USAGE,
			"nothing could be measured, and the boot is not filed: %s", b.why);
	}
	if (file_boot(s, o->store, &b, &why)) {
		return cmd_fail(EXIT_USAGE, "%s", why.text);
	}
	fprintf(stderr, "this boot is filed as %c: %s%s%s\n", b.side, runs_outcome_name(b.outcome),
		*b.why ? ": " : "", b.why);
	return say_next(o);
}

int cmd_study_run(const struct cmd_study_options *o)
{
	struct why why;
	struct cmd_study s = {0};
	{
		_cleanup_store_ struct runs_store *st = NULL;
		char boot_id[RUNS_BOOT_ID_MAX];
		int r = cmd_store_open(o->store, RUNS_STORE_WRITE, &st, boot_id, &why);
		if (!r) {
			r = cmd_study_load(st, o->arg[0], &s, &why);
		}
		if (r) {
			return cmd_fail(EXIT_USAGE, "%s", why.text);
		}
		text_copy(s.boot_id, sizeof(s.boot_id), boot_id);
	}
	if (o->failed && o->side && !*s.boot_id) {
		text_copy(s.boot_id, sizeof(s.boot_id), "by-hand");
	}
	int status = *s.boot_id
			     ? run_boot(o, &s)
			     : cmd_fail(EXIT_USAGE, "this boot has no id: "
						    "/proc/sys/kernel/random/boot_id is missing");
	cmd_study_finish(&s);
	return status;
}
