/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stress/gaps.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/macros.h"
#include "stress/worker.h"

/* A switch too short to be a gap is not one to be taken for a later gap's: counted this often. */
static const uint64_t check_ns = 1000000;

struct stress_gaps {
	struct stress_ring *into;
	pthread_t thread;
	_Atomic bool stop;
};

bool stress_gap_step(struct stress_gap_look *look, uint64_t now_ns, struct stress_event *ret)
{
	const uint64_t from = look->last_ns, gap = from ? now_ns - from : 0;
	bool found = false;

	look->last_ns = now_ns;
	if (gap < STRESS_GAP_NS && from && now_ns - look->checked_ns < check_ns) {
		return false;
	}
	const uint64_t switches = look->count(look->data);

	if (gap >= STRESS_GAP_NS && switches == look->switches) {
		*ret = (struct stress_event){
			.ns = from, .kind = STRESS_EVENT_GAP, .value = (int64_t)gap};
		found = true;
	}
	look->switches = switches;
	look->checked_ns = now_ns;
	return found;
}

static uint64_t count_switches(void *unused)
{
	struct rusage u;

	(void)unused;
	return getrusage(RUSAGE_THREAD, &u) == 0 ? (uint64_t)(u.ru_nvcsw + u.ru_nivcsw) : 0;
}

static void *thread_main(void *data)
{
	struct stress_gaps *g = data;
	struct stress_gap_look look = {.count = count_switches};
	const struct sched_param none = {.sched_priority = 0};
	struct stress_event e;

	pthread_setname_np(pthread_self(), STRESS_GAPS_THREAD);
	pthread_setschedparam(pthread_self(), SCHED_IDLE, &none); /* behind everybody else */
	while (!atomic_load_explicit(&g->stop, memory_order_relaxed)) {
		if (stress_gap_step(&look, clock_ns(), &e)) {
			stress_ring_push(g->into, &e);
		}
	}
	return NULL;
}

/* The first CPUS of HOST, which do not launch. */
static int start_on(const struct stress_host *host, uint32_t cpus, struct stress_gaps *g)
{
	const size_t size = CPU_ALLOC_SIZE(STRESS_CPUS_MAX);
	cpu_set_t *set = CPU_ALLOC(STRESS_CPUS_MAX);
	pthread_attr_t attr;
	int r = set ? pthread_attr_init(&attr) : ENOMEM;

	if (r == 0) {
		CPU_ZERO_S(size, set);
		for (uint32_t i = 0; i < cpus; i++) {
			CPU_SET_S(host->cpu[i], size, set);
		}
		r = pthread_attr_setaffinity_np(&attr, size, set);
		r = r ? r : pthread_create(&g->thread, &attr, thread_main, g);
		pthread_attr_destroy(&attr);
	}
	CPU_FREE(set);
	return r;
}

int stress_gaps_start(const struct stress_host *host, uint32_t threads, struct stress_ring *into,
	struct stress_gaps **ret, struct why *why)
{
	if (MAX(threads, 1u) >= host->cpus) {
		why_set(why, "--watch-gaps: no core is left that does not launch (%u of %u do)",
			MAX(threads, 1u), host->cpus);
		return -EBUSY;
	}
	if (host->quota > 0 && host->quota < MAX(threads, 1u) + 1) {
		why_set(why,
			"--watch-gaps: the control group grants %.1f cores, the watcher takes one",
			host->quota);
		return -EBUSY;
	}
	struct stress_gaps *g = xcalloc(1, sizeof(*g));
	g->into = into;
	const int r = start_on(host, host->cpus - threads, g);

	if (r) {
		free(g);
		why_set(why, "the thread that watches for gaps cannot be started: %s", strerror(r));
		return -r;
	}
	*ret = g;
	return 0;
}

void stress_gaps_finish(struct stress_gaps *g)
{
	if (!g) {
		return;
	}
	atomic_store_explicit(&g->stop, true, memory_order_relaxed);
	pthread_join(g->thread, NULL);
	free(g);
}
