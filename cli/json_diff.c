/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/diff.h"

static void set_device(struct js *o, const struct pcie_device *d)
{
	char addr[PCIE_ADDR_MAX];
	if (d->addr.known) {
		js_set_str(o, "address", pcie_addr_format(d->addr, addr));
	} else {
		js_set_null(o, "address");
	}
	if (d->name[0]) {
		js_set_str(o, "name", d->name);
	}
	if (d->have_ids == PCIE_KNOWN) {
		js_set_strf(o, "vendor", "%04x", d->vendor);
		js_set_strf(o, "device", "%04x", d->device);
	}
}

static struct js *changes_json(const struct pcie_changes *c)
{
	struct js *list = js_array();
	for (size_t i = 0; i < c->n; i++) {
		const struct pcie_change *x = &c->change[i];
		struct js *o = js_object();
		js_set_str(o, "what", x->what);
		js_set_str(o, "before", x->before);
		js_set_str(o, "after", x->after);
		if (x->worse != PCIE_TRI_UNKNOWN) {
			js_set_bool(o, "worse", x->worse == PCIE_YES);
		}
		js_push(list, o);
	}
	return list;
}

static struct js *devices_json(const struct pcie_snapshot *s, const int *dev, size_t n)
{
	struct js *list = js_array();
	for (size_t i = 0; i < n; i++) {
		struct js *o = js_object();
		set_device(o, &s->dev[dev[i]]);
		js_push(list, o);
	}
	return list;
}

struct js *cmd_diff_json(
	const struct pcie_snapshot *a, const struct pcie_snapshot *b, const struct pcie_diff *d)
{
	struct js *o = js_object(), *devices = js_array();
	char addr[PCIE_ADDR_MAX];

	js_set_str(o, "schema", "barscope.diff/1");
	js_set_str(o, "a", a->origin);
	js_set_str(o, "b", b->origin);
	js_set_int(o, "matched", (int64_t)d->matched);
	js_set_bool(o, "worse", pcie_diff_is_worse(d));
	js_set(o, "host", changes_json(&d->host));
	js_set(o, "gone", devices_json(a, d->gone, d->ngone));
	js_set(o, "new", devices_json(b, d->fresh, d->nfresh));
	js_set(o, "not_in_b_text", devices_json(a, d->only_a, d->nonly_a));
	js_set(o, "not_in_a_text", devices_json(b, d->only_b, d->nonly_b));
	for (size_t i = 0; i < d->npair; i++) {
		struct js *p = js_object();
		set_device(p, &b->dev[d->pair[i].b]);
		if (d->pair[i].moved) {
			js_set_str(p, "was_at", pcie_addr_format(a->dev[d->pair[i].a].addr, addr));
		}
		js_set(p, "changes", changes_json(&d->pair[i].changes));
		js_push(devices, p);
	}
	js_set(o, "devices", devices);
	return o;
}
