/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The worker process: receives its configuration, opens the back end, and runs the
 * engine's loop: decide what is launched, launch, number, check, push. The loop
 * allocates nothing, prints nothing and takes no lock.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/macros.h"
#include "base/text.h"
#include "stress/audit.h"
#include "stress/backend.h"
#include "stress/gaps.h"
#include "stress/gpu_facts.h"
#include "stress/host.h"
#include "stress/shared.h"
#include "stress/watch.h"

static const uint64_t wake_every_ns = 5000000;     /* one eventfd write for many samples */
static const uint64_t control_every_ns = 20000000; /* one look at the socket */
static const uint64_t nap_longest_ns = 100000000;  /* a sleeping engine still beats */
static const uint64_t spin_ns = 200000;            /* before an intended start: no late wake-up */

enum { BATCH_MAX = 256 };

struct engine {
	struct stress_lender lender; /* first: the back end hands it back */
	struct stress_config config;
	struct stress_status state;
	struct stress_shared *shared;
	struct stress_ring samples, readings, gaps;
	int sock, wake;
	bool pause, stop;

	const struct stress_backend_ops *ops;
	struct stress_backend *backend;
	struct stress_facts facts;
	struct stress_watch watch;
	bool hung; /* the telemetry is stuck in a call */
	struct stress_host host;
	struct stress_gaps *watcher; /* of gaps; NULL: not asked for */

	uint64_t seq;
	uint64_t woke_ns, looked_ns;
	uint64_t longest_ns; /* a launch took at most this long, fading */
	uint64_t warm_until_ns;
	uint64_t due_ns;        /* paced: the next intended start */
	uint64_t probe_cost_ns; /* the last probe's */
	struct stress_audit audit;
	unsigned since_probe; /* GEMMs */
	unsigned last_probe;  /* series */
	struct stress_sample batch[BATCH_MAX];
};

/* -- towards the front ------------------------------------------------------------- */

static void beat(struct engine *e, uint64_t now)
{
	atomic_store_explicit(&e->shared->beat_ns, now, memory_order_relaxed);
}

static void wake_front(struct engine *e, uint64_t now)
{
	uint64_t one = 1;
	if (write(e->wake, &one, sizeof(one)) < 0) {
		/* EAGAIN: the counter is full, so the front has long been woken. */
	}
	e->woke_ns = now;
}

static void publish(struct engine *e)
{
	stress_state_write(&e->shared->state, &e->state);
}

static void enter(struct engine *e, enum stress_phase phase)
{
	uint64_t now = clock_ns();
	e->state.phase = phase;
	publish(e);
	beat(e, now);
	wake_front(e, now);
}

static int fail(struct engine *e, const struct why *why)
{
	text_copy(e->state.why, sizeof(e->state.why), why->text);
	enter(e, STRESS_FAILED);
	return 1;
}

static void obey(struct engine *e, const struct stress_message *m)
{
	switch (m->request) {
	case STRESS_PAUSE:
		e->pause = true;
		break;
	case STRESS_RESUME:
		e->pause = false;
		break;
	case STRESS_STOP:
		e->stop = true;
		break;
	case STRESS_LOAD:
		e->config.load_percent = MIN(m->value, 100u);
		break;
	default:
		break;
	}
}

/* Takes in all requests that wait; the front's end of the socket closed is a stop, too. */
static void look_at_control(struct engine *e, uint64_t now)
{
	e->looked_ns = now;
	struct stress_message m;
	for (;;) {
		ssize_t n = recv(e->sock, &m, sizeof(m), MSG_DONTWAIT);
		if (n == (ssize_t)sizeof(m)) {
			obey(e, &m);
		} else if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
			e->stop = true;
			return;
		} else {
			return;
		}
	}
}

static bool lend_beat(struct stress_lender *l)
{
	struct engine *e = (struct engine *)l;
	uint64_t now = clock_ns();
	beat(e, now);
	look_at_control(e, now);
	return !e->stop;
}

static void push_reading(void *data, const struct stress_event *event)
{
	struct engine *e = data;
	stress_ring_push(&e->readings, event);
}

static bool beat_engine(void *data)
{
	struct engine *e = data;
	return lend_beat(&e->lender);
}

/* What the telemetry has to say; an error of the GPU ends the run. */
static void look_at_watch(struct engine *e, uint64_t now)
{
	if (stress_watch_look(&e->watch, now, &e->state)) {
		publish(e);
		e->stop = e->stop || e->state.ended;
	}
}

static void finish_watch(struct engine *e)
{
	stress_gaps_finish(e->watcher);
	e->watcher = NULL;
	e->hung = !stress_watch_finish(&e->watch, &e->state);
	publish(e);
}

static void lend_found(struct stress_lender *l, const struct stress_finding *f)
{
	struct engine *e = (struct engine *)l;
	if (e->state.finding.kind == STRESS_WRONG_NOTHING) {
		e->state.finding = *f;
		publish(e);
	}
}

/* Sleeps until UNTIL_NS (host clock) or until a request comes; beats meanwhile. */
static void nap(struct engine *e, uint64_t until_ns)
{
	while (!e->stop && !e->pause) {
		uint64_t now = clock_ns();
		if (now >= until_ns) {
			return;
		}
		beat(e, now);
		look_at_watch(e, now);
		uint64_t left = MIN(until_ns - now, nap_longest_ns);
		struct timespec ts = {.tv_nsec = (long)left};
		struct pollfd p = {.fd = e->sock, .events = POLLIN};
		if (ppoll(&p, 1, &ts, NULL) > 0) {
			look_at_control(e, clock_ns());
		}
	}
}

/* -- one launch -------------------------------------------------------------------- */

static bool is_probe_due(const struct engine *e, uint64_t now)
{
	unsigned probes = e->facts.series & ~(1u << STRESS_GEMM);
	if (e->config.no_ceiling) {
		probes &= ~(1u << STRESS_READ);
	}
	if (!probes || !e->facts.probe_every || e->since_probe < e->facts.probe_every) {
		return false;
	}
	return !e->config.paced_ns || now + 2 * e->probe_cost_ns < e->due_ns;
}

static enum stress_series next_series(struct engine *e, uint64_t now)
{
	if (!is_probe_due(e, now)) {
		e->since_probe++;
		return STRESS_GEMM;
	}
	e->since_probe = 0;
	do {
		e->last_probe = (e->last_probe + 1) % STRESS_SERIES;
	} while (e->last_probe == STRESS_GEMM || !(e->facts.series >> e->last_probe & 1) ||
		 (e->last_probe == STRESS_READ && e->config.no_ceiling));
	return (enum stress_series)e->last_probe;
}

/*
 * The golden hash is the first verified output's; every later output must equal it. A back
 * end may have found another mismatch itself.
 */
static void check_hash(struct engine *e, struct stress_sample *s)
{
	if (stress_series_of(s) == STRESS_GEMM && s->flags & STRESS_HAS_HASH) {
		if (!e->state.golden_hash) {
			e->state.golden_hash = s->hash;
			publish(e);
		}
		s->flags |= s->hash != e->state.golden_hash ? STRESS_MISMATCH : 0;
	}
	if (s->flags & STRESS_MISMATCH) {
		e->state.mismatches++;
		publish(e);
	}
}

static void take_ceiling(struct engine *e)
{
	struct stress_ceiling c, best = {.bytes_per_s = 0};
	for (size_t i = 0; e->ops->ceiling && e->ops->ceiling(e->backend, i, &c); i++) {
		if (c.bytes_per_s > best.bytes_per_s) {
			best = c;
		}
	}
	if (best.bytes_per_s > 0) {
		e->state.ceiling_bytes_per_s = best.bytes_per_s;
		text_copy(e->state.ceiling_kernel, sizeof(e->state.ceiling_kernel), best.name);
		publish(e);
	}
}

/* Before the samples are delivered: who reads them knows by then what they may be wrong by. */
static void take_clock_error(struct engine *e)
{
	const uint64_t error = e->ops->clock_error ? e->ops->clock_error(e->backend) : 0;

	if (error > e->state.clock_error_ns || e->state.phase == STRESS_WARMING) {
		e->state.clock_error_ns = error;
		publish(e);
	}
}

/* Played time may wait for the front: a full ring then holds the clock instead of dropping. */
static void await_room(struct engine *e)
{
	while (!e->stop && !stress_ring_has_room(&e->samples)) {
		uint64_t now = clock_ns();
		beat(e, now);
		wake_front(e, now);
		struct pollfd p = {.fd = e->sock, .events = POLLIN};
		poll(&p, 1, 1);
		look_at_control(e, clock_ns());
	}
}

static void deliver(struct engine *e, struct stress_sample *s)
{
	s->seq = e->seq++;
	if (e->state.phase == STRESS_WARMING) {
		s->flags |= STRESS_WARMUP;
	}
	check_hash(e, s);
	if (e->facts.virtual_clock) {
		await_room(e);
	}
	stress_ring_push(&e->samples, s);
	atomic_store_explicit(&e->shared->produced, e->seq, memory_order_relaxed);
}

static void pace(struct engine *e, struct stress_sample *s)
{
	if (s->submit_ns > e->due_ns + e->config.paced_ns) {
		s->flags |= STRESS_MISSED;
	}
	s->flags |= STRESS_PACED;
	s->submit_ns = e->due_ns; /* the intended start: waiting for the one before counts */
	e->due_ns += e->config.paced_ns;
}

/* The weights' checksums, where the next intended start leaves the time. */
static int audit(struct engine *e, uint64_t now, struct why *why)
{
	if (e->config.paced_ns && now + 2 * e->probe_cost_ns >= e->due_ns) {
		return 0;
	}
	const int r = stress_audit_turn(&e->audit, now, &e->state, why);
	if (r > 0) {
		publish(e);
	}
	return MIN(r, 0);
}

static bool is_full_load(const struct engine *e)
{
	return !e->config.load_percent || e->config.load_percent >= 100;
}

/* Less than full load: a rest as long as the load asks for after TOOK of launches. */
static void rest(struct engine *e, uint64_t now, uint64_t took)
{
	const uint32_t load = e->config.load_percent;
	if (!is_full_load(e)) {
		nap(e, now + MIN(took, nap_longest_ns) * (100 - load) / load);
	}
}

static void be_patient(struct engine *e, uint64_t took)
{
	e->longest_ns = MAX(took, e->longest_ns - e->longest_ns / 64);
	atomic_store_explicit(&e->shared->patience_ns,
		STRESS_PATIENCE_MS * (uint64_t)1000000 + 2 * e->longest_ns, memory_order_relaxed);
}

/* One launch and its samples. 0: the end, 1: go on, negative: fatal. */
static int launch(struct engine *e, struct why *why)
{
	uint64_t before = clock_ns();
	int r = audit(e, before, why);
	if (r < 0) {
		return r;
	}
	enum stress_series series = next_series(e, before);
	bool paced = e->config.paced_ns && series == STRESS_GEMM;
	if (paced) {
		nap(e, e->due_ns - MIN(spin_ns, e->due_ns));
		if (e->stop || e->pause) {
			return 1;
		}
		do {
			before = clock_ns();
		} while (before < e->due_ns);
	}
	int n = e->ops->iterate(e->backend, series, e->batch, paced ? 1 : BATCH_MAX, why);
	if (n <= 0) {
		return n;
	}
	uint64_t now = clock_ns();
	beat(e, now);
	be_patient(e, now - before);
	if (paced) {
		pace(e, &e->batch[0]);
	}
	take_clock_error(e);
	stress_watch_mark(&e->watch, e->batch, (size_t)n);
	for (int i = 0; i < n; i++) {
		deliver(e, &e->batch[i]);
	}
	if (series != STRESS_GEMM) {
		e->probe_cost_ns = now - before;
	}
	if (series == STRESS_READ) {
		take_ceiling(e);
	}
	if (now - e->woke_ns >= wake_every_ns) {
		wake_front(e, now);
	}
	rest(e, now, now - before);
	return 1;
}

/* -- the loop ---------------------------------------------------------------------- */

static void wait_paused(struct engine *e)
{
	enter(e, STRESS_PAUSED);
	while (e->pause && !e->stop) {
		beat(e, clock_ns());
		struct pollfd p = {.fd = e->sock, .events = POLLIN};
		if (poll(&p, 1, (int)(nap_longest_ns / 1000000)) != 0) {
			look_at_control(e, clock_ns());
		}
		look_at_watch(e, clock_ns());
	}
}

static void start_running(struct engine *e)
{
	uint64_t now = clock_ns();
	e->due_ns = now;
	if (e->facts.warm_ns && !e->warm_until_ns) {
		e->warm_until_ns = now + e->facts.warm_ns;
	}
	enter(e, now < e->warm_until_ns || !is_full_load(e) ? STRESS_WARMING : STRESS_RUNNING);
}

/* A launch failed: the GPU's error that explains it is reported a moment later, if at all. */
static void blame_gpu(struct engine *e, struct why *why)
{
	for (int i = 0; i < 20 && e->watch.telemetry && !e->state.ended; i++) {
		poll(NULL, 0, 10);
		look_at_watch(e, clock_ns());
	}
	if (e->state.ended) {
		struct why launch = *why;
		why_set(why, "%s (%s)", e->state.why, launch.text);
	}
}

static int run_loop(struct engine *e)
{
	struct why why = {0};
	int r = 1;
	start_running(e);
	while (!e->stop) {
		uint64_t now = clock_ns();
		if (now - e->looked_ns >= control_every_ns) {
			look_at_control(e, now);
			look_at_watch(e, now);
		}
		if (e->pause && !e->stop) {
			wait_paused(e);
			start_running(e);
			continue;
		}
		if (e->state.phase == STRESS_WARMING && now >= e->warm_until_ns &&
			is_full_load(e)) {
			enter(e, STRESS_RUNNING);
		}
		r = launch(e, &why);
		if (r <= 0) {
			break;
		}
	}
	if (r < 0) {
		blame_gpu(e, &why);
		finish_watch(e);
		return fail(e, &why);
	}
	enter(e, STRESS_STOPPING);
	finish_watch(e);
	return 0;
}

/* -- start and end ----------------------------------------------------------------- */

static void take_facts(struct engine *e)
{
	e->ops->facts(e->backend, &e->facts);
	const struct stress_facts *f = &e->facts;
	struct stress_status *s = &e->state;
	text_copy(s->device, sizeof(s->device), f->device);
	text_copy(s->kernel, sizeof(s->kernel), f->kernel);
	text_copy(s->note, sizeof(s->note), f->note);
	s->threads = f->threads;
	s->copies = f->copies;
	s->copy_bytes = f->copy_bytes;
	s->cache_bytes = f->cache_bytes;
	s->tuned = f->tuned;
	s->bytes = f->bytes;
	s->max_error = f->max_error;
	s->error_limit = f->error_limit;
	s->golden_hash = f->golden_hash;
	s->build = f->build;
	text_copy(s->isa, sizeof(s->isa), f->isa);
}

static int start_watch(struct engine *e, struct why *why)
{
	text_copy(e->state.address, sizeof(e->state.address), e->facts.address);
	e->state.locked_mhz = *e->facts.address ? e->config.lock_mhz : 0;
	publish(e);
	int r = stress_watch_start(
		&e->watch, &e->config, e->facts.address, push_reading, e, &e->state, why);
	if (!r && (e->config.lock_mhz || e->config.max_celsius)) {
		r = stress_watch_await(&e->watch, beat_engine, e, &e->state, why);
	}
	publish(e);
	if (!r && e->config.watch_gaps) {
		const bool cpu = !strcmp(e->ops->name, "cpu");
		r = stress_gaps_start(
			&e->host, cpu ? e->facts.threads : 0, &e->gaps, &e->watcher, why);
	}
	return r;
}

static int run_engine(struct engine *e)
{
	struct why why = {0};
	e->state.pid = getpid();
	e->state.max_error = -1;
	if (e->config.watch_gaps) {
		stress_host_read("", &e->host); /* before the back end pins this thread */
	}
	enter(e, STRESS_STARTING);
	int r = stress_backend_choose(e->config.backend, &e->ops, &why);
	if (!r) {
		text_copy(e->state.backend, sizeof(e->state.backend), e->ops->name);
		publish(e);
		r = e->ops->open(&e->config, &e->lender, &e->backend, &why);
		e->state.no_gpu = e->ops == &stress_backend_cuda && (r == -ENOENT || r == -ENODEV);
	}
	if (r == -ECANCELED && e->stop) {
		enter(e, STRESS_DONE);
		return 0;
	}
	if (r < 0) {
		return fail(e, &why);
	}
	take_facts(e);
	stress_audit_init(&e->audit, e->ops, e->backend, e->facts.copies, e->config.inject);
	be_patient(e, e->facts.expected_ns);
	r = start_watch(e, &why);
	if (r < 0) {
		finish_watch(e);
		r = r == -ECANCELED ? 0 : fail(e, &why);
	} else {
		r = run_loop(e);
	}
	e->ops->close(e->backend);
	if (!r) {
		enter(e, STRESS_DONE);
	}
	return r;
}

int stress_worker_main(int argc, char **argv)
{
	uint64_t fd;
	if (argc > 2 && !strcmp(argv[2], "facts")) {
		return stress_gpu_facts_main(argc, argv);
	}
	if (argc > 2 && !strcmp(argv[2], "unlock")) {
		return stress_gpu_unlock_main(argc, argv);
	}
	if (argc < 3 || text_parse_u64(argv[2], 10, &fd) < 0 || fd > 1 << 20) {
		return 3;
	}
	static struct engine e; /* one worker a process; too large for a stack */
	e = (struct engine){
		.lender = {.beat = lend_beat, .found = lend_found},
		.sock = (int)fd,
		.last_probe = STRESS_GEMM,
	};
	fcntl(e.sock, F_SETFD, FD_CLOEXEC);
	prctl(PR_SET_NAME, "barscope-worker");
	if (stress_shared_receive(e.sock, &e.config, &e.shared, &e.wake) < 0) {
		return 3;
	}
	stress_ring_init(
		&e.samples, &e.shared->samples, e.shared->sample_slots, STRESS_RING_SAMPLES);
	stress_ring_init(
		&e.readings, &e.shared->readings, e.shared->reading_slots, STRESS_RING_EVENTS);
	stress_ring_init(&e.gaps, &e.shared->gaps, e.shared->gap_slots, STRESS_RING_GAPS);
	stress_host_prefer_for_oom();
	int r = run_engine(&e);
	if (e.hung) {
		_exit(r); /* a library that is stuck in a call would be stuck in its farewell */
	}
	return r;
}
