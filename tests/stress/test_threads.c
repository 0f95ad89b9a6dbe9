/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What threads and processes share without a lock: the ring, the status block, the pool.
 * Built twice, plain and under ThreadSanitizer, which fails the test for any data race.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/macros.h"
#include "stress/pool.h"
#include "stress/ring.h"
#include "stress/shared.h"

/* Times as many rounds without the sanitizer. */
#ifdef __SANITIZE_THREAD__
enum { FACTOR = 1 };
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
enum { FACTOR = 1 };
#else
enum { FACTOR = 2 };
#endif
#else
enum { FACTOR = 2 };
#endif

/* -- the ring ------------------------------------------------------------------------- */

enum { CAPACITY = 64, PUSHES = 200000 * FACTOR };

struct slot {
	uint64_t number, word[6], check;
};

_Static_assert(sizeof(struct slot) == STRESS_SLOT, "a slot");

struct pipe {
	struct stress_ring_ends ends;
	_Alignas(64) unsigned char slots[CAPACITY * STRESS_SLOT];
	bool wait_for_room;
	_Atomic bool done;
	uint64_t refused; /* the producer's own count */
};

static void *produce(void *argument)
{
	struct pipe *p = argument;
	struct stress_ring r;
	stress_ring_init(&r, &p->ends, p->slots, CAPACITY);
	for (uint64_t i = 0; i < PUSHES; i++) {
		struct slot s = {.number = i, .check = ~i};
		for (size_t k = 0; k < ARRAY_LEN(s.word); k++) {
			s.word[k] = i * (k + 3);
		}
		while (p->wait_for_room && !stress_ring_has_room(&r)) {
			sched_yield();
		}
		p->refused += !stress_ring_push(&r, &s);
	}
	atomic_store(&p->done, true);
	return NULL;
}

/* Takes everything out; every slot must be whole and numbers must rise. */
static uint64_t consume(struct pipe *p)
{
	struct stress_ring r;
	stress_ring_init(&r, &p->ends, p->slots, CAPACITY);
	struct slot batch[17];
	uint64_t taken = 0, next = 0;
	for (;;) {
		bool done = atomic_load(&p->done); /* before: nothing is pushed after it */
		size_t n = stress_ring_pop(&r, batch, ARRAY_LEN(batch));
		for (size_t i = 0; i < n; i++) {
			const struct slot *s = &batch[i];
			assert_true(s->number >= next);
			assert_true(s->check == ~s->number);
			for (size_t k = 0; k < ARRAY_LEN(s->word); k++) {
				assert_true(s->word[k] == s->number * (k + 3));
			}
			next = s->number + 1;
		}
		taken += n;
		if (!n && done) {
			assert_true(stress_ring_dropped(&r) == p->refused);
			return taken;
		}
		if (!n) {
			sched_yield();
		}
	}
}

static void run_pipe(bool wait_for_room)
{
	struct pipe *p = aligned_alloc(64, sizeof(*p));
	memset(p, 0, sizeof(*p));
	p->wait_for_room = wait_for_room;
	pthread_t producer;
	assert_int_equal(pthread_create(&producer, NULL, produce, p), 0);
	uint64_t taken = consume(p);
	pthread_join(producer, NULL);
	assert_true(taken + p->refused == PUSHES);
	assert_true(!wait_for_room || !p->refused);
	free(p);
}

static void nothing_is_torn_and_drops_are_counted(void **state)
{
	(void)state;
	run_pipe(false);
}

static void who_waits_loses_nothing(void **state)
{
	(void)state;
	run_pipe(true);
}

static void a_full_ring_drops_the_newest(void **state)
{
	(void)state;
	static struct stress_ring_ends ends;
	static unsigned char slots[8 * STRESS_SLOT];
	struct stress_ring in, out;
	stress_ring_init(&in, &ends, slots, 8);
	stress_ring_init(&out, &ends, slots, 8);
	struct slot s = {0}, got[16];
	for (uint64_t i = 0; i < 11; i++) {
		s.number = i;
		assert_int_equal(stress_ring_push(&in, &s), i < 8);
	}
	assert_int_equal(stress_ring_dropped(&out), 3);
	assert_int_equal(stress_ring_pop(&out, got, 3), 3);
	s.number = 11;
	assert_true(stress_ring_push(&in, &s));
	assert_int_equal(stress_ring_pop(&out, got, 16), 6);
	assert_int_equal(got[4].number, 7);
	assert_int_equal(got[5].number, 11);
	assert_int_equal(stress_ring_pop(&out, got, 16), 0);
}

/* A worker gone mad writes any index; the front stays inside its memory. */
static void a_broken_producer_does_no_harm(void **state)
{
	(void)state;
	static struct stress_ring_ends ends;
	static unsigned char slots[8 * STRESS_SLOT];
	struct stress_ring out;
	struct slot got[16];
	stress_ring_init(&out, &ends, slots, 8);
	static const uint64_t heads[] = {9, 1000, UINT64_MAX, (uint64_t)1 << 63};
	for (size_t i = 0; i < ARRAY_LEN(heads); i++) {
		atomic_store(&ends.head, heads[i]);
		assert_int_equal(stress_ring_pop(&out, got, 16), 0);
	}
	atomic_store(&ends.head, 8);
	assert_int_equal(stress_ring_pop(&out, got, 16), 8);
}

/* -- the status block ------------------------------------------------------------------ */

enum { WRITES = 40000 * FACTOR };

struct board {
	struct stress_state state;
	_Atomic bool done;
};

/* Everything in it follows from one number. */
static struct stress_status status_of(uint64_t i)
{
	struct stress_status s;
	memset(&s, (int)(i & 0x7f), sizeof(s));
	s.produced = i;
	s.golden_hash = i * 7;
	return s;
}

static void *write_board(void *argument)
{
	struct board *b = argument;
	for (uint64_t i = 1; i <= WRITES; i++) {
		struct stress_status s = status_of(i);
		stress_state_write(&b->state, &s);
	}
	atomic_store(&b->done, true);
	return NULL;
}

static void a_status_is_never_torn(void **state)
{
	(void)state;
	static struct board b;
	pthread_t writer;
	assert_int_equal(pthread_create(&writer, NULL, write_board, &b), 0);
	uint64_t last = 0, seen = 0;
	bool done;
	do {
		done = atomic_load(&b.done);
		struct stress_status s, expected;
		if (!stress_state_read(&b.state, &s)) {
			continue;
		}
		if (!s.produced && !s.golden_hash) {
			continue; /* nothing written yet */
		}
		expected = status_of(s.produced);
		assert_memory_equal(&s, &expected, sizeof(s));
		assert_true(s.produced >= last);
		seen += s.produced != last;
		last = s.produced;
	} while (!done);
	pthread_join(writer, NULL);
	assert_true(last == WRITES);
	assert_true(seen > 0);
}

static void a_writer_that_died_is_given_up(void **state)
{
	(void)state;
	static struct stress_state s;
	struct stress_status out;
	atomic_store(&s.version, 5);
	assert_false(stress_state_read(&s, &out));
}

/* -- the pool --------------------------------------------------------------------------- */

enum { MEMBERS = 4, TURNS = 1000 * FACTOR };

struct tally {
	uint64_t round; /* written by the caller, read by all */
	struct {
		_Alignas(64) uint64_t sum, calls;
	} each[MEMBERS];
};

static void add_round(void *context, unsigned index)
{
	struct tally *t = context;
	t->each[index].sum += t->round * (index + 1);
	t->each[index].calls++;
}

static void everybody_works_once_a_turn(void **state)
{
	(void)state;
	static const uint16_t cpu[MEMBERS] = {0}; /* all on one: they have to sleep, too */
	struct stress_pool *p;
	int pin_errno;
	struct why why;
	assert_int_equal(stress_pool_create(MEMBERS, cpu, &p, &pin_errno, &why), 0);
	static struct tally t;
	uint64_t sum = 0, start, end;
	for (uint64_t i = 1; i <= TURNS; i++) {
		t.round = i;
		stress_pool_run(p, add_round, &t, &start, &end);
		assert_true(start <= end);
		sum += i;
		for (unsigned k = 0; k < MEMBERS; k++) {
			assert_true(t.each[k].calls == i);
			assert_true(t.each[k].sum == sum * (k + 1));
		}
		if (i % (TURNS / 4) == 0) { /* long enough for the members to fall asleep */
			struct timespec nap = {.tv_nsec = 2000000};
			nanosleep(&nap, NULL);
		}
	}
	stress_pool_destroy(p);
}

static void one_thread_needs_no_other(void **state)
{
	(void)state;
	static const uint16_t cpu[1] = {0};
	struct stress_pool *p;
	int pin_errno;
	struct why why;
	assert_int_equal(stress_pool_create(1, cpu, &p, &pin_errno, &why), 0);
	static struct tally t;
	uint64_t start, end;
	t.round = 3;
	stress_pool_run(p, add_round, &t, &start, &end);
	assert_int_equal(t.each[0].sum, 3);
	stress_pool_destroy(p);
}

static void who_cannot_be_pinned_works_all_the_same(void **state)
{
	(void)state;
	static const uint16_t cpu[2] = {65535, 65534}; /* no machine has them */
	struct stress_pool *p;
	int pin_errno = 0;
	struct why why;
	assert_int_equal(stress_pool_create(2, cpu, &p, &pin_errno, &why), 0);
	assert_int_equal(pin_errno, EINVAL);
	static struct tally t;
	uint64_t start, end;
	t.round = 5;
	stress_pool_run(p, add_round, &t, &start, &end);
	assert_int_equal(t.each[1].sum, 10);
	stress_pool_destroy(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_torn_and_drops_are_counted),
		cmocka_unit_test(who_waits_loses_nothing),
		cmocka_unit_test(a_full_ring_drops_the_newest),
		cmocka_unit_test(a_broken_producer_does_no_harm),
		cmocka_unit_test(a_status_is_never_torn),
		cmocka_unit_test(a_writer_that_died_is_given_up),
		cmocka_unit_test(everybody_works_once_a_turn),
		cmocka_unit_test(one_thread_needs_no_other),
		cmocka_unit_test(who_cannot_be_pinned_works_all_the_same),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
