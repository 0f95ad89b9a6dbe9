/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Regions, bridge windows and the sizes of the Resizable BAR capability. Each line
 * is squeezed first (blanks taken out), together with the pieces that a wrap cut
 * off, so that one grammar fits every way of wrapping.
 */
#include <stdlib.h>

#include "base/text.h"
#include "pcie/lspci_int.h"

/* A bracket tag: "[size=…]", "[disabled]", … and what may stand behind it. */
static bool is_tag(const char *s)
{
	s = pcie_skip(s);
	return *s == '[' &&
	       (s[1] == 's' || s[1] == 'd' || s[1] == 'v' || s[1] == 'e' ||
		       (s[1] >= '1' && s[1] <= '6' && strstr(s, "-bit]"))) &&
	       lspci_word(s) == WORD_NONE;
}

/* A tag is nothing but the rest of a line, wherever it stands. */
static bool is_seam_before_tag(const struct pcie_lines *l, size_t at)
{
	return l->line[at].len == 0 && lspci_is_seam(l, at) && is_tag(l->line[at + 1].s);
}

static bool is_open(const char *s, char left, char right)
{
	const char *a = strrchr(s, left), *b = strrchr(s, right);
	return a && (!b || b < a);
}

/* "16M]" behind "size=". */
static bool parse_size(const char *s, uint64_t *ret)
{
	static const char units[] = "KMGTPE";
	char *end;
	unsigned long long v = strtoull(s, &end, 10);
	const char *unit = *end && *end != ']' ? strchr(units, *end) : NULL;
	unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;

	if (end == s || end - s > 19 || end[unit ? 1 : 0] != ']' || v == 0 ||
		v > UINT64_MAX >> shift) {
		return false;
	}
	*ret = (uint64_t)v << shift;
	return true;
}

/* The tags behind a region: "[virtual] [disabled] [size=16M]", squeezed. */
static void parse_tags(const char *s, struct pcie_bar *b)
{
	bool disabled = false;
	for (s = strchr(s, '['); s; s = strchr(s + 1, '[')) {
		switch (s[1]) {
		case 'd':
			disabled = disabled || pcie_after(s, "[disabled");
			break;
		case 'e':
			b->enhanced = pcie_after(s, "[enhanced]") != NULL;
			break;
		case 's':
			b->has_size = pcie_after(s, "[size=") && parse_size(s + 6, &b->size);
			break;
		case 'v':
			b->is_virtual = b->is_virtual || pcie_after(s, "[virtual]");
			break;
		default:
			break;
		}
	}
	/* before 3.7 a virtual region never said that it was disabled */
	b->decode_enabled = disabled        ? PCIE_NO
			    : b->is_virtual ? PCIE_TRI_UNKNOWN
			    : b->has_base   ? PCIE_YES
					    : PCIE_TRI_UNKNOWN;
}

/* "<unassigned>", "<ignored>", an address or nothing; true when the line may be believed. */
static bool parse_address(const char **s, struct pcie_bar *b)
{
	const char *end;
	if (**s == '<') {
		end = strchr(*s, '>');
		if (!end) {
			return false;
		}
		b->ignored = pcie_after(*s, "<ignored>") != NULL;
		b->assigned =
			b->ignored || pcie_after(*s, "<unassigned>") ? PCIE_NO : PCIE_TRI_UNKNOWN;
		*s = end + 1;
		return true;
	}
	b->has_base = lspci_hex(*s, &b->base, s) > 0;
	b->assigned = b->has_base ? PCIE_YES : PCIE_TRI_UNKNOWN;
	return true;
}

/* A squeezed memory region, behind "Memoryat". */
static bool parse_memory(const char *s, struct pcie_bar *b)
{
	if (!parse_address(&s, b) || *s != '(') {
		return false; /* cut off: the address may go on */
	}
	b->is64 = pcie_after(s, "(64-bit") != NULL;
	b->is64_known = b->is64 || pcie_after(s, "(32-bit") || pcie_after(s, "(low-1M");
	const char *pref = strchr(s, ',');
	if (pref && pcie_after(pref, ",prefetchable)")) {
		b->prefetchable = true;
	} else if (!pref || !pcie_after(pref, ",non-prefetchable)")) {
		b->is64_known = false;
	}
	parse_tags(s, b);
	return true;
}

static bool parse_io(const char *s, struct pcie_bar *b)
{
	b->io = true;
	b->is64_known = true;
	if (!parse_address(&s, b) || (*s && *s != '[')) {
		return false;
	}
	parse_tags(s, b);
	return true;
}

/* A region of the device, of its VFs, or its ROM, joined to *Q; true when understood. */
static bool parse_region(const char *s, struct pcie_bar *b)
{
	const char *rest;
	rest = pcie_after(s, "[virtual]");
	if (rest) {
		b->is_virtual = true;
		s = rest;
	}
	rest = pcie_after(s, "[disabled]");
	s = rest ? rest : s;
	rest = pcie_after(s, "Memoryat");
	if (rest) {
		return parse_memory(rest, b);
	}
	rest = pcie_after(s, "I/Oportsat");
	if (rest) {
		return parse_io(rest, b);
	}
	rest = pcie_after(s, "ExpansionROMat");
	if (rest) {
		if (!parse_address(&rest, b) || (*rest && *rest != '[')) {
			return false;
		}
		parse_tags(rest, b);
		b->is64_known = true;
		return true;
	}
	return false;
}

/* A line with a number may be about a BAR that a listing without numbers had before. */
static struct pcie_bar *find_slot(struct pcie_device *d, const struct pcie_bar *b)
{
	for (int i = 0; i < d->nbar && b->index >= 0 && b->has_base; i++) {
		struct pcie_bar *a = &d->bar[i];
		if (a->kind == b->kind && a->index < 0 && a->has_base && a->base == b->base &&
			!pcie_device_find_bar(d, b->kind, b->index)) {
			return a;
		}
	}
	return pcie_device_bar(d, b->kind, b->index);
}

static void add_bar(struct pcie_device *d, const struct pcie_bar *b)
{
	struct pcie_bar *slot = find_slot(d, b);
	if (slot) {
		struct pcie_bar_register reg = slot->reg;
		*slot = *b;
		slot->reg = reg;
	}
}

/* VF BARs stand inside the SR-IOV capability; without that line they show by form and order. */
static bool is_vf_region(const struct lspci_block *b, const char *squeezed, int index)
{
	if (b->cap == LIST_SRIOV) {
		return true;
	}
	const char *at = strstr(squeezed, "Memoryat");
	uint64_t v;
	const char *end;
	bool long_form = at && lspci_hex(at + 8, &v, &end) == 16 && !strstr(squeezed, "[size=");
	return index <= b->last_region && (long_form || b->ncap > 0);
}

/* Is the squeezed region line complete, but for tags? */
static bool is_whole(const char *s, enum lspci_word word)
{
	bool address = word == WORD_ROM || strchr(s, ')') || strstr(s, "I/O");
	return address && !is_open(s, '[', ']');
}

/* May the line at AT be the rest of the region line S? */
static bool may_follow(const struct pcie_lines *l, size_t at, const char *s, enum lspci_word word)
{
	/* "Region 0:" or "Region 0: [virtual]", the rest below */
	bool bare = word != WORD_ROM && !strstr(s, "Memory") && !strstr(s, "I/O");
	return (bare && lspci_word(pcie_skip(l->line[at].s)) == WORD_MEMORY) ||
	       lspci_is_rest(l, at);
}

size_t lspci_take_region(
	struct pcie_lspci *p, enum lspci_word word, const struct pcie_lines *l, size_t at)
{
	struct lspci_squeezed q = {.len = 0};
	size_t n = 1;

	lspci_squeeze(&q, pcie_skip(l->line[at].s));
	while (n < LSPCI_PIECES && at + n < l->n) {
		const char *next = l->line[at + n].s;
		if (is_seam_before_tag(l, at + n)) {
			n++;
			continue;
		}
		if (!is_tag(next) && (is_whole(q.s, word) || !may_follow(l, at + n, q.s, word))) {
			break;
		}
		lspci_squeeze(&q, next);
		n++;
	}

	struct pcie_bar b = {.have = PCIE_KNOWN, .src = p->text_src, .index = -1};
	const char *s = q.s;
	bool vf = false;
	if (word == WORD_REGION) {
		b.index = (int8_t)(s[6] - '0');
		vf = is_vf_region(&p->b, s, b.index);
		s += 8;
	} else if (word == WORD_ROM) {
		b.kind = PCIE_BAR_ROM;
		b.index = 6;
	}
	if (!parse_region(s, &b)) {
		return n;
	}
	if (l->cut && at + n == l->n && b.has_base && pcie_hex_digit(q.s[q.len - 1]) >= 0) {
		return n; /* the text ends inside the address */
	}
	if (vf) {
		b.kind = PCIE_BAR_VF;
		if (b.has_base && b.base == 0) { /* the register as it is: nobody gave it one */
			b.has_base = false;
			b.assigned = PCIE_NO;
		}
		b.decode_enabled = PCIE_TRI_UNKNOWN;
	} else if (word == WORD_REGION && p->b.orphan && b.index <= p->b.last_region) {
		/* pieces of several states without headers: each is a piece of its own */
		lspci_open(p, (struct pcie_addr){0}, true);
	}
	if (!vf && word == WORD_REGION) {
		p->b.last_region = b.index;
	}
	add_bar(&p->b.d, &b);
	return n;
}

/* Is S only what may follow in a window line: digits, a dash, tags? */
static bool is_window_rest(const char *s)
{
	for (s = pcie_skip(s); pcie_hex_digit(*s) >= 0 || *s == '-'; s++) {
	}
	s = pcie_skip(s);
	return !*s || *s == '[';
}

size_t lspci_take_window(
	struct pcie_lspci *p, enum pcie_window_kind kind, const struct pcie_lines *l, size_t at)
{
	struct lspci_squeezed q = {.len = 0};
	size_t n = 1;

	lspci_squeeze(&q, strchr(l->line[at].s, ':') + 1);
	while (n < LSPCI_PIECES && lspci_is_rest(l, at + n)) {
		const char *next = l->line[at + n].s;
		if (is_seam_before_tag(l, at + n)) {
			n++;
			continue;
		}
		bool unfinished = !q.len || !strchr(q.s, '[') || is_open(q.s, '[', ']');
		if (!is_tag(next) && !(unfinished && is_window_rest(next)) &&
			!is_open(q.s, '[', ']')) {
			break;
		}
		lspci_squeeze(&q, next);
		n++;
	}

	struct pcie_window *w = &p->b.d.window[kind];
	const char *s = q.s;
	uint64_t base, limit;
	int digits;

	p->b.d.is_bridge = true;
	p->b.windows = true;
	if (pcie_after(s, "None") || pcie_after(s, "[disabled]")) {
		w->have = PCIE_ABSENT;
		w->src = p->text_src;
		w->is64 = strstr(s, "[64-bit]") != NULL;
		return n;
	}
	digits = lspci_hex(s, &base, &s);
	if (digits == 0 || *s != '-' || lspci_hex(s + 1, &limit, &s) == 0 || (*s && *s != '[')) {
		return n;
	}
	/* a limit that is shorter than its base was cut off */
	if (!*s && digits >= 8 && limit < base && limit >> 12 << 12 != 0) {
		const char *dash = strchr(q.s, '-');
		if (s - dash - 1 < digits) {
			return n;
		}
	}
	w->have = limit < base || strstr(s, "[disabled]") ? PCIE_ABSENT : PCIE_KNOWN;
	w->src = p->text_src;
	w->is64 = kind == PCIE_WINDOW_PREF &&
		  (strstr(s, "[64-bit]") || digits == 16 || limit > UINT32_MAX);
	w->base = base;
	w->limit = limit;
	return n;
}

/* "256MB" and the like: the code of the power of two (PCIe 6.0, 7.8.6.3), or -1. */
static int rebar_size(const char *s, const char **ret_end)
{
	static const char units[] = "MGTPE";
	const char *end = s;
	unsigned v = 0;
	for (; end < s + 3 && *end >= '0' && *end <= '9'; end++) {
		v = v * 10 + (unsigned)(*end - '0');
	}
	const char *unit = *end ? strchr(units, *end) : NULL;
	if (!unit || end[1] != 'B' || v == 0 || v > 512 || (v & (v - 1))) {
		return -1;
	}
	int code = 10 * (int)(unit - units);
	for (; v > 1; v >>= 1) {
		code++;
	}
	*ret_end = end + 2;
	return code <= 43 ? code : -1;
}

/* Only sizes and pieces of sizes? */
static bool is_size_list(const char *s)
{
	for (; *s; s++) {
		if (!pcie_is_blank(*s) && !strchr("0123456789MGTPEB", *s)) {
			return false;
		}
	}
	return true;
}

/* The LEFT-th byte of the lines that is no blank, up to the next blank. */
static void find_token(
	const struct pcie_lines *l, size_t at, size_t left, char *ret, size_t ret_size)
{
	size_t n = 0;
	for (const char *s = l->line[at].s;; s++) {
		if (!*s) {
			if (n > 0 || ++at == l->n) {
				break;
			}
			s = l->line[at].s - 1;
		} else if (pcie_is_blank(*s)) {
			if (n > 0) {
				break;
			}
		} else if (left > 0) {
			left--;
		} else if (*s > ' ' && *s < 0x7f && n + 1 < ret_size) {
			ret[n++] = *s;
		}
	}
	ret[n] = '\0';
}

/* What stands behind a list: somebody's remark, or a size that cannot be read, or an ellipsis? */
static bool is_remark(const char *s)
{
	bool size =
		strpbrk(s, "0123456789") || strstr(s, "MB") || strstr(s, "GB") || strstr(s, "TB");
	return *s && (strchr("<#(-/;=*|`'\"),\\[", *s) || (*s >= 'A' && *s <= 'Z' && !size));
}

/* The sizes at S, a part of Q; those of a list that is not readable to its end are not known. */
static uint64_t take_sizes(struct lspci_block *b, int bar, const struct lspci_squeezed *q,
	const char *s, const struct pcie_lines *l, size_t at)
{
	uint64_t sizes = 0;
	int code, last = -1;
	const char *from = s;
	while ((code = rebar_size(s, &from)) > last) { /* lspci's go up */
		sizes |= UINT64_C(1) << code;
		last = code;
		s = from;
	}
	if (*s && sizes && !b->torn[0]) {
		char token[sizeof(b->torn)];
		find_token(l, at, (size_t)(s - q->s), token, sizeof(token));
		if (!is_remark(token)) {
			b->torn_bar = bar;
			text_copy(b->torn, sizeof(b->torn), token[0] ? token : "?");
		}
	}
	return sizes;
}

/* "BAR 0: current size: 256MB, supported: 256MB 512MB …" */
size_t lspci_take_rebar(struct pcie_lspci *p, const struct pcie_lines *l, size_t at)
{
	struct lspci_squeezed q = {.len = 0};
	size_t n = 1;
	lspci_squeeze(&q, pcie_skip(l->line[at].s));
	while (n < LSPCI_PIECES && lspci_is_rest(l, at + n) &&
		(is_size_list(l->line[at + n].s) || !strstr(q.s, "supported:"))) {
		lspci_squeeze(&q, l->line[at + n].s);
		n++;
	}

	struct lspci_block *b = &p->b;
	struct pcie_rebar *r = b->cap == LIST_VF_REBAR ? &b->d.vf_rebar : &b->d.rebar;
	struct pcie_rebar_entry e = {.bar = (uint8_t)(q.s[3] - '0')};
	const char *s = strstr(q.s, "currentsize:");
	int code;

	if (!s) {
		return n;
	}
	code = rebar_size(s + sizeof("currentsize:") - 1, &s);
	if (code >= 0) {
		e.has_current = true;
		e.current = UINT64_C(1) << (code + PCIE_REBAR_UNIT_SHIFT);
	}
	s = strstr(q.s, "supported:");
	if (s) {
		e.supported = take_sizes(b, e.bar, &q, s + sizeof("supported:") - 1, l, at);
	}

	if (r->have != PCIE_KNOWN) {
		*r = (struct pcie_rebar){.have = PCIE_KNOWN, .src = p->text_src};
	}
	int i = 0;
	while (i < r->count && r->entry[i].bar != e.bar) {
		i++;
	}
	if (i < PCIE_REBAR_ENTRIES) {
		r->entry[i] = e;
		r->count = (uint8_t)MAX((int)r->count, i + 1);
	}
	r->sizes_unknown = false;
	return n;
}
