/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/machine.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/macros.h"
#include "pcie/pulse.h"
#include "pcie/scan.h"
#include "runs/driver.h"

struct scan {
	struct job_item item;
	struct pcie_driver driver; /* asks the real one for what SIZES lacks */
	struct tui_sizes sizes;
	struct pcie_scan_options options;
	const struct pcie_snapshot *before; /* the owner's, who keeps it until this is taken */
	struct tui_changes changes;         /* from that to RESULT, or from THEN to NOW */
	struct pcie_snapshot *result;
	struct tui_survey *survey;
	int status;
	struct why why;
	char *record; /* a parse of these bytes in place of a scan; owned */
	size_t len;
	bool is_pulse; /* only a quick look */
	/* A comparison in place of a scan; the owner's, who keeps both until this is taken. */
	const struct pcie_snapshot *then, *now;
	bool live;
	uint64_t pulse, took_ns;
	struct tui_surroundings around; /* STAMP: of what is known already */
	bool chose;                     /* around.choices are new */
};

static bool is_live(const struct tui_machine *m)
{
	return !m->source || !strcmp(m->source, "live");
}

void tui_machine_init(struct tui_machine *m, const char *source)
{
	*m = (struct tui_machine){.source = source, .around.load = -1};
	if (is_live(m) && pcie_watch_open(&m->watch) < 0) {
		m->watch = NULL; /* some containers; r reads the machine again */
	}
}

static void drop_items(struct tui_machine *m)
{
	for (struct job_item *i; (i = job_collect(m->scanner));) {
		struct scan *s = (struct scan *)i;
		pcie_snapshot_destroy(s->result);
		tui_survey_destroy(s->survey);
		runs_choices_finish(&s->around.choices);
		free(s->record);
		free(s);
	}
}

int tui_machine_finish(struct tui_machine *m, int timeout_ms)
{
	int r = 0;
	if (m->scanner) {
		struct pollfd p = {.fd = job_fd(m->scanner), .events = POLLIN};
		bool busy = m->scanning || m->parsing || m->pulsing || m->comparing;
		if (busy && poll(&p, 1, timeout_ms) > 0) {
			timeout_ms = 100; /* it has ended: only the thread is to be joined */
		}
		drop_items(m);
		r = job_destroy(m->scanner, timeout_ms);
	}
	pcie_watch_close(m->watch);
	if (r == 0) { /* a scanner that is stuck may still compare with it */
		pcie_snapshot_destroy(m->snapshot);
		pcie_snapshot_destroy(m->then);
		pcie_snapshot_destroy(m->retired);
	}
	tui_survey_destroy(m->survey);
	runs_choices_finish(&m->around.choices);
	*m = (struct tui_machine){0};
	return r;
}

size_t tui_sizes_tell(const struct tui_sizes *s, struct pcie_gpu_sizes *gpu, size_t n)
{
	size_t known = 0;
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < s->n; k++) {
			if (!pcie_addr_compare(gpu[i].addr, s->gpu[k].addr)) {
				gpu[i] = s->gpu[k];
				known++;
			}
		}
	}
	return known;
}

/* On the scanner: from what is known already, else from the driver; what is gone is forgotten. */
static void ask_once(const struct pcie_driver *d, struct pcie_gpu_sizes *gpu, size_t n)
{
	struct scan *s =
		(struct scan *)(void *)((char *)(uintptr_t)d - offsetof(struct scan, driver));
	if (tui_sizes_tell(&s->sizes, gpu, n) < n) {
		runs_driver.sizes(&runs_driver, gpu, n);
	}
	s->sizes.n = MIN(n, (size_t)TUI_GPUS);
	memcpy(s->sizes.gpu, gpu, s->sizes.n * sizeof(*gpu));
}

/* What `tune` found is read again when its file is another one than the last time; a file that is
 * not there, or damaged, leaves nothing: kernels are picked at run time then. */
static void look_around(struct scan *s)
{
	struct tui_surroundings *k = &s->around;
	_cleanup_free_ char *path = NULL;
	struct stat st = {0};
	struct why note;
	if (getloadavg(&k->load, 1) != 1) {
		k->load = -1;
	}
	bool there = runs_choices_path(&path) == 0 && stat(path, &st) == 0;
	int64_t mtime = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
	s->chose = k->stamp.mtime_ns != mtime || k->stamp.size != st.st_size ||
		   k->stamp.inode != st.st_ino;
	k->stamp.mtime_ns = mtime;
	k->stamp.size = st.st_size;
	k->stamp.inode = st.st_ino;
	if (s->chose && there) {
		runs_choices_load(path, &k->choices, &note);
	}
}

static void run_scan(struct job_item *item)
{
	struct scan *s = (struct scan *)item;
	if (s->then) {
		tui_changes_find(s->then, s->now, &s->changes);
		return;
	}
	if (!s->record) {
		look_around(s);
	}
	if (s->is_pulse) {
		uint64_t begun = clock_ns();
		s->status = s->live ? pcie_pulse("", &s->pulse) : -ENOENT;
		s->took_ns = clock_ns() - begun;
		return;
	}
	if (s->record) {
		s->status = pcie_scan_buffer(
			"the baseline's machine", s->record, s->len, &s->result, &s->why);
		return;
	}
	s->status = pcie_scan(&s->options, &s->result, &s->why);
	if (s->status == 0) {
		s->survey = tui_survey_create(s->result);
		if (s->before) { /* on a machine of 10,000 devices this takes a while */
			tui_changes_find(s->before, s->result, &s->changes);
		}
	}
}

static int need_scanner(struct tui_machine *m)
{
	int r = m->scanner ? 0 : job_create("scanner", &m->scanner);
	if (r < 0) {
		m->scanner = NULL;
		why_set(&m->why, "the scanner thread could not be started");
	}
	return r;
}

int tui_machine_scan(struct tui_machine *m, uint64_t now_ns)
{
	if (m->scanning) {
		m->again = true;
		return 0;
	}
	int r = need_scanner(m);
	if (r < 0) {
		return r;
	}
	struct scan *s = xcalloc(1, sizeof(*s));
	s->item.run = run_scan;
	s->options.source = m->source;
	s->options.driver = &s->driver;
	s->driver.sizes = ask_once;
	s->before = m->snapshot;
	s->sizes = m->sizes;
	s->around.stamp = m->around.stamp;
	m->scanning = true;
	m->scan_asked_ns = now_ns;
	job_post(m->scanner, &s->item);
	return 0;
}

/* At most one is looked at when it goes: the next comes behind that look. */
static void drop_then(struct tui_machine *m)
{
	if (m->comparing && !m->retired) {
		m->retired = m->then;
	} else {
		pcie_snapshot_destroy(m->then);
	}
	m->then = NULL;
	m->has_since = m->stale = false;
}

/* Has SINCE worked out; not while THEN or SNAPSHOT may be replaced under the scanner's eyes. */
static void compare(struct tui_machine *m)
{
	if (!m->stale || m->comparing || m->scanning || m->parsing || !m->then || !m->snapshot ||
		need_scanner(m) < 0) {
		return;
	}
	struct scan *s = xcalloc(1, sizeof(*s));
	s->item.run = run_scan;
	s->then = m->then;
	s->now = m->snapshot;
	m->comparing = true;
	m->stale = false;
	job_post(m->scanner, &s->item);
}

bool tui_machine_settling(const struct tui_machine *m)
{
	return m->parsing || m->comparing || (m->stale && m->then && m->snapshot);
}

void tui_machine_set_then(struct tui_machine *m, struct pcie_snapshot *then)
{
	drop_then(m);
	m->then = then;
	m->has_since = then && m->snapshot;
	m->since = (struct tui_changes){0};
	if (m->has_since) {
		tui_changes_find(then, m->snapshot, &m->since);
	}
}

void tui_machine_parse_then(struct tui_machine *m, const char *record, size_t len)
{
	drop_then(m);
	if (need_scanner(m) < 0) {
		return;
	}
	struct scan *s = xcalloc(1, sizeof(*s));
	s->item.run = run_scan;
	s->record = xmalloc(len + 1);
	memcpy(s->record, record, len);
	s->record[len] = '\0';
	s->len = len;
	m->parsing++;
	job_post(m->scanner, &s->item);
}

void tui_machine_pulse(struct tui_machine *m, uint64_t now_ns)
{
	if (m->pulsing || m->scanning || !m->snapshot || now_ns < m->pulse_due_ns ||
		need_scanner(m) < 0) {
		return;
	}
	struct scan *s = xcalloc(1, sizeof(*s));
	s->item.run = run_scan;
	s->is_pulse = true;
	s->live = is_live(m);
	s->around.stamp = m->around.stamp;
	m->pulsing = true;
	job_post(m->scanner, &s->item);
}

/* A large machine is looked at less often: at most a twentieth of the time. */
static void take_pulse(struct tui_machine *m, const struct scan *s, uint64_t now_ns)
{
	m->pulsing = false;
	m->pulse_due_ns = now_ns + MAX((uint64_t)1000000000u, 20 * s->took_ns);
	if (s->status < 0) {
		return;
	}
	if (m->has_pulse && s->pulse != m->pulse) {
		tui_machine_scan(m, now_ns);
	}
	m->has_pulse = true;
	m->pulse = s->pulse;
}

int tui_machine_fd(const struct tui_machine *m)
{
	return m->scanner ? job_fd(m->scanner) : -1;
}

int tui_machine_watch_fd(const struct tui_machine *m)
{
	return m->watch ? pcie_watch_fd(m->watch) : -1;
}

static void take_surroundings(struct tui_machine *m, struct scan *s)
{
	m->around.load = s->around.load;
	if (s->chose) {
		runs_choices_finish(&m->around.choices);
		m->around = s->around;
		s->around.choices = (struct runs_choices){0};
	}
}

static unsigned take(struct tui_machine *m, struct scan *s, uint64_t now_ns)
{
	if (s->then) {
		m->comparing = false;
		pcie_snapshot_destroy(m->retired);
		m->retired = NULL;
		if (s->then != m->then) {
			return 0;
		}
		m->since = s->changes;
		m->has_since = true;
		return TUI_MACHINE_COMPARED;
	}
	if (!s->record) {
		take_surroundings(m, s);
	}
	if (s->is_pulse) {
		take_pulse(m, s, now_ns);
		return 0;
	}
	if (s->record) {
		m->parsing--;
		drop_then(m);
		m->then = s->status < 0 ? NULL : s->result;
		m->stale = true;
		return TUI_MACHINE_PARSED;
	}
	m->scanning = false;
	m->sizes = s->sizes;
	if (s->status < 0) {
		m->why = s->why;
	} else {
		m->why.text[0] = '\0';
		tui_machine_set(m, s->result, s->survey);
		m->changes = s->changes;
		m->stale = true;
	}
	return TUI_MACHINE_SCANNED;
}

unsigned tui_machine_poll(struct tui_machine *m, uint64_t now_ns)
{
	if (m->watch && pcie_watch_drain(m->watch)) {
		tui_machine_scan(m, now_ns);
	}
	unsigned news = 0;
	struct job_item *i;
	while (m->scanner && (i = job_collect(m->scanner))) {
		struct scan *s = (struct scan *)i;
		news |= take(m, s, now_ns);
		free(s->record);
		free(s);
	}
	if ((news & TUI_MACHINE_SCANNED) && m->again) {
		m->again = false;
		tui_machine_scan(m, now_ns);
	}
	compare(m);
	return news;
}

void tui_machine_set(struct tui_machine *m, struct pcie_snapshot *s, struct tui_survey *v)
{
	tui_survey_destroy(m->survey);
	m->survey = v ? v : tui_survey_create(s);
	pcie_snapshot_destroy(m->snapshot);
	m->snapshot = s;
	m->changes = (struct tui_changes){0};
}

size_t tui_machine_listed(const struct tui_machine *m)
{
	return m->survey ? m->survey->nlisted : 0;
}

const struct pcie_device *tui_machine_device(const struct tui_machine *m, size_t i)
{
	return &m->snapshot->dev[m->survey->listed[i]];
}
