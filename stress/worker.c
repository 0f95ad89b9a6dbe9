/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stress/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/macros.h"
#include "stress/shared.h"

struct stress_worker {
	pid_t pid;
	int sock, wake, pidfd, epoll, memfd;
	struct stress_shared *shared;
	struct stress_ring samples, readings, gaps;
	struct stress_status last; /* the last consistent copy of the worker's own words */
	bool gone;                 /* reaped */
	int wait_status;
	uint32_t want_load, told_load;
	bool want_pause, told_pause; /* what the front wants, what the socket took */
	bool want_stop, told_stop;
};

/* -- start ------------------------------------------------------------------------- */

/* In the child, between fork and exec: async-signal-safe calls only. */
static _Noreturn void child_exec(int sock, pid_t front)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != front) {
		_exit(125); /* the front died before the line above */
	}
	sigset_t none;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	/* The terminal's ^C is for the front, which then asks the worker to stop. */
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);

	close_range(3, ~0u, CLOSE_RANGE_CLOEXEC);
	fcntl(sock, F_SETFD, 0);

	char digits[12];
	char *at = digits + sizeof(digits);
	*--at = '\0';
	int n = sock;
	do {
		*--at = (char)('0' + n % 10);
		n /= 10;
	} while (n);
	char name[] = "barscope", option[] = "--worker";
	char *argv[] = {name, option, at, NULL};
	/* By its path, so that a debugger or valgrind follows; a file that was replaced meanwhile
	 * is only there as what runs. */
	char self[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (len > 0) {
		self[len] = '\0';
		if (!strstr(self, " (deleted)")) {
			execv(self, argv);
		}
	}
	execv("/proc/self/exe", argv);
	_exit(126);
}

static int make_shared(struct stress_worker *w, struct why *why)
{
	w->memfd = memfd_create("barscope-samples", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (w->memfd < 0 || ftruncate(w->memfd, sizeof(struct stress_shared)) < 0) {
		why_set(why, "shared memory for the worker: %s", strerror(errno));
		return -errno;
	}
	/* A broken worker cannot shrink it under the front's feet. */
	fcntl(w->memfd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
	void *p = mmap(NULL, sizeof(struct stress_shared), PROT_READ | PROT_WRITE, MAP_SHARED,
		w->memfd, 0);
	if (p == MAP_FAILED) {
		why_set(why, "shared memory for the worker: %s", strerror(errno));
		return -errno;
	}
	w->shared = p;
	stress_ring_init(
		&w->samples, &w->shared->samples, w->shared->sample_slots, STRESS_RING_SAMPLES);
	stress_ring_init(
		&w->readings, &w->shared->readings, w->shared->reading_slots, STRESS_RING_EVENTS);
	stress_ring_init(&w->gaps, &w->shared->gaps, w->shared->gap_slots, STRESS_RING_GAPS);
	atomic_store(&w->shared->beat_ns, clock_ns());
	return 0;
}

static int send_config(struct stress_worker *w, const struct stress_config *c)
{
	struct stress_message m = {.request = STRESS_CONFIG, .config = *c};
	struct iovec iov = {.iov_base = &m, .iov_len = sizeof(m)};
	int fds[2] = {w->memfd, w->wake};
	union {
		struct cmsghdr align;
		char buf[CMSG_SPACE(sizeof(fds))];
	} control = {0};
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control.buf,
		.msg_controllen = sizeof(control.buf),
	};
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(&msg);
	cmsg->cmsg_level = SOL_SOCKET;
	cmsg->cmsg_type = SCM_RIGHTS;
	cmsg->cmsg_len = CMSG_LEN(sizeof(fds));
	memcpy(CMSG_DATA(cmsg), fds, sizeof(fds));
	return sendmsg(w->sock, &msg, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -errno : 0;
}

static int watch_fd(const struct stress_worker *w, int fd)
{
	struct epoll_event e = {.events = EPOLLIN, .data.fd = fd};
	return epoll_ctl(w->epoll, EPOLL_CTL_ADD, fd, &e) < 0 ? -errno : 0;
}

static int start_process(struct stress_worker *w, const struct stress_config *c)
{
	int pair[2];
	w->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	w->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (w->wake < 0 || w->epoll < 0 ||
		socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) {
		return -errno;
	}
	w->sock = pair[0];
	_cleanup_fd_ int theirs = pair[1];
	int r = send_config(w, c);
	if (r < 0) {
		return r;
	}
	pid_t front = getpid();
	w->pid = fork();
	if (w->pid < 0) {
		return -errno;
	}
	if (w->pid == 0) {
		child_exec(theirs, front);
	}
	w->gone = false;
	r = watch_fd(w, w->wake);
	/* The end of the child: its pidfd; on kernels without one, its end of the socket. */
	w->pidfd = pidfd_open(w->pid, 0);
	return r ? r : watch_fd(w, w->pidfd >= 0 ? w->pidfd : w->sock);
}

int stress_worker_start(const struct stress_config *c, struct stress_worker **ret, struct why *why)
{
	struct stress_worker *w = xcalloc(1, sizeof(*w));
	*w = (struct stress_worker){
		.sock = -1,
		.wake = -1,
		.pidfd = -1,
		.epoll = -1,
		.memfd = -1,
		.gone = true,
		.last = {.phase = STRESS_STARTING, .max_error = -1},
	};
	int r = make_shared(w, why);
	if (!r) {
		r = start_process(w, c);
		if (r < 0) {
			why_set(why, "the worker process cannot be started: %s", strerror(-r));
		}
	}
	if (r < 0) {
		stress_worker_destroy(w, 0);
		return r;
	}
	*ret = w;
	return 0;
}

/* -- requests ---------------------------------------------------------------------- */

static bool tell(const struct stress_worker *w, enum stress_request request, uint32_t value)
{
	struct stress_message m = {.request = request, .value = value};
	return send(w->sock, &m, sizeof(m), MSG_NOSIGNAL | MSG_DONTWAIT) >= 0;
}

/* Sends what is wanted and not yet said; a stopped worker's full socket is tried again later. */
static void tell_wishes(struct stress_worker *w)
{
	if (w->gone) {
		return;
	}
	if (w->want_pause != w->told_pause &&
		tell(w, w->want_pause ? STRESS_PAUSE : STRESS_RESUME, 0)) {
		w->told_pause = w->want_pause;
	}
	if (w->want_load != w->told_load && tell(w, STRESS_LOAD, w->want_load)) {
		w->told_load = w->want_load;
	}
	if (w->want_stop && !w->told_stop) {
		w->told_stop = tell(w, STRESS_STOP, 0);
	}
}

void stress_worker_pause(struct stress_worker *w, bool pause)
{
	w->want_pause = pause;
	tell_wishes(w);
}

void stress_worker_load(struct stress_worker *w, uint32_t percent)
{
	w->want_load = percent;
	tell_wishes(w);
}

void stress_worker_stop(struct stress_worker *w)
{
	w->want_stop = true;
	tell_wishes(w);
}

/* -- what the worker says ---------------------------------------------------------- */

int stress_worker_fd(const struct stress_worker *w)
{
	return w->epoll;
}

static bool is_final(enum stress_phase phase)
{
	return phase == STRESS_DONE || phase == STRESS_FAILED || phase == STRESS_DIED;
}

static void read_state(struct stress_worker *w)
{
	struct stress_status s;
	if (!stress_state_read(&w->shared->state, &s) || !s.pid) {
		return; /* torn, or nothing was written yet: what was read before holds */
	}
	if ((unsigned)s.phase > STRESS_DIED) {
		s.phase = STRESS_FAILED;
	}
	s.why[sizeof(s.why) - 1] = '\0';
	s.backend[sizeof(s.backend) - 1] = '\0';
	s.device[sizeof(s.device) - 1] = '\0';
	s.kernel[sizeof(s.kernel) - 1] = '\0';
	s.isa[sizeof(s.isa) - 1] = '\0';
	s.ceiling_kernel[sizeof(s.ceiling_kernel) - 1] = '\0';
	s.note[sizeof(s.note) - 1] = '\0';
	s.address[sizeof(s.address) - 1] = '\0';
	s.telemetry[sizeof(s.telemetry) - 1] = '\0';
	if ((unsigned)s.ended > STRESS_ENDED_LOST) {
		s.ended = STRESS_ENDED_LOST;
	}
	s.finding.kind = MIN(s.finding.kind, (uint32_t)STRESS_WRONG_KINDS);
	w->last = s;
}

static void describe_death(struct stress_worker *w)
{
	if (is_final(w->last.phase)) {
		return;
	}
	w->last.phase = STRESS_DIED;
	char *why = w->last.why;
	size_t size = sizeof(w->last.why);
	int status = w->wait_status;
	if (WIFSIGNALED(status)) {
		int sig = WTERMSIG(status);
		snprintf(why, size, "the worker process was ended by signal %d (%s)", sig,
			strsignal(sig));
	} else if (WIFEXITED(status) && WEXITSTATUS(status) == 126) {
		snprintf(why, size,
			"the worker process cannot be started: /proc/self/exe does "
			"not run");
	} else {
		snprintf(why, size, "the worker process ended with status %d and said nothing",
			WEXITSTATUS(status));
	}
}

static void reap(struct stress_worker *w)
{
	if (w->gone) {
		return;
	}
	pid_t r = waitpid(w->pid, &w->wait_status, WNOHANG);
	if (r == w->pid || (r < 0 && errno == ECHILD)) {
		w->gone = true;
		/* Both would stay readable for ever. */
		epoll_ctl(w->epoll, EPOLL_CTL_DEL, w->pidfd >= 0 ? w->pidfd : w->sock, NULL);
	}
}

void stress_worker_poll(struct stress_worker *w)
{
	uint64_t n;
	while (read(w->wake, &n, sizeof(n)) > 0) {
	}
	tell_wishes(w);
	reap(w); /* before the state is read: what it said last is then there */
	read_state(w);
	if (w->gone) {
		describe_death(w);
	}
}

void stress_worker_status(const struct stress_worker *w, struct stress_status *ret)
{
	const struct stress_shared *sh = w->shared;
	*ret = w->last;
	ret->pid = w->pid;
	ret->produced = atomic_load_explicit(&sh->produced, memory_order_relaxed);
	ret->dropped = stress_ring_dropped(&w->samples);
	ret->events_dropped = stress_ring_dropped(&w->readings) + stress_ring_dropped(&w->gaps);
	ret->silent_ns = 0;
	ret->stalled = false;
	if (w->gone || is_final(w->last.phase)) {
		return;
	}
	uint64_t beat = atomic_load_explicit(&sh->beat_ns, memory_order_relaxed);
	uint64_t patience = atomic_load_explicit(&sh->patience_ns, memory_order_relaxed);
	patience = MAX(patience, (uint64_t)STRESS_PATIENCE_MS * 1000000u);
	uint64_t now = clock_ns();
	ret->silent_ns = now > beat ? now - beat : 0;
	/* Opening a device may take seconds in one call; SILENT_NS tells even then. */
	ret->stalled = w->last.phase != STRESS_STARTING && ret->silent_ns > patience;
}

size_t stress_worker_read(struct stress_worker *w, struct stress_sample *ret, size_t max)
{
	return stress_ring_pop(&w->samples, ret, max);
}

size_t stress_worker_events(struct stress_worker *w, struct stress_event *ret, size_t max)
{
	size_t n = stress_ring_pop(&w->readings, ret, max);
	n += stress_ring_pop(&w->gaps, ret + n, max - n);
	for (size_t i = 0; i < n; i++) {
		ret[i].text[sizeof(ret[i].text) - 1] = '\0';
	}
	return n;
}

/* -- end --------------------------------------------------------------------------- */

enum { KILLED_MS = 500 }; /* what a killed process may take to go away */

static void await_end(struct stress_worker *w, uint64_t until_ns)
{
	for (;;) {
		reap(w);
		uint64_t now = clock_ns();
		if (w->gone || now >= until_ns) {
			return;
		}
		int left = (int)((until_ns - now + 999999u) / 1000000u);
		struct pollfd p = {.fd = w->pidfd, .events = POLLIN};
		/* Without a pidfd (or with one that was interrupted) look again every 10 ms. */
		poll(&p, 1, w->pidfd >= 0 ? left : MIN(left, 10));
		tell_wishes(w);
	}
}

/* One after the other, but all end meanwhile, and the time is that of all. */
static void await_ends(struct stress_worker *const *w, size_t n, int timeout_ms)
{
	const uint64_t until = clock_ns() + (uint64_t)MAX(timeout_ms, 0) * 1000000u;
	for (size_t i = 0; i < n; i++) {
		if (w[i]) {
			await_end(w[i], until);
		}
	}
}

static void release(struct stress_worker *w)
{
	if (w->shared) {
		munmap(w->shared, sizeof(*w->shared));
	}
	const int fds[] = {w->sock, w->wake, w->pidfd, w->epoll, w->memfd};
	for (size_t i = 0; i < ARRAY_LEN(fds); i++) {
		if (fds[i] >= 0) {
			close(fds[i]);
		}
	}
	free(w);
}

void stress_worker_kill(struct stress_worker *w)
{
	if (!w->gone) {
		kill(w->pid, SIGKILL);
	}
}

void stress_worker_destroy_all(struct stress_worker *const *w, size_t n, int timeout_ms)
{
	for (size_t i = 0; i < n; i++) {
		if (w[i]) {
			stress_worker_stop(w[i]);
		}
	}
	await_ends(w, n, timeout_ms);
	for (size_t i = 0; i < n; i++) {
		if (w[i]) {
			stress_worker_kill(w[i]);
		}
	}
	/* A process stuck in the kernel is left behind, not waited for. */
	await_ends(w, n, KILLED_MS);
	for (size_t i = 0; i < n; i++) {
		if (w[i]) {
			release(w[i]);
		}
	}
}

void stress_worker_destroy(struct stress_worker *w, int timeout_ms)
{
	stress_worker_destroy_all(&w, 1, timeout_ms);
}
