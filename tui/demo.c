/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/demo.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"

/* -- the machine -------------------------------------------------------------------- */

struct demo_bar {
	int index;
	uint64_t size, base, size_before, base_before;
	bool is64, prefetchable;
};

struct demo_device {
	struct pcie_addr addr;
	uint16_t vendor, device;
	uint32_t class_code;
	const char *name, *driver;
	uint16_t speed; /* 100 MT/s */
	uint8_t width;
	uint8_t secondary; /* bridges: the bus behind */
	uint64_t pref_base, pref_limit, mem_base, mem_limit;
	uint64_t vram, resizable; /* resizable: mask of 2^(20 + n) */
	struct demo_bar bar[3];
};

static const struct demo_device devices[] = {
	{.addr = {0, 0, 0, 0, true},
		.vendor = 0x1022,
		.device = 0x14d8,
		.class_code = 0x060000,
		.name = "Demo root complex"},
	{.addr = {0, 0, 1, 1, true},
		.vendor = 0x1022,
		.device = 0x14db,
		.class_code = 0x060400,
		.name = "Demo root port",
		.driver = "pcieport",
		.speed = 160,
		.width = 16,
		.secondary = 1,
		.pref_base = 0xf7fe000000,
		.pref_limit = 0xffffffffff,
		.mem_base = 0xf6000000,
		.mem_limit = 0xf70fffff},
	{.addr = {0, 0, 1, 3, true},
		.vendor = 0x1022,
		.device = 0x14db,
		.class_code = 0x060400,
		.name = "Demo root port",
		.driver = "pcieport",
		.speed = 160,
		.width = 4,
		.secondary = 2,
		.mem_base = 0xf7200000,
		.mem_limit = 0xf72fffff},
	{.addr = {0, 0, 3, 1, true},
		.vendor = 0x1022,
		.device = 0x14db,
		.class_code = 0x060400,
		.name = "Demo root port",
		.driver = "pcieport",
		.speed = 160,
		.width = 8,
		.secondary = 3,
		.pref_base = 0xd0000000,
		.pref_limit = 0xe01fffff,
		.mem_base = 0xf7400000,
		.mem_limit = 0xf75fffff},
	{.addr = {0, 1, 0, 0, true},
		.vendor = 0x10de,
		.device = 0xfff1,
		.class_code = 0x030000,
		.name = "Demo GPU, 24 GB",
		.driver = "nvidia",
		.speed = 160,
		.width = 16,
		.vram = 24 * GIB,
		.resizable = 0xffc0,
		.bar = {{0, 16 * MIB, 0xf6000000, 16 * MIB, 0xf6000000, false, false},
			{1, 32 * GIB, 0xf800000000, 256 * MIB, 0xe0000000, true, true},
			{3, 32 * MIB, 0xf7fe000000, 32 * MIB, 0xf0000000, true, true}}},
	{.addr = {0, 2, 0, 0, true},
		.vendor = 0x144d,
		.device = 0xfff2,
		.class_code = 0x010802,
		.name = "Demo NVMe controller",
		.driver = "nvme",
		.speed = 160,
		.width = 4,
		.bar = {{0, 16 * KIB, 0xf7200000, 16 * KIB, 0xf7200000, true, false}}},
	{.addr = {0, 3, 0, 0, true},
		.vendor = 0x1002,
		.device = 0xfff3,
		.class_code = 0x030000,
		.name = "Demo GPU, 8 GB",
		.driver = "amdgpu",
		.speed = 160,
		.width = 8,
		.vram = 8 * GIB,
		.resizable = 0x3f00,
		.bar = {{0, 256 * MIB, 0xd0000000, 256 * MIB, 0xd0000000, true, true},
			{2, 2 * MIB, 0xe0000000, 2 * MIB, 0xe0000000, true, true},
			{5, 512 * KIB, 0xf7400000, 512 * KIB, 0xf7400000, false, false}}},
};

static void fill_bars(
	struct pcie_device *d, const struct demo_device *from, bool before, pcie_src src)
{
	for (size_t i = 0; i < ARRAY_LEN(from->bar) && from->bar[i].size; i++) {
		const struct demo_bar *k = &from->bar[i];
		struct pcie_bar *b = pcie_device_bar(d, PCIE_BAR_NORMAL, k->index);
		b->have = PCIE_KNOWN;
		b->src = src;
		b->has_base = b->has_size = b->is64_known = true;
		b->is64 = k->is64;
		b->prefetchable = k->prefetchable;
		b->assigned = b->decode_enabled = PCIE_YES;
		b->size = before ? k->size_before : k->size;
		b->base = before ? k->base_before : k->base;
		b->reg.have = PCIE_KNOWN;
		b->reg.src = src;
		b->reg.is64 = k->is64;
		b->reg.prefetchable = k->prefetchable;
		b->reg.base = b->base;
		/* The BAR in front of VRAM is the one that can be resized. */
		if (from->resizable && b->size >= 256 * MIB) {
			d->rebar = (struct pcie_rebar){.have = PCIE_KNOWN,
				.src = src,
				.offset = 0x200,
				.count = 1,
				.entry = {{(uint8_t)k->index, true, b->size, from->resizable}}};
		}
	}
}

static void fill_window(
	struct pcie_window *w, uint64_t base, uint64_t limit, bool is64, pcie_src src)
{
	w->have = w->reg.have = base ? PCIE_KNOWN : PCIE_ABSENT;
	w->src = w->reg.src = src;
	w->is64 = w->reg.is64 = is64;
	w->base = w->reg.base = base;
	w->limit = w->reg.limit = limit;
}

static void fill_device(struct pcie_snapshot *s, const struct demo_device *from, bool before)
{
	pcie_src src = pcie_snapshot_source(s, "demo");
	struct pcie_device *d = pcie_snapshot_add(s, from->addr);
	d->have_ids = d->have_class = PCIE_KNOWN;
	d->ids_src = src;
	d->vendor = from->vendor;
	d->device = from->device;
	d->class_code = from->class_code;
	text_copy(d->name, sizeof(d->name), from->name);
	text_copy(d->root, sizeof(d->root), "pci0000:00");
	d->config_bytes = 4096;
	d->config = d->capabilities = d->ext_capabilities = PCIE_KNOWN;
	d->io_enable = d->mem_enable = d->bus_master = PCIE_YES;
	d->have_driver = from->driver ? PCIE_KNOWN : PCIE_ABSENT;
	text_copy(d->driver, sizeof(d->driver), from->driver ? from->driver : "");
	d->rebar.have = d->vf_rebar.have = PCIE_ABSENT;
	fill_bars(d, from, before, src);
	if (from->secondary) {
		d->is_bridge = true;
		d->secondary = d->subordinate = from->secondary;
		d->port_type = PCIE_PORT_ROOT;
		bool narrow = before && from->pref_base > UINT32_MAX;
		fill_window(&d->window[PCIE_WINDOW_PREF], narrow ? 0xe0000000 : from->pref_base,
			narrow ? 0xf1ffffff : from->pref_limit, true, src);
		fill_window(
			&d->window[PCIE_WINDOW_MEM], from->mem_base, from->mem_limit, false, src);
	}
	if (from->speed) {
		d->link = (struct pcie_link){
			PCIE_KNOWN, src, from->speed, from->speed, from->width, from->width};
	}
	if (from->vram) {
		d->vram = (struct pcie_vram){PCIE_KNOWN, src, from->vram, "by definition"};
	}
}

static void fill_aperture(struct pcie_snapshot *s, uint64_t base, uint64_t limit)
{
	struct pcie_aperture *a = pcie_snapshot_add_aperture(s);
	text_copy(a->root, sizeof(a->root), "pci0000:00");
	a->base = base;
	a->limit = limit;
	a->src = pcie_snapshot_source(s, "demo");
}

struct pcie_snapshot *tui_demo_machine(bool before)
{
	struct pcie_snapshot *s = pcie_snapshot_create("demo");
	struct pcie_host *h = &s->host;
	h->have_kernel = h->have_arch = h->have_dmi = h->have_virtual = h->have_efi =
		h->have_phys_bits = PCIE_KNOWN;
	h->efi = true;
	h->phys_bits = 44;
	text_copy(h->kernel, sizeof(h->kernel), "6.1.0-demo-amd64");
	text_copy(h->arch, sizeof(h->arch), "x86_64");
	text_copy(h->board, sizeof(h->board), "Demo board");
	text_copy(h->product, sizeof(h->product), "Demo machine");
	text_copy(h->bios_vendor, sizeof(h->bios_vendor), "Demo firmware");
	text_copy(h->bios_version, sizeof(h->bios_version), before ? "F10" : "F12");
	fill_aperture(s, 0xd0000000, 0xfdffffff);
	if (!before) {
		fill_aperture(s, 0xf000000000, 0xffffffffff);
	}
	s->apertures_complete = true;
	for (size_t i = 0; i < ARRAY_LEN(devices); i++) {
		fill_device(s, &devices[i], before);
	}
	pcie_snapshot_settle(s);
	return s;
}

/* -- the latencies ------------------------------------------------------------------ */

/* A small generator of its own, so that every demo is the same. */
static double noise(uint64_t *state)
{
	double sum = 0;
	for (int i = 0; i < 4; i++) {
		*state = *state * 6364136223846793005u + 1442695040888963407u;
		sum += (double)(*state >> 40) / (double)(1 << 24);
	}
	return (sum - 2) * 1.73; /* about normal, deviation 1 */
}

enum { PER_SECOND = 400, SECONDS = 60, BYTES = 90207744 };

/* One minute that starts over: a quiet machine with spikes, a spell of a lower clock, and a
 * spell in which the way to the GPU is slow. */
static void script_line(struct text *t, int i, uint64_t *state)
{
	int second = i / PER_SECOND;
	double device = 94200 + 1500 * noise(state) + 500 * sin(i / 900.0);
	double launch = 4300 + 260 * noise(state);
	double notify = 1900 + 120 * noise(state);
	if (second >= 22 && second < 28) {
		device *= 1.075;
	}
	if (second >= 41 && second < 46 && i % 7 == 0) {
		launch += 9000;
	}
	if (i % 331 == 130) {
		device += 38000 + 9000 * noise(state);
	}
	if (i % 977 == 500) {
		launch += 60000;
	}
	text_addf(t, "%.0f %.0f %.0f %d hash=5eed\n", launch, device, notify,
		1000000000 / PER_SECOND - 100400);
}

static int write_script(struct why *why)
{
	struct text t = {0};
	uint64_t state = 20240501;
	for (int i = 0; i < PER_SECOND * SECONDS; i++) {
		script_line(&t, i, &state);
	}
	text_add(&t, "again\n");
	int fd = memfd_create("demo", MFD_CLOEXEC);
	int r = fd < 0 ? -errno : 0;
	for (size_t at = 0; !r && at < t.len;) {
		ssize_t n = write(fd, t.s + at, t.len - at);
		if (n <= 0) {
			r = -errno;
			break;
		}
		at += (size_t)n;
	}
	text_finish(&t);
	if (r < 0) {
		why_set(why, "the demo's script: %s", strerror(-r));
		if (fd >= 0) {
			close(fd);
		}
		return r;
	}
	return fd;
}

void tui_demo_status(struct stress_status *st)
{
	st->bytes = BYTES;
	st->ceiling_bytes_per_s = 990e9;
	text_copy(st->backend, sizeof(st->backend), "demo");
	text_copy(st->device, sizeof(st->device), "Demo GPU, 24 GB");
	text_copy(st->ceiling_kernel, sizeof(st->ceiling_kernel), "demo");
}

/* The launches that the script holds up stood behind another process. */
static bool demo_witness(const struct stress_sample *s, struct runs_event *ret)
{
	if (s->seq % (PER_SECOND * SECONDS) % 977 != 500) {
		return false;
	}
	*ret = (struct runs_event){
		.from_ns = s->submit_ns - MIN(s->submit_ns, 20000000u),
		.to_ns = s->done_ns + 5000000u,
		.value = 62000,
	};
	text_copy(ret->source, sizeof(ret->source), "preempted");
	return true;
}

/* As it was with the option off: the seed of barscope's story. */
static void fill_baseline(struct tui_baseline *b, int64_t now)
{
	uint64_t state = 7;
	for (int i = 0; i < 20000; i++) {
		double v = 112000 + 13500 * noise(&state);
		runs_hist_add(&b->hist, (uint64_t)(v < 97000 ? 194000 - v : v));
	}
	b->band = (struct tui_band){true, (double)runs_hist_quantile(&b->hist, 0.05),
		(double)runs_hist_quantile(&b->hist, 0.5),
		(double)runs_hist_quantile(&b->hist, 0.95)};
	b->marked = now - (int64_t)2 * 86400 * 1000000000;
	b->stored = true;
	text_copy(b->backend, sizeof(b->backend), "demo");
}

int tui_demo_open(struct tui_app *a, struct why *why)
{
	int fd = write_script(why);
	if (fd < 0) {
		return fd;
	}
	struct stress_config *c = &a->live.config;
	text_copy(c->backend, sizeof(c->backend), "script");
	snprintf(c->script, sizeof(c->script), "/proc/%d/fd/%d", (int)getpid(), fd);
	c->script_speed = 1;
	a->live.embellish = tui_demo_status;
	a->live.witness = demo_witness;
	a->options.start = TUI_START_NOW;
	tui_machine_set(&a->machine, tui_demo_machine(false), NULL);
	tui_machine_set_then(&a->machine, tui_demo_machine(true));
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	fill_baseline(&a->keep.baseline, (int64_t)now.tv_sec * 1000000000);
	tui_app_compare_then(a);
	return fd;
}
