/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libpci calls its error hook where it cannot go on, and the hook must not return
 * (pciutils, lib/init.c): so every call of the library stands between a setjmp and the
 * longjmp of the hook. After that the handle is only closed. The hook has no argument of
 * the caller's, hence the pointer of the thread.
 */
#include "pcie/libpci.h"

#include <errno.h>
#include <pci/pci.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"

struct pcie_libpci {
	struct pci_access *access;
	bool broken;
	/* The device read last: its file stays open in libpci. */
	struct pci_dev *dev;
	struct pcie_addr addr;
};

static _Thread_local jmp_buf *escape;

static void __attribute__((noreturn)) on_error(char *msg, ...)
{
	(void)msg;
	if (!escape) {
		abort(); /* a call outside of the guards below */
	}
	longjmp(*escape, 1);
}

static void on_message(char *msg, ...)
{
	(void)msg;
}

/* Runs FN(P, ARG) with libpci's exits caught; false: it gave up. */
static bool guarded(struct pcie_libpci *p, void (*fn)(struct pcie_libpci *p, void *arg), void *arg)
{
	jmp_buf here;
	if (p->broken) {
		return false;
	}
	jmp_buf *before = escape;
	escape = &here;
	if (setjmp(here)) {
		p->broken = true;
	} else {
		fn(p, arg);
	}
	escape = before;
	return !p->broken;
}

static void do_open(struct pcie_libpci *p, void *arg)
{
	const char *sysfs_pci = arg;
	p->access->method = PCI_ACCESS_SYS_BUS_PCI;
	if (sysfs_pci) {
		/* pci_set_param() copies it, though its prototype is not const. */
		pci_set_param(
			p->access, (char *)(uintptr_t) "sysfs.path", (char *)(uintptr_t)sysfs_pci);
	}
	const char *ids = getenv("BARSCOPE_PCI_IDS");
	if (ids && *ids) {
		pci_set_name_list_path(p->access, xstrdup(ids), 1);
		pci_set_param(
			p->access, (char *)(uintptr_t) "hwdb.disable", (char *)(uintptr_t) "1");
	}
	if (sysfs_pci) {
		pci_init(p->access);
	}
}

struct pcie_libpci *pcie_libpci_open(const char *sysfs_pci)
{
	struct pcie_libpci *p = xcalloc(1, sizeof(*p));
	p->access = pci_alloc();
	p->access->error = on_error;
	p->access->warning = on_message;
	p->access->debug = on_message;
	if (!guarded(p, do_open, (void *)(uintptr_t)sysfs_pci)) {
		pcie_libpci_close(p);
		return NULL;
	}
	return p;
}

static void do_close(struct pcie_libpci *p, void *arg)
{
	(void)arg;
	struct pci_dev *last = p->dev;
	p->dev = NULL;
	if (last) {
		pci_free_dev(last);
	}
	pci_cleanup(p->access);
}

void pcie_libpci_close(struct pcie_libpci *p)
{
	if (!p) {
		return;
	}
	/* Whatever state an error left: closing is tried once, guarded as well. */
	p->broken = false;
	guarded(p, do_close, NULL);
	free(p);
}

struct read_args {
	struct pcie_addr addr;
	size_t off, len;
	uint8_t *buf;
	int r;
};

static void do_read(struct pcie_libpci *p, void *arg)
{
	struct read_args *a = arg;
	if (!p->dev || pcie_addr_compare(p->addr, a->addr)) {
		if (p->dev) {
			struct pci_dev *old = p->dev;
			p->dev = NULL;
			pci_free_dev(old);
		}
		p->dev = pci_get_dev(
			p->access, (int)a->addr.domain, a->addr.bus, a->addr.dev, a->addr.fn);
		p->addr = a->addr;
	}
	a->r = p->dev && pci_read_block(p->dev, (int)a->off, a->buf, (int)a->len) ? 0 : -ENODEV;
}

int pcie_libpci_read(
	struct pcie_libpci *p, struct pcie_addr a, size_t off, uint8_t *buf, size_t len)
{
	struct read_args args = {.addr = a, .off = off, .len = len, .buf = buf, .r = -ENODEV};
	if (!p || a.domain > INT32_MAX) {
		return -ENODEV;
	}
	return guarded(p, do_read, &args) ? args.r : -EIO;
}

struct name_args {
	uint16_t vendor, device;
	char *buf;
	size_t size;
};

static void do_name(struct pcie_libpci *p, void *arg)
{
	struct name_args *a = arg;
	char raw[256];
	const char *s = pci_lookup_name(p->access, raw, sizeof(raw),
		PCI_LOOKUP_VENDOR | PCI_LOOKUP_DEVICE | PCI_LOOKUP_NO_NUMBERS, a->vendor,
		a->device);
	if (!s) {
		s = pci_lookup_name(p->access, raw, sizeof(raw),
			PCI_LOOKUP_VENDOR | PCI_LOOKUP_NO_NUMBERS, a->vendor);
	}
	text_copy(a->buf, a->size, s ? s : "");
}

void pcie_libpci_name(
	struct pcie_libpci *p, uint16_t vendor, uint16_t device, char *buf, size_t size)
{
	struct name_args args = {.vendor = vendor, .device = device, .buf = buf, .size = size};
	if (size) {
		buf[0] = '\0';
	}
	if (p && size) {
		guarded(p, do_name, &args);
	}
}

void pcie_libpci_name_all(struct pcie_snapshot *s)
{
	struct pcie_libpci *p = NULL;
	for (size_t i = 0; i < s->ndev; i++) {
		struct pcie_device *d = &s->dev[i];
		if (d->name[0] || d->have_ids != PCIE_KNOWN || !d->vendor || !d->device) {
			continue;
		}
		if (!p && !(p = pcie_libpci_open(NULL))) {
			return;
		}
		pcie_libpci_name(p, d->vendor, d->device, d->name, sizeof(d->name));
	}
	pcie_libpci_close(p);
}
