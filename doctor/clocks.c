/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Why the same work takes another time: governors, idle states, neighbours, heat; and the floor
 * that follows. */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "doctor/line.h"
#include "runs/hist.h"
#include "stress/host.h"

enum {
	SPIN_MS = 300,
	LOAD_MS = 250,
	/* A core that somebody else keeps busier than this cannot be timed; or wobbles. */
	TAKEN_PERCENT = 50,
	BUSY_PERCENT = 10,
	MAX_CPUS = 1024,
	/* Gaps of the empty loop above this are interruptions, not the loop. */
	GAP_NS = 1000,
	/* An idle state whose exit takes this long shows in a latency of tens of µs. */
	DEEP_EXIT_US = 50,
};

static unsigned cpu_count(void)
{
	long n = sysconf(_SC_NPROCESSORS_CONF);
	return n < 1 ? 1 : n > MAX_CPUS ? MAX_CPUS : (unsigned)n;
}

static void judge_governor(const struct doctor_options *o, struct doctor_report *r)
{
	unsigned slow = 0, seen = 0;
	char which[32] = "";
	for (unsigned cpu = 0; cpu < cpu_count(); cpu++) {
		char path[96], value[32];
		snprintf(path, sizeof(path),
			"sys/devices/system/cpu/cpu%u/cpufreq/scaling_governor", cpu);
		if (doctor_read(o, path, value, sizeof(value)) <= 0) {
			continue;
		}
		seen++;
		const char *governor = text_trim(value);
		if (strcmp(governor, "performance") != 0) {
			slow++;
			text_copy(which, sizeof(which), governor);
		}
	}
	if (seen == 0) {
		struct doctor_line *l = doctor_add(r, DOCTOR_CLOCKS, DOCTOR_NOTE, "clocks.governor",
			"CPU clocks are not the kernel's to set here");
		doctor_evidence(
			l, "no cpufreq/scaling_governor: a virtual machine, or the firmware's");
		return;
	}
	/* powersave of intel_pstate is dynamic, but wobbles just so. */
	struct doctor_line *l = doctor_add(r, DOCTOR_CLOCKS, slow ? DOCTOR_FAULT : DOCTOR_OK,
		"clocks.governor",
		slow ? "CPU clocks float: the governor is '%s'" : "CPU governor is performance%s",
		slow ? which : "");
	doctor_evidence(l, "scaling_governor: %u of %u cores not 'performance'", slow, seen);
	if (slow) {
		doctor_fix(l, "sudo cpupower frequency-set -g performance   # until the next boot");
	}
}

static void judge_idle_states(const struct doctor_options *o, struct doctor_report *r)
{
	char deepest[32] = "";
	unsigned long long worst = 0;
	bool any = false;
	for (unsigned state = 0; state < 16; state++) {
		char path[96], name[32], value[32];
		snprintf(path, sizeof(path), "sys/devices/system/cpu/cpu0/cpuidle/state%u/name",
			state);
		if (doctor_read(o, path, name, sizeof(name)) <= 0) {
			break;
		}
		any = true;
		snprintf(path, sizeof(path), "sys/devices/system/cpu/cpu0/cpuidle/state%u/disable",
			state);
		bool off = doctor_read(o, path, value, sizeof(value)) > 0 && value[0] == '1';
		snprintf(path, sizeof(path), "sys/devices/system/cpu/cpu0/cpuidle/state%u/latency",
			state);
		uint64_t us = 0;
		if (doctor_read(o, path, value, sizeof(value)) <= 0 ||
			text_parse_u64(text_trim(value), 10, &us) < 0 || off) {
			continue;
		}
		if (us > worst) {
			worst = us;
			text_copy(deepest, sizeof(deepest), text_trim(name));
		}
	}
	if (!any) {
		return;
	}
	bool deep = worst >= DEEP_EXIT_US;
	struct doctor_line *l =
		doctor_add(r, DOCTOR_CLOCKS, deep ? DOCTOR_NOTE : DOCTOR_OK, "clocks.idle",
			deep ? "An idle core takes %llu µs to wake: it shows in launch and notify"
			     : "Idle cores wake within %llu µs",
			worst);
	doctor_evidence(l, "deepest enabled idle state of cpu0: %s", deepest[0] ? deepest : "none");
	if (deep) {
		doctor_fix(l, "sudo cpupower idle-set -D %u   # until the next boot",
			DEEP_EXIT_US - 1);
	}
}

/* Busy and total ticks of each core, from /proc/stat. Returns the number of cores seen. */
static unsigned read_ticks(const struct doctor_options *o, uint64_t *busy, uint64_t *total)
{
	enum { SIZE = 1 << 17 };
	_cleanup_free_ char *buf = xmalloc(SIZE);
	if (doctor_read(o, "proc/stat", buf, SIZE) <= 0) {
		return 0;
	}
	unsigned n = 0;
	for (char *line = buf; line && n < MAX_CPUS; line = strchr(line, '\n')) {
		line += *line == '\n';
		unsigned cpu;
		unsigned long long t[8];
		if (sscanf(line, "cpu%u %llu %llu %llu %llu %llu %llu %llu %llu", &cpu, &t[0],
			    &t[1], &t[2], &t[3], &t[4], &t[5], &t[6], &t[7]) != 9 ||
			cpu >= MAX_CPUS) {
			continue;
		}
		uint64_t sum = 0;
		for (size_t i = 0; i < ARRAY_LEN(t); i++) {
			sum += t[i];
		}
		busy[cpu] = sum - t[3] - t[4]; /* idle and iowait */
		total[cpu] = sum;
		n = MAX(n, cpu + 1);
	}
	return n;
}

/* Who uses a core: the CPU time of a process, and where it ran last. */
struct user {
	pid_t pid;
	unsigned cpu;
	uint64_t ticks;
	char name[24];
};

struct users {
	struct user *user;
	size_t n, cap;
};

static bool read_user(const struct doctor_options *o, const char *pid, struct user *ret)
{
	char path[48], buf[512];
	snprintf(path, sizeof(path), "proc/%.20s/stat", pid);
	if (doctor_read(o, path, buf, sizeof(buf)) <= 0) {
		return false;
	}
	char *open = strchr(buf, '('), *close = strrchr(buf, ')');
	unsigned long long user, system;
	/* Fields 14, 15 and 39 of proc(5). */
	if (!open || !close || close < open ||
		sscanf(close,
			") %*c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu %llu %*s %*s %*s %*s %*s "
			"%*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %u",
			&user, &system, &ret->cpu) != 3) {
		return false;
	}
	*close = '\0';
	ret->ticks = user + system;
	text_copy(ret->name, sizeof(ret->name), open + 1);
	return true;
}

/* All processes but this one. */
static void read_users(const struct doctor_options *o, struct users *ret)
{
	struct text t = {0};
	text_addf(&t, "%s/proc", o->root ? o->root : "");
	_cleanup_free_ char *path = text_steal(&t);
	_cleanup_dir_ DIR *d = opendir(path);
	struct dirent *e;
	while (d && (e = readdir(d))) {
		uint64_t pid;
		struct user u = {0};
		if (text_parse_u64(e->d_name, 10, &pid) < 0 || pid > INT32_MAX ||
			(pid_t)pid == getpid() || !read_user(o, e->d_name, &u)) {
			continue;
		}
		u.pid = (pid_t)pid;
		ret->user = xgrow(ret->user, ret->n, &ret->cap, sizeof(*ret->user));
		ret->user[ret->n++] = u;
	}
}

/* The process that used most on CPU between two looks; NULL: none that can be named. */
static const struct user *busiest(
	const struct users *before, const struct users *after, unsigned cpu)
{
	const struct user *found = NULL;
	uint64_t most = 0;
	for (size_t i = 0; i < after->n; i++) {
		const struct user *u = &after->user[i];
		uint64_t was = 0;
		for (size_t j = 0; u->cpu == cpu && j < before->n; j++) {
			was = before->user[j].pid == u->pid ? before->user[j].ticks : was;
		}
		if (u->cpu == cpu && u->ticks > was && u->ticks - was > most) {
			most = u->ticks - was;
			found = u;
		}
	}
	return found;
}

static void finish_users(struct users *u)
{
	free(u->user);
}

/* Processes that this one started, such as the stress of the screen. */
static unsigned count_children(const struct users *u)
{
	unsigned n = 0;
	for (size_t i = 0; i < u->n; i++) {
		n += doctor_is_child(u->user[i].pid);
	}
	return n;
}

/* Only the cores that this process may use: others are nobody's to time. */
static void judge_neighbours(const struct doctor_options *o, struct doctor_report *r)
{
	enum { BEFORE, AFTER, TIMES };
	_cleanup_free_ uint64_t *busy = xcalloc(TIMES * MAX_CPUS, sizeof(*busy));
	_cleanup_free_ uint64_t *total = xcalloc(TIMES * MAX_CPUS, sizeof(*total));
	_cleanup_(finish_users) struct users before = {0};
	_cleanup_(finish_users) struct users after = {0};
	read_users(o, &before);
	unsigned n = read_ticks(o, busy, total);
	if (n == 0) {
		struct doctor_line *l = doctor_add(r, DOCTOR_CLOCKS, DOCTOR_UNSEEN,
			"clocks.neighbours", "Whether the cores are free could not be seen");
		doctor_evidence(l, "/proc/stat cannot be read");
		return;
	}
	const unsigned ms = o->watch_ms ? o->watch_ms : LOAD_MS;
	struct timespec ts = {ms / 1000, ms % 1000 * 1000000L};
	nanosleep(&ts, NULL);
	n = MIN(n, read_ticks(o, busy + MAX_CPUS, total + MAX_CPUS));
	read_users(o, &after);

	if (count_children(&after) > 0) {
		struct doctor_line *l = doctor_add(r, DOCTOR_CLOCKS, DOCTOR_NOTE,
			"clocks.neighbours", "A stress of this program runs: cores are not judged");
		doctor_evidence(l, "stop it and look again");
		return;
	}
	struct stress_host host = {0};
	stress_host_read(o->root ? o->root : "", &host);
	unsigned taken = 0, used = 0, worst_cpu = 0, worst = 0;
	for (uint32_t i = 0; i < host.cpus; i++) {
		unsigned cpu = host.cpu[i];
		uint64_t t = cpu < n ? total[MAX_CPUS + cpu] - total[cpu] : 0;
		unsigned percent = t ? (unsigned)(100 * (busy[MAX_CPUS + cpu] - busy[cpu]) / t) : 0;
		taken += percent > TAKEN_PERCENT;
		used += percent > BUSY_PERCENT;
		if (percent >= worst) {
			worst = percent;
			worst_cpu = cpu;
		}
	}
	struct doctor_line *l =
		taken  ? doctor_add(r, DOCTOR_CLOCKS, DOCTOR_FAULT, "clocks.neighbours",
				 "%u of %u cores are in use by somebody else", taken, host.cpus)
		: used ? doctor_add(r, DOCTOR_CLOCKS, DOCTOR_NOTE, "clocks.neighbours",
				 "%u of %u cores are not quite free", used, host.cpus)
		       : doctor_add(r, DOCTOR_CLOCKS, DOCTOR_OK, "clocks.neighbours",
				 "The %u cores that may be timed are free", host.cpus);
	const struct user *who = used ? busiest(&before, &after, worst_cpu) : NULL;
	char name[48] = "";
	if (who) {
		snprintf(name, sizeof(name), ", mostly '%s' (pid %d)", who->name, (int)who->pid);
	}
	doctor_evidence(l, "/proc/stat over %u ms: busiest is cpu%u with %u %%%s", ms, worst_cpu,
		worst, name);
	if (used) {
		doctor_fix(l, "ps -eo pid,psr,pcpu,comm --sort=-pcpu | head");
	}
}

static void judge_temperature(const struct doctor_options *o, struct doctor_report *r)
{
	long hottest = 0;
	char where[48] = "";
	for (unsigned zone = 0; zone < 64; zone++) {
		char path[64], value[32], type[40];
		uint64_t milli;
		snprintf(path, sizeof(path), "sys/class/thermal/thermal_zone%u/temp", zone);
		if (doctor_read(o, path, value, sizeof(value)) <= 0 ||
			text_parse_u64(text_trim(value), 10, &milli) < 0 ||
			(long)milli <= hottest) {
			continue;
		}
		hottest = (long)milli;
		snprintf(path, sizeof(path), "sys/class/thermal/thermal_zone%u/type", zone);
		text_copy(where, sizeof(where),
			doctor_read(o, path, type, sizeof(type)) > 0 ? text_trim(type) : "?");
	}
	if (hottest == 0) {
		return;
	}
	bool hot = hottest >= 90000;
	struct doctor_line *l =
		doctor_add(r, DOCTOR_CLOCKS, hot ? DOCTOR_NOTE : DOCTOR_OK, "clocks.temperature",
			hot ? "It is %ld °C hot before any load" : "%ld °C at the hottest sensor",
			hottest / 1000);
	doctor_evidence(l, "thermal zone '%s': %ld m°C", where, hottest);
}

/* An empty loop that reads the clock: what interrupts it would interrupt any measurement. */
static void measure_floor(struct doctor_report *r)
{
	struct runs_hist gaps;
	runs_hist_init(&gaps, RUNS_HIST_1PCT);
	uint64_t start = clock_ns(), last = start, now, lost = 0;
	do {
		now = clock_ns();
		runs_hist_add(&gaps, now - last);
		lost += now - last > GAP_NS ? now - last : 0;
		last = now;
	} while (now - start < (uint64_t)SPIN_MS * 1000000);

	char p50[TEXT_TIME_MAX], worst[TEXT_TIME_MAX];
	double share = (double)lost / (double)(now - start);
	uint64_t interruptions = runs_hist_above(&gaps, GAP_NS);
	struct doctor_line *l =
		doctor_add(r, DOCTOR_CLOCKS, share > 0.01 ? DOCTOR_NOTE : DOCTOR_OK, "clocks.floor",
			"An empty loop loses %.2f %% of its time to interruptions, the longest %s",
			100 * share, text_ns(gaps.max, worst));
	doctor_evidence(l, "%d ms: clock step %s, %" PRIu64 " gaps above 1 µs (%.0f a second)",
		SPIN_MS, text_ns(runs_hist_quantile(&gaps, 0.5), p50), interruptions,
		(double)interruptions * 1000 / SPIN_MS);
	runs_hist_finish(&gaps);
}

/* How long the way to the GPU and back is when nothing is done there. */
static void judge_launches(struct doctor_report *r, const struct doctor_gpu *g)
{
	if (g->launches == 0) {
		return;
	}
	char p50[TEXT_TIME_MAX], p99[TEXT_TIME_MAX], worst[TEXT_TIME_MAX];
	/* A launch that takes as long again once in a hundred is the host's noise, not a fault. */
	bool noisy = g->launch_p99_ns > 2 * g->launch_p50_ns;
	struct doctor_line *l = doctor_add(r, DOCTOR_CLOCKS, noisy ? DOCTOR_NOTE : DOCTOR_OK,
		"clocks.launch", "An empty launch takes %s, one in a hundred %s",
		text_ns(g->launch_p50_ns, p50), text_ns(g->launch_p99_ns, p99));
	doctor_evidence(l, "%u launches on %s, the longest %s", g->launches, g->address,
		text_ns(g->launch_max_ns, worst));
}

void doctor_clocks(
	const struct doctor_options *o, struct doctor_report *r, const struct doctor_nvidia *n)
{
	judge_governor(o, r);
	judge_idle_states(o, r);
	judge_temperature(o, r);
	judge_neighbours(o, r);
	if (!o->quick) {
		measure_floor(r);
	}
	doctor_cards(n, DOCTOR_CLOCKS, r);
	judge_launches(r, &n->gpu);
}
