/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pcie/sysfs_text.h"

#include <string.h>

#include "base/macros.h"
#include "base/text.h"
#include "pcie/attrs.h"
#include "pcie/chars.h"
#include "pcie/rebar.h"

enum { PATH_LINE_MAX = 512, RESIZE_DIGITS = 16, NAME_MAX_LEN = 32 };

/* A file that a line names. */
struct file {
	struct pcie_addr addr;
	const struct pcie_attr *attr;
	bool grep;        /* its value stands behind the name */
	const char *rest; /* what stands there, in BUF */
	char buf[PATH_LINE_MAX];
};

/* The name at S, up to what cannot belong to it. */
static const char *scan_name(const char *s, const struct pcie_attr **ret)
{
	char name[NAME_MAX_LEN];
	size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789_");

	if (n == 0 || n >= sizeof(name)) {
		return NULL;
	}
	memcpy(name, s, n);
	name[n] = '\0';
	*ret = pcie_attr_find(name);
	bool shape = *ret && (*ret)->kind == PCIE_ATTR_TEXT && (*ret)->parse && !(*ret)->source;
	/* any text would do for a version */
	return shape && strcmp(name, "vbios_version") != 0 ? s + n : NULL;
}

/* Behind the command that shows a file: "cat ", "sudo cat ". */
static const char *behind_cat(const char *s)
{
	s = pcie_skip(s);
	const char *rest = pcie_after(s, "sudo ");
	rest = pcie_after(pcie_skip(rest ? rest : s), "cat ");
	return rest ? pcie_skip(rest) : NULL;
}

/* The folders below "/sys/…/": the last one that is an address is the device. */
static const char *scan_folders(const char *s, struct pcie_addr *ret)
{
	for (ret->known = false; *s;) {
		struct pcie_addr a;
		int used = pcie_addr_scan(s, &a);
		size_t n = used > 0 ? (size_t)used : !strncmp(s, "pci", 3) ? strcspn(s, "/ ") : 0;
		if (n == 0) {
			break;
		}
		if (used > 0) {
			*ret = a;
		}
		s += n;
		if (*s != '/') {
			break;
		}
		s++;
	}
	return s;
}

static bool scan_file(const char *s, struct file *ret)
{
	size_t n = 0;
	if (!strstr(s, "/sys/") || strlen(s) >= sizeof(ret->buf)) {
		return false;
	}
	for (; *s; s++) { /* "0000\:03\:00.0", as shells complete it */
		if (!(*s == '\\' && s[1] == ':')) {
			ret->buf[n++] = *s;
		}
	}
	ret->buf[n] = '\0';

	const char *at = strstr(ret->buf, "/sys/"), *bus = pcie_after(at, "/sys/bus/pci/devices/");
	const char *dev = pcie_after(at, "/sys/devices/");
	if ((!bus && !dev) || strstr(at + 1, "/sys/")) {
		return false; /* or several files at once */
	}
	at = scan_folders(bus ? bus : dev, &ret->addr);
	if (!ret->addr.known) {
		return false;
	}
	if (*at == '#' || *at == '$') { /* the shell stands there */
		at = behind_cat(at + 1);
	}
	at = at ? scan_name(at, &ret->attr) : NULL;
	if (!at || (*at && !strchr(": \t\"'`|)", *at))) {
		return false;
	}
	ret->grep = *at == ':';
	ret->rest = pcie_skip(at + ret->grep);
	return true;
}

bool pcie_sysfs_text_is_start(const char *s)
{
	struct file f;
	return scan_file(s, &f);
}

struct reader {
	struct pcie_snapshot *s;
	pcie_src src;
	struct file f;
	bool open; /* F is known, and its value may go on */
	struct text value;
	size_t said;
};

/* The value is complete: into its device. */
static void finish_value(struct reader *r)
{
	if (r->open && r->value.len > 0) {
		int dev = pcie_snapshot_find(r->s, r->f.addr);
		if (dev < 0) {
			pcie_snapshot_add(r->s, r->f.addr);
			dev = (int)r->s->ndev - 1;
		}
		r->f.attr->parse(&r->s->dev[dev], r->src, r->f.attr->arg, r->value.s);
		r->said++;
	}
	r->open = false;
	text_finish(&r->value);
	r->value = (struct text){0};
}

/* Is S a line of the file, and not what somebody writes below it? */
static bool is_value(const struct pcie_attr *attr, const char *s)
{
	if (!strcmp(attr->name, "resource")) {
		return pcie_after(s, "0x") != NULL;
	}
	if (strstr(attr->name, "_resize")) {
		size_t n = strspn(s, "0123456789abcdef");
		return n == RESIZE_DIGITS && !s[n];
	}
	return *s >= '0' && *s <= '9';
}

static void take_value(struct reader *r, const char *s)
{
	if (!r->open || !is_value(r->f.attr, s)) {
		finish_value(r);
		return;
	}
	text_addf(&r->value, "%s\n", s);
	if (strcmp(r->f.attr->name, "resource") != 0) { /* which has a line for each */
		finish_value(r);
	}
}

static void take_line(struct reader *r, const char *s)
{
	struct file f;
	if (!scan_file(s, &f)) {
		take_value(r, pcie_skip(s));
		return;
	}
	bool same =
		r->open && f.grep && f.attr == r->f.attr && !pcie_addr_compare(f.addr, r->f.addr);
	if (!same) {
		finish_value(r);
		r->f = f;
		r->open = true;
	}
	if (f.grep) {
		take_value(r, f.rest);
	}
}

size_t pcie_sysfs_text_parse(struct pcie_snapshot *s, const struct pcie_lines *lines, pcie_src src)
{
	struct reader r = {.s = s, .src = src};

	for (size_t i = 0; i < lines->n; i++) {
		if (lines->line[i].len > 0) {
			take_line(&r, lines->line[i].s);
		}
	}
	finish_value(&r);
	return r.said;
}

/* May B, which has no number, be the one that E is about? */
static bool may_be(const struct pcie_bar *b, const struct pcie_rebar_entry *e)
{
	return pcie_bar_is_placed(b) && b->index < 0 && pcie_rebar_offers(e->supported, b->size);
}

static void number_bars(struct pcie_device *d)
{
	for (int i = 0; i < d->nbar && d->rebar.have == PCIE_KNOWN; i++) {
		int entries = 0, bars = 0, at = 0;
		for (int e = 0; e < d->rebar.count; e++) {
			if (!d->rebar.entry[e].has_current &&
				may_be(&d->bar[i], &d->rebar.entry[e])) {
				entries++;
				at = e;
			}
		}
		const struct pcie_rebar_entry *e = &d->rebar.entry[at];
		for (int k = 0; k < d->nbar; k++) {
			bars += may_be(&d->bar[k], e);
		}
		if (entries == 1 && bars == 1 &&
			!pcie_device_find_bar(d, PCIE_BAR_NORMAL, e->bar)) {
			d->bar[i].index = (int8_t)e->bar;
		}
	}
}

void pcie_sysfs_text_number_bars(struct pcie_snapshot *s)
{
	for (size_t i = 0; i < s->ndev; i++) {
		number_bars(&s->dev[i]);
	}
}
