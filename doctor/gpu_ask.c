/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The front's side: starts the child, listens for as long as it may take, ends it. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/child.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/macros.h"
#include "base/text.h"
#include "doctor/gpu.h"

/* The driver keeps two levels of folders; more is none of its. */
enum { CACHE_DEPTH = 4 };

static const char probe_name[] = ".barscope-cache-";

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

/* Folders of runs that a signal ended: nobody holds their locks any more. */
static void sweep(const char *parent)
{
	_cleanup_dir_ DIR *d = opendir(parent);
	struct dirent *e;

	while (d && (e = readdir(d))) {
		if (strncmp(e->d_name, probe_name, sizeof(probe_name) - 1) != 0) {
			continue;
		}
		const int fd = openat(
			dirfd(d), e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		const bool left = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0;

		if (left) {
			empty(fd, CACHE_DEPTH);
			unlinkat(dirfd(d), e->d_name, AT_REMOVEDIR);
		} else if (fd >= 0) {
			close(fd);
		}
	}
}

/*
 * A folder in PATH, or in its nearest parent that is there; "" where none can be made. It is
 * locked as long as the descriptor that is returned is open.
 */
static int make_probe(const char *path, char *ret, size_t size)
{
	_cleanup_free_ char *p = xstrdup(path);

	*ret = '\0';
	while (access(p, F_OK) < 0) {
		char *slash = strrchr(p, '/');

		if (!slash || slash == p) {
			return -1;
		}
		*slash = '\0';
	}
	sweep(p);
	if (strlen(p) + sizeof(probe_name) + 6 >= size) {
		return -1;
	}
	/* Another's sweep may come between making it and locking it. */
	for (int tries = 0; tries < 3; tries++) {
		struct stat here, there;

		snprintf(ret, size, "%s/%sXXXXXX", p, probe_name);
		if (!mkdtemp(ret)) {
			break;
		}
		const int fd = open(ret, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

		if (fd < 0) {
			continue;
		}
		flock(fd, LOCK_EX | LOCK_NB); /* where there are no locks nobody sweeps */
		if (stat(ret, &there) == 0 && fstat(fd, &here) == 0 &&
			here.st_ino == there.st_ino && here.st_dev == there.st_dev) {
			return fd;
		}
		close(fd);
	}
	*ret = '\0';
	return -1;
}

/* Removes the folder that make_probe() made and locked by FD; how many files the driver put into
 * it. */
static unsigned remove_probe(const char *path, int fd)
{
	const unsigned n = empty(fd, CACHE_DEPTH);

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

/* The sentence for a child that ended, or was ended, before it was done. */
static void explain(struct doctor_gpu *g, ssize_t got, int status, unsigned limit_ms)
{
	const char *doing = doctor_gpu_doing(g->step);

	if (got == -ETIMEDOUT) {
		g->error = -ETIMEDOUT;
		snprintf(g->why, sizeof(g->why), "%s did not end within %u ms", doing, limit_ms);
	} else if (g->step != DOCTOR_GPU_DONE && !g->error) {
		g->error = -EIO;
		snprintf(g->why, sizeof(g->why), "%s %d while %s",
			WIFSIGNALED(status) ? "signal" : "it ended with",
			WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status), doing);
	}
}

static void ask(
	const struct doctor_gpu_question *q, const char *pass, char **env, struct doctor_gpu *ret)
{
	const uint64_t until = clock_ns() + q->limit_ms * (uint64_t)1000000;
	char name[] = "barscope", option[] = "--doctor-gpu", which[8], shape[40];
	_cleanup_free_ char *libcuda = xstrdup(q->libcuda ? q->libcuda : "");
	_cleanup_free_ char *cublaslt = xstrdup(q->cublaslt ? q->cublaslt : "");
	char *argv[] = {name, option, which, libcuda, cublaslt, shape, NULL};
	struct doctor_gpu g;
	struct child c;
	ssize_t got;

	text_copy(which, sizeof(which), pass);
	snprintf(shape, sizeof(shape), "%ux%ux%u", q->shape.m, q->shape.k, q->shape.n);
	const int r = child_start(argv, env, &c);

	if (r < 0) {
		ret->error = r;
		snprintf(ret->why, sizeof(ret->why), "no process for it: %s", strerror(-r));
		return;
	}
	/* What it knows after each step; the last word counts. */
	while ((got = child_read(&c, &g, sizeof(g), until)) == (ssize_t)sizeof(g)) {
		*ret = g;
	}
	explain(ret, got, child_end(&c, got < 0), q->limit_ms);
}

void doctor_gpu_ask(const struct doctor_gpu_question *q, struct doctor_gpu *ret)
{
	_cleanup_free_ char *where = cache_dir();
	const char *off = getenv("CUDA_CACHE_DISABLE");
	char probe[sizeof(ret->cache)] = "", variable[sizeof(probe) + 20] = "";
	struct doctor_gpu g = {0}, k = {0};
	const int lock = where ? make_probe(where, probe, sizeof(probe)) : -1;

	snprintf(variable, sizeof(variable), "CUDA_CACHE_PATH=%s", probe);
	_cleanup_free_ char **env = *probe ? environment_with(variable) : NULL;

	ask(q, q->quick ? "quick" : "whole", env, &g);
	text_copy(g.cache, sizeof(g.cache), probe);
	g.cache_off = off && !strcmp(off, "1");
	g.cached = *probe ? remove_probe(probe, lock) : 0;
	if (!g.error && !q->quick) {
		ask(q, "kernel", NULL, &k);
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
