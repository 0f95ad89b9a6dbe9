/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/checkup.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "pcie/scan.h"
#include "runs/driver.h"

struct visit {
	struct job_item item;
	struct pcie_scan_options scan;
	struct doctor_report *report;
	int status;
	struct why why;
};

static void run_visit(struct job_item *item)
{
	struct visit *v = (struct visit *)item;
	struct pcie_snapshot *machine = NULL;
	struct why why;
	/* A snapshot of its own: the screen may replace the one it shows at any time. */
	if (pcie_scan(&v->scan, &machine, &why) < 0) {
		machine = NULL; /* the report says that nothing was seen */
	}
	/* Opening a view starts no work on a GPU that the plot or somebody else is measuring. */
	const struct doctor_options o = {.machine = machine, .quick = true};
	v->status = doctor_run(&o, &v->report);
	if (v->status < 0) {
		why_set(&v->why, "the check could not be run: %s", strerror(-v->status));
	}
	pcie_snapshot_destroy(machine);
}

void tui_checkup_start(struct tui_checkup *c)
{
	if (c->running) {
		return;
	}
	if (!c->job && job_create("doctor", &c->job) < 0) {
		c->job = NULL;
		why_set(&c->why, "the doctor's thread could not be started");
		return;
	}
	struct visit *v = xcalloc(1, sizeof(*v));
	v->item.run = run_visit;
	v->scan.source = c->source;
	v->scan.driver = &runs_driver;
	c->running = true;
	job_post(c->job, &v->item);
}

static void take(struct tui_checkup *c, struct visit *v)
{
	c->running = false;
	if (v->status < 0) {
		c->why = v->why;
	} else {
		c->why.text[0] = '\0';
		doctor_report_destroy(c->report);
		c->report = v->report;
	}
	free(v);
}

int tui_checkup_finish(struct tui_checkup *c, int timeout_ms)
{
	int r = 0;
	if (c->job) {
		struct pollfd p = {.fd = job_fd(c->job), .events = POLLIN};
		if (c->running && poll(&p, 1, timeout_ms) > 0) {
			tui_checkup_poll(c);
		}
		r = job_destroy(c->job, c->running ? 0 : 200);
	}
	doctor_report_destroy(c->report);
	*c = (struct tui_checkup){0};
	return r;
}

int tui_checkup_fd(const struct tui_checkup *c)
{
	return c->job ? job_fd(c->job) : -1;
}

bool tui_checkup_poll(struct tui_checkup *c)
{
	bool any = false;
	for (struct job_item *i; c->job && (i = job_collect(c->job));) {
		take(c, (struct visit *)i);
		any = true;
	}
	return any;
}
