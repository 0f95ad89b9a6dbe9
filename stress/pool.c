/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stress/pool.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"

static const uint64_t spin_ns =
	100000; /* longer waits sleep: the gap between launches is shorter */

struct member {
	_Alignas(64) uint64_t start_ns, end_ns; /* of the last work */
	struct stress_pool *pool;
	unsigned index;
	pthread_t thread;
};

struct stress_pool {
	_Alignas(64) _Atomic uint32_t turn;    /* rises by one for each work; a futex */
	_Atomic uint32_t sleepers;             /* members that may be asleep on TURN */
	_Alignas(64) _Atomic uint32_t pending; /* members not through; a futex */
	_Atomic uint32_t owner_sleeps;
	/* Written by the caller before TURN rises, read by members after. */
	stress_pool_work *work; /* NULL: end */
	void *context;
	unsigned n, started;
	struct member *member;
};

static void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

/* Returns at once when *WORD is no longer SEEN; may return for no reason. */
static void futex_wait(_Atomic uint32_t *word, uint32_t seen)
{
	syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
}

static void futex_wake(_Atomic uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

/* Spins while *WORD is SEEN, at most spin_ns; true when it changed. */
static bool spin_while(_Atomic uint32_t *word, uint32_t seen)
{
	uint64_t until = 0;
	for (unsigned i = 1;; i++) {
		if (atomic_load_explicit(word, memory_order_acquire) != seen) {
			return true;
		}
		relax();
		if (i % 64 == 0) {
			uint64_t now = clock_ns();
			if (!until) {
				until = now + spin_ns;
			} else if (now >= until) {
				return false;
			}
		}
	}
}

static void await_turn(struct stress_pool *p, uint32_t seen)
{
	while (!spin_while(&p->turn, seen)) {
		/* Sequentially consistent with the caller's: either it sees the sleeper or
		 * the sleeper sees the new turn. */
		atomic_fetch_add(&p->sleepers, 1);
		while (atomic_load(&p->turn) == seen) {
			futex_wait(&p->turn, seen);
		}
		atomic_fetch_sub(&p->sleepers, 1);
	}
}

static void await_members(struct stress_pool *p)
{
	uint32_t left;
	while ((left = atomic_load_explicit(&p->pending, memory_order_acquire)) != 0) {
		if (spin_while(&p->pending, left)) {
			continue;
		}
		atomic_store(&p->owner_sleeps, 1);
		while ((left = atomic_load(&p->pending)) != 0) {
			futex_wait(&p->pending, left);
		}
		atomic_store(&p->owner_sleeps, 0);
	}
}

static void do_part(struct member *m)
{
	m->start_ns = clock_ns();
	m->pool->work(m->pool->context, m->index);
	m->end_ns = clock_ns();
}

static void *member_main(void *argument)
{
	struct member *m = argument;
	struct stress_pool *p = m->pool;
	for (uint32_t turn = 0;; turn++) {
		await_turn(p, turn);
		if (!p->work) {
			return NULL;
		}
		do_part(m);
		if (atomic_fetch_sub(&p->pending, 1) == 1 && atomic_load(&p->owner_sleeps)) {
			futex_wake(&p->pending);
		}
	}
}

static void start_turn(struct stress_pool *p, stress_pool_work *work, void *context)
{
	p->work = work;
	p->context = context;
	atomic_store_explicit(&p->pending, p->started, memory_order_relaxed);
	atomic_fetch_add(&p->turn, 1);
	if (atomic_load(&p->sleepers)) {
		futex_wake(&p->turn);
	}
}

void stress_pool_run(struct stress_pool *p, stress_pool_work *work, void *context,
	uint64_t *ret_start_ns, uint64_t *ret_end_ns)
{
	if (p->started) {
		start_turn(p, work, context);
	} else {
		p->work = work;
		p->context = context;
	}
	do_part(&p->member[0]);
	await_members(p);
	uint64_t start = p->member[0].start_ns, end = p->member[0].end_ns;
	for (unsigned i = 1; i <= p->started; i++) {
		const struct member *m = &p->member[i];
		start = m->start_ns < start ? m->start_ns : start;
		end = m->end_ns > end ? m->end_ns : end;
	}
	*ret_start_ns = start;
	*ret_end_ns = end;
}

static int pin(pthread_t thread, unsigned cpu)
{
	size_t size = CPU_ALLOC_SIZE(cpu + 1);
	cpu_set_t *set = CPU_ALLOC(cpu + 1);
	if (!set) {
		return ENOMEM;
	}
	CPU_ZERO_S(size, set);
	CPU_SET_S(cpu, size, set);
	int r = pthread_setaffinity_np(thread, size, set);
	CPU_FREE(set);
	return r;
}

int stress_pool_create(unsigned n, const uint16_t *cpu, struct stress_pool **ret,
	int *ret_pin_errno, struct why *why)
{
	struct stress_pool *p = aligned_alloc(64, sizeof(*p));
	struct member *member = aligned_alloc(64, n * sizeof(*member));
	if (!p || !member) {
		free(p);
		free(member);
		why_set(why, "no memory for %u threads", n);
		return -ENOMEM;
	}
	memset(p, 0, sizeof(*p));
	memset(member, 0, n * sizeof(*member));
	p->n = n;
	p->member = member;
	int pin_errno = 0;
	for (unsigned i = 0; i < n; i++) {
		member[i].pool = p;
		member[i].index = i;
		member[i].thread = pthread_self();
		int r = i ? pthread_create(&member[i].thread, NULL, member_main, &member[i]) : 0;
		if (r) {
			why_set(why, "thread %u of %u cannot be started: %s", i + 1, n,
				strerror(r));
			stress_pool_destroy(p);
			return -r;
		}
		p->started = i;
		r = pin(member[i].thread, cpu[i]);
		pin_errno = r ? r : pin_errno;
	}
	*ret_pin_errno = pin_errno;
	*ret = p;
	return 0;
}

void stress_pool_destroy(struct stress_pool *p)
{
	if (!p) {
		return;
	}
	if (p->started) {
		start_turn(p, NULL, NULL);
	}
	for (unsigned i = 1; i <= p->started; i++) {
		pthread_join(p->member[i].thread, NULL);
	}
	free(p->member);
	free(p);
}
