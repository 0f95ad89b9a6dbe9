/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Commands and settings, safest first: a setup item, a driver option, a resize of an idle
 * device, remove and rescan, the kernel's command line. Printed, never run.
 */
#include "pcie/plan_commands.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "pcie/gpu_kind.h"
#include "pcie/judge.h"
#include "pcie/path.h"
#include "pcie/plan_layout.h"
#include "pcie/rebar.h"

static char *format(const char *fmt, va_list ap) __attribute__((format(printf, 1, 0)));
static char *format(const char *fmt, va_list ap)
{
	char *s;
	return vasprintf(&s, fmt, ap) < 0 ? xstrdup("") : s;
}

static void add(struct pcie_plan *p, const char *fmt, ...) PRINTF(2, 3);
static void add(struct pcie_plan *p, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	char *s = format(fmt, ap);
	va_end(ap);
	for (size_t i = 0; i < p->ncommand; i++) {
		if (!strcmp(p->command[i], s)) {
			free(s);
			return;
		}
	}
	p->command = xgrow(p->command, p->ncommand, &p->capcommand, sizeof(*p->command));
	p->command[p->ncommand++] = s;
}

static void note(struct pcie_plan *p, const char *fmt, ...) PRINTF(2, 3);
static void note(struct pcie_plan *p, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	p->note = xgrow(p->note, p->nnote, &p->capnote, sizeof(*p->note));
	p->note[p->nnote++] = format(fmt, ap);
	va_end(ap);
}

/* The number that resourceN_resize takes: 2^n MiB. */
static int size_code(uint64_t bytes)
{
	return __builtin_ctzll(bytes) - PCIE_REBAR_UNIT_SHIFT;
}

static bool fits_somehow(const struct pcie_plan *p, const enum pcie_tri *fits)
{
	for (int k = 0; k < PCIE_PLAN_RULES; k++) {
		if (p->applies[k] && fits[k] == PCIE_YES) {
			return true;
		}
	}
	return false;
}

static bool fits_together(const struct pcie_plan *p, const struct pcie_plan_gpu *g)
{
	const enum pcie_tri fits[PCIE_PLAN_RULES] = {g->fit[0].fits, g->fit[1].fits};
	return fits_somehow(p, fits);
}

static bool blocked_by(
	const struct pcie_plan *p, const struct pcie_plan_gpu *g, enum pcie_plan_block b)
{
	for (int k = 0; k < PCIE_PLAN_RULES; k++) {
		if (p->applies[k] && g->fit[k].block == b) {
			return true;
		}
	}
	return false;
}

static bool is_resizable(const struct pcie_device *d, const struct pcie_plan_gpu *g)
{
	return pcie_rebar_entry(d, g->bar) != NULL;
}

static bool needs_work(const struct pcie_plan_gpu *g)
{
	return g->has_target && g->fit[0].block != PCIE_PLAN_CARD &&
	       !(g->has_current && g->current == g->target && g->fit[0].fits == PCIE_YES &&
		       !g->fit[0].need);
}

static void add_settings(struct pcie_plan *p, const struct pcie_snapshot *s,
	const struct pcie_machine *m, const struct pcie_plan_gpu *g)
{
	const struct pcie_device *d = &s->dev[g->dev];
	bool unplaced = pcie_plan_is_unplaced(s, g);
	bool open = unplaced && blocked_by(p, g, PCIE_PLAN_OPEN);

	if (open && m->pc == PCIE_TRI_UNKNOWN && m->guest != PCIE_YES && !m->apple) {
		add(p, "on a PC, firmware setup: \"Above 4G Decoding\" on, CSM off");
	}
	if (m->pc == PCIE_TRI_UNKNOWN && m->guest != PCIE_YES && !m->apple &&
		blocked_by(p, g, PCIE_PLAN_APERTURE)) {
		add(p, "on a server, firmware setup: a larger \"MMIO High Size\" (\"MMIOH size\")");
	}
	if (m->pc == PCIE_YES && m->guest != PCIE_YES && !m->apple) {
		if (open || blocked_by(p, g, PCIE_PLAN_NO_APERTURE)) {
			add(p, "firmware setup: \"Above 4G Decoding\" on, CSM off");
		}
		if (blocked_by(p, g, PCIE_PLAN_APERTURE)) {
			add(p, "firmware setup: a larger \"MMIO High Size\" (\"MMIOH size\"), or fewer "
			       "devices");
		}
		if (is_resizable(d, g) && !unplaced && !blocked_by(p, g, PCIE_PLAN_WINDOW)) {
			add(p, "firmware setup: \"Resizable BAR\" on, so that the windows are made "
			       "large at boot");
		}
	}
}

static void add_driver_option(
	struct pcie_plan *p, const struct pcie_snapshot *s, const struct pcie_plan_gpu *g)
{
	const struct pcie_device *d = &s->dev[g->dev];
	/* A driver resizes a BAR that has a place; without one it does not even start. */
	bool other = d->have_driver == PCIE_KNOWN && strcmp(d->driver, "nvidia");
	if (!other && pcie_device_vendor(d) == 0x10de && g->bar == 1 && is_resizable(d, g) &&
		!pcie_plan_is_unplaced(s, g)) {
		add(p, "echo options nvidia NVreg_EnableResizableBar=1 > "
		       "/etc/modprobe.d/nvidia-rebar.conf");
		add(p, "update-initramfs -u   # or: dracut -f, mkinitcpio -P; then reboot");
	}
}

static void add_resize(
	struct pcie_plan *p, const struct pcie_snapshot *s, const struct pcie_plan_gpu *g)
{
	const struct pcie_device *d = &s->dev[g->dev];
	char addr[PCIE_ADDR_MAX];

	if (!d->addr.known || g->bar < 0 || !is_resizable(d, g) || pcie_plan_is_unplaced(s, g)) {
		return;
	}
	pcie_addr_format(d->addr, addr);
	if (!fits_somehow(p, g->alone) || !fits_together(p, g)) {
		return;
	}
	if (d->boot_vga == PCIE_YES) {
		note(p, "%s drives the console: a resize takes the firmware's picture away", addr);
	}
	if (d->have_driver == PCIE_KNOWN) {
		add(p, "echo %s > /sys/bus/pci/drivers/%s/unbind", addr, d->driver);
	}
	add(p, "echo %d > /sys/bus/pci/devices/%s/resource%d_resize", size_code(g->target), addr,
		g->bar);
	if (d->have_driver == PCIE_KNOWN) {
		add(p, "echo %s > /sys/bus/pci/drivers/%s/bind", addr, d->driver);
	}
}

/*
 * Where the control register of the BAR's entry is behind the capability (PCIe 6.0, 7.8.6):
 * the list must be the capability's own, entry by entry. -1: it is not.
 */
static int control_offset(const struct pcie_device *d, int bar)
{
	const struct pcie_rebar_entry *e = d->rebar.offset ? pcie_rebar_entry(d, bar) : NULL;
	return e ? 8 + 8 * (int)(e - d->rebar.entry) : -1;
}

static void add_rescan(
	struct pcie_plan *p, const struct pcie_snapshot *s, const struct pcie_plan_gpu *g)
{
	const struct pcie_device *d = &s->dev[g->dev];
	int path[PCIE_PATH_MAX], n = pcie_path(s, g->dev, path);
	char addr[PCIE_ADDR_MAX], root[PCIE_ADDR_MAX];

	if (!n || !d->addr.known || !is_resizable(d, g) || fits_somehow(p, g->alone) ||
		!blocked_by(p, g, PCIE_PLAN_PINNED)) {
		return;
	}
	pcie_addr_format(d->addr, addr);
	pcie_addr_format(s->dev[path[0]].addr, root);
	int control = control_offset(d, g->bar);
	if (control < 0) {
		note(p,
			"where the size register of %s stands is not known: its capabilities, read as "
			"root, would tell a way by remove and rescan",
			addr);
		return;
	}
	if (d->have_driver == PCIE_KNOWN) {
		add(p, "echo %s > /sys/bus/pci/drivers/%s/unbind", addr, d->driver);
	}
	add(p, "setpci -s %s ECAP15+%d.L=%08x:00003f00   # the size, before the windows are made",
		addr, control, (unsigned)size_code(g->target) << 8);
	add(p, "echo 1 > /sys/bus/pci/devices/%s/remove   # everything behind this root port",
		root);
	add(p, "echo 1 > /sys/bus/pci/rescan");
	note(p,
		"remove and rescan ends all use of what is behind %s; if the windows cannot be made, "
		"those devices are gone until the next boot",
		root);
}

static void add_kernel(
	struct pcie_plan *p, const struct pcie_snapshot *s, const struct pcie_plan_gpu *g)
{
	bool window = blocked_by(p, g, PCIE_PLAN_WINDOW);
	bool pinned = blocked_by(p, g, PCIE_PLAN_PINNED);
	/* Sizing all windows anew can place it, where there is or may be room. */
	bool anew = pcie_plan_is_unplaced(s, g) && !blocked_by(p, g, PCIE_PLAN_NO_APERTURE) &&
		    !blocked_by(p, g, PCIE_PLAN_APERTURE);
	bool has = s->host.have_cmdline == PCIE_KNOWN && strstr(s->host.cmdline, "pci=realloc");
	char size[TEXT_SIZE_MAX];

	if (window) {
		uint64_t mib = g->fit[0].need >> 20;
		add(p,
			"kernel command line: pci=realloc,hpmmioprefsize=%lluM   # %s for each removable "
			"port",
			(unsigned long long)mib, text_size(g->fit[0].need, size));
	} else if ((pinned || anew) && !has) {
		add(p, "kernel command line: pci=realloc   # take it back if a device vanishes");
	}
}

static uint64_t round_up_power(uint64_t v)
{
	uint64_t p = 1;
	while (p < v && p < (uint64_t)1 << 62) {
		p <<= 1;
	}
	return p;
}

/*
 * For whoever gives these GPUs to a guest, or sits in one: a 64-bit window of twice the
 * sum of the aligned BARs, as a power of two, holds them by either rule.
 */
static void add_guest_numbers(
	struct pcie_plan *p, const struct pcie_snapshot *s, const struct pcie_machine *m)
{
	uint64_t sum = 0, most = 0;

	for (size_t i = 0; i < p->ngpu; i++) {
		const struct pcie_device *d = &s->dev[p->gpu[i].dev];
		int vram = pcie_device_vram_bar(d);
		uint64_t one = 0;
		if (vram < 0) {
			return; /* the largest of its BARs is the one that is not shown */
		}
		for (int b = 0; b < d->nbar; b++) {
			if (plan_is_movable(&d->bar[b])) {
				one += b == vram && p->gpu[i].has_target
					       ? p->gpu[i].target
					       : plan_bar_size(s, p->gpu[i].dev, &d->bar[b]);
			}
		}
		sum += one;
		most = MAX(most, one);
	}
	if (!sum || sum > (uint64_t)1 << 60) {
		return;
	}
	unsigned long long mib = round_up_power(2 * sum) >> 20;
	unsigned long long port = round_up_power(most) >> 20;
	if (m->guest == PCIE_YES) {
		add(p,
			"on the host, for QEMU with OVMF: -fw_cfg "
			"name=opt/ovmf/X-PciMmio64Mb,string=%llu",
			mib);
		add(p,
			"on the host, for a hot-plugged GPU: -device "
			"pcie-root-port,…,pref64-reserve=%lluM",
			port);
	} else if (m->pc != PCIE_NO) { /* what follows is of PCs' virtual firmware */
		note(p,
			"to give %s to a guest (QEMU with OVMF): -fw_cfg "
			"name=opt/ovmf/X-PciMmio64Mb,string=%llu, or pref64-reserve=%lluM on the root "
			"port of a hot-plugged one",
			p->ngpu > 1 ? "them" : "it", mib, port);
	}
}

/* Before anything about a larger size. */
static void note_unplaced(
	struct pcie_plan *p, const struct pcie_snapshot *s, const struct pcie_plan_gpu *g)
{
	char addr[PCIE_ADDR_MAX], bar[16] = "the VRAM BAR";
	const struct pcie_device *d = &s->dev[g->dev];

	const struct pcie_rebar_entry *e = pcie_rebar_main(d);
	const struct pcie_bar *b = g->bar_slot >= 0 ? &d->bar[g->bar_slot] : NULL;
	bool added = b && e && b->index == e->bar && b->assigned == PCIE_NO && !b->is64_known &&
		     b->src == d->rebar.src;
	if (e && (!b || added)) {
		note(p,
			"the Resizable BAR capability of %s names BAR %u, and no line shows it: it has "
			"no address, or the text is not whole; %s",
			d->addr.known ? pcie_addr_format(d->addr, addr) : "the GPU", e->bar % 10u,
			added ? "here it is laid out as 64-bit prefetchable"
			      : "without it nothing can be laid out");
	}
	if (!pcie_plan_is_unplaced(s, g)) {
		return;
	}
	if (g->bar >= 0) {
		snprintf(bar, sizeof(bar), "BAR %d", g->bar % 10);
	}
	note(p,
		"%s of %s has no address: that comes first, and a larger size only then; barscope "
		"check says what is in the way",
		bar, d->addr.known ? pcie_addr_format(d->addr, addr) : "the GPU");
}

void pcie_plan_add_commands(struct pcie_plan *p, const struct pcie_snapshot *s)
{
	struct pcie_machine m;
	pcie_machine_init(&m, s);

	for (size_t i = 0; i < p->ngpu; i++) {
		note_unplaced(p, s, &p->gpu[i]);
	}

	for (size_t i = 0; i < p->ngpu; i++) {
		if (needs_work(&p->gpu[i])) {
			add_settings(p, s, &m, &p->gpu[i]);
		}
	}
	for (size_t i = 0; i < p->ngpu; i++) {
		if (needs_work(&p->gpu[i])) {
			add_driver_option(p, s, &p->gpu[i]);
		}
	}
	for (size_t i = 0; i < p->ngpu; i++) {
		if (needs_work(&p->gpu[i])) {
			add_resize(p, s, &p->gpu[i]);
		}
	}
	for (size_t i = 0; i < p->ngpu; i++) {
		if (needs_work(&p->gpu[i])) {
			add_rescan(p, s, &p->gpu[i]);
		}
	}
	for (size_t i = 0; i < p->ngpu; i++) {
		if (needs_work(&p->gpu[i])) {
			add_kernel(p, s, &p->gpu[i]);
		}
	}
	add_guest_numbers(p, s, &m);
}
