/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The front's side: starts the child, listens for as long as it may take, ends it. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/macros.h"
#include "base/text.h"
#include "doctor/gpu.h"

/* The driver keeps two levels of folders; more is none of its. */
enum { CACHE_DEPTH = 4 };

const char *doctor_gpu_doing(enum doctor_gpu_step s)
{
	static const char *const names[] = {
		[DOCTOR_GPU_NOT_ASKED] = "starting",
		[DOCTOR_GPU_LOAD] = "loading libcuda.so.1 and cuInit",
		[DOCTOR_GPU_CONTEXT] = "making a context on the first GPU",
		[DOCTOR_GPU_COMPILE] = "compiling a tiny kernel",
		[DOCTOR_GPU_LAUNCH] = "launching an empty kernel",
		[DOCTOR_GPU_LIBRARY] = "loading cuBLASLt",
		[DOCTOR_GPU_KERNEL] = "compiling the shape's kernel",
		[DOCTOR_GPU_TIME] = "timing the shape's kernel",
		[DOCTOR_GPU_DONE] = "ending",
	};
	return names[s];
}

/* -- the cache ----------------------------------------------------------------------- */

/* Where the driver keeps compiled kernels; the caller frees it, NULL: nowhere. */
static char *cache_dir(void)
{
	const char *given = getenv("CUDA_CACHE_PATH"), *home = getenv("HOME");
	struct text t = {0};

	if (given && *given) {
		text_add(&t, given);
	} else if (home && *home) {
		text_addf(&t, "%s/.nv/ComputeCache", home);
	} else {
		return NULL;
	}
	return text_steal(&t);
}

/* A folder in PATH, or in its nearest parent that is there; "" where none can be made. */
static void make_probe(const char *path, char *ret, size_t size)
{
	_cleanup_free_ char *p = xstrdup(path);

	*ret = '\0';
	while (access(p, F_OK) < 0) {
		char *slash = strrchr(p, '/');

		if (!slash || slash == p) {
			return;
		}
		*slash = '\0';
	}
	if ((size_t)snprintf(ret, size, "%s/.barscope-cache-XXXXXX", p) >= size || !mkdtemp(ret)) {
		*ret = '\0';
	}
}

/* Empties the folder FD, which is closed; how many files were in it. */
static unsigned empty(int fd, unsigned depth)
{
	_cleanup_dir_ DIR *d = fdopendir(fd);
	struct dirent *e;
	unsigned n = 0;

	if (!d) {
		close(fd);
		return 0;
	}
	while ((e = readdir(d))) {
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, "..")) {
			continue;
		}
		if (unlinkat(dirfd(d), e->d_name, 0) == 0) {
			n++;
			continue;
		}
		const int below = openat(
			dirfd(d), e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

		if (below >= 0 && depth > 0) {
			n += empty(below, depth - 1);
			unlinkat(dirfd(d), e->d_name, AT_REMOVEDIR);
		} else if (below >= 0) {
			close(below);
		}
	}
	return n;
}

/* Removes the folder that make_probe() made; how many files the driver put into it. */
static unsigned remove_probe(const char *path)
{
	const int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	const unsigned n = fd < 0 ? 0 : empty(fd, CACHE_DEPTH);

	rmdir(path);
	return n;
}

/* -- the child ----------------------------------------------------------------------- */

/* This process's environment, with VARIABLE ("NAME=value") in place of its own NAME. */
static char **environment_with(char *variable)
{
	const size_t name = (size_t)(strchr(variable, '=') - variable) + 1;
	size_t n = 0, kept = 0;

	while (environ && environ[n]) {
		n++;
	}
	char **all = xcalloc(n + 2, sizeof(*all));

	for (size_t i = 0; i < n; i++) {
		if (strncmp(environ[i], variable, name) != 0) {
			all[kept++] = environ[i];
		}
	}
	all[kept] = variable;
	return all;
}

static int start(
	const struct doctor_gpu_question *q, const char *pass, char **env, int out, pid_t *ret)
{
	char shape[40];
	posix_spawn_file_actions_t files;

	snprintf(shape, sizeof(shape), "%ux%ux%u", q->shape.m, q->shape.k, q->shape.n);
	const char *argv[] = {"barscope", "--doctor-gpu", pass, q->libcuda ? q->libcuda : "",
		q->cublaslt ? q->cublaslt : "", shape, NULL};

	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
	/* The driver's libraries may write there; nobody shall see it. */
	posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	const int error =
		posix_spawn(ret, "/proc/self/exe", &files, NULL, (char *const *)argv, env);

	posix_spawn_file_actions_destroy(&files);
	return -error;
}

/* Reads what the child tells until its end; false: the time was over before. */
static bool listen_to(int fd, uint64_t until, struct doctor_gpu *ret)
{
	struct doctor_gpu g;
	size_t have = 0;

	for (;;) {
		const uint64_t now = clock_ns();
		struct pollfd p = {.fd = fd, .events = POLLIN};

		if (now >= until) {
			return false;
		}
		if (poll(&p, 1, (int)((until - now) / 1000000) + 1) <= 0) {
			continue;
		}
		const ssize_t n = read(fd, (char *)&g + have, sizeof(g) - have);

		if (n <= 0) {
			return true;
		}
		have += (size_t)n;
		if (have == sizeof(g)) {
			*ret = g;
			have = 0;
		}
	}
}

/* One that is stuck in the kernel is left behind. */
static void reap(pid_t pid, int *ret_status)
{
	for (int tries = 0; tries < 200; tries++) {
		const pid_t r = waitpid(pid, ret_status, WNOHANG);

		if (r == pid || (r < 0 && errno != EINTR)) {
			return;
		}
		poll(NULL, 0, tries < 10 ? 1 : 5);
	}
}

static void ask(
	const struct doctor_gpu_question *q, const char *pass, char **env, struct doctor_gpu *ret)
{
	int fd[2], status = 0;
	pid_t pid;

	if (pipe2(fd, O_CLOEXEC) < 0) {
		ret->error = -errno;
		snprintf(ret->why, sizeof(ret->why), "no pipe: %s", strerror(errno));
		return;
	}
	const int r = start(q, pass, env, fd[1], &pid);

	close(fd[1]);
	if (r < 0) {
		ret->error = r;
		snprintf(ret->why, sizeof(ret->why), "no process for it: %s", strerror(-r));
		close(fd[0]);
		return;
	}
	const bool ended = listen_to(fd[0], clock_ns() + q->limit_ms * (uint64_t)1000000, ret);

	close(fd[0]);
	if (!ended) {
		kill(pid, SIGKILL);
		ret->error = -ETIMEDOUT;
		snprintf(ret->why, sizeof(ret->why), "%s did not end within %u ms",
			doctor_gpu_doing(ret->step), q->limit_ms);
	}
	reap(pid, &status);
	if (ended && ret->step != DOCTOR_GPU_DONE && !ret->error) {
		ret->error = -EIO;
		if (WIFSIGNALED(status)) {
			snprintf(ret->why, sizeof(ret->why), "signal %d while %s", WTERMSIG(status),
				doctor_gpu_doing(ret->step));
		} else {
			snprintf(ret->why, sizeof(ret->why), "it ended with %d while %s",
				WEXITSTATUS(status), doctor_gpu_doing(ret->step));
		}
	}
}

void doctor_gpu_ask(const struct doctor_gpu_question *q, struct doctor_gpu *ret)
{
	_cleanup_free_ char *where = cache_dir();
	const char *off = getenv("CUDA_CACHE_DISABLE");
	char probe[sizeof(ret->cache)] = "", variable[sizeof(probe) + 20] = "";
	struct doctor_gpu g = {0}, k = {0};

	if (where) {
		make_probe(where, probe, sizeof(probe));
	}
	snprintf(variable, sizeof(variable), "CUDA_CACHE_PATH=%s", probe);
	_cleanup_free_ char **env = *probe ? environment_with(variable) : NULL;

	ask(q, q->quick ? "quick" : "whole", env ? env : environ, &g);
	text_copy(g.cache, sizeof(g.cache), probe);
	g.cache_off = off && !strcmp(off, "1");
	g.cached = *probe ? remove_probe(probe) : 0;
	if (!g.error && !q->quick) {
		ask(q, "kernel", environ, &k);
		if (k.step == DOCTOR_GPU_TIME && k.error) {
			snprintf(g.time_why, sizeof(g.time_why), "%.150s", k.why);
		} else {
			g.kernel_error = k.error;
			text_copy(g.kernel_why, sizeof(g.kernel_why), k.why);
		}
		g.own_ns = k.own_ns;
		g.library_ns = k.library_ns;
		g.read_ns = k.read_ns;
		text_copy(g.kernel, sizeof(g.kernel), k.kernel);
		text_copy(g.kernel_note, sizeof(g.kernel_note), k.kernel_note);
		g.registers = k.registers;
		g.local_bytes = k.local_bytes;
		g.blocks_per_sm = k.blocks_per_sm;
	}
	*ret = g;
}
