/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is derived once per machine, before any GPU is judged. */
#include <ctype.h>
#include <string.h>

#include "pcie/gpu_kind.h"
#include "pcie/judge.h"

enum pcie_tri pcie_pci_option(const struct pcie_host *h, const char *word)
{
	if (h->have_cmdline != PCIE_KNOWN) {
		return PCIE_TRI_UNKNOWN;
	}
	size_t n = strlen(word);
	for (const char *p = h->cmdline; (p = strstr(p, "pci=")); p += 4) {
		if (p != h->cmdline && !isspace((unsigned char)p[-1])) {
			continue;
		}
		const char *o = p + 4;
		while (*o && !isspace((unsigned char)*o)) {
			size_t len = strcspn(o, ", \t\n");
			if (len == n && !strncmp(o, word, n)) {
				return PCIE_YES;
			}
			o += len + (o[len] == ',');
		}
	}
	return PCIE_NO;
}

/* Is it an x86 machine: there the firmware may have a switch for addresses above 4 GiB. */

static enum pcie_tri arch_is_pc(const struct pcie_host *h)
{
	static const char *const pc[] = {"x86_64", "amd64", "i386", "i486", "i586", "i686", "x86"};
	if (h->have_arch != PCIE_KNOWN || !h->arch[0]) {
		return PCIE_TRI_UNKNOWN;
	}
	for (size_t i = 0; i < ARRAY_LEN(pc); i++) {
		if (!strcmp(h->arch, pc[i])) {
			return PCIE_YES;
		}
	}
	return PCIE_NO;
}

/* Root ports and host bridges that only systems of another kind have. */
static bool is_soc_bridge(const struct pcie_device *d)
{
	static const struct {
		uint16_t vendor;
		uint16_t device; /* 0: any */
	} id[] = {
		{0x0014, 0},                                     /* Loongson */
		{0x1014, 0x03dc},                                /* IBM POWER PHB */
		{0x1014, 0x04c1}, {0x1014, 0x0652}, {0x10e8, 0}, /* X-Gene */
		{0x14e4, 0x2711},                                /* Raspberry Pi */
		{0x14e4, 0x2712}, {0x16c3, 0xabcd}, /* DesignWare in a system on chip */
		{0x177d, 0},                        /* Cavium */
		{0x17cb, 0},                        /* Qualcomm */
		{0x1957, 0},                        /* Freescale, NXP */
		{0x1959, 0},                        /* PA Semi */
		{0x19e5, 0xa120},                   /* Kunpeng */
		{0x1d87, 0},                        /* Rockchip */
		{0x1def, 0},                        /* Ampere */
	};
	static const char *const word[] = {
		"Loongson", "Rockchip", "Ampere Computing", "POWER9", "POWER8", "PA Semi"};
	bool bridge = d->is_bridge || (d->have_class == PCIE_KNOWN && d->class_code >> 16 == 0x06);

	for (size_t i = 0; bridge && d->have_ids == PCIE_KNOWN && i < ARRAY_LEN(id); i++) {
		if (d->vendor == id[i].vendor && (!id[i].device || d->device == id[i].device)) {
			return true;
		}
	}
	for (size_t i = 0; bridge && i < ARRAY_LEN(word); i++) {
		if (strstr(d->name, word[i])) {
			return true;
		}
	}
	return false;
}

static bool is_pc_host_bridge(const struct pcie_device *d)
{
	if (d->have_class != PCIE_KNOWN || d->class_code >> 8 != 0x0600 || !d->addr.known ||
		d->addr.bus || d->addr.dev || d->addr.fn) {
		return false;
	}
	uint16_t vendor = pcie_device_vendor(d);
	return vendor == 0x8086 || vendor == 0x1022 || vendor == 0x1002;
}

static void find_architecture(struct pcie_machine *m, const struct pcie_snapshot *s)
{
	m->pc = arch_is_pc(&s->host);
	m->pc_stated = m->pc != PCIE_TRI_UNKNOWN;
	for (size_t i = 0; i < s->ndev && m->pc == PCIE_TRI_UNKNOWN; i++) {
		if (is_soc_bridge(&s->dev[i])) {
			m->pc = PCIE_NO;
		} else if (is_pc_host_bridge(&s->dev[i])) {
			m->pc = PCIE_YES;
		}
	}
	for (size_t i = 0; i < s->ndev && m->pc == PCIE_TRI_UNKNOWN; i++) {
		/* Root ports and functions of a PC's chipset: Intel's on bus 0. */
		const struct pcie_device *d = &s->dev[i];
		if (d->is_bridge && d->addr.known && d->addr.domain == 0 && d->addr.bus == 0 &&
			pcie_device_vendor(d) == 0x8086) {
			m->pc = PCIE_YES;
		}
	}
	/* A host bridge that translates addresses is no PC's. */
	for (size_t i = 0; i < s->naperture && m->pc == PCIE_TRI_UNKNOWN; i++) {
		if (s->aperture[i].translated) {
			m->pc = PCIE_NO;
		}
	}
}

static void find_host(struct pcie_machine *m, const struct pcie_snapshot *s)
{
	const struct pcie_host *h = &s->host;

	if (h->have_virtual == PCIE_KNOWN) {
		m->guest = h->is_virtual ? PCIE_YES : PCIE_NO;
	}
	m->apple = h->have_dmi == PCIE_KNOWN && strstr(h->sys_vendor, "Apple");
	for (size_t i = 0; i < s->ndev; i++) {
		const struct pcie_device *d = &s->dev[i];
		if ((d->have_subsystem == PCIE_KNOWN && d->subvendor == 0x106b) ||
			(d->have_ids == PCIE_KNOWN && d->vendor == 0x106b)) {
			m->apple = true;
		}
		/* QEMU's own bridges are in no real machine (virtio functions are: on DPUs). */
		bool by_id = d->have_ids == PCIE_KNOWN && d->vendor == 0x1b36;
		if (m->guest == PCIE_TRI_UNKNOWN && d->is_bridge &&
			(by_id || strstr(d->name, "Red Hat, Inc. QEMU"))) {
			m->guest = PCIE_YES;
		}
	}
	m->nocrs = pcie_pci_option(h, "nocrs");
	m->big_root = pcie_pci_option(h, "big_root_window");
	m->realloc = pcie_pci_option(h, "realloc");
	if (m->realloc == PCIE_NO) {
		m->realloc = pcie_pci_option(h, "realloc=on");
	}
	if (h->have_efi == PCIE_KNOWN) {
		m->legacy_boot = h->efi ? PCIE_NO : PCIE_YES;
	}
}

static void find_apertures(struct pcie_machine *m, const struct pcie_snapshot *s)
{
	bool any = false, high = false;

	for (size_t i = 0; i < s->naperture; i++) {
		const struct pcie_aperture *a = &s->aperture[i];
		if (a->io) {
			continue;
		}
		if (a->limit < PCIE_4G) {
			any = any || !a->ignored;
			continue;
		}
		if (a->ignored) {
			m->ignored_aperture = (int)i;
			continue;
		}
		high = true;
		/* From address 0 on: not a host bridge's window but all there is (pci=nocrs). */
		if (a->kernel_made || a->base < MIB) {
			m->kernel_aperture = (int)i;
		} else if (m->high_aperture < 0) {
			m->high_aperture = (int)i;
		}
	}
	m->low_complete = s->apertures_complete && any && !high;

	for (size_t i = 0; s->have_iomem == PCIE_KNOWN && i < s->niomem; i++) {
		const struct pcie_iomem *r = &s->iomem[i];
		if (r->parent < 0 && r->base >= PCIE_4G && !strncmp(r->name, "PCI Bus", 7)) {
			m->high_iomem = (int)i;
			break;
		}
	}
}

static void find_high_devices(struct pcie_machine *m, const struct pcie_snapshot *s)
{
	for (size_t i = 0; i < s->ndev; i++) {
		const struct pcie_device *d = &s->dev[i];
		for (int b = 0; b < d->nbar && m->high_dev[1] < 0; b++) {
			if (d->bar[b].kind != PCIE_BAR_ROM && pcie_bar_is_high(&d->bar[b])) {
				int k = m->high_dev[0] >= 0;
				m->high_dev[k] = (int)i;
				m->high_bar[k] = b;
				break;
			}
		}
		for (int w = PCIE_WINDOW_MEM; w <= PCIE_WINDOW_PREF && m->high_bridge < 0; w++) {
			const struct pcie_window *x = &d->window[w];
			if (x->have == PCIE_KNOWN && !x->unassigned && x->base >= PCIE_4G) {
				m->high_bridge = (int)i;
			}
		}
	}
}

/* The kernel refused the firmware's address: it shows nothing of what is decoded. */
static bool was_refused(const struct pcie_snapshot *s, const struct pcie_history *h)
{
	bool refused = h->final == PCIE_FINAL_CANT_CLAIM;
	for (uint32_t i = 0; i < h->nline && !refused; i++) {
		refused = strstr(pcie_line_text(s, h->line[i]), "can't claim") != NULL;
	}
	return refused;
}

static void find_in_log(struct pcie_machine *m, const struct pcie_snapshot *s)
{
	for (size_t i = 0; i < s->nhistory && m->high_firmware < 0; i++) {
		const struct pcie_history *h = &s->history[i];
		if (h->has_firmware && !h->window && !h->io && h->firmware_base >= PCIE_4G &&
			h->has_base && h->base == h->firmware_base &&
			h->final != PCIE_FINAL_FAILED && h->final != PCIE_FINAL_NO_SPACE &&
			h->final != PCIE_FINAL_CANT_CLAIM) {
			m->high_firmware = (int)i;
		}
	}
	/* Where windows are known, or one was dropped, a firmware's value proves nothing. */
	bool windows_known = s->naperture != 0;
	for (size_t i = 0; i < s->nhistory && !windows_known && m->once_high < 0; i++) {
		const struct pcie_history *h = &s->history[i];
		if (h->has_firmware && !h->io && h->firmware_base >= PCIE_4G &&
			h->firmware_base < PCIE_ADDRESS_LIMIT && !was_refused(s, h)) {
			m->once_high = (int)i;
		}
	}
	for (size_t i = 0; i < s->nstatement; i++) {
		const struct pcie_statement *t = &s->statement[i];
		if (t->kind == PCIE_SAID_NO_PLATFORM) {
			m->no_platform = (int)i;
		}
		if (t->kind == PCIE_SAID_WINDOW_CUT && t->value >= PCIE_4G &&
			strstr(pcie_line_text(s, t->line), "ignor")) {
			m->cut_window = (int)i;
		}
	}
}

void pcie_machine_init(struct pcie_machine *ret, const struct pcie_snapshot *s)
{
	*ret = (struct pcie_machine){
		.high_aperture = -1,
		.kernel_aperture = -1,
		.ignored_aperture = -1,
		.cut_window = -1,
		.high_iomem = -1,
		.high_dev = {-1, -1},
		.high_bar = {-1, -1},
		.high_bridge = -1,
		.high_firmware = -1,
		.once_high = -1,
		.no_platform = -1,
	};
	find_architecture(ret, s);
	find_host(ret, s);
	find_apertures(ret, s);
	find_high_devices(ret, s);
	find_in_log(ret, s);
}
