/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Why: the one cause that explains what is wrong with a GPU, tried in the order in which
 * one hides the other (no aperture before a small one, a pinned window before an option).
 * Each test needs a reading of its own; "not known" is an answer.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "pcie/cause.h"
#include "pcie/plan.h"

void pcie_cause_say(struct pcie_judge *j, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(j->cause_text, sizeof(j->cause_text), fmt, ap);
	va_end(ap);
}

void pcie_cause_set(struct pcie_judge *j, enum pcie_cause cause, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(j->cause_text, sizeof(j->cause_text), fmt, ap);
	va_end(ap);
	j->cause = cause;
	j->has_cause = true;
}

bool pcie_needs_high(const struct pcie_judge *j)
{
	for (int i = 0; i < PCIE_BAR_SLOTS; i++) {
		if (j->slot[i].state == PCIE_BAR_UNPLACED && j->slot[i].is64) {
			return true;
		}
	}
	for (unsigned i = 0; i < j->nloose; i++) {
		if (j->loose[i].state == PCIE_BAR_UNPLACED && j->loose[i].is64) {
			return true;
		}
	}
	return j->kind == PCIE_GPU_DISCRETE && pcie_can_grow(j);
}

/* The BARs without an address, by the window that each would have to be in. */
struct failed {
	unsigned high, low, ignored, total;
	bool type_known;
	uint64_t high_bytes; /* the largest of those that may go above 4 GiB */
};

static void add_failed(struct failed *f, const struct pcie_bar_finding *b)
{
	if (b->state != PCIE_BAR_UNPLACED) {
		return;
	}
	f->total++;
	f->type_known = f->type_known || b->type_known;
	f->ignored += b->bar && b->bar->ignored;
	if (b->is64 && b->prefetchable) {
		f->high++;
		f->high_bytes = MAX(f->high_bytes, b->has_size ? b->size : 0);
	} else {
		f->low++;
	}
}

static struct failed count_failed(const struct pcie_judge *j)
{
	struct failed f = {0};
	for (int i = 0; i < PCIE_BAR_SLOTS; i++) {
		add_failed(&f, &j->slot[i]);
	}
	for (unsigned i = 0; i < j->nloose; i++) {
		add_failed(&f, &j->loose[i]);
	}
	return f;
}

/* A window on the way to the GPU that the log says was not released, because of what is in it. */
static const struct pcie_history *pinned_window(const struct pcie_judge *j)
{
	for (size_t i = 0; i < j->s->nhistory; i++) {
		const struct pcie_history *h = &j->s->history[i];
		bool near = h->dev < 0 || !j->npath || pcie_on_path(j, h->dev);
		if (h->pinned && near && !h->io) {
			return h;
		}
	}
	return NULL;
}

/* The log's last word on VF BAR INDEX is that it failed: its listed address is the register's. */
static bool vf_failed(const struct pcie_judge *j, int index)
{
	for (size_t i = 0; i < j->s->nhistory; i++) {
		const struct pcie_history *h = &j->s->history[i];
		if (h->dev == j->dev && h->vf && h->bar == index &&
			(h->final == PCIE_FINAL_FAILED || h->final == PCIE_FINAL_NO_SPACE)) {
			return true;
		}
	}
	return false;
}

/* VF BARs of this device that have a place while its own BARs have none. */
static bool vf_bars_won(const struct pcie_judge *j, const struct failed *f)
{
	uint64_t bytes = 0;
	unsigned placed = 0;
	for (int i = 0; i < j->d->nbar; i++) {
		const struct pcie_bar *b = &j->d->bar[i];
		if (b->kind == PCIE_BAR_VF && b->have == PCIE_KNOWN && b->assigned == PCIE_YES &&
			!vf_failed(j, b->index)) {
			placed++;
			bytes += b->has_size ? b->size : 0;
		}
	}
	return placed && bytes && bytes >= f->high_bytes;
}

/* A bridge window whose last word in the log is that there was no room for it. */
static const struct pcie_history *failed_window(const struct pcie_judge *j)
{
	for (size_t i = 0; i < j->s->nhistory; i++) {
		const struct pcie_history *h = &j->s->history[i];
		bool near = h->dev < 0 || !j->npath || pcie_on_path(j, h->dev);
		if (h->window && !h->io && near &&
			(h->final == PCIE_FINAL_FAILED || h->final == PCIE_FINAL_NO_SPACE)) {
			return h;
		}
	}
	return NULL;
}

/* A window that a driver's resize gave back, and that found no room for the larger size; it may
 * have its old place again. */
static const struct pcie_history *refused_window(const struct pcie_judge *j)
{
	for (size_t i = 0; i < j->s->nhistory; i++) {
		const struct pcie_history *h = &j->s->history[i];
		bool near = h->dev < 0 || !j->npath || pcie_on_path(j, h->dev);
		if (h->window && !h->io && near && pcie_resize_in_history(j, h)) {
			return h;
		}
	}
	return NULL;
}

/*
 * Window H, which found no room, is that of a port on a root bus: above it is only what the host
 * bridge has.
 */
static bool is_root_window(const struct pcie_judge *j, const struct pcie_history *h)
{
	return h->dev >= 0 ? pcie_is_at_root(j->s, h->dev)
			   : h->addr.known && !h->addr.domain && !h->addr.bus;
}

/* The firmware names a window above 4 GiB, and the kernel did not take it. */
static void set_dropped_window(struct pcie_judge *j)
{
	const struct pcie_machine *m = j->m;
	const struct pcie_snapshot *s = j->s;
	const char *line =
		m->cut_window >= 0 ? pcie_line_text(s, s->statement[m->cut_window].line) : "";
	uint64_t base = m->ignored_aperture >= 0 ? s->aperture[m->ignored_aperture].base
						 : s->statement[m->cut_window].value;
	bool narrow = s->host.have_phys_bits == PCIE_KNOWN && s->host.phys_bits < 64 &&
		      base >> s->host.phys_bits;

	if (strstr(line, "conflict") && !narrow) {
		pcie_cause_set(j, PCIE_CAUSE_RESOURCE_CONFLICT,
			"the firmware's window at 0x%llx conflicts with another range, and was dropped",
			(unsigned long long)base);
	} else {
		pcie_cause_set(j, PCIE_CAUSE_CPU_ADDRESS_WIDTH,
			"the firmware names a window at 0x%llx, which this CPU cannot address",
			(unsigned long long)base);
	}
}

static bool set_no_aperture(struct pcie_judge *j)
{
	const struct pcie_machine *m = j->m;

	if (m->pc == PCIE_NO || m->high_dev[0] >= 0 || m->high_aperture >= 0 ||
		m->high_iomem >= 0 || m->kernel_aperture >= 0) {
		return false;
	}
	if (m->ignored_aperture >= 0 || m->cut_window >= 0) {
		set_dropped_window(j);
		return true;
	}
	if (m->low_complete || j->no_platform) {
		pcie_cause_set(j, PCIE_CAUSE_APERTURE_MISSING, "%s",
			m->low_complete ? "no root bus window lies above 4 GiB"
					: "the driver found no root bus window above 4 GiB");
		return true;
	}
	return false;
}

static bool set_pinned(struct pcie_judge *j)
{
	const struct pcie_history *h = pinned_window(j);
	char addr[PCIE_ADDR_MAX];

	if (!h) {
		return false;
	}
	pcie_cause_set(j, PCIE_CAUSE_PINNED_WINDOW,
		"the window of %s could not be given back, as something else is in it",
		pcie_addr_format(h->addr, addr));
	return true;
}

/* The path's windows, from the GPU up: the first that could not hold BYTES. */
static int small_window(const struct pcie_judge *j, uint64_t bytes)
{
	for (unsigned i = 0; i < j->npath; i++) {
		const struct pcie_window *w = pcie_pref_window(&j->s->dev[j->path[i]]);
		if (w && !w->unassigned && w->limit - w->base + 1 < bytes) {
			return j->path[i];
		}
	}
	return -1;
}

/* A port of the card's own switch whose BAR holds the window above it: Arc cards have one. */
static int own_switch_bar(const struct pcie_judge *j)
{
	for (unsigned i = 0; i < j->npath; i++) {
		const struct pcie_device *p = &j->s->dev[j->path[i]];
		bool arc = p->have_ids == PCIE_KNOWN && p->vendor == 0x8086 &&
			   (p->device == 0x4fa0 || p->device == 0x4fa1 || p->device == 0xe2ff);
		for (int b = 0; arc && b < p->nbar; b++) {
			if (p->bar[b].kind == PCIE_BAR_NORMAL && pcie_bar_is_high(&p->bar[b])) {
				return j->path[i];
			}
		}
	}
	return -1;
}

static const struct pcie_statement *cannot_fit(const struct pcie_judge *j)
{
	for (size_t i = 0; i < j->s->nstatement; i++) {
		const struct pcie_statement *t = &j->s->statement[i];
		if (t->kind == PCIE_SAID_CANNOT_FIT && (t->dev < 0 || pcie_on_path(j, t->dev))) {
			return t;
		}
	}
	return NULL;
}

/* A driver tried a larger size and failed: what the log says of the windows on the way. */
static bool set_by_log(struct pcie_judge *j)
{
	char addr[PCIE_ADDR_MAX];
	const struct pcie_statement *t = cannot_fit(j);
	int own = own_switch_bar(j);

	if (own >= 0) {
		pcie_cause_set(j, PCIE_CAUSE_PINNED_WINDOW,
			"the BAR of the card's own switch, %s, holds the window above it",
			pcie_addr_format(j->s->dev[own].addr, addr));
	} else if (t) {
		pcie_cause_set(j, PCIE_CAUSE_WINDOW_TOO_SMALL,
			"the kernel says that the window of %s cannot hold what is needed",
			pcie_addr_format(t->addr, addr));
	} else if (j->hotplugged) {
		pcie_cause_set(j, PCIE_CAUSE_WINDOW_TOO_SMALL,
			"the windows on the way to a removable port were shared out before, and "
			"cannot grow");
	}
	return j->has_cause;
}

/*
 * A system on chip's fixed window: no PC, and no window of its host bridges holds BYTES, or the
 * one above 4 GiB is a translated piece of the low addresses (device tree "ranges").
 */
static bool is_soc_window(const struct pcie_judge *j, uint64_t bytes)
{
	const struct pcie_machine *m = j->m;
	uint64_t most = 0;

	if (m->pc != PCIE_NO || m->high_aperture < 0) {
		return m->pc == PCIE_NO;
	}
	for (size_t i = 0; i < j->s->naperture; i++) {
		const struct pcie_aperture *a = &j->s->aperture[i];
		if (!a->io && !a->ignored) {
			most = MAX(most, a->limit - a->base + 1);
		}
	}
	return most < bytes || j->s->aperture[m->high_aperture].translated;
}

static void find_failed(struct pcie_judge *j, const struct failed *f)
{
	const struct pcie_machine *m = j->m;
	char addr[PCIE_ADDR_MAX], size[TEXT_SIZE_MAX];

	if (vf_bars_won(j, f)) {
		pcie_cause_set(j, PCIE_CAUSE_VF_BARS,
			"the BARs of its virtual functions got the space that its own BARs need");
		return;
	}
	if (set_pinned(j)) {
		return;
	}
	if (!f->high && f->type_known) {
		if (f->ignored) {
			pcie_cause_set(j, PCIE_CAUSE_RESOURCE_CONFLICT,
				"the kernel rejected the firmware's address of a 32-bit BAR");
		} else if (m->pc == PCIE_NO) {
			pcie_cause_set(j, PCIE_CAUSE_SOC_WINDOW,
				"the system-on-chip's window below 4 GiB has no room for it");
		} else {
			pcie_cause_set(j, PCIE_CAUSE_LOW_SPACE,
				"a BAR that must be below 4 GiB found no room there");
		}
		return;
	}
	if (is_soc_window(j, f->high_bytes)) {
		pcie_cause_set(j, PCIE_CAUSE_SOC_WINDOW,
			"the system-on-chip's PCIe window has no room for it");
		return;
	}
	if (set_no_aperture(j) || ((j->tried || j->tried_in_log) && set_by_log(j))) {
		return;
	}
	const struct pcie_history *h = j->vram_bar ? j->vram_bar->history : NULL;
	if (h && h->after_driver && h->has_firmware && h->firmware_base && !failed_window(j)) {
		pcie_cause_set(j, PCIE_CAUSE_KERNEL_REGRESSION,
			"the driver's resize failed and the kernel did not give the old place back");
		return;
	}
	int small = f->high_bytes ? small_window(j, f->high_bytes) : -1;
	if (small >= 0) {
		pcie_cause_set(j, PCIE_CAUSE_WINDOW_TOO_SMALL,
			"the window of %s is smaller than the BAR, %s",
			pcie_addr_format(j->s->dev[small].addr, addr),
			text_size(f->high_bytes, size));
		return;
	}
	const struct pcie_history *w = failed_window(j);
	bool aperture = m->high_aperture >= 0 || m->kernel_aperture >= 0 || m->high_iomem >= 0;
	if (j->hotplugged) {
		pcie_cause_set(j, PCIE_CAUSE_WINDOW_TOO_SMALL,
			"the windows on the way to a removable port have no room for it");
	} else if (aperture && !f->ignored) {
		pcie_cause_set(j, PCIE_CAUSE_APERTURE_TOO_SMALL,
			"there are addresses above 4 GiB, but not enough in one piece");
	} else if (aperture && j->s->log != PCIE_LOG_NONE) {
		pcie_cause_set(j, PCIE_CAUSE_APERTURE_TOO_SMALL,
			"the firmware's value was no valid address, and no other place was found");
	} else if (w) {
		pcie_cause_set(j, PCIE_CAUSE_WINDOW_TOO_SMALL,
			"the window of %s, which it would have to be in, found no room itself",
			pcie_addr_format(w->addr, addr));
	} else if (pcie_cause_from_claim(j)) {
		return;
	} else if (m->guest == PCIE_YES) {
		pcie_cause_set(j, PCIE_CAUSE_HYPERVISOR,
			"the virtual machine's window for PCI has no room for it");
	} else if (m->legacy_boot == PCIE_YES) {
		pcie_cause_set(
			j, PCIE_CAUSE_CSM, "started the legacy way: firmware then keeps PCI low");
	}
}

/* What the kernel's arithmetic says of the target size. */
static bool set_by_plan(struct pcie_judge *j)
{
	const struct pcie_plan_options o = {.dev = j->dev, .size = pcie_rebar_target(j)};
	struct pcie_plan *p = pcie_plan_create(j->s, &o);
	const struct pcie_plan_fit *f = NULL;
	char need[TEXT_SIZE_MAX], have[TEXT_SIZE_MAX], target[TEXT_SIZE_MAX];

	if (p->ngpu == 1 && pcie_plan_answer(p) == PCIE_YES && !j->tried && !j->tried_in_log) {
		pcie_cause_say(j,
			"nothing that was read stands in the way of %s: neither the firmware nor a "
			"driver made it larger",
			text_size(p->gpu[0].target, target));
	}
	if (p->ngpu == 1 && pcie_plan_answer(p) == PCIE_NO) {
		f = &p->gpu[0]
			     .fit[p->applies[PCIE_PLAN_TIGHT] ? PCIE_PLAN_TIGHT : PCIE_PLAN_LEGACY];
		text_size(p->gpu[0].target, target);
		text_size(f->need, need);
		snprintf(have, sizeof(have), "nothing");
		if (f->have) {
			text_size(f->have, have);
		}
	}
	switch (f ? f->block : PCIE_PLAN_OPEN) {
	case PCIE_PLAN_PINNED:
		pcie_cause_set(j, PCIE_CAUSE_PINNED_WINDOW,
			"%s do not fit: the %s cannot be given back, %s is in it", target,
			f->container_what, f->nblocker ? f->blocker[0].what : "something else");
		break;
	case PCIE_PLAN_WINDOW:
		pcie_cause_set(j, PCIE_CAUSE_WINDOW_TOO_SMALL,
			"%s do not fit: the %s, on the way to a removable port, has %s and %s are "
			"needed",
			target, f->container_what, have, need);
		break;
	case PCIE_PLAN_APERTURE:
		pcie_cause_set(j, PCIE_CAUSE_APERTURE_TOO_SMALL,
			"%s do not fit: the root bus has %s in one piece and %s are needed", target,
			have, need);
		break;
	case PCIE_PLAN_NO_APERTURE:
		pcie_cause_set(j, PCIE_CAUSE_APERTURE_MISSING,
			"%s do not fit: the root bus has no addresses above 4 GiB", target);
		break;
	case PCIE_PLAN_FREE:
	case PCIE_PLAN_CARD:
	case PCIE_PLAN_OPEN:
		break;
	}
	pcie_plan_destroy(p);
	return j->has_cause;
}

static void find_small(struct pcie_judge *j)
{
	const struct pcie_option *o = NULL;
	const char *fix = NULL;
	char addr[PCIE_ADDR_MAX];
	bool tried = j->tried || j->tried_in_log;

	if (set_no_aperture(j) || set_pinned(j) || (tried && set_by_log(j)) || set_by_plan(j)) {
		return;
	}
	const struct pcie_history *w = tried ? failed_window(j) : NULL;
	w = w || !tried ? w : refused_window(j);
	if (w && is_root_window(j, w) && j->m->pc != PCIE_NO) {
		pcie_cause_set(j, PCIE_CAUSE_APERTURE_TOO_SMALL,
			"%s is a port on the root bus, and found no room there for a larger window",
			pcie_addr_format(w->addr, addr));
	} else if (w) {
		pcie_cause_set(j, PCIE_CAUSE_WINDOW_TOO_SMALL,
			"the window of %s could not be grown", pcie_addr_format(w->addr, addr));
	} else if (!tried && pcie_resize_option(j, &o, &fix) == PCIE_NO) {
		pcie_cause_set(j, PCIE_CAUSE_DRIVER_OPTION, "%s is %s: the driver does not resize",
			o->name, o->value);
	} else if (j->m->legacy_boot == PCIE_YES && j->m->pc != PCIE_NO) {
		pcie_cause_set(
			j, PCIE_CAUSE_CSM, "started the legacy way: firmware then keeps ReBAR off");
	} else if (j->m->guest == PCIE_YES) {
		pcie_cause_set(j, PCIE_CAUSE_HYPERVISOR,
			"a guest sees the size that the host gave, and cannot change it");
	}
}

/* Healthy, or limited by the card: what is worth naming all the same. */
static void find_notable(struct pcie_judge *j)
{
	const struct pcie_bar *b = j->vram_bar ? j->vram_bar->bar : NULL;
	bool short_bar = j->has_len && !(j->has_vram && pcie_covers_vram(j->len, j->vram));

	if (j->kind == PCIE_GPU_DISCRETE && !j->coherent && short_bar) {
		bool at_limit =
			j->entry && j->len >= j->max_size && (j->has_vram || j->len <= 256 * MIB);
		bool no_cap = j->rebar == PCIE_ABSENT && j->has_vram;
		if (at_limit || no_cap) {
			if ((j->m->guest == PCIE_YES && (no_cap || j->one_size)) ||
				j->d->rebar.null_cap) {
				pcie_cause_set(j, PCIE_CAUSE_HYPERVISOR,
					"the hypervisor hides the card's other sizes");
			} else if (at_limit) {
				pcie_cause_set(j, PCIE_CAUSE_VBIOS_LIMIT,
					"the card itself offers no larger size");
			}
			return;
		}
	}
	if (!b || !pcie_bar_is_high(b)) {
		return;
	}
	if (j->m->nocrs == PCIE_YES) {
		pcie_cause_set(j, PCIE_CAUSE_NOCRS,
			"pci=nocrs let the kernel place it outside the firmware's windows");
	} else if (pcie_was_rescued(j)) {
		pcie_cause_set(j, PCIE_CAUSE_KERNEL_RESCUED,
			"the firmware left this BAR without an address, and the kernel placed it");
	}
}

void pcie_cause_find(struct pcie_judge *j)
{
	struct failed f = count_failed(j);
	bool placed_after_all = j->invalid && j->invalid->value < PCIE_BAR_SLOTS &&
				j->slot[j->invalid->value].state == PCIE_BAR_PLACED;
	bool failed = f.total || (j->invalid && !j->all_slots_seen && !placed_after_all);
	bool small = j->kind == PCIE_GPU_DISCRETE && !j->coherent && pcie_can_grow(j);
	bool blank = j->kind == PCIE_GPU_DISCRETE && (!j->vram_bar || j->broken);

	j->cause = PCIE_CAUSE_NONE;
	if (failed) {
		find_failed(j, &f);
	} else if (small) {
		find_small(j);
	} else if (pcie_is_reserved(j)) {
		pcie_cause_reserved(j);
	} else {
		find_notable(j);
	}
	if (!j->has_cause && (failed || small || blank)) {
		j->cause = PCIE_CAUSE_UNKNOWN;
		pcie_cause_open(j, failed);
	}
}

const char *pcie_cause_name(enum pcie_cause c)
{
	static const char *const name[PCIE_CAUSES] = {
		[PCIE_CAUSE_NONE] = "none",
		[PCIE_CAUSE_APERTURE_MISSING] = "aperture-missing",
		[PCIE_CAUSE_APERTURE_TOO_SMALL] = "aperture-too-small",
		[PCIE_CAUSE_WINDOW_TOO_SMALL] = "window-too-small",
		[PCIE_CAUSE_PINNED_WINDOW] = "pinned-window",
		[PCIE_CAUSE_LOW_SPACE] = "low-space",
		[PCIE_CAUSE_CPU_ADDRESS_WIDTH] = "cpu-address-width",
		[PCIE_CAUSE_VBIOS_LIMIT] = "vbios-limit",
		[PCIE_CAUSE_DRIVER_OPTION] = "driver-option",
		[PCIE_CAUSE_KERNEL_REGRESSION] = "kernel-regression",
		[PCIE_CAUSE_KERNEL_RESCUED] = "kernel-rescued",
		[PCIE_CAUSE_NOCRS] = "nocrs",
		[PCIE_CAUSE_HYPERVISOR] = "hypervisor",
		[PCIE_CAUSE_CSM] = "csm",
		[PCIE_CAUSE_SOC_WINDOW] = "soc-window",
		[PCIE_CAUSE_VF_BARS] = "vf-bars",
		[PCIE_CAUSE_RESOURCE_CONFLICT] = "resource-conflict",
	};
	return (size_t)c < PCIE_CAUSES ? name[c] : NULL;
}
