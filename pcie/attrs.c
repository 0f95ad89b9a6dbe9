/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The meaning of each file: Linux, Documentation/ABI/testing/sysfs-bus-pci, include/linux/ioport.h.
 */
#include "pcie/attrs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "pcie/rebar.h"

/* Flags of a resource line (include/linux/ioport.h: sysfs makes them an interface). */
enum {
	RES_IO = 0x100,
	RES_MEM = 0x200,
	RES_PREFETCH = 0x2000,
	RES_MEM_64 = 0x100000,
	RES_DISABLED = 0x10000000,
	RES_UNSET = 0x20000000,
	RES_EA = 1 << 5, /* set by Enhanced Allocation */
};

/* Lines of "resource": without and with CONFIG_PCI_IOV, and what bridges append. */
enum { LINES_BAR = 7, LINES_IOV = 6, LINES_BRIDGE = 4, LINES_MAX = 17 };

struct line {
	uint64_t start, end, flags;
};

/* The first line of S as a number; false when it is something else. */
static bool number(const char *s, int base, uint64_t *ret)
{
	char buf[32];
	size_t n = strcspn(s, "\n");
	if (n >= sizeof(buf)) {
		return false;
	}
	memcpy(buf, s, n);
	buf[n] = '\0';
	return text_parse_u64(text_trim(buf), base, ret) == 0;
}

static void first_line(char *dst, size_t size, const char *s)
{
	char buf[256];
	size_t n = strcspn(s, "\n");
	n = MIN(n, sizeof(buf) - 1);
	memcpy(buf, s, n);
	buf[n] = '\0';
	text_copy(dst, size, text_trim(buf));
}

static const char *basename_of(const char *s)
{
	const char *slash = strrchr(s, '/');
	return slash ? slash + 1 : s;
}

enum id { ID_VENDOR, ID_DEVICE, ID_SUBVENDOR, ID_SUBDEVICE, ID_REVISION, ID_CLASS };

static void parse_id(struct pcie_device *d, pcie_src src, int arg, const char *s)
{
	uint64_t v;
	if (!number(s, 16, &v) || v > (arg == ID_CLASS ? 0xffffff : 0xffff)) {
		return;
	}
	switch ((enum id)arg) {
	case ID_VENDOR:
		d->vendor = (uint16_t)v;
		return;
	case ID_DEVICE:
		d->device = (uint16_t)v;
		d->have_ids = PCIE_KNOWN;
		d->ids_src = src;
		return;
	case ID_SUBVENDOR:
		d->subvendor = (uint16_t)v;
		return;
	case ID_SUBDEVICE:
		d->subdevice = (uint16_t)v;
		/* 0:0 is what the kernel says of a bridge that has none. */
		if (d->subvendor || d->subdevice) {
			d->have_subsystem = PCIE_KNOWN;
		}
		return;
	case ID_REVISION:
		d->revision = (uint8_t)v;
		return;
	case ID_CLASS:
		d->class_code = (uint32_t)v;
		d->have_class = PCIE_KNOWN;
		/* PCI-to-PCI, and the semi-transparent kind (PCI Code and ID 1.14, D.7) */
		d->is_bridge = v >> 8 == 0x0604 || v >> 8 == 0x0609;
		return;
	}
}

static int read_lines(const char *s, struct line line[LINES_MAX])
{
	int n = 0;
	while (*s && n < LINES_MAX) {
		uint64_t *field[] = {&line[n].start, &line[n].end, &line[n].flags};
		for (size_t i = 0; i < ARRAY_LEN(field); i++) {
			char *end;
			s += strspn(s, " \t");
			if (*s != '0') {
				return n; /* each field is written as 0x… */
			}
			errno = 0;
			*field[i] = strtoull(s, &end, 16);
			if (end == s || errno) {
				return n;
			}
			s = end;
		}
		n++;
		s += strcspn(s, "\n");
		s += *s == '\n';
	}
	return n;
}

static bool is_empty(const struct line *l)
{
	return !l->start && !l->end && !l->flags;
}

static void set_bar(struct pcie_device *d, pcie_src src, enum pcie_bar_kind kind, int index,
	const struct line *l)
{
	struct pcie_bar *b = pcie_device_bar(d, kind, index);
	if (!b) {
		return;
	}
	b->src = src;
	if (is_empty(l)) {
		b->have = PCIE_ABSENT;
		return;
	}
	b->have = PCIE_KNOWN;
	b->io = l->flags & RES_IO;
	b->is64 = l->flags & RES_MEM_64;
	/* The kernel marks every ROM prefetchable; its register has no such bit (PCI 6.2.5.2). */
	b->prefetchable = l->flags & RES_PREFETCH && kind != PCIE_BAR_ROM;
	b->is64_known = true;
	b->enhanced = b->enhanced || l->flags & RES_EA;
	/* Nothing real stands at 0; older kernels leave the size there without the flag. */
	bool set = l->start && !(l->flags & RES_UNSET);
	b->has_size = l->end > l->start || (set && l->end == l->start);
	b->size = b->has_size ? l->end - l->start + 1 : 0;
	b->has_base = set;
	b->base = set ? l->start : 0;
	b->assigned = set ? PCIE_YES : PCIE_NO;
}

static void set_window(struct pcie_window *w, pcie_src src, const struct line *l)
{
	w->src = src;
	w->is64 = l->flags & RES_MEM_64;
	if (is_empty(l) || l->flags & RES_DISABLED || (!l->start && !l->end)) {
		w->have = PCIE_ABSENT;
		return;
	}
	w->have = PCIE_KNOWN;
	w->unassigned = l->flags & RES_UNSET || !l->start;
	w->base = l->start;
	w->limit = l->end;
}

static void parse_resource(struct pcie_device *d, pcie_src src, int arg, const char *s)
{
	(void)arg;
	struct line line[LINES_MAX] = {0};
	int n = read_lines(s, line);
	d->bars_complete = n >= LINES_BAR;
	bool windows = n == LINES_BAR + LINES_BRIDGE || n == LINES_MAX;
	bool iov = n == LINES_BAR + LINES_IOV || n == LINES_MAX;

	for (int i = 0; i < n && i < 6; i++) {
		set_bar(d, src, PCIE_BAR_NORMAL, i, &line[i]);
	}
	if (n >= LINES_BAR) {
		set_bar(d, src, PCIE_BAR_ROM, 6, &line[6]);
	}
	for (int i = 0; iov && i < LINES_IOV; i++) {
		if (!is_empty(&line[LINES_BAR + i])) {
			set_bar(d, src, PCIE_BAR_VF, i, &line[LINES_BAR + i]);
		}
	}
	if (windows) {
		const struct line *first = &line[n - LINES_BRIDGE];
		for (int i = 0; i < PCIE_WINDOWS; i++) {
			set_window(&d->window[i], src, &first[i]);
		}
	}
}

static void parse_resize(struct pcie_device *d, pcie_src src, int arg, const char *s)
{
	uint64_t sizes;
	struct pcie_rebar *r = &d->rebar;
	if (!number(s, 16, &sizes) || r->count == PCIE_REBAR_ENTRIES) {
		return;
	}
	sizes &= PCIE_REBAR_ALL_SIZES; /* a bit behind these stands for no size */
	for (int i = 0; i < r->count; i++) {
		if (r->entry[i].bar == arg) {
			return;
		}
	}
	r->have = PCIE_KNOWN;
	r->src = src;
	r->entry[r->count++] = (struct pcie_rebar_entry){.bar = (uint8_t)arg, .supported = sizes};
}

enum link_field { LINK_SPEED, LINK_WIDTH, LINK_MAX_SPEED, LINK_MAX_WIDTH };

/* "16.0 GT/s PCIe", "8 GT/s"; "Unknown" says nothing. In units of 100 MT/s. */
static bool parse_speed(const char *s, uint16_t *ret)
{
	char *end;
	if (*s < '0' || *s > '9') {
		return false;
	}
	unsigned long whole = strtoul(s, &end, 10);
	unsigned tenth = 0;
	if (*end == '.' && end[1] >= '0' && end[1] <= '9') {
		tenth = (unsigned)(end[1] - '0');
		end += 2;
	}
	if (whole > 1000 || strncmp(end, " GT/s", 5)) {
		return false;
	}
	*ret = (uint16_t)(whole * 10 + tenth);
	return true;
}

static void parse_link(struct pcie_device *d, pcie_src src, int arg, const char *s)
{
	struct pcie_link *l = &d->link;
	uint16_t speed = 0;
	uint64_t width = 0;
	bool is_speed = arg == LINK_SPEED || arg == LINK_MAX_SPEED;

	/* 0 and 255 are what the kernel prints for a width that there is not or it does not know.
	 */
	if (is_speed ? !parse_speed(s, &speed) : !number(s, 10, &width) || !width || width >= 255) {
		return;
	}
	switch ((enum link_field)arg) {
	case LINK_SPEED:
		l->speed = speed;
		break;
	case LINK_WIDTH:
		l->width = (uint8_t)width;
		break;
	case LINK_MAX_SPEED:
		l->max_speed = speed;
		break;
	case LINK_MAX_WIDTH:
		l->max_width = (uint8_t)width;
		break;
	}
	l->have = PCIE_KNOWN;
	l->src = src;
}

static void parse_numa(struct pcie_device *d, pcie_src src, int arg, const char *s)
{
	(void)src, (void)arg;
	uint64_t node;
	if (!strncmp(s, "-1", 2)) {
		d->numa = -1;
	} else if (number(s, 10, &node) && node < INT32_MAX) {
		d->numa = (int)node;
	} else {
		return;
	}
	d->have_numa = PCIE_KNOWN;
}

static void parse_iommu_group(struct pcie_device *d, pcie_src src, int arg, const char *s)
{
	(void)src, (void)arg;
	uint64_t group;
	if (number(basename_of(s), 10, &group) && group < INT32_MAX) {
		d->have_iommu = PCIE_KNOWN;
		d->iommu_group = (int)group;
	}
}

static void parse_driver(struct pcie_device *d, pcie_src src, int arg, const char *s)
{
	(void)arg;
	first_line(d->driver, sizeof(d->driver), basename_of(s));
	d->have_driver = d->driver[0] ? PCIE_KNOWN : PCIE_ABSENT;
	d->driver_src = src;
}

static void parse_boot_vga(struct pcie_device *d, pcie_src src, int arg, const char *s)
{
	(void)src, (void)arg;
	d->boot_vga = *s == '1' ? PCIE_YES : *s == '0' ? PCIE_NO : PCIE_TRI_UNKNOWN;
}

static void parse_sriov(struct pcie_device *d, pcie_src src, int arg, const char *s)
{
	(void)src;
	uint64_t n;
	if (number(s, 10, &n) && n <= UINT16_MAX) {
		*(arg ? &d->sriov_num : &d->sriov_total) = (uint16_t)n;
	}
}

enum aer { AER_CORRECTABLE, AER_NONFATAL, AER_FATAL };

static void parse_aer(struct pcie_device *d, pcie_src src, int arg, const char *s)
{
	static const char *const total[] = {
		"TOTAL_ERR_COR", "TOTAL_ERR_NONFATAL", "TOTAL_ERR_FATAL"};
	uint64_t *const field[] = {&d->aer.correctable, &d->aer.nonfatal, &d->aer.fatal};
	const char *p = strstr(s, total[arg]);
	uint64_t n;
	if (p && number(p + strlen(total[arg]), 10, &n)) {
		*field[arg] = n;
		d->aer.have = PCIE_KNOWN;
		d->aer.src = src;
	}
}

static void parse_power_state(struct pcie_device *d, pcie_src src, int arg, const char *s)
{
	(void)arg;
	if (*s == 'D') {
		first_line(d->power, sizeof(d->power), s);
		d->power_src = src;
	}
}

static void parse_runtime_status(struct pcie_device *d, pcie_src src, int arg, const char *s)
{
	(void)arg;
	d->asleep = !strncmp(s, "suspended", 9);
	if (!d->power[0] && d->asleep) {
		first_line(d->power, sizeof(d->power), s);
		d->power_src = src;
	}
}

static void parse_dma_mask(struct pcie_device *d, pcie_src src, int arg, const char *s)
{
	(void)src, (void)arg;
	uint64_t bits;
	if (number(s, 10, &bits) && bits <= 64) {
		d->dma_mask_bits = bits;
	}
}

static void parse_removable(struct pcie_device *d, pcie_src src, int arg, const char *s)
{
	(void)src, (void)arg;
	d->removable = !strncmp(s, "removable", 9);
}

static void parse_vram(struct pcie_device *d, pcie_src src, int arg, const char *s)
{
	(void)arg;
	uint64_t bytes;
	if (number(s, 10, &bytes) && bytes) {
		d->vram.have = PCIE_KNOWN;
		d->vram.src = src;
		d->vram.bytes = bytes;
		text_copy(d->vram.what, sizeof(d->vram.what), "mem_info_vram_total");
	}
}

enum { NVML_MEMORY, NVML_BAR1 };

static void parse_nvml(struct pcie_device *d, pcie_src src, int arg, const char *s)
{
	uint64_t bytes;
	if (!number(s, 10, &bytes) || !bytes) {
		return;
	}
	if (arg == NVML_BAR1) {
		d->vram.bar1 = bytes;
		return;
	}
	d->vram.have = PCIE_KNOWN;
	d->vram.src = src;
	d->vram.bytes = bytes;
	text_copy(d->vram.what, sizeof(d->vram.what), "NVML memory total");
}

static void parse_vbios(struct pcie_device *d, pcie_src src, int arg, const char *s)
{
	(void)src, (void)arg;
	first_line(d->vbios, sizeof(d->vbios), s);
}

/* clang-format off */
#define TEXT(name, parse, arg)          {name, PCIE_ATTR_TEXT, false, false, parse, arg, NULL}
#define CONFIG(name, wakes, parse, arg) {name, PCIE_ATTR_TEXT, wakes, true, parse, arg, NULL}
#define LINK(name, parse)               {name, PCIE_ATTR_LINK, false, false, parse, 0, NULL}
#define NVML(name, arg)                 {name, PCIE_ATTR_TEXT, false, false, parse_nvml, arg, "NVML"}
/* clang-format on */

const struct pcie_attr pcie_attrs[] = {
	TEXT("power/runtime_status", parse_runtime_status, 0),
	TEXT("power_state", parse_power_state, 0),
	{"config", PCIE_ATTR_BINARY, true, false, NULL, 0, NULL},
	TEXT(PCIE_ATTR_CONFIG_SIZE, NULL, 0),
	TEXT("class", parse_id, ID_CLASS),
	CONFIG("vendor", false, parse_id, ID_VENDOR),
	CONFIG("device", false, parse_id, ID_DEVICE),
	CONFIG("subsystem_vendor", false, parse_id, ID_SUBVENDOR),
	CONFIG("subsystem_device", false, parse_id, ID_SUBDEVICE),
	CONFIG("revision", false, parse_id, ID_REVISION),
	TEXT("resource", parse_resource, 0),
	CONFIG("resource0_resize", true, parse_resize, 0),
	CONFIG("resource1_resize", true, parse_resize, 1),
	CONFIG("resource2_resize", true, parse_resize, 2),
	CONFIG("resource3_resize", true, parse_resize, 3),
	CONFIG("resource4_resize", true, parse_resize, 4),
	CONFIG("resource5_resize", true, parse_resize, 5),
	CONFIG("current_link_speed", true, parse_link, LINK_SPEED),
	CONFIG("current_link_width", true, parse_link, LINK_WIDTH),
	CONFIG("max_link_speed", true, parse_link, LINK_MAX_SPEED),
	CONFIG("max_link_width", true, parse_link, LINK_MAX_WIDTH),
	LINK("driver", parse_driver),
	LINK("iommu_group", parse_iommu_group),
	LINK("physfn", NULL),
	TEXT("numa_node", parse_numa, 0),
	TEXT("boot_vga", parse_boot_vga, 0),
	TEXT("dma_mask_bits", parse_dma_mask, 0),
	TEXT("removable", parse_removable, 0),
	TEXT("sriov_totalvfs", parse_sriov, 0),
	TEXT("sriov_numvfs", parse_sriov, 1),
	TEXT("aer_dev_correctable", parse_aer, AER_CORRECTABLE),
	TEXT("aer_dev_nonfatal", parse_aer, AER_NONFATAL),
	TEXT("aer_dev_fatal", parse_aer, AER_FATAL),
	TEXT("mem_info_vram_total", parse_vram, 0),
	TEXT("vbios_version", parse_vbios, 0),
	NVML(PCIE_ATTR_NVML_MEMORY, NVML_MEMORY),
	NVML(PCIE_ATTR_NVML_BAR1, NVML_BAR1),
};
const size_t pcie_nattrs = ARRAY_LEN(pcie_attrs);
_Static_assert(ARRAY_LEN(pcie_attrs) <= PCIE_ATTRS_MAX, "readers have a slot for each");

const struct pcie_attr *pcie_attr_find(const char *name)
{
	for (size_t i = 0; i < pcie_nattrs; i++) {
		if (pcie_attrs[i].name[0] == name[0] && !strcmp(pcie_attrs[i].name, name)) {
			return &pcie_attrs[i];
		}
	}
	return NULL;
}
