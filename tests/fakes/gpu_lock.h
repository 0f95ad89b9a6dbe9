/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The lock that a real driver has and its libraries share: with FAKE_GPU_LOCK=FILE the fakes of
 * CUDA and NVML take turns, so that a slow reading delays launches. In turn, as a driver's mutex
 * does it: who waits for the lock holds the place behind its owner, which is another lock of the
 * same file.
 */
#pragma once

#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

/* Opened once by each library: flock() knows owners by their open files, not by process. */
static int gpu_lock_fd(void)
{
	static int fd = -2;

	if (fd == -2) {
		const char *path = getenv("FAKE_GPU_LOCK");

		fd = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
	}
	return fd;
}

static inline void gpu_lock_place(short type)
{
	struct flock l = {.l_type = type, .l_whence = SEEK_SET, .l_len = 1};

	fcntl(gpu_lock_fd(), F_OFD_SETLKW, &l);
}

static inline void gpu_lock(void)
{
	if (gpu_lock_fd() >= 0) {
		gpu_lock_place(F_WRLCK);
		flock(gpu_lock_fd(), LOCK_EX);
		gpu_lock_place(F_UNLCK);
	}
}

static inline void gpu_unlock(void)
{
	if (gpu_lock_fd() >= 0) {
		flock(gpu_lock_fd(), LOCK_UN);
	}
}
