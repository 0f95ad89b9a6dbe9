/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What kind of display device: by ids where there are any, else by place in the tree,
 * neighbours and the words of a text. A wrong "integrated" hides a finding and a wrong
 * "discrete" makes one up, so each test is narrow.
 */
#include "pcie/gpu_kind.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum {
	VENDOR_AMD_GPU = 0x1002,
	VENDOR_AMD = 0x1022,
	VENDOR_ASPEED = 0x1a03,
	VENDOR_HISILICON = 0x19e5,
	VENDOR_INTEL = 0x8086,
	VENDOR_LOONGSON = 0x0014,
	VENDOR_MATROX = 0x102b,
	VENDOR_NVIDIA = 0x10de,
	VENDOR_SILICON_MOTION = 0x126f,
	VENDOR_XGI = 0x18ca,
	VENDOR_ZHAOXIN = 0x1d17,
};

static const struct {
	const char *word;
	uint16_t vendor;
} name_vendor[] = {
	{"NVIDIA", VENDOR_NVIDIA},
	{"nVidia", VENDOR_NVIDIA},
	{"ASPEED", VENDOR_ASPEED},
	{"Matrox", VENDOR_MATROX},
	{"[AMD/ATI]", VENDOR_AMD_GPU},
	{"ATI Technologies", VENDOR_AMD_GPU},
	{"Advanced Micro Devices", VENDOR_AMD_GPU},
	{"Intel", VENDOR_INTEL},
	{"Loongson", VENDOR_LOONGSON},
	{"Red Hat", 0x1b36},
	{"VMware", 0x15ad},
	{"Cirrus Logic", 0x1013},
};

static const struct {
	const char *driver;
	uint16_t vendor;
} driver_vendor[] = {
	{"nvidia", VENDOR_NVIDIA},
	{"nouveau", VENDOR_NVIDIA},
	{"nova_core", VENDOR_NVIDIA},
	{"amdgpu", VENDOR_AMD_GPU},
	{"radeon", VENDOR_AMD_GPU},
	{"i915", VENDOR_INTEL},
	{"xe", VENDOR_INTEL},
	{"ast", VENDOR_ASPEED},
	{"mgag200", VENDOR_MATROX},
	{"bochs-drm", 0x1234},
	{"qxl", 0x1b36},
	{"virtio-pci", 0x1af4},
	{"vmwgfx", 0x15ad},
};

uint16_t pcie_driver_vendor(const char *driver)
{
	for (size_t i = 0; i < ARRAY_LEN(driver_vendor); i++) {
		if (!strcmp(driver, driver_vendor[i].driver)) {
			return driver_vendor[i].vendor;
		}
	}
	return 0;
}

uint16_t pcie_device_vendor(const struct pcie_device *d)
{
	if (d->have_ids == PCIE_KNOWN) {
		return d->vendor;
	}
	for (size_t i = 0; i < ARRAY_LEN(name_vendor); i++) {
		if (strstr(d->name, name_vendor[i].word)) {
			return name_vendor[i].vendor;
		}
	}
	return d->have_driver == PCIE_KNOWN ? pcie_driver_vendor(d->driver) : 0;
}

static bool has_word(const char *name, const char *const *word, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (strstr(name, word[i])) {
			return true;
		}
	}
	return false;
}

static bool has_id(const struct pcie_device *d, const uint16_t *id, size_t n)
{
	for (size_t i = 0; d->have_ids == PCIE_KNOWN && i < n; i++) {
		if (d->device == id[i]) {
			return true;
		}
	}
	return false;
}

bool pcie_device_has_own_switch(const struct pcie_device *d)
{
	static const struct {
		uint16_t vendor, first, last;
	} id[] = {
		{VENDOR_AMD_GPU, 0x66a0, 0x66af}, /* Vega 20 */
		{VENDOR_AMD_GPU, 0x6860, 0x687f}, /* Vega 10 */
		{VENDOR_AMD_GPU, 0x69a0, 0x69af}, /* Vega 12 */
		{VENDOR_AMD_GPU, 0x7310, 0x7362}, /* Navi 1x */
		{VENDOR_AMD_GPU, 0x73a0, 0x73ff}, /* Navi 2x */
		{VENDOR_AMD_GPU, 0x7420, 0x749f}, /* Navi 24, Navi 3x */
		{VENDOR_AMD_GPU, 0x7550, 0x759f}, /* Navi 4x */
		{VENDOR_INTEL, 0x5690, 0x56bf},   /* DG2 */
		{VENDOR_INTEL, 0x56c0, 0x56c2},   /* DG2, Flex */
		{VENDOR_INTEL, 0xe202, 0xe223},   /* Battlemage */
	};
	static const char *const amd[] = {"Navi ", "Vega 10", "Vega 12", "Vega 20"};
	static const char *const intel[] = {"DG2", "Battlemage", "[Arc "};

	for (size_t i = 0; d->have_ids == PCIE_KNOWN && i < ARRAY_LEN(id); i++) {
		if (d->vendor == id[i].vendor && d->device >= id[i].first &&
			d->device <= id[i].last) {
			return true;
		}
	}
	switch (pcie_device_vendor(d)) {
	case VENDOR_AMD_GPU:
		return has_word(d->name, amd, ARRAY_LEN(amd));
	case VENDOR_INTEL:
		return has_word(d->name, intel, ARRAY_LEN(intel));
	default:
		return false;
	}
}

bool pcie_device_is_coherent(const struct pcie_device *d)
{
	static const uint16_t grace[] = {0x2342, 0x2345, 0x2348, 0x2941, 0x2e12};
	static const char *const word[] = {"GH200", "GB200", "GB300", "[GB10]"};

	return d->coherent || (pcie_device_vendor(d) == VENDOR_NVIDIA &&
				      (has_id(d, grace, ARRAY_LEN(grace)) ||
					      has_word(d->name, word, ARRAY_LEN(word))));
}

/* Management controllers: their frame buffer is a few MiB and there is nothing to resize. */
static bool is_bmc(const struct pcie_device *d, uint16_t vendor)
{
	/* Matrox G200e and its kin; ATI ES1000 and RN50. */
	static const uint16_t matrox[] = {0x0522, 0x0530, 0x0532, 0x0533, 0x0534, 0x0536, 0x0538};
	static const uint16_t ati[] = {0x515e, 0x515f, 0x5969};

	switch (vendor) {
	case VENDOR_ASPEED:
	case VENDOR_XGI:
	case VENDOR_SILICON_MOTION:
		return true;
	case VENDOR_HISILICON:
		return d->have_ids == PCIE_KNOWN && d->device == 0x1711;
	case VENDOR_MATROX:
		return has_id(d, matrox, ARRAY_LEN(matrox)) || strstr(d->name, "G200");
	case VENDOR_AMD_GPU:
		return has_id(d, ati, ARRAY_LEN(ati)) || strstr(d->name, "ES1000");
	default:
		return false;
	}
}

static bool is_emulated(const struct pcie_device *d, uint16_t vendor)
{
	switch (vendor) {
	case 0x1234: /* Bochs and QEMU standard VGA */
	case 0x15ad: /* VMware SVGA */
	case 0x1414: /* Hyper-V */
	case 0x1af4: /* virtio-gpu */
	case 0x1b36: /* QXL */
	case 0x80ee: /* VirtualBox */
		return true;
	case 0x1013: /* Cirrus, as QEMU shows it */
		return d->have_ids == PCIE_KNOWN && d->device == 0x00b8;
	default:
		return false;
	}
}

/* Another function of the same device with VENDOR. */
static bool has_sibling(const struct pcie_snapshot *s, const struct pcie_device *d, uint16_t vendor)
{
	if (!d->addr.known) {
		return false;
	}
	for (uint8_t fn = 0; fn < 8; fn++) {
		struct pcie_addr a = d->addr;
		a.fn = fn;
		int i = fn == d->addr.fn ? -1 : pcie_snapshot_find(s, a);
		if (i >= 0 && s->dev[i].have_ids == PCIE_KNOWN && s->dev[i].vendor == vendor) {
			return true;
		}
	}
	return false;
}

static bool is_amd_integrated(const struct pcie_snapshot *s, const struct pcie_device *d)
{
	/* "Internal PCIe GPP Bridge to Bus": no slot hangs there. */
	static const uint16_t inner[] = {
		0x1484, 0x14b9, 0x14dd, 0x14eb, 0x1508, 0x15db, 0x1635, 0x15dc};
	static const char *const code_name[] = {"Raven", "Picasso", "Renoir", "Lucienne", "Cezanne",
		"Barcelo", "Rembrandt", "Mendocino", "Raphael", "Phoenix", "HawkPoint", "Strix",
		"Krackan", "Granite Ridge", "VanGogh", "Van Gogh", "Kaveri", "Carrizo", "Stoney",
		"Kabini", "Mullins", "Wrestler", "Trinity", "Richland", "RS780", "RS880", "RS690"};

	if (d->parent >= 0) {
		const struct pcie_device *p = &s->dev[d->parent];
		if (strstr(p->name, "Internal PCIe GPP") || strstr(p->name, "Internal GPP") ||
			(p->have_ids == PCIE_KNOWN && p->vendor == VENDOR_AMD &&
				has_id(p, inner, ARRAY_LEN(inner)))) {
			return true;
		}
	}
	/* An APU's graphics shares its device with the security processor and USB. */
	if (has_sibling(s, d, VENDOR_AMD)) {
		return true;
	}
	/* 00:01.x: APUs before Zen; 01:05.x: chipset graphics. */
	bool old_place =
		d->addr.known && d->addr.domain == 0 &&
		((d->addr.bus == 0 && d->addr.dev == 1) || (d->addr.bus == 1 && d->addr.dev == 5));
	return old_place || has_word(d->name, code_name, ARRAY_LEN(code_name));
}

static bool is_integrated(
	const struct pcie_snapshot *s, const struct pcie_device *d, uint16_t vendor)
{
	static const char *const intel[] = {"UHD Graphics", "HD Graphics", "Iris", "GT2]", "GT1]"};

	switch (vendor) {
	case VENDOR_INTEL:
		if (d->addr.known) {
			return d->addr.domain == 0 && d->addr.bus == 0 && d->addr.dev == 2;
		}
		return has_word(d->name, intel, ARRAY_LEN(intel));
	case VENDOR_AMD_GPU:
		return is_amd_integrated(s, d);
	case VENDOR_LOONGSON:
	case VENDOR_ZHAOXIN:
		return true;
	default:
		return false;
	}
}

enum pcie_gpu_kind pcie_device_kind(const struct pcie_snapshot *s, int dev)
{
	const struct pcie_device *d = &s->dev[dev];
	uint16_t vendor = pcie_device_vendor(d);

	if (d->is_vf == PCIE_YES) {
		return PCIE_GPU_VF;
	}
	if (is_bmc(d, vendor)) {
		return PCIE_GPU_BMC;
	}
	if (is_emulated(d, vendor)) {
		return PCIE_GPU_EMULATED;
	}
	return is_integrated(s, d, vendor) ? PCIE_GPU_INTEGRATED : PCIE_GPU_DISCRETE;
}

const char *pcie_gpu_kind_name(enum pcie_gpu_kind k)
{
	static const char *const name[] = {"discrete GPU", "integrated GPU",
		"management controller", "emulated display", "virtual function"};
	return (size_t)k < ARRAY_LEN(name) ? name[k] : name[0];
}

const char *pcie_gpu_memory_name(enum pcie_gpu_kind k)
{
	switch (k) {
	case PCIE_GPU_INTEGRATED:
		return "aperture"; /* onto the machine's own memory */
	case PCIE_GPU_BMC:
	case PCIE_GPU_EMULATED:
		return "framebuffer";
	case PCIE_GPU_DISCRETE:
	case PCIE_GPU_VF:
		break;
	}
	return "VRAM";
}

bool pcie_vram_in_name(const char *name, uint64_t *ret)
{
	const char *gb = strstr(name, "GB");
	if (!gb || gb == name || isalnum((unsigned char)gb[2])) {
		return false;
	}
	const char *p = gb;
	while (p > name && p[-1] == ' ') {
		p--;
	}
	const char *end = p;
	while (p > name && isdigit((unsigned char)p[-1])) {
		p--;
	}
	if (p == end || end - p > 3 || (p > name && isalnum((unsigned char)p[-1]))) {
		return false;
	}
	uint64_t gib = (uint64_t)strtoul(p, NULL, 10);
	if (gib == 0 || gib > 512) {
		return false;
	}
	*ret = gib * GIB;
	return true;
}
