/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pcie/xorg.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "pcie/chars.h"

/* A line is put together of at most so many pieces; one shorter than a mail's was not wrapped. */
enum { PIECES = 5, WRAPPED_FROM = 56 };

/* Bytes. No GPU has smaller ranges, and a longer number that was cut is among them. */
enum { RANGE_MIN = 32 };

/* What the server writes before each of its messages. */
static const char *find_mark(const char *s)
{
	static const char marks[] = "-=*+!IWE?N";
	for (s = strchr(s, '('); s; s = strchr(s + 1, '(')) {
		if (s[1] && strchr(marks, s[1]) && s[2] && strchr(marks, s[2]) && s[3] == ')') {
			return s;
		}
	}
	return NULL;
}

static const char *after(const char *s, const char *word)
{
	size_t n = strlen(word);
	return strncmp(s, word, n) ? NULL : s + n;
}

bool pcie_xorg_is_line(const char *s)
{
	const char *m = strstr(s, "(--) PCI:");
	if (m) {
		m += strlen("(--) PCI:");
		m += *m == '*' || *m == ' ';
		return *m == '(';
	}
	m = find_mark(s);
	return m && after(m + 4, " NVIDIA(") &&
	       (strstr(m, ") at PCI:") || (strstr(m, "Memory: ") && strstr(m, " kBytes")));
}

/* A decimal number up to MAX; *S is behind it. */
static bool decimal(const char **s, uint64_t max, uint64_t *ret)
{
	const char *p = *s;
	uint64_t v = 0;
	while (*p >= '0' && *p <= '9' && v <= max / 10) {
		v = v * 10 + (uint64_t)(*p++ - '0');
	}
	if (p == *s || v > max || (*p >= '0' && *p <= '9')) {
		return false;
	}
	*ret = v;
	*s = p;
	return true;
}

static bool hex(const char **s, unsigned digits, uint64_t *ret)
{
	uint64_t v = 0;
	const char *p = *s;
	unsigned n = 0;
	for (; n < digits; n++, p++) {
		int d = pcie_hex_digit(*p);
		if (d < 0) {
			break;
		}
		v = v << 4 | (uint64_t)d;
	}
	*ret = v;
	*s = p;
	return n > 0;
}

/* "1@0:0:0" (bus, domain, device, function), "0:1:0:0" (domain first) or "1:0:0": decimal. */
static bool scan_address(const char **s, struct pcie_addr *ret)
{
	uint64_t v[4];
	const char *p = *s;
	bool at = false;
	int n = 0;
	while (n < 4 && decimal(&p, UINT32_MAX, &v[n])) {
		n++;
		if (n == 1 && *p == '@') {
			at = true;
			p++;
		} else if (n < 4 && *p == ':') {
			p++;
		} else {
			break;
		}
	}
	if (n < 3 || (at && n < 4)) {
		return false;
	}
	uint64_t domain = n == 3 ? 0 : v[at ? 1 : 0];
	uint64_t bus = v[at ? 0 : n == 4 ? 1 : 0], dev = v[n - 2], fn = v[n - 1];
	if (bus > 255 || dev > 31 || fn > 7) {
		return false;
	}
	*ret = (struct pcie_addr){
		.domain = (uint32_t)domain,
		.bus = (uint8_t)bus,
		.dev = (uint8_t)dev,
		.fn = (uint8_t)fn,
		.known = true,
	};
	*s = p;
	return true;
}

static struct pcie_device *device_at(struct pcie_snapshot *s, struct pcie_addr a)
{
	int i = pcie_snapshot_find(s, a);
	return i >= 0 ? &s->dev[i] : pcie_snapshot_add(s, a);
}

/* "0xf6000000/16777216" */
static bool take_range(struct pcie_device *d, pcie_src src, bool io, const char **s)
{
	const char *p = after(*s, "0x");
	uint64_t base, size;
	if (!p || !hex(&p, 16, &base) || *p++ != '/' || !decimal(&p, INT64_MAX, &size)) {
		return false;
	}
	*s = p;
	/* the kernel keeps an unassigned resource at 0, and none has no size */
	if (size < RANGE_MIN || (size & (size - 1)) || d->nbar == PCIE_BARS) {
		return true;
	}
	d->bar[d->nbar++] = (struct pcie_bar){
		.have = PCIE_KNOWN,
		.src = src,
		.kind = PCIE_BAR_NORMAL,
		.index = -1,
		.io = io,
		.has_base = base > 0,
		.base = base,
		.has_size = true,
		.size = size,
		.assigned = base ? PCIE_YES : PCIE_NO,
	};
	return true;
}

static void take_ranges(struct pcie_device *d, pcie_src src, const char *s, const char *word)
{
	const char *p = strstr(s, word);
	bool io = word[1] == 'I';
	if (!p) {
		return;
	}
	p += strlen(word);
	while (take_range(d, src, io, &p) && p[0] == ',' && p[1] == '0') {
		p++;
	}
}

/* Without blanks: "PCI:*(1@0:0:0)10de:2204:1043:87b3rev161,Mem@0xf6000000/16777216,…". */
static bool take_probe(struct pcie_snapshot *s, pcie_src src, const char *p)
{
	struct pcie_addr a;
	uint64_t id[4];

	bool primary = *p == '*';
	p += primary;
	if (*p++ != '(' || !scan_address(&p, &a) || *p++ != ')') {
		return false;
	}
	for (int i = 0; i < 4; i++) {
		const char *from = p;
		if (!hex(&p, 4, &id[i]) || p - from != 4 || (i < 3 && *p++ != ':')) {
			return false;
		}
	}
	struct pcie_device *d = device_at(s, a);
	d->have_ids = d->have_subsystem = PCIE_KNOWN;
	d->ids_src = src;
	d->vendor = (uint16_t)id[0];
	d->device = (uint16_t)id[1];
	d->subvendor = (uint16_t)id[2];
	d->subdevice = (uint16_t)id[3];
	d->boot_vga = primary ? PCIE_YES : PCIE_NO;
	const char *rev = strstr(p, "rev");
	uint64_t v;
	if (rev && (rev += 3, decimal(&rev, 255, &v)) && *rev == ',') {
		d->revision = (uint8_t)v;
	}
	d->nbar = 0; /* the server was started again: its last word counts */
	take_ranges(d, src, p, ",Mem@");
	take_ranges(d, src, p, ",I/O@");
	return true;
}

/* Line I and the rest of it, without blanks; returns the lines taken. */
static size_t join(const struct pcie_lines *l, size_t i, struct text *out)
{
	size_t n = 0;
	bool more = true;
	out->len = 0;
	while (more && n < PIECES) {
		const struct pcie_line *line = &l->line[i + n];
		for (const char *c = line->s; *c; c++) {
			text_addn(out, c, *c != ' ' && *c != '\t');
		}
		n++;
		more = i + n < l->n && line->width >= WRAPPED_FROM && l->line[i + n].len > 0 &&
		       !find_mark(l->line[i + n].s);
	}
	return n;
}

/* "NVIDIA GPU GeForce GTX 1080 (GP104-A) at PCI:1:0:0 (GPU-0)": whom the memory belongs to. */
static int take_driver(struct pcie_snapshot *s, pcie_src src, const char *m, int dev)
{
	const char *p = strstr(m, ") at PCI:");
	struct pcie_addr a;
	uint64_t kib;

	if (p) {
		p += strlen(") at PCI:");
		if (!scan_address(&p, &a) || *p != ' ') {
			return -1;
		}
		return (int)(device_at(s, a) - s->dev);
	}
	p = strstr(m, "Memory: ");
	if (p && dev >= 0 && (p += strlen("Memory: "), decimal(&p, INT64_MAX >> 10, &kib)) &&
		after(p, " kBytes") && kib) {
		struct pcie_vram *v = &s->dev[dev].vram;
		*v = (struct pcie_vram){.have = PCIE_KNOWN, .src = src, .bytes = kib << 10};
		text_copy(v->what, sizeof(v->what), "Xorg: Memory");
	}
	return dev;
}

size_t pcie_xorg_parse(struct pcie_snapshot *s, const struct pcie_lines *l, pcie_src src)
{
	static const char probe[] = "(--)PCI:";
	struct text t = {0};
	size_t said = 0, n;
	int dev = -1;

	for (size_t i = 0; i < l->n; i += n) {
		n = 1;
		if (!pcie_xorg_is_line(l->line[i].s)) {
			continue;
		}
		if (!strstr(l->line[i].s, "(--) PCI:")) {
			dev = take_driver(s, src, find_mark(l->line[i].s), dev);
			said++;
			continue;
		}
		n = join(l, i, &t);
		const char *p = strstr(t.s, probe);
		said += p && take_probe(s, src, p + strlen(probe));
	}
	text_finish(&t);
	return said;
}
