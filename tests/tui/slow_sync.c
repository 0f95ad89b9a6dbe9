/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Preloaded by tests: a disk on which every sync takes as long as SLOW_SYNC_MS says. */
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int fsync(int fd);
int fdatasync(int fd);

static void be_slow(void)
{
	const char *ms = getenv("SLOW_SYNC_MS");
	long n = ms ? atol(ms) : 0;
	const struct timespec ts = {n / 1000, (n % 1000) * 1000000};
	nanosleep(&ts, NULL);
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
