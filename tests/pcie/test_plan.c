/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "machines.h"
#include "pcie/plan.h"

#define APERTURE ((uint64_t)0x4000000000) /* 256 GiB, aligned to its size */

static struct pcie_plan_item window(enum pcie_plan_rule rule, const uint64_t *bar, size_t n)
{
	struct pcie_plan_item item[8];
	for (size_t i = 0; i < n; i++) {
		item[i] = (struct pcie_plan_item){bar[i], bar[i]};
	}
	return pcie_plan_window(rule, item, n);
}

/* Sizes that kernels printed in public logs, and that both rules give. */
static void windows_by_both_rules(void **state)
{
	(void)state;
	static const struct {
		uint64_t bar[4];
		size_t n;
		struct pcie_plan_item legacy, tight;
	} row[] = {
		{{32 * GIB, 32 * MIB}, 2, {48 * GIB, 16 * GIB}, {32 * GIB + 32 * MIB, 32 * GIB}},
		{{16 * GIB, 256 * MIB}, 2, {24 * GIB, 8 * GIB}, {16 * GIB + 256 * MIB, 16 * GIB}},
		{{8 * GIB, 2 * MIB}, 2, {12 * GIB, 4 * GIB}, {8 * GIB + 2 * MIB, 8 * GIB}},
		{{256 * MIB, 32 * MIB}, 2, {384 * MIB, 128 * MIB}, {288 * MIB, 256 * MIB}},
		{{128 * GIB, 32 * MIB, 16 * MIB}, 3, {192 * GIB, 64 * GIB},
			{128 * GIB + 48 * MIB, 128 * GIB}},
		{{256 * MIB}, 1, {256 * MIB, 256 * MIB}, {256 * MIB, 256 * MIB}},
		{{64 * 1024}, 1, {MIB, MIB}, {MIB, MIB}},
	};
	for (size_t i = 0; i < ARRAY_LEN(row); i++) {
		struct pcie_plan_item l = window(PCIE_PLAN_LEGACY, row[i].bar, row[i].n);
		struct pcie_plan_item t = window(PCIE_PLAN_TIGHT, row[i].bar, row[i].n);
		assert_true(l.size == row[i].legacy.size);
		assert_true(l.align == row[i].legacy.align);
		assert_true(t.size == row[i].tight.size);
		assert_true(t.align == row[i].tight.align);
	}
}

/* Two windows of a card each behind one switch: 80 GiB at 16, or 64.06 at 32. */
static void nested_windows(void **state)
{
	(void)state;
	const uint64_t bar[] = {32 * GIB, 32 * MIB, 32 * GIB, 32 * MIB};
	struct pcie_plan_item l = window(PCIE_PLAN_LEGACY, bar, 4);
	struct pcie_plan_item t = window(PCIE_PLAN_TIGHT, bar, 4);
	assert_true(l.size == 80 * GIB && l.align == 16 * GIB);
	assert_true(t.size == 64 * GIB + 64 * MIB && t.align == 32 * GIB);
	struct pcie_plan_item none = pcie_plan_window(PCIE_PLAN_TIGHT, NULL, 0);
	assert_true(none.size == 0);
	/* A window is placed as it is: its parent's has its size and alignment. */
	struct pcie_plan_item one = window(PCIE_PLAN_LEGACY, bar, 2);
	struct pcie_plan_item up = pcie_plan_window(PCIE_PLAN_LEGACY, &one, 1);
	assert_true(up.size == one.size && up.align == one.align);
}

static void first_fit(void **state)
{
	(void)state;
	const struct pcie_plan_range space[] = {
		{0x100000000, 0x1ffffffff}, {0x80000000, 0x8fffffff}};
	const struct pcie_plan_range used[] = {
		{0x140000000, 0x14fffffff}, {0xf0000000, 0x100ffffff}};
	uint64_t at = 0, have = 0;

	/* The low range comes first unless a floor forbids it. */
	assert_true(pcie_plan_place(
		space, 2, used, 2, (struct pcie_plan_item){MIB, MIB}, 0, &at, &have));
	assert_true(at == 0x80000000);
	assert_true(pcie_plan_place(
		space, 2, used, 2, (struct pcie_plan_item){MIB, MIB}, 0x100000000, &at, &have));
	assert_true(at == 0x101000000);
	/* Aligned behind what is used. */
	assert_true(pcie_plan_place(
		space, 2, used, 2, (struct pcie_plan_item){GIB, GIB}, 0x100000000, &at, &have));
	assert_true(at == 0x180000000);
	/* 4 GiB fit nowhere; the most at that alignment is told. */
	assert_false(pcie_plan_place(
		space, 2, used, 2, (struct pcie_plan_item){4 * GIB, GIB}, 0x100000000, &at, &have));
	assert_true(have == 2 * GIB);
	assert_false(pcie_plan_place(
		NULL, 0, NULL, 0, (struct pcie_plan_item){MIB, MIB}, 0, &at, &have));
	assert_true(have == 0);
}

/* The top of the address space: no sum may wrap. */
static void edges(void **state)
{
	(void)state;
	const struct pcie_plan_range all = {0, UINT64_MAX};
	const struct pcie_plan_range top = {UINT64_MAX - MIB + 1, UINT64_MAX};
	uint64_t at = 0, have = 0;
	assert_true(pcie_plan_place(
		&top, 1, NULL, 0, (struct pcie_plan_item){MIB, MIB}, 0, &at, &have));
	assert_true(at == UINT64_MAX - MIB + 1);
	assert_false(pcie_plan_place(
		&top, 1, &top, 1, (struct pcie_plan_item){MIB, MIB}, 0, &at, &have));
	assert_false(pcie_plan_place(
		&all, 1, &all, 1, (struct pcie_plan_item){MIB, MIB}, 0, &at, &have));
}

static const char *const bridge_addr[] = {"0000:00:01.0", "0000:00:02.0", "0000:00:03.0",
	"0000:00:04.0", "0000:00:05.0", "0000:00:06.0"};
static const char *const gpu_addr[] = {"0000:01:00.0", "0000:02:00.0", "0000:03:00.0",
	"0000:04:00.0", "0000:05:00.0", "0000:06:00.0"};

/* N cards with 256 MiB of 32 GiB, each behind its own root port, in a 256 GiB aperture. */
static struct pcie_snapshot *row_of_gpus(size_t n)
{
	struct pcie_snapshot *s = machine_pc();
	machine_aperture(s, 0x80000000, 0xbfffffff);
	machine_aperture(s, APERTURE, APERTURE + 256 * GIB - 1);
	s->apertures_complete = true;
	for (size_t i = 0; i < n; i++) {
		uint64_t at = APERTURE + i * 512 * MIB;
		int b = machine_bridge(
			s, bridge_addr[i], -1, (uint8_t)(i + 1), at, at + 384 * MIB - 1);
		int g = machine_gpu(s, gpu_addr[i], b);
		machine_low_bar(s, g, 0, (uint32_t)(0x80000000 + i * 16 * MIB), 16 * MIB);
		machine_bar(s, g, 1, at, 256 * MIB);
		machine_bar(s, g, 3, at + 256 * MIB, 32 * MIB);
		machine_rebar(s, g, 1, 256 * MIB, SIZES(6, 15));
		machine_vram(s, g, 24 * GIB);
	}
	pcie_snapshot_settle(s);
	return s;
}

static struct pcie_plan *plan(const struct pcie_snapshot *s, uint64_t size)
{
	const struct pcie_plan_options o = {.dev = -1, .size = size};
	return pcie_plan_create(s, &o);
}

/* "ReBAR works for 5 of 6": by the old rule; the new one has room for four. */
static void six_in_256_gib(void **state)
{
	(void)state;
	struct pcie_snapshot *s = row_of_gpus(6);
	struct pcie_plan *p = plan(s, 32 * GIB);
	assert_int_equal(p->ngpu, 6);
	assert_int_equal(p->together[PCIE_PLAN_LEGACY], 5);
	assert_int_equal(p->together[PCIE_PLAN_TIGHT], 4);
	for (size_t i = 0; i < 6; i++) {
		const struct pcie_plan_fit *l = &p->gpu[i].fit[PCIE_PLAN_LEGACY];
		const struct pcie_plan_fit *t = &p->gpu[i].fit[PCIE_PLAN_TIGHT];
		assert_int_equal(l->fits, i < 5 ? PCIE_YES : PCIE_NO);
		assert_int_equal(t->fits, i < 4 ? PCIE_YES : PCIE_NO);
		assert_true(l->need == 48 * GIB && l->align == 16 * GIB);
		assert_true(t->need == 32 * GIB + 32 * MIB && t->align == 32 * GIB);
		if (i < 5) {
			assert_true(l->place == APERTURE + i * 48 * GIB);
			/* The BAR itself must be at 32 GiB. */
			assert_true(l->bar_place % (32 * GIB) == 0);
			assert_true(l->bar_place >= l->place);
			assert_true(l->bar_place + 32 * GIB <= l->place + l->need);
		} else {
			assert_int_equal(l->block, PCIE_PLAN_APERTURE);
			assert_true(l->has_have && l->have == 16 * GIB);
		}
		if (i < 4) {
			assert_true(t->place == APERTURE + i * 64 * GIB);
		} else {
			/* 31.97 GiB behind each of the four, but none aligned. */
			assert_true(t->has_have && t->have < t->need);
		}
	}
	assert_int_equal(pcie_plan_answer(p), PCIE_NO);
	pcie_plan_destroy(p);
	pcie_snapshot_destroy(s);
}

/* The kernel's version decides which rules count; where they disagree the answer is open. */
static void rules_by_kernel(void **state)
{
	(void)state;
	static const struct {
		const char *kernel;
		bool legacy, tight;
		enum pcie_tri answer;
	} row[] = {
		{"6.1.0-57-cloud-amd64", true, false, PCIE_YES},
		{"5.15.0", true, false, PCIE_YES},
		{"6.12.117+deb12", true, true, PCIE_TRI_UNKNOWN},
		{"7.0.3", false, true, PCIE_NO},
		{"", true, true, PCIE_TRI_UNKNOWN},
	};
	struct pcie_snapshot *s = row_of_gpus(5);
	for (size_t i = 0; i < ARRAY_LEN(row); i++) {
		s->host.have_kernel = row[i].kernel[0] ? PCIE_KNOWN : PCIE_UNKNOWN;
		strcpy(s->host.kernel, row[i].kernel);
		struct pcie_plan *p = plan(s, 32 * GIB);
		assert_int_equal(p->applies[PCIE_PLAN_LEGACY], row[i].legacy);
		assert_int_equal(p->applies[PCIE_PLAN_TIGHT], row[i].tight);
		assert_int_equal(pcie_plan_answer(p), row[i].answer);
		pcie_plan_destroy(p);
	}
	pcie_snapshot_destroy(s);
}

static void without_a_device(void **state)
{
	(void)state;
	struct pcie_snapshot *s = row_of_gpus(2);
	/* Fill the aperture but for 64 GiB with another device's BAR. */
	int nic = machine_gpu(s, "0000:07:00.0", -1);
	s->dev[nic].class_code = 0x020000;
	machine_bar(s, nic, 0, APERTURE + 128 * GIB, 128 * GIB);
	nic = machine_gpu(s, "0000:08:00.0", -1);
	s->dev[nic].class_code = 0x020000;
	machine_bar(s, nic, 0, APERTURE + 64 * GIB, 64 * GIB);
	pcie_snapshot_settle(s);

	struct pcie_plan *p = plan(s, 32 * GIB);
	assert_int_equal(p->together[PCIE_PLAN_LEGACY], 1);
	pcie_plan_destroy(p);

	struct pcie_addr a;
	assert_int_equal(pcie_addr_parse("0000:08:00.0", &a), 0);
	int gone = pcie_snapshot_find(s, a);
	const struct pcie_plan_options o = {
		.dev = -1, .size = 32 * GIB, .without = &gone, .nwithout = 1};
	p = pcie_plan_create(s, &o);
	assert_int_equal(p->together[PCIE_PLAN_LEGACY], 2);
	pcie_plan_destroy(p);
	pcie_snapshot_destroy(s);
}

/* An Arc card: its own switch's BAR 0 sits in the root port's window. */
static struct pcie_snapshot *arc(void)
{
	struct pcie_snapshot *s = machine_pc();
	machine_aperture(s, APERTURE, APERTURE + 256 * GIB - 1);
	s->apertures_complete = true;
	int root = machine_bridge(s, "0000:00:01.0", -1, 1, APERTURE, APERTURE + 512 * MIB - 1);
	int up = machine_bridge(s, "0000:01:00.0", root, 2, APERTURE, APERTURE + 256 * MIB - 1);
	machine_bar(s, up, 0, APERTURE + 256 * MIB, 8 * MIB);
	int down = machine_bridge(s, "0000:02:01.0", up, 3, APERTURE, APERTURE + 256 * MIB - 1);
	int g = machine_gpu(s, "0000:03:00.0", down);
	machine_bar(s, g, 2, APERTURE, 256 * MIB);
	machine_rebar(s, g, 2, 256 * MIB, SIZES(8, 14));
	machine_vram(s, g, 16 * GIB);
	pcie_snapshot_settle(s);
	return s;
}

static bool has_command(const struct pcie_plan *p, const char *words)
{
	for (size_t i = 0; i < p->ncommand; i++) {
		if (strstr(p->command[i], words)) {
			return true;
		}
	}
	return false;
}

static void pinned_by_the_cards_switch(void **state)
{
	(void)state;
	struct pcie_snapshot *s = arc();
	struct pcie_plan *p = plan(s, 0);
	const struct pcie_plan_fit *f = &p->gpu[0].fit[PCIE_PLAN_LEGACY];
	assert_true(p->gpu[0].target == 16 * GIB);
	assert_int_equal(f->fits, PCIE_NO);
	assert_int_equal(f->block, PCIE_PLAN_PINNED);
	assert_int_equal(f->container, 0);
	assert_int_equal(f->nblocker, 1);
	assert_non_null(strstr(f->blocker[0].what, "0000:01:00.0 BAR 0"));
	assert_true(f->need == 16 * GIB && f->have == 256 * MIB);
	/* A list of sysfs does not tell where the size register is: nothing may be written. */
	assert_false(has_command(p, "setpci"));
	assert_false(has_command(p, "/sys/bus/pci/rescan"));
	assert_false(has_command(p, "resource2_resize"));
	pcie_plan_destroy(p);

	/* With the capability's own list a person can make the windows anew: entry 0 is BAR 2's. */
	struct pcie_rebar *r = &s->dev[3].rebar;
	assert_int_equal(r->entry[0].bar, 2);
	r->offset = 0x420;
	p = plan(s, 0);
	assert_true(has_command(p, "setpci -s 0000:03:00.0 ECAP15+8.L=00000e00:00003f00"));
	assert_true(has_command(p, "/sys/bus/pci/rescan"));
	assert_false(has_command(p, "resource2_resize"));
	pcie_plan_destroy(p);
	r->entry[1] = r->entry[0];
	r->entry[0] = (struct pcie_rebar_entry){.bar = 0, .supported = SIZES(0, 1)};
	r->count = 2;
	p = plan(s, 0);
	assert_true(has_command(p, "setpci -s 0000:03:00.0 ECAP15+16.L=00000e00:00003f00"));
	pcie_plan_destroy(p);

	/* A size that fits beside it needs no such thing. */
	p = plan(s, 256 * MIB);
	assert_int_equal(p->gpu[0].fit[PCIE_PLAN_LEGACY].fits, PCIE_YES);
	pcie_plan_destroy(p);
	/* One that the card does not have is refused whatever the room. */
	p = plan(s, 64 * GIB);
	assert_int_equal(p->gpu[0].fit[PCIE_PLAN_TIGHT].block, PCIE_PLAN_CARD);
	assert_int_equal(pcie_plan_answer(p), PCIE_NO);
	pcie_plan_destroy(p);
	pcie_snapshot_destroy(s);
}

/* Two cards behind one switch pin each other's window; laid out together they do not. */
static void two_behind_a_switch(void **state)
{
	(void)state;
	struct pcie_snapshot *s = machine_pc();
	machine_aperture(s, APERTURE, APERTURE + 256 * GIB - 1);
	s->apertures_complete = true;
	int root = machine_bridge(s, "0000:00:01.0", -1, 1, APERTURE, APERTURE + GIB - 1);
	int up = machine_bridge(s, "0000:01:00.0", root, 2, APERTURE, APERTURE + GIB - 1);
	for (int i = 0; i < 2; i++) {
		uint64_t at = APERTURE + (uint64_t)i * 512 * MIB;
		int down = machine_bridge(s, i ? "0000:02:02.0" : "0000:02:01.0", up,
			(uint8_t)(3 + i), at, at + 384 * MIB - 1);
		int g = machine_gpu(s, i ? "0000:04:00.0" : "0000:03:00.0", down);
		machine_bar(s, g, 1, at, 256 * MIB);
		machine_bar(s, g, 3, at + 256 * MIB, 32 * MIB);
		machine_rebar(s, g, 1, 256 * MIB, SIZES(6, 15));
		machine_vram(s, g, 24 * GIB);
	}
	pcie_snapshot_settle(s);
	struct pcie_plan *p = plan(s, 32 * GIB);
	for (int k = 0; k < PCIE_PLAN_RULES; k++) {
		assert_int_equal(p->together[k], 2);
		assert_int_equal(p->gpu[0].alone[k], PCIE_NO);
		assert_int_equal(p->gpu[1].alone[k], PCIE_NO);
		/* Both have a place, aligned, and not the same. */
		assert_true(p->gpu[0].fit[k].bar_place % (32 * GIB) == 0);
		assert_true(p->gpu[1].fit[k].bar_place % (32 * GIB) == 0);
		assert_true(p->gpu[0].fit[k].bar_place != p->gpu[1].fit[k].bar_place);
	}
	pcie_plan_destroy(p);
	pcie_snapshot_destroy(s);
}

/* GPUs right on a root bus, as in a guest: the small BARs of the one are in the way too. */
static void each_on_the_root_bus(void **state)
{
	(void)state;
	struct pcie_snapshot *s = machine_pc();
	machine_aperture(s, APERTURE, APERTURE + 32 * GIB - 1);
	s->apertures_complete = true;
	for (unsigned i = 0; i < 2; i++) {
		int g = machine_gpu(s, i ? "0000:00:05.0" : "0000:00:04.0", -1);
		machine_bar(s, g, 1, APERTURE + i * 512 * MIB, 256 * MIB);
		machine_bar(s, g, 3, APERTURE + i * 512 * MIB + 256 * MIB, 32 * MIB);
		machine_rebar(s, g, 1, 256 * MIB, SIZES(8, 14));
		machine_vram(s, g, 16 * GIB);
	}
	pcie_snapshot_settle(s);
	struct pcie_plan *p = plan(s, 0);
	assert_int_equal(p->together[PCIE_PLAN_LEGACY], 1);
	assert_int_equal(p->together[PCIE_PLAN_TIGHT], 1);
	pcie_plan_destroy(p);

	/* 16 GiB, 32 MiB behind it, and the next multiple of 16 GiB. */
	s->aperture[0].limit = APERTURE + 48 * GIB - 1;
	p = plan(s, 0);
	assert_int_equal(p->together[PCIE_PLAN_LEGACY], 2);
	assert_true(p->gpu[0].fit[0].bar_place == APERTURE);
	assert_true(p->gpu[1].fit[0].bar_place == APERTURE + 32 * GIB);
	pcie_plan_destroy(p);
	pcie_snapshot_destroy(s);
}

static void no_aperture(void **state)
{
	(void)state;
	struct pcie_snapshot *s = machine_pc();
	machine_aperture(s, 0x80000000, 0xbfffffff);
	s->apertures_complete = true;
	int b = machine_bridge(s, "0000:00:01.0", -1, 1, 0x90000000, 0x9fffffff);
	int g = machine_gpu(s, "0000:01:00.0", b);
	machine_bar(s, g, 1, 0x90000000, 256 * MIB);
	machine_rebar(s, g, 1, 256 * MIB, SIZES(6, 15));
	pcie_snapshot_settle(s);

	struct pcie_plan *p = plan(s, 0);
	assert_true(p->gpu[0].target == 32 * GIB);
	assert_int_equal(p->gpu[0].fit[0].block, PCIE_PLAN_NO_APERTURE);
	assert_int_equal(pcie_plan_answer(p), PCIE_NO);
	assert_true(p->ncommand > 0);
	assert_non_null(strstr(p->command[0], "Above 4G Decoding"));
	pcie_plan_destroy(p);

	/* A PC by its name or by its chipset, as verdicts take it; Itanium is none. */
	static const struct {
		const char *arch;
		bool pc;
	} machine[] = {{"amd64", true}, {"i686", true}, {"", true}, {"ia64", false}};
	for (size_t i = 0; i < ARRAY_LEN(machine); i++) {
		strcpy(s->host.arch, machine[i].arch);
		s->host.have_arch = machine[i].arch[0] ? PCIE_KNOWN : PCIE_UNKNOWN;
		p = plan(s, 0);
		assert_int_equal(has_command(p, "Above 4G Decoding"), machine[i].pc);
		pcie_plan_destroy(p);
	}
	strcpy(s->host.arch, "x86_64");
	s->host.have_arch = PCIE_KNOWN;

	/* Below 4 GiB there is room for 512 MiB in this hole. */
	p = plan(s, 512 * MIB);
	assert_int_equal(p->gpu[0].fit[0].fits, PCIE_YES);
	assert_true(p->gpu[0].fit[0].place == 0x80000000);
	pcie_plan_destroy(p);

	/* The same with a list that may lack a row: not known. */
	s->apertures_complete = false;
	p = plan(s, 0);
	assert_int_equal(pcie_plan_answer(p), PCIE_TRI_UNKNOWN);
	pcie_plan_destroy(p);
	pcie_snapshot_destroy(s);
}

/* A BAR without an address needs one first: no driver option, no resize. */
static void unplaced_first(void **state)
{
	(void)state;
	struct pcie_snapshot *s = machine_pc();
	int b = machine_bridge(s, "0000:00:01.0", -1, 1, 0, 0);
	int g = machine_gpu(s, "0000:01:00.0", b);
	machine_bar(s, g, 1, 0, 256 * MIB); /* wiped */
	machine_rebar(s, g, 1, 256 * MIB, SIZES(6, 15));
	pcie_snapshot_settle(s);
	struct pcie_plan *p = plan(s, 0);
	assert_true(pcie_plan_is_unplaced(s, &p->gpu[0]));
	assert_true(has_command(p, "Above 4G Decoding"));
	assert_true(has_command(p, "pci=realloc"));
	assert_false(has_command(p, "NVreg"));
	assert_false(has_command(p, "resource1_resize"));
	assert_false(has_command(p, "Resizable BAR"));
	bool said = false;
	for (size_t i = 0; i < p->nnote; i++) {
		said = said || strstr(p->note[i], "BAR 1 of 0000:01:00.0 has no address");
	}
	assert_true(said);
	pcie_plan_destroy(p);
	pcie_snapshot_destroy(s);
}

/* Where no BAR tells its length and no driver the VRAM, the card's name does. */
static void vram_by_name(void **state)
{
	(void)state;
	struct pcie_snapshot *s = machine_pc();
	machine_aperture(s, APERTURE, APERTURE + 32 * GIB - 1);
	s->apertures_complete = true;
	int g = machine_gpu(s, "0000:00:04.0", -1);
	machine_bar(s, g, 1, 0, 0);
	strcpy(s->dev[g].name, "GA100 [A100 SXM4 80GB]");
	s->dev[g].rebar.have = PCIE_UNKNOWN;
	pcie_snapshot_settle(s);
	struct pcie_plan *p = plan(s, 0);
	assert_true(p->gpu[0].has_target && p->gpu[0].target == 128 * GIB);
	assert_non_null(strstr(p->gpu[0].target_why, "as its name says"));
	assert_int_equal(p->gpu[0].fit[PCIE_PLAN_TIGHT].block, PCIE_PLAN_APERTURE);
	pcie_plan_destroy(p);

	/* Without the capability the BAR has one size, which the VRAM does not tell. */
	s->dev[g].rebar.have = PCIE_ABSENT;
	p = plan(s, 0);
	assert_false(p->gpu[0].has_target);
	pcie_plan_destroy(p);

	s->dev[g].rebar.have = PCIE_UNKNOWN;
	strcpy(s->dev[0].name, "GA100 [A100]");
	p = plan(s, 0);
	assert_false(p->gpu[0].has_target);
	pcie_plan_destroy(p);
	pcie_snapshot_destroy(s);
}

static bool is_mapped(const struct pcie_map_row *row, size_t n, int dev)
{
	for (size_t i = 0; i < n; i++) {
		if (row[i].dev == dev) {
			return true;
		}
	}
	return false;
}

static void the_map_leaves_out_what_the_plan_does(void **state)
{
	(void)state;
	struct pcie_snapshot *s = machine_pc();
	int port = machine_bridge(s, "0000:00:01.0", -1, 1, APERTURE, APERTURE + 16 * GIB - 1);
	int gpu = machine_gpu(s, "0000:01:00.0", port);
	machine_bar(s, gpu, 1, APERTURE, 8 * GIB);
	pcie_snapshot_settle(s);
	struct pcie_map_row *row;

	size_t n = pcie_map_create(s, NULL, 0, &row);
	assert_true(is_mapped(row, n, port) && is_mapped(row, n, gpu));
	free(row);
	n = pcie_map_create(s, &gpu, 1, &row);
	assert_true(is_mapped(row, n, port) && !is_mapped(row, n, gpu));
	free(row);
	n = pcie_map_create(s, &port, 1, &row); /* and what is behind it */
	assert_false(is_mapped(row, n, port) || is_mapped(row, n, gpu));
	free(row);
	pcie_snapshot_destroy(s);
}

static void a_bar_without_a_line_is_planned(void **state)
{
	(void)state;
	struct pcie_snapshot *s = machine_pc();
	int gpu = machine_gpu(s, "0000:01:00.0", -1);
	machine_aperture(s, APERTURE, APERTURE + 256 * GIB - 1);
	machine_low_bar(s, gpu, 0, 0xe0000000, 16 * MIB);
	machine_rebar(s, gpu, 1, 8 * GIB, SIZES(6, 13));

	s->dev[gpu].rebar.entry[0].has_current = false; /* of unknown length: nothing to lay out */
	assert_int_equal(pcie_plan_add_lost_bars(s), 0);
	s->dev[gpu].rebar.entry[0].has_current = true;
	assert_int_equal(pcie_plan_add_lost_bars(s), 1);
	assert_int_equal(pcie_plan_add_lost_bars(s), 0); /* it is there now */
	pcie_snapshot_settle(s);

	const struct pcie_plan_options o = {.dev = -1};
	struct pcie_plan *p = pcie_plan_create(s, &o);
	assert_int_equal(p->ngpu, 1);
	assert_int_equal(p->gpu[0].bar, 1);
	assert_int_equal(p->gpu[0].target, 8 * GIB);
	assert_true(pcie_plan_is_unplaced(s, &p->gpu[0]));
	assert_int_equal(p->gpu[0].fit[PCIE_PLAN_TIGHT].fits, PCIE_YES);
	pcie_plan_destroy(p);
	pcie_snapshot_destroy(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(windows_by_both_rules),
		cmocka_unit_test(nested_windows),
		cmocka_unit_test(first_fit),
		cmocka_unit_test(edges),
		cmocka_unit_test(six_in_256_gib),
		cmocka_unit_test(rules_by_kernel),
		cmocka_unit_test(without_a_device),
		cmocka_unit_test(pinned_by_the_cards_switch),
		cmocka_unit_test(two_behind_a_switch),
		cmocka_unit_test(each_on_the_root_bus),
		cmocka_unit_test(no_aperture),
		cmocka_unit_test(unplaced_first),
		cmocka_unit_test(vram_by_name),
		cmocka_unit_test(the_map_leaves_out_what_the_plan_does),
		cmocka_unit_test(a_bar_without_a_line_is_planned),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
