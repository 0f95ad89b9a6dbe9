/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "machines.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"

struct pcie_snapshot *machine_pc(void)
{
	struct pcie_snapshot *s = pcie_snapshot_create("test");
	struct pcie_host *h = &s->host;
	h->have_arch = h->have_efi = h->have_virtual = h->have_cmdline = PCIE_KNOWN;
	h->have_phys_bits = PCIE_KNOWN;
	h->phys_bits = 46;
	h->efi = true;
	strcpy(h->arch, "x86_64");
	return s;
}

void machine_aperture(struct pcie_snapshot *s, uint64_t base, uint64_t limit)
{
	struct pcie_aperture *a = pcie_snapshot_add_aperture(s);
	strcpy(a->root, "pci0000:00");
	a->base = base;
	a->limit = limit;
	a->src = pcie_snapshot_source(s, "kernel log");
}

static struct pcie_device *add(struct pcie_snapshot *s, const char *addr, int parent)
{
	struct pcie_addr a;
	int rc = pcie_addr_parse(addr, &a);
	assert(rc == 0);
	(void)rc;
	struct pcie_device *d = pcie_snapshot_add(s, a);
	d->parent = parent;
	strcpy(d->root, "pci0000:00");
	d->have_ids = d->have_class = PCIE_KNOWN;
	d->bars_complete = true;
	d->config_bytes = 4096;
	d->config = d->capabilities = d->ext_capabilities = PCIE_KNOWN;
	d->is_vf = PCIE_NO;
	return d;
}

int machine_bridge(struct pcie_snapshot *s, const char *addr, int parent, uint8_t secondary,
	uint64_t base, uint64_t limit)
{
	struct pcie_device *d = add(s, addr, parent);
	d->vendor = 0x8086;
	d->device = 0x1901;
	d->class_code = 0x060400;
	d->is_bridge = true;
	d->secondary = d->subordinate = secondary;
	d->port_type = PCIE_PORT_ROOT;
	if (base) {
		d->window[PCIE_WINDOW_PREF] = (struct pcie_window){
			.have = PCIE_KNOWN, .is64 = true, .base = base, .limit = limit};
		d->window[PCIE_WINDOW_PREF].reg.have = PCIE_KNOWN;
		d->window[PCIE_WINDOW_PREF].reg.is64 = true;
		d->window[PCIE_WINDOW_PREF].reg.base = base;
		d->window[PCIE_WINDOW_PREF].reg.limit = limit;
		d->window[PCIE_WINDOW_PREF].src = pcie_snapshot_source(s, "sysfs resource");
	}
	return (int)s->ndev - 1;
}

int machine_gpu(struct pcie_snapshot *s, const char *addr, int parent)
{
	struct pcie_device *d = add(s, addr, parent);
	d->vendor = 0x10de;
	d->device = 0x2684;
	d->class_code = 0x030000;
	d->rebar.have = PCIE_ABSENT;
	return (int)s->ndev - 1;
}

static struct pcie_bar *new_bar(struct pcie_snapshot *s, int dev, int index)
{
	struct pcie_bar *b = pcie_device_bar(&s->dev[dev], PCIE_BAR_NORMAL, index);
	assert(b);
	b->src = pcie_snapshot_source(s, "sysfs resource");
	b->is64_known = true;
	b->reg.have = PCIE_KNOWN;
	b->reg.src = pcie_snapshot_source(s, "config space");
	return b;
}

void machine_bar(struct pcie_snapshot *s, int dev, int index, uint64_t base, uint64_t size)
{
	struct pcie_bar *b = new_bar(s, dev, index);
	b->is64 = b->prefetchable = b->reg.is64 = b->reg.prefetchable = true;
	b->reg.base = base;
	if (!base) {
		b->have = PCIE_ABSENT;
		return;
	}
	b->have = PCIE_KNOWN;
	b->assigned = PCIE_YES;
	b->has_base = b->has_size = true;
	b->base = base;
	b->size = size;
}

void machine_low_bar(struct pcie_snapshot *s, int dev, int index, uint32_t base, uint32_t size)
{
	struct pcie_bar *b = new_bar(s, dev, index);
	b->have = PCIE_KNOWN;
	b->assigned = base ? PCIE_YES : PCIE_NO;
	b->has_base = base;
	b->has_size = true;
	b->base = b->reg.base = base;
	b->size = size;
}

void machine_rebar(struct pcie_snapshot *s, int dev, int bar, uint64_t current, uint64_t supported)
{
	struct pcie_rebar *r = &s->dev[dev].rebar;
	r->have = PCIE_KNOWN;
	r->src = pcie_snapshot_source(s, "sysfs resource_resize");
	r->entry[r->count++] = (struct pcie_rebar_entry){.bar = (uint8_t)bar,
		.has_current = current != 0,
		.current = current,
		.supported = supported};
}

void machine_vram(struct pcie_snapshot *s, int dev, uint64_t bytes)
{
	struct pcie_vram *v = &s->dev[dev].vram;
	v->have = PCIE_KNOWN;
	v->bytes = bytes;
	v->src = pcie_snapshot_source(s, "nvidia-smi");
	strcpy(v->what, "FB Memory Usage Total");
}

static uint32_t add_line(struct pcie_snapshot *s, const char *line)
{
	s->line = xgrow(s->line, s->nline, &s->capline, sizeof(*s->line));
	s->line[s->nline] = xstrdup(line);
	return (uint32_t)s->nline++;
}

void machine_said(struct pcie_snapshot *s, enum pcie_statement_kind kind, int dev, uint64_t value,
	const char *line)
{
	uint32_t n = add_line(s, line);
	s->statement = xgrow(s->statement, s->nstatement, &s->capstatement, sizeof(*s->statement));
	s->statement[s->nstatement++] =
		(struct pcie_statement){.kind = kind, .dev = dev, .value = value, .line = n};
	if (s->log == PCIE_LOG_NONE) {
		s->log = PCIE_LOG_CUT;
	}
}

struct pcie_history *machine_history(
	struct pcie_snapshot *s, int dev, int bar, bool window, enum pcie_final final)
{
	s->history = xgrow(s->history, s->nhistory, &s->caphistory, sizeof(*s->history));
	struct pcie_history *h = &s->history[s->nhistory++];
	*h = (struct pcie_history){.dev = dev,
		.addr = dev >= 0 ? s->dev[dev].addr : (struct pcie_addr){0},
		.bar = (int8_t)bar,
		.window = window,
		.is64 = true,
		.prefetchable = true,
		.final = final};
	text_copy(h->resource, sizeof(h->resource), window ? "bridge window pref" : "BAR");
	h->line = xcalloc(1, sizeof(*h->line));
	h->line[0] = add_line(s, "pci: a line of the log");
	h->nline = h->cap = 1;
	if (s->log == PCIE_LOG_NONE) {
		s->log = PCIE_LOG_CUT;
	}
	return h;
}

static void *copy(const void *p, size_t n, size_t size)
{
	void *q = xcalloc(n + 1, size);
	if (n) {
		memcpy(q, p, n * size);
	}
	return q;
}

struct pcie_snapshot *machine_copy(const struct pcie_snapshot *s)
{
	struct pcie_snapshot *c = xmalloc(sizeof(*c));
	*c = *s;
	c->source = copy(s->source, s->nsource, sizeof(*s->source));
	for (size_t i = 0; i < s->nsource; i++) {
		c->source[i] = xstrdup(s->source[i]);
	}
	c->line = copy(s->line, s->nline, sizeof(*s->line));
	for (size_t i = 0; i < s->nline; i++) {
		c->line[i] = xstrdup(s->line[i]);
	}
	c->history = copy(s->history, s->nhistory, sizeof(*s->history));
	for (size_t i = 0; i < s->nhistory; i++) {
		c->history[i].line =
			copy(s->history[i].line, s->history[i].nline, sizeof(*s->history[i].line));
	}
	c->dev = copy(s->dev, s->ndev, sizeof(*s->dev));
	c->index = copy(s->index, s->nindex, sizeof(*s->index));
	c->aperture = copy(s->aperture, s->naperture, sizeof(*s->aperture));
	c->iomem = copy(s->iomem, s->niomem, sizeof(*s->iomem));
	c->statement = copy(s->statement, s->nstatement, sizeof(*s->statement));
	c->note = copy(s->note, s->nnote, sizeof(*s->note));
	return c;
}

/* splitmix64 */
static uint64_t next(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static bool chance(uint64_t *r, unsigned percent)
{
	return next(r) % 100 < percent;
}

static uint64_t pick(uint64_t *r, uint64_t n)
{
	return next(r) % n;
}

static enum pcie_fact any_fact(uint64_t *r)
{
	return chance(r, 70) ? PCIE_KNOWN : (enum pcie_fact)pick(r, 4);
}

static void random_host(struct pcie_snapshot *s, uint64_t *r)
{
	static const char *const arch[] = {"x86_64", "x86_64", "x86_64", "aarch64", "ppc64le"};
	static const char *const cmdline[] = {"quiet", "quiet", "pci=nocrs", "pci=realloc",
		"root=/dev/sda pci=big_root_window,realloc"};
	struct pcie_host *h = &s->host;
	h->have_arch = any_fact(r);
	strcpy(h->arch, arch[pick(r, ARRAY_LEN(arch))]);
	h->have_efi = any_fact(r);
	h->efi = chance(r, 70);
	h->have_virtual = any_fact(r);
	h->is_virtual = chance(r, 30);
	h->have_cmdline = any_fact(r);
	strcpy(h->cmdline, cmdline[pick(r, ARRAY_LEN(cmdline))]);
	h->have_phys_bits = any_fact(r);
	h->phys_bits = (uint8_t)(36 + pick(r, 13));
	if (chance(r, 20) && !strcmp(h->arch, "x86_64")) {
		h->have_setup = PCIE_KNOWN;
		h->nsetup = 1;
		strcpy(h->setup[0].name, "Above 4G Decoding");
		h->setup[0].value = any_fact(r);
		strcpy(h->setup[0].current, chance(r, 50) ? "Enabled" : "Disabled");
	}
}

static uint64_t random_place(uint64_t *r, uint64_t size)
{
	uint64_t base = chance(r, 60) ? (uint64_t)0x4000000000 + (pick(r, 64) << 36)
				      : (uint64_t)0x80000000 + (pick(r, 6) << 28);
	return base & ~(size - 1);
}

static void random_bars(struct pcie_snapshot *s, uint64_t *r, int gpu)
{
	struct pcie_device *d = &s->dev[gpu];
	int vram = (int)pick(r, 3);
	uint64_t size = (uint64_t)1 << (28 + pick(r, 9));

	machine_bar(s, gpu, vram, chance(r, 20) ? 0 : random_place(r, size), size);
	if (chance(r, 70)) {
		uint64_t other = (uint64_t)1 << (20 + pick(r, 8));
		machine_bar(s, gpu, vram + 2, chance(r, 15) ? 0 : random_place(r, other), other);
	}
	if (chance(r, 50)) {
		machine_low_bar(s, gpu, 5, chance(r, 90) ? 0xfb000000 : 0, 16 * MIB);
	}
	for (int i = 0; i < d->nbar; i++) {
		if (chance(r, 10)) {
			d->bar[i].assigned = (enum pcie_tri)pick(r, 3);
		}
		if (chance(r, 10)) {
			d->bar[i].reg.have = (enum pcie_fact)pick(r, 4);
		}
		d->bar[i].ignored = d->bar[i].assigned == PCIE_NO && chance(r, 30);
		d->bar[i].is_virtual = chance(r, 3);
		d->bar[i].enhanced = chance(r, 3);
	}
	if (chance(r, 60)) {
		machine_rebar(s, gpu, vram, size, SIZES(6 + (int)pick(r, 4), 10 + (int)pick(r, 8)));
		d->rebar.sizes_unknown = chance(r, 10);
	} else {
		d->rebar.have = (enum pcie_fact)pick(r, 3);
		d->rebar.null_cap = chance(r, 20);
	}
	if (chance(r, 60)) {
		machine_vram(s, gpu, (uint64_t)1 << (28 + pick(r, 10)));
		d->mig = chance(r, 5);
	}
	d->bars_complete = chance(r, 70);
	d->config_bytes = chance(r, 80) ? 4096 : chance(r, 50) ? 64 : 0;
	d->config_gone = chance(r, 4);
	d->removable = chance(r, 10);
	d->coherent = chance(r, 4);
}

static void random_log(struct pcie_snapshot *s, uint64_t *r)
{
	for (uint64_t i = pick(r, 4); i; i--) {
		int dev = (int)pick(r, s->ndev);
		struct pcie_history *h = machine_history(
			s, dev, (int)pick(r, 3), chance(r, 30), (enum pcie_final)pick(r, 6));
		h->pinned = chance(r, 20);
		h->after_driver = chance(r, 30);
		h->has_firmware = chance(r, 50);
		h->firmware_base = chance(r, 50) ? 0 : random_place(r, GIB);
		h->has_base = h->final == PCIE_FINAL_ASSIGNED;
		h->base = chance(r, 50) ? h->firmware_base : random_place(r, GIB);
		h->has_size = chance(r, 70);
		h->size = (uint64_t)1 << (24 + pick(r, 12));
	}
	for (uint64_t i = pick(r, 3); i; i--) {
		machine_said(s, (enum pcie_statement_kind)pick(r, PCIE_SAID_OTHER),
			chance(r, 80) ? (int)pick(r, s->ndev) : -1,
			chance(r, 50) ? 12 : (uint64_t)1 << 34, "xe 0000:03:00.0: a statement");
	}
	if (s->log != PCIE_LOG_NONE && chance(r, 50)) {
		s->log = PCIE_LOG_COMPLETE;
	}
}

static void random_link(struct pcie_device *d, uint64_t *r)
{
	static const uint16_t speed[] = {25, 50, 80, 160, 320};
	static const uint8_t width[] = {1, 4, 8, 16};
	struct pcie_link *l = &d->link;
	l->have = any_fact(r);
	l->speed = speed[pick(r, ARRAY_LEN(speed))];
	l->max_speed = speed[pick(r, ARRAY_LEN(speed))];
	l->width = width[pick(r, ARRAY_LEN(width))];
	l->max_width = width[pick(r, ARRAY_LEN(width))];
}

struct pcie_snapshot *machine_random(uint64_t seed)
{
	static const uint16_t vendor[] = {0x10de, 0x1002, 0x8086, 0x1a03, 0x1b36};
	uint64_t state = seed, *r = &state;
	struct pcie_snapshot *s = machine_pc();

	random_host(s, r);
	for (uint64_t i = pick(r, 4); i; i--) {
		bool high = chance(r, 50);
		uint64_t base = high ? (uint64_t)0x4000000000 : 0x80000000;
		machine_aperture(s, base, base + (high ? ((uint64_t)1 << 38) : 0x40000000) - 1);
		struct pcie_aperture *a = &s->aperture[s->naperture - 1];
		a->kernel_made = chance(r, 10);
		a->ignored = chance(r, 10);
		a->io = chance(r, 10);
	}
	s->apertures_complete = s->naperture && chance(r, 60);

	int root = machine_bridge(s, "0000:00:01.0", -1, 1,
		chance(r, 60) ? (uint64_t)0x4000000000 : 0, (uint64_t)0x43ffffffff);
	random_link(&s->dev[root], r);
	int gpus = 1 + (int)pick(r, 3);
	for (int i = 0; i < gpus; i++) {
		static const char *const addr[] = {"0000:01:00.0", "0000:02:00.0", "0000:03:00.0"};
		int gpu = machine_gpu(s, addr[i], i == 0 ? root : -1);
		s->dev[gpu].vendor = vendor[chance(r, 60) ? 0 : pick(r, ARRAY_LEN(vendor))];
		random_bars(s, r, gpu);
		random_link(&s->dev[gpu], r);
		if (chance(r, 30)) {
			struct pcie_option *o = &s->dev[gpu].option[s->dev[gpu].noption++];
			strcpy(o->name, chance(r, 50) ? "EnableResizableBar" : "rebar");
			strcpy(o->value, chance(r, 50) ? "0" : "1");
		}
	}
	random_log(s, r);
	pcie_snapshot_settle(s);
	return s;
}

/* Forgetting. Each returns true when N counted down to it. */

static bool hit(size_t *n)
{
	return (*n)-- == 0;
}

static const char *forget_host(struct pcie_snapshot *s, size_t *n)
{
	struct pcie_host *h = &s->host;
	struct {
		enum pcie_fact *have;
		const char *name;
	} fact[] = {
		{&h->have_arch, "arch"},
		{&h->have_efi, "efi"},
		{&h->have_virtual, "virtual"},
		{&h->have_cmdline, "cmdline"},
		{&h->have_phys_bits, "phys_bits"},
		{&h->have_dmi, "dmi"},
		{&h->have_setup, "setup"},
		{&s->have_iomem, "iomem"},
	};
	for (size_t i = 0; i < ARRAY_LEN(fact); i++) {
		if (*fact[i].have == PCIE_KNOWN && hit(n)) {
			*fact[i].have = i % 2 ? PCIE_DENIED : PCIE_UNKNOWN;
			return fact[i].name;
		}
	}
	if (s->apertures_complete && hit(n)) {
		s->apertures_complete = false;
		return "that the list of apertures is complete";
	}
	if (s->log == PCIE_LOG_COMPLETE && hit(n)) {
		s->log = PCIE_LOG_CUT;
		return "that the log is complete";
	}
	return NULL;
}

static const char *forget_row(struct pcie_snapshot *s, size_t *n)
{
	if (*n < s->naperture) {
		/* A list that lacks a row is not complete. */
		memmove(&s->aperture[*n], &s->aperture[*n + 1],
			(s->naperture - *n - 1) * sizeof(*s->aperture));
		s->naperture--;
		s->apertures_complete = false;
		return "an aperture";
	}
	*n -= s->naperture;
	if (*n < s->nhistory) {
		/* Nor is a log that lacks one. */
		free(s->history[*n].line);
		memmove(&s->history[*n], &s->history[*n + 1],
			(s->nhistory - *n - 1) * sizeof(*s->history));
		s->nhistory--;
		s->log = PCIE_LOG_CUT;
		return "a history";
	}
	*n -= s->nhistory;
	if (*n < s->nstatement) {
		memmove(&s->statement[*n], &s->statement[*n + 1],
			(s->nstatement - *n - 1) * sizeof(*s->statement));
		s->nstatement--;
		s->log = PCIE_LOG_CUT;
		return "a statement";
	}
	*n -= s->nstatement;
	return NULL;
}

static const char *forget_bar(struct pcie_device *d, struct pcie_bar *b, size_t *n)
{
	if (b->have != PCIE_UNKNOWN && hit(n)) {
		b->have = PCIE_UNKNOWN;
		d->bars_complete = false;
		return "the kernel's view of a BAR";
	}
	if (b->reg.have != PCIE_UNKNOWN && hit(n)) {
		b->reg.have = PCIE_DENIED;
		return "a BAR's register";
	}
	if (b->have != PCIE_KNOWN) {
		return NULL;
	}
	if (b->assigned != PCIE_TRI_UNKNOWN && hit(n)) {
		b->assigned = PCIE_TRI_UNKNOWN;
		b->ignored = false;
		return "whether a BAR is assigned";
	}
	if (b->has_base && hit(n)) {
		b->has_base = false;
		return "a BAR's address";
	}
	if (b->has_size && hit(n)) {
		b->has_size = false;
		return "a BAR's size";
	}
	return NULL;
}

static const char *forget_device(struct pcie_device *d, size_t *n)
{
	struct {
		enum pcie_fact *have;
		const char *name;
	} fact[] = {
		{&d->rebar.have, "the ReBAR capability"},
		{&d->vf_rebar.have, "the VF ReBAR capability"},
		{&d->vram.have, "the VRAM size"},
		{&d->link.have, "the link"},
		{&d->aer.have, "AER counters"},
		{&d->have_driver, "the driver"},
		{&d->have_ids, "the ids"},
		{&d->have_subsystem, "the subsystem ids"},
		{&d->have_numa, "the NUMA node"},
		{&d->have_iommu, "the IOMMU group"},
		{&d->window[PCIE_WINDOW_MEM].have, "a memory window"},
		{&d->window[PCIE_WINDOW_PREF].have, "a prefetchable window"},
		{&d->window[PCIE_WINDOW_MEM].reg.have, "a memory window's registers"},
		{&d->window[PCIE_WINDOW_PREF].reg.have, "a prefetchable window's registers"},
	};
	for (size_t i = 0; i < ARRAY_LEN(fact); i++) {
		if ((*fact[i].have == PCIE_KNOWN || *fact[i].have == PCIE_ABSENT) && hit(n)) {
			*fact[i].have = i % 2 ? PCIE_UNKNOWN : PCIE_DENIED;
			if (fact[i].have == &d->vram.have) {
				d->mig = false; /* the same reading */
			}
			return fact[i].name;
		}
	}
	for (int i = 0; i < d->nbar; i++) {
		const char *name = forget_bar(d, &d->bar[i], n);
		if (name) {
			return name;
		}
	}
	if (d->bars_complete && hit(n)) {
		d->bars_complete = false;
		return "that all BARs were seen";
	}
	if (d->config_bytes && hit(n)) {
		d->config_bytes = 0;
		d->config = PCIE_DENIED;
		for (int i = 0; i < d->nbar; i++) {
			d->bar[i].reg.have = PCIE_DENIED;
		}
		return "config space";
	}
	if (d->noption && hit(n)) {
		d->noption--;
		return "a driver option";
	}
	if (d->name[0] && hit(n)) {
		d->name[0] = '\0';
		return "the name";
	}
	if (d->parent >= 0 && hit(n)) {
		d->parent = -1;
		return "the bridge above";
	}
	if (d->removable && hit(n)) {
		d->removable = false;
		return "that it is removable";
	}
	return NULL;
}

const char *machine_forget(struct pcie_snapshot *s, size_t n)
{
	const char *name = forget_host(s, &n);
	if (!name) {
		name = forget_row(s, &n);
	}
	for (size_t i = 0; i < s->ndev && !name; i++) {
		name = forget_device(&s->dev[i], &n);
	}
	return name;
}
