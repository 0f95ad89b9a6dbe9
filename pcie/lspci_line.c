/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lines below a header, but for BARs and windows; only those that carry facts are read. */
#include <ctype.h>
#include <stdlib.h>

#include "base/text.h"
#include "pcie/lspci_int.h"

static unsigned number_after(
	const char *s, const char *word, int base, unsigned max, bool *ret_found)
{
	const char *v = strstr(s, word);
	*ret_found = false;
	if (!v) {
		return 0;
	}
	v += strlen(word);
	if (base == 16 ? pcie_hex_digit(*v) < 0 : *v < '0' || *v > '9') {
		return 0;
	}
	unsigned long n = strtoul(v, NULL, base);
	*ret_found = n <= max;
	return *ret_found ? (unsigned)n : 0;
}

static size_t take_bus(struct pcie_lspci *p, const struct pcie_lines *l, size_t at)
{
	struct lspci_squeezed q = {.len = 0};
	size_t n = 1;
	lspci_squeeze(&q, l->line[at].s);
	while (n < LSPCI_PIECES && !strstr(q.s, "sec-latency=") && lspci_is_rest(l, at + n)) {
		lspci_squeeze(&q, l->line[at + n].s);
		n++;
	}

	bool sec, sub;
	unsigned secondary = number_after(q.s, "secondary=", 16, 255, &sec);
	unsigned subordinate = number_after(q.s, "subordinate=", 16, 255, &sub);
	/* two digits each, and something behind them: else the line was cut */
	const char *end = strstr(q.s, "subordinate=");
	p->b.d.is_bridge = true;
	p->b.windows = true;
	if (sec && sub && strlen(end) >= sizeof("subordinate=00") - 1) {
		p->b.d.secondary = (uint8_t)secondary;
		p->b.d.subordinate = (uint8_t)subordinate;
	}
	return n;
}

/* Does S begin with WORD but for blanks? Behind what matched in *RET_REST, if S ended before. */
static bool begins_with(const char *s, const char *word, const char **ret_rest)
{
	for (; *s; s++) {
		if (pcie_is_blank(*s)) {
			continue;
		}
		for (; pcie_is_blank(*word); word++) {
		}
		if (*s != *word) {
			break;
		}
		word++;
	}
	*ret_rest = word;
	return !*word || !*s;
}

/*
 * The kind of an extended capability. A name that ends in the middle goes on in the next line;
 * where it does not, the capability may be one that matters, and the list proves nothing.
 */
static enum lspci_cap extended_cap_kind(
	struct lspci_block *b, const char *name, const struct pcie_lines *l, size_t at)
{
	static const struct {
		const char *name;
		enum lspci_cap cap;
	} known[] = {
		{"Physical Resizable BAR", LIST_REBAR},
		{"Resizable BAR", LIST_REBAR},
		{"Extended Capability ID 0x15", LIST_REBAR},
		{"Virtual Resizable BAR", LIST_VF_REBAR},
		{"VF Resizable BAR", LIST_VF_REBAR},
		{"Extended Capability ID 0x24", LIST_VF_REBAR},
		{"Single Root I/O Virtualization", LIST_SRIOV},
	};
	/* until 3.5.6 unknown ones were numbers, in hex without 0x */
	if (name[0] == '#' && name[1] && name[2] && (!name[3] || name[3] == ' ')) {
		return !memcmp(name, "#15", 3)   ? LIST_REBAR
		       : !memcmp(name, "#24", 3) ? LIST_VF_REBAR
						 : LIST_OTHER;
	}
	for (size_t i = 0; i < ARRAY_LEN(known); i++) {
		const char *rest;
		if (!begins_with(name, known[i].name, &rest)) {
			continue;
		}
		if (!*rest ||
			(at + 1 < l->n && begins_with(l->line[at + 1].s, rest, &rest) && !*rest)) {
			return known[i].cap;
		}
		b->elided = true;
	}
	return LIST_OTHER;
}

static void take_express(struct lspci_block *b, const char *name)
{
	static const struct {
		const char *name;
		enum pcie_port_type type;
	} type[] = {
		{"Root Port", PCIE_PORT_ROOT}, {"Upstream Port", PCIE_PORT_UPSTREAM},
		{"Downstream Port", PCIE_PORT_DOWNSTREAM},
		{"Root Complex Integrated Endpoint", PCIE_PORT_RC_ENDPOINT},
		{"PCI-Express to PCI", PCIE_PORT_BRIDGE},
		{"PCI/PCI-X to PCI-Express", PCIE_PORT_BRIDGE},
		{"Endpoint", PCIE_PORT_ENDPOINT}, /* also "Legacy Endpoint" */
	};

	b->express = true;
	for (size_t i = 0; i < ARRAY_LEN(type); i++) {
		if (strstr(name, type[i].name)) {
			b->d.port_type = type[i].type;
			return;
		}
	}
}

static size_t take_capability(struct pcie_lspci *p, const struct pcie_lines *l, size_t at)
{
	const char *s = pcie_skip(l->line[at].s);
	struct lspci_block *b = &p->b;
	uint64_t offset;
	const char *end;

	s = pcie_skip(s + sizeof("Capabilities:") - 1);
	if (pcie_after(s, "<access denied")) {
		b->denied = true;
		return 1;
	}
	if (*s != '[' || !lspci_hex(s + 1, &offset, &end)) {
		return 1;
	}
	b->ncap++;
	b->caps_ended = false;
	b->cap = LIST_OTHER;
	const char *name = strchr(end, ']');
	if (!name) {
		return 1;
	}
	name = pcie_skip(name + 1);
	bool extended = offset >= PCIE_CONFIG_SIZE;
	b->next_cap += extended;
	b->cap = extended                               ? extended_cap_kind(b, name, l, at)
		 : pcie_after(name, "Power Management") ? LIST_POWER
							: LIST_OTHER;
	if (b->cap == LIST_REBAR || b->cap == LIST_VF_REBAR) {
		struct pcie_rebar *r = b->cap == LIST_REBAR ? &b->d.rebar : &b->d.vf_rebar;
		*r = (struct pcie_rebar){
			.have = PCIE_KNOWN,
			.src = p->text_src,
			.offset = (uint16_t)MIN(offset, (uint64_t)UINT16_MAX),
			.sizes_unknown = true,
			.null_cap = r->null_cap,
		};
	}
	if (extended && pcie_after(name, "Null")) {
		b->d.rebar.null_cap = true;
	}
	if (!extended && pcie_after(name, "Express")) {
		take_express(b, name);
	}
	return 1;
}

/* "16GT/s" in units of 100 MT/s, "x16"; what is "unknown" stays 0. */
static void parse_link(const char *s, uint16_t *ret_speed, uint8_t *ret_width)
{
	const char *speed = strstr(s, "Speed"), *width = strstr(s, "Width");
	char *end;

	if (speed) {
		double v = strtod(speed + 5, &end);
		if (end > speed + 5 && pcie_after(end, "GT/s") && v > 0 && v < 1000) {
			*ret_speed = (uint16_t)(v * 10 + 0.5);
		}
	}
	if (width) {
		unsigned long w = width[5] == 'x' ? strtoul(width + 6, &end, 10) : 0;
		*ret_width = (uint8_t)(w <= 32 ? w : 0);
	}
}

/* Width and, where it could have been cut, what stands behind it. */
static bool has_width(const char *s)
{
	const char *width = strstr(s, "Widthx");
	return width && strpbrk(width, ",(");
}

static size_t take_link(
	struct pcie_lspci *p, enum lspci_word word, const struct pcie_lines *l, size_t at)
{
	struct lspci_squeezed q = {.len = 0};
	size_t n = 1;
	lspci_squeeze(&q, l->line[at].s);
	while (n < LSPCI_PIECES && !has_width(q.s) && lspci_is_rest(l, at + n)) {
		lspci_squeeze(&q, l->line[at + n].s);
		n++;
	}

	if (l->cut && at + n == l->n && !has_width(q.s)) {
		return n; /* the text ends here: "Width x1" may have been "x16" */
	}
	struct pcie_link *link = &p->b.d.link;
	bool cap = word == WORD_LINK_CAP;
	link->have = PCIE_KNOWN;
	link->src = p->text_src;
	parse_link(
		q.s, cap ? &link->max_speed : &link->speed, cap ? &link->max_width : &link->width);
	return n;
}

static enum pcie_tri flag(const char *s, const char *name)
{
	const char *f = strstr(s, name);
	if (!f) {
		return PCIE_TRI_UNKNOWN;
	}
	f += strlen(name);
	return *f == '+' ? PCIE_YES : *f == '-' ? PCIE_NO : PCIE_TRI_UNKNOWN;
}

static void set_group(struct pcie_device *d, const char *s, const char *word)
{
	bool found;
	unsigned v = number_after(s, word, 10, 1000000, &found);
	if (found) {
		d->have_iommu = PCIE_KNOWN;
		d->iommu_group = (int)v;
	}
}

static void set_node(struct pcie_device *d, const char *s, const char *word)
{
	bool found;
	unsigned v = number_after(s, word, 10, 1000000, &found);
	if (found) {
		d->have_numa = PCIE_KNOWN;
		d->numa = (int)v;
	}
}

static size_t take_flags(struct pcie_lspci *p, const struct pcie_lines *l, size_t at)
{
	struct lspci_squeezed q = {.len = 0};
	size_t n = 1;
	if (p->b.cap != LIST_NONE) {
		return n; /* the flags of a capability */
	}
	lspci_squeeze(&q, l->line[at].s);
	while (n < LSPCI_PIECES && lspci_is_rest(l, at + n)) {
		lspci_squeeze(&q, l->line[at + n].s);
		n++;
	}
	p->b.verbose = true;
	p->b.d.bus_master = strstr(q.s, "busmaster") ? PCIE_YES : PCIE_NO;
	set_group(&p->b.d, q.s, "IOMMUgroup");
	set_node(&p->b.d, q.s, "NUMAnode");
	return n;
}

static void take_control(struct pcie_lspci *p, const char *s)
{
	if (p->b.cap != LIST_NONE || flag(s, "I/O") == PCIE_TRI_UNKNOWN) {
		return;
	}
	p->b.verbose = true;
	p->b.d.io_enable = flag(s, "I/O");
	p->b.d.mem_enable = flag(s, "Mem");
	p->b.d.bus_master = flag(s, "BusMaster");
}

static void take_status(struct lspci_block *b, const char *s, pcie_src src)
{
	s += sizeof("Status: ") - 1;
	if (b->cap == LIST_NONE) {
		b->no_cap_list = pcie_after(s, "Cap-") != NULL;
	} else if (b->cap == LIST_POWER && s[0] == 'D' && s[1] >= '0' && s[1] <= '3') {
		static const char *const state[] = {"D0", "D1", "D2", "D3hot"};
		text_copy(b->d.power, sizeof(b->d.power), state[s[1] - '0']);
		b->d.power_src = src;
	}
}

/* Is the line nothing but the name that a module may have? */
static bool is_module_name(const struct pcie_line *l)
{
	const char *s = pcie_skip(l->s);
	size_t n = 0;
	while (isalnum((unsigned char)s[n]) || (n > 0 && s[n] && strchr("_-.", s[n]))) {
		n++;
	}
	return n > 0 && s[n] == '\0';
}

static size_t take_driver(
	struct pcie_lspci *p, enum lspci_word word, const struct pcie_lines *l, size_t at)
{
	struct pcie_device *d = &p->b.d;
	size_t n = 1;

	p->b.caps_ended = true;
	p->b.cap = LIST_OTHER;
	if (word == WORD_MODULES) {
		/* modules that could drive it, and no driver that does */
		if (d->have_driver == PCIE_UNKNOWN && !p->b.elided && !p->b.driver_torn) {
			d->have_driver = PCIE_ABSENT;
			d->driver_src = p->text_src;
		}
		return n;
	}
	const char *s = pcie_skip(strchr(l->line[at].s, ':') + 1);
	bool folded = p->fold_known && p->fold.column;
	if (!*s && folded && lspci_is_rest(l, at + 1) && is_module_name(&l->line[at + 1])) {
		s = pcie_skip(l->line[at + 1].s);
		n++;
	}
	p->b.driver_torn = !*s;
	const char *base = strrchr(s, '\\'); /* lspci on Windows names a path */
	if (*s) {
		d->have_driver = PCIE_KNOWN;
		d->driver_src = p->text_src;
		text_copy(d->driver, sizeof(d->driver), base && base[1] ? base + 1 : s);
		d->driver[base ? strlen(d->driver) : strcspn(d->driver, " \t")] = '\0';
	}
	return n;
}

/* "[10de:2204]" at the end of what is squeezed. */
static bool trailing_ids(const char *s, uint16_t *ret_vendor, uint16_t *ret_device)
{
	for (const char *p = strchr(s, '['); p; p = strchr(p + 1, '[')) {
		uint64_t v, d;
		const char *end;
		if (lspci_hex(p + 1, &v, &end) == 4 && *end == ':' &&
			lspci_hex(end + 1, &d, &end) == 4 && *end == ']') {
			*ret_vendor = (uint16_t)v;
			*ret_device = (uint16_t)d;
			return true;
		}
	}
	return false;
}

/* Prose below a line that is whole is no rest of it. */
static bool may_go_on(const struct pcie_line *l)
{
	return l->len >= LSPCI_NARROW || lspci_is_unbalanced(l->s);
}

static size_t take_subsystem(struct pcie_lspci *p, const struct pcie_lines *l, size_t at)
{
	struct pcie_device *d = &p->b.d;
	const char *s = pcie_skip(l->line[at].s) + sizeof("Subsystem: ") - 1;
	struct lspci_squeezed q = {.len = 0};
	size_t n = 1;

	lspci_squeeze(&q, s);
	while (n < LSPCI_PIECES && !trailing_ids(q.s, &d->subvendor, &d->subdevice) &&
		lspci_is_rest(l, at + n) && (n > 1 || may_go_on(&l->line[at])) &&
		!lspci_is_header(l->line[at + n].s, l->line[at + n].len, true)) {
		lspci_squeeze(&q, l->line[at + n].s);
		n++;
	}
	if (trailing_ids(q.s, &d->subvendor, &d->subdevice)) {
		d->have_subsystem = PCIE_KNOWN;
		return n;
	}
	/* with -n, or when neither name is known: "Device 1ef7:1334" */
	uint64_t v, dev;
	const char *end, *ids = pcie_after(s, "Device ");
	ids = ids ? ids : s;
	if (lspci_hex(ids, &v, &end) == 4 && *end == ':' && lspci_hex(end + 1, &dev, &end) == 4) {
		d->have_subsystem = PCIE_KNOWN;
		d->subvendor = (uint16_t)v;
		d->subdevice = (uint16_t)dev;
	}
	return 1;
}

size_t lspci_take_property(
	struct pcie_lspci *p, enum lspci_word word, const struct pcie_lines *l, size_t at)
{
	const char *s = pcie_skip(l->line[at].s);
	struct pcie_device *d = &p->b.d;
	bool found;

	switch (word) {
	case WORD_REGION:
	case WORD_MEMORY:
	case WORD_IO:
	case WORD_ROM:
		return lspci_take_region(p, word, l, at);
	case WORD_IO_WINDOW:
		return lspci_take_window(p, PCIE_WINDOW_IO, l, at);
	case WORD_MEM_WINDOW:
		return lspci_take_window(p, PCIE_WINDOW_MEM, l, at);
	case WORD_PREF_WINDOW:
		return lspci_take_window(p, PCIE_WINDOW_PREF, l, at);
	case WORD_BUS:
		return take_bus(p, l, at);
	case WORD_CAPABILITY:
		return take_capability(p, l, at);
	case WORD_BAR:
		return lspci_take_rebar(p, l, at);
	case WORD_FLAGS:
		return take_flags(p, l, at);
	case WORD_SUBSYSTEM:
		return take_subsystem(p, l, at);
	case WORD_CONTROL:
		take_control(p, s);
		break;
	case WORD_STATUS:
		take_status(&p->b, s, p->text_src);
		break;
	case WORD_LINK_CAP:
	case WORD_LINK_STATUS:
		return take_link(p, word, l, at);
	case WORD_DRIVER:
	case WORD_MODULES:
		return take_driver(p, word, l, at);
	case WORD_NUMA:
		set_node(d, s, "NUMA node: ");
		break;
	case WORD_IOMMU:
		set_group(d, s, "IOMMU group: ");
		break;
	case WORD_SLOT:
		d->hotplug_slot = flag(s, "HotPlug") == PCIE_YES;
		break;
	case WORD_VFS:
		d->sriov_total = (uint16_t)number_after(s, "Total VFs: ", 10, UINT16_MAX, &found);
		d->sriov_num = (uint16_t)number_after(s, "Number of VFs: ", 10, UINT16_MAX, &found);
		break;
	case WORD_ACCESS_DENIED:
		p->b.denied = true;
		break;
	case WORD_UNKNOWN_HEADER:
		d->config_gone = strstr(s, "7f") != NULL;
		break;
	case WORD_REBAR_ERROR:
		d->rebar.sizes_unknown = d->rebar.count == 0;
		break;
	default:
		break;
	}
	return 1;
}
