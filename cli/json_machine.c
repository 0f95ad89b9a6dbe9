/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "cli/machine.h"
#include "pcie/path.h"

static const char *source_name(const struct pcie_snapshot *s, pcie_src src)
{
	return src && src < s->nsource ? s->source[src] : NULL;
}

static void set_nonempty(struct js *o, const char *key, const char *v)
{
	if (v && *v) {
		js_set_str(o, key, v);
	}
}

static void set_tri(struct js *o, const char *key, enum pcie_tri v)
{
	if (v != PCIE_TRI_UNKNOWN) {
		js_set_bool(o, key, v == PCIE_YES);
	}
}

static void set_address(struct js *o, const char *key, struct pcie_addr a)
{
	char buf[PCIE_ADDR_MAX];
	if (a.known) {
		js_set_str(o, key, pcie_addr_format(a, buf));
	} else {
		js_set_null(o, key);
	}
}

/* Sizes from 2^63 on do not fit JSON's integers: left out, and said. */
static void set_size(struct js *o, const char *key, uint64_t bytes, struct js *notes)
{
	if (!js_set_u64(o, key, bytes)) {
		char text[80];
		snprintf(text, sizeof(text), "a %s of 2^63 bytes or more was left out", key);
		js_push_str(notes, text);
	}
}

static struct js *host_json(const struct pcie_host *h)
{
	struct js *o = js_object();
	if (h->have_kernel == PCIE_KNOWN) {
		js_set_str(o, "kernel", h->kernel);
	}
	if (h->have_arch == PCIE_KNOWN) {
		js_set_str(o, "arch", h->arch);
	}
	if (h->have_efi == PCIE_KNOWN) {
		js_set_bool(o, "efi", h->efi);
	}
	if (h->have_phys_bits == PCIE_KNOWN) {
		js_set_int(o, "phys_bits", h->phys_bits);
	}
	set_nonempty(o, "bios_vendor", h->bios_vendor);
	set_nonempty(o, "bios_version", h->bios_version);
	set_nonempty(o, "bios_date", h->bios_date);
	set_nonempty(o, "board", h->board);
	set_nonempty(o, "system_vendor", h->sys_vendor);
	set_nonempty(o, "product", h->product);
	if (h->have_virtual == PCIE_KNOWN) {
		js_set_bool(o, "virtual", h->is_virtual);
		set_nonempty(o, "hypervisor", h->virt);
	}
	if (h->have_cmdline == PCIE_KNOWN) {
		js_set_str(o, "cmdline", h->cmdline);
	}
	if (h->have_setup == PCIE_KNOWN) {
		struct js *items = js_array();
		for (unsigned i = 0; i < h->nsetup && i < PCIE_SETUP_ITEMS; i++) {
			struct js *item = js_object();
			js_set_str(item, "name", h->setup[i].name);
			js_set_str(item, "state", pcie_fact_name(h->setup[i].value));
			set_nonempty(item, "current", h->setup[i].current);
			js_push(items, item);
		}
		js_set(o, "setup", items);
	}
	if (h->have_rebar_uefi == PCIE_KNOWN) {
		js_set_int(o, "rebar_uefi", h->rebar_uefi);
	}
	if (h->have_firmware_time == PCIE_KNOWN) {
		js_set_u64(o, "firmware_ns", h->firmware_ns);
	}
	return o;
}

static struct js *covered_json(const struct pcie_snapshot *s)
{
	struct js *a = js_array();
	for (size_t i = 1; i < s->nsource; i++) {
		js_push_str(a, s->source[i]);
	}
	for (size_t i = 0; i < s->ndev; i++) {
		if (s->dev[i].config == PCIE_DENIED) {
			js_push_str(a, "config-denied");
			break;
		}
	}
	if (s->have_iomem == PCIE_DENIED) {
		js_push_str(a, "iomem-denied");
	}
	if (s->apertures_complete) {
		js_push_str(a, "apertures-complete");
	}
	if (s->log != PCIE_LOG_NONE) {
		js_push_str(a, s->log == PCIE_LOG_COMPLETE ? "log-complete" : "log-cut");
	}
	return a;
}

static struct js *apertures_json(const struct pcie_snapshot *s)
{
	struct js *all = js_array();
	for (size_t i = 0; i < s->naperture; i++) {
		const struct pcie_aperture *a = &s->aperture[i];
		struct js *o = js_object();
		set_nonempty(o, "root", a->root);
		js_set_hex(o, "base", a->base);
		js_set_hex(o, "limit", a->limit);
		set_nonempty(o, "source", source_name(s, a->src));
		const struct {
			const char *key;
			bool set;
		} flag[] = {
			{"io", a->io},
			{"prefetchable", a->prefetchable},
			{"kernel_made", a->kernel_made},
			{"translated", a->translated},
			{"ignored", a->ignored},
		};
		for (size_t f = 0; f < ARRAY_LEN(flag); f++) {
			if (flag[f].set) {
				js_set_bool(o, flag[f].key, true);
			}
		}
		js_push(all, o);
	}
	return all;
}

static struct js *bar_json(const struct pcie_bar *b, struct js *notes)
{
	static const char *const kind[] = {"bar", "rom", "vf"};
	struct js *o = js_object();
	if (b->index >= 0) {
		js_set_int(o, "index", b->index);
	} else {
		js_set_null(o, "index");
	}
	js_set_str(o, "kind", kind[b->kind]);
	js_set_str(o, "state", pcie_fact_name(b->have));
	if (b->have == PCIE_KNOWN) {
		if (b->has_base) {
			js_set_hex(o, "base", b->base);
		}
		if (b->has_size) {
			set_size(o, "size", b->size, notes);
		}
		js_set_bool(o, "io", b->io);
		if (b->is64_known) {
			js_set_bool(o, "is64", b->is64);
			js_set_bool(o, "prefetchable", b->prefetchable);
		}
		set_tri(o, "assigned", b->assigned);
		set_tri(o, "decode_enabled", b->decode_enabled);
	}
	if (b->reg.have == PCIE_KNOWN) {
		struct js *r = js_object();
		js_set_hex(r, "base", b->reg.base);
		js_set_bool(r, "is64", b->reg.is64);
		js_set_bool(r, "prefetchable", b->reg.prefetchable);
		js_set_bool(r, "io", b->reg.io);
		js_set(o, "register", r);
	}
	return o;
}

static struct js *rebar_json(
	const struct pcie_snapshot *s, const struct pcie_rebar *r, struct js *notes)
{
	struct js *o = js_object();
	js_set_str(o, "state", pcie_fact_name(r->have));
	set_nonempty(o, "source", source_name(s, r->src));
	if (r->null_cap) {
		js_set_bool(o, "null_capability", true);
	}
	if (r->have != PCIE_KNOWN) {
		return o;
	}
	struct js *entries = js_array();
	for (int e = 0; e < r->count && e < PCIE_REBAR_ENTRIES; e++) {
		const struct pcie_rebar_entry *entry = &r->entry[e];
		struct js *j = js_object();
		js_set_int(j, "bar", entry->bar);
		if (entry->has_current) {
			set_size(j, "current", entry->current, notes);
		}
		struct js *sizes = js_array();
		for (int n = 0; n < 64 - PCIE_REBAR_UNIT_SHIFT; n++) {
			if (!(entry->supported >> n & 1)) {
				continue;
			}
			if (n + PCIE_REBAR_UNIT_SHIFT == 63) {
				js_push_str(notes, "a supported size of 2^63 bytes was left out");
			} else {
				js_push_int(sizes, INT64_C(1) << (n + PCIE_REBAR_UNIT_SHIFT));
			}
		}
		js_set(j, "supported", sizes);
		js_push(entries, j);
	}
	js_set(o, "entries", entries);
	return o;
}

static struct js *windows_json(const struct pcie_device *d, struct js *notes)
{
	static const char *const kind[PCIE_WINDOWS] = {"io", "mem", "pref"};
	struct js *all = js_array();
	for (int i = 0; i < PCIE_WINDOWS; i++) {
		const struct pcie_window *w = &d->window[i];
		if (w->have == PCIE_UNKNOWN && w->reg.have == PCIE_UNKNOWN) {
			continue;
		}
		struct js *o = js_object();
		js_set_str(o, "kind", kind[i]);
		js_set_str(o, "state", pcie_fact_name(w->have));
		if (w->have == PCIE_KNOWN && w->unassigned) {
			js_set_bool(o, "assigned", false);
			set_size(o, "size", w->limit - w->base + 1, notes);
		} else if (w->have == PCIE_KNOWN) {
			js_set_hex(o, "base", w->base);
			js_set_hex(o, "limit", w->limit);
		}
		if (w->reg.have == PCIE_KNOWN) {
			struct js *r = js_object();
			js_set_hex(r, "base", w->reg.base);
			js_set_hex(r, "limit", w->reg.limit);
			js_set(o, "register", r);
		}
		js_push(all, o);
	}
	return all;
}

static struct js *link_json(const struct pcie_link *l)
{
	struct js *o = js_object();
	js_set_str(o, "state", pcie_fact_name(l->have));
	if (l->have != PCIE_KNOWN) {
		return o;
	}
	if (l->speed) {
		js_set_real(o, "speed", l->speed / 10.0);
	}
	if (l->width) {
		js_set_int(o, "width", l->width);
	}
	if (l->max_speed) {
		js_set_real(o, "max_speed", l->max_speed / 10.0);
	}
	if (l->max_width) {
		js_set_int(o, "max_width", l->max_width);
	}
	return o;
}

static void set_ids(struct js *o, const struct pcie_device *d)
{
	if (d->have_ids == PCIE_KNOWN && d->vendor) {
		js_set_strf(o, "vendor", "%04x", d->vendor);
	}
	if (d->have_ids == PCIE_KNOWN && d->device) {
		js_set_strf(o, "device", "%04x", d->device);
	}
	if (d->have_subsystem == PCIE_KNOWN) {
		js_set_strf(o, "subvendor", "%04x", d->subvendor);
		js_set_strf(o, "subdevice", "%04x", d->subdevice);
	}
	if (d->have_class == PCIE_KNOWN) {
		js_set_strf(o, "class", "%06x", d->class_code & 0xffffff);
	}
	set_nonempty(o, "name", d->name);
}

static void set_small_facts(
	struct js *o, const struct pcie_snapshot *s, const struct pcie_device *d)
{
	if (d->have_numa == PCIE_KNOWN) {
		js_set_int(o, "numa", d->numa);
	}
	if (d->have_iommu == PCIE_KNOWN) {
		js_set_int(o, "iommu_group", d->iommu_group);
	}
	set_tri(o, "boot_vga", d->boot_vga);
	if (d->is_vf == PCIE_YES) {
		js_set_bool(o, "is_vf", true);
	}
	if (d->physfn >= 0) {
		set_address(o, "physfn", s->dev[d->physfn].addr);
	}
	if (d->hotplug_slot) {
		js_set_bool(o, "hotplug_slot", true);
	}
	if (d->removable) {
		js_set_bool(o, "removable", true);
	}
	set_nonempty(o, "vbios", d->vbios);
	set_nonempty(o, "power", d->power);
	if (d->asleep) {
		js_set_bool(o, "asleep", true);
	}
}

/* NOTES: the device's, taken over. */
static struct js *device_json(const struct pcie_snapshot *s, size_t i, struct js *notes)
{
	const struct pcie_device *d = &s->dev[i];
	struct js *o = js_object(), *bars = js_array();

	set_address(o, "address", d->addr);
	if (d->parent >= 0) {
		set_address(o, "parent", s->dev[d->parent].addr);
	}
	set_nonempty(o, "root", d->root);
	int path[PCIE_PATH_MAX];
	int up = pcie_path(s, (int)i, path);
	if (d->root[0] && !pcie_is_at_root(s, up ? path[0] : (int)i)) {
		js_set_bool(o, "bridges_missing", true);
	}
	set_ids(o, d);
	if (d->have_driver == PCIE_KNOWN) {
		js_set_str(o, "driver", d->driver);
	}
	js_set_bool(o, "is_gpu", pcie_device_is_gpu(d));
	js_set_int(o, "config_bytes", d->config_bytes);
	if (d->config_gone) {
		js_set_bool(o, "config_gone", true);
	}
	set_small_facts(o, s, d);

	for (int b = 0; b < d->nbar; b++) {
		js_push(bars, bar_json(&d->bar[b], notes));
	}
	js_set(o, "bars", bars);
	js_set(o, "rebar", rebar_json(s, &d->rebar, notes));
	if (d->vf_rebar.have == PCIE_KNOWN) {
		js_set(o, "vf_rebar", rebar_json(s, &d->vf_rebar, notes));
	}
	if (d->is_bridge) {
		js_set_int(o, "secondary", d->secondary);
		js_set_int(o, "subordinate", d->subordinate);
		js_set(o, "windows", windows_json(d, notes));
	}
	js_set(o, "link", link_json(&d->link));

	if (d->vram.have != PCIE_UNKNOWN) {
		struct js *v = js_object();
		js_set_str(v, "state", pcie_fact_name(d->vram.have));
		if (d->vram.have == PCIE_KNOWN) {
			set_size(v, "bytes", d->vram.bytes, notes);
			set_nonempty(v, "source", d->vram.what);
		}
		js_set(o, "vram", v);
	}
	if (d->noption) {
		struct js *options = js_object();
		for (int n = 0; n < d->noption; n++) {
			js_set_str(options, d->option[n].name, d->option[n].value);
		}
		js_set(o, "driver_options", options);
	}
	if (d->aer.have == PCIE_KNOWN) {
		struct js *a = js_object();
		js_set_u64(a, "correctable", d->aer.correctable);
		js_set_u64(a, "nonfatal", d->aer.nonfatal);
		js_set_u64(a, "fatal", d->aer.fatal);
		js_set(o, "aer", a);
	}
	js_set(o, "notes", notes);
	return o;
}

struct js *cmd_machine_json(const struct pcie_snapshot *s)
{
	struct js *o = js_object(), *devices = js_array(), *notes = js_array();

	js_set_str(o, "schema", "barscope.machine/1");
	js_set_str(o, "origin", s->origin);
	js_set(o, "covered", covered_json(s));
	js_set(o, "host", host_json(&s->host));
	js_set(o, "apertures", apertures_json(s));

	/* Notes of a device stand with it; gathered first, so that the time stays linear. */
	struct js **own = xcalloc(s->ndev, sizeof(*own));
	for (size_t i = 0; i < s->ndev; i++) {
		own[i] = js_array();
	}
	for (size_t i = 0; i < s->nnote; i++) {
		int dev = s->note[i].dev;
		js_push_str(dev >= 0 && (size_t)dev < s->ndev ? own[dev] : notes, s->note[i].text);
	}
	for (size_t i = 0; i < s->ndev; i++) {
		js_push(devices, device_json(s, i, own[i]));
	}
	free(own);
	js_set(o, "devices", devices);
	js_set(o, "notes", notes);
	return o;
}
