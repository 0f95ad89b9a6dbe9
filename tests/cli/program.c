/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/cli/program.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { ARGUMENTS = 28 };

static char folder[] = "/tmp/barscope-program-XXXXXX";

int program_folder_make(void **state)
{
	(void)state;
	return mkdtemp(folder) ? setenv("XDG_DATA_HOME", folder, 1) : -1;
}

int program_folder_remove(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -r '%s'", folder);
	return system(command);
}

const char *in_folder(const char *name)
{
	static char path[4][128];
	static unsigned next;
	char *p = path[next++ % 4];

	snprintf(p, sizeof(path[0]), "%s/%s", folder, name);
	return p;
}

static void read_back(const char *name, char *buf, size_t size)
{
	FILE *f = fopen(in_folder(name), "r");

	assert_non_null(f);
	buf[fread(buf, 1, size - 1, f)] = '\0';
	fclose(f);
}

static void redirect(const char *path, int flags, int to)
{
	const int fd = open(path, flags, 0600);

	if (fd < 0 || dup2(fd, to) < 0) {
		_exit(126);
	}
	close(fd);
}

pid_t program_start(const char *const *arguments, const char *input, size_t memory)
{
	const char *program = getenv("BARSCOPE");
	const char *argv[ARGUMENTS + 2] = {program};
	const char *out = in_folder("out"), *err = in_folder("err");

	assert_non_null(program);
	for (size_t i = 0; arguments[i]; i++) {
		assert_true(i < ARGUMENTS);
		argv[i + 1] = arguments[i];
	}
	const pid_t pid = fork();

	if (pid == 0) {
		if (memory) {
			setrlimit(RLIMIT_AS, &(struct rlimit){memory, memory});
		}
		if (input) {
			redirect(input, O_RDONLY, STDIN_FILENO);
		}
		redirect(out, O_WRONLY | O_CREAT | O_TRUNC, STDOUT_FILENO);
		redirect(err, O_WRONLY | O_CREAT | O_TRUNC, STDERR_FILENO);
		execv(program, (char *const *)(const void *)argv);
		_exit(127);
	}
	assert_true(pid > 0);
	return pid;
}

void program_end(pid_t pid, struct outcome *ret)
{
	struct rusage use;
	int status;

	assert_int_equal(wait4(pid, &status, 0, &use), pid);
	ret->status = WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
	ret->kib = use.ru_maxrss;
	read_back("out", ret->out, sizeof(ret->out));
	read_back("err", ret->err, sizeof(ret->err));
}
