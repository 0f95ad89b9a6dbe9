/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/signals.h"

#include <errno.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

int cmd_signals_open(struct cmd_signals *ret, struct why *why)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, &ret->old);
	ret->fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (ret->fd < 0) {
		const int r = -errno;
		why_set(why, "signals cannot be received: %s", strerror(-r));
		sigprocmask(SIG_SETMASK, &ret->old, NULL);
		return r;
	}
	return 0;
}

int cmd_signals_take(const struct cmd_signals *s)
{
	struct signalfd_siginfo info;
	return read(s->fd, &info, sizeof(info)) == (ssize_t)sizeof(info) ? (int)info.ssi_signo : 0;
}

void cmd_signals_close(struct cmd_signals *s)
{
	if (s->fd >= 0) {
		close(s->fd);
		s->fd = -1;
		sigprocmask(SIG_SETMASK, &s->old, NULL);
	}
}
