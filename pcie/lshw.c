/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pcie/lshw.h"

#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "base/text.h"
#include "pcie/chars.h"
#include "pcie/lspci_class.h"

enum {
	PIECES = 6,                 /* of a wrapped line */
	WRAPPED_FROM = 56,          /* one shorter than a mail's was not wrapped */
	ROM_MAX = 16 << 20,         /* bytes (PCI 6.2.5.2) */
	LEGACY_END = (1 << 20) - 1, /* below it lies the copy of the boot display's ROM */
	RANGES = 8,
	CLASS_DISPLAY = 0x03,
	CLASS_BRIDGE = 0x06,
};

struct range {
	bool io;
	uint64_t base, size;
};

/* A node of the tree while its lines come in. */
struct node {
	struct pcie_addr addr;
	bool unclaimed;
	int class_code; /* 16 bits, -1 */
	uint16_t vendor, device;
	char product[128], driver[32];
	unsigned revision;
	bool has_revision;
	struct range range[RANGES];
	size_t nrange;
};

struct reader {
	struct pcie_snapshot *s;
	pcie_src src;
	struct node node;
	size_t said;
};

static bool is_node(const char *s)
{
	s = pcie_after(s, "*-");
	if (!s || *s < 'a' || *s > 'z') {
		return false;
	}
	while ((*s >= 'a' && *s <= 'z') || (*s >= '0' && *s <= '9') || *s == ':' || *s == '-') {
		s++;
	}
	return *s == '\0' || !strcmp(s, " UNCLAIMED") || !strcmp(s, " DISABLED");
}

/* "description: VGA compatible controller": somebody copied from below the node's name. */
static bool is_description(const char *s)
{
	s = pcie_after(s, "description: ");
	return s && pcie_class_from_name(s, strlen(s)) >= 0;
}

bool pcie_lshw_is_start(const char *s)
{
	s = pcie_skip(s);
	return is_node(s) || is_description(s) || pcie_after(s, "bus info: pci@");
}

static bool hex(const char **s, uint64_t *ret)
{
	const char *p = *s;
	uint64_t v = 0;
	int n = 0;
	for (int d; n < 16 && (d = pcie_hex_digit(*p)) >= 0; n++, p++) {
		v = v << 4 | (uint64_t)d;
	}
	*ret = v;
	*s = p;
	return n > 0 && pcie_hex_digit(*p) < 0;
}

/* "memory:f6000000-f6ffffff", "ioport:e000(size=128)"; P is at the word's end when true. */
static bool scan_range(const char **p, struct range *ret)
{
	const char *s = *p, *v = pcie_after(s, "memory:");
	uint64_t limit;
	ret->io = !v;
	v = v ? v : pcie_after(s, "ioport:");
	if (!v || !hex(&v, &ret->base)) {
		return false;
	}
	if (*v == '-') {
		v++;
		if (!hex(&v, &limit) || limit < ret->base || limit - ret->base == UINT64_MAX) {
			return false;
		}
		ret->size = limit - ret->base + 1;
	} else {
		v = pcie_after(v, "(size=");
		char *end;
		ret->size = v && *v >= '1' && *v <= '9' ? strtoull(v, &end, 10) : 0;
		if (!ret->size || *end != ')') {
			return false;
		}
		v = end + 1;
	}
	*p = v;
	return *v == ' ' || *v == '\0';
}

/* "[10DE:2204]", "[10DE]" of lshw -numeric at the end of S. */
static void take_numbers(const char *s, uint16_t *ret_a, uint16_t *ret_b)
{
	const char *p = strrchr(s, '[');
	uint64_t a, b;
	if (!p || !(p++, hex(&p, &a)) || a > 0xffff) {
		return;
	}
	if (*p == ']' && ret_a) {
		*ret_a = (uint16_t)a;
	} else if (*p == ':' && ret_b && (p++, hex(&p, &b)) && b <= 0xffff && *p == ']') {
		*ret_b = (uint16_t)b;
	}
}

/* A number that was cut makes no range: its last address would be before its first. */
static void take_resources(struct node *n, const char *s)
{
	n->nrange = 0;
	while (*s) {
		struct range g;
		const char *word = s;
		if (scan_range(&s, &g) && n->nrange < RANGES &&
			(g.io || g.base + g.size - 1 > LEGACY_END)) {
			n->range[n->nrange++] = g;
		}
		s = pcie_skip(word + strcspn(word, " "));
	}
}

/* CUT: the text may go on in the middle of S's last word. */
static void take_property(struct node *n, const char *s, bool cut)
{
	const char *v;
	uint64_t x;
	size_t len;

	if ((v = pcie_after(s, "bus info: "))) {
		v = pcie_after(pcie_skip(v), "pci@");
		n->addr.known = v && pcie_addr_scan(v, &n->addr) > 0;
	} else if ((v = pcie_after(s, "description: "))) {
		n->class_code = pcie_class_from_name(v, strlen(v));
	} else if ((v = pcie_after(s, "product: "))) {
		take_numbers(v, NULL, &n->device);
		text_copy(n->product, sizeof(n->product), v);
		char *numbers = n->device ? strrchr(n->product, '[') : NULL;
		if (numbers && numbers > n->product && numbers[-1] == ' ') {
			numbers[-1] = '\0';
		}
	} else if ((v = pcie_after(s, "vendor: "))) {
		n->vendor = pcie_vendor_from_name(v, &len);
		take_numbers(v, &n->vendor, NULL);
	} else if ((v = pcie_after(s, "version: "))) {
		n->has_revision = hex(&v, &x) && x <= 255 && *v == '\0';
		n->revision = n->has_revision ? (unsigned)x : 0;
	} else if ((v = pcie_after(s, "configuration: "))) {
		const char *d = strstr(v, "driver=");
		len = d ? strcspn(d + 7, " ") : 0;
		if (len > 0 && len < sizeof(n->driver) && !(cut && d[7 + len] == '\0')) {
			memcpy(n->driver, d + 7, len);
			n->driver[len] = '\0';
		}
	} else if ((v = pcie_after(s, "resources: "))) {
		take_resources(n, pcie_skip(v));
	}
}

static void add_bars(struct pcie_device *d, const struct node *n, pcie_src src)
{
	size_t last = n->nrange;
	/* The ROM stands last, and nothing tells it from a small BAR. */
	if (last > 0 && !n->range[last - 1].io && n->range[last - 1].size <= ROM_MAX) {
		last--;
	}
	for (size_t i = 0; i < last && d->nbar < PCIE_BARS; i++) {
		const struct range *g = &n->range[i];
		if (g->size & (g->size - 1)) {
			continue; /* no BAR has such a length */
		}
		d->bar[d->nbar++] = (struct pcie_bar){
			.have = PCIE_KNOWN,
			.src = src,
			.kind = PCIE_BAR_NORMAL,
			.index = -1,
			.io = g->io,
			.has_base = g->base > 0,
			.base = g->base,
			.has_size = true,
			.size = g->size,
			.assigned = g->base ? PCIE_YES : PCIE_NO,
		};
	}
}

static void finish_node(struct reader *r)
{
	struct node *n = &r->node;
	if (n->addr.known) {
		int i = pcie_snapshot_find(r->s, n->addr);
		struct pcie_device *d = i >= 0 ? &r->s->dev[i] : pcie_snapshot_add(r->s, n->addr);
		d->nbar = 0; /* listed twice: the last one counts */
		if (n->class_code >= 0) {
			d->have_class = PCIE_KNOWN;
			d->class_code = (uint32_t)n->class_code << 8;
			d->class_no_progif = true;
		}
		if (n->vendor) {
			d->have_ids = PCIE_KNOWN;
			d->ids_src = r->src;
			d->vendor = n->vendor;
			d->device = n->device;
		}
		d->revision = (uint8_t)n->revision;
		text_copy(d->name, sizeof(d->name), n->product);
		if (n->driver[0] || n->unclaimed) {
			d->have_driver = n->driver[0] ? PCIE_KNOWN : PCIE_ABSENT;
			d->driver_src = r->src;
			text_copy(d->driver, sizeof(d->driver), n->driver);
		}
		if (n->class_code >> 8 != CLASS_BRIDGE) {
			add_bars(d, n, r->src);
		}
		r->said++;
	}
	*n = (struct node){.class_code = -1};
}

static bool begins_range(const char *s)
{
	return pcie_after(s, "memory:") || pcie_after(s, "ioport:") || pcie_after(s, "irq:");
}

/* Does S go on with BEFORE, a line of resources or (SETTINGS) of the configuration? */
static bool is_rest(const struct pcie_line *before, const char *s, bool settings)
{
	static const char *const other[] = {"bus info:", "logical name:", "physical id:"};
	size_t word = strcspn(s, " ");
	if (begins_range(s)) {
		return !settings;
	}
	if (before->width < WRAPPED_FROM || word == 0 || s[word - 1] == ':' ||
		pcie_lshw_is_start(s)) {
		return false;
	}
	for (size_t i = 0; i < ARRAY_LEN(other); i++) {
		if (pcie_after(s, other[i])) {
			return false;
		}
	}
	/* the rest of a range has digits and little else */
	return settings || (strspn(s, "0123456789abcdef-()=sizeoprtmyq:") == word &&
				   strcspn(s, "0123456789") < word);
}

/* Line I and the rest of it; returns the lines taken. */
static size_t join(const struct pcie_lines *l, size_t i, struct text *out)
{
	const char *s = pcie_skip(l->line[i].s);
	bool settings = pcie_after(s, "configuration:");
	size_t n = 1;
	out->len = 0;
	text_add(out, s);
	while ((settings || pcie_after(s, "resources:")) && n < PIECES && i + n < l->n) {
		const char *t = pcie_skip(l->line[i + n].s);
		if (!is_rest(&l->line[i + n - 1], t, settings)) {
			break;
		}
		/* cut between two words, else inside of one */
		bool word = settings ? strcspn(t, "=") < strcspn(t, " ") : begins_range(t);
		text_add(out, word ? " " : "");
		text_add(out, t);
		n++;
	}
	return n;
}

size_t pcie_lshw_parse(struct pcie_snapshot *s, const struct pcie_lines *l, pcie_src src)
{
	struct reader r = {.s = s, .src = src, .node = {.class_code = -1}};
	struct text t = {0};

	for (size_t i = 0; i < l->n;) {
		const char *line = pcie_skip(l->line[i].s);
		if (is_node(line) || (is_description(line) && r.node.addr.known)) {
			finish_node(&r);
			r.node.unclaimed = strstr(line, " UNCLAIMED") != NULL;
		}
		size_t n = join(l, i, &t);
		bool last = i + n == l->n, wide = l->line[i + n - 1].width >= WRAPPED_FROM;
		take_property(&r.node, t.s, last && (l->cut || wide));
		i += n;
	}
	finish_node(&r);
	text_finish(&t);
	return r.said;
}
