/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pcie/config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/macros.h"
#include "pcie/config_read.h"

struct space {
	uint8_t b[PCIE_CONFIG_EXT_SIZE];
};

static void put16(struct space *c, size_t at, unsigned v)
{
	c->b[at] = (uint8_t)v;
	c->b[at + 1] = (uint8_t)(v >> 8);
}

static void put32(struct space *c, size_t at, uint32_t v)
{
	put16(c, at, v & 0xffff);
	put16(c, at + 2, v >> 16);
}

/* A PCIe endpoint with a power, an express and an extended capability list that is empty. */
static struct space endpoint(void)
{
	struct space c = {{0}};
	put32(&c, 0x00, 0x268410de);
	put32(&c, 0x04, 0x00100006); /* memory and master on; a list of capabilities */
	put32(&c, 0x08, 0x030000a1);
	put32(&c, 0x10, 0xf6000000);
	put32(&c, 0x14, 0x0000000c);
	put32(&c, 0x18, 0x60);
	put32(&c, 0x1c, 0x0000e001);
	put32(&c, 0x2c, 0x167c10de);
	put32(&c, 0x30, 0xf7000001);
	c.b[0x34] = 0x40;
	put32(&c, 0x40, 0x00036001); /* power management, next 0x60 */
	put32(&c, 0x44, 0x00000003); /* D3hot */
	put32(&c, 0x60, 0x00020010); /* express, endpoint */
	put32(&c, 0x6c, 0x00000104 | 16 << 4);
	put16(&c, 0x72, 3 | 8 << 4);
	return c;
}

static struct pcie_snapshot *decode(const struct space *c, size_t len)
{
	struct pcie_snapshot *s = pcie_snapshot_create("test");
	pcie_snapshot_add(s, (struct pcie_addr){.bus = 1, .known = true});
	pcie_config_decode(s, 0, c->b, len, pcie_snapshot_source(s, "config space"));
	return s;
}

static void header_and_capabilities(void **state)
{
	(void)state;
	struct space c = endpoint();
	struct pcie_snapshot *s = decode(&c, 4096);
	const struct pcie_device *d = &s->dev[0];

	assert_int_equal(d->vendor, 0x10de);
	assert_int_equal(d->device, 0x2684);
	assert_int_equal(d->class_code, 0x030000);
	assert_int_equal(d->revision, 0xa1);
	assert_int_equal(d->subdevice, 0x167c);
	assert_int_equal(d->io_enable, PCIE_NO);
	assert_int_equal(d->mem_enable, PCIE_YES);
	assert_int_equal(d->port_type, PCIE_PORT_ENDPOINT);
	assert_string_equal(d->power, "D3hot");
	assert_int_equal(d->link.speed, 80);
	assert_int_equal(d->link.width, 8);
	assert_int_equal(d->link.max_speed, 160);
	assert_int_equal(d->link.max_width, 16);
	assert_int_equal(d->capabilities, PCIE_KNOWN);
	assert_int_equal(d->ext_capabilities, PCIE_KNOWN);
	assert_int_equal(d->rebar.have, PCIE_ABSENT);
	assert_int_equal(d->aer.have, PCIE_ABSENT);

	const struct pcie_bar *b = pcie_device_find_bar(d, PCIE_BAR_NORMAL, 1);
	assert_true(b->reg.have == PCIE_KNOWN && b->reg.is64 && b->reg.prefetchable);
	assert_true(b->reg.base == UINT64_C(0x6000000000));
	assert_int_equal(b->have, PCIE_UNKNOWN); /* the kernel's view is not made up */
	assert_null(pcie_device_find_bar(d, PCIE_BAR_NORMAL, 2)); /* the upper half */
	b = pcie_device_find_bar(d, PCIE_BAR_NORMAL, 3);
	assert_true(b->reg.io && b->reg.base == 0xe000);
	b = pcie_device_find_bar(d, PCIE_BAR_ROM, 6);
	assert_true(b->reg.base == 0xf7000000);
	pcie_snapshot_destroy(s);
}

static void rebar_vectors(void **state)
{
	(void)state;
	static const struct {
		uint32_t cap, control;
		int bar;
		uint64_t current, supported; /* SUPPORTED in units of 1 MiB */
	} vector[] = {
		{0x0001f000, 0x00000820, 0, 256 * MIB, 0x1f00}, /* R9 Fury */
		{0x0007f000, 0x00000822, 2, 256 * MIB, 0x7f00}, /* Arc B580 */
		{0x0007f000, 0x00000e22, 2, 16 * GIB, 0x7f00},  /* after the resize */
		{0x00001c00, 0x00000621, 1, 64 * MIB, 0x1c0},   /* needs a newer VBIOS */
		{0x00000000, 0xffff2b20, 0, (uint64_t)8 << 60, UINT64_C(0xffff0000000)},
		{0xfffffff0, 0x00001b20, 0, (uint64_t)128 << 40, 0xfffffff},
	};
	for (size_t i = 0; i < ARRAY_LEN(vector); i++) {
		struct space c = endpoint();
		put32(&c, 0x100, 0x00010015);
		put32(&c, 0x104, vector[i].cap);
		put32(&c, 0x108, vector[i].control);
		struct pcie_snapshot *s = decode(&c, 4096);
		const struct pcie_rebar *r = &s->dev[0].rebar;
		assert_int_equal(r->have, PCIE_KNOWN);
		assert_int_equal(r->offset, 0x100);
		assert_int_equal(r->count, 1);
		assert_int_equal(r->entry[0].bar, vector[i].bar);
		assert_true(r->entry[0].has_current);
		assert_true(r->entry[0].current == vector[i].current);
		assert_true(r->entry[0].supported == vector[i].supported);
		pcie_snapshot_destroy(s);
	}
}

static void rebar_of_three_and_damaged(void **state)
{
	(void)state;
	struct space c = endpoint();
	put32(&c, 0x100, 0x1a010000); /* a Null capability: something was hidden */
	put32(&c, 0x1a0, 0x00010015);
	put32(&c, 0x1a4, 0x00000100);
	put32(&c, 0x1a8, 0x00000460); /* BAR 0, three entries, 16 MiB */
	put32(&c, 0x1ac, 0x0007f000);
	put32(&c, 0x1b0, 0x00000e01);
	put32(&c, 0x1b4, 0x00000200);
	put32(&c, 0x1b8, 0x00003f03); /* a size code that does not exist */
	struct pcie_snapshot *s = decode(&c, 4096);
	const struct pcie_rebar *r = &s->dev[0].rebar;
	assert_int_equal(r->count, 3);
	assert_true(r->null_cap);
	assert_int_equal(r->entry[1].bar, 1);
	assert_true(r->entry[1].current == 16 * GIB);
	assert_false(r->entry[2].has_current);
	pcie_snapshot_destroy(s);

	put32(&c, 0x1a8, 0x000004e0); /* seven entries */
	s = decode(&c, 4096);
	assert_int_equal(s->dev[0].rebar.have, PCIE_KNOWN);
	assert_true(s->dev[0].rebar.sizes_unknown);
	assert_int_equal(s->dev[0].rebar.count, 0);
	assert_int_equal(s->nnote, 1);
	pcie_snapshot_destroy(s);
}

static void bridge_windows(void **state)
{
	(void)state;
	struct space c = {{0}};
	put32(&c, 0x00, 0x460d8086);
	put32(&c, 0x08, 0x06040000);
	c.b[0x0e] = 1;
	c.b[0x19] = 1;
	c.b[0x1a] = 4;
	put16(&c, 0x1c, 0xf0 | 0x00 << 8); /* I/O: base above limit, closed */
	put32(&c, 0x20, 0xf70ff600 & 0xfff0fff0);
	put32(&c, 0x24, 0xfff10001);
	put32(&c, 0x28, 0x60);
	put32(&c, 0x2c, 0x67);
	struct pcie_snapshot *s = decode(&c, 64);
	const struct pcie_device *d = &s->dev[0];
	assert_true(d->is_bridge);
	assert_int_equal(d->secondary, 1);
	assert_int_equal(d->subordinate, 4);
	assert_int_equal(d->window[PCIE_WINDOW_IO].reg.have, PCIE_ABSENT);
	assert_true(d->window[PCIE_WINDOW_MEM].reg.base == 0xf6000000);
	assert_true(d->window[PCIE_WINDOW_MEM].reg.limit == 0xf70fffff);
	assert_true(d->window[PCIE_WINDOW_PREF].reg.is64);
	assert_true(d->window[PCIE_WINDOW_PREF].reg.base == UINT64_C(0x6000000000));
	assert_true(d->window[PCIE_WINDOW_PREF].reg.limit == UINT64_C(0x67ffffffff));
	assert_int_equal(d->window[PCIE_WINDOW_PREF].have, PCIE_UNKNOWN);
	pcie_snapshot_destroy(s);

	memset(c.b + 0x1c, 0, 0x14);
	s = decode(&c, 64);
	for (int i = 0; i < PCIE_WINDOWS; i++) {
		assert_int_equal(s->dev[0].window[i].reg.have, PCIE_ABSENT);
	}
	pcie_snapshot_destroy(s);
}

static void gone_cut_and_looping(void **state)
{
	(void)state;
	struct space c;
	memset(c.b, 0xff, sizeof(c.b));
	struct pcie_snapshot *s = decode(&c, 4096);
	assert_true(s->dev[0].config_gone);
	assert_int_equal(s->dev[0].have_ids, PCIE_UNKNOWN);
	assert_int_equal(s->dev[0].nbar, 0);
	pcie_snapshot_destroy(s);

	c = endpoint();
	s = decode(&c, 64);
	assert_int_equal(s->dev[0].capabilities, PCIE_UNKNOWN);
	assert_int_equal(s->dev[0].ext_capabilities, PCIE_UNKNOWN);
	assert_int_equal(s->dev[0].rebar.have, PCIE_UNKNOWN);
	pcie_snapshot_destroy(s);

	c.b[0x61] = 0x40; /* the last points at the first */
	put32(&c, 0x100, 0x10810001);
	put32(&c, 0x108, 0x10010002);
	s = decode(&c, 4096);
	assert_int_equal(s->dev[0].capabilities, PCIE_KNOWN);
	assert_int_equal(s->dev[0].ext_capabilities, PCIE_KNOWN);
	pcie_snapshot_destroy(s);

	/* A list that points in front of its own space ends there, whatever stands there. */
	memset(c.b + 0xc0, 0xff, 4);
	put32(&c, 0x100, 0x0c010001);
	s = decode(&c, 4096);
	assert_int_equal(s->dev[0].ext_capabilities, PCIE_KNOWN);
	pcie_snapshot_destroy(s);

	/* A VF's vendor and device read ones (9.3.4.1), its class does not. */
	put32(&c, 0, 0xffffffff);
	s = decode(&c, 4096);
	assert_false(s->dev[0].config_gone);
	assert_int_equal(s->dev[0].have_ids, PCIE_UNKNOWN);
	assert_int_equal(s->dev[0].class_code, 0x030000);
	pcie_snapshot_destroy(s);
}

static void conventional_has_no_rebar(void **state)
{
	(void)state;
	struct space c = endpoint();
	put16(&c, 0x06, 0); /* no capabilities */
	struct pcie_snapshot *s = decode(&c, 256);
	assert_int_equal(s->dev[0].capabilities, PCIE_ABSENT);
	assert_int_equal(s->dev[0].rebar.have, PCIE_ABSENT);
	pcie_snapshot_destroy(s);

	c = endpoint(); /* express, yet the extended space is out of reach: nothing is known */
	s = decode(&c, 256);
	assert_int_equal(s->dev[0].rebar.have, PCIE_UNKNOWN);
	pcie_snapshot_destroy(s);
}

/* QEMU's downstream port: a status, and zeros for what it could do. */
static void link_without_capability(void **state)
{
	(void)state;
	struct space c = endpoint();
	put32(&c, 0x60, 0x00620010);
	put32(&c, 0x6c, 0);
	put16(&c, 0x72, 1 | 1 << 4);
	struct pcie_snapshot *s = decode(&c, 4096);
	assert_int_equal(s->dev[0].port_type, PCIE_PORT_DOWNSTREAM);
	assert_int_equal(s->dev[0].link.have, PCIE_KNOWN);
	assert_int_equal(s->dev[0].link.speed, 25);
	assert_int_equal(s->dev[0].link.width, 1);
	assert_int_equal(s->dev[0].link.max_speed, 0);
	pcie_snapshot_destroy(s);

	put16(&c, 0x72, 0);
	s = decode(&c, 4096);
	assert_int_equal(s->dev[0].link.have, PCIE_UNKNOWN);
	pcie_snapshot_destroy(s);
}

static void masks_what_names_a_card(void **state)
{
	(void)state;
	struct space c = endpoint();
	c.b[0x61] = 0x90;
	put32(&c, 0x90, 0x80100003); /* vital product data */
	put32(&c, 0x94, 0x31323334);
	put32(&c, 0x100, 0x12010001);
	put32(&c, 0x120, 0x00010003);
	put32(&c, 0x124, 0xdeadbeef);
	put32(&c, 0x128, 0xcafef00d);
	put32(&c, 0x12c, 0x11111111);
	struct space before = c;
	pcie_config_mask(c.b, sizeof(c.b));
	assert_int_equal(c.b[0x94] | c.b[0x95] | c.b[0x96] | c.b[0x97], 0);
	for (size_t i = 0x124; i < 0x12c; i++) {
		assert_int_equal(c.b[i], 0);
	}
	size_t changed = 0;
	for (size_t i = 0; i < sizeof(c.b); i++) {
		changed += c.b[i] != before.b[i];
	}
	assert_int_equal(changed, 4 + 2 + 8); /* data, address, serial number: nothing else */

	c = before;
	pcie_config_mask(c.b, 0x126); /* cut in the middle of it */
	assert_int_equal(c.b[0x125], 0);
	assert_int_equal(c.b[0x126], before.b[0x126]);
}

/* Every cut and every single damaged byte: no read out of bounds (the sanitizers watch), no
 * fact that the bytes do not hold. */
static void any_bytes(void **state)
{
	(void)state;
	struct space c = endpoint();
	put32(&c, 0x100, 0x14010015);
	put32(&c, 0x104, 0x0007f000);
	put32(&c, 0x108, 0x00000822);
	put32(&c, 0x140, 0x00010010);
	for (size_t len = 0; len <= 0x200; len++) {
		uint8_t *copy = malloc(len ? len : 1);
		assert_non_null(copy);
		memcpy(copy, c.b, len);
		struct pcie_snapshot *s = pcie_snapshot_create("test");
		pcie_snapshot_add(s, (struct pcie_addr){.known = true});
		pcie_config_decode(s, 0, copy, len, 1);
		pcie_config_mask(copy, len);
		assert_true(len >= 0x10c || s->dev[0].rebar.count == 0);
		pcie_snapshot_destroy(s);
		free(copy);
	}
	srand(1);
	for (int i = 0; i < 20000; i++) {
		struct space d = c;
		for (int n = 0; n < 4; n++) {
			d.b[rand() % 0x180] = (uint8_t)rand();
		}
		struct pcie_snapshot *s = decode(&d, 4096);
		assert_true(s->dev[0].nbar <= PCIE_BARS);
		assert_true(s->dev[0].rebar.count <= PCIE_REBAR_ENTRIES);
		pcie_snapshot_destroy(s);
		pcie_config_mask(d.b, sizeof(d.b));
	}
}

struct file {
	const uint8_t *bytes;
	size_t readable, dwords;
};

static int read_file(void *ctx, size_t off, uint8_t *buf, size_t len)
{
	struct file *f = ctx;
	if (off >= f->readable) {
		return 0;
	}
	len = MIN(len, f->readable - off);
	memcpy(buf, f->bytes + off, len);
	f->dwords += (len + 3) / 4;
	return (int)len;
}

static void decoded_alike(const uint8_t *lazy, const uint8_t *whole, size_t len)
{
	struct pcie_snapshot *s[2];
	const uint8_t *bytes[] = {lazy, whole};
	for (int i = 0; i < 2; i++) {
		s[i] = pcie_snapshot_create("test");
		pcie_snapshot_add(s[i], (struct pcie_addr){.known = true});
		pcie_config_decode(s[i], 0, bytes[i], len, 0);
	}
	char where[120];
	if (!pcie_snapshot_equal(s[0], s[1], where, sizeof(where))) {
		fail_msg("%s", where);
	}
	pcie_snapshot_destroy(s[0]);
	pcie_snapshot_destroy(s[1]);
}

/* What is fetched is enough for the decoder, and far less than all. */
static void fetch_is_enough_and_little(void **state)
{
	(void)state;
	struct space c = endpoint();
	c.b[0x61] = 0x90;
	put32(&c, 0x90, 0x00001014); /* Enhanced Allocation without an entry */
	put32(&c, 0x100, 0x14010001);
	put32(&c, 0x140, 0x1a010015);
	put32(&c, 0x144, 0x0007f000);
	put32(&c, 0x148, 0x00000822);
	put32(&c, 0x1a0, 0x20010010);
	put32(&c, 0x1c4, 0x0000000c);
	put32(&c, 0x1c8, 0x61);
	put32(&c, 0x200, 0x00010003);

	static const struct {
		size_t size, readable;
		int want;
	} kind[] = {
		{4096, 4096, 4096}, {256, 256, 256}, {4096, 64, 64}, {256, 64, 64}, {40, 40, 40}};
	for (size_t k = 0; k < ARRAY_LEN(kind); k++) {
		struct file f = {c.b, kind[k].readable, 0};
		struct pcie_config_source src = {read_file, &f, kind[k].size};
		uint8_t lazy[4096], whole[4096];
		assert_int_equal(pcie_config_fetch(&src, false, lazy), kind[k].want);
		if (kind[k].size == 4096) {
			assert_true(f.dwords < 120);
		}
		assert_int_equal(pcie_config_fetch(&src, true, whole), kind[k].want);

		decoded_alike(lazy, whole, (size_t)kind[k].want);
	}
}

/* Ordinary capabilities end at byte 256, whatever their headers promise. */
static void lists_end_where_their_space_ends(void **state)
{
	(void)state;
	struct space c = endpoint();
	c.b[0x61] = 0xfc;
	put32(&c, 0xfc, 0x00020010);  /* express again: its registers would stand behind 0x100 */
	put32(&c, 0x100, 0x00010003); /* a serial number */
	put32(&c, 0x108, 0x00000105);
	put16(&c, 0x10e, 5 | 16 << 4);
	struct pcie_snapshot *s = decode(&c, 4096);
	assert_int_equal(s->dev[0].link.speed, 80); /* of the first one */
	pcie_snapshot_destroy(s);

	struct space e = endpoint();
	e.b[0x41] = 0x80;
	put32(&e, 0x80, 0x003f0014);  /* 63 entries of Enhanced Allocation, 30 have room */
	put32(&e, 0xf8, 0x00000050);  /* the last but one of them: BAR 5 */
	put32(&e, 0x100, 0x00000020); /* no entry any more */
	s = decode(&e, 4096);
	const struct pcie_bar *bar = pcie_device_find_bar(&s->dev[0], PCIE_BAR_NORMAL, 5);
	assert_true(bar && bar->enhanced);
	bar = pcie_device_find_bar(&s->dev[0], PCIE_BAR_NORMAL, 2);
	assert_true(!bar || !bar->enhanced);
	pcie_snapshot_destroy(s);

	struct space *both[] = {&c, &e};
	for (size_t i = 0; i < ARRAY_LEN(both); i++) {
		struct file f = {both[i]->b, 4096, 0};
		struct pcie_config_source src = {read_file, &f, 4096};
		uint8_t lazy[4096], whole[4096];
		assert_int_equal(pcie_config_fetch(&src, false, lazy), 4096);
		assert_int_equal(pcie_config_fetch(&src, true, whole), 4096);
		decoded_alike(lazy, whole, 4096);
	}
}

/* Extended space that nobody answers for is not an empty list. */
static void extended_space_of_ones(void **state)
{
	(void)state;
	struct space c = endpoint();
	memset(c.b + 0x100, 0xff, sizeof(c.b) - 0x100);
	struct pcie_snapshot *s = decode(&c, 4096);
	const struct pcie_device *d = &s->dev[0];
	assert_int_equal(d->capabilities, PCIE_KNOWN);
	assert_int_equal(d->ext_capabilities, PCIE_UNKNOWN);
	assert_int_equal(d->rebar.have, PCIE_UNKNOWN);
	assert_int_equal(d->vf_rebar.have, PCIE_UNKNOWN);
	assert_int_equal(d->aer.have, PCIE_UNKNOWN);
	pcie_snapshot_destroy(s);

	/* A function without Express has no such space: ones there hide nothing. */
	c.b[0x41] = 0;
	s = decode(&c, 4096);
	assert_int_equal(s->dev[0].rebar.have, PCIE_ABSENT);
	pcie_snapshot_destroy(s);
}

/* A read that fails in the middle of a list: what lies behind is not known. */
struct broken {
	const uint8_t *bytes;
	size_t bad; /* reads of this byte fail */
};

static int read_broken(void *ctx, size_t off, uint8_t *buf, size_t len)
{
	const struct broken *f = ctx;
	if (off <= f->bad && f->bad < off + len) {
		return -EIO;
	}
	memcpy(buf, f->bytes + off, len);
	return (int)len;
}

static void failed_reads_end_what_is_known(void **state)
{
	(void)state;
	struct space c = endpoint();
	put32(&c, 0x100, 0x14010001); /* AER, then Resizable BAR */
	put32(&c, 0x140, 0x00010015);
	put32(&c, 0x144, 0x0007f000);
	put32(&c, 0x148, 0x00000822);
	static const struct {
		size_t bad;
		int want;
		enum pcie_fact capabilities, rebar;
	} kind[] = {
		{0xfff, 4096, PCIE_KNOWN, PCIE_KNOWN}, /* nothing stands there */
		{0x100, 256, PCIE_KNOWN, PCIE_UNKNOWN},
		{0x140, 256, PCIE_KNOWN, PCIE_UNKNOWN},
		{0x148, 256, PCIE_KNOWN, PCIE_UNKNOWN},
		{0x60, 64, PCIE_UNKNOWN, PCIE_UNKNOWN},
		{0x72, 64, PCIE_UNKNOWN, PCIE_UNKNOWN},
	};
	for (size_t k = 0; k < ARRAY_LEN(kind); k++) {
		struct broken f = {c.b, kind[k].bad};
		struct pcie_config_source src = {read_broken, &f, 4096};
		uint8_t bytes[4096];
		int n = pcie_config_fetch(&src, false, bytes);
		assert_int_equal(n, kind[k].want);
		struct space got;
		memcpy(got.b, bytes, sizeof(got.b));
		struct pcie_snapshot *s = decode(&got, (size_t)n);
		assert_int_equal(s->dev[0].capabilities, kind[k].capabilities);
		assert_int_equal(s->dev[0].rebar.have, kind[k].rebar);
		pcie_snapshot_destroy(s);
	}
}

/* ACS (7.7.11): the control word stands 6 bytes behind the header. */
static void access_control_services(void **state)
{
	(void)state;
	struct space c = endpoint();
	put32(&c, 0x100, 0x0001000d); /* ACS, version 1, end of list */
	put16(&c, 0x104, 0x005f);
	put16(&c, 0x106, 0x001d); /* source validation, both redirects, upstream forwarding */
	struct pcie_snapshot *s = decode(&c, PCIE_CONFIG_EXT_SIZE);
	assert_int_equal(s->dev[0].acs.have, PCIE_KNOWN);
	assert_int_equal(s->dev[0].acs.control, 0x001d);
	assert_true(s->dev[0].acs.redirect);
	pcie_snapshot_destroy(s);

	put16(&c, 0x106, 0x0011);
	s = decode(&c, PCIE_CONFIG_EXT_SIZE);
	assert_int_equal(s->dev[0].acs.have, PCIE_KNOWN);
	assert_false(s->dev[0].acs.redirect);
	pcie_snapshot_destroy(s);

	/* Cut before the control word, or not looked at: nothing is claimed. */
	s = decode(&c, 0x106);
	assert_int_equal(s->dev[0].acs.have, PCIE_UNKNOWN);
	pcie_snapshot_destroy(s);
	s = decode(&c, 64);
	assert_int_equal(s->dev[0].acs.have, PCIE_UNKNOWN);
	pcie_snapshot_destroy(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(header_and_capabilities),
		cmocka_unit_test(rebar_vectors),
		cmocka_unit_test(rebar_of_three_and_damaged),
		cmocka_unit_test(bridge_windows),
		cmocka_unit_test(gone_cut_and_looping),
		cmocka_unit_test(conventional_has_no_rebar),
		cmocka_unit_test(link_without_capability),
		cmocka_unit_test(masks_what_names_a_card),
		cmocka_unit_test(any_bytes),
		cmocka_unit_test(fetch_is_enough_and_little),
		cmocka_unit_test(lists_end_where_their_space_ends),
		cmocka_unit_test(extended_space_of_ones),
		cmocka_unit_test(failed_reads_end_what_is_known),
		cmocka_unit_test(access_control_services),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
