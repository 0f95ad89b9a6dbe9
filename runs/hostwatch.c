/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "runs/hostwatch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/macros.h"
#include "base/text.h"
#include "stress/worker.h"

enum { THREADS = 64, CPUS = 256, STAT_BYTES = 1 << 16 };
static const uint64_t period_ns = 50000000;
/*
 * The kernel tells the idle time of CPUs in steps of 10 ms: three of them may be wrong in a window
 * (idle, waiting for a disk, uptime), and a share of 20 % is four.
 */
static const uint64_t foreign_ns = 200000000;
static const double foreign_share = 0.2;

/* One thread's /proc schedstat (ns), faults, and the one CPU that it may run on. */
struct thread {
	long tid;
	uint64_t ran, waited, faults;
	int cpu;     /* -1: not pinned */
	bool helper; /* launches nothing */
};

/* One CPU's line of /proc/stat (ticks). */
struct cpu {
	int id;
	uint64_t busy;         /* with tasks, as the ticks found it */
	uint64_t idle, iowait; /* measured, where the kernel stops the tick (NO_HZ); else counted */
	uint64_t interrupts, steal;
};

struct reading {
	uint64_t ns;
	struct thread thread[THREADS];
	size_t nthread;
	bool stopped;
	struct cpu cpu[CPUS];
	size_t ncpu;
	uint64_t up_before,
		up_after; /* hundredths of a second since boot around cpu's reading; 0 */
	uint64_t khz;     /* 0: not known */
};

struct runs_hostwatch {
	char *root;
	pid_t pid;
	bool has_last;
	struct reading last, now;
	struct reading base;            /* where the open window for foreign load began */
	double usual_faults, usual_khz; /* slow means */
	uint64_t tick_ns;
	char buf[STAT_BYTES];
};

struct runs_hostwatch *runs_hostwatch_create(const char *root)
{
	struct runs_hostwatch *w = xcalloc(1, sizeof(*w));
	long hz = sysconf(_SC_CLK_TCK);
	w->root = xstrdup(root ? root : "");
	w->tick_ns = 1000000000u / (uint64_t)(hz > 0 ? hz : 100);
	return w;
}

void runs_hostwatch_destroy(struct runs_hostwatch *w)
{
	if (w) {
		free(w->root);
		free(w);
	}
}

static int read_text(struct runs_hostwatch *w, const char *path)
{
	char name[1024];
	snprintf(name, sizeof(name), "%s/%s", w->root, path);
	return file_read_at(AT_FDCWD, name, w->buf, sizeof(w->buf));
}

static const struct thread *find(const struct reading *r, long tid)
{
	for (size_t i = 0; i < r->nthread; i++) {
		if (r->thread[i].tid == tid) {
			return &r->thread[i];
		}
	}
	return NULL;
}

/* "Cpus_allowed_list:\t3": 3; −1 for a list or a range. */
static int pinned_cpu(struct runs_hostwatch *w, pid_t pid, long tid)
{
	static const char name[] = "\nCpus_allowed_list:";
	char path[64], *end;
	snprintf(path, sizeof(path), "proc/%ld/task/%ld/status", (long)pid, tid);
	const char *p = read_text(w, path) > 0 ? strstr(w->buf, name) : NULL;
	if (!p) {
		return -1;
	}
	p += strlen(name);
	long cpu = strtol(p, &end, 10);
	return end != p && *end == '\n' && cpu >= 0 && cpu < INT_MAX ? (int)cpu : -1;
}

/* State, and minor + major faults: fields 3, 10 and 12, behind the last ')'. */
static bool parse_stat(const char *text, char *ret_state, uint64_t *ret_faults)
{
	unsigned long long minor, major;
	const char *p = strrchr(text, ')');
	if (!p || sscanf(p + 1, " %c %*d %*d %*d %*d %*d %*u %llu %*u %llu", ret_state, &minor,
			  &major) != 3) {
		return false;
	}
	*ret_faults = minor + major;
	return true;
}

/* The name stands between the first '(' and the last ')'. */
static bool is_helper(const char *stat)
{
	static const char *const name[] = {STRESS_GAPS_THREAD, STRESS_TELEMETRY_THREAD};
	const char *from = strchr(stat, '('), *to = strrchr(stat, ')');
	for (size_t i = 0; from && to && i < ARRAY_LEN(name); i++) {
		size_t n = strlen(name[i]);
		if ((size_t)(to - from) == n + 1 && !memcmp(from + 1, name[i], n)) {
			return true;
		}
	}
	return false;
}

static bool read_thread(struct runs_hostwatch *w, pid_t pid, struct thread *t)
{
	char path[64], state;
	unsigned long long ran, waited;
	const struct thread *old = find(&w->last, t->tid);
	snprintf(path, sizeof(path), "proc/%ld/task/%ld/schedstat", (long)pid, t->tid);
	if (read_text(w, path) <= 0 || sscanf(w->buf, "%llu %llu", &ran, &waited) != 2) {
		return false;
	}
	t->ran = ran;
	t->waited = waited;
	t->faults = 0;
	t->helper = false;
	/* The worker pins its threads when it makes them: asked while it is young. */
	t->cpu = old && old->cpu >= 0 ? old->cpu : pinned_cpu(w, pid, t->tid);
	snprintf(path, sizeof(path), "proc/%ld/task/%ld/stat", (long)pid, t->tid);
	if (read_text(w, path) > 0) {
		parse_stat(w->buf, &state, &t->faults);
		t->helper = is_helper(w->buf);
	}
	return true;
}

static void read_threads(struct runs_hostwatch *w, pid_t pid, struct reading *r)
{
	char path[512];
	snprintf(path, sizeof(path), "%s/proc/%ld/task", w->root, (long)pid);
	_cleanup_dir_ DIR *dir = opendir(path);
	const struct dirent *d;
	while (dir && (d = readdir(dir)) && r->nthread < THREADS) {
		struct thread *t = &r->thread[r->nthread];
		t->tid = strtol(d->d_name, NULL, 10);
		r->nthread += t->tid > 0 && read_thread(w, pid, t);
	}
}

static void read_state(struct runs_hostwatch *w, pid_t pid, struct reading *r)
{
	char path[64], state;
	uint64_t faults;
	snprintf(path, sizeof(path), "proc/%ld/stat", (long)pid);
	if (read_text(w, path) > 0 && parse_stat(w->buf, &state, &faults)) {
		r->stopped = state == 'T' || state == 't';
	}
}

static void read_cpus(struct runs_hostwatch *w, struct reading *r)
{
	if (read_text(w, "proc/stat") <= 0) {
		return;
	}
	for (const char *line = w->buf; line && r->ncpu < CPUS; line = strchr(line, '\n')) {
		line += *line == '\n';
		unsigned long long user, nice, system, idle, iowait, irq, softirq, steal;
		int id;
		/* user nice system idle iowait irq softirq steal */
		if (strncmp(line, "cpu", 3) != 0) {
			break; /* the CPUs come first */
		}
		if (line[3] == ' ' ||
			sscanf(line, "cpu%d %llu %llu %llu %llu %llu %llu %llu %llu", &id, &user,
				&nice, &system, &idle, &iowait, &irq, &softirq, &steal) != 9) {
			continue;
		}
		r->cpu[r->ncpu++] =
			(struct cpu){id, user + nice + system, idle, iowait, irq + softirq, steal};
	}
}

/* "12345.67 …" in hundredths; 0: not known. */
static uint64_t read_uptime(struct runs_hostwatch *w)
{
	unsigned long long s, hundredth;
	if (read_text(w, "proc/uptime") <= 0 || sscanf(w->buf, "%llu.%2llu", &s, &hundredth) != 2) {
		return 0;
	}
	return s * 100 + hundredth;
}

static void read_clock(struct runs_hostwatch *w, struct reading *r)
{
	if (read_text(w, "sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq") > 0) {
		r->khz = strtoull(w->buf, NULL, 10);
	}
}

struct list {
	struct runs_event *event;
	size_t n;
	uint64_t from, to;
};

static void add(struct list *l, const char *source, int64_t code, double value)
{
	if (l->n < RUNS_HOSTWATCH_EVENTS) {
		struct runs_event *e = &l->event[l->n++];
		*e = (struct runs_event){
			.from_ns = l->from, .to_ns = l->to, .code = code, .value = value};
		text_copy(e->source, sizeof(e->source), source);
	}
}

/* Those that launch: the pinned ones, or all where none is; never a helper. */
static bool is_timed(const struct reading *r, const struct thread *t)
{
	bool pinned = false;
	for (size_t i = 0; i < r->nthread; i++) {
		pinned = pinned || (r->thread[i].cpu >= 0 && !r->thread[i].helper);
	}
	return !t->helper && (t->cpu >= 0 || !pinned);
}

static void compare_threads(struct runs_hostwatch *w, struct list *l)
{
	uint64_t waited = 0, ran = 0, faults = 0, span = l->to - l->from;
	for (size_t i = 0; i < w->now.nthread; i++) {
		const struct thread *t = &w->now.thread[i], *old = find(&w->last, t->tid);
		if (old && t->waited >= old->waited && is_timed(&w->now, t)) {
			waited = MAX(waited, t->waited - old->waited);
			ran = MAX(ran, t->ran - old->ran);
			faults = MAX(faults, t->faults - MIN(t->faults, old->faults));
		}
	}
	if (w->now.stopped || w->last.stopped) {
		add(l, "stopped", 0, (double)(span - MIN(span, ran)));
	} else if (waited > 200000) {
		add(l, "preempted", 0, (double)MIN(waited, span));
	}
	if (faults > 100 && (double)faults > 8 * w->usual_faults) {
		add(l, "page-faults", (int64_t)faults, NAN);
	} else { /* what is unusual does not become usual */
		w->usual_faults += 0.1 * ((double)faults - w->usual_faults);
	}
}

/* How long at least lay between the readings of the CPUs in A and in B; ns. */
static double span_of(const struct reading *a, const struct reading *b)
{
	const double span = (double)(b->ns - a->ns);
	if (!a->up_after || !b->up_before) {
		return span;
	}
	/* NS was taken first: whoever loses the core then reads the CPUs later. */
	return fmin(span, 1e7 * ((double)b->up_before - (double)a->up_after));
}

static double grown(uint64_t a, uint64_t b)
{
	return (double)(b - MIN(a, b));
}

/*
 * ns for which others ran on CPU between A and B while none of the worker's threads waited. Told by
 * both of what the kernel knows: the ticks, of which launches at a steady pace meet each or none,
 * and the time that the core was not idle, which holds the way out of idleness too.
 */
static double foreign_on(
	const struct runs_hostwatch *w, const struct reading *a, const struct reading *b, int cpu)
{
	double ns = 0, waited = 0;
	for (size_t i = 0; i < MIN(a->ncpu, b->ncpu); i++) {
		const struct cpu *old = &a->cpu[i], *new = &b->cpu[i];
		if (old->id == cpu && new->id == cpu) {
			const double rest = grown(old->idle, new->idle) +
					    grown(old->iowait, new->iowait) +
					    grown(old->interrupts, new->interrupts) +
					    grown(old->steal, new->steal);
			ns = fmin(grown(old->busy, new->busy) * (double)w->tick_ns,
				span_of(a, b) - rest * (double)w->tick_ns);
		}
	}
	for (size_t i = 0; i < b->nthread; i++) {
		const struct thread *t = &b->thread[i], *old = find(a, t->tid);
		if (old && t->cpu == cpu && t->ran >= old->ran && t->waited >= old->waited) {
			ns -= (double)(t->ran - old->ran);
			waited = fmax(waited, (double)(t->waited - old->waited));
		}
	}
	return ns - waited;
}

/* Others on the cores of pinned threads, in windows that are longer than a tick is coarse. */
static void compare_foreign(struct runs_hostwatch *w, struct list *l)
{
	const struct reading *a = &w->base, *b = &w->now;
	double worst = 0, span = (double)(b->ns - a->ns);
	if (b->ns - a->ns < foreign_ns) {
		return;
	}
	for (size_t i = 0; i < b->nthread; i++) {
		if (b->thread[i].cpu >= 0 && !b->thread[i].helper) {
			worst = fmax(worst, foreign_on(w, a, b, b->thread[i].cpu));
		}
	}
	/* A stopped worker leaves its cores to others. */
	if (worst >= foreign_share * span && !a->stopped && !b->stopped) {
		l->from = a->ns;
		add(l, "foreign-load", (int64_t)(100 * fmin(worst / span, 1)), NAN);
	}
	w->base = w->now;
}

static void compare_cpus(const struct runs_hostwatch *w, struct list *l)
{
	uint64_t irq = 0, steal = 0;
	for (size_t i = 0; i < MIN(w->now.ncpu, w->last.ncpu); i++) {
		const struct cpu *a = &w->last.cpu[i], *b = &w->now.cpu[i];
		irq = MAX(irq, b->interrupts - MIN(a->interrupts, b->interrupts));
		steal = MAX(steal, b->steal - MIN(a->steal, b->steal));
	}
	if (irq) {
		add(l, "interrupts", (int64_t)irq, (double)(irq * w->tick_ns));
	}
	if (steal) {
		add(l, "steal", (int64_t)steal, (double)(steal * w->tick_ns));
	}
}

static void compare_clock(struct runs_hostwatch *w, struct list *l)
{
	if (!w->now.khz) {
		return;
	}
	if (w->usual_khz > 0 && (double)w->now.khz < 0.9 * w->usual_khz) {
		add(l, "cpu-clock", (int64_t)w->now.khz, NAN);
		return;
	}
	w->usual_khz += (w->usual_khz > 0 ? 0.1 : 1) * ((double)w->now.khz - w->usual_khz);
}

size_t runs_hostwatch_poll(struct runs_hostwatch *w, pid_t pid, uint64_t now_ns,
	struct runs_event ret[static RUNS_HOSTWATCH_EVENTS])
{
	if (pid != w->pid) {
		w->pid = pid;
		w->has_last = false;
		w->usual_faults = w->usual_khz = 0;
	}
	if (!pid || (w->has_last && now_ns - w->last.ns < period_ns)) {
		return 0;
	}
	w->now = (struct reading){.ns = now_ns};
	read_threads(w, pid, &w->now);
	read_state(w, pid, &w->now);
	w->now.up_before = read_uptime(w);
	read_cpus(w, &w->now);
	w->now.up_after = read_uptime(w);
	read_clock(w, &w->now);
	struct list l = {ret, 0, w->last.ns, now_ns};
	if (w->has_last) {
		compare_threads(w, &l);
		compare_cpus(w, &l);
		compare_clock(w, &l);
		compare_foreign(w, &l);
	} else {
		w->base = w->now;
	}
	w->last = w->now;
	w->has_last = true;
	return l.n;
}
