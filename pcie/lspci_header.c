/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Header lines: address or path of addresses, class, name, ids, revision; also
 * the ones of -n, of -mm, and those whose address somebody took away.
 */
#include <stdlib.h>
#include <strings.h>

#include "base/text.h"
#include "pcie/lspci_class.h"
#include "pcie/lspci_int.h"

enum { MAX_PATH = 32 };

/* "00:01.0/01:00.0/02:00.0": of -P only the first has a bus. */
struct path {
	struct pcie_addr addr[MAX_PATH];
	bool no_bus[MAX_PATH];
	int n;
};

/* Reads an address or a path at S; returns the characters used, or 0. */
static size_t scan_path(const char *s, struct path *path)
{
	int used = pcie_addr_scan(s, &path->addr[0]);
	if (used < 0) {
		return 0;
	}
	size_t at = (size_t)used;
	path->no_bus[0] = false;
	path->n = 1;
	while (s[at] == '/' && path->n < MAX_PATH) {
		struct pcie_addr a = {.domain = path->addr[0].domain, .known = true}, whole;
		uint64_t dev, fn;
		const char *end;
		bool short_form = false;
		used = pcie_addr_scan(s + at + 1, &whole);
		if (used > 0) {
			a.bus = whole.bus;
			a.dev = whole.dev;
			a.fn = whole.fn;
		} else if (lspci_hex(s + at + 1, &dev, &end) == 2 && *end == '.' && dev < 32 &&
			   lspci_hex(end + 1, &fn, &end) == 1 && fn < 8) {
			a.dev = (uint8_t)dev;
			a.fn = (uint8_t)fn;
			used = (int)(end - s - (long)at - 1);
			short_form = true;
		} else {
			return 0;
		}
		path->addr[path->n] = a;
		path->no_bus[path->n++] = short_form;
		at += 1 + (size_t)used;
	}
	return s[at] == '\0' || pcie_is_blank(s[at]) ? at : 0;
}

/* What stands between address and name: "VGA compatible controller [0300]", "0300", "Class 0300".
 */
struct class_part {
	int code;      /* 16 bits, -1 unknown */
	size_t len;    /* to the colon */
	bool certain;  /* a known name or a number: this is a header */
	bool has_code; /* with a number */
};

static bool four_digits(const char *s, const char *behind, uint64_t *ret)
{
	const char *end;
	return lspci_hex(s, ret, &end) == 4 && (!behind || !strncmp(end, behind, strlen(behind)));
}

static struct class_part scan_class(const char *s)
{
	struct class_part c = {.code = -1};
	uint64_t v;
	const char *colon = strchr(s, ':');
	if (!colon || colon == s || colon - s > 72 || (colon[1] && !pcie_is_blank(colon[1]))) {
		return c;
	}
	c.len = (size_t)(colon - s);
	if (four_digits(s, ":", &v) || (!strncmp(s, "Class ", 6) && four_digits(s + 6, ":", &v)) ||
		(colon[-1] == ']' && c.len > 6 && colon[-6] == '[' &&
			four_digits(colon - 5, "]", &v))) {
		c.code = (int)v;
		c.certain = c.has_code = true;
		return c;
	}
	c.code = pcie_class_from_name(s, c.len);
	c.certain = c.code >= 0;
	return c;
}

/* Of another script: a browser has translated the page. */
static bool is_foreign(char c)
{
	return (unsigned char)c >= 0x80;
}

/* No known class, but the form of one: words that begin with a capital letter. */
static bool looks_like_class(const char *s, size_t len)
{
	if (len < 3 || ((*s < 'A' || *s > 'Z') && !is_foreign(*s))) {
		return false;
	}
	for (size_t i = 0; i < len; i++) {
		char c = s[i];
		bool letter = ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || is_foreign(c);
		if (!letter && !strchr(" -/0123456789()[]", c)) {
			return false;
		}
	}
	return true;
}

bool lspci_is_header(const char *s, size_t len, bool lenient)
{
	struct path path;
	if (len < 10 || pcie_hex_digit(*s) < 0) {
		return false;
	}
	size_t n = scan_path(s, &path);
	if (n == 0) {
		return false;
	}
	s = pcie_skip(s + n);
	if (*s == '"') {
		return true;
	}
	struct class_part c = scan_class(s);
	return c.certain || (lenient && c.len && looks_like_class(s, c.len));
}

/* The bus numbers that -P leaves out, from the bridges that the listing had before. */
static struct pcie_addr resolve_path(
	const struct pcie_snapshot *s, struct path *path, int *ret_parent)
{
	*ret_parent = -1;
	for (int i = 1; i < path->n; i++) {
		int up = pcie_snapshot_find(s, path->addr[i - 1]);
		if (path->no_bus[i]) {
			if (up < 0 || !s->dev[up].secondary) {
				return (struct pcie_addr){0};
			}
			path->addr[i].bus = s->dev[up].secondary;
		}
		*ret_parent = up;
	}
	return path->addr[path->n - 1];
}

/* The last "[10de:2204]". */
static const char *find_ids(const char *s, uint64_t *ret_vendor, uint64_t *ret_device)
{
	const char *found = NULL, *end;
	uint64_t v, d;
	for (const char *p = strchr(s, '['); p; p = strchr(p + 1, '[')) {
		if (lspci_hex(p + 1, &v, &end) == 4 && *end == ':' &&
			lspci_hex(end + 1, &d, &end) == 4 && *end == ']') {
			*ret_vendor = v;
			*ret_device = d;
			found = p;
		}
	}
	return found;
}

/* A header with the pieces that a wrap cut off it. */
struct header {
	char joined[1024];
	size_t len;
	struct lspci_squeezed squeezed;
	size_t lines;
};

static bool closes(const struct pcie_line *l)
{
	return l->len > 0 && (l->s[l->len - 1] == ')' || l->s[l->len - 1] == ']');
}

bool lspci_is_unbalanced(const char *s)
{
	int round = 0, square = 0;
	for (; *s; s++) {
		round += (*s == '(') - (*s == ')');
		square += (*s == '[') - (*s == ']');
	}
	return round > 0 || square > 0;
}

bool lspci_starts_with_address(const char *s)
{
	struct path path;
	return pcie_hex_digit(*s) >= 0 && scan_path(s, &path) > 0;
}

/* May the line be the rest of a header? */
static bool is_header_rest(const struct pcie_line *l)
{
	const char *t = pcie_skip(l->s);
	return l->len > 0 && lspci_word(t) == WORD_NONE && !lspci_is_hex_row(t) &&
	       !lspci_starts_with_address(t);
}

/* The header without blanks, since a wrap may have put some anywhere. */
static const char *squeezed(struct header *h)
{
	h->squeezed.len = 0;
	lspci_squeeze(&h->squeezed, h->joined);
	return h->squeezed.s;
}

/* How far what is there of a header goes: to its end, or is something surely missing? */
enum progress { MISSING, MAY_GO_ON, WHOLE };

static enum progress progress(struct header *h)
{
	uint64_t vendor, device;
	const char *s = h->joined, *q = squeezed(h);
	bool ids = find_ids(q, &vendor, &device) != NULL;

	if (!strchr(s, ':') || lspci_is_unbalanced(s) || (strstr(s, "]:") && !ids)) {
		return MISSING;
	}
	return ids || strstr(q, "(rev") ? WHOLE : MAY_GO_ON;
}

/* "[10de:" and "2204]", "[0108" and "]:" belong together, words do not. */
static bool is_torn_number(const char *joined, const char *rest)
{
	static const char digits[] = "0123456789abcdefABCDEF:";
	const char *open = strrchr(joined, '[');
	if (!open || strchr(open, ']') || open[1 + strspn(open + 1, digits)]) {
		return false;
	}
	char last = open[strlen(open) - 1];
	return last == '[' || last == ':' || rest[strspn(rest, digits)] == ']';
}

/* Appends a piece, as much as there is room for. */
static void append(struct header *h, const char *s)
{
	bool inside = h->len > 0 && is_torn_number(h->joined, s);
	if (h->len > 0 && *s && !inside && h->len + 1 < sizeof(h->joined)) {
		h->joined[h->len++] = ' ';
	}
	size_t n = strnlen(s, sizeof(h->joined) - 1 - h->len);
	memcpy(h->joined + h->len, s, n);
	h->len += n;
	h->joined[h->len] = '\0';
}

/*
 * The pieces of the header at AT, whose first is in H: those up to the one that closes a
 * bracket or parenthesis, or up to the first line of the device's details. A name without
 * either, in a listing without details, ends where its line does; behind ids or a revision
 * there is nothing but what stands in parentheses.
 */
static void gather_rest(const struct pcie_lines *l, size_t at, struct header *h)
{
	size_t len = h->len;
	bool may_close = false;

	h->lines = 1;
	for (size_t n = 1; n < LSPCI_PIECES && at + n < l->n; n++) {
		const struct pcie_line *next = &l->line[at + n];
		const char *t = pcie_skip(next->s);
		if (next->len > 0 && !is_header_rest(next)) {
			if (lspci_word(t) != WORD_NONE) {
				h->lines = n;
				return;
			}
			break;
		}
		enum progress now = progress(h);
		may_close = may_close || now == MISSING || l->line[at].len >= LSPCI_NARROW;
		if (next->len == 0 && now == MISSING && lspci_is_seam(l, at + n)) {
			continue;
		}
		if (next->len == 0 || (now == WHOLE && *t != '(')) {
			break;
		}
		append(h, t);
		if (may_close && closes(next)) {
			h->lines = n + 1;
			len = h->len;
		}
	}
	h->joined[len] = '\0';
	h->len = len;
}

static void gather(const struct pcie_lines *l, size_t at, const char *s, struct header *h)
{
	h->len = 0;
	/* nothing behind the address: the class is in the next line */
	bool below = !*s && at + 1 < l->n && scan_class(pcie_skip(l->line[at + 1].s)).certain;
	if (below) {
		at++;
		s = pcie_skip(l->line[at].s);
	}
	h->joined[0] = '\0';
	append(h, s);
	gather_rest(l, at, h);
	h->lines += below;
}

static void set_ids(struct pcie_device *d, pcie_src src, uint64_t vendor, uint64_t device)
{
	d->have_ids = PCIE_KNOWN;
	d->ids_src = src;
	d->vendor = (uint16_t)vendor;
	d->device = (uint16_t)device;
}

/* Ids that a listing without -nn gives away: a known vendor's name, "Device 20b2". */
static void ids_from_name(struct pcie_device *d, pcie_src src)
{
	size_t len = 0;
	uint16_t vendor = pcie_vendor_from_name(d->name, &len);
	size_t n = strlen(d->name);
	uint64_t device = 0;
	const char *end;

	if (n > 11 && !strncasecmp(d->name + n - 11, "device ", 7) &&
		lspci_hex(d->name + n - 4, &device, &end) == 4 && !*end) {
		set_ids(d, src, vendor, device);
	} else if (vendor) {
		set_ids(d, src, vendor, 0);
	}
}

/* Name, ids, revision and interface: what stands behind the class's colon. */
static void parse_rest(struct pcie_device *d, struct header *h, size_t name_at, pcie_src src)
{
	uint64_t vendor, device, v;
	const char *end;
	const char *name = pcie_skip(h->joined + name_at);
	const char *ids = find_ids(name, &vendor, &device);
	const char *rev = strstr(name, "(rev "), *prog = strstr(name, "(prog-if");

	end = name + strlen(name);
	end = ids && ids < end ? ids : end;
	end = rev && rev < end ? rev : end;
	end = prog && prog < end ? prog : end;
	while (end > name && pcie_is_blank(end[-1])) {
		end--;
	}
	size_t len = MIN((size_t)(end - name), sizeof(d->name) - 1);
	memcpy(d->name, name, len);
	d->name[len] = '\0';

	/* blanks may stand anywhere when it was wrapped; else they are where lspci has them */
	bool tidy = h->lines == 1 && (ids || !strchr(name, ':'));
	const char *q = tidy ? name : squeezed(h);
	if (tidy ? ids != NULL : find_ids(q, &vendor, &device) != NULL) {
		set_ids(d, src, vendor, device);
	} else if (four_digits(d->name, ":", &vendor) && four_digits(d->name + 5, NULL, &device) &&
		   len == 9) {
		set_ids(d, src, vendor, device);
		d->name[0] = '\0';
	} else {
		ids_from_name(d, src);
	}

	rev = strstr(q, "(rev");
	prog = strstr(q, "(prog-if");
	prog = prog ? pcie_skip(prog + 8) : NULL;
	if (rev && lspci_hex(pcie_skip(rev + 4), &v, &end) == 2 && *end == ')') {
		d->revision = (uint8_t)v;
		d->config_gone = v == 0xff && prog && pcie_after(prog, "ff)");
	}
	if (prog && lspci_hex(prog, &v, &end) >= 2 && d->have_class == PCIE_KNOWN) {
		lspci_hex((char[]){prog[0], prog[1], '\0'}, &v, &end);
		d->class_code |= (uint32_t)v & 0xff;
		d->class_no_progif = false;
	}
}

/* One field of -mm: "name [id]"; returns behind it, or NULL. */
static const char *machine_field(const char *s, char *buf, size_t size, int *ret_id)
{
	uint64_t v;
	const char *end = *s == '"' ? strchr(s + 1, '"') : NULL;
	if (!end) {
		return NULL;
	}
	size_t n = MIN((size_t)(end - s - 1), size - 1);
	memcpy(buf, s + 1, n);
	buf[n] = '\0';
	*ret_id = -1;
	if (n == 4 && four_digits(buf, NULL, &v)) {
		*ret_id = (int)v;
	} else if (n > 6 && buf[n - 1] == ']' && buf[n - 6] == '[' &&
		   four_digits(buf + n - 5, "]", &v)) {
		*ret_id = (int)v;
		buf[n - 6] = '\0';
	}
	return pcie_skip(end + 1);
}

static void set_class(struct pcie_device *d, int code)
{
	if (code >= 0) {
		d->have_class = PCIE_KNOWN;
		d->class_code = (uint32_t)code << 8;
		d->class_no_progif = true;
		d->is_bridge = code == 0x0604 || code == 0x0609;
	}
}

/* lspci -mm: "class" "vendor" "device" -rXX -pXX "subvendor" "subdevice" */
static void parse_machine(struct pcie_device *d, const char *s, pcie_src src)
{
	char class[128], vendor[128], device[128];
	int class_id, vendor_id, device_id;

	s = machine_field(s, class, sizeof(class), &class_id);
	s = s ? machine_field(s, vendor, sizeof(vendor), &vendor_id) : NULL;
	s = s ? machine_field(s, device, sizeof(device), &device_id) : NULL;
	if (!s) {
		return;
	}
	set_class(d, class_id >= 0 ? class_id : pcie_class_from_name(class, strlen(class)));
	struct text name = {0};
	text_add(&name, vendor_id >= 0 && vendor[4] == '\0' ? "" : text_trim(vendor));
	text_add(&name, name.len ? " " : "");
	text_add(&name, device_id >= 0 && device[4] == '\0' ? "" : text_trim(device));
	text_copy(d->name, sizeof(d->name), name.s);
	text_finish(&name);
	if (vendor_id >= 0 || device_id >= 0) {
		set_ids(d, src, vendor_id >= 0 ? (uint64_t)vendor_id : 0,
			device_id >= 0 ? (uint64_t)device_id : 0);
	} else {
		ids_from_name(d, src);
	}
}

static void open_header(struct pcie_lspci *p, struct pcie_addr addr, int parent)
{
	lspci_open(p, addr, false);
	p->about.known = false;
	p->b.d.parent = parent;
	p->headers++;
}

/* "VGA compatible controller: …" without an address: only where a device's lines follow. */
static size_t take_bare_header(struct pcie_lspci *p, const struct pcie_lines *l, size_t at)
{
	const char *s = pcie_skip(l->line[at].s);
	if (at + 1 >= l->n || (s > l->line[at].s + 1 && s[-1] == '\t')) {
		return 0; /* as far in as the details of a capability */
	}
	struct class_part c = scan_class(s);
	if (!c.certain) {
		return 0;
	}
	struct header h;
	gather(l, at, s, &h);
	enum lspci_word below =
		at + h.lines < l->n ? lspci_word(pcie_skip(l->line[at + h.lines].s)) : WORD_NONE;
	size_t n = 0;
	if (below != WORD_NONE && below != WORD_ELISION) {
		open_header(p, (struct pcie_addr){0}, -1);
		set_class(&p->b.d, c.code);
		parse_rest(&p->b.d, &h, c.len + 1, p->text_src);
		n = h.lines;
	}
	return n;
}

/* Is one of the next two lines at AT of those that stand below a header? */
static bool has_details(const struct pcie_lines *l, size_t at)
{
	for (size_t i = at; i < at + 2 && i < l->n && l->line[i].len > 0; i++) {
		enum lspci_word word = lspci_word(pcie_skip(l->line[i].s));
		if (word != WORD_NONE && word != WORD_ELISION) {
			return true;
		}
	}
	return false;
}

size_t lspci_take_header(struct pcie_lspci *p, const struct pcie_lines *l, size_t at)
{
	const char *s = pcie_skip(l->line[at].s);
	struct path path;

	size_t n = pcie_hex_digit(*s) >= 0 ? scan_path(s, &path) : 0;
	if (n == 0) {
		return *s >= 'A' && *s <= 'Z' ? take_bare_header(p, l, at) : 0;
	}
	s = pcie_skip(s + n);
	struct header h;
	gather(l, at, s, &h);
	/* on the whole of it: behind a long path even the class may be wrapped */
	struct class_part c = scan_class(h.joined);
	bool machine = *s == '"';
	bool may_be = p->headers > 0 || has_details(l, at + h.lines);
	if (!machine && !c.certain && !(may_be && c.len && looks_like_class(s, c.len))) {
		return 0;
	}

	/* the block before is closed first: it may be the bridge that a path needs */
	lspci_close(p, false);
	int parent;
	struct pcie_addr addr = resolve_path(p->s, &path, &parent);
	open_header(p, addr, parent);
	if (machine) {
		parse_machine(&p->b.d, s, p->text_src);
		return 1;
	}
	set_class(&p->b.d, c.code);
	parse_rest(&p->b.d, &h, c.len + 1, p->text_src);
	return h.lines;
}
