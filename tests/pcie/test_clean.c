/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/macros.h"
#include "base/text.h"
#include "pcie/clean.h"

/* The cleaned lines, joined by '|'. */
static char *cleaned(const char *s, size_t len)
{
	struct pcie_cleaner *c;
	struct text t = {0};
	size_t taken = 0;
	bool first = true;
	/* exactly LEN bytes, so that a reader past the end is caught by the sanitizers */
	char *copy = malloc(len ? len : 1);

	assert_non_null(copy);
	memcpy(copy, s, len);
	assert_int_equal(pcie_cleaner_open(copy, len, &c), 0);
	while (pcie_cleaner_next(c, taken)) {
		/* all but the last three lines of a window, so that lines move */
		taken = c->done ? c->lines.n : c->lines.n - MIN(c->lines.n, (size_t)3);
		for (size_t i = 0; i < taken; i++) {
			assert_int_equal(strlen(c->lines.line[i].s), c->lines.line[i].len);
			text_add(&t, first ? "" : "|");
			text_add(&t, c->lines.line[i].s);
			first = false;
		}
	}
	pcie_cleaner_close(c);
	free(copy);
	return text_steal(&t);
}

/* "|" stands between lines. */
static const struct {
	const char *in, *out;
} undone[] = {
	{"", ""},
	{"a", "a"},
	{"a\n\nb\n", "a||b"},
	{"a\r\nb\r\n", "a|b"},
	{"a\rb", "a|b"},
	{"a \t\n", "a"},
	{"\tRegion 0:\tx", "\tRegion 0:\tx"},
	{"> a\n> \n>> b\n> > c\n>\td", "a||b|c|\td"},
	{"   >>>  Region 0: x", " Region 0: x"},
	{">SERR- <PERR-", "SERR- <PERR-"},
	{"- pci 0000:0b:00.0: x\n* y\n\xe2\x80\xa2 z", "pci 0000:0b:00.0: x|y|z"},
	{"--\n *-pci\n-[0000:00]-+-00.0", "--| *-pci|-[0000:00]-+-00.0"},
	{"+\tRegion 1\n-\tRegion 2", "\tRegion 1|\tRegion 2"},
	{"12:\tRegion 1\n13-\tx\n12:01:00.0 VGA\n7:[ 0.1] x",
		"\tRegion 1|\tx|01:00.0 VGA|[ 0.1] x"},
	{"     3\tRegion 2", "Region 2"},
	{"12:0000:01:00.0 VGA", "0000:01:00.0 VGA"},
	{"10: 0c 00\n00:02.0 VGA\n0000:01:00.0 x", "10: 0c 00|00:02.0 VGA|0000:01:00.0 x"},
	{"\x1b[1;31mred\x1b[0m \x1b]0;title\x07x", "red x"},
	{"a\xc2\xa0"
	 "b\xa0"
	 "c\xc3\x82\xc2\xa0"
	 "d",
		"a b c d"},
	{"0x10\xe2\x80\x93"
	 "0x20\xe2\x80\x8b \xe2\x80\x9cq\xe2\x80\x9d",
		"0x10-0x20 \"q\""},
	{"<access denied> <?> a & b", "<access denied> <?> a & b"},
	{"Memory at &lt;ignored&gt; &amp; &#60;x&#x3e; &amp;lt;", "Memory at <ignored> & <x> <"},
	{"a<br>b<br/>\nc<BR />", "a|b|c"},
	{"<pre><code>a\nb</code></pre>\n<br>\nc &nbsp;", "a|b||c"},
	{"\xef\xbb\xbf"
	 "a",
		"a"},
	{"size=3D16M]\nx=\n y=20\n", "size=16M]|x y"},
	{"releasing [=\nmem\n0xb0=\n00", "releasing [mem|0xb000"},
	{"[size=16M] Count=1/1\nend=\n", "[size=16M] Count=1/1|end="},
	{"==============NVSMI LOG==============\n", "==============NVSMI LOG=============="},
	{"a=20\nb=20\n", "a|b"},
	{"root=20\na", "root=20|a"},
	{"| 01:00.0 VGA compatible\n| \tRegion 1\n|\n| > x",
		"01:00.0 VGA compatible|\tRegion 1||x"},
	{"|   0  NVIDIA  | 00000000:01:00.0 Off |", "|   0  NVIDIA  | 00000000:01:00.0 Off |"},
	{"+01:00.0 VGA compatible\n+[virtual] Memory\n-[x]",
		"01:00.0 VGA compatible|[virtual] Memory|-[x]"},
	{"+01:00.0 VGA compatible\n+Region 1\n-Region 2\n+-00.0\n-[0000:00]",
		"01:00.0 VGA compatible|Region 1|Region 2|+-00.0|-[0000:00]"},
	{"so: [code]01:00.0 VGA\n\tx [size=2M] [disabled]\n[/code][QUOTE=\"me\"]a",
		"so:|01:00.0 VGA|\tx [size=2M] [disabled]|a"},
	{"<p>so: <code>01:00.0 VGA", "so:|01:00.0 VGA"},
	{"1204:2d:00.0 VGA\n1205-\tRegion 1\n1206-Region 2\n1207:2d:00.1 Audio",
		"2d:00.0 VGA|\tRegion 1|Region 2|2d:00.1 Audio"},
	{"1204:2d:00.0 VGA\n1204:2e:00.0 VGA", "1204:2d:00.0 VGA|1204:2e:00.0 VGA"},
	/* a list is no grep, and no domain is a number */
	{"1- first\n2- second\n3- third\n0001:01:00.0 VGA\n10000:e1:00.0 x\n1-a",
		" first| second| third|0001:01:00.0 VGA|10000:e1:00.0 x|1-a"},
	{"1- a\n2- b\n3- c\n\n10: 0c 00\n11- d\n12- e\n0009:01:00.0 VGA",
		" a| b| c||10: 0c 00| d| e|0009:01:00.0 VGA"},
	{"12:01:00.0 VGA\n13-\tx\n14-y\n\n0000:00:00.0 Host\n0001:01:00.0 VGA\n"
	 "10000:e1:00.0 x\n10001:e1:00.0 y",
		"01:00.0 VGA|\tx|y||0000:00:00.0 Host|0001:01:00.0 VGA|10000:e1:00.0 x|"
		"10001:e1:00.0 y"},
	{"1202-x\n1203-y\n1204:2d:00.0 VGA\n1205:2d:00.1 Audio\n1206:0000:2d:00.2 USB\n--\n"
	 "> 1304:2e:00.0 VGA\n> 1305-z",
		"x|y|2d:00.0 VGA|2d:00.1 Audio|0000:2d:00.2 USB|--|2e:00.0 VGA|z"},
	{"so:\n  7  [ 0.1] a\n  8  [ 0.2] b\n  9  [ 0.3] c", "so:| [ 0.1] a| [ 0.2] b| [ 0.3] c"},
	{"  7  a\n  8  b\n 64  c", "  7  a|  8  b| 64  c"},
	{"@@ -1,3 +1,3 @@\n 01:00.0 VGA\n-\tRegion 1\n+\tRegion 2\n - item\n- item",
		"@@ -1,3 +1,3 @@|01:00.0 VGA|\tRegion 2|- item|item"},
	{"> @@ -9 +9 @@\n> -a\n> +b\n> c", "@@ -9 +9 @@|b|c"},
	{"@@ -1,2 +0,0 @@\n-01:00.0 VGA\n-\tx", "@@ -1,2 +0,0 @@|-01:00.0 VGA|\tx"},
	{"@@ -1,2 @@\n-a", "@@ -1,2 @@|-a"},
	/* an empty line lost its blank; what no hunk has ends it */
	{"@@ -1,3 +1,3 @@\n 01:00.0 VGA\n\n-\tRegion 1\n+\tRegion 2\n- 02:00.0 VGA",
		"@@ -1,3 +1,3 @@|01:00.0 VGA||\tRegion 2|02:00.0 VGA"},
	{"> @@ -1,3 +1,3 @@\n>  a\n>\n> -b\n> +c\n> - d", "@@ -1,3 +1,3 @@|a||c|d"},
	{"@@ -1,9 +1,9 @@\n a\n-b\n+c\n01:00.0 VGA\n- Region 3\n+ Region 4",
		"@@ -1,9 +1,9 @@|a|c|01:00.0 VGA|Region 3|Region 4"},
	{"@@ -1,1 +1,9 @@\n-a\n+b\n- c\n- d", "@@ -1,1 +1,9 @@|b|c|d"},
	{"@@ -1 +1,2 @@\n-a\n\\ No newline\n+b\n+c\n- d", "@@ -1 +1,2 @@|\\ No newline|b|c|d"},
	{"@@ -1,4 +1,3 @@\n 01:00.0 VGA compatible controller [0300]: NVIDIA Corporation AD102\n"
	 "[GeForce RTX 4090]\n-a\n-b\n+c\n d",
		"@@ -1,4 +1,3 @@|01:00.0 VGA compatible controller [0300]: NVIDIA Corporation AD102|"
		"[GeForce RTX 4090]|c|d"},
	{"@@ -1,4 +1,3 @@\n 01:00.0 VGA compatible controller [0300]: NVIDIA Corporation AD102\n"
	 "02:00.0 VGA\n- a",
		"@@ -1,4 +1,3 @@|01:00.0 VGA compatible controller [0300]: NVIDIA Corporation AD102|"
		"02:00.0 VGA|a"},
	{"> @@ -1,9 +1,9 @@\n> -a\n> +b\n- c", "@@ -1,9 +1,9 @@|b|c"},
	{"@@ -1,2 +1,2 @@\n\n a\n\n-b\n\n+c\n\n- d\n\ne\n\nf\n\ng\n",
		"@@ -1,2 +1,2 @@|a|c|d|e|f|g"},
	{"GA102 \\[RTX\\] \\<ignored\\> a\\b 0000\\:03",
		"GA102 \\[RTX\\] \\<ignored\\> a\\b 0000\\:03"},
	{"GA102 \\[RTX\\] \\<ignored\\> \\[x a\\b 0000\\:03",
		"GA102 [RTX] <ignored> [x a\\b 0000\\:03"},
	{"\xef\xbc\x88x\xef\xbc\x9ay\xef\xbc\x89", "(x:y)"},
	{"a\n\nb\n\nc\n\nd\n\n\n\ne\n\nf\n\ng\n\nh\n", "a|b|c|d|||e|f|g|h"},
	{"a\n\nb\n\nc\n\nd\n\n\n\ne\n\nf\n\ng\nh\n", "a||b||c||d||||e||f||g|h"},
};

static void undoes_what_happened_on_the_way(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(undone); i++) {
		char *got = cleaned(undone[i].in, strlen(undone[i].in));
		assert_string_equal(got, undone[i].out);
		free(got);
	}
}

/* What a page that shows a paragraph made of lines becomes lines again. */
static void paragraphs_become_lines(void **state)
{
	(void)state;
	static const char listing[] =
		"So: 01:00.0 VGA compatible controller: NVIDIA Corporation X (rev a1) Flags: fast devsel "
		"Memory at a2000000 (32-bit, non-prefetchable) [size=16M] [virtual] Memory at b0000000 "
		"(64-bit, prefetchable) [size=256M] Capabilities: <access denied> Kernel driver in use: n "
		"02:00.0 VGA compatible controller: Y Region 0: Memory at c0000000 (32-bit, x)";
	static const char log[] =
		"[    0.332101] pci 0000:01:00.0: [10de:2684] type 00 class 0x030000 [    0.332120] pci "
		"0000:01:00.0: BAR 0 [mem 0x85000000-0x85ffffff] [    1.332131] pci 0000:01:00.0: BAR 1 x "
		"[    2.332131] pci 0000:01:00.0: BAR 3 y";
	static const char bare[] =
		"pci 0000:01:00.0: BAR 1: no space for [mem size 0x400000000 64bit pref] nvidia 0000:01:00.0: "
		"BAR 1: failed to assign pcieport 0000:00:01.0: PCI bridge to [bus 01] pci 0000:01:00.0: z";

	char *got = cleaned(listing, sizeof(listing) - 1);
	assert_string_equal(got,
		"So:|01:00.0 VGA compatible controller: NVIDIA Corporation X (rev a1)|Flags: fast devsel|"
		"Memory at a2000000 (32-bit, non-prefetchable) [size=16M]|[virtual] Memory at b0000000 "
		"(64-bit, prefetchable) [size=256M]|Capabilities: <access denied>|Kernel driver in use: n|"
		"02:00.0 VGA compatible controller: Y|Region 0: Memory at c0000000 (32-bit, x)");
	free(got);
	got = cleaned(log, sizeof(log) - 1);
	assert_string_equal(got,
		"[    0.332101] pci 0000:01:00.0: [10de:2684] type 00 class 0x030000|[    0.332120] pci "
		"0000:01:00.0: BAR 0 [mem 0x85000000-0x85ffffff]|[    1.332131] pci 0000:01:00.0: BAR 1 x|"
		"[    2.332131] pci 0000:01:00.0: BAR 3 y");
	free(got);
	got = cleaned(bare, sizeof(bare) - 1);
	assert_string_equal(got,
		"pci 0000:01:00.0: BAR 1: no space for [mem size 0x400000000 64bit pref]|nvidia "
		"0000:01:00.0: BAR 1: failed to assign|pcieport 0000:00:01.0: PCI bridge to [bus 01]|"
		"pci 0000:01:00.0: z");
	free(got);
	struct text sentence = {0};
	text_addf(&sentence, "%s\nI had Region 1: Memory at d0000000 (64-bit, x)\n", listing);
	got = cleaned(sentence.s, sentence.len);
	assert_non_null(strstr(got, "|I had Region 1: Memory at d0000000"));
	free(got);
	text_finish(&sentence);
	got = cleaned(listing, 99); /* too short for a paragraph, or has too little */
	assert_null(strchr(got, '|'));
	free(got);
}

static void utf16_and_nul_bytes(void **state)
{
	(void)state;
	static const char le[] = "\xff\xfe"
				 "a\0\xa0\0b\0\n\0c\0",
			  be[] = "\xfe\xff\0a\0\n\x20\x13", nul[] = "a\0b\0\n\0";

	char *got = cleaned(le, sizeof(le) - 1);
	assert_string_equal(got, "a b|c");
	free(got);
	got = cleaned(be, sizeof(be) - 1);
	assert_string_equal(got, "a|-");
	free(got);
	got = cleaned(nul, sizeof(nul) - 1);
	assert_string_equal(got, "ab|");
	free(got);
}

static void lines_remember_what_they_were(void **state)
{
	(void)state;
	static const char in[] = "> \tabc  \n\n> def\n";
	struct pcie_cleaner *c;

	assert_int_equal(pcie_cleaner_open(in, sizeof(in) - 1, &c), 0);
	assert_true(pcie_cleaner_next(c, 0));
	assert_true(c->done);
	assert_false(c->lines.cut);
	assert_int_equal(c->lines.n, 3);
	assert_int_equal(c->lines.line[0].width, 8);
	assert_int_equal(c->lines.line[0].lead, 2);
	assert_int_equal(c->lines.line[2].number, 3);
	assert_int_equal(c->lines.line[2].len, 3);
	assert_false(pcie_cleaner_next(c, 3));
	pcie_cleaner_close(c);
}

/* A text much larger than a window comes through whole, with its numbers. */
static void windows_lose_nothing(void **state)
{
	(void)state;
	struct text t = {0};
	for (unsigned i = 1; i <= 100000; i++) {
		text_addf(
			&t, "> line %u%s\n", i, i % 1000 ? "" : " with something longer behind it");
	}
	struct pcie_cleaner *c;
	size_t taken = 0;
	unsigned expected = 1;
	assert_int_equal(pcie_cleaner_open(t.s, t.len, &c), 0);
	while (pcie_cleaner_next(c, taken)) {
		taken = c->done ? c->lines.n : c->lines.n - 5;
		for (size_t i = 0; i < taken; i++, expected++) {
			char want[64];
			int n = snprintf(want, sizeof(want), "line %u", expected);
			assert_memory_equal(c->lines.line[i].s, want, (size_t)n);
			assert_int_equal(c->lines.line[i].number, expected);
		}
	}
	assert_int_equal(expected, 100001);
	pcie_cleaner_close(c);
	text_finish(&t);
}

/* Every byte, in every place of short texts, and long lines: bounded, and nothing is read past
 * the end. */
static void survives_anything(void **state)
{
	(void)state;
	static const char *const seed[] = {"> a &lt;b&gt; =3D\r\n", "\x1b[31", "<br", "&#x",
		"\xe2\x80", "12:01:00.0 V", "=", "\x1b]0;"};

	for (size_t i = 0; i < ARRAY_LEN(seed); i++) {
		size_t n = strlen(seed[i]);
		for (size_t cut = 0; cut <= n; cut++) {
			free(cleaned(seed[i], cut));
			for (int c = 0; c < 256 && cut < n; c++) {
				char buf[32];
				memcpy(buf, seed[i], n);
				buf[cut] = (char)c;
				free(cleaned(buf, n));
			}
		}
	}

	size_t n = 100000;
	char *longest = malloc(n);
	assert_non_null(longest);
	memset(longest, 'x', n);
	char *got = cleaned(longest, n);
	assert_int_equal(strlen(got), 2 * PCIE_CLEAN_LINE_MAX + 1); /* of its two pieces */
	free(got);
	free(longest);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(undoes_what_happened_on_the_way),
		cmocka_unit_test(paragraphs_become_lines),
		cmocka_unit_test(utf16_and_nul_bytes),
		cmocka_unit_test(lines_remember_what_they_were),
		cmocka_unit_test(windows_lose_nothing),
		cmocka_unit_test(survives_anything),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
