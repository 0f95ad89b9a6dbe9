/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prefixes of every logger, wrapped messages, and what is no log line. */
#include "klog_fixture.h"

#include <stdio.h>

#include "pcie/klog_lines.h"

#define MESSAGE "pci 0000:01:00.0: BAR 1 [mem 0x6000000000-0x600fffffff 64bit pref]: assigned"

static void prefixes_come_off(void **state)
{
	(void)state;
	static const struct {
		const char *line;
		uint64_t usec; /* 0: no time since boot */
	} rows[] = {
		{MESSAGE, 0},
		{"[    1.234567] " MESSAGE, 1234567},
		{"[12345.678901] " MESSAGE, 12345678901},
		{"[    0.000001]  " MESSAGE, 1},
		{"    2.941829] " MESSAGE, 2941829},
		{"[    1.234567][    T1] " MESSAGE, 1234567},
		{"[    1.234567] [  T123@C0] " MESSAGE, 1234567},
		{"[    1.234567,0] " MESSAGE, 1234567},
		{"[    1.234567 <    0.000003>] " MESSAGE, 1234567},
		{"[<    0.000003>] " MESSAGE, 0},
		{"[  +0.000040] " MESSAGE, 0},
		{"[Nov18 10:51] " MESSAGE, 0},
		{"[Tue Nov 18 10:51:00 2025] " MESSAGE, 0},
		{"[2025-11-18 10:51:00] " MESSAGE, 0},
		{"2025-11-18T10:51:00,123456+01:00 " MESSAGE, 0},
		{"2025-11-18T10:51:00.123456+0100 host kernel: " MESSAGE, 0},
		{"2025-11-18T10:51:00Z host kernel: " MESSAGE, 0},
		{"2025-11-18 10:51:00 host kernel: " MESSAGE, 0},
		{"Tue 2025-11-18 10:51:00 CET host kernel: " MESSAGE, 0},
		{"Nov 18 10:51:00 host kernel: " MESSAGE, 0},
		{"Nov  8 10:51:00 host.example.org kernel: [    1.234567] " MESSAGE, 1234567},
		{"Nov 18 10:51:00.123456 host kernel: " MESSAGE, 0},
		{"Nov 18 10:51:00 host kernel[77]: " MESSAGE, 0},
		{"M\xc3\xa4r 05 10:51:00 host kernel: " MESSAGE, 0},
		{"Okt 18 10:51:00 host kernel: [    1.234567] " MESSAGE, 1234567},
		{"mars 05 10:51:00 host kernel: " MESSAGE, 0},
		{"f\xc3\xa9vr. 05 10:51:00 host kernel: " MESSAGE, 0},
		{"3\xe6\x9c\x88 05 10:51:00 host kernel: " MESSAGE, 0},
		{"\xd0\xbc\xd0\xb0\xd1\x80 05 10:51:00 host kernel: " MESSAGE, 0},
		{"[Di M\xc3\xa4r  5 10:51:00 2024] " MESSAGE, 0},
		{"[\xe7\x81\xab  3\xe6\x9c\x88  5 10:51:00 2024] " MESSAGE, 0},
		{"1731920000.123456 host kernel: " MESSAGE, 0},
		{"[    1.234567] host kernel: " MESSAGE, 1234567},
		{"kernel: " MESSAGE, 0},
		{"kernel: [    1.234567] " MESSAGE, 1234567},
		{"<6>" MESSAGE, 0},
		{"<6>[    1.234567] " MESSAGE, 1234567},
		{"kern  :info  : [    1.234567] " MESSAGE, 1234567},
		{"kern  :warn  : [Tue Nov 18 10:51:00 2025] " MESSAGE, 0},
		{"123:[    1.234567] " MESSAGE, 1234567},
		{"123-[    1.234567] " MESSAGE, 1234567},
		{"123:" MESSAGE, 0},
		{"dmesg.txt:123:[    1.234567] " MESSAGE, 1234567},
		{"/var/log/dmesg:[    1.234567] " MESSAGE, 1234567},
		{"kern.log:Nov 18 10:51:00 host kernel: [    1.234567] " MESSAGE, 1234567},
		{"- " MESSAGE, 0},
		{"* [    1.234567] " MESSAGE, 1234567},
		{"\xe2\x80\xa2 " MESSAGE, 0},
		{"> > [    1.234567] " MESSAGE, 1234567},
		{"+[    1.234567] " MESSAGE, 1234567},
		{"    [    1.234567] " MESSAGE, 1234567},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct klog_stamp stamp;
		size_t off = klog_prefix(rows[i].line, &stamp);
		assert_string_equal(rows[i].line + off, MESSAGE);
		assert_int_equal(stamp.has_time, rows[i].usec != 0);
		assert_int_equal(stamp.usec, rows[i].usec);
		assert_true(pcie_klog_is_line(rows[i].line, strlen(rows[i].line)));

		struct pcie_snapshot *s = klog_read(rows[i].line);
		const struct pcie_bar *b =
			pcie_device_find_bar(klog_at(s, "0000:01:00.0"), PCIE_BAR_NORMAL, 1);
		assert_non_null(b);
		assert_int_equal(b->assigned, PCIE_YES);
		assert_int_equal(b->base, 0x6000000000);
		assert_int_equal(s->nline, 1);
		pcie_snapshot_destroy(s);
	}
}

/* A cut at any place is healed: with a blank, or without one inside a word or a number. */
static void a_cut_anywhere_is_joined(void **state)
{
	(void)state;
	static const struct {
		const char *message;
		uint64_t base, size;
		enum pcie_tri assigned;
	} rows[] = {
		{"[    1.234567] pcieport 0000:01:00.0: BAR 1 [mem 0x6000000000-0x600fffffff 64bit "
		 "pref]: assigned",
			0x6000000000, 256 * MIB, PCIE_YES},
		{"[    1.234567] pcieport 0000:01:00.0: BAR 1 [mem size 0x10000000 64bit pref]: "
		 "failed to assign",
			0, 256 * MIB, PCIE_NO},
		{"[    1.234567] nvidia 0000:01:00.0: can't claim BAR 1 [mem "
		 "0x6000000000-0x600fffffff 64bit pref]: no compatible bridge window",
			0, 256 * MIB, PCIE_NO},
		{"[    1.234567] pci 0000:01:00.0: BAR 1: failed to assign [mem size 0x10000000 "
		 "64bit pref]",
			0, 256 * MIB, PCIE_NO},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const char *m = rows[i].message;
		const char *range = strchr(m + 16, '[');
		size_t n = strlen(m);
		/* From the range on: before it a piece does not tell what it is. */
		for (size_t at = (size_t)(range - m) + 1; at < n; at++) {
			char text[300];
			/* A mail program drops the blank at which it wraps. */
			int skip = m[at] == ' ';
			snprintf(text, sizeof(text), "%.*s\n%s\n", (int)at, m, m + at + skip);
			struct pcie_snapshot *s = klog_read(text);
			const struct pcie_bar *b = pcie_device_find_bar(
				klog_at(s, "0000:01:00.0"), PCIE_BAR_NORMAL, 1);
			if (!b || b->assigned != rows[i].assigned || b->base != rows[i].base ||
				b->size != rows[i].size || !b->is64 || !b->prefetchable) {
				fail_msg("cut at %zu: %s", at, text);
			}
			pcie_snapshot_destroy(s);
		}
	}
}

static void an_open_bracket_reaches_over_a_blank_line(void **state)
{
	(void)state;
	struct pcie_snapshot *s =
		klog_read("pci 0000:01:00.0: BAR 1 [mem\n\n"
			  "0x6000000000-0x600fffffff 64bit pref]: assigned\n\n"
			  "pci 0000:01:00.0: BAR 3 [mem\n\n"
			  "pci 0000:01:00.0: BAR 0 [mem 0xf4000000-0xf4ffffff]\n");
	struct pcie_device *d = klog_at(s, "0000:01:00.0");
	assert_int_equal(d->nbar, 2);
	assert_int_equal(pcie_device_find_bar(d, PCIE_BAR_NORMAL, 1)->base, 0x6000000000);
	assert_int_equal(pcie_device_find_bar(d, PCIE_BAR_NORMAL, 0)->base, 0xf4000000);
	pcie_snapshot_destroy(s);
}

static void other_lines_are_not_joined(void **state)
{
	(void)state;
	static const char *const rows[] = {
		"user@host:~$ lspci",
		"# lspci -vv",
		"--- a heading ---",
		"01:00.0 VGA compatible controller: Some Corporation Device 1234",
		"\tRegion 1: Memory at 6000000000 (64-bit, prefetchable) [size=256M]",
		"6000000000-600fffffff : 0000:01:00.0",
		"",
		"[    1.234600] pci 0000:01:00.0: enabling Extended Tags",
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char text[300];
		snprintf(text, sizeof(text),
			"[    1.234567] pci 0000:01:00.0: [10de:2204] type 00 class 0x030000 PCIe "
			"Endpoint\n%s\n",
			rows[i]);
		struct pcie_lines lines = {0};
		pcie_lines_split(&lines, text, strlen(text));
		struct klog_reader r = {.lines = &lines};
		struct klog_message m;
		assert_true(klog_next(&r, &m));
		assert_false(m.joined);
		klog_reader_finish(&r);
		pcie_lines_finish(&lines);
	}
}

static void other_texts_are_turned_away(void **state)
{
	(void)state;
	static const char *const rows[] = {
		"",
		"01:00.0 VGA compatible controller [0300]: NVIDIA Corporation GA102 [10de:2204]",
		"\tRegion 0: Memory at f4000000 (32-bit, non-prefetchable) [size=16M]",
		"        Capabilities: [bb0 v1] Physical Resizable BAR",
		"                BAR 1: current size: 256MB, supported: 64MB 128MB 256MB",
		"00000000-00000fff : Reserved",
		"  4000000000-400fffffff : 0000:03:00.0",
		"    FB Memory Usage",
		"        Total                             : 24576 MiB",
		"00: de 10 04 22 07 00 10 00 a1 00 00 03 10 00 80 00",
		"[  2182.010] (--) PCI: (2@0:0:0) 10de:1e07:10de:12fa rev 161",
		"  Bus  0, device   2, function 0:",
		"It does not work, see the attached log.",
		"Nov 18 10:51:00 host systemd[1]: Started something.",
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if (pcie_klog_is_line(rows[i], strlen(rows[i]))) {
			fail_msg("taken for a log line: %s", rows[i]);
		}
	}
}

static void plain_messages_are_log_lines(void **state)
{
	(void)state;
	static const char *const rows[] = {
		"xe 0000:09:00.0: [drm] Small BAR device",
		"pci_bus 0000:00: root bus resource [mem 0x8f800000-0xefffffff window]",
		"NVRM: BAR1 is 0M @ 0x0 (PCI:0000:01:00.0)",
		"[drm] Detected VRAM RAM=8176M, BAR=256M",
		"amdgpu: ATOM BIOS: 113-D5121100-101",
		"PCI host bridge to bus 0000:00",
		"-bash: echo: write error: No space left on device",
		"-- Boot 0123456789abcdef0123456789abcdef --",
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		assert_true(pcie_klog_is_line(rows[i], strlen(rows[i])));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(prefixes_come_off),
		cmocka_unit_test(a_cut_anywhere_is_joined),
		cmocka_unit_test(an_open_bracket_reaches_over_a_blank_line),
		cmocka_unit_test(other_lines_are_not_joined),
		cmocka_unit_test(other_texts_are_turned_away),
		cmocka_unit_test(plain_messages_are_log_lines),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
