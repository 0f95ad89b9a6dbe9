/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pcie/feed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "pcie/config.h"
#include "pcie/firmware.h"
#include "pcie/host.h"

struct pcie_feed_device {
	struct pcie_addr parent, physfn; /* not known: none */
	uint64_t config_size;            /* of the file, where less of it could be read */
};

/* What arrives before the devices are complete. */
struct pcie_feed_host {
	char *name, *text;
};

static struct pcie_feed *feed_of(struct pcie_sink *sink)
{
	return (struct pcie_feed *)sink;
}

/* From "/devices/pci0000:00/0000:00:01.0/0000:01:00.0": the bridge above and the root bus. */
static void read_path(const char *path, struct pcie_addr *ret_parent, char *root, size_t size)
{
	struct pcie_addr parent = {0};
	root[0] = '\0';
	for (const char *p = strchr(path, '/'); p; p = strchr(p, '/')) {
		p++;
		char part[64];
		size_t n = strcspn(p, "/");
		if (n >= sizeof(part) || !p[n]) {
			continue; /* the last part is the device itself */
		}
		memcpy(part, p, n);
		part[n] = '\0';
		struct pcie_addr a;
		unsigned domain, bus;
		int end = 0;
		if (sscanf(part, "pci%8x:%2x%n", &domain, &bus, &end) == 2 && !part[end]) {
			text_copy(root, size, part);
			parent =
				(struct pcie_addr){0}; /* what stands before made this root (VMD) */
		} else if (pcie_addr_parse(part, &a) == 0) {
			parent = a;
		}
	}
	*ret_parent = parent;
}

/* Were the lists of capabilities within reach? */
static bool config_is_full(const struct pcie_feed *f)
{
	return f->config_len >= PCIE_CONFIG_SIZE;
}

/*
 * Config space, decoded behind the attributes. The kernel's word on the class stands, since
 * its quirks correct it. What registers tell as well counts where they could be read, so
 * that a scan that did not open those files and a record that has them agree.
 */
static void decode_config(struct pcie_feed *f, struct pcie_device *d)
{
	struct pcie_device k = *d;

	d->link = (struct pcie_link){0};
	d->rebar = (struct pcie_rebar){0};
	pcie_config_decode(f->s, f->dev, (const uint8_t *)f->config, f->config_len, f->config_src);
	if (k.have_class == PCIE_KNOWN) {
		d->class_code = k.class_code;
	}
	d->link = d->link.have == PCIE_KNOWN ? d->link : k.link;
	if (!config_is_full(f) || d->config_gone) {
		d->rebar = d->rebar.have == PCIE_KNOWN ? d->rebar : k.rebar;
		if (k.have_subsystem == PCIE_KNOWN) {
			d->have_subsystem = PCIE_KNOWN;
			d->subvendor = k.subvendor;
			d->subdevice = k.subdevice;
		}
	}
	if (k.aer.have == PCIE_KNOWN) {
		d->aer = k.aer;
	}
	if (k.power[0]) {
		memcpy(d->power, k.power, sizeof(d->power));
		d->power_src = k.power_src;
	}
	if (k.sriov_total) {
		d->sriov_total = k.sriov_total;
		d->sriov_num = k.sriov_num;
	}
}

static void deny(enum pcie_fact *f)
{
	if (*f == PCIE_UNKNOWN) {
		*f = PCIE_DENIED;
	}
}

static void deny_config(struct pcie_device *d)
{
	d->config = PCIE_DENIED;
	deny(&d->capabilities);
	deny(&d->ext_capabilities);
	deny(&d->rebar.have);
	deny(&d->vf_rebar.have);
	deny(&d->link.have);
}

/* BAR1 is the driver's name of the BAR that maps VRAM, whatever its PCI number. */
static void compare_bar1(struct pcie_feed *f, const struct pcie_device *d)
{
	int i = d->vram.bar1 ? pcie_device_vram_bar(d) : -1;
	const struct pcie_bar *b = i >= 0 ? &d->bar[i] : NULL;
	if (b && b->have == PCIE_KNOWN && b->has_size && b->size != d->vram.bar1) {
		char said[TEXT_SIZE_MAX], is[TEXT_SIZE_MAX];
		pcie_snapshot_note(f->s, f->dev,
			"NVML gives BAR1 as %s, the BAR itself is %s: the driver maps another part",
			text_size(d->vram.bar1, said), text_size(b->size, is));
	}
}

/* The device that began last has all its attributes now. */
static void end_device(struct pcie_feed *f)
{
	if (f->dev < 0) {
		return;
	}
	struct pcie_device *d = &f->s->dev[f->dev];
	if (f->config_len) {
		d->asleep = false;
		decode_config(f, d);
		/* Without privilege the kernel gives a header's length and no error. */
		if (!d->config_gone && (f->config_len == PCIE_CONFIG_HEADER ||
					       f->config_len == PCIE_CONFIG_CARDBUS_HEADER)) {
			deny_config(d);
		}
	} else if (d->asleep) {
		deny_config(d);
	}
	if (d->config_gone) {
		pcie_snapshot_note(f->s, f->dev,
			"config space reads all ones: the device is off the bus or has no power");
	} else if (d->asleep) {
		pcie_snapshot_note(f->s, f->dev,
			"asleep: not read further so as not to wake it (--wake reads it)");
	}

	bool vf = f->extra[f->dev].physfn.known;
	for (int i = 0; i < d->nbar; i++) {
		struct pcie_bar *b = &d->bar[i];
		/* A virtual function's enable bits stand in its physical function. */
		if (b->decode_enabled == PCIE_TRI_UNKNOWN && !vf && b->kind != PCIE_BAR_VF) {
			b->decode_enabled = b->io ? d->io_enable : d->mem_enable;
		}
	}
	for (int e = 0; e < d->rebar.count; e++) {
		struct pcie_rebar_entry *entry = &d->rebar.entry[e];
		const struct pcie_bar *b = pcie_device_find_bar(d, PCIE_BAR_NORMAL, entry->bar);
		if (!entry->has_current && b && b->have == PCIE_KNOWN && b->has_size) {
			entry->has_current = true;
			entry->current = b->size;
		}
	}
	if (d->link.have == PCIE_UNKNOWN && d->port_type == PCIE_PORT_NONE &&
		d->capabilities != PCIE_UNKNOWN) {
		d->link.have = PCIE_ABSENT;
	}
	compare_bar1(f, d);
	f->dev = -1;
}

static void feed_device(struct pcie_sink *sink, const char *path, struct pcie_addr addr)
{
	struct pcie_feed *f = feed_of(sink);
	end_device(f);
	if (pcie_snapshot_find(f->s, addr) >= 0) {
		return; /* named twice: the first stands */
	}
	struct pcie_device *d = pcie_snapshot_add(f->s, addr);
	f->dev = (int)f->s->ndev - 1;
	f->config_len = 0;

	f->extra = xgrow(f->extra, f->nextra, &f->capextra, sizeof(*f->extra));
	struct pcie_feed_device *e = &f->extra[f->nextra++];
	*e = (struct pcie_feed_device){0};
	read_path(path, &e->parent, d->root, sizeof(d->root));
}

static void feed_attr(
	struct pcie_sink *sink, const struct pcie_attr *attr, const char *data, size_t len)
{
	struct pcie_feed *f = feed_of(sink);
	if (f->dev < 0) {
		return;
	}
	struct pcie_device *d = &f->s->dev[f->dev];
	if (attr->parse) {
		pcie_src src =
			attr->source ? pcie_snapshot_source(f->s, attr->source) : f->sysfs_src;
		attr->parse(d, src, attr->arg, data);
		f->seen_driver = f->seen_driver || d->have_driver == PCIE_KNOWN;
		f->seen_iommu = f->seen_iommu || d->have_iommu == PCIE_KNOWN;
	} else if (attr->kind == PCIE_ATTR_BINARY) {
		f->config_len = MIN(len, sizeof(f->config));
		memcpy(f->config, data, f->config_len);
	} else if (attr->kind == PCIE_ATTR_LINK) {
		const char *slash = strrchr(data, '/');
		pcie_addr_parse(slash ? slash + 1 : data, &f->extra[f->dev].physfn);
	} else {
		text_parse_u64(data, 10, &f->extra[f->dev].config_size);
	}
}

static void feed_host(struct pcie_sink *sink, const char *name, const char *data, size_t len)
{
	struct pcie_feed *f = feed_of(sink);
	if (!strcmp(name, PCIE_FEED_LOG)) {
		free(f->log);
		f->log = xstrndup(data, len);
		f->log_len = strlen(f->log);
		return;
	}
	f->host = xgrow(f->host, f->nhost, &f->caphost, sizeof(*f->host));
	f->host[f->nhost++] = (struct pcie_feed_host){xstrdup(name), xstrndup(data, len)};
}

static void feed_problem(struct pcie_sink *sink, struct pcie_addr addr, const char *text)
{
	struct pcie_feed *f = feed_of(sink);
	pcie_snapshot_note(f->s, pcie_snapshot_find(f->s, addr), "%s", text);
}

void pcie_feed_init(struct pcie_feed *f, const char *origin)
{
	*f = (struct pcie_feed){
		.sink = {feed_device, feed_attr, feed_host, feed_problem},
		.s = pcie_snapshot_create(origin),
		.dev = -1,
	};
	f->sysfs_src = pcie_snapshot_source(f->s, "sysfs");
	f->config_src = pcie_snapshot_source(f->s, "config space");
}

/*
 * From Linux 6.1 on a resourceN_resize exists for every BAR in a ReBAR capability that
 * the kernel can reach: without privilege its absence is the answer.
 */
static bool shows_resize(const struct pcie_host *h)
{
	unsigned major, minor;
	return h->have_kernel == PCIE_KNOWN && sscanf(h->kernel, "%u.%u", &major, &minor) == 2 &&
	       (major > 6 || (major == 6 && minor >= 1));
}

static void join_devices(struct pcie_feed *f)
{
	struct pcie_snapshot *s = f->s;
	size_t denied = 0;

	for (size_t i = 0; i < s->ndev; i++) {
		struct pcie_device *d = &s->dev[i];
		d->parent = pcie_snapshot_find(s, f->extra[i].parent);
		if (d->parent == (int)i) {
			d->parent = -1;
		}
		d->physfn = pcie_snapshot_find(s, f->extra[i].physfn);
		if (f->extra[i].physfn.known || f->complete) {
			d->is_vf = f->extra[i].physfn.known ? PCIE_YES : PCIE_NO;
		}
		if (d->have_driver == PCIE_UNKNOWN && (f->complete || f->seen_driver)) {
			d->have_driver = PCIE_ABSENT;
		}
		if (d->have_iommu == PCIE_UNKNOWN && (f->complete || f->seen_iommu)) {
			d->have_iommu = PCIE_ABSENT;
		}
		if (d->rebar.have == PCIE_DENIED && !d->asleep && f->complete &&
			f->extra[i].config_size > PCIE_CONFIG_SIZE && shows_resize(&s->host)) {
			d->rebar.have = PCIE_ABSENT;
			d->rebar.src = f->sysfs_src;
		}
		denied += d->config == PCIE_DENIED && !d->asleep;
	}
	if (denied) {
		pcie_snapshot_note(s, -1,
			"%zu of %zu devices gave only the first bytes of their config space: as root, "
			"ReBAR control registers, links and power states are read too",
			denied, s->ndev);
	}
	if (s->have_iomem == PCIE_DENIED) {
		pcie_snapshot_note(s, -1,
			"the numbers in /proc/iomem are hidden: as root, the host's apertures are read "
			"too");
	}
}

static void drop(struct pcie_feed *f)
{
	for (size_t i = 0; i < f->nhost; i++) {
		free(f->host[i].name);
		free(f->host[i].text);
	}
	free(f->host);
	free(f->extra);
	free(f->log);
}

struct pcie_snapshot *pcie_feed_finish(struct pcie_feed *f, char **ret_log, size_t *ret_log_len)
{
	struct pcie_snapshot *s = f->s;
	end_device(f);
	for (size_t i = 0; i < f->nhost; i++) {
		const struct pcie_host_file *file = pcie_host_find(f->host[i].name);
		if (file) {
			file->parse(s, file, f->host[i].text);
		} else if (!pcie_firmware_parse(s, f->host[i].name, f->host[i].text)) {
			pcie_host_parse_nvidia(s, f->host[i].name, f->host[i].text);
		}
	}
	pcie_host_finish(s);
	join_devices(f);
	*ret_log = f->log;
	*ret_log_len = f->log_len;
	f->log = NULL;
	drop(f);
	pcie_snapshot_settle(s);
	*f = (struct pcie_feed){.dev = -1};
	return s;
}

void pcie_feed_abort(struct pcie_feed *f)
{
	drop(f);
	pcie_snapshot_destroy(f->s);
	*f = (struct pcie_feed){.dev = -1};
}
