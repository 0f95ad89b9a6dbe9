/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "runs/hostwatch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
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

enum { THREADS = 64, CPUS = 256, STAT_BYTES = 1 << 16 };
static const uint64_t period_ns = 50000000;

/* One thread's /proc schedstat (ns). */
struct thread {
	long tid;
	uint64_t ran, waited;
};

/* One CPU's line of /proc/stat (ticks). */
struct cpu {
	uint64_t interrupts, steal;
};

struct reading {
	uint64_t ns;
	struct thread thread[THREADS];
	size_t nthread;
	bool stopped;
	uint64_t faults;
	struct cpu cpu[CPUS];
	size_t ncpu;
	uint64_t khz; /* 0: not known */
};

struct runs_hostwatch {
	char *root;
	pid_t pid;
	bool has_last;
	struct reading last, now;
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

static void read_threads(struct runs_hostwatch *w, pid_t pid, struct reading *r)
{
	char path[512];
	snprintf(path, sizeof(path), "%s/proc/%ld/task", w->root, (long)pid);
	_cleanup_dir_ DIR *dir = opendir(path);
	const struct dirent *d;
	while (dir && (d = readdir(dir)) && r->nthread < THREADS) {
		struct thread *t = &r->thread[r->nthread];
		unsigned long long ran, waited;
		t->tid = strtol(d->d_name, NULL, 10);
		if (t->tid <= 0) {
			continue;
		}
		snprintf(path, sizeof(path), "proc/%ld/task/%ld/schedstat", (long)pid, t->tid);
		if (read_text(w, path) > 0 && sscanf(w->buf, "%llu %llu", &ran, &waited) == 2) {
			t->ran = ran;
			t->waited = waited;
			r->nthread++;
		}
	}
}

/* State and minor + major faults: fields 3, 10 and 12, behind the last ')'. */
static void read_process(struct runs_hostwatch *w, pid_t pid, struct reading *r)
{
	char path[64], state;
	unsigned long long minor, major;
	snprintf(path, sizeof(path), "proc/%ld/stat", (long)pid);
	if (read_text(w, path) <= 0) {
		return;
	}
	const char *p = strrchr(w->buf, ')');
	if (p && sscanf(p + 1, " %c %*d %*d %*d %*d %*d %*u %llu %*u %llu", &state, &minor,
			 &major) == 3) {
		r->stopped = state == 'T' || state == 't';
		r->faults = minor + major;
	}
}

static void read_cpus(struct runs_hostwatch *w, struct reading *r)
{
	if (read_text(w, "proc/stat") <= 0) {
		return;
	}
	for (const char *line = w->buf; line && r->ncpu < CPUS; line = strchr(line, '\n')) {
		line += *line == '\n';
		unsigned long long irq, softirq, steal;
		/* user nice system idle iowait irq softirq steal */
		if (strncmp(line, "cpu", 3) != 0) {
			break; /* the CPUs come first */
		}
		if (line[3] == ' ' || sscanf(line, "cpu%*u %*u %*u %*u %*u %*u %llu %llu %llu",
					      &irq, &softirq, &steal) != 3) {
			continue;
		}
		r->cpu[r->ncpu++] = (struct cpu){irq + softirq, steal};
	}
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

static const struct thread *find(const struct reading *r, long tid)
{
	for (size_t i = 0; i < r->nthread; i++) {
		if (r->thread[i].tid == tid) {
			return &r->thread[i];
		}
	}
	return NULL;
}

static void compare_threads(const struct runs_hostwatch *w, struct list *l)
{
	uint64_t waited = 0, ran = 0, span = l->to - l->from;
	for (size_t i = 0; i < w->now.nthread; i++) {
		const struct thread *t = &w->now.thread[i], *old = find(&w->last, t->tid);
		if (old && t->waited >= old->waited) {
			waited = MAX(waited, t->waited - old->waited);
			ran = MAX(ran, t->ran - old->ran);
		}
	}
	if (w->now.stopped || w->last.stopped) {
		add(l, "stopped", 0, (double)(span - MIN(span, ran)));
	} else if (waited > 200000) {
		add(l, "preempted", 0, (double)MIN(waited, span));
	}
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

static void compare_faults(struct runs_hostwatch *w, struct list *l)
{
	uint64_t more = w->now.faults - MIN(w->last.faults, w->now.faults);
	if (more > 100 && (double)more > 8 * w->usual_faults) {
		add(l, "page-faults", (int64_t)more, NAN);
		return; /* what is unusual does not become usual */
	}
	w->usual_faults += 0.1 * ((double)more - w->usual_faults);
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
	read_process(w, pid, &w->now);
	read_cpus(w, &w->now);
	read_clock(w, &w->now);
	struct list l = {ret, 0, w->last.ns, now_ns};
	if (w->has_last) {
		compare_threads(w, &l);
		compare_faults(w, &l);
		compare_cpus(w, &l);
		compare_clock(w, &l);
	}
	w->last = w->now;
	w->has_last = true;
	return l.n;
}
