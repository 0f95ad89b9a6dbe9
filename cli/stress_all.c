/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * "stress --device all": a worker for each GPU, started together, then each alone. What differs
 * is what they share: power, heat, the link, the host's cores.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/macros.h"
#include "cli/cmd.h"
#include "cli/signals.h"
#include "cli/stress_all.h"
#include "runs/choices.h"

enum { LIST_MS = 60000, TICK_MS = 50, STOP_MS = 3000, LABEL_MAX = 80 };

static const uint64_t second = 1000000000u;
static const uint64_t open_ns = 120 * (uint64_t)1000000000u;
static const uint64_t settle_ns = 1000000000u; /* from the resumption until samples count */

/* -- which GPUs there are -------------------------------------------------------------------- */

/* A process of its own asks the driver: it may hang, and the front never calls it. */
static int list(struct cmd_all *a, struct why *why)
{
	struct stress_device found[CMD_GPUS];
	int fd[2], n = 0;

	if (pipe(fd) < 0) {
		why_set(why, "no pipe: %s", strerror(errno));
		return -EIO;
	}
	const pid_t pid = fork();

	if (pid < 0) {
		why_set(why, "no process: %s", strerror(errno));
		close(fd[0]);
		close(fd[1]);
		return -EIO;
	}
	if (pid == 0) {
		struct why trouble = {"no GPU was found"};
		const int count = stress_backend_cuda.probe(found, CMD_GPUS, &trouble);
		const size_t size = count > 0 ? (size_t)count * sizeof(found[0]) : sizeof(trouble);
		const bool sent = write(fd[1], &count, sizeof(count)) == sizeof(count) &&
				  write(fd[1], count > 0 ? (const void *)found : &trouble, size) ==
					  (ssize_t)size;

		_exit(sent ? 0 : 1);
	}
	close(fd[1]);
	struct pollfd p = {.fd = fd[0], .events = POLLIN};
	int r = -ENODEV;

	why_set(why, "the driver does not answer");
	if (poll(&p, 1, LIST_MS) == 1 && read(fd[0], &n, sizeof(n)) == sizeof(n)) {
		const ssize_t size = n > 0 ? (ssize_t)((size_t)n * sizeof(found[0])) : 0;

		if (n > 0 && n <= CMD_GPUS && read(fd[0], found, (size_t)size) == size) {
			r = 0;
		} else if (n <= 0 && read(fd[0], why, sizeof(*why)) == sizeof(*why)) {
			why->text[sizeof(why->text) - 1] = '\0';
		}
	}
	close(fd[0]);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	for (int i = 0; r == 0 && i < n; i++) {
		a->gpu[i].device = found[i];
	}
	a->n = r == 0 ? n : 0;
	return r;
}

/* -- the workers ------------------------------------------------------------------------------ */

static bool is_over(const struct cmd_all_gpu *g)
{
	return !g->worker || g->status.phase == STRESS_DONE || g->status.phase == STRESS_FAILED ||
	       g->status.phase == STRESS_DIED;
}

/* A sample of the window that counts for WAY. */
static void take_sample(struct cmd_all_gpu *g, const struct stress_sample *s, int way)
{
	if (stress_series_of(s) != STRESS_GEMM) {
		return;
	}
	if (!(s->flags & STRESS_BATCH)) {
		runs_hist_add(&g->host[way], stress_host_ns(s));
	}
	if ((s->flags & STRESS_HAS_DEVICE) && s->end_ns > s->start_ns) {
		runs_hist_add(&g->on_device[way], s->end_ns - s->start_ns);
	}
}

static void take_samples(
	struct cmd_all *a, struct cmd_all_gpu *g, uint64_t from, uint64_t to, int way)
{
	size_t n;

	while ((n = stress_worker_read(g->worker, a->batch, ARRAY_LEN(a->batch))) > 0) {
		size_t keep = 0;

		for (size_t k = 0; k < n; k++) {
			const struct stress_sample *s = &a->batch[k];

			if (!(s->flags & STRESS_WARMUP) && s->submit_ns >= from &&
				s->submit_ns < to) {
				take_sample(g, s, way);
				a->batch[keep++] = *s;
			}
		}
		if (g->record.session) {
			runs_session_samples(g->record.session, a->batch, keep);
		}
	}
}

static void take_events(struct cmd_all_gpu *g)
{
	struct stress_event event[64];
	size_t n;

	while ((n = stress_worker_events(g->worker, event, ARRAY_LEN(event))) > 0) {
		if (g->record.session) {
			runs_session_readings(g->record.session, event, n);
		}
	}
}

/* Takes in what all workers say; samples from FROM on count for WAY. */
static void turn(struct cmd_all *a, uint64_t from, uint64_t to, int way)
{
	struct pollfd p[CMD_GPUS + 1];

	for (int i = 0; i < a->n; i++) {
		p[i] = (struct pollfd){
			.fd = a->gpu[i].worker ? stress_worker_fd(a->gpu[i].worker) : -1,
			.events = POLLIN,
		};
	}
	p[a->n] = (struct pollfd){.fd = a->signals.fd, .events = POLLIN};
	poll(p, (nfds_t)a->n + 1, TICK_MS);
	const int signal = cmd_signals_take(&a->signals);

	a->signal = signal ? signal : a->signal;
	for (int i = 0; i < a->n; i++) {
		struct cmd_all_gpu *g = &a->gpu[i];

		if (!g->worker) {
			continue;
		}
		stress_worker_poll(g->worker);
		stress_worker_status(g->worker, &g->status);
		take_events(g);
		take_samples(a, g, from, to, way);
		if (!cmd_record_tick(&g->record, &g->status)) {
			why_set(&a->why, "the store takes nothing more");
		}
	}
}

/* A signal came, or the store failed: what is there is shown. */
static bool is_ended(const struct cmd_all *a)
{
	return a->signal || *a->why.text;
}

/* Until every worker that lives has PHASE, at most UNTIL. */
static void await(struct cmd_all *a, bool (*is_there)(const struct cmd_all_gpu *g), uint64_t until)
{
	bool all = false;

	while (!all && clock_ns() < until && !is_ended(a)) {
		turn(a, UINT64_MAX, 0, 0);
		all = true;
		for (int i = 0; i < a->n; i++) {
			all &= is_over(&a->gpu[i]) || is_there(&a->gpu[i]);
		}
	}
}

static bool is_paused(const struct cmd_all_gpu *g)
{
	return g->status.phase == STRESS_PAUSED;
}

/* Those that were resumed run, and are warm. */
static bool is_running(const struct cmd_all_gpu *g)
{
	return !g->resumed || g->status.phase == STRESS_RUNNING;
}

/* -- what is kept -------------------------------------------------------------------------------
 */

/* "LABEL" of all together, "LABEL-alone" of each alone. */
static const char *label_of(const struct cmd_all *a, int way, char buf[static LABEL_MAX])
{
	snprintf(buf, LABEL_MAX, "%s%s", a->o->record, way == CMD_ALONE ? "-alone" : "");
	return buf;
}

/* Opens a run of WAY for GPU ONLY, or with -1 for each; false after a sentence in A's why. */
static bool begin_records(struct cmd_all *a, int only, int way)
{
	char label[LABEL_MAX];
	int r = 0;

	if (!a->o->record) {
		return true;
	}
	label_of(a, way, label);
	a->hurry.signal = a->signal;
	/* The machine is read for each: all at once. */
	for (int i = 0; !r && i < a->n; i++) {
		struct cmd_all_gpu *g = &a->gpu[i];

		if (only < 0 || i == only) {
			g->record.hurry = &a->hurry;
			g->way = way;
			g->ran = false;
			r = cmd_record_begin(&g->record, a->o, &g->config, label, &a->why);
		}
	}
	for (int i = 0; !r && i < a->n; i++) {
		struct cmd_all_gpu *g = &a->gpu[i];

		if (only < 0 || i == only) {
			r = cmd_record_await(&g->record, &a->why);
			g->run[way] = r ? 0 : g->record.run;
		}
	}
	a->signal = a->hurry.signal;
	return r == 0;
}

/* Closes every run that is open, for the way it was opened for. */
static void end_records(struct cmd_all *a)
{
	a->hurry.signal = a->signal;
	for (int i = 0; i < a->n; i++) {
		struct cmd_all_gpu *g = &a->gpu[i];
		const bool failed =
			g->status.phase == STRESS_FAILED || g->status.phase == STRESS_DIED;
		struct stress_status last = g->status;

		if (!g->record.session) {
			continue;
		}
		if (!g->ran && !*last.why) {
			text_copy(last.why, sizeof(last.why),
				*a->why.text ? a->why.text : "it did not come to run");
		}
		cmd_record_end(&g->record, &last,
			failed                         ? RUNS_FAILED
			: a->signal || g->status.ended ? RUNS_STOPPED
			: g->ran                       ? RUNS_DONE
						       : RUNS_FAILED,
			&a->why);
		g->golden[g->way] = g->record.golden;
		a->signal = a->hurry.signal;
	}
}

/* -- the two ways --------------------------------------------------------------------------------
 */

/* ONLY alone, or with -1 all at once; what they measure counts for WAY. */
static void run(struct cmd_all *a, int only, int way)
{
	for (int i = 0; i < a->n; i++) {
		a->gpu[i].resumed = a->gpu[i].worker && (only < 0 || i == only);
		a->gpu[i].ran |= a->gpu[i].resumed;
		if (a->gpu[i].worker) {
			stress_worker_pause(a->gpu[i].worker, !a->gpu[i].resumed);
		}
	}
	await(a, is_running, clock_ns() + 10 * second);
	const uint64_t from = clock_ns() + settle_ns, to = from + a->o->duration_ns;

	while (clock_ns() < to && !is_ended(a)) {
		turn(a, from, to, way);
	}
	for (int i = 0; i < a->n; i++) {
		if (a->gpu[i].worker) {
			stress_worker_pause(a->gpu[i].worker, true);
		}
	}
	/* The last samples of the window come before the pause is said. */
	const uint64_t until = clock_ns() + 2 * second;
	bool paused = false;

	while (!paused && clock_ns() < until) {
		turn(a, from, to, way);
		paused = true;
		for (int i = 0; i < a->n; i++) {
			paused &= is_over(&a->gpu[i]) || is_paused(&a->gpu[i]);
		}
	}
	end_records(a);
}

static void start(struct cmd_all *a)
{
	struct stress_config c = a->o->config;
	struct why why;

	runs_choices_lend_usual(&c, &why);
	text_copy(c.backend, sizeof(c.backend), "cuda");
	for (int i = 0; i < a->n; i++) {
		struct cmd_all_gpu *g = &a->gpu[i];

		text_copy(c.device, sizeof(c.device), g->device.address);
		g->config = c;
	}
	if (!begin_records(a, -1, CMD_TOGETHER)) {
		return;
	}
	for (int i = 0; i < a->n; i++) {
		struct cmd_all_gpu *g = &a->gpu[i];

		if (stress_worker_start(&g->config, &g->worker, &why) < 0) {
			g->worker = NULL;
			g->status.phase = STRESS_FAILED;
			text_copy(g->status.why, sizeof(g->status.why), why.text);
			continue;
		}
		/* It opens its GPU and then waits for the others. */
		stress_worker_pause(g->worker, true);
	}
	await(a, is_paused, clock_ns() + open_ns);
}

static int status_of(const struct cmd_all *a)
{
	int status = *a->why.text ? EXIT_USAGE : EXIT_FINE;

	if (a->signal) {
		return 128 + a->signal;
	}
	for (int i = 0; i < a->n; i++) {
		const struct cmd_all_gpu *g = &a->gpu[i];
		bool wrong =
			g->status.mismatches > 0 || g->status.weight_faults > 0 || g->status.ended;

		for (int way = 0; way < CMD_WAYS; way++) {
			wrong |= g->golden[way].verdict == RUNS_GOLDEN_DIFFERS;
		}
		if (wrong) {
			return EXIT_FINDING;
		}
		if (g->status.phase == STRESS_FAILED || g->status.phase == STRESS_DIED) {
			status = EXIT_USAGE;
		} else if (!cmd_all_shown(g, CMD_TOGETHER)->total && status == EXIT_FINE) {
			status = EXIT_UNDETERMINED;
		}
	}
	return status;
}

static void say(const char *what)
{
	if (isatty(STDERR_FILENO)) {
		fprintf(stderr, "\r%s\033[K", what);
	}
}

static void finish(struct cmd_all *a)
{
	struct stress_worker *worker[CMD_GPUS];

	for (int i = 0; i < a->n; i++) {
		worker[i] = a->gpu[i].worker;
	}
	stress_worker_destroy_all(worker, (size_t)a->n, STOP_MS);
	for (int i = 0; i < CMD_GPUS; i++) {
		cmd_record_finish(&a->gpu[i].record);
		for (int way = 0; way < CMD_WAYS; way++) {
			runs_hist_finish(&a->gpu[i].host[way]);
			runs_hist_finish(&a->gpu[i].on_device[way]);
		}
	}
	cmd_signals_close(&a->signals);
	free(a);
}

/* All together, then each alone. */
static void measure(struct cmd_all *a)
{
	say("opening");
	start(a);
	if (!is_ended(a)) {
		say("all together");
		run(a, -1, CMD_TOGETHER);
	}
	for (int i = 0; i < a->n && !is_ended(a); i++) {
		say(a->gpu[i].device.address);
		if (!is_over(&a->gpu[i]) && begin_records(a, i, CMD_ALONE)) {
			run(a, i, CMD_ALONE);
		}
	}
	end_records(a); /* of what did not come to run */
	say("");
}

int cmd_stress_all(const struct cmd_stress_options *o)
{
	struct cmd_all *a = xcalloc(1, sizeof(*a));
	const struct cmd_style style = cmd_style_detect(o->ascii);
	struct text t = {0};

	a->o = o;
	a->signals.fd = -1;
	a->hurry.signals = &a->signals;
	for (int i = 0; i < CMD_GPUS; i++) {
		for (int way = 0; way < CMD_WAYS; way++) {
			runs_hist_init(&a->gpu[i].host[way], RUNS_HIST_TENTH_PCT);
			runs_hist_init(&a->gpu[i].on_device[way], RUNS_HIST_TENTH_PCT);
		}
	}
	int r = list(a, &a->why);

	if (r == 0) {
		a->why.text[0] = '\0';
		r = cmd_signals_open(&a->signals, &a->why) < 0 ? EXIT_USAGE : 0;
	} else {
		r = EXIT_NO_GPU;
	}
	if (r) {
		cmd_fail(r, "stress: %s", a->why.text);
		finish(a);
		return r;
	}
	measure(a);
	if (!o->json) {
		cmd_all_print(&t, a);
	}
	_cleanup_free_ char *out =
		o->json ? cmd_all_json(a) : cmd_style_plain(style, text_steal(&t));
	const int status = status_of(a);

	if (*a->why.text) {
		cmd_fail(status, "%s", a->why.text);
	}
	finish(a);
	const int printed = cmd_print(out);

	return status ? status : printed;
}
