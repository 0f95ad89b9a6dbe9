/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/macros.h"
#include "base/text.h"
#include "cli/cmd.h"
#include "cli/tune.h"
#include "pcie/addr.h"

/* One message on the pipe: parent and child are the same program. */
struct message {
	enum { FACTS, ROW, OUTPUT, END } kind; /* END comes last, with what went wrong */
	int error;                             /* TROUBLE: negative errno */
	union {
		struct stress_tune_facts facts;
		struct stress_tune_row row;
		struct {
			char kernel[40];
			size_t bytes; /* behind the message */
		} output;
		struct why why;
	} u;
};

struct pipe_sink {
	struct stress_tune_sink sink; /* first */
	int fd;
};

static void put_bytes(int fd, const void *bytes, size_t n_bytes)
{
	const char *p = bytes;

	for (size_t left = n_bytes; left > 0;) {
		const ssize_t n = write(fd, p, left);

		if (n < 0 && errno != EINTR) {
			_exit(1);
		}
		p += n > 0 ? n : 0;
		left -= n > 0 ? (size_t)n : 0;
	}
}

static void put(int fd, const struct message *m)
{
	put_bytes(fd, m, sizeof(*m));
}

static void put_output(struct stress_tune_sink *s, const char *kernel, const void *y, size_t bytes)
{
	struct message m = {.kind = OUTPUT, .u.output.bytes = bytes};

	text_copy(m.u.output.kernel, sizeof(m.u.output.kernel), kernel);
	put(((struct pipe_sink *)s)->fd, &m);
	put_bytes(((struct pipe_sink *)s)->fd, y, bytes);
}

static void put_facts(struct stress_tune_sink *s, const struct stress_tune_facts *f)
{
	const struct message m = {.kind = FACTS, .u.facts = *f};

	put(((struct pipe_sink *)s)->fd, &m);
}

static void put_row(struct stress_tune_sink *s, const struct stress_tune_row *r)
{
	const struct message m = {.kind = ROW, .u.row = *r};

	put(((struct pipe_sink *)s)->fd, &m);
}

static void run_child(const struct stress_tune_options *o, bool outputs, int fd)
{
	struct pipe_sink p = {.sink = {put_facts, put_row, outputs ? put_output : NULL}, .fd = fd};
	struct message m = {.kind = END};

	m.error =
		o->cpu ? stress_tune_cpu(o, &p.sink, &m.u.why) : stress_tune(o, &p.sink, &m.u.why);
	put(fd, &m);
	_exit(0);
}

static bool get_bytes(int fd, void *ret, size_t bytes)
{
	char *p = ret;
	size_t have = 0;

	while (have < bytes) {
		const ssize_t n = read(fd, p + have, bytes - have);

		if (n == 0 || (n < 0 && errno != EINTR)) {
			return false;
		}
		have += n > 0 ? (size_t)n : 0;
	}
	return true;
}

static bool get(int fd, struct message *m)
{
	return get_bytes(fd, m, sizeof(*m));
}

/* An output that follows its message. False: the child is gone, or there is no memory. */
static bool get_output(int fd, const struct message *m, struct cmd_tune_result *ret)
{
	_cleanup_free_ char *y = malloc(m->u.output.bytes);

	if (!y || !get_bytes(fd, y, m->u.output.bytes)) {
		return false;
	}
	ret->output(ret, m->u.output.kernel, y, m->u.output.bytes);
	return true;
}

static int status_of(int error)
{
	return error == -ENOENT || error == -ENODEV || error == -EOPNOTSUPP ? EXIT_NO_GPU
									    : EXIT_USAGE;
}

/* ENDED: it said that its work is done. A library may end a process too, with any status. */
static int await_end(const char *cmd, pid_t pid, bool ended)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
	}
	if (WIFSIGNALED(status)) {
		return cmd_fail(EXIT_USAGE, "%s: the process that used the GPU died of signal %d",
			cmd, WTERMSIG(status));
	}
	if (!ended) {
		return cmd_fail(EXIT_USAGE,
			"%s: the process that used the GPU ended with status %d before its work was done",
			cmd, WEXITSTATUS(status));
	}
	return 0;
}

int cmd_tune_run(const char *cmd, const struct stress_tune_options *o, struct cmd_tune_result *ret)
{
	int fd[2];
	struct message m;
	struct why why = {""};
	bool ended = false;
	int error = 0;

	if (pipe(fd) < 0) {
		return cmd_fail(EXIT_USAGE, "%s: no pipe: %s", cmd, strerror(errno));
	}
	fflush(stdout);
	const pid_t pid = fork();

	if (pid < 0) {
		close(fd[0]);
		close(fd[1]);
		return cmd_fail(EXIT_USAGE, "%s: no process: %s", cmd, strerror(errno));
	}
	if (pid == 0) {
		close(fd[0]);
		run_child(o, ret->output, fd[1]);
	}
	close(fd[1]);
	*ret = (struct cmd_tune_result){.output = ret->output, .data = ret->data};
	while (get(fd[0], &m)) {
		if (m.kind == FACTS) {
			ret->facts = m.u.facts;
		} else if (m.kind == ROW && ret->n < CMD_TUNE_ROWS) {
			ret->row[ret->n++] = m.u.row;
		} else if (m.kind == OUTPUT && !get_output(fd[0], &m, ret)) {
			break;
		} else if (m.kind == END) {
			ended = true;
			error = m.error;
			why = m.u.why;
		}
	}
	close(fd[0]);
	const int died = await_end(cmd, pid, ended);

	return error < 0 ? cmd_fail(status_of(error), "%s: %s", cmd, why.text) : died;
}

bool cmd_tune_config(
	const char *cmd, const struct cmd_tune_args *a, struct stress_config *config, int *status)
{
	struct why why;

	stress_config_init(config);
	if (a->shape && stress_shape_parse(a->shape, &config->shape, &why) < 0) {
		*status = cmd_usage_error(cmd, "%s", why.text);
		return false;
	}
	if (a->dtype && strcmp(a->dtype, "f16") && strcmp(a->dtype, "f32")) {
		*status = cmd_usage_error(cmd, "--dtype takes f16 or f32, not '%.40s'", a->dtype);
		return false;
	}
	if (a->dtype) {
		config->dtype = strcmp(a->dtype, "f32") ? STRESS_F16 : STRESS_F32;
	}
	if (a->kernel && strlen(a->kernel) >= sizeof(config->kernel)) {
		*status = cmd_usage_error(cmd, "--kernel: there is no '%.40s'", a->kernel);
		return false;
	}
	struct pcie_addr addr;
	if (a->device && (strlen(a->device) >= sizeof(config->device) ||
				 pcie_addr_parse(a->device, &addr) < 0)) {
		*status = cmd_usage_error(
			cmd, "--device: '%.40s' is no PCI address (0000:01:00.0)", a->device);
		return false;
	}
	text_copy(config->kernel, sizeof(config->kernel), a->kernel ? a->kernel : "");
	text_copy(config->device, sizeof(config->device), a->device ? a->device : "");
	return true;
}
