/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Preloaded by tests: a disk on which every sync takes as long as SLOW_SYNC_MS says, and longer
 * while the file that SLOW_SYNC_WHILE names is there.
 */
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int fsync(int fd);
int fdatasync(int fd);

static void nap(long ms)
{
	const struct timespec ts = {ms / 1000, (ms % 1000) * 1000000};
	nanosleep(&ts, NULL);
}

static void be_slow(void)
{
	const char *ms = getenv("SLOW_SYNC_MS"), *file = getenv("SLOW_SYNC_WHILE");
	nap(ms ? atol(ms) : 0);
	while (file && access(file, F_OK) == 0) {
		nap(10);
	}
}

int fsync(int fd)
{
	be_slow();
	return (int)syscall(SYS_fsync, fd);
}

int fdatasync(int fd)
{
	be_slow();
	return (int)syscall(SYS_fdatasync, fd);
}
