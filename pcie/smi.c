/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pcie/smi.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "pcie/chars.h"
#include "pcie/regs.h"

enum { VENDOR_NVIDIA = 0x10de };

/* The titles whose values are read. */
enum part { PART_OTHER, PART_FB, PART_BAR1, PART_GENERATION, PART_WIDTH };

struct reader {
	struct pcie_snapshot *s;
	pcie_src src;
	int dev;      /* -1: no GPU named yet */
	int nameless; /* the last one of pieces in which none is named, or -1 */
	enum part part, nameless_has;
	bool in_mig;
	size_t mig_indent;
	size_t said;

	/* of /proc/driver/nvidia, which names the address behind them */
	char model[128], vbios[32];
	enum pcie_tri rebar_option;
};

/* "GPU 00000000:02:00.0", also with four digits or none of a domain. */
static bool scan_gpu(const char *s, struct pcie_addr *ret)
{
	s = pcie_after(s, "GPU ");
	if (!s) {
		return false;
	}
	int n = pcie_addr_scan(s, ret);
	return n > 0 && (s[n] == '\0' || s[n] == ' ');
}

/*
 * "Unable to determine the device handle for GPU 0000:0B:00.0: GPU is lost.", later "for GPU0:
 * 0000:0B:00.0: Unknown Error"; *RET_WHY is what it says in the end.
 */
static bool scan_lost(const char *s, struct pcie_addr *ret, const char **ret_why)
{
	s = pcie_after(s, "Unable to determine the device handle for GPU");
	if (!s) {
		return false;
	}
	s += strspn(s, "0123456789");
	s += strspn(s, ": ");
	int n = pcie_addr_scan(s, ret);
	if (n < 0 || s[n] != ':') {
		return false;
	}
	*ret_why = pcie_skip(s + n + 1);
	return true;
}

/* The address in a row of the table, behind a '|'. */
static bool scan_row(const char *s, struct pcie_addr *ret)
{
	for (s = strchr(s + 1, '|'); s; s = strchr(s + 1, '|')) {
		const char *t = pcie_skip(s + 1);
		int n = pcie_addr_scan(t, ret);
		if (n >= 16 && t[n] == ' ') {
			return true;
		}
	}
	return false;
}

bool pcie_smi_is_start(const char *s)
{
	struct pcie_addr a;
	const char *v, *why;

	s = pcie_skip(s);
	switch (*s) {
	case '=':
		return strstr(s, "=NVSMI LOG=") != NULL;
	case 'A':
		return pcie_after(s, "Attached GPUs ") && strchr(s, ':');
	case 'B':
		v = pcie_after(s, "Bus Location:");
		return v || pcie_after(s, "BAR1 Memory Usage");
	case 'E':
		return pcie_after(s, "EnableResizableBar:") != NULL;
	case 'F':
		return pcie_after(s, "FB Memory Usage") != NULL;
	case 'G':
		return scan_gpu(s, &a);
	case 'M':
		v = pcie_after(s, "Model:");
		return v && (*v == ' ' || *v == '\t') && (v[1] == ' ' || v[1] == '\t');
	case 'U':
		return scan_lost(s, &a, &why);
	case 'V':
		v = pcie_after(s, "Video BIOS:");
		return v && (*v == ' ' || *v == '\t');
	case '|':
		return scan_row(s, &a);
	default:
		return false;
	}
}

static struct pcie_device *current(struct reader *r)
{
	return r->dev >= 0 ? &r->s->dev[r->dev] : NULL;
}

static void select_device(struct reader *r, struct pcie_addr a)
{
	r->dev = pcie_snapshot_find(r->s, a);
	if (r->dev < 0) {
		pcie_snapshot_add(r->s, a);
		r->dev = (int)r->s->ndev - 1;
	}
	struct pcie_device *d = current(r);
	if (d->have_ids != PCIE_KNOWN) {
		d->have_ids = PCIE_KNOWN;
		d->ids_src = r->src;
		d->vendor = VENDOR_NVIDIA;
	}
	if (d->have_driver == PCIE_UNKNOWN) { /* these tools list no others */
		d->have_driver = PCIE_KNOWN;
		d->driver_src = r->src;
		text_copy(d->driver, sizeof(d->driver), "nvidia");
	}
	r->part = PART_OTHER;
	r->in_mig = false;
}

/* May D, by what is known of it, be a GPU of this vendor? */
static bool may_be_ours(const struct pcie_device *d)
{
	if (!pcie_device_is_gpu(d)) {
		return false;
	}
	return d->vendor ? d->vendor == VENDOR_NVIDIA
			 : !d->driver[0] || !strcmp(d->driver, "nvidia");
}

/*
 * A piece without an address (grep BAR1): the only GPU of this vendor; when there is none,
 * one without address for each piece, in which a part stands once and FB before BAR1.
 */
static void select_only(struct reader *r)
{
	enum part part = r->part;
	int found = -1;
	for (size_t i = 0; i < r->s->ndev && r->nameless < 0; i++) {
		if (may_be_ours(&r->s->dev[i])) {
			if (found >= 0) {
				return;
			}
			found = (int)i;
		}
	}
	if (found < 0 && (r->nameless < 0 || part <= r->nameless_has)) {
		select_device(r, (struct pcie_addr){0});
		r->nameless = r->dev;
		r->part = part;
	}
	r->dev = found >= 0 ? found : r->nameless;
	r->nameless_has = part;
}

/* "11019 MiB", "256MiB" */
static bool parse_mib(const char *s, uint64_t *ret)
{
	char *end;
	if (*s < '0' || *s > '9') {
		return false;
	}
	unsigned long long v = strtoull(s, &end, 10);
	end += *end == ' ';
	if (!pcie_after(end, "MiB") || v == 0 || v > UINT64_MAX >> 20) {
		return false;
	}
	*ret = (uint64_t)v << 20;
	return true;
}

static bool is_not_available(const char *s)
{
	return pcie_after(s, "N/A") || pcie_after(s, "[N/A]") || pcie_after(s, "Not Supported");
}

static void take_vram(struct reader *r, uint64_t bytes, const char *what)
{
	struct pcie_device *d = current(r);
	d->vram.have = PCIE_KNOWN;
	d->vram.src = r->src;
	d->vram.bytes = bytes;
	text_copy(d->vram.what, sizeof(d->vram.what), what);
	d->mig = r->in_mig;
	r->said++;
}

void pcie_smi_note_bar1(struct pcie_snapshot *s, int dev, uint64_t said, uint64_t is)
{
	char a[TEXT_SIZE_MAX], b[TEXT_SIZE_MAX];
	pcie_snapshot_note(s, dev,
		"nvidia-smi gives BAR1 as %s, the BAR itself is %s: two states, the BAR's own length "
		"counts",
		text_size(said, a), text_size(is, b));
}

/* BAR1 is the BAR that maps VRAM, whatever its PCI number. */
static void take_bar1(struct reader *r, uint64_t bytes)
{
	struct pcie_device *d = current(r);
	int i = pcie_device_vram_bar(d);
	struct pcie_bar *b = i >= 0 ? &d->bar[i] : NULL;

	r->said++;
	if (b && b->have == PCIE_KNOWN && b->has_size && b->src != r->src) {
		if (b->size != bytes && !r->in_mig) {
			pcie_smi_note_bar1(r->s, r->dev, bytes, b->size);
		}
		return;
	}
	if (!b && d->nbar < PCIE_BARS) {
		b = &d->bar[d->nbar++];
		*b = (struct pcie_bar){.kind = PCIE_BAR_NORMAL, .index = -1};
	}
	if (b) {
		b->src = b->have == PCIE_KNOWN ? b->src : r->src;
		b->have = PCIE_KNOWN;
		b->has_size = true;
		b->size = bytes;
	}
}

static void take_link(struct reader *r, const char *key, const char *value)
{
	struct pcie_link *link = &current(r)->link;
	char *end;
	unsigned long v = strtoul(value, &end, 10);
	bool own_max = !strcmp(key, "Device Max"); /* of the card, not of card and slot */
	bool max = own_max || !strcmp(key, "Max");

	if (end == value || (!max && strcmp(key, "Current"))) {
		return;
	}
	if (link->have == PCIE_KNOWN && link->src != r->src) {
		return;
	}
	if (r->part == PART_GENERATION && v <= LINK_SPEED_LAST) {
		uint16_t *slot = max ? &link->max_speed : &link->speed;
		*slot = pcie_link_speed((uint32_t)v);
	} else if (r->part == PART_WIDTH && v <= 32) {
		*(max ? &link->max_width : &link->width) = (uint8_t)v;
	} else {
		return;
	}
	link->have = PCIE_KNOWN;
	link->src = r->src;
	r->said++;
}

/* "0x1E0710DE": device and vendor in one number. */
static bool parse_pair(const char *s, uint16_t *ret_vendor, uint16_t *ret_device)
{
	char buf[16];
	uint64_t v;
	text_copy(buf, sizeof(buf), s);
	if (text_parse_u64(buf, 0, &v) < 0 || v > UINT32_MAX || !(v & 0xffff)) {
		return false;
	}
	*ret_vendor = (uint16_t)(v & 0xffff);
	*ret_device = (uint16_t)(v >> 16);
	return true;
}

static void take_identity(struct reader *r, const char *key, const char *value)
{
	struct pcie_device *d = current(r);
	if (!strcmp(key, "Product Name") && !d->name[0]) {
		text_copy(d->name, sizeof(d->name), value);
	} else if (!strcmp(key, "VBIOS Version") && !is_not_available(value)) {
		text_copy(d->vbios, sizeof(d->vbios), value);
	} else if (!strcmp(key, "Device Id") && (d->ids_src == r->src || !d->device)) {
		if (parse_pair(value, &d->vendor, &d->device)) {
			d->have_ids = PCIE_KNOWN;
			d->ids_src = r->src;
		}
	} else if (!strcmp(key, "Sub System Id") && d->have_subsystem != PCIE_KNOWN) {
		if (parse_pair(value, &d->subvendor, &d->subdevice)) {
			d->have_subsystem = PCIE_KNOWN;
		}
	} else {
		return;
	}
	r->said++;
}

static void take_value(struct reader *r, const char *key, const char *value)
{
	uint64_t bytes;
	bool total = !strcmp(key, "Total");

	if (!strcmp(key, "Bus Id") && r->dev < 0) {
		struct pcie_addr a;
		if (pcie_addr_scan(value, &a) > 0) {
			select_device(r, a);
			r->said++;
		}
		return;
	}
	bool nameless = r->dev < 0 || r->dev == r->nameless;
	if (nameless && total && (r->part == PART_FB || r->part == PART_BAR1)) {
		select_only(r);
	}
	if (r->dev < 0) {
		return;
	}
	switch (r->part) {
	case PART_FB:
		if (total && parse_mib(value, &bytes)) {
			take_vram(r, bytes, "FB Memory Usage Total");
		}
		break;
	case PART_BAR1:
		if (total && parse_mib(value, &bytes)) {
			take_bar1(r, bytes);
		} else if (total && is_not_available(value)) {
			current(r)->coherent = true;
			r->said++;
		}
		break;
	case PART_GENERATION:
	case PART_WIDTH:
		take_link(r, key, value);
		break;
	case PART_OTHER:
		take_identity(r, key, value);
		break;
	}
}

static void take_title(struct reader *r, const char *title, size_t indent)
{
	static const struct {
		const char *title;
		enum part part;
	} known[] = {
		{"FB Memory Usage", PART_FB},
		{"BAR1 Memory Usage", PART_BAR1},
		{"PCIe Generation", PART_GENERATION},
		{"Link Width", PART_WIDTH},
	};

	if (pcie_after(title, "MIG Device")) {
		r->in_mig = true;
		r->mig_indent = indent;
	} else if (r->in_mig && indent <= r->mig_indent) {
		r->in_mig = false;
	}
	r->part = PART_OTHER;
	for (size_t i = 0; i < ARRAY_LEN(known); i++) {
		if (!strcmp(title, known[i].title)) {
			r->part = known[i].part;
		}
	}
}

/* "|   0  NVIDIA GeForce RTX 4090        Off |" */
static void take_row_name(struct reader *r, const char *s)
{
	struct pcie_device *d = current(r);
	s = pcie_skip(s + 1);
	size_t digits = strspn(s, "0123456789");
	const char *name = pcie_skip(s + digits), *end = strstr(name, "  ");
	if (digits == 0 || name == s + digits || !end || d->name[0]) {
		return;
	}
	size_t n = MIN((size_t)(end - name), sizeof(d->name) - 1);
	memcpy(d->name, name, n);
	d->name[n] = '\0';
}

/* The table of plain nvidia-smi: address in one row, "1MiB / 24564MiB" in the next. */
static void take_row(struct reader *r, const char *s)
{
	struct pcie_addr a;
	uint64_t bytes;
	if (scan_row(s, &a)) {
		select_device(r, a);
		take_row_name(r, s);
		r->said++;
		return;
	}
	const char *slash = strstr(s, "MiB /");
	if (slash && r->dev >= 0 && parse_mib(pcie_skip(slash + 5), &bytes)) {
		take_vram(r, bytes, "nvidia-smi Memory-Usage");
		r->dev = -1; /* further rows are about processes */
	}
}

/* /proc/driver/nvidia: "Model: ", "Video BIOS: ", then "Bus Location: ". */
static bool take_proc(struct reader *r, const char *key, const char *value)
{
	struct pcie_addr a;
	if (!strcmp(key, "Model")) {
		text_copy(r->model, sizeof(r->model), value);
	} else if (!strcmp(key, "Video BIOS")) {
		text_copy(r->vbios, sizeof(r->vbios), value);
	} else if (!strcmp(key, "EnableResizableBar")) {
		r->rebar_option = *value == '1'   ? PCIE_YES
				  : *value == '0' ? PCIE_NO
						  : PCIE_TRI_UNKNOWN;
		r->said++;
	} else if (!strcmp(key, "Bus Location") && pcie_addr_scan(value, &a) > 0) {
		select_device(r, a);
		struct pcie_device *d = current(r);
		if (!d->name[0]) {
			memcpy(d->name, r->model, sizeof(d->name));
		}
		if (!d->vbios[0] && !strchr(r->vbios, '?')) {
			memcpy(d->vbios, r->vbios, sizeof(d->vbios));
		}
		r->model[0] = r->vbios[0] = '\0';
		r->said++;
	} else {
		return false;
	}
	return true;
}

static void take_line(struct reader *r, const char *line)
{
	const char *s = pcie_skip(line);
	const char *colon = strchr(s, ':');
	struct pcie_addr a;
	char key[64];

	const char *why;
	if (scan_gpu(s, &a)) {
		select_device(r, a);
		r->said++;
		return;
	}
	if (scan_lost(s, &a, &why)) {
		select_device(r, a);
		pcie_snapshot_note(r->s, r->dev,
			"nvidia-smi cannot reach it: '%s'; it fell off the bus, or its driver did not start",
			why);
		r->dev = -1;
		r->said++;
		return;
	}
	if (*s == '|') {
		take_row(r, s);
		return;
	}
	if (!colon) {
		take_title(r, s, (size_t)(s - line));
		return;
	}
	size_t n = MIN((size_t)(colon - s), sizeof(key) - 1);
	while (n > 0 && (s[n - 1] == ' ' || s[n - 1] == '\t')) {
		n--;
	}
	memcpy(key, s, n);
	key[n] = '\0';
	const char *value = pcie_skip(colon + 1);
	if (*value && !take_proc(r, key, value)) {
		take_value(r, key, value);
	}
}

static void set_option(struct reader *r)
{
	for (size_t i = 0; i < r->s->ndev && r->rebar_option; i++) {
		struct pcie_device *d = &r->s->dev[i];
		if (!pcie_device_is_gpu(d) || d->vendor != VENDOR_NVIDIA ||
			d->noption == PCIE_OPTIONS) {
			continue;
		}
		struct pcie_option *o = &d->option[d->noption++];
		o->src = r->src;
		text_copy(o->name, sizeof(o->name), "EnableResizableBar");
		text_copy(o->value, sizeof(o->value), r->rebar_option == PCIE_YES ? "1" : "0");
	}
}

size_t pcie_smi_parse(struct pcie_snapshot *s, const struct pcie_lines *lines, pcie_src src)
{
	struct reader r = {.s = s, .src = src, .dev = -1, .nameless = -1};

	for (size_t i = 0; i < lines->n; i++) {
		if (lines->line[i].len > 0) {
			take_line(&r, lines->line[i].s);
		}
	}
	set_option(&r);
	return r.said;
}
