/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pcie/klog_lines.h"

#include "base/macros.h"
#include "pcie/klog_scan.h"

enum {
	WRAPPED_FROM = 50, /* a piece this long may have been cut at column 72 or 80 */
	MAX_PIECES = 12,   /* of one message */
	MAX_MESSAGE = 4096,
};

/* "WORD DDDD:BB:DD.F: " or "pci_bus DDDD:BB: ": a device's message. */
static bool device_begins(const char *s)
{
	const char *p = s;
	while ((unsigned char)((*p | 0x20) - 'a') < 26 || klog_digit(*p) || *p == '_' ||
		*p == '-') {
		p++;
	}
	if (p == s || p - s > 32 || *p != ' ' || pcie_hex_digit(p[1]) < 0) {
		return false;
	}
	p++;
	struct pcie_addr a;
	int n = pcie_addr_scan(p, &a);
	if (n > 0) {
		return p[n] == ':';
	}
	uint64_t v;
	return !strncmp(s, "pci_bus ", 8) && klog_hex(&p, &v) && *p++ == ':' && klog_hex(&p, &v) &&
	       *p == ':';
}

bool klog_begins(const char *s)
{
	static const char *const words[] = {
		"-- Boot ",
		"-- Reboot --",
		"-bash: echo: write error",
		"ACPI: PCI Root",
		"ATOM BIOS",
		"AER: ",
		"BIOS-e820:",
		"Booting ",
		"Command line:",
		"DMAR: ",
		"DMI: ",
		"Freeing unused",
		"Hardware name:",
		"Hypervisor detected",
		"Kernel command line:",
		"Linux version ",
		"Memory: ",
		"NVRM: ",
		"PCI host bridge to bus",
		"PCI-DMA: ",
		"PCI: ",
		"Run /",
		"SError Interrupt",
		"The NVIDIA GPU driver for",
		"Zone ranges:",
		"[drm",
		"acpi PNP",
		"adding root bus",
		"amdgpu: ",
		"bash: echo: write error",
		"e820: ",
		"echo ",
		"efi: ",
		"i915: ",
		"iommu: ",
		"nouveau: ",
		"nvidia: ",
		"nvidia-nvlink: ",
		"pci_root ",
		"pcieport: ",
		"radeon: ",
		"sh: echo: write error",
		"sh: write error",
		"smp: ",
		"vgaarb: ",
		"xe: ",
		"# echo ",
		"$ echo ",
	};
	if (*s == ' ' || *s == '\t') {
		return false;
	}
	if (device_begins(s)) {
		return true;
	}
	if (!strncmp(s, "[mem ", 5)) {
		return strstr(s, "available for PCI devices") != NULL;
	}
	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		if (words[i][0] == s[0] && !strncmp(s, words[i], strlen(words[i]))) {
			return true;
		}
	}
	return false;
}

/* Brackets and parentheses that are still open at the end of S. */
static bool is_open(const char *s, size_t n)
{
	int square = 0, round = 0;
	for (size_t i = 0; i < n; i++) {
		square += (s[i] == '[') - (s[i] == ']');
		round += (s[i] == '(') - (s[i] == ')');
	}
	return square > 0 || round > 0;
}

/* Lines of other kinds, which no message goes on with. */
static bool is_other(const char *s)
{
	static const char *const words[] = {"Region ", "Memory at ", "Memory behind ", "I/O ",
		"Capabilities:", "Kernel ",
		"Subsystem:", "Flags:", "Bus:", "Control:", "Status:", "Prefetchable ",
		"Expansion ROM", "BAR 0: current", "BAR 1: current", "BAR 2: current", "---",
		"===", "```", "***", "# ", "$ ", "==> "};
	klog_blanks(&s);
	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		if (!strncmp(s, words[i], strlen(words[i]))) {
			return true;
		}
	}
	struct pcie_addr a;
	int n = pcie_addr_scan(s, &a);
	if (n > 0) {
		return s[n] == ' ' && s[n + 1] >= 'A' && s[n + 1] <= 'Z'; /* lspci's header */
	}
	const char *p = s;
	uint64_t v;
	if (klog_hex(&p, &v) && *p == '-' && (p++, klog_hex(&p, &v)) && !strncmp(p, " : ", 3)) {
		return true; /* /proc/iomem */
	}
	const char *at = strchr(s, '@'); /* a prompt: user@host:path$ */
	return at && at - s < 32 && strchr(at, ':') && strpbrk(at, "$#");
}

/*
 * Whether NEXT may be the rest of the message TEXT, whose last piece has PIECE bytes. In a log
 * with time stamps a line without one is the rest of the line before.
 */
static bool goes_on(
	const char *text, size_t n, size_t piece, const struct klog_stamp *stamp, const char *next)
{
	if (is_other(next)) {
		return false;
	}
	if (is_open(text, n) || strchr(":,;=(-", text[n - 1]) ||
		(n > 1 && text[n - 1] == ']' && text[n - 2] == ']')) {
		return true;
	}
	klog_blanks(&next);
	if (text[n - 1] == ']') { /* complete as it stands; a verb may follow */
		return *next == ':' || *next == '(' || !strncmp(next, "to [bus", 7) ||
		       !strncmp(next, "conflicts", 9);
	}
	return stamp->has_time || piece >= WRAPPED_FROM;
}

/* Words of resource messages, for pieces that were cut inside one. */
static bool is_word(const char *s, size_t n)
{
	static const char *const words[] = {"64bit", "Assigned", "address", "assign", "assigned",
		"assignment", "bridge", "bridging", "cannot", "can't", "claim", "compatible",
		"conflict", "conflicts", "contains", "disabled", "expand", "expanded", "failed",
		"firmware", "mem", "no", "not", "pref", "reassigned", "released", "releasing",
		"required", "resized", "resource", "resources", "restored", "size", "space",
		"still", "to", "trying", "window"};
	while (n && strchr("]:;,)", s[n - 1])) {
		n--;
	}
	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		if (strlen(words[i]) == n && !memcmp(s, words[i], n)) {
			return true;
		}
	}
	return false;
}

/* A hex number was cut: TAIL is its first part, NEXT begins with its rest. */
static bool number_cut(const char *tail, size_t n, const char *next)
{
	size_t rest = strspn(next, "0123456789abcdefABCDEF");
	if (n == 1 && tail[0] == '0') {
		return next[0] == 'x';
	}
	if (n < 2 || tail[0] != '0' || tail[1] != 'x' || rest == 0 || n - 2 + rest > 16) {
		return false;
	}
	for (size_t i = 2; i < n; i++) {
		if (pcie_hex_digit(tail[i]) < 0) {
			return false;
		}
	}
	return strchr("-] :.,)", next[rest]) != NULL;
}

/* Whether the cut between TEXT and NEXT was inside a word, a number or an address. */
static bool is_cut(const char *text, size_t n, const char *next)
{
	size_t from = n;
	while (from > 0 && !strchr(" \t[(", text[from - 1])) {
		from--;
	}
	const char *tail = text + from;
	size_t len = n - from, head = strcspn(next, " \t");
	if (len == 0 || head == 0 || strchr("]:;,).", next[0]) || !strncmp(next, "-0x", 3)) {
		return len == 0 || head > 0;
	}
	if (text[n - 1] == '-') { /* "0x…-" and not the word in "0x… - 0x…" */
		return len > 1 && pcie_hex_digit(next[0]) >= 0;
	}
	const char *dash = memrchr(tail, '-', len);
	const char *number = dash ? dash + 1 : tail;
	if (number_cut(number, (size_t)(text + n - number), next)) {
		return true;
	}
	char both[64];
	if (len + head >= sizeof(both)) {
		return false;
	}
	memcpy(both, tail, len);
	memcpy(both + len, next, head);
	both[len + head] = '\0';
	struct pcie_addr a;
	if (strchr(both, ':') && pcie_addr_scan(both, &a) > (int)len) {
		return true;
	}
	return is_word(both, len + head) && !is_word(next, head);
}

static void join(struct klog_reader *r, const char *next)
{
	klog_blanks(&next);
	if (!is_cut(r->join.s, r->join.len, next)) {
		text_add(&r->join, " ");
	}
	text_add(&r->join, next);
}

/* Whether line NEXT goes on with M, whose last piece has PIECE bytes. */
static bool next_goes_on(
	struct klog_reader *r, const struct klog_message *m, size_t off, size_t piece)
{
	const struct pcie_line *more = &r->lines->line[r->next];
	if (more->len == 0) {
		return false;
	}
	r->ahead_off = klog_prefix(more->s, &r->ahead_stamp);
	r->ahead = true;
	return !r->ahead_stamp.any && m->len > off && m->len + more->len <= MAX_MESSAGE &&
	       !klog_begins(more->s + r->ahead_off) &&
	       goes_on(m->whole + off, m->len - off, piece, &m->stamp, more->s);
}

bool klog_next(struct klog_reader *r, struct klog_message *ret)
{
	const struct pcie_lines *l = r->lines;
	bool gap = false;

	for (; r->next < l->n; r->next++, r->ahead = false) {
		const struct pcie_line *line = &l->line[r->next];
		if (line->len == 0 || (line->len == 2 && !memcmp(line->s, "--", 2))) {
			gap = true;
			continue;
		}
		struct klog_message m = {.whole = line->s, .len = line->len};
		size_t off = r->ahead_off;
		if (r->ahead) {
			m.stamp = r->ahead_stamp;
		} else {
			off = klog_prefix(line->s, &m.stamp);
		}
		if (!m.stamp.any && !klog_begins(line->s + off)) {
			continue;
		}
		m.stamp.gap = gap;
		size_t piece = line->len;
		r->next++;
		r->ahead = false;
		for (int i = 1; i < MAX_PIECES && r->next < l->n; i++) {
			/* Forums put a blank line between all lines: an open bracket reaches over
			 * one. */
			size_t blank =
				l->line[r->next].len == 0 && r->next + 1 < l->n &&
				m.len <= MAX_MESSAGE &&
				(is_open(m.whole + off, m.len - off) || m.whole[m.len - 1] == '-');
			r->next += blank;
			if (!next_goes_on(r, &m, off, piece)) {
				r->next -= blank;
				r->ahead = r->ahead && !blank;
				break;
			}
			const struct pcie_line *more = &l->line[r->next];
			if (!m.joined) {
				r->join.len = 0;
				text_addn(&r->join, m.whole, m.len);
				m.joined = true;
			}
			join(r, more->s);
			m.whole = r->join.s;
			m.len = r->join.len;
			piece = more->len;
			r->next++;
			r->ahead = false;
		}
		m.s = m.whole + off;
		m.last = r->next >= l->n;
		*ret = m;
		return true;
	}
	return false;
}

void klog_reader_finish(struct klog_reader *r)
{
	text_finish(&r->join);
}
