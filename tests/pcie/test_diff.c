/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"
#include "machines.h"
#include "pcie/diff.h"
#include "pcie/witness.h"

#define HIGH ((uint64_t)0x4000000000)

/* A GPU behind one root port and a capture card behind another, on buses FIRST and FIRST + 1. */
static struct pcie_snapshot *desk(uint8_t first)
{
	struct pcie_snapshot *s = machine_pc();
	char addr[32];
	int gpu_port = machine_bridge(s, "0000:00:01.0", -1, first, HIGH, HIGH + GIB - 1);
	int card_port = machine_bridge(s, "0000:00:1c.0", -1, (uint8_t)(first + 1), 0, 0);
	snprintf(addr, sizeof(addr), "0000:%02x:00.0", first);
	int gpu = machine_gpu(s, addr, gpu_port);
	machine_low_bar(s, gpu, 0, 0xe0000000, 16 * MIB);
	machine_bar(s, gpu, 1, HIGH, 256 * MIB);
	machine_rebar(s, gpu, 1, 256 * MIB, SIZES(6, 15));
	snprintf(addr, sizeof(addr), "0000:%02x:00.0", first + 1);
	int card = machine_gpu(s, addr, card_port);
	s->dev[card].vendor = 0x1cd7;
	s->dev[card].device = 0x0010;
	s->dev[card].class_code = 0x040000;
	s->dev[card].have_driver = PCIE_KNOWN;
	strcpy(s->dev[card].driver, "capture");
	machine_low_bar(s, card, 0, 0xe2000000, MIB);
	pcie_snapshot_settle(s);
	return s;
}

static int find(const struct pcie_snapshot *s, const char *addr)
{
	struct pcie_addr a;
	assert_int_equal(pcie_addr_parse(addr, &a), 0);
	int i = pcie_snapshot_find(s, a);
	assert_true(i >= 0);
	return i;
}

static const struct pcie_change *change(const struct pcie_changes *c, const char *what)
{
	for (size_t i = 0; i < c->n; i++) {
		if (!strcmp(c->change[i].what, what)) {
			return &c->change[i];
		}
	}
	return NULL;
}

static const struct pcie_pair *pair_of(const struct pcie_diff *d, int b)
{
	for (size_t i = 0; i < d->npair; i++) {
		if (d->pair[i].b == b) {
			return &d->pair[i];
		}
	}
	return NULL;
}

static void nothing_differs(void **state)
{
	(void)state;
	struct pcie_snapshot *a = desk(1), *b = desk(1);
	struct pcie_diff *d = pcie_diff_create(a, b);
	assert_true(pcie_diff_is_empty(d));
	assert_false(pcie_diff_is_worse(d));
	assert_int_equal(d->matched, 4);
	pcie_diff_destroy(d);
	pcie_snapshot_destroy(a);
	pcie_snapshot_destroy(b);
}

/* A new card shifts all bus numbers: nobody is gone. */
static void bus_numbers_shift(void **state)
{
	(void)state;
	struct pcie_snapshot *a = desk(1), *b = desk(4);
	struct pcie_diff *d = pcie_diff_create(a, b);
	assert_int_equal(d->matched, 4);
	assert_int_equal(d->ngone, 0);
	assert_int_equal(d->nfresh, 0);
	const struct pcie_pair *p = pair_of(d, find(b, "0000:04:00.0"));
	assert_non_null(p);
	assert_true(p->moved);
	assert_int_equal(p->a, find(a, "0000:01:00.0"));
	assert_int_equal(p->changes.n, 0);
	assert_false(pcie_diff_is_worse(d));
	pcie_diff_destroy(d);
	pcie_snapshot_destroy(a);
	pcie_snapshot_destroy(b);
}

/* The classic: a BIOS change gives the GPU its BAR, and the capture card loses its driver. */
static void what_a_bios_change_did(void **state)
{
	(void)state;
	struct pcie_snapshot *a = desk(1), *b = desk(1);
	int gpu = find(b, "0000:01:00.0"), card = find(b, "0000:02:00.0");
	a->host.have_dmi = b->host.have_dmi = PCIE_KNOWN;
	strcpy(a->host.bios_version, "1.07");
	strcpy(b->host.bios_version, "1.08");
	struct pcie_bar *bar = pcie_device_bar(&b->dev[gpu], PCIE_BAR_NORMAL, 1);
	bar->size = 32 * GIB;
	b->dev[gpu].rebar.entry[0].current = 32 * GIB;
	b->dev[card].have_driver = PCIE_ABSENT;

	struct pcie_diff *d = pcie_diff_create(a, b);
	const struct pcie_change *c = change(&d->host, "BIOS version");
	assert_non_null(c);
	assert_string_equal(c->after, "1.08");
	const struct pcie_pair *p = pair_of(d, gpu);
	assert_non_null(p);
	assert_int_equal(change(&p->changes, "BAR 1")->worse, PCIE_NO);
	assert_string_equal(change(&p->changes, "rebar")->before, "off");
	assert_string_equal(change(&p->changes, "rebar")->after, "full");
	assert_int_equal(change(&p->changes, "rebar")->worse, PCIE_NO);
	p = pair_of(d, card);
	assert_non_null(p);
	assert_string_equal(change(&p->changes, "driver")->after, "none");
	assert_int_equal(change(&p->changes, "driver")->worse, PCIE_YES);
	assert_true(pcie_diff_is_worse(d));
	pcie_diff_destroy(d);

	/* The other way round it is the GPU that lost. */
	d = pcie_diff_create(b, a);
	assert_int_equal(change(&pair_of(d, gpu)->changes, "BAR 1")->worse, PCIE_YES);
	assert_int_equal(change(&pair_of(d, card)->changes, "driver")->worse, PCIE_NO);
	pcie_diff_destroy(d);
	pcie_snapshot_destroy(a);
	pcie_snapshot_destroy(b);
}

/* A BAR that was wiped is a loss; so is a device that is not there any more. */
static void losses(void **state)
{
	(void)state;
	struct pcie_snapshot *a = desk(1), *b = desk(1);
	int gpu = find(b, "0000:01:00.0");
	struct pcie_bar *bar = pcie_device_bar(&b->dev[gpu], PCIE_BAR_NORMAL, 1);
	bar->have = PCIE_ABSENT;
	bar->assigned = PCIE_TRI_UNKNOWN;
	struct pcie_diff *d = pcie_diff_create(a, b);
	const struct pcie_change *c = change(&pair_of(d, gpu)->changes, "BAR 1");
	assert_int_equal(c->worse, PCIE_YES);
	assert_string_equal(c->after, "no address");
	pcie_diff_destroy(d);
	pcie_snapshot_destroy(b);

	b = machine_pc();
	machine_bridge(b, "0000:00:01.0", -1, 1, HIGH, HIGH + GIB - 1);
	pcie_snapshot_settle(b);
	d = pcie_diff_create(a, b);
	assert_int_equal(d->matched, 1);
	assert_int_equal(d->ngone, 3);
	assert_true(pcie_diff_is_worse(d));
	pcie_diff_destroy(d);
	/* What is new is no loss. */
	d = pcie_diff_create(b, a);
	assert_int_equal(d->nfresh, 3);
	assert_false(pcie_diff_is_worse(d));
	pcie_diff_destroy(d);
	pcie_snapshot_destroy(a);
	pcie_snapshot_destroy(b);
}

/* What lspci -v says of a device: the BARs in their order, without numbers. */
static void forget_numbers(struct pcie_device *d)
{
	d->bars_complete = false;
	for (int i = 0; i < d->nbar; i++) {
		d->bar[i].index = -1;
		d->bar[i].is64_known = true;
	}
}

/* A BAR without a number is the one of the same type, whatever its size has become. */
static void bars_without_numbers(void **state)
{
	(void)state;
	for (int side = 0; side < 3; side++) {
		struct pcie_snapshot *a = desk(1), *b = desk(1);
		int gpu = find(b, "0000:01:00.0");
		machine_bar(a, gpu, 3, HIGH + 256 * MIB, 32 * MIB);
		machine_bar(b, gpu, 3, HIGH + 256 * MIB, 32 * MIB);
		pcie_device_bar(&a->dev[gpu], PCIE_BAR_NORMAL, 1)->size = 8 * GIB;
		if (side != 1) {
			forget_numbers(&a->dev[gpu]);
		}
		if (side != 0) {
			forget_numbers(&b->dev[gpu]);
		}
		const char *what = side == 2 ? "BAR" : "BAR 1";
		struct pcie_diff *d = pcie_diff_create(a, b), *e = pcie_diff_create(b, a);
		const struct pcie_change *c = change(&pair_of(d, gpu)->changes, what);
		assert_non_null(c);
		assert_int_equal(c->worse, PCIE_YES);
		assert_string_equal(c->before, "8 GiB at 0x4000000000");
		assert_string_equal(c->after, "256 MiB at 0x4000000000");
		assert_null(change(&pair_of(d, gpu)->changes, "BAR 0"));
		assert_null(change(&pair_of(d, gpu)->changes, "BAR 3"));
		assert_true(pcie_diff_is_worse(d));
		assert_int_equal(change(&pair_of(e, gpu)->changes, what)->worse, PCIE_NO);
		assert_false(pcie_diff_is_worse(e));
		pcie_diff_destroy(d);
		pcie_diff_destroy(e);
		pcie_snapshot_destroy(a);
		pcie_snapshot_destroy(b);
	}
}

/* A text that leaves a BAR out: the size tells which are left, and nothing is a loss. */
static void bars_left_out(void **state)
{
	(void)state;
	struct pcie_snapshot *a = desk(1), *b = desk(1);
	int gpu = find(b, "0000:01:00.0");
	machine_bar(a, gpu, 3, HIGH + 256 * MIB, 32 * MIB);
	forget_numbers(&b->dev[gpu]);
	struct pcie_diff *d = pcie_diff_create(a, b), *e = pcie_diff_create(b, a);
	assert_null(pair_of(d, gpu));
	assert_null(pair_of(e, gpu));
	pcie_diff_destroy(d);
	pcie_diff_destroy(e);

	/* But the kernel's own list says that there is none. */
	forget_numbers(&a->dev[gpu]);
	pcie_snapshot_destroy(b);
	b = desk(1);
	b->dev[gpu].bars_complete = true;
	d = pcie_diff_create(a, b);
	assert_int_equal(pair_of(d, gpu)->changes.n, 1);
	const struct pcie_change *c = change(&pair_of(d, gpu)->changes, "BAR");
	assert_non_null(c);
	assert_string_equal(c->before, "32 MiB at 0x4010000000");
	assert_string_equal(c->after, "no address");
	assert_int_equal(c->worse, PCIE_YES);
	pcie_diff_destroy(d);
	pcie_snapshot_destroy(a);
	pcie_snapshot_destroy(b);
}

static struct pcie_snapshot *listing(const char *bars)
{
	struct pcie_snapshot *s;
	struct text t = {0};
	text_addf(&t, "01:00.0 VGA compatible controller: NVIDIA Corporation X (rev a1)\n%s", bars);
	assert_int_equal(pcie_text_scan("test", t.s, t.len, &s, NULL), 0);
	text_finish(&t);
	return s;
}

/* What a listing has no line for is said, and is a loss only where the text names it. */
static void bars_not_listed(void **state)
{
	(void)state;
#define LOW   "\tRegion 0: Memory at fb000000 (32-bit, non-prefetchable) [size=16M]\n"
#define LARGE "\tRegion 1: Memory at f800000000 (64-bit, prefetchable) [size=32G]\n"
#define SMALL "\tMemory at fb000000 (32-bit, non-prefetchable) [size=16M]\n"
#define REBAR                                                                                      \
	"\tCapabilities: [bb0 v1] Physical Resizable BAR\n"                                        \
	"\t\tBAR 1: current size: 32GB, supported: 16GB 32GB\n"
	static const struct {
		const char *a, *b, *before, *after;
		enum pcie_tri worse;
	} t[] = {
		{LOW LARGE, LOW, "32 GiB at 0xf800000000", "not in B's text", PCIE_TRI_UNKNOWN},
		{LOW LARGE, SMALL, "32 GiB at 0xf800000000", "not in B's text", PCIE_TRI_UNKNOWN},
		{LOW LARGE, LOW REBAR, "32 GiB at 0xf800000000",
			"no line in B's text, though its Resizable BAR capability has it",
			PCIE_YES},
		{LOW, LOW LARGE, "not in A's text", "32 GiB at 0xf800000000", PCIE_TRI_UNKNOWN},
		{LOW REBAR, LOW LARGE,
			"no line in A's text, though its Resizable BAR capability has it",
			"32 GiB at 0xf800000000", PCIE_NO},
		{LOW LARGE, "", NULL, NULL, PCIE_TRI_UNKNOWN},    /* a text without BARs */
		{LOW LARGE, REBAR, NULL, NULL, PCIE_TRI_UNKNOWN}, /* likewise */
	};

	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		struct pcie_snapshot *a = listing(t[i].a), *b = listing(t[i].b);
		struct pcie_diff *d = pcie_diff_create(a, b);
		const struct pcie_pair *p = pair_of(d, 0);
		const struct pcie_change *c = p ? change(&p->changes, "BAR 1") : NULL;
		if (t[i].before) {
			assert_non_null(c);
			assert_string_equal(c->before, t[i].before);
			assert_string_equal(c->after, t[i].after);
			assert_int_equal(c->worse, t[i].worse);
		} else {
			assert_null(c);
		}
		pcie_diff_destroy(d);
		pcie_snapshot_destroy(a);
		pcie_snapshot_destroy(b);
	}
}

/* The same slot with another card in it: one gone, one new. */
static void another_card(void **state)
{
	(void)state;
	struct pcie_snapshot *a = desk(1), *b = desk(1);
	b->dev[find(b, "0000:01:00.0")].device = 0x2204;
	struct pcie_diff *d = pcie_diff_create(a, b);
	assert_int_equal(d->ngone, 1);
	assert_int_equal(d->nfresh, 1);
	pcie_diff_destroy(d);
	pcie_snapshot_destroy(a);
	pcie_snapshot_destroy(b);
}

static void say_board(struct pcie_snapshot *s, const char *addr, uint16_t vendor, uint16_t device)
{
	struct pcie_device *d = &s->dev[find(s, addr)];
	d->have_subsystem = PCIE_KNOWN;
	d->subvendor = vendor;
	d->subdevice = device;
}

/* The same chip on another maker's board is said; where a side does not know it, it is not. */
static void another_board(void **state)
{
	(void)state;
	struct pcie_snapshot *a = desk(1), *b = desk(1);
	int gpu = find(a, "0000:01:00.0");
	a->dev[gpu].have_subsystem = b->dev[gpu].have_subsystem = PCIE_UNKNOWN;
	say_board(a, "0000:01:00.0", 0x1458, 0x403b);
	struct pcie_diff *d = pcie_diff_create(a, b);
	assert_true(pcie_diff_is_empty(d));
	pcie_diff_destroy(d);

	say_board(b, "0000:01:00.0", 0x1462, 0x3881);
	d = pcie_diff_create(a, b);
	assert_int_equal(d->ngone + d->nfresh, 0);
	const struct pcie_change *c = change(&pair_of(d, gpu)->changes, "another board");
	assert_non_null(c);
	assert_string_equal(c->before, "1458:403b");
	assert_string_equal(c->after, "1462:3881");
	assert_int_equal(c->worse, PCIE_TRI_UNKNOWN);
	pcie_diff_destroy(d);

	/* Two boards of one chip that changed their slots: each is found where it is now. */
	for (int i = 0; i < 2; i++) {
		struct pcie_snapshot *s = i ? b : a;
		int other = find(s, "0000:02:00.0");
		s->dev[other].vendor = s->dev[gpu].vendor = 0x10de;
		s->dev[other].device = s->dev[gpu].device = 0x2204;
	}
	say_board(a, "0000:02:00.0", 0x1462, 0x3881);
	say_board(b, "0000:02:00.0", 0x1458, 0x403b);
	d = pcie_diff_create(a, b);
	assert_int_equal(d->matched, 4);
	assert_int_equal(pair_of(d, gpu)->a, find(a, "0000:02:00.0"));
	assert_null(change(&pair_of(d, gpu)->changes, "another board"));
	pcie_diff_destroy(d);
	pcie_snapshot_destroy(a);
	pcie_snapshot_destroy(b);
}

static struct pcie_snapshot *paste(const char *text)
{
	struct pcie_snapshot *s;
	struct why why = {""};
	if (pcie_text_scan("paste", text, strlen(text), &s, &why) < 0) {
		fail_msg("%s", why.text);
	}
	return s;
}

/* A listing's own excerpt: what it does not show is not gone, and its link is no better. */
static void excerpt_is_no_loss(void **state)
{
	(void)state;
	static const char gpu[] =
		"04:00.0 VGA compatible controller: NVIDIA Corporation Device 2487 (rev a1)\n"
		"\tRegion 0: Memory at fb000000 (32-bit, non-prefetchable) [size=16M]\n"
		"\tRegion 1: Memory at 7000000000 (64-bit, prefetchable) [size=16G]\n"
		"\tLnkCap:\tPort #0, Speed 16GT/s, Width x8\n"
		"\tLnkSta:\tSpeed 16GT/s, Width x8\n";
	static const char above[] =
		"00:1b.4 PCI bridge: Intel Corporation Device a340 (rev f0)\n"
		"\tBus: primary=00, secondary=04, subordinate=04, sec-latency=0\n"
		"\tLnkCap:\tPort #21, Speed 8GT/s, Width x4\n"
		"\tLnkSta:\tSpeed 16GT/s, Width x8\n";
	static const char host[] = "00:00.0 Host bridge: Intel Corporation Device 3ec2 (rev 07)\n";
	char *long_text = NULL, *short_text = NULL, *whole_text = NULL;
	assert_true(asprintf(&long_text, "%s%s", above, gpu) > 0);
	assert_true(asprintf(&short_text, "%s", gpu) > 0);
	assert_true(asprintf(&whole_text, "%s%s", host, above) > 0);
	struct pcie_snapshot *a = paste(long_text), *b = paste(short_text), *c = paste(whole_text);

	struct pcie_diff *d = pcie_diff_create(a, b);
	assert_int_equal(d->matched, 1);
	assert_int_equal(d->ngone, 0);
	assert_int_equal(d->nonly_a, 1);
	assert_int_equal(d->npair, 0);
	assert_false(pcie_diff_is_worse(d));
	pcie_diff_destroy(d);
	d = pcie_diff_create(b, a);
	assert_int_equal(d->nfresh, 0);
	assert_int_equal(d->nonly_b, 1);
	assert_int_equal(d->npair, 0);
	assert_false(pcie_diff_is_worse(d));
	pcie_diff_destroy(d);

	/* From the host bridge on, the listing is the whole machine: the GPU is gone. */
	d = pcie_diff_create(a, c);
	assert_int_equal(d->ngone, 1);
	assert_int_equal(d->nonly_b, 1);
	assert_true(pcie_diff_is_worse(d));
	pcie_diff_destroy(d);
	pcie_snapshot_destroy(a);
	pcie_snapshot_destroy(b);

	/* So it is when the excerpt has another card in its place. */
	a = paste("04:00.0 VGA compatible controller: NVIDIA Corporation Device 2206 (rev a1)\n");
	b = paste(short_text);
	d = pcie_diff_create(a, b);
	assert_int_equal(d->ngone, 1);
	assert_int_equal(d->nfresh, 1);
	pcie_diff_destroy(d);
	pcie_snapshot_destroy(a);
	pcie_snapshot_destroy(b);
	pcie_snapshot_destroy(c);
	free(long_text);
	free(short_text);
	free(whole_text);
}

/*
 * A listing with names and no ids beside a log with ids: the same devices, by name, by the number
 * in a name that the list lacks, or by address alone; another name is another device.
 */
static void names_beside_ids(void **state)
{
	(void)state;
	static const struct {
		const char *name, *log_name;
		uint16_t device;
		bool same;
	} row[] = {
		{"GA102 [GeForce RTX 3090]", "GA102 [GeForce RTX 3090]", 0x2204, true},
		{"NVIDIA Corporation Device 2204", "GA102 [GeForce RTX 3090]", 0x2204, true},
		{"NVIDIA Corporation Device 2205", "GA102 [GeForce RTX 3090]", 0x2204, false},
		{"AD102 [GeForce RTX 4090]", "GA102 [GeForce RTX 3090]", 0x2204, false},
		{"GA102 [GeForce RTX 3090]", "", 0, true},
	};
	for (size_t i = 0; i < ARRAY_LEN(row); i++) {
		struct pcie_snapshot *s[2];
		for (int side = 0; side < 2; side++) {
			struct pcie_addr addr = {.known = true, .bus = 0x2f};
			s[side] = pcie_snapshot_create("text");
			struct pcie_device *d = pcie_snapshot_add(s[side], addr);
			text_copy(d->name, sizeof(d->name), side ? row[i].log_name : row[i].name);
			d->have_ids = side && row[i].device ? PCIE_KNOWN : PCIE_UNKNOWN;
			d->vendor = 0x10de;
			d->device = row[i].device;
			pcie_snapshot_settle(s[side]);
		}
		struct pcie_diff *d = pcie_diff_create(s[0], s[1]);
		if (d->matched != row[i].same) {
			fail_msg("\"%s\" and %04x \"%s\": %zu matched", row[i].name, row[i].device,
				row[i].log_name, d->matched);
		}
		pcie_diff_destroy(d);
		pcie_snapshot_destroy(s[0]);
		pcie_snapshot_destroy(s[1]);
	}
}

/* A fact that one side does not know is no change: a paste beside a live machine. */
static void unknown_is_no_change(void **state)
{
	(void)state;
	struct pcie_snapshot *a = desk(1);
	for (size_t n = 0;; n++) {
		struct pcie_snapshot *b = machine_copy(a);
		const char *fact = machine_forget(b, n);
		if (!fact) {
			pcie_snapshot_destroy(b);
			break;
		}
		struct pcie_diff *d = pcie_diff_create(a, b), *e = pcie_diff_create(b, a);
		if (pcie_diff_is_worse(d) || pcie_diff_is_worse(e)) {
			fail_msg("without %s something is called worse", fact);
		}
		pcie_diff_destroy(d);
		pcie_diff_destroy(e);
		pcie_snapshot_destroy(b);
	}
	pcie_snapshot_destroy(a);
}

/* Any two machines: nothing crashes, and each device is counted exactly once. */
static void random_pairs(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 500; seed++) {
		struct pcie_snapshot *a = machine_random(seed), *b = machine_random(seed + 1);
		struct pcie_diff *d = pcie_diff_create(a, b);
		assert_int_equal(d->matched + d->ngone + d->nonly_a, a->ndev);
		assert_int_equal(d->matched + d->nfresh + d->nonly_b, b->ndev);
		pcie_diff_destroy(d);
		pcie_snapshot_destroy(a);
		pcie_snapshot_destroy(b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_differs),
		cmocka_unit_test(bus_numbers_shift),
		cmocka_unit_test(what_a_bios_change_did),
		cmocka_unit_test(losses),
		cmocka_unit_test(bars_without_numbers),
		cmocka_unit_test(bars_left_out),
		cmocka_unit_test(bars_not_listed),
		cmocka_unit_test(another_card),
		cmocka_unit_test(another_board),
		cmocka_unit_test(excerpt_is_no_loss),
		cmocka_unit_test(names_beside_ids),
		cmocka_unit_test(unknown_is_no_change),
		cmocka_unit_test(random_pairs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
