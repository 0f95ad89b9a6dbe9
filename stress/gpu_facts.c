/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stress/gpu_facts.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/child.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/macros.h"
#include "base/text.h"

/* -- the process that asks ----------------------------------------------------------------- */

static void take_processes(struct nvml *n, struct stress_gpu_facts *f)
{
	struct nvml_process p[STRESS_GPU_PROCESSES];
	size_t have = 0;

	for (int graphics = 0; graphics < 2; graphics++) {
		const int found = nvml_processes(n, graphics, p, ARRAY_LEN(p));

		if (found < 0) {
			continue;
		}
		f->processes = MAX(f->processes, 0) + found;
		for (int i = 0; i < found && i < STRESS_GPU_PROCESSES; i++) {
			if (p[i].pid && have < STRESS_GPU_PROCESSES) {
				f->process[have].pid = (pid_t)p[i].pid;
				f->process[have].bytes = p[i].bytes;
				f->process[have++].graphics = graphics;
			}
		}
	}
}

static void ask(const char *address, unsigned readings, bool processes, struct stress_gpu_facts *f)
{
	struct nvml *n;
	struct why why = {""};

	*f = (struct stress_gpu_facts){.processes = -1};
	f->error = nvml_open(NULL, address, &n, &why);
	if (f->error < 0) {
		text_copy(f->why, sizeof(f->why), why.text);
		return;
	}
	nvml_name(n, f->name, sizeof(f->name));
	for (unsigned r = 0; r < NVML_READINGS; r++) {
		if (readings >> r & 1 && nvml_read(n, r, &f->value[r]) == 0) {
			f->known |= 1u << r;
		}
	}
	if (processes) {
		take_processes(n, f);
	}
	/* Left open: the end of this process closes it, and detaching takes its time. */
}

static bool put(const struct stress_gpu_facts *f)
{
	const char *p = (const char *)f;

	for (size_t left = sizeof(*f); left > 0;) {
		const ssize_t n = write(STDOUT_FILENO, p, left);

		if (n < 0 && errno != EINTR) {
			return false;
		}
		p += n > 0 ? n : 0;
		left -= n > 0 ? (size_t)n : 0;
	}
	return true;
}

int stress_gpu_facts_main(int argc, char **argv)
{
	uint64_t readings = 0, processes = 0;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "barscope-facts");
	if (argc < 5 || text_parse_u64(argv[3], 16, &readings) < 0 ||
		text_parse_u64(argv[4], 10, &processes) < 0) {
		return 3;
	}
	for (int i = 5; i < argc; i++) {
		struct stress_gpu_facts f;

		ask(argv[i], (unsigned)readings, processes, &f);
		if (!put(&f)) {
			break;
		}
	}
	_exit(0); /* without the library's own farewell */
}

int stress_gpu_unlock_main(int argc, char **argv)
{
	struct stress_gpu_facts f = {.processes = -1};
	struct nvml *n;
	struct why why = {""};

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "barscope-unlock");
	if (argc != 4) {
		return 3;
	}
	f.error = nvml_open(NULL, argv[3], &n, &why);
	f.error = f.error ? f.error : nvml_lock_clocks(n, 0, &why);
	text_copy(f.why, sizeof(f.why), why.text);
	put(&f);
	_exit(0);
}

/* -- the one who wants to know ------------------------------------------------------------- */

/* Fills RET with what C says; returns what became of it all. */
static int collect(struct child *c, const char *const *address, size_t n, int timeout_ms,
	struct stress_gpu_facts *ret, struct why *why)
{
	const uint64_t until = clock_ns() + (uint64_t)timeout_ms * 1000000;
	ssize_t got = 0;
	size_t have = 0;

	while (have < n) {
		got = child_read(c, &ret[have], sizeof(*ret), until);
		if (got != (ssize_t)sizeof(*ret)) {
			break;
		}
		ret[have].why[sizeof(ret->why) - 1] = '\0';
		ret[have++].name[sizeof(ret->name) - 1] = '\0';
	}
	const int status = child_end(c, have < n);

	for (size_t i = have; i < n; i++) {
		ret[i] = (struct stress_gpu_facts){.processes = -1};
		ret[i].error = got == -ETIMEDOUT ? -ETIMEDOUT : -EIO;
		if (got == -ETIMEDOUT && i > have) {
			snprintf(ret[i].why, sizeof(ret[i].why),
				"NVML was not asked about the GPU at %s: that at %s does not answer",
				address[i], address[have]);
		} else if (got == -ETIMEDOUT) {
			snprintf(ret[i].why, sizeof(ret[i].why),
				"NVML has not answered for the GPU at %s within %.1f s: is it lost? "
				"Read the kernel log for Xid",
				address[i], timeout_ms / 1e3);
		} else {
			snprintf(ret[i].why, sizeof(ret[i].why),
				"the process that asked NVML ended with %s %d",
				WIFSIGNALED(status) ? "signal" : "status",
				WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
		}
	}
	for (size_t i = 0; i < n; i++) {
		if (ret[i].error == 0) {
			return 0;
		}
	}
	why_set(why, "%s", n ? ret[0].why : "no GPU was named");
	return n ? ret[0].error : -EINVAL;
}

/* Starts the process with ARGV and takes its N answers. */
static int question(char **argv, const char *const *address, size_t n, int timeout_ms,
	struct stress_gpu_facts *ret, struct why *why)
{
	struct child c;
	const int r = child_start(argv, NULL, &c);

	if (r < 0) {
		why_set(why, "the process that asks NVML cannot be started: %s", strerror(-r));
		return r;
	}
	return collect(&c, address, n, timeout_ms, ret, why);
}

int stress_gpu_unlock(const char *address, int timeout_ms, struct why *why)
{
	char name[] = "barscope", worker[] = "--worker", unlock[] = "unlock", at[24];
	char *argv[] = {name, worker, unlock, at, NULL};
	struct stress_gpu_facts answer;

	text_copy(at, sizeof(at), address);
	return question(argv, &address, 1, timeout_ms, &answer, why);
}

int stress_gpu_facts(const char *const *address, size_t n, unsigned readings, bool processes,
	int timeout_ms, struct stress_gpu_facts *ret, struct why *why)
{
	enum { FIXED = 5 };
	_cleanup_free_ char **argv = xcalloc(FIXED + n + 1, sizeof(*argv));
	char name[] = "barscope", worker[] = "--worker", facts[] = "facts", mask[16], want[4];

	snprintf(mask, sizeof(mask), "%x", readings);
	snprintf(want, sizeof(want), "%d", processes);
	char *const fixed[FIXED] = {name, worker, facts, mask, want};

	memcpy(argv, fixed, sizeof(fixed));
	for (size_t i = 0; i < n; i++) {
		argv[FIXED + i] = (char *)(uintptr_t)address[i]; /* never written to */
	}
	return question(argv, address, n, timeout_ms, ret, why);
}
