/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What GPU drivers say: amdgpu, radeon, i915, xe, nouveau and NVIDIA's. */
#include <stdio.h>
#include <stdlib.h>

#include "base/macros.h"
#include "base/text.h"
#include "pcie/klog_state.h"

/* How well a reading tells all of the VRAM: a better one replaces a worse one. */
enum { RANK_NONE, RANK_AVAILABLE, RANK_READY, RANK_USED, RANK_TOTAL, RANK_PHYSICAL };

static void vram(struct klog *k, uint32_t dev, uint64_t bytes, unsigned rank, const char *what)
{
	struct pcie_device *d = klog_dev(k, dev);
	k->used = true;
	if (bytes == 0 || rank < k->dev[dev].vram_rank) {
		return;
	}
	k->dev[dev].vram_rank = (uint8_t)rank;
	d->vram.have = PCIE_KNOWN;
	d->vram.src = k->src;
	d->vram.bytes = bytes;
	text_copy(d->vram.what, sizeof(d->vram.what), what);
}

/* MIB MiB, or 0 when that is no 64-bit number of bytes. */
static uint64_t mib(uint64_t v)
{
	return v < (uint64_t)1 << 43 ? v << 20 : 0;
}

static void visible(struct klog *k, uint32_t dev, uint64_t bytes)
{
	k->dev[dev].visible = bytes;
	k->dev[dev].visible_order = k->order;
	k->used = true;
}

/* One handler for each message; V holds its fields, S is the message. */
typedef void handler(struct klog *k, uint32_t dev, const uint64_t *v, const char *s);

static void on_detected_vram(struct klog *k, uint32_t dev, const uint64_t *v, const char *s)
{
	(void)s;
	vram(k, dev, mib(v[0]), RANK_TOTAL, "Detected VRAM RAM");
	visible(k, dev, mib(v[1]));
}

static void on_vram_used(struct klog *k, uint32_t dev, const uint64_t *v, const char *s)
{
	(void)s;
	vram(k, dev, mib(v[3]), RANK_USED, "VRAM … used");
}

static void on_vram_ready(struct klog *k, uint32_t dev, const uint64_t *v, const char *s)
{
	(void)s;
	vram(k, dev, mib(v[0]), RANK_READY, "VRAM memory ready");
}

static void on_nouveau_vram(struct klog *k, uint32_t dev, const uint64_t *v, const char *s)
{
	(void)s;
	vram(k, dev, mib(v[0]), RANK_TOTAL, "nouveau VRAM");
}

static void on_physical(struct klog *k, uint32_t dev, const uint64_t *v, const char *s)
{
	vram(k, dev, v[0], RANK_PHYSICAL, "Actual physical size");
	const char *seen = strstr(s, "CPU accessible size ");
	uint64_t bytes;
	if (seen && (seen += strlen("CPU accessible size "), klog_hex(&seen, &bytes))) {
		visible(k, dev, bytes);
	}
}

static void on_total_vram(struct klog *k, uint32_t dev, const uint64_t *v, const char *s)
{
	(void)s;
	vram(k, dev, v[1], RANK_TOTAL, "Total VRAM");
}

static void on_visible_vram(struct klog *k, uint32_t dev, const uint64_t *v, const char *s)
{
	(void)s;
	visible(k, dev, v[1]);
}

static void on_larger_than_resource(struct klog *k, uint32_t dev, const uint64_t *v, const char *s)
{
	(void)s;
	vram(k, dev, v[0], RANK_TOTAL, "VRAM is larger than resource");
	visible(k, dev, v[1]);
	klog_say(k, dev, PCIE_SAID_SMALL_BAR, v[1]);
}

static void on_full_memory(struct klog *k, uint32_t dev, const uint64_t *v, const char *s)
{
	(void)s;
	k->dev[dev].reduced = true;
	vram(k, dev, v[0], RANK_TOTAL, "full memory");
	klog_say(k, dev, PCIE_SAID_SMALL_BAR, 0);
}

static void on_reduced_lmem(struct klog *k, uint32_t dev, const uint64_t *v, const char *s)
{
	(void)s;
	k->dev[dev].reduced = true;
	klog_say(k, dev, PCIE_SAID_SMALL_BAR, v[0]);
}

static void on_lmem_io(struct klog *k, uint32_t dev, const uint64_t *v, const char *s)
{
	(void)s;
	if (!k->dev[dev].reduced) {
		visible(k, dev, v[0]);
	}
}

static void on_lmem_available(struct klog *k, uint32_t dev, const uint64_t *v, const char *s)
{
	(void)s;
	if (!k->dev[dev].reduced) { /* else it is what is left of it */
		vram(k, dev, v[0], RANK_AVAILABLE, "Local memory available");
	}
}

static void on_reduced_bar(struct klog *k, uint32_t dev, const uint64_t *v, const char *s)
{
	(void)s;
	klog_say(k, dev, PCIE_SAID_SMALL_BAR, mib(v[0]));
}

static void on_small_bar(struct klog *k, uint32_t dev, const uint64_t *v, const char *s)
{
	(void)v, (void)s;
	klog_say(k, dev, PCIE_SAID_SMALL_BAR, k->dev[dev].visible);
}

static void on_resize_try(struct klog *k, uint32_t dev, const uint64_t *v, const char *s)
{
	(void)s;
	klog_say(k, dev, PCIE_SAID_RESIZE_TRY, mib(v[1]));
}

static void on_resize_failed(struct klog *k, uint32_t dev, const uint64_t *v, const char *s)
{
	(void)v, (void)s;
	klog_say(k, dev, PCIE_SAID_RESIZE_FAILED, klog_resize_failed(k, dev));
}

static void on_resize_to_failed(struct klog *k, uint32_t dev, const uint64_t *v, const char *s)
{
	(void)s;
	klog_say(k, dev, PCIE_SAID_RESIZE_FAILED, mib(v[1]));
	klog_resize_failed(k, dev);
}

static void on_resized(struct klog *k, uint32_t dev, const uint64_t *v, const char *s)
{
	(void)s;
	klog_say(k, dev, PCIE_SAID_RESIZED, mib(v[1]));
	klog_resized(k, dev);
}

static void on_no_platform(struct klog *k, uint32_t dev, const uint64_t *v, const char *s)
{
	(void)v, (void)s;
	klog_say(k, dev, PCIE_SAID_NO_PLATFORM, 0);
}

static void on_no_ext_config(struct klog *k, uint32_t dev, const uint64_t *v, const char *s)
{
	(void)v, (void)s;
	klog_say(k, dev, PCIE_SAID_NO_EXT_CONFIG, 0);
}

static void on_init_failed(struct klog *k, uint32_t dev, const uint64_t *v, const char *s)
{
	(void)v, (void)s;
	klog_say(k, dev, PCIE_SAID_INIT_FAILED, 0);
}

static void set_ids(struct klog *k, uint32_t dev, const uint64_t *v)
{
	struct pcie_device *d = klog_dev(k, dev);
	if (v[0] > 0xffff || v[1] > 0xffff || v[2] > 0xffff || v[3] > 0xffff) {
		return;
	}
	d->have_ids = d->have_subsystem = PCIE_KNOWN;
	d->ids_src = k->src;
	d->vendor = (uint16_t)v[0];
	d->device = (uint16_t)v[1];
	d->subvendor = (uint16_t)v[2];
	d->subdevice = (uint16_t)v[3];
	d->revision = (uint8_t)v[4];
	k->used = true;
}

static void on_amd_ids(struct klog *k, uint32_t dev, const uint64_t *v, const char *s)
{
	(void)s;
	set_ids(k, dev, v);
}

/* "Found battlemage (device ID e20b) discrete display version …": xe and i915 only. */
static void on_intel_id(struct klog *k, uint32_t dev, const uint64_t *v, const char *s)
{
	(void)s;
	struct pcie_device *d = klog_dev(k, dev);
	if (d->have_ids != PCIE_KNOWN && v[0] <= 0xffff) {
		d->have_ids = PCIE_KNOWN;
		d->ids_src = k->src;
		d->vendor = 0x8086;
		d->device = (uint16_t)v[0];
		k->used = true;
	}
}

static void on_vbios(struct klog *k, uint32_t dev, const uint64_t *v, const char *s)
{
	(void)v;
	struct pcie_device *d = klog_dev(k, dev);
	s = strchr(s, ':');
	if (!s) {
		return;
	}
	s++;
	klog_blanks(&s);
	klog_eat(&s, "version ");
	size_t n = MIN(strcspn(s, " "), sizeof(d->vbios) - 1);
	memcpy(d->vbios, s, n);
	d->vbios[n] = '\0';
	k->used = true;
}

static const struct {
	const char *fmt;
	uint8_t fields;
	uint8_t makers; /* bits of enum klog_maker; 0: any */
	handler *on;
} messages[] = {
	/* amdgpu, radeon */
	{"Detected VRAM RAM=%uM, BAR=%uM", 2, 1 << KLOG_AMD, on_detected_vram},
	{"VRAM: %uM 0x%x - 0x%x (%uM used)", 4, 1 << KLOG_AMD, on_vram_used},
	{"%uM of VRAM memory ready", 1, 1 << KLOG_AMD, on_vram_ready},
	{"Not enough PCI address space for a large BAR", 0, 1 << KLOG_AMD, on_resize_failed},
	{"Problem resizing BAR%u", 1, 1 << KLOG_AMD, on_resize_failed},
	{"initializing kernel modesetting (%w %x:%x %x:%x %x", 5, 1 << KLOG_AMD, on_amd_ids},
	{"System can't access extended configuration space", 0, 1 << KLOG_AMD, on_no_ext_config},
	{"Fatal error during GPU init", 0, 1 << KLOG_AMD, on_init_failed},
	{"ATOM BIOS: ", 0, 1 << KLOG_AMD, on_vbios},
	/* i915, xe */
	{"Can't resize LMEM BAR - platform support is missing", 0, 1 << KLOG_INTEL, on_no_platform},
	{"Can't resize VRAM BAR - platform support is missing", 0, 1 << KLOG_INTEL, on_no_platform},
	{"Failed to resize BAR%u to %uM", 2, 1 << KLOG_INTEL, on_resize_to_failed},
	{"BAR%u resized to %uM", 2, 1 << KLOG_INTEL, on_resized},
	{"Attempting to resize bar from %uMiB -> %uMiB", 2, 1 << KLOG_INTEL, on_resize_try},
	{"Using a reduced BAR size of %uMiB", 1, 1 << KLOG_INTEL, on_reduced_bar},
	{"Small BAR device", 0, 1 << KLOG_INTEL, on_small_bar},
	{"VRAM: %x is larger than resource %x", 2, 1 << KLOG_INTEL, on_larger_than_resource},
	{"VRAM[%*]: Actual physical size %x", 1, 1 << KLOG_INTEL, on_physical},
	{"VISIBLE VRAM: %x, %x", 2, 1 << KLOG_INTEL, on_visible_vram},
	{"Total VRAM: %x, %x", 2, 1 << KLOG_INTEL, on_total_vram},
	{"Cannot use the full memory %x on the device", 1, 1 << KLOG_INTEL, on_full_memory},
	{"Continuing with reduced LMEM size: %x", 1, 1 << KLOG_INTEL, on_reduced_lmem},
	{"Local memory IO size: %x", 1, 1 << KLOG_INTEL, on_lmem_io},
	{"Local memory available: %x", 1, 1 << KLOG_INTEL, on_lmem_available},
	{"Found %w (device ID %x)", 1, 1 << KLOG_INTEL, on_intel_id},
	{"pci resource is not valid", 0, 1 << KLOG_INTEL, on_init_failed},
	/* nouveau */
	{"fb: %u MiB", 1, 1 << KLOG_NVIDIA, on_nouveau_vram},
	{"DRM: VRAM: %u MiB", 1, 1 << KLOG_NVIDIA, on_nouveau_vram},
	{"bios: version ", 0, 1 << KLOG_NVIDIA, on_vbios},
};

static const struct {
	const char *name;
	enum klog_maker maker;
} drivers[] = {
	{"amdgpu", KLOG_AMD},
	{"i915", KLOG_INTEL},
	{"nouveau", KLOG_NVIDIA},
	{"nvidia", KLOG_NVIDIA},
	{"radeon", KLOG_AMD},
	{"xe", KLOG_INTEL},
};

enum klog_maker klog_driver_maker(const char *driver, size_t len)
{
	for (size_t i = 0; i < ARRAY_LEN(drivers); i++) {
		if (strlen(drivers[i].name) == len && !memcmp(drivers[i].name, driver, len)) {
			return drivers[i].maker;
		}
	}
	return KLOG_NO_MAKER;
}

void klog_tried_driver(struct klog *k, uint32_t dev, const char *name, size_t len)
{
	struct pcie_device *d = klog_dev(k, dev);
	if (klog_driver_maker(name, len) != KLOG_NO_MAKER && d->have_driver != PCIE_KNOWN) {
		memcpy(d->driver, name, len);
		d->driver[len] = '\0';
	}
}

void klog_driver_speaks(struct klog *k, uint32_t dev, enum klog_maker maker)
{
	k->ctx[maker] = dev;
	k->gpu_driver_seen = true;
	if (maker == KLOG_AMD && k->pending_ids) {
		k->pending_ids = false;
		set_ids(k, dev, k->ids);
	}
}

/*
 * What stands before the text proper: "amdgpu: ", "[drm] ", "[drm:func [amdgpu]] ", "*ERROR* ",
 * "Tile0: ".
 */
static const char *inner(const char *s)
{
	uint64_t n;
	for (int i = 0; i < 6; i++) {
		const char *from = s, *p = s;
		if ((klog_eat(&p, "Tile") || klog_eat(&p, "GT")) && klog_dec(&p, &n) && *p == ':') {
			s = p + 1;
			klog_blanks(&s);
			continue;
		}
		if (klog_eat(&s, "[drm")) {
			const char *end = strstr(s, "]]");
			end = end ? end + 1 : strchr(s, ']');
			s = end ? end + 1 : from;
		} else if (!klog_eat(&s, "amdgpu:") && !klog_eat(&s, "radeon:")) {
			klog_eat(&s, "*ERROR*");
		}
		if (s == from) {
			break;
		}
		klog_blanks(&s);
	}
	return s;
}

/*
 * What holds the words of MAKER's driver when no device is named. amdgpu begins each GPU with
 * its ids: with others it is another GPU.
 */
static uint32_t nobody(struct klog *k, enum klog_maker maker)
{
	uint32_t dev = klog_orphan(k, maker);
	if (maker != KLOG_AMD || !k->pending_ids || dev == KLOG_NO_DEVICE) {
		return dev;
	}
	const struct pcie_device *d = klog_dev(k, dev);
	k->pending_ids = false;
	if (d->have_ids == PCIE_KNOWN && (d->vendor != k->ids[0] || d->device != k->ids[1])) {
		k->dev[dev].nobodys = true;
		k->orphan[maker] = KLOG_NO_DEVICE;
		dev = klog_orphan(k, maker);
	}
	if (dev != KLOG_NO_DEVICE) {
		set_ids(k, dev, k->ids);
	}
	return dev;
}

/* The message S of MAKER's driver about DEV (KLOG_NO_DEVICE: it names none). */
static bool driver_message(struct klog *k, enum klog_maker maker, uint32_t dev, const char *s)
{
	uint64_t v[8];
	for (size_t i = 0; i < ARRAY_LEN(messages); i++) {
		const char *fmt = messages[i].fmt;
		if ((fmt[0] != '%' && fmt[0] != s[0]) ||
			(maker != KLOG_NO_MAKER && !(messages[i].makers & 1 << maker)) ||
			klog_match(s, fmt, v, ARRAY_LEN(v)) != messages[i].fields) {
			continue;
		}
		if (maker == KLOG_NO_MAKER) {
			maker = messages[i].makers & 1 << KLOG_AMD     ? KLOG_AMD
				: messages[i].makers & 1 << KLOG_INTEL ? KLOG_INTEL
								       : KLOG_NVIDIA;
		}
		if (dev == KLOG_NO_DEVICE && messages[i].on == on_amd_ids) {
			k->pending_ids = true; /* the device's first line follows */
			memcpy(k->ids, v, sizeof(k->ids));
			k->used = true;
			return true;
		}
		if (dev == KLOG_NO_DEVICE) {
			dev = k->new_boot ? KLOG_NO_DEVICE : k->ctx[maker];
		}
		if (dev == KLOG_NO_DEVICE) {
			dev = nobody(k, maker);
		}
		if (dev != KLOG_NO_DEVICE) {
			klog_fact(k);
			messages[i].on(k, dev, v, s);
		}
		return true;
	}
	return false;
}

bool klog_driver_message(struct klog *k, uint32_t dev, const char *s)
{
	const struct pcie_device *d = klog_dev(k, dev);
	enum klog_maker maker = klog_driver_maker(d->driver, strlen(d->driver));
	if (d->have_driver != PCIE_KNOWN || maker == KLOG_NO_MAKER) {
		return false;
	}
	return driver_message(k, maker, dev, inner(s));
}

/* "amdgpu: probe of 0000:c3:00.0 failed with error -12". */
static bool probe_failed(struct klog *k, const char *s)
{
	struct pcie_addr a;
	uint64_t v;
	size_t name = strcspn(s, ": ");
	const char *p = s + name;
	if (name == 0 || name > 31 || !klog_eat(&p, ": probe of ")) {
		return false;
	}
	int n = pcie_addr_scan(p, &a);
	if (n < 0 || klog_match(p + n, " failed with error -%u", &v, 1) != 1) {
		return false;
	}
	uint32_t dev = klog_device(k, a);
	if (dev != KLOG_NO_DEVICE) {
		klog_dev(k, dev)->have_driver = PCIE_ABSENT;
		klog_dev(k, dev)->driver_src = k->src;
		klog_tried_driver(k, dev, s, name);
		klog_say(k, dev, PCIE_SAID_PROBE_FAILED, v);
	}
	return true;
}

bool klog_drm_message(struct klog *k, const char *s)
{
	if (probe_failed(k, s)) {
		return true;
	}
	enum klog_maker maker = KLOG_NO_MAKER;
	if (!strncmp(s, "amdgpu:", 7) || !strncmp(s, "radeon:", 7) ||
		!strncmp(s, "ATOM BIOS:", 10)) {
		maker = KLOG_AMD;
	} else if (s[0] != '[') {
		return false;
	}
	return driver_message(k, maker, KLOG_NO_DEVICE, inner(s));
}

/* "echo 9 > /sys/bus/pci/devices/0000\:03\:00.0/resource2_resize", and what the shell answers. */
bool klog_shell_message(struct klog *k, const char *s)
{
	uint64_t code;
	if (!strchr("e#$-bs", s[0])) {
		return false;
	}
	const char *echo = strstr(s, "echo ");
	const char *file = echo ? strstr(echo, "_resize") : NULL;
	if (file) {
		/* A shell's backslashes are left out. */
		char path[128];
		size_t n = 0;
		for (const char *p = echo; p < file && n + 1 < sizeof(path); p++) {
			if (*p != '\\') {
				path[n++] = *p;
			}
		}
		path[n] = '\0';
		struct pcie_addr a;
		echo += strlen("echo ");
		if (!klog_dec(&echo, &code) || code > 43 || !klog_find_addr(path, &a)) {
			return false;
		}
		k->shell = klog_device(k, a);
		k->shell_size = (uint64_t)1 << (20 + code);
		klog_say(k, k->shell, PCIE_SAID_RESIZE_TRY, k->shell_size);
		return true;
	}
	if (k->shell < k->snap->ndev && strstr(s, "write error")) {
		klog_say(k, k->shell, PCIE_SAID_RESIZE_FAILED, k->shell_size);
		klog_resize_failed(k, k->shell);
		k->shell = KLOG_NO_DEVICE;
		return true;
	}
	return false;
}
