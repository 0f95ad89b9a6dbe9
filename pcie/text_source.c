/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The text door: one pass over the cleaned lines hands each to its reader, then
 * what the readers found about one machine is joined.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "pcie/classify.h"
#include "pcie/clean.h"
#include "pcie/iomem.h"
#include "pcie/klog.h"
#include "pcie/lshw.h"
#include "pcie/lspci.h"
#include "pcie/qemu_info.h"
#include "pcie/smi.h"
#include "pcie/sysfs_text.h"
#include "pcie/text_doubt.h"
#include "pcie/witness.h"
#include "pcie/xorg.h"

enum {
	CHUNK_MIN = 4 << 10,
	CHUNK_MAX = 256 << 10,
	AHEAD = 24, /* lines that a reader may look at beyond its own */
	MAX_LINES = 4 << 20,
};

/* Lines of the kinds that are read as a whole, with a copy of their text. */
struct sections {
	struct pcie_lines log, smi, qemu, lshw, xorg, sysfs;
	size_t nline;
	bool cut;     /* there were too many */
	char **chunk; /* of text; the last one has USED bytes of SIZE */
	size_t nchunk, capchunk, used, size;
	bool iomem;
};

static void sections_finish(struct sections *s)
{
	pcie_lines_finish(&s->log);
	pcie_lines_finish(&s->smi);
	pcie_lines_finish(&s->qemu);
	pcie_lines_finish(&s->lshw);
	pcie_lines_finish(&s->xorg);
	pcie_lines_finish(&s->sysfs);
	for (size_t i = 0; i < s->nchunk; i++) {
		free(s->chunk[i]);
	}
	free(s->chunk);
}

static struct pcie_lines *lines_of(struct sections *s, enum pcie_text_kind kind)
{
	switch (kind) {
	case PCIE_TEXT_LOG:
		return &s->log;
	case PCIE_TEXT_SMI:
		return &s->smi;
	case PCIE_TEXT_QEMU:
		return &s->qemu;
	case PCIE_TEXT_LSHW:
		return &s->lshw;
	case PCIE_TEXT_XORG:
		return &s->xorg;
	case PCIE_TEXT_SYSFS:
		return &s->sysfs;
	default:
		return NULL;
	}
}

static const char *keep_text(struct sections *s, const char *text, size_t len)
{
	if (s->nchunk == 0 || s->used + len + 1 > s->size) {
		s->chunk = xgrow(s->chunk, s->nchunk, &s->capchunk, sizeof(*s->chunk));
		s->size = MIN(MAX(s->size * 2, (size_t)CHUNK_MIN), (size_t)CHUNK_MAX);
		s->size = MAX(s->size, len + 1);
		s->used = 0;
		s->chunk[s->nchunk++] = xmalloc(s->size);
	}
	char *copy = s->chunk[s->nchunk - 1] + s->used;
	memcpy(copy, text, len);
	copy[len] = '\0';
	s->used += len + 1;
	return copy;
}

static void push(struct sections *s, struct pcie_lines *to, const struct pcie_line *l)
{
	if (s->nline == MAX_LINES) {
		s->cut = true;
		return;
	}
	s->nline++;
	pcie_lines_push(to, keep_text(s, l->s, l->len), l->len, l->number);
	to->line[to->n - 1].width = l->width;
	to->line[to->n - 1].lead = l->lead;
}

/* An empty line between two pieces of one kind. */
static void push_gap(struct pcie_lines *to, const struct pcie_line *l)
{
	if (to && to->n > 0 && to->line[to->n - 1].len > 0) {
		pcie_lines_push(to, "", 0, l->number);
	}
}

/* What is read, and where the reading stands. */
struct route {
	struct pcie_snapshot *s;
	struct pcie_lspci *lspci;
	struct sections to;
	enum pcie_text_kind now;
};

/* A line that is nothing of lspci's. */
static void take_other(struct route *r, const struct pcie_line *line)
{
	struct pcie_addr about;
	if (r->now == PCIE_TEXT_LSPCI && line->s[0] == '\t' && line->s[1] == '\t') {
		return; /* a detail of a capability: no text of another kind is so far in */
	}
	enum pcie_text_kind kind = pcie_classify(line->s, line->len);

	if (kind == PCIE_TEXT_OTHER || kind == PCIE_TEXT_COMMAND) {
		if (pcie_classify_lspci_command(line->s, &about)) {
			push_gap(lines_of(&r->to, r->now), line);
			pcie_lspci_about(r->lspci, about);
			r->now = PCIE_TEXT_COMMAND;
		} else if (kind == PCIE_TEXT_COMMAND && r->now != PCIE_TEXT_LOG) {
			r->now = PCIE_TEXT_COMMAND;
		}
	} else if (kind != r->now) {
		pcie_lspci_end(r->lspci, false);
		push_gap(lines_of(&r->to, r->now), line);
		r->now = kind;
	}
	if (r->now == PCIE_TEXT_IOMEM) {
		r->to.iomem = pcie_iomem_line(r->s, line->s) || r->to.iomem;
	} else if (lines_of(&r->to, r->now)) {
		push(&r->to, lines_of(&r->to, r->now), line);
	}
}

/*
 * Line I of L to its reader; returns how many lines that took. A line of no kind goes
 * with what stood before it: the rest of a wrapped log message, a value of
 * nvidia-smi, a detail of a device.
 */
static size_t take_line(struct route *r, const struct pcie_lines *l, size_t i)
{
	const struct pcie_line *line = &l->line[i];
	if (line->len == 0 && l->cut && i + 1 == l->n) {
		return 1; /* a line that has only begun */
	}
	if (line->len == 0) {
		pcie_lspci_blank(r->lspci);
		push_gap(lines_of(&r->to, r->now), line);
		return 1;
	}
	size_t n = pcie_lspci_take(r->lspci, l, i);
	if (n > 0) {
		push_gap(lines_of(&r->to, r->now), line);
		r->now = PCIE_TEXT_LSPCI;
		return n;
	}
	take_other(r, line);
	return 1;
}

static void take_text(struct route *r, struct pcie_cleaner *c)
{
	size_t i = 0;
	while (pcie_cleaner_next(c, i)) {
		i = 0;
		/* at least one, or endless lines would fill the window for ever */
		while (i < c->lines.n && (c->done || i == 0 || i + AHEAD < c->lines.n)) {
			i += take_line(r, &c->lines, i);
		}
	}
	if (lines_of(&r->to, r->now)) {
		lines_of(&r->to, r->now)->cut = c->lines.cut;
	}
	pcie_lspci_end(r->lspci, true); /* no line behind the last tells that nothing is missing */
}

/*
 * The only GPU of the two snapshots, else the only device that is no bridge; an
 * unknown address when there is no such, or more than one.
 */
static struct pcie_addr only_device(const struct pcie_snapshot *a, const struct pcie_snapshot *b)
{
	const struct pcie_snapshot *all[] = {a, b};
	struct pcie_addr gpu = {0}, any = {0};
	bool many_gpus = false, many = false;

	for (size_t k = 0; k < ARRAY_LEN(all); k++) {
		for (size_t i = 0; i < all[k]->ndev; i++) {
			const struct pcie_device *d = &all[k]->dev[i];
			if (!d->addr.known || d->is_bridge) {
				continue;
			}
			many = many || (any.known && pcie_addr_compare(any, d->addr));
			any = d->addr;
			if (pcie_device_is_gpu(d)) {
				many_gpus =
					many_gpus || (gpu.known && pcie_addr_compare(gpu, d->addr));
				gpu = d->addr;
			}
		}
	}
	if (gpu.known) {
		gpu.known = !many_gpus;
		return gpu;
	}
	any.known = any.known && !many;
	return any;
}

/* Pieces without a header: they belong to the only device there is, or to one without address. */
static void place_orphans(
	struct pcie_snapshot *s, const struct pcie_snapshot *log, const struct pcie_lspci *lspci)
{
	size_t n;
	const struct pcie_device *orphan = pcie_lspci_orphans(lspci, &n);
	struct pcie_addr addr = n > 0 ? only_device(s, log) : (struct pcie_addr){0};
	int home = -1, bridge = -1;
	bool told = false;

	for (size_t i = 0; i < n; i++) {
		int *slot = orphan[i].is_bridge ? &bridge : &home;
		bool is_new = false;
		if (*slot < 0 && !orphan[i].is_bridge && addr.known) {
			*slot = pcie_snapshot_find(s, addr);
		}
		if (*slot < 0) {
			struct pcie_addr none = {0};
			struct pcie_device *d =
				pcie_snapshot_add(s, orphan[i].is_bridge ? none : addr);
			struct pcie_addr at = d->addr;
			*d = orphan[i];
			d->addr = at;
			*slot = (int)s->ndev - 1;
			is_new = true;
		}
		if (!is_new && pcie_lspci_update(&s->dev[*slot], &orphan[i])) {
			pcie_snapshot_note(s, *slot,
				"the text shows this device in more than one state: the last one counts");
		}
		if (!told && addr.known && !orphan[i].is_bridge) {
			told = true;
			pcie_snapshot_note(s, *slot,
				"lines of lspci without a header: taken to be about this device, the only "
				"one");
		}
	}
}

/*
 * lspci -b shows bus addresses, among which 0 is a valid one: where the bridge's window
 * begins at 0, "<unassigned>" proves nothing.
 */
static void doubt_bus_address_zero(struct pcie_snapshot *s)
{
	for (size_t i = 0; i < s->ndev; i++) {
		struct pcie_device *d = &s->dev[i];
		if (d->parent < 0) {
			continue;
		}
		const struct pcie_window *w = s->dev[d->parent].window;
		bool pref = w[PCIE_WINDOW_PREF].have == PCIE_KNOWN && w[PCIE_WINDOW_PREF].base == 0;
		bool mem = w[PCIE_WINDOW_MEM].have == PCIE_KNOWN && w[PCIE_WINDOW_MEM].base == 0;
		for (int k = 0; k < d->nbar; k++) {
			struct pcie_bar *b = &d->bar[k];
			if (b->kind == PCIE_BAR_NORMAL && !b->io && !b->ignored && !b->has_size &&
				b->assigned == PCIE_NO && (pref || mem)) {
				b->assigned = PCIE_TRI_UNKNOWN;
				pcie_snapshot_note(s, (int)i,
					"a BAR prints as <unassigned>, but the window above begins at bus "
					"address 0 (lspci -b?): it may have that address");
			}
		}
	}
}

/* A witness of its own: its BARs have no numbers, and merging finds whose they are. */
static void merge_lines(struct pcie_snapshot *s, const struct pcie_lines *l, const char *name,
	size_t (*parse)(struct pcie_snapshot *, const struct pcie_lines *, pcie_src))
{
	if (l->n == 0) {
		return;
	}
	struct pcie_snapshot *from = pcie_snapshot_create(name);
	parse(from, l, pcie_snapshot_source(from, name));
	pcie_snapshot_settle(from);
	pcie_merge(s, from);
	pcie_snapshot_destroy(from);
}

static void read_sections(struct route *r)
{
	struct pcie_snapshot *s = r->s, *log = pcie_snapshot_create("the log");

	if (r->to.qemu.n > 0) {
		pcie_qemu_info_parse(s, &r->to.qemu, pcie_snapshot_source(s, "info pci"));
	}
	if (r->to.log.n > 0) {
		pcie_klog_parse(&r->to.log, log, pcie_snapshot_source(log, PCIE_SOURCE_LOG));
	}
	place_orphans(s, log, r->lspci);
	pcie_snapshot_settle(s);
	doubt_bus_address_zero(s);
	pcie_merge(s, log);
	pcie_snapshot_destroy(log);
	merge_lines(s, &r->to.xorg, "Xorg.log", pcie_xorg_parse);
	merge_lines(s, &r->to.sysfs, "sysfs", pcie_sysfs_text_parse);
	if (r->to.sysfs.n > 0) {
		pcie_sysfs_text_number_bars(s);
	}
	merge_lines(s, &r->to.lshw, "lshw", pcie_lshw_parse);
	if (r->to.smi.n > 0) {
		pcie_smi_parse(s, &r->to.smi, pcie_snapshot_source(s, PCIE_SOURCE_SMI));
	}
	if (r->to.iomem) {
		pcie_iomem_finish(s, pcie_snapshot_source(s, "/proc/iomem"));
	}
	pcie_snapshot_settle(s);
}

static bool is_empty(const struct pcie_snapshot *s)
{
	return s->ndev == 0 && s->naperture == 0 && s->nhistory == 0 && s->nstatement == 0 &&
	       s->have_iomem == PCIE_UNKNOWN && s->host.have_kernel == PCIE_UNKNOWN &&
	       s->host.have_cmdline == PCIE_UNKNOWN && s->host.have_dmi == PCIE_UNKNOWN;
}

static bool has_gpu(const struct pcie_snapshot *s)
{
	for (size_t i = 0; i < s->ndev; i++) {
		if (pcie_device_is_gpu(&s->dev[i])) {
			return true;
		}
	}
	return false;
}

int pcie_text_scan(
	const char *name, const char *data, size_t len, struct pcie_snapshot **ret, struct why *why)
{
	struct pcie_cleaner *cleaner;

	int err = pcie_cleaner_open(data, len, &cleaner);
	if (err < 0) {
		why_set(why, "%s: not enough memory", name);
		return err;
	}
	struct pcie_snapshot *s = pcie_snapshot_create(name);
	struct route r = {.s = s, .lspci = pcie_lspci_create(s)};
	take_text(&r, cleaner);
	read_sections(&r);
	if (cleaner->cut || r.to.cut) {
		pcie_snapshot_note(
			s, -1, "the text is too long, or has a line that is: a part was not read");
	}
	if (cleaner->diff) {
		pcie_snapshot_note(s, -1, "the text is a diff: what it takes away was not read");
	}
	pcie_text_doubt(s);
	pcie_lspci_destroy(r.lspci);
	sections_finish(&r.to);
	pcie_cleaner_close(cleaner);

	if (!has_gpu(s) && pcie_text_lost_address(data, len)) {
		pcie_snapshot_destroy(s);
		why_set(why,
			"%s: looks like lspci or a kernel log, but the address of its GPU cannot be "
			"read (recognised from a picture, or without its line ends)",
			name);
		return -ENODATA;
	}
	if (is_empty(s)) {
		const char *instead, *tool = pcie_text_other_tool(data, len, &instead);
		pcie_snapshot_destroy(s);
		if (tool) {
			why_set(why, "%s: looks like %s, which is not read: show %s", name, tool,
				instead);
			return -ENODATA;
		}
		why_set(why,
			"%s: nothing recognised: no lspci, lshw, kernel or X log, /proc/iomem, nvidia-smi or "
			"'info pci'",
			name);
		return -ENODATA;
	}
	*ret = s;
	return 0;
}
