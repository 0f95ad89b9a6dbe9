/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * "stress --device all": a worker for each GPU, started together, then each alone. What differs
 * is what they share: power, heat, the link, the host's cores.
 */
#include <errno.h>
#include <math.h>
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
#include "cli/stress.h"
#include "runs/choices.h"
#include "runs/hist.h"
#include "stress/backend.h"

enum { GPUS = 32, LIST_MS = 60000, TICK_MS = 50, BATCH = 4096, STOP_MS = 3000 };

static const uint64_t second = 1000000000u;
static const uint64_t open_ns = 120 * (uint64_t)1000000000u;
static const uint64_t settle_ns = 1000000000u; /* from the resumption until samples count */

enum { TOGETHER, ALONE, WAYS };

static const char *const ways[WAYS] = {"together", "alone"};

struct gpu {
	struct stress_device device;
	struct stress_worker *worker;
	struct stress_status status;
	struct runs_hist host[WAYS], on_device[WAYS];
};

struct all {
	const struct cmd_stress_options *o;
	struct gpu gpu[GPUS];
	int n;
	struct stress_sample batch[BATCH];
};

/* -- which GPUs there are -------------------------------------------------------------------- */

/* A process of its own asks the driver: it may hang, and the front never calls it. */
static int list(struct all *a, struct why *why)
{
	struct stress_device found[GPUS];
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
		const int count = stress_backend_cuda.probe(found, GPUS, &trouble);
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

		if (n > 0 && n <= GPUS && read(fd[0], found, (size_t)size) == size) {
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

static bool is_over(const struct gpu *g)
{
	return !g->worker || g->status.phase == STRESS_DONE || g->status.phase == STRESS_FAILED ||
	       g->status.phase == STRESS_DIED;
}

/* Takes in what all workers say; samples from FROM on count for WAY. */
static void turn(struct all *a, uint64_t from, uint64_t to, int way)
{
	struct pollfd p[GPUS];

	for (int i = 0; i < a->n; i++) {
		p[i] = (struct pollfd){
			.fd = a->gpu[i].worker ? stress_worker_fd(a->gpu[i].worker) : -1,
			.events = POLLIN,
		};
	}
	poll(p, (nfds_t)a->n, TICK_MS);
	for (int i = 0; i < a->n; i++) {
		struct gpu *g = &a->gpu[i];
		struct stress_event event;
		size_t n;

		if (!g->worker) {
			continue;
		}
		stress_worker_poll(g->worker);
		stress_worker_status(g->worker, &g->status);
		while (stress_worker_events(g->worker, &event, 1)) {
		}
		while ((n = stress_worker_read(g->worker, a->batch, BATCH)) > 0) {
			for (size_t k = 0; k < n; k++) {
				const struct stress_sample *s = &a->batch[k];

				if (stress_series_of(s) != STRESS_GEMM ||
					(s->flags & STRESS_WARMUP) || s->submit_ns < from ||
					s->submit_ns >= to) {
					continue;
				}
				if (!(s->flags & STRESS_BATCH)) {
					runs_hist_add(&g->host[way], stress_host_ns(s));
				}
				if ((s->flags & STRESS_HAS_DEVICE) && s->end_ns > s->start_ns) {
					runs_hist_add(&g->on_device[way], s->end_ns - s->start_ns);
				}
			}
		}
	}
}

/* Until every worker that lives has PHASE, at most UNTIL. */
static void await(struct all *a, bool (*is_there)(const struct gpu *g), uint64_t until)
{
	bool all = false;

	while (!all && clock_ns() < until) {
		turn(a, UINT64_MAX, 0, 0);
		all = true;
		for (int i = 0; i < a->n; i++) {
			all &= is_over(&a->gpu[i]) || is_there(&a->gpu[i]);
		}
	}
}

static bool is_paused(const struct gpu *g)
{
	return g->status.phase == STRESS_PAUSED;
}

/* Those that were resumed run, and are warm. */
static bool is_running(const struct gpu *g)
{
	return g->status.phase == STRESS_RUNNING || g->status.phase == STRESS_PAUSED;
}

/* ONLY alone, or with -1 all at once; what they measure counts for WAY. */
static void run(struct all *a, int only, int way)
{
	for (int i = 0; i < a->n; i++) {
		if (a->gpu[i].worker) {
			stress_worker_pause(a->gpu[i].worker, only >= 0 && i != only);
		}
	}
	/* A tick, so that the phases are those after the resumption. */
	turn(a, UINT64_MAX, 0, way);
	turn(a, UINT64_MAX, 0, way);
	await(a, is_running, clock_ns() + 10 * second);
	const uint64_t from = clock_ns() + settle_ns, to = from + a->o->duration_ns;

	while (clock_ns() < to) {
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
}

static void start(struct all *a)
{
	struct stress_config c = a->o->config;
	struct why why;

	runs_choices_lend_usual(&c, &why);
	text_copy(c.backend, sizeof(c.backend), "cuda");
	for (int i = 0; i < a->n; i++) {
		struct gpu *g = &a->gpu[i];

		for (int way = 0; way < WAYS; way++) {
			runs_hist_init(&g->host[way], RUNS_HIST_TENTH_PCT);
			runs_hist_init(&g->on_device[way], RUNS_HIST_TENTH_PCT);
		}
		text_copy(c.device, sizeof(c.device), g->device.address);
		if (stress_worker_start(&c, &g->worker, &why) < 0) {
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

/* -- what came of it ------------------------------------------------------------------------- */

/* Batches have no host latency of their own. */
static const struct runs_hist *shown(const struct gpu *g, int way)
{
	return g->host[way].total ? &g->host[way] : &g->on_device[way];
}

static void print_way(struct text *out, const struct gpu *g, int way)
{
	const struct runs_hist *h = shown(g, way), *d = &g->on_device[way];
	char p50[TEXT_TIME_MAX], p99[TEXT_TIME_MAX], max[TEXT_TIME_MAX], dev[TEXT_TIME_MAX] = "-";

	if (!h->total) {
		text_addf(out, "  %-10s nothing was measured\n", ways[way]);
		return;
	}
	if (d->total) {
		text_ns(runs_hist_quantile(d, 0.5), dev);
	}
	text_addf(out, "  %-10s %10s %7.1f %% %10s %10s   device %-10s %llu samples\n", ways[way],
		text_ns(runs_hist_quantile(h, 0.5), p50), runs_hist_band(h) * 100,
		text_ns(runs_hist_quantile(h, 0.99), p99), text_ns(h->max, max), dev,
		(unsigned long long)h->total);
}

static double share(uint64_t together, uint64_t alone)
{
	return alone ? (double)together / (double)alone - 1 : NAN;
}

static void print(struct text *out, const struct all *a)
{
	char shape[STRESS_SHAPE_MAX];

	text_addf(out, "%d GPUs, %s, %s, %.0f s each way\n", a->n,
		stress_shape_name(&a->o->config, shape), stress_mode_name(a->o->config.mode),
		(double)a->o->duration_ns / 1e9);
	for (int i = 0; i < a->n; i++) {
		const struct gpu *g = &a->gpu[i];
		const struct runs_hist *t = shown(g, TOGETHER), *l = shown(g, ALONE);

		text_addf(out, "\n%s  %s, kernel %s, %u copies\n", g->device.address,
			g->device.name, *g->status.kernel ? g->status.kernel : "-",
			g->status.copies);
		if (*g->status.why) {
			text_addf(out, "  %s\n", g->status.why);
		}
		text_addf(out, "  %-10s %10s %9s %10s %10s\n", "", "p50", "band", "p99", "max");
		print_way(out, g, TOGETHER);
		print_way(out, g, ALONE);
		if (t->total && l->total) {
			text_addf(out,
				"  together against alone: p50 %+.1f %%, p99 %+.1f %%, band %+.1f "
				"points\n",
				share(runs_hist_quantile(t, 0.5), runs_hist_quantile(l, 0.5)) * 100,
				share(runs_hist_quantile(t, 0.99), runs_hist_quantile(l, 0.99)) *
					100,
				(runs_hist_band(t) - runs_hist_band(l)) * 100);
		}
		if (g->status.mismatches) {
			text_addf(out, "  corruption: %llu outputs differ\n",
				(unsigned long long)g->status.mismatches);
		}
	}
}

static char *json_text(const struct all *a)
{
	struct js *j = js_object(), *gpus = js_array();
	char shape[STRESS_SHAPE_MAX];

	js_set_str(j, "schema", "barscope.stress-all/1");
	js_set_str(j, "shape", stress_shape_name(&a->o->config, shape));
	js_set_str(j, "mode", stress_mode_name(a->o->config.mode));
	js_set_real(j, "seconds", (double)a->o->duration_ns / 1e9);
	for (int i = 0; i < a->n; i++) {
		const struct gpu *g = &a->gpu[i];
		struct js *one = js_object();

		js_set_str(one, "address", g->device.address);
		js_set_str(one, "name", g->device.name);
		js_set_str(one, "kernel", g->status.kernel);
		js_set_int(one, "copies", g->status.copies);
		if (*g->status.why) {
			js_set_str(one, "why", g->status.why);
		}
		js_set_u64(one, "mismatches", g->status.mismatches);
		for (int way = 0; way < WAYS; way++) {
			const struct runs_hist *h = shown(g, way), *d = &g->on_device[way];
			struct js *w = js_object();

			js_set_u64(w, "samples", h->total);
			if (h->total) {
				js_set_u64(w, "p50_ns", runs_hist_quantile(h, 0.5));
				js_set_u64(w, "p99_ns", runs_hist_quantile(h, 0.99));
				js_set_u64(w, "max_ns", h->max);
				js_set_real(w, "band", runs_hist_band(h));
			}
			if (d->total) {
				js_set_u64(w, "device_p50_ns", runs_hist_quantile(d, 0.5));
				js_set_real(w, "device_band", runs_hist_band(d));
			}
			js_set(one, ways[way], w);
		}
		js_push(gpus, one);
	}
	js_set(j, "gpus", gpus);
	char *s = js_text(j);

	js_free(j);
	return s;
}

static int status_of(const struct all *a)
{
	int status = EXIT_FINE;

	for (int i = 0; i < a->n; i++) {
		const struct gpu *g = &a->gpu[i];

		if (g->status.mismatches) {
			return EXIT_FINDING;
		}
		if (g->status.phase == STRESS_FAILED || g->status.phase == STRESS_DIED) {
			status = EXIT_USAGE;
		} else if (!shown(g, TOGETHER)->total && status == EXIT_FINE) {
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

int cmd_stress_all(const struct cmd_stress_options *o)
{
	struct all *a = xcalloc(1, sizeof(*a));
	struct why why;

	a->o = o;
	if (list(a, &why) < 0) {
		free(a);
		return cmd_fail(EXIT_NO_GPU, "stress: %s", why.text);
	}
	say("opening");
	start(a);
	say("all together");
	run(a, -1, TOGETHER);
	for (int i = 0; i < a->n; i++) {
		say(a->gpu[i].device.address);
		run(a, i, ALONE);
	}
	say("");
	struct text t = {0};

	if (!o->json) {
		print(&t, a);
	}
	_cleanup_free_ char *out = o->json ? json_text(a) : text_steal(&t);
	const int status = status_of(a);

	struct stress_worker *worker[ARRAY_LEN(a->gpu)];
	for (int i = 0; i < a->n; i++) {
		worker[i] = a->gpu[i].worker;
	}
	stress_worker_destroy_all(worker, (size_t)a->n, STOP_MS);
	for (int i = 0; i < a->n; i++) {
		for (int way = 0; way < WAYS; way++) {
			runs_hist_finish(&a->gpu[i].host[way]);
			runs_hist_finish(&a->gpu[i].on_device[way]);
		}
	}
	free(a);
	const int printed = cmd_print(out);

	return status ? status : printed;
}
