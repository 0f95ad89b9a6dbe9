/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pcie/klog.h"

#include <limits.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/macros.h"
#include "pcie/klog_state.h"

struct pcie_device *klog_dev(struct klog *k, uint32_t dev)
{
	return &k->snap->dev[dev];
}

static uint32_t add_device(struct klog *k, struct pcie_addr a)
{
	if (k->snap->ndev >= KLOG_MAX_DEVICES) {
		k->full = true;
		return KLOG_NO_DEVICE;
	}
	k->dev = xgrow(k->dev, k->snap->ndev, &k->capdev, sizeof(*k->dev));
	k->dev[k->snap->ndev] = (struct klog_device){0};
	pcie_snapshot_add(k->snap, a);
	return (uint32_t)k->snap->ndev - 1;
}

uint32_t klog_device(struct klog *k, struct pcie_addr a)
{
	klog_fact(k);
	if (k->last_dev < k->snap->ndev && !pcie_addr_compare(k->snap->dev[k->last_dev].addr, a)) {
		return k->last_dev;
	}
	int i = pcie_snapshot_find(k->snap, a);
	k->last_dev = i >= 0 ? (uint32_t)i : add_device(k, a);
	return k->last_dev;
}

uint32_t klog_orphan(struct klog *k, enum klog_maker maker)
{
	klog_fact(k);
	if (k->orphan[maker] == KLOG_NO_DEVICE) {
		k->orphan[maker] = add_device(k, (struct pcie_addr){0});
	}
	return k->orphan[maker];
}

uint32_t klog_machine(struct klog *k)
{
	return klog_orphan(k, KLOG_NO_MAKER);
}

static void drop_cite(struct klog_cite *c)
{
	if (c->owned) {
		free((char *)c->s);
	}
	*c = (struct klog_cite){0};
}

static struct klog_cite cite_of(const struct klog *k)
{
	const struct klog_message *m = &k->msg;
	return (struct klog_cite){
		.s = m->joined ? xstrndup(m->whole, m->len) : m->whole,
		.len = (uint32_t)MIN(m->len, UINT32_MAX),
		.order = k->order,
		.owned = m->joined,
	};
}

void klog_cite(struct klog *k, struct klog_cites *c)
{
	if (c->n && c->cite[c->n - 1].order == k->order) {
		return;
	}
	if (c->n == KLOG_MAX_CITES) {
		drop_cite(&c->cite[KLOG_KEEP_FIRST]);
		memmove(&c->cite[KLOG_KEEP_FIRST], &c->cite[KLOG_KEEP_FIRST + 1],
			(c->n - KLOG_KEEP_FIRST - 1) * sizeof(*c->cite));
		c->n--;
	}
	c->cite = xgrow(c->cite, c->n, &c->cap, sizeof(*c->cite));
	c->cite[c->n++] = cite_of(k);
}

void klog_say(struct klog *k, uint32_t dev, enum pcie_statement_kind kind, uint64_t value)
{
	if (dev == KLOG_NO_DEVICE) {
		return;
	}
	k->used = true;
	struct klog_device *d = &k->dev[dev];
	struct klog_statement *st;
	if (d->said[kind] == KLOG_MAX_SAID) {
		st = &k->statement[d->last_said[kind]];
		drop_cite(&st->cite);
	} else {
		d->said[kind]++;
		k->statement =
			xgrow(k->statement, k->nstatement, &k->capstatement, sizeof(*k->statement));
		d->last_said[kind] = (uint32_t)k->nstatement;
		st = &k->statement[k->nstatement++];
	}
	*st = (struct klog_statement){.kind = kind, .dev = dev, .value = value, .cite = cite_of(k)};
}

/* Boots. */

void klog_forget(struct klog *k)
{
	for (size_t i = 0; i < k->nresource; i++) {
		struct klog_cites *c = &k->resource[i].cites;
		for (uint32_t n = 0; n < c->n; n++) {
			drop_cite(&c->cite[n]);
		}
		free(c->cite);
	}
	for (size_t i = 0; i < k->nstatement; i++) {
		drop_cite(&k->statement[i].cite);
	}
	k->nresource = k->nstatement = k->nroot = 0;
	pcie_snapshot_destroy(k->snap);
	k->snap = pcie_snapshot_create("");
	k->last_dev = k->bridge = k->nvrm = k->shell = k->boot_vga = KLOG_NO_DEVICE;
	k->open_root = k->again_root = KLOG_NO_DEVICE;
	memset(k->behind, 0xff, sizeof(k->behind));
	memset(k->ctx, 0xff, sizeof(k->ctx));
	memset(k->orphan, 0xff, sizeof(k->orphan));
	k->pending_ids = k->gpu_driver_seen = k->nocrs = k->has_acpi_root = false;
}

void klog_start(struct klog *k, enum klog_mark mark)
{
	if (k->boots && k->mark == KLOG_MARK_JOURNAL && mark == KLOG_MARK_VERSION &&
		k->since_start < 16) {
		return; /* "-- Boot … --" and "Linux version" of one start */
	}
	k->since_start = 0;
	k->mark = mark;
	if (k->facts) {
		k->kept_host = k->host;
		k->kept_seen = k->seen;
		k->new_boot = true;
		if (k->boots == 0) {
			k->boots = 1; /* whose start was not in the text */
		}
	}
	k->boots++;
	k->facts = false;
	k->host = (struct pcie_host){0};
	k->seen = 0;
}

void klog_fact(struct klog *k)
{
	if (k->new_boot) {
		klog_forget(k);
		k->new_boot = false;
	}
	k->facts = true;
	k->used = true;
}

/* Lines of one boot that were pasted before its log, as the output of grep: no second boot. */
static void same_boot(struct klog *k)
{
	const struct klog_message *m = &k->msg;
	if (!k->used || !m->stamp.any || m->joined) {
		return;
	}
	if (k->boots < 2) {
		k->before = m->whole;
		k->before_len = m->len;
	} else if (k->boots == 2 && k->before && k->before_len == m->len &&
		   !memcmp(k->before, m->whole, m->len)) {
		k->boots = 1;
	}
}

/* Dispatch. */

/* "DRIVER DDDD:BB:DD.F: text". */
static bool device_line(struct klog *k, const char *s)
{
	const char *p = s;
	while ((unsigned char)((*p | 0x20) - 'a') < 26 || klog_digit(*p) || *p == '_' ||
		*p == '-') {
		p++;
	}
	size_t len = (size_t)(p - s);
	if (len == 0 || len > 31 || *p++ != ' ') {
		return false;
	}
	struct pcie_addr a;
	int n = pcie_addr_scan(p, &a);
	if (n < 0 || p[n] != ':') {
		return false;
	}
	p += n + 1;
	while (*p == ' ') {
		p++;
	}
	uint32_t dev = klog_device(k, a);
	if (dev == KLOG_NO_DEVICE) {
		return true;
	}
	bool core = (len == 3 && !memcmp(s, "pci", 3)) || (len == 8 && !memcmp(s, "pcieport", 8));
	if (!core || len == 8) {
		struct pcie_device *d = klog_dev(k, dev);
		d->have_driver = PCIE_KNOWN;
		d->driver_src = k->src;
		memcpy(d->driver, s, len);
		d->driver[len] = '\0';
	}
	enum klog_maker maker = core ? KLOG_NO_MAKER : klog_driver_maker(s, len);
	if (maker != KLOG_NO_MAKER) {
		klog_driver_speaks(k, dev, maker);
	}
	klog_list_check(k, dev, p);
	return klog_resource_message(k, dev, p, !core) || klog_device_message(k, dev, p) ||
	       klog_legacy_window(k, dev, p) || klog_root_added(k, dev, p) ||
	       klog_driver_message(k, dev, p);
}

static void message(struct klog *k, const char *s)
{
	if (s[0] == 'p' && klog_eat(&s, "pci_bus ")) {
		klog_bus_message(k, s);
		return;
	}
	klog_root_list_ends(k, false);
	switch (s[0]) {
	case 'N':
		if (klog_eat(&s, "NVRM: ")) {
			klog_nvrm_message(k, s);
			return;
		}
		break;
	case '[':
		if (!strncmp(s, "[drm", 4)) {
			klog_drm_message(k, s);
			return;
		}
		break;
	default:
		break;
	}
	if (device_line(k, s)) {
		return;
	}
	(void)(klog_pci_message(k, s) || klog_drm_message(k, s) || klog_legacy_message(k, s) ||
		klog_shell_message(k, s) || klog_iommu_message(k, s) || klog_host_message(k, s));
}

int pcie_klog_parse(const struct pcie_lines *lines, struct pcie_snapshot *into, pcie_src src)
{
	struct klog k = {.src = src};
	struct klog_reader reader = {.lines = lines};
	klog_forget(&k);
	while (klog_next(&reader, &k.msg)) {
		if (k.msg.stamp.gap) {
			klog_root_list_ends(&k, true);
			k.bridge = k.nvrm = KLOG_NO_DEVICE;
		}
		k.used = false;
		k.order++;
		k.since_start++;
		message(&k, k.msg.s);
		same_boot(&k);
		if (k.used && k.lines < INT_MAX) {
			k.lines++;
		}
	}
	klog_reader_finish(&reader);
	klog_finish(&k, into);
	klog_forget(&k);
	pcie_snapshot_destroy(k.snap);
	free(k.dev);
	free(k.resource);
	free(k.statement);
	free(k.root);
	return k.lines;
}

bool pcie_klog_is_line(const char *s, size_t len)
{
	if (len < 8) {
		return false;
	}
	struct klog_stamp stamp;
	const char *m = s + klog_prefix(s, &stamp);
	if (stamp.kernel) {
		return *m != '\0';
	}
	if (stamp.has_time) {
		/* Xorg's log has brackets too, with three decimals and a mark behind. */
		return *m != '(' && *m != '\0';
	}
	return klog_begins(m);
}
