/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kernel modules, device nodes and their permissions, for each vendor whose GPU is here. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "doctor/line.h"

enum { VENDOR_NVIDIA = 0x10de, VENDOR_AMD = 0x1002, VENDOR_INTEL = 0x8086 };

struct vendor {
	uint16_t id;
	const char *name;
	char key[8];            /* in the ids of its lines */
	const char *modules[4]; /* any of these drives it; the first is the vendor's own */
	const char *node_dir;   /* below /dev */
	const char *node_prefix;
	const char *install; /* what to do when no module is loaded */
};

static const struct vendor vendors[] = {
	{VENDOR_NVIDIA, "NVIDIA", "nvidia", {"nvidia", "nouveau"}, "", "nvidia",
		"sudo modprobe nvidia   # else install the driver: apt install nvidia-driver"},
	{VENDOR_AMD, "AMD", "amd", {"amdgpu", "radeon"}, "dri", "renderD", "sudo modprobe amdgpu"},
	{VENDOR_INTEL, "Intel", "intel", {"xe", "i915"}, "dri", "renderD",
		"sudo modprobe xe || sudo modprobe i915"},
};

static char *rooted(const struct doctor_options *o, const char *path)
{
	struct text t = {0};
	text_addf(&t, "%s/%s", o->root ? o->root : "", path);
	return text_steal(&t);
}

static bool loaded(const struct doctor_options *o, const char *module)
{
	char path[64];
	snprintf(path, sizeof(path), "sys/module/%s", module);
	_cleanup_free_ char *whole = rooted(o, path);
	return access(whole, F_OK) == 0;
}

/* GPUs of this vendor in the machine; those that vfio-pci holds are a guest's. */
static unsigned count(
	const struct pcie_snapshot *s, uint16_t vendor, unsigned *ret_bound, unsigned *ret_vfio)
{
	unsigned n = 0;
	*ret_bound = *ret_vfio = 0;
	for (size_t i = 0; i < s->ndev; i++) {
		const struct pcie_device *d = &s->dev[i];
		if (!pcie_device_is_gpu(d) || d->have_ids != PCIE_KNOWN || d->vendor != vendor) {
			continue;
		}
		n++;
		*ret_bound += d->have_driver == PCIE_KNOWN;
		*ret_vfio += d->have_driver == PCIE_KNOWN && !strcmp(d->driver, "vfio-pci");
	}
	return n;
}

static void judge_module(const struct doctor_options *o, const struct vendor *v,
	struct doctor_report *r, unsigned gpus, unsigned bound)
{
	const char *module = NULL;
	for (size_t i = 0; i < ARRAY_LEN(v->modules) && v->modules[i] && !module; i++) {
		module = loaded(o, v->modules[i]) ? v->modules[i] : NULL;
	}
	char id[40];
	snprintf(id, sizeof(id), "driver.%s.module", v->key);
	if (!module) {
		struct doctor_line *l = doctor_add(r, DOCTOR_DRIVER, DOCTOR_FAULT, id,
			"No kernel module drives the %s GPU%s", v->name, gpus > 1 ? "s" : "");
		doctor_evidence(l, "/sys/module has no '%s'; %u of %u GPUs bound to a driver",
			v->modules[0], bound, gpus);
		doctor_fix(l, "%s", v->install);
		doctor_fix(l, "sudo dmesg | grep -iE 'nvidia|nvrm|amdgpu|i915|xe' | tail -n 30");
		return;
	}
	char path[64], version[64] = "";
	snprintf(path, sizeof(path), "sys/module/%s/version", module);
	bool has_version = doctor_read(o, path, version, sizeof(version)) > 0;
	bool all = bound == gpus;
	struct doctor_line *l = doctor_add(r, DOCTOR_DRIVER, all ? DOCTOR_OK : DOCTOR_FAULT, id,
		all ? "Module '%s' drives the %s GPUs"
		    : "Module '%s' is loaded, but not every %s GPU is bound",
		module, v->name);
	doctor_evidence(l, "version %s; %u of %u GPUs bound",
		has_version ? text_trim(version) : "not published (part of the kernel)", bound,
		gpus);
	if (!all) {
		doctor_fix(l, "sudo dmesg | grep -iE 'probe|BAR|NVRM' | tail -n 30");
	}
}

static void judge_nodes(
	const struct doctor_options *o, const struct vendor *v, struct doctor_report *r)
{
	char dir[32], id[40], denied[96] = "";
	snprintf(dir, sizeof(dir), "dev%s%s", v->node_dir[0] ? "/" : "", v->node_dir);
	snprintf(id, sizeof(id), "driver.%s.nodes", v->key);
	_cleanup_free_ char *whole = rooted(o, dir);
	_cleanup_dir_ DIR *d = opendir(whole);
	unsigned nodes = 0, closed = 0;
	struct dirent *e;
	while (d && (e = readdir(d))) {
		if (strncmp(e->d_name, v->node_prefix, strlen(v->node_prefix)) != 0) {
			continue;
		}
		struct text t = {0};
		text_addf(&t, "%s/%s", whole, e->d_name);
		_cleanup_free_ char *node = text_steal(&t);
		nodes++;
		if (access(node, R_OK | W_OK) < 0) {
			closed++;
			snprintf(denied, sizeof(denied), "/%s/%.40s", dir, e->d_name);
		}
	}
	if (nodes == 0) {
		struct doctor_line *l = doctor_add(r, DOCTOR_DRIVER, DOCTOR_FAULT, id,
			"There is no device node for the %s GPU", v->name);
		doctor_evidence(l, "no /%s/%s*", dir, v->node_prefix);
		if (v->id == VENDOR_NVIDIA) {
			doctor_fix(l, "sudo nvidia-modprobe -u -c=0");
		}
		return;
	}
	struct doctor_line *l =
		closed ? doctor_add(r, DOCTOR_DRIVER, DOCTOR_FAULT, id, "%s is closed to this user",
				 denied)
		       : doctor_add(r, DOCTOR_DRIVER, DOCTOR_OK, id,
				 "The %s device nodes are open to this user", v->name);
	doctor_evidence(l, "%u of %u nodes /%s/%s* cannot be read and written", closed, nodes, dir,
		v->node_prefix);
	if (closed) {
		doctor_fix(l, "sudo usermod -aG video,render \"$USER\"   # then log in again");
		doctor_fix(l, "ls -l %s", denied);
	}
}

void doctor_driver(const struct doctor_options *o, struct doctor_report *r)
{
	if (!o->machine) {
		struct doctor_line *l = doctor_add(r, DOCTOR_DRIVER, DOCTOR_UNSEEN, "driver",
			"Which GPUs there are could not be seen");
		doctor_evidence(l, "no PCI devices could be read");
		return;
	}
	for (size_t i = 0; i < ARRAY_LEN(vendors); i++) {
		unsigned bound, vfio, gpus = count(o->machine, vendors[i].id, &bound, &vfio);
		if (gpus > vfio) {
			judge_module(o, &vendors[i], r, gpus - vfio, bound - vfio);
			judge_nodes(o, &vendors[i], r);
			if (vendors[i].id == VENDOR_NVIDIA) {
				doctor_cuda(o, r);
			}
		}
		if (vfio) {
			struct doctor_line *l = doctor_add(r, DOCTOR_DRIVER, DOCTOR_NOTE,
				"driver.vfio", "%u %s GPU%s held for a guest", vfio,
				vendors[i].name, vfio > 1 ? "s are" : " is");
			doctor_evidence(l, "driver vfio-pci");
		}
	}
}
