/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

static int spawn(const char *program, char *const *argv, char *const *env, int out, pid_t *ret)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	sigset_t none;

	sigemptyset(&none);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
	posix_spawnattr_setsigmask(&attr, &none);
	const int r = posix_spawnp(ret, program, &actions, &attr, argv, env);

	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&actions);
	return -r;
}

int child_start(char *const *argv, char *const *env, struct child *ret)
{
	return child_start_program("/proc/self/exe", argv, env, ret);
}

int child_start_program(const char *program, char *const *argv, char *const *env, struct child *ret)
{
	struct child c;
	int fd[2];

	if (pipe2(fd, O_CLOEXEC) < 0) {
		return -errno;
	}
	const int r = spawn(program, argv, env ? env : environ, fd[1], &c.pid);

	close(fd[1]);
	if (r < 0) {
		close(fd[0]);
		return r;
	}
	c.fd = fd[0];
	*ret = c;
	return 0;
}

ssize_t child_read(const struct child *c, void *buf, size_t size, uint64_t until_ns)
{
	size_t have;

	if (clock_ns() >= until_ns) {
		return -ETIMEDOUT; /* whoever reads piece by piece must come to an end */
	}
	const int r = child_read_some(c, buf, size, until_ns, &have);

	return r < 0 ? r : (ssize_t)have;
}

int child_read_some(
	const struct child *c, void *buf, size_t size, uint64_t until_ns, size_t *ret_have)
{
	for (*ret_have = 0; *ret_have < size;) {
		const uint64_t now = clock_ns();
		const bool over = now >= until_ns;
		struct pollfd p = {.fd = c->fd, .events = POLLIN};
		const int ready = poll(&p, 1, over ? 0 : (int)((until_ns - now) / 1000000 + 1));

		if (ready < 0 && errno != EINTR) {
			return -errno;
		}
		if (ready <= 0) {
			if (over) {
				return -ETIMEDOUT;
			}
			continue; /* a read would wait past the deadline */
		}
		const ssize_t n = read(c->fd, (char *)buf + *ret_have, size - *ret_have);

		if (n == 0) {
			break;
		}
		if (n < 0 && errno != EINTR && errno != EAGAIN) {
			return -errno;
		}
		*ret_have += n > 0 ? (size_t)n : 0;
	}
	return 0;
}

int child_end(struct child *c, bool kill_it)
{
	int status = -1;

	close(c->fd);
	c->fd = -1;
	if (kill_it) {
		kill(c->pid, SIGKILL);
	}
	/* One that has said all ends by itself, if slowly: a driver detaches. */
	for (int tries = 0; tries < 400; tries++) {
		const pid_t r = waitpid(c->pid, &status, WNOHANG);

		if (r == c->pid || (r < 0 && errno != EINTR)) {
			return r == c->pid ? status : -1;
		}
		poll(NULL, 0, tries < 10 ? 1 : 5);
	}
	return -1;
}
