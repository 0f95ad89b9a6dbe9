/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/neighbours.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "stress/gpu_facts.h"
#include "stress/host.h"

enum { ANSWER_MS = 5000 };

struct question {
	struct job_item item;
	char address[TUI_NEIGHBOURS_GPUS][PCIE_ADDR_MAX];
	size_t n;
	enum tui_use use;
	char who[200];
};

static void say_process(
	struct question *q, const char *where, pid_t pid, const char *name, size_t n)
{
	char more[48] = "";
	if (n > 1) {
		snprintf(more, sizeof(more), " and %zu more", n - 1);
	}
	q->use = TUI_USE_TAKEN;
	snprintf(q->who, sizeof(q->who), "%s is in use by process %d%s%s%s%s", where, (int)pid,
		*name ? " (" : "", name, *name ? ")" : "", more);
}

/* What NVML knows; false: it knows nothing. */
static bool ask_nvml(struct question *q)
{
	const char *address[TUI_NEIGHBOURS_GPUS];
	struct stress_gpu_facts f[TUI_NEIGHBOURS_GPUS];
	struct why why;
	for (size_t i = 0; i < q->n; i++) {
		address[i] = q->address[i];
	}
	if (stress_gpu_facts(address, q->n, 0, true, ANSWER_MS, f, &why) < 0) {
		return false;
	}
	for (size_t i = 0; i < q->n; i++) {
		if (f[i].error || f[i].processes < 0) {
			return false;
		}
		if (f[i].processes > 0) {
			say_process(
				q, q->address[i], f[i].process[0].pid, "", (size_t)f[i].processes);
			return true;
		}
	}
	q->use = TUI_USE_FREE;
	return true;
}

/* The device files tell of all GPUs together. */
static void ask_files(struct question *q)
{
	struct stress_host_openers o;
	stress_host_openers("", "/dev/nvidia", &o);
	if (o.n) {
		say_process(q, "a GPU", o.pid, o.name, o.n);
	} else if (o.invisible) {
		text_copy(q->who, sizeof(q->who),
			"who else uses the GPU cannot be seen by this user");
	} else {
		q->use = TUI_USE_FREE;
	}
}

static void run_question(struct job_item *item)
{
	struct question *q = (struct question *)item;
	if (!ask_nvml(q)) {
		ask_files(q);
	}
}

void tui_neighbours_ask(struct tui_neighbours *g, char (*address)[PCIE_ADDR_MAX], size_t n)
{
	if (g->asked) {
		return;
	}
	g->answered = false;
	g->asked = true;
	if (!g->job && job_create("neighbours", &g->job) < 0) {
		g->job = NULL;
		g->asked = false;
		g->answered = true;
		g->use = TUI_USE_UNKNOWN;
		text_copy(g->who, sizeof(g->who), "who else uses the GPU could not be asked");
		return;
	}
	struct question *q = xcalloc(1, sizeof(*q));
	q->item.run = run_question;
	q->n = n < TUI_NEIGHBOURS_GPUS ? n : TUI_NEIGHBOURS_GPUS;
	memcpy(q->address, address, q->n * sizeof(*q->address));
	job_post(g->job, &q->item);
}

int tui_neighbours_finish(struct tui_neighbours *g, int timeout_ms)
{
	int r = 0;
	if (g->job) {
		struct pollfd p = {.fd = job_fd(g->job), .events = POLLIN};
		if (g->asked && poll(&p, 1, timeout_ms) > 0) {
			tui_neighbours_poll(g);
		}
		r = job_destroy(g->job, g->asked ? 0 : 200);
	}
	*g = (struct tui_neighbours){0};
	return r;
}

int tui_neighbours_fd(const struct tui_neighbours *g)
{
	return g->job ? job_fd(g->job) : -1;
}

bool tui_neighbours_poll(struct tui_neighbours *g)
{
	bool any = false;
	for (struct job_item *i; g->job && (i = job_collect(g->job));) {
		struct question *q = (struct question *)i;
		g->asked = false;
		g->answered = true;
		g->use = q->use;
		memcpy(g->who, q->who, sizeof(g->who));
		free(q);
		any = true;
	}
	return any;
}
