/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stress/telemetry.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/macros.h"
#include "base/text.h"
#include "stress/host.h"
#include "stress/nvml.h"

static const uint64_t millisecond = 1000000;
/* A call that took longer than this is expensive: at most once a second, and at most this share of
 * the time. */
static const uint64_t expensive_ns = 500000;
enum { EXPENSIVE_SHARE = 200, OFTEN_MS = 200, SELDOM_MS = 1000, NAP_MS = 50, RETRIES = 3 };
/* Below the slowdown threshold, °C. */
enum { SAFETY = 3 };
static const int64_t never = INT64_MIN;

struct stress_telemetry;

/* What is read again and again. */
struct task {
	void (*run)(struct stress_telemetry *t, const struct task *task);
	unsigned period_ms;
	enum nvml_reading reading;
	unsigned kind; /* of the event */
	int scale;     /* the reading times this is the event's value */
	const char *what;
};

enum { TASKS = 15 };

struct stress_telemetry {
	struct stress_telemetry_options o;
	struct stress_calls calls;
	struct nvml *nvml; /* NULL: not there */
	bool can_wait;     /* for an Xid */
	uint64_t due_ns[TASKS];
	uint64_t ran_ns[TASKS]; /* when it ran last; 0: never */
	uint64_t before_ns;     /* the same of the task that runs now */
	int64_t last[TASKS];    /* of counters; never: not read yet */
	uint64_t policy_ns[NVML_POLICIES];
	unsigned policies_read;
	int64_t link_gen, limit_margin;
	struct stress_host_pci pci;
	bool pci_read;

	pthread_t thread;
	_Atomic bool stop, hush;
	pthread_mutex_t mutex; /* STATE, CHANGED, ENDED */
	pthread_cond_t ended_cond;
	struct stress_telemetry_state state;
	bool ended;
	_Atomic bool changed;
};

/* -- what comes of it ---------------------------------------------------------------------- */

static void publish(struct stress_telemetry *t, const struct stress_telemetry_state *s)
{
	pthread_mutex_lock(&t->mutex);
	t->state = *s;
	pthread_mutex_unlock(&t->mutex);
	atomic_store_explicit(&t->changed, true, memory_order_release);
}

bool stress_telemetry_state(struct stress_telemetry *t, struct stress_telemetry_state *ret)
{
	if (!atomic_exchange_explicit(&t->changed, false, memory_order_acquire)) {
		return false;
	}
	pthread_mutex_lock(&t->mutex);
	*ret = t->state;
	pthread_mutex_unlock(&t->mutex);
	return true;
}

static void halt(struct stress_telemetry *t, enum stress_ended ended, const char *fmt, ...)
	PRINTF(3, 4);

static void halt(struct stress_telemetry *t, enum stress_ended ended, const char *fmt, ...)
{
	struct stress_telemetry_state s = t->state; /* this thread is its only writer */
	va_list args;

	if (s.phase == STRESS_TELEMETRY_HALT) {
		return; /* the first one is the cause */
	}
	s.phase = STRESS_TELEMETRY_HALT;
	s.ended = ended;
	va_start(args, fmt);
	vsnprintf(s.why, sizeof(s.why), fmt, args);
	va_end(args);
	publish(t, &s);
}

static void tell(struct stress_telemetry *t, unsigned kind, uint64_t from_ns, uint64_t took_ns,
	int64_t value, const char *text)
{
	struct stress_event e = {.ns = from_ns, .took_ns = took_ns, .kind = kind, .value = value};

	if (t->before_ns) {
		e.since_us = (uint32_t)MIN((from_ns - t->before_ns) / 1000, (uint64_t)UINT32_MAX);
	}
	text_copy(e.text, sizeof(e.text), text);
	t->o.event(t->o.data, &e);
}

/* Written down before the call begins: whoever is disturbed by it finds it there. */
static uint64_t begin(struct stress_telemetry *t)
{
	stress_calls_begin(&t->calls, clock_ns());
	return clock_ns();
}

/* How long it took. */
static uint64_t end(struct stress_telemetry *t, uint64_t from_ns)
{
	const uint64_t now = clock_ns();

	stress_calls_end(&t->calls, now);
	return now - from_ns;
}

/* "ClockInfo" of "nvmlDeviceGetClockInfo". */
static const char *short_name(const char *call)
{
	static const char prefix[] = "nvmlDeviceGet";

	return strncmp(call, prefix, sizeof(prefix) - 1) ? call : call + sizeof(prefix) - 1;
}

/* -- the tasks ------------------------------------------------------------------------------ */

static void check_heat(struct stress_telemetry *t, enum nvml_reading r, int64_t v)
{
	if (r == NVML_CELSIUS && t->state.limit_celsius && v >= t->state.limit_celsius) {
		halt(t, STRESS_ENDED_HOT, "the GPU reached %lld °C; the run stops at %u °C",
			(long long)v, t->state.limit_celsius);
	}
	if (r == NVML_MARGIN && t->limit_margin != never && v <= t->limit_margin) {
		halt(t, STRESS_ENDED_HOT,
			"the GPU is %lld °C from its temperature limit; the run stops at %lld °C",
			(long long)v, (long long)t->limit_margin);
	}
}

static size_t index_of(const struct task *task);

/* One call; what it says, or the errno. */
static int ask(struct stress_telemetry *t, const struct task *task, uint64_t *ret_from,
	uint64_t *ret_took, int64_t *ret)
{
	if (!t->nvml || !nvml_supports(t->nvml, task->reading)) {
		return -EOPNOTSUPP;
	}
	*ret_from = begin(t);
	const int r = nvml_read(t->nvml, task->reading, ret);

	*ret_took = end(t, *ret_from);
	if (r < 0) {
		tell(t, STRESS_EVENT_READING, *ret_from, *ret_took, 0,
			short_name(nvml_reading_call(task->reading)));
	}
	if (r == -ENODEV) {
		halt(t, STRESS_ENDED_LOST,
			"NVML has lost the GPU at %s: read the kernel log for Xid", t->o.address);
	}
	return r;
}

static void read_value(struct stress_telemetry *t, const struct task *task)
{
	uint64_t from, took;
	int64_t v;

	if (ask(t, task, &from, &took, &v) == 0) {
		tell(t, task->kind, from, took, v * task->scale,
			short_name(nvml_reading_call(task->reading)));
		check_heat(t, task->reading, v);
	}
}

/* A counter: what it grew by is an event. */
static void read_counter(struct stress_telemetry *t, const struct task *task)
{
	uint64_t from, took;
	int64_t v, *last = &t->last[index_of(task)];

	if (ask(t, task, &from, &took, &v) == 0) {
		const bool grew = *last != never && v > *last;

		tell(t, grew ? task->kind : STRESS_EVENT_READING, from, took, grew ? v - *last : 0,
			grew ? task->what : short_name(nvml_reading_call(task->reading)));
		*last = v;
	}
}

static void read_gen(struct stress_telemetry *t, const struct task *task)
{
	uint64_t from, took;

	if (ask(t, task, &from, &took, &t->link_gen) == 0) {
		tell(t, STRESS_EVENT_READING, from, took, 0,
			short_name(nvml_reading_call(task->reading)));
	}
}

static void read_width(struct stress_telemetry *t, const struct task *task)
{
	uint64_t from, took;
	int64_t width;

	if (t->link_gen > 0 && ask(t, task, &from, &took, &width) == 0) {
		tell(t, STRESS_EVENT_LINK, from, took, t->link_gen << 8 | width,
			short_name(nvml_reading_call(task->reading)));
	}
}

static void read_policies(struct stress_telemetry *t, const struct task *task)
{
	uint64_t ns[NVML_POLICIES] = {0};
	unsigned known = 0;

	(void)task;
	if (!t->nvml) {
		return;
	}
	const uint64_t from = begin(t);
	const int r = nvml_read_policies(t->nvml, ns, &known);
	const uint64_t took = end(t, from);

	if (r == -EOPNOTSUPP) {
		return;
	}
	tell(t, STRESS_EVENT_READING, from, took, 0, "FieldValues");
	for (unsigned p = 0; r == 0 && p < NVML_POLICIES; p++) {
		const unsigned bit = 1u << p;

		if (known & t->policies_read & bit && ns[p] > t->policy_ns[p]) {
			tell(t, STRESS_EVENT_THROTTLED, from, 0, (int64_t)(ns[p] - t->policy_ns[p]),
				nvml_policy_name(p));
		}
		t->policy_ns[p] = ns[p];
	}
	t->policies_read = r == 0 ? known : t->policies_read;
}

/* The kernel's own account: AER counters, and the link where NVML does not tell it. */
static void read_sysfs(struct stress_telemetry *t, const struct task *task)
{
	static const char *const names[] = {"correctable", "non-fatal", "fatal"};
	struct stress_host_pci now;
	const uint64_t from = begin(t);

	stress_host_pci_read(t->o.root, t->o.address, &now);
	const uint64_t took = end(t, from);

	tell(t, STRESS_EVENT_READING, from, took, 0, task->what);
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		if (t->pci_read && t->pci.has_aer && now.has_aer && now.aer[i] > t->pci.aer[i]) {
			tell(t, STRESS_EVENT_AER, from, 0, (int64_t)(now.aer[i] - t->pci.aer[i]),
				names[i]);
		}
	}
	if (now.link_gen && !(t->nvml && nvml_supports(t->nvml, NVML_LINK_GEN))) {
		tell(t, STRESS_EVENT_LINK, from, 0, (int64_t)now.link_gen << 8 | now.link_width,
			task->what);
	}
	t->pci = now;
	t->pci_read = true;
}

static const struct task tasks[TASKS] = {
	{read_value, OFTEN_MS, NVML_SM_MHZ, STRESS_EVENT_CLOCK_SM, 1, NULL},
	{read_value, OFTEN_MS, NVML_REASONS, STRESS_EVENT_THROTTLE, 1, NULL},
	{read_policies, SELDOM_MS, NVML_READINGS, STRESS_EVENT_THROTTLED, 1, NULL},
	{read_value, SELDOM_MS, NVML_MEM_MHZ, STRESS_EVENT_CLOCK_MEM, 1, NULL},
	{read_value, SELDOM_MS, NVML_PSTATE, STRESS_EVENT_PSTATE, 1, NULL},
	{read_value, SELDOM_MS, NVML_CELSIUS, STRESS_EVENT_TEMPERATURE, 1000, NULL},
	{read_value, SELDOM_MS, NVML_MEM_CELSIUS, STRESS_EVENT_MEM_TEMPERATURE, 1000, NULL},
	{read_value, SELDOM_MS, NVML_MARGIN, STRESS_EVENT_MARGIN, 1000, NULL},
	{read_value, SELDOM_MS, NVML_MILLIWATT, STRESS_EVENT_POWER, 1, NULL},
	{read_counter, SELDOM_MS, NVML_REPLAYS, STRESS_EVENT_REPLAY, 1, "PCIe replays"},
	{read_counter, SELDOM_MS, NVML_ECC_SOFT, STRESS_EVENT_ECC, 1, "corrected"},
	{read_counter, SELDOM_MS, NVML_ECC_HARD, STRESS_EVENT_ECC, 1, "uncorrected"},
	{read_gen, SELDOM_MS, NVML_LINK_GEN, STRESS_EVENT_LINK, 1, NULL},
	{read_width, SELDOM_MS, NVML_LINK_WIDTH, STRESS_EVENT_LINK, 1, NULL},
	{read_sysfs, SELDOM_MS, NVML_READINGS, STRESS_EVENT_AER, 1, "sysfs"},
};

static size_t index_of(const struct task *task)
{
	return (size_t)(task - tasks);
}

/* -- the thread ------------------------------------------------------------------------------ */

/* The temperature at which the run stops: what was asked for, else a little below the GPU's own. */
static void find_limit(struct stress_telemetry *t, struct stress_telemetry_state *s)
{
	int64_t v;

	t->limit_margin = never;
	s->limit_celsius = t->o.max_celsius;
	if (!t->nvml || s->limit_celsius) {
		return;
	}
	if (nvml_read(t->nvml, NVML_SLOWDOWN_CELSIUS, &v) == 0 && v > SAFETY) {
		s->limit_celsius = (uint32_t)v - SAFETY;
	} else if (nvml_read(t->nvml, NVML_SLOWDOWN_MARGIN, &v) == 0) {
		t->limit_margin = v + SAFETY;
	}
}

/* A limit that was asked for is worth nothing where no temperature can be read. */
static bool can_watch_limit(struct stress_telemetry *t, struct why *why)
{
	int64_t celsius;
	int r = nvml_read(t->nvml, NVML_CELSIUS, &celsius);

	/* A driver that was busy answers later. */
	for (int i = 0; i < RETRIES && r < 0 && r != -EOPNOTSUPP && r != -EACCES; i++) {
		nanosleep(&(struct timespec){.tv_nsec = NAP_MS * millisecond}, NULL);
		r = nvml_read(t->nvml, NVML_CELSIUS, &celsius);
	}
	if (r < 0) {
		why_set(why, "the run cannot be ended at %u °C: NVML %s this GPU's temperature",
			t->o.max_celsius,
			r == -EACCES       ? "may not read"
			: r == -EOPNOTSUPP ? "does not tell"
			: r == -ENODEV     ? "has lost the GPU and cannot read"
					   : "fails to read");
	}
	return r == 0;
}

/* Loads the library and does what was asked for; false: there is nothing more to do. */
static bool prepare(struct stress_telemetry *t)
{
	struct stress_telemetry_state s = {.phase = STRESS_TELEMETRY_READING};
	const bool must = t->o.lock_mhz || t->o.max_celsius;
	struct why why = {""};

	if (nvml_open(t->o.library, t->o.address, &t->nvml, &why) < 0) {
		t->nvml = NULL;
		s.phase = must ? STRESS_TELEMETRY_REFUSED : STRESS_TELEMETRY_WITHOUT;
	} else if (t->o.max_celsius && !can_watch_limit(t, &why)) {
		s.phase = STRESS_TELEMETRY_REFUSED;
	} else if (t->o.lock_mhz) {
		s.locked = nvml_lock_clocks(t->nvml, t->o.lock_mhz, &why) == 0;
		s.phase = s.locked ? s.phase : STRESS_TELEMETRY_REFUSED;
	}
	t->can_wait = t->nvml && nvml_watch_xid(t->nvml) == 0;
	find_limit(t, &s);
	text_copy(s.why, sizeof(s.why), why.text);
	publish(t, &s);
	return s.phase != STRESS_TELEMETRY_REFUSED;
}

/* Sleeps up to NAP_MS: in the wait for an Xid, where there is one. */
static void nap(struct stress_telemetry *t, uint64_t until_ns)
{
	const uint64_t now = clock_ns();
	const uint64_t left = until_ns > now ? MIN(until_ns - now, NAP_MS * millisecond) : 0;
	uint64_t xid;
	int r = -EOPNOTSUPP;

	if (left == 0) {
		return;
	}
	if (t->can_wait) {
		r = nvml_await_xid(t->nvml, (unsigned)(left / millisecond + 1), &xid);
	}
	if (r > 0) {
		const char *name = stress_xid_name(xid);

		tell(t, STRESS_EVENT_XID, clock_ns(), 0, (int64_t)xid, name);
		halt(t, STRESS_ENDED_XID, "Xid %llu%s%s: the first error of the GPU ends the run",
			(unsigned long long)xid, *name ? ", " : "", name);
		return;
	}
	t->can_wait = t->can_wait && r == 0;
	/* A wait that fails, or comes back too early, must not become a loop that never sleeps. */
	const uint64_t waited = clock_ns() - now;

	if (waited < left) {
		nanosleep(&(struct timespec){.tv_nsec = (long)(left - waited)}, NULL);
	}
}

static size_t next_task(const struct stress_telemetry *t)
{
	size_t best = 0;

	for (size_t i = 1; i < TASKS; i++) {
		if (t->due_ns[i] < t->due_ns[best]) {
			best = i;
		}
	}
	return best;
}

static void run_task(struct stress_telemetry *t, size_t i)
{
	const uint64_t from = clock_ns();

	t->before_ns = t->ran_ns[i];
	tasks[i].run(t, &tasks[i]);
	t->before_ns = 0;
	t->ran_ns[i] = from;
	const uint64_t now = clock_ns(), took = now - from;
	uint64_t period = tasks[i].period_ms * millisecond;

	if (took > expensive_ns) {
		period = MAX(period, MAX(took * EXPENSIVE_SHARE, SELDOM_MS * millisecond));
	}
	t->due_ns[i] = now + period;
}

static void poll_until_stopped(struct stress_telemetry *t)
{
	const uint64_t now = clock_ns();

	for (size_t i = 0; i < TASKS; i++) {
		/* Apart from each other, so that their delays do not add up. */
		t->due_ns[i] = now + i * OFTEN_MS * millisecond / TASKS;
		t->last[i] = never;
	}
	while (!atomic_load_explicit(&t->stop, memory_order_acquire)) {
		const size_t i = next_task(t);

		if (atomic_load_explicit(&t->hush, memory_order_acquire)) {
			nap(t, clock_ns() + NAP_MS * millisecond);
		} else if (t->due_ns[i] > clock_ns()) {
			nap(t, t->due_ns[i]);
		} else {
			run_task(t, i);
		}
	}
}

static void restore(struct stress_telemetry *t)
{
	struct stress_telemetry_state s = t->state;
	struct why why;

	if (s.locked) {
		s.locked = nvml_lock_clocks(t->nvml, 0, &why) < 0;
		publish(t, &s);
	}
}

static void *thread_main(void *data)
{
	struct stress_telemetry *t = data;

	pthread_setname_np(pthread_self(), STRESS_TELEMETRY_THREAD);
	const uint64_t from = begin(t);
	const bool ready = prepare(t);

	tell(t, STRESS_EVENT_READING, from, end(t, from), 0, "Init");
	if (ready) {
		poll_until_stopped(t);
	}
	begin(t);
	restore(t);
	nvml_close(t->nvml);
	end(t, 0);
	pthread_mutex_lock(&t->mutex);
	t->ended = true;
	pthread_cond_signal(&t->ended_cond);
	pthread_mutex_unlock(&t->mutex);
	return NULL;
}

/* -- the engine's side ------------------------------------------------------------------------ */

int stress_telemetry_start(
	const struct stress_telemetry_options *o, struct stress_telemetry **ret, struct why *why)
{
	struct stress_telemetry *t = xcalloc(1, sizeof(*t));
	pthread_condattr_t monotonic;
	sigset_t all, old;

	t->o = *o;
	t->limit_margin = never;
	pthread_mutex_init(&t->mutex, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&t->ended_cond, &monotonic);
	pthread_condattr_destroy(&monotonic);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	const int r = pthread_create(&t->thread, NULL, thread_main, t);

	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (r) {
		why_set(why, "the telemetry's thread cannot be started: %s", strerror(r));
		pthread_cond_destroy(&t->ended_cond);
		pthread_mutex_destroy(&t->mutex);
		free(t);
		return -r;
	}
	*ret = t;
	return 0;
}

int stress_telemetry_finish(struct stress_telemetry *t, int timeout_ms)
{
	struct timespec until;
	int r = 0;

	if (!t) {
		return 0;
	}
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += timeout_ms / 1000;
	until.tv_nsec += timeout_ms % 1000 * (long)millisecond;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;

	atomic_store_explicit(&t->stop, true, memory_order_release);
	pthread_mutex_lock(&t->mutex);
	while (!t->ended && r == 0) {
		r = pthread_cond_timedwait(&t->ended_cond, &t->mutex, &until);
	}
	const bool ended = t->ended;

	pthread_mutex_unlock(&t->mutex);
	if (!ended) {
		pthread_detach(t->thread);
		return -ETIMEDOUT;
	}
	pthread_join(t->thread, NULL);
	const bool locked = t->state.locked;

	pthread_cond_destroy(&t->ended_cond);
	pthread_mutex_destroy(&t->mutex);
	free(t);
	return locked ? -EIO : 0;
}

void stress_telemetry_hush(struct stress_telemetry *t, bool hush)
{
	atomic_store_explicit(&t->hush, hush, memory_order_release);
}

const struct stress_calls *stress_telemetry_calls(const struct stress_telemetry *t)
{
	return &t->calls;
}
