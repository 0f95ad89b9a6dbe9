/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The text door: one pass over the cleaned lines hands each to its reader, then
 * what the readers found about one machine is joined.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pcie/classify.h"
#include "pcie/clean.h"
#include "pcie/iomem.h"
#include "pcie/klog.h"
#include "pcie/lspci.h"
#include "pcie/qemu_info.h"
#include "pcie/smi.h"
#include "pcie/witness.h"

/* Lines of the kinds that are read as a whole; views into the cleaned text. */
struct sections {
	struct pcie_lines log, iomem, smi, qemu;
};

static void sections_finish(struct sections *s)
{
	pcie_lines_finish(&s->log);
	pcie_lines_finish(&s->iomem);
	pcie_lines_finish(&s->smi);
	pcie_lines_finish(&s->qemu);
}

static struct pcie_lines *lines_of(struct sections *s, enum pcie_text_kind kind)
{
	switch (kind) {
	case PCIE_TEXT_LOG:
		return &s->log;
	case PCIE_TEXT_IOMEM:
		return &s->iomem;
	case PCIE_TEXT_SMI:
		return &s->smi;
	case PCIE_TEXT_QEMU:
		return &s->qemu;
	default:
		return NULL;
	}
}

static void push(struct pcie_lines *to, const struct pcie_line *l)
{
	pcie_lines_push(to, l->s, l->len, l->number);
	to->line[to->n - 1].width = l->width;
	to->line[to->n - 1].lead = l->lead;
}

/* An empty line between two pieces of one kind. */
static void push_gap(struct pcie_lines *to, const struct pcie_line *l)
{
	if (to && to->n > 0 && to->line[to->n - 1].len > 0) {
		pcie_lines_push(to, l->s + l->len, 0, l->number);
	}
}

/*
 * Each line to its reader. A line of no kind goes with what stood before it: the
 * rest of a wrapped log message, a value of nvidia-smi, a detail of a device.
 */
static void route(const struct pcie_lines *l, struct pcie_lspci *lspci, struct sections *to)
{
	enum pcie_text_kind now = PCIE_TEXT_OTHER;
	struct pcie_addr about;

	for (size_t i = 0; i < l->n;) {
		const struct pcie_line *line = &l->line[i];
		if (line->len == 0 && l->cut && i + 1 == l->n) {
			break; /* a line that has only begun */
		}
		if (line->len == 0) {
			pcie_lspci_blank(lspci);
			push_gap(lines_of(to, now), line);
			i++;
			continue;
		}
		size_t n = pcie_lspci_take(lspci, l, i);
		if (n > 0) {
			push_gap(lines_of(to, now), line);
			now = PCIE_TEXT_LSPCI;
			i += n;
			continue;
		}
		enum pcie_text_kind kind = pcie_classify(line->s, line->len);
		if (kind == PCIE_TEXT_OTHER || kind == PCIE_TEXT_COMMAND) {
			if (pcie_classify_lspci_command(line->s, &about)) {
				push_gap(lines_of(to, now), line);
				pcie_lspci_about(lspci, about);
				now = PCIE_TEXT_COMMAND;
			} else if (kind == PCIE_TEXT_COMMAND && now != PCIE_TEXT_LOG) {
				now = PCIE_TEXT_COMMAND;
			}
		} else if (kind != now) {
			pcie_lspci_end(lspci, false);
			push_gap(lines_of(to, now), line);
			now = kind;
		}
		if (lines_of(to, now)) {
			push(lines_of(to, now), line);
		}
		i++;
	}
	pcie_lspci_end(lspci, true); /* no line behind the last tells that nothing is missing */
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

static void read_log(struct pcie_snapshot *log, const struct sections *sec)
{
	if (sec->log.n > 0) {
		pcie_klog_parse(&sec->log, log, pcie_snapshot_source(log, PCIE_SOURCE_LOG));
	}
}

static void read_iomem(struct pcie_snapshot *s, const struct sections *sec)
{
	for (size_t i = 0; i < sec->iomem.n; i++) {
		pcie_iomem_line(s, sec->iomem.line[i].s);
	}
	if (s->niomem > 0) {
		pcie_iomem_finish(s, pcie_snapshot_source(s, "/proc/iomem"));
	}
}

static void read_sections(
	struct pcie_snapshot *s, const struct sections *sec, struct pcie_lspci *lspci)
{
	struct pcie_snapshot *log = pcie_snapshot_create("the log");

	if (sec->qemu.n > 0) {
		pcie_qemu_info_parse(s, &sec->qemu, pcie_snapshot_source(s, "info pci"));
	}
	read_log(log, sec);
	place_orphans(s, log, lspci);
	pcie_snapshot_settle(s);
	doubt_bus_address_zero(s);
	pcie_merge(s, log);
	pcie_snapshot_destroy(log);
	if (sec->smi.n > 0) {
		pcie_smi_parse(s, &sec->smi, pcie_snapshot_source(s, "nvidia-smi"));
	}
	read_iomem(s, sec);
	pcie_snapshot_settle(s);
}

static bool is_empty(const struct pcie_snapshot *s)
{
	return s->ndev == 0 && s->naperture == 0 && s->nhistory == 0 && s->nstatement == 0 &&
	       s->have_iomem == PCIE_UNKNOWN && s->host.have_kernel == PCIE_UNKNOWN &&
	       s->host.have_cmdline == PCIE_UNKNOWN && s->host.have_dmi == PCIE_UNKNOWN;
}

int pcie_text_scan(
	const char *name, const char *data, size_t len, struct pcie_snapshot **ret, struct why *why)
{
	struct pcie_clean clean;
	struct sections sec = {0};

	int r = pcie_clean_text(data, len, &clean);
	if (r < 0) {
		why_set(why, "%s: not enough memory", name);
		return r;
	}
	struct pcie_snapshot *s = pcie_snapshot_create(name);
	struct pcie_lspci *lspci = pcie_lspci_create(s);
	route(&clean.lines, lspci, &sec);
	read_sections(s, &sec, lspci);
	if (clean.cut) {
		pcie_snapshot_note(
			s, -1, "the text is too long, or has a line that is: a part was not read");
	}
	pcie_lspci_destroy(lspci);
	sections_finish(&sec);
	pcie_clean_finish(&clean);

	if (is_empty(s)) {
		pcie_snapshot_destroy(s);
		why_set(why,
			"%s: nothing recognised: no lspci, kernel log, /proc/iomem, nvidia-smi or 'info pci'",
			name);
		return -EBADMSG;
	}
	*ret = s;
	return 0;
}
