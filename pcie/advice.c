/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What to do, per cause and kind of machine, in the order to try. One table: the page
 * barscope-verdicts(7) says the same at more length.
 */
#include <string.h>

#include "pcie/judge.h"

/* What must be true, and what must not, for a line to be said. */
enum {
	PC = 1 << 0, /* x86, its own firmware, a setup screen */
	GUEST = 1 << 1,
	APPLE = 1 << 2,
	NVIDIA = 1 << 4,
	AMD = 1 << 5,
	INTEL = 1 << 6,
	PLUGGED = 1 << 7, /* behind Thunderbolt or another removable port */
	LEGACY = 1 << 8,
	NO_REALLOC = 1 << 9, /* pci=realloc is not on the command line */
	UNSURE_PC = 1 << 10, /* the kind of machine is not known */
	FAILED = 1 << 11,    /* a BAR has no address */
	LOGGED = 1 << 12,    /* ... and the log has lines on it */
	OPEN = 1 << 13,      /* a BAR may go above 4 GiB, and nobody knows of room there */
	TRIED = 1 << 14,     /* the driver tried a larger size */
	ROOM = 1 << 15,      /* ... and there was no room */
	BUSY = 1 << 16,      /* ... and the BAR was in use */
	HUGE = 1 << 17,      /* a BAR without an address is too large for a place below 4 GiB */
	HINTED = 1 << 18,    /* the kernel proposes pci=realloc */
	AMPERE = 1 << 19,    /* an RTX 30 */
	FOREIGN = 1 << 20,   /* a driver is bound, and not NVIDIA's */
};

static const struct {
	enum pcie_cause cause;
	unsigned need, not ;
	const char *text;
} advice[] = {
	{PCIE_CAUSE_APERTURE_MISSING, GUEST, 0,
		"give the guest a 64-bit PCI window: OVMF with -fw_cfg "
		"name=opt/ovmf/X-PciMmio64Mb,string=65536, or a machine type that has one"},
	{PCIE_CAUSE_APERTURE_MISSING, PC, GUEST | APPLE,
		"in the firmware setup switch on \"Above 4G Decoding\" (also \"Above 4G Memory\", "
		"\"Large BAR\", \"MMIO above 4G\", \"Memory Mapped I/O above 4 GB\")"},
	{PCIE_CAUSE_APERTURE_MISSING, PC | LEGACY, GUEST | APPLE,
		"first switch CSM off and start by UEFI: with CSM many boards hide or reset it"},
	{PCIE_CAUSE_APERTURE_MISSING, PC, GUEST | APPLE | LEGACY,
		"if the item is grey or missing: switch CSM off, update the firmware; some boards "
		"have none (before about 2014)"},
	{PCIE_CAUSE_APERTURE_MISSING, UNSURE_PC, GUEST | APPLE,
		"on a PC: look for \"Above 4G Decoding\" in the firmware setup, with CSM off"},
	{PCIE_CAUSE_APERTURE_MISSING, HUGE | HINTED, 0,
		"pci=realloc, which the kernel proposes, does not help: there is nothing above 4 GiB "
		"to give out"},
	{PCIE_CAUSE_APERTURE_TOO_SMALL, GUEST, 0,
		"enlarge the guest's 64-bit PCI window (barscope plan prints the numbers)"},
	{PCIE_CAUSE_APERTURE_TOO_SMALL, OPEN | PC, GUEST | APPLE,
		"in the firmware setup switch on \"Above 4G Decoding\" (CSM off), if it is not on"},
	{PCIE_CAUSE_APERTURE_TOO_SMALL, PC, GUEST | APPLE,
		"in the firmware setup enlarge \"MMIO High Size\" (\"MMIOH size\", \"MMIO High "
		"Granularity Size\") or raise \"MMIOH Base\" (servers)"},
	{PCIE_CAUSE_APERTURE_TOO_SMALL, OPEN | UNSURE_PC, GUEST | APPLE,
		"on a PC: \"Above 4G Decoding\" on in the firmware setup, with CSM off"},
	{PCIE_CAUSE_APERTURE_TOO_SMALL, UNSURE_PC, GUEST | APPLE,
		"on a server: in the firmware setup enlarge \"MMIO High Size\" (\"MMIOH size\", \"MMIO "
		"High Granularity Size\") or raise \"MMIOH Base\""},
	{PCIE_CAUSE_APERTURE_TOO_SMALL, 0, GUEST,
		"switch off devices that nobody uses, or SR-IOV, to free addresses; barscope plan "
		"--without BDF shows what that gives"},
	{PCIE_CAUSE_APERTURE_TOO_SMALL, TRIED | NO_REALLOC, 0,
		"or try pci=realloc on the kernel command line, which lays the windows out anew; take "
		"it back if another device vanishes"},
	{PCIE_CAUSE_WINDOW_TOO_SMALL, PLUGGED, 0,
		"start the machine with the box attached and switched on, so that the firmware "
		"sizes the port's window for it"},
	{PCIE_CAUSE_WINDOW_TOO_SMALL, PLUGGED, 0,
		"kernel command line: pci=realloc,hpmmioprefsize=SIZE (barscope plan prints SIZE)"},
	{PCIE_CAUSE_WINDOW_TOO_SMALL, OPEN | PC, GUEST | APPLE | PLUGGED,
		"in the firmware setup switch on \"Above 4G Decoding\" (CSM off), so that there is "
		"room for larger windows"},
	{PCIE_CAUSE_WINDOW_TOO_SMALL, OPEN | UNSURE_PC, GUEST | APPLE | PLUGGED,
		"on a PC: \"Above 4G Decoding\" on in the firmware setup, CSM off, so that there is "
		"room for larger windows"},
	{PCIE_CAUSE_WINDOW_TOO_SMALL, NO_REALLOC, PLUGGED,
		"try pci=realloc on the kernel command line; take it back if another device "
		"vanishes"},
	{PCIE_CAUSE_WINDOW_TOO_SMALL, PC, GUEST | APPLE | PLUGGED,
		"in the firmware setup switch on \"Resizable BAR\", so that the window is made "
		"large at boot"},
	{PCIE_CAUSE_WINDOW_TOO_SMALL, 0, 0,
		"barscope plan shows which window is how much too small"},
	{PCIE_CAUSE_PINNED_WINDOW, INTEL, 0,
		"on Arc cards it is usually the card's own switch (its BAR 0): a newer kernel frees "
		"it by itself"},
	{PCIE_CAUSE_PINNED_WINDOW, 0, 0,
		"barscope plan prints the commands: unbind the driver, set the size, remove the "
		"root port and rescan, so that the window is made anew"},
	{PCIE_CAUSE_PINNED_WINDOW, PC, GUEST | APPLE | PLUGGED,
		"or let the firmware do it: \"Resizable BAR\" on in the setup sizes the window at "
		"boot"},
	{PCIE_CAUSE_LOW_SPACE, PC, GUEST | APPLE,
		"addresses above 4 GiB do not help a 32-bit BAR: free low ones (switch unused "
		"controllers off; lower \"TOLUD\" or \"Max TOLUD\"; larger \"MMIO low size\")"},
	{PCIE_CAUSE_LOW_SPACE, 0, PC,
		"addresses above 4 GiB do not help a 32-bit BAR: fewer devices, or a larger window "
		"below 4 GiB"},
	{PCIE_CAUSE_CPU_ADDRESS_WIDTH, GUEST, 0,
		"give the guest a CPU model with more physical address bits (host-phys-bits=on)"},
	{PCIE_CAUSE_CPU_ADDRESS_WIDTH, PC, GUEST,
		"in the firmware setup choose a lower MMIOH base, within the CPU's address bits"},
	{PCIE_CAUSE_VBIOS_LIMIT, AMPERE, 0,
		"RTX 30 cards with their first VBIOS stop at 256 MiB: the board vendor's VBIOS "
		"update adds the larger sizes"},
	{PCIE_CAUSE_VBIOS_LIMIT, 0, AMPERE,
		"only another VBIOS can offer more; no setup item changes it"},
	{PCIE_CAUSE_DRIVER_OPTION, NVIDIA, 0,
		"put \"options nvidia NVreg_EnableResizableBar=1\" into /etc/modprobe.d, rebuild the "
		"initramfs, reboot; or let the firmware do it (\"Resizable BAR\" in the setup)"},
	{PCIE_CAUSE_DRIVER_OPTION, AMD, 0,
		"remove amdgpu.rebar=0 from the command line or /etc/modprobe.d"},
	{PCIE_CAUSE_DRIVER_OPTION, INTEL, 0,
		"remove the negative vram_bar_size or lmem_bar_size from the driver's options"},
	{PCIE_CAUSE_KERNEL_REGRESSION, 0, 0,
		"restart to get the BAR back; then try another kernel, or forbid the driver's resize "
		"(amdgpu.rebar=0, xe.vram_bar_size=-1, NVreg_EnableResizableBar=0)"},
	{PCIE_CAUSE_KERNEL_RESCUED, PC, GUEST,
		"nothing to do; \"Above 4G Decoding\" in the setup would make it independent of the "
		"kernel"},
	{PCIE_CAUSE_NOCRS, 0, 0,
		"switch on the firmware's own windows (\"Above 4G Decoding\") and remove pci=nocrs: "
		"it hides what the machine can really decode"},
	{PCIE_CAUSE_HYPERVISOR, 0, 0,
		"look on the host: what barscope check says there decides, and the guest gets what "
		"the host's BAR is"},
	{PCIE_CAUSE_CSM, PC, GUEST | APPLE,
		"install for UEFI start, switch CSM off, then switch on Above 4G Decoding and "
		"Resizable BAR"},
	{PCIE_CAUSE_SOC_WINDOW, 0, 0,
		"the window is fixed by the chip and its device tree: only a larger range there, or "
		"a card with smaller BARs, helps"},
	{PCIE_CAUSE_VF_BARS, 0, 0,
		"switch SR-IOV off in the setup (or pci=realloc=off on the command line), so that "
		"the card's own BARs come first"},
	{PCIE_CAUSE_RESOURCE_CONFLICT, FAILED | NO_REALLOC, 0,
		"try pci=realloc on the kernel command line; take it back if another device "
		"vanishes"},
	{PCIE_CAUSE_RESOURCE_CONFLICT, FAILED | PC, GUEST,
		"update the firmware; try the card in another slot"},
	{PCIE_CAUSE_RESOURCE_CONFLICT, FAILED | UNSURE_PC, GUEST,
		"update the firmware; try the card in another slot"},
	{PCIE_CAUSE_UNKNOWN, FAILED | OPEN | PC, GUEST | APPLE,
		"in the firmware setup switch on \"Above 4G Decoding\" (CSM off): without it a BAR "
		"of this kind often finds no place"},
	{PCIE_CAUSE_UNKNOWN, FAILED | OPEN | UNSURE_PC, GUEST | APPLE,
		"on a PC: look for \"Above 4G Decoding\" in the firmware setup, with CSM off; in a "
		"virtual machine: for the size of its 64-bit PCI window"},
	{PCIE_CAUSE_UNKNOWN, FAILED | LOGGED | NO_REALLOC, 0,
		"try pci=realloc on the kernel command line; take it back if another device "
		"vanishes"},
	{PCIE_CAUSE_UNKNOWN, FAILED, LOGGED,
		"run it on the machine as root, or add the boot log (dmesg) with --with FILE: it "
		"says which window had no room"},
	{PCIE_CAUSE_UNKNOWN, FAILED | LOGGED, 0,
		"run it on the machine as root, or add the whole boot log (dmesg) with --with FILE: "
		"its \"root bus resource\" and \"bridge window\" lines show which window is short"},
	{PCIE_CAUSE_UNKNOWN, NVIDIA | FOREIGN, FAILED | GUEST | TRIED,
		"\"Resizable BAR\" on in the firmware setup; the driver that is bound does not "
		"resize"},
	{PCIE_CAUSE_UNKNOWN, NVIDIA, FAILED | GUEST | TRIED | FOREIGN,
		"the NVIDIA driver does not resize by itself: NVreg_EnableResizableBar=1, or "
		"\"Resizable BAR\" on in the firmware setup"},
	{PCIE_CAUSE_UNKNOWN, BUSY, FAILED | GUEST,
		"if it is the first display: keep the boot framebuffer off it "
		"(initcall_blacklist=sysfb_init on the kernel command line), or try a newer kernel"},
	{PCIE_CAUSE_UNKNOWN, PC, FAILED | GUEST | APPLE | NVIDIA,
		"in the firmware setup switch on \"Resizable BAR\" (\"Re-Size BAR\", \"Smart Access "
		"Memory\"), with CSM off"},
	{PCIE_CAUSE_UNKNOWN, PC | NVIDIA | TRIED, FAILED | GUEST | APPLE,
		"in the firmware setup switch on \"Resizable BAR\", so that the windows are made "
		"large at boot"},
	{PCIE_CAUSE_UNKNOWN, UNSURE_PC | TRIED, FAILED | GUEST | APPLE,
		"on a PC: \"Resizable BAR\" on in the firmware setup makes the windows large at "
		"boot, before any driver"},
	{PCIE_CAUSE_UNKNOWN, INTEL | ROOM, FAILED | GUEST,
		"on Arc cards the BAR 0 of the card's own switch is mostly what is in the window: "
		"lspci -vv of all devices, or /proc/iomem as root, shows it"},
	{PCIE_CAUSE_UNKNOWN, ROOM | NO_REALLOC, FAILED,
		"try pci=realloc on the kernel command line; take it back if another device "
		"vanishes"},
	{PCIE_CAUSE_UNKNOWN, 0, FAILED, "barscope plan shows whether the larger size would fit"},
};

/* Something lies above 4 GiB. */
static bool room_is_known(const struct pcie_machine *m)
{
	return m->high_aperture >= 0 || m->kernel_aperture >= 0 || m->high_iomem >= 0 ||
	       m->high_dev[0] >= 0;
}

static unsigned of_failed(const struct pcie_judge *j, const struct pcie_bar_finding *f)
{
	if (f->state != PCIE_BAR_UNPLACED) {
		return 0;
	}
	return FAILED | (f->history && f->history->nline ? LOGGED : 0) |
	       (!room_is_known(j->m) && (f->is64 || !f->type_known) ? OPEN : 0) |
	       (f->has_size && f->size >= PCIE_4G ? HUGE : 0);
}

/* GA102 to GA107 as a display: the boards whose first VBIOS had one size only. */
static bool is_rtx_30(const struct pcie_judge *j)
{
	bool id = j->d->have_ids == PCIE_KNOWN && j->d->device >= 0x2200 && j->d->device < 0x2600;
	return j->vendor == 0x10de && (id || strstr(j->d->name, "RTX 30"));
}

static unsigned conditions(const struct pcie_judge *j)
{
	unsigned c = 0;
	c |= j->m->pc == PCIE_YES && !j->m->apple ? PC : 0;
	c |= j->m->pc == PCIE_TRI_UNKNOWN ? UNSURE_PC : 0;
	c |= j->m->guest == PCIE_YES ? GUEST : 0;
	c |= j->m->apple ? APPLE : 0;
	c |= j->vendor == 0x10de ? NVIDIA : 0;
	c |= j->vendor == 0x1002 ? AMD : 0;
	c |= j->vendor == 0x8086 ? INTEL : 0;
	c |= !room_is_known(j->m) && pcie_can_grow(j) ? OPEN : 0;
	c |= is_rtx_30(j) ? AMPERE : 0;
	c |= j->d->have_driver == PCIE_KNOWN && strcmp(j->d->driver, "nvidia") ? FOREIGN : 0;
	c |= j->hotplugged ? PLUGGED : 0;
	/* A guest's firmware without UEFI is its hypervisor's choice, not a CSM to switch off. */
	c |= j->m->legacy_boot == PCIE_YES && j->m->guest != PCIE_YES ? LEGACY : 0;
	c |= j->m->realloc != PCIE_YES ? NO_REALLOC : 0;
	for (int i = 0; i < PCIE_BAR_SLOTS; i++) {
		c |= of_failed(j, &j->slot[i]);
	}
	for (unsigned i = 0; i < j->nloose; i++) {
		c |= of_failed(j, &j->loose[i]);
	}
	for (size_t i = 0; i < j->s->nstatement; i++) {
		c |= j->s->statement[i].kind == PCIE_SAID_TRY_REALLOC ? HINTED : 0;
	}
	if (j->tried || j->tried_in_log) {
		enum pcie_refusal why = pcie_resize_refusal(j);
		c |= TRIED | (why == PCIE_REFUSED_ROOM ? ROOM : 0) |
		     (why == PCIE_REFUSED_BUSY ? BUSY : 0);
	}
	return c;
}

bool pcie_has_failed(const struct pcie_judge *j)
{
	return conditions(j) & FAILED;
}

void pcie_advise_cause(const struct pcie_judge *j, struct pcie_verdict *v)
{
	unsigned have = conditions(j);
	for (size_t i = 0; i < ARRAY_LEN(advice); i++) {
		if (advice[i].cause == j->cause && (advice[i].need & ~have) == 0 &&
			(advice[i].not &have) == 0) {
			pcie_advise(v, "%s", advice[i].text);
		}
	}
}
