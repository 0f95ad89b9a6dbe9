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

/* A switch too short to be a gap is not one to be taken for a later gap's: counted this often. */
static const uint64_t check_ns = 1000000;

struct stress_gaps {
	struct stress_ring *into;
	pthread_t thread;
	_Atomic bool stop;
	uint16_t cpu[STRESS_CPUS_MAX]; /* that it may run on */
	uint32_t cpus;
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

/* Off the cores that launch, and behind everybody else on the others. */
static void step_back(const struct stress_gaps *g)
{
	const size_t size = CPU_ALLOC_SIZE(STRESS_CPUS_MAX);
	const struct sched_param none = {.sched_priority = 0};
	cpu_set_t *set = CPU_ALLOC(STRESS_CPUS_MAX);

	if (set) {
		CPU_ZERO_S(size, set);
		for (uint32_t i = 0; i < g->cpus; i++) {
			CPU_SET_S(g->cpu[i], size, set);
		}
		pthread_setaffinity_np(pthread_self(), size, set);
		CPU_FREE(set);
	}
	pthread_setschedparam(pthread_self(), SCHED_IDLE, &none);
}

static void *thread_main(void *data)
{
	struct stress_gaps *g = data;
	struct stress_gap_look look = {.count = count_switches};
	struct stress_event e;

	pthread_setname_np(pthread_self(), "gaps");
	step_back(g);
	while (!atomic_load_explicit(&g->stop, memory_order_relaxed)) {
		if (stress_gap_step(&look, clock_ns(), &e)) {
			stress_ring_push(g->into, &e);
		}
	}
	return NULL;
}

int stress_gaps_start(const struct stress_host *host, uint32_t threads, struct stress_ring *into,
	struct stress_gaps **ret, struct why *why)
{
	if (threads >= host->cpus) {
		why_set(why, "--watch-gaps: no core is left that does not launch (%u of %u do)",
			threads, host->cpus);
		return -EBUSY;
	}
	struct stress_gaps *g = xcalloc(1, sizeof(*g));

	g->into = into;
	g->cpus = host->cpus - threads;
	memcpy(g->cpu, host->cpu, g->cpus * sizeof(*g->cpu));
	const int r = pthread_create(&g->thread, NULL, thread_main, g);

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
