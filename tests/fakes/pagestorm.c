/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A storm of page faults, by LD_PRELOAD, in a worker of barscope: its large anonymous mappings (the
 * weights) become mappings of memory files, and a thread drops a slice of their page table entries
 * at random moments (madvise MADV_DONTNEED). The contents stay: the launches that follow
 * multiply the same numbers and take a fault for each piece that was dropped.
 *
 *   PAGE_STORM_LOG=FILE   gets "FROM TO" of each storm (CLOCK_MONOTONIC_RAW, ns)
 *   PAGE_STORM_AFTER=S    seconds from the process's start to the first storm, default 3
 */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

#define EXPORT __attribute__((visibility("default")))

static const size_t large = (size_t)8 << 20;

static struct {
	char *p;
	size_t bytes;
} region; /* the largest mapping so far; written before the first storm */

static void *map(void *at, size_t bytes, int prot, int flags, int fd, long offset)
{
	return (void *)syscall(SYS_mmap, at, bytes, prot, flags, fd, offset); /* NOLINT */
}

EXPORT void *mmap(void *at, size_t bytes, int prot, int flags, int fd, off_t offset)
{
	if (fd >= 0 || bytes < large || !(flags & MAP_ANONYMOUS) || !(prot & PROT_WRITE)) {
		return map(at, bytes, prot, flags, fd, offset);
	}
	int file = memfd_create("weights", MFD_CLOEXEC);
	if (file < 0 || ftruncate(file, (off_t)bytes) < 0) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	char *p = map(at, bytes, prot, MAP_SHARED, file, 0);
	close(file);
	if ((void *)p != MAP_FAILED && bytes > region.bytes) {
		region.p = p;
		region.bytes = bytes;
	}
	return p;
}

static void nap_ms(unsigned ms)
{
	nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L}, NULL);
}

/* Eight times a slice of half of the weights, 5 ms apart. */
static void storm(unsigned *seed)
{
	for (int i = 0; i < 8; i++) {
		size_t half = region.bytes / 2 / 4096 * 4096;
		size_t from = (size_t)rand_r(seed) % (half / 4096) * 4096;
		madvise(region.p + from, half, MADV_DONTNEED);
		nap_ms(5);
	}
}

static void *storms(void *unused)
{
	const char *path = getenv("PAGE_STORM_LOG"), *after = getenv("PAGE_STORM_AFTER");
	FILE *log = path ? fopen(path, "we") : NULL;
	unsigned seed = 5;

	(void)unused;
	nap_ms(1000 * (after ? (unsigned)atoi(after) : 3));
	while (region.bytes) {
		const uint64_t from = clock_ns();
		storm(&seed);
		if (log) {
			fprintf(log, "%llu %llu\n", (unsigned long long)from,
				(unsigned long long)clock_ns());
			fflush(log);
		}
		nap_ms(2000 + (unsigned)rand_r(&seed) % 1200);
	}
	return NULL;
}

__attribute__((constructor)) static void begin(void)
{
	char line[256] = "";
	FILE *f = fopen("/proc/self/cmdline", "re");
	size_t n = f ? fread(line, 1, sizeof(line) - 1, f) : 0;
	pthread_t thread;
	const char *argument = memchr(line, 0, n);

	if (f) {
		fclose(f);
	}
	if (argument && !strcmp(argument + 1, "--worker")) {
		pthread_create(&thread, NULL, storms, NULL);
	}
}
