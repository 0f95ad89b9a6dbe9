/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kernel modules, device nodes and their permissions, for each vendor whose GPU is here. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
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
	const char *install;    /* what to do when no module is loaded */
};

static const struct vendor vendors[] = {
	{VENDOR_NVIDIA, "NVIDIA", "nvidia", {"nvidia", "nouveau"},
		"sudo modprobe nvidia   # else install the driver: apt install nvidia-driver"},
	{VENDOR_AMD, "AMD", "amd", {"amdgpu", "radeon"}, "sudo modprobe amdgpu"},
	{VENDOR_INTEL, "Intel", "intel", {"xe", "i915"}, "sudo modprobe xe || sudo modprobe i915"},
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

static bool is_vfio(const struct pcie_device *d)
{
	return d->have_driver == PCIE_KNOWN && !strcmp(d->driver, "vfio-pci");
}

static bool is_of(const struct pcie_device *d, uint16_t vendor)
{
	return pcie_device_is_gpu(d) && d->have_ids == PCIE_KNOWN && d->vendor == vendor;
}

static bool is_bound(const struct pcie_device *d, uint16_t vendor)
{
	return is_of(d, vendor) && d->have_driver == PCIE_KNOWN && !is_vfio(d);
}

/* GPUs of this vendor in the machine; those that vfio-pci holds are a guest's. */
static unsigned count(
	const struct pcie_snapshot *s, uint16_t vendor, unsigned *ret_bound, unsigned *ret_vfio)
{
	unsigned n = 0;
	*ret_bound = *ret_vfio = 0;
	for (size_t i = 0; i < s->ndev; i++) {
		const struct pcie_device *d = &s->dev[i];
		if (!is_of(d, vendor)) {
			continue;
		}
		n++;
		*ret_bound += d->have_driver == PCIE_KNOWN;
		*ret_vfio += is_vfio(d);
	}
	return n;
}

static bool judge_module(const struct doctor_options *o, const struct vendor *v,
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
		return false;
	}
	char path[64], version[64] = "";
	snprintf(path, sizeof(path), "sys/module/%s/version", module);
	bool has_version = doctor_read(o, path, version, sizeof(version)) > 0;
	bool all = bound == gpus;
	struct doctor_line *l = doctor_add(r, DOCTOR_DRIVER, all ? DOCTOR_OK : DOCTOR_FAULT, id,
		all ? "Module '%s' drives the %s GPU%s"
		    : "Module '%s' is loaded, but not every %s GPU is bound%s",
		module, v->name, all && gpus > 1 ? "s" : "");
	doctor_evidence(l, "version %s; %u of %u GPUs bound",
		has_version ? text_trim(version) : "not published (part of the kernel)", bound,
		gpus);
	if (!all) {
		doctor_fix(l, "sudo dmesg | grep -iE 'probe|BAR|NVRM' | tail -n 30");
	}
	return true;
}

/* What stands in /dev for the vendor's GPUs. */
struct nodes {
	unsigned there, closed, missing;
	char first_closed[64], first_missing[64];
};

static void try_node(const struct doctor_options *o, const char *path, struct nodes *n)
{
	_cleanup_free_ char *whole = rooted(o, path);
	if (faccessat(AT_FDCWD, whole, F_OK, AT_EACCESS) < 0) {
		if (n->missing++ == 0) {
			snprintf(n->first_missing, sizeof(n->first_missing), "/%s", path);
		}
	} else if (faccessat(AT_FDCWD, whole, R_OK | W_OK, AT_EACCESS) < 0) {
		if (n->closed++ == 0) {
			snprintf(n->first_closed, sizeof(n->first_closed), "/%s", path);
		}
		n->there++;
	} else {
		n->there++;
	}
}

/* "Device Minor: 	 3" of the driver's own page; the node is /dev/nvidia3. */
static bool nvidia_minor(const struct doctor_options *o, const char *bdf, unsigned *ret)
{
	char path[96], buf[1024];
	snprintf(path, sizeof(path), "proc/driver/nvidia/gpus/%s/information", bdf);
	if (doctor_read(o, path, buf, sizeof(buf)) <= 0) {
		return false;
	}
	const char *at = strstr(buf, "Device Minor:");
	return at && sscanf(at, "Device Minor: %u", ret) == 1;
}

/* The render node of one GPU, as sysfs names it. */
static void try_render_node(const struct doctor_options *o, const char *bdf, struct nodes *n)
{
	char path[96];
	snprintf(path, sizeof(path), "sys/bus/pci/devices/%s/drm", bdf);
	_cleanup_free_ char *whole = rooted(o, path);
	_cleanup_dir_ DIR *d = opendir(whole);
	struct dirent *e;
	while (d && (e = readdir(d))) {
		if (!strncmp(e->d_name, "renderD", 7)) {
			snprintf(path, sizeof(path), "dev/dri/%.24s", e->d_name);
			try_node(o, path, n);
			return;
		}
	}
	if (n->missing++ == 0) {
		snprintf(
			n->first_missing, sizeof(n->first_missing), "/dev/dri/renderD* of %s", bdf);
	}
}

static void find_nodes(const struct doctor_options *o, const struct vendor *v, struct nodes *n)
{
	for (size_t i = 0; i < o->machine->ndev; i++) {
		const struct pcie_device *d = &o->machine->dev[i];
		char bdf[PCIE_ADDR_MAX], path[32];
		if (!is_bound(d, v->id)) {
			continue;
		}
		pcie_addr_format(d->addr, bdf);
		unsigned minor;
		if (v->id != VENDOR_NVIDIA) {
			try_render_node(o, bdf, n);
		} else if (nvidia_minor(o, bdf, &minor)) {
			snprintf(path, sizeof(path), "dev/nvidia%u", minor);
			try_node(o, path, n);
		}
	}
	if (v->id == VENDOR_NVIDIA) {
		try_node(o, "dev/nvidiactl", n);
		try_node(o, "dev/nvidia-uvm", n);
	}
}

/* False: what uses the nodes cannot work. */
static bool judge_nodes(
	const struct doctor_options *o, const struct vendor *v, struct doctor_report *r)
{
	char id[40];
	struct nodes n = {0};
	snprintf(id, sizeof(id), "driver.%s.nodes", v->key);
	find_nodes(o, v, &n);
	if (n.closed) {
		struct doctor_line *l = doctor_add(r, DOCTOR_DRIVER, DOCTOR_FAULT, id,
			"%s is closed to this user", n.first_closed);
		doctor_evidence(l,
			"%u of the %u device nodes of the %s driver cannot be read and written",
			n.closed, n.there, v->name);
		if (v->id == VENDOR_NVIDIA) {
			doctor_fix(l,
				"ls -l /dev/nvidia*   # 0666 unless NVreg_DeviceFileMode says other");
			doctor_fix(l, "grep -i DeviceFile /proc/driver/nvidia/params");
		}
		doctor_fix(l, "sudo usermod -aG video,render \"$USER\"   # then log in again");
		return false;
	}
	if (n.missing) {
		struct doctor_line *l = doctor_add(
			r, DOCTOR_DRIVER, DOCTOR_FAULT, id, "%s is not there", n.first_missing);
		doctor_evidence(l, "%u of %u device nodes of the %s driver are missing", n.missing,
			n.missing + n.there, v->name);
		if (v->id == VENDOR_NVIDIA) {
			doctor_fix(l, "sudo nvidia-modprobe -u -c=0");
		} else {
			doctor_fix(l, "sudo udevadm trigger --subsystem-match=drm; ls -l /dev/dri");
		}
		doctor_fix(l, "# in a container: give it the devices, docker run %s",
			v->id == VENDOR_NVIDIA ? "--gpus all"
					       : "--device /dev/dri --device /dev/kfd");
		return false;
	}
	if (n.there) {
		struct doctor_line *l = doctor_add(r, DOCTOR_DRIVER, DOCTOR_OK, id,
			"The %s device nodes are open to this user", v->name);
		doctor_evidence(l, "%u nodes", n.there);
	}
	return true;
}

/* Cards that the module holds and did not bring up, or that CUDA does not offer. */
static void judge_count(unsigned bound, struct doctor_report *r, const struct doctor_nvidia *n)
{
	const char *visible = getenv("CUDA_VISIBLE_DEVICES");
	size_t silent = 0, which = 0;
	for (size_t i = 0; i < n->ncard && n->error == 0; i++) {
		if (n->card[i].error < 0) {
			which = silent++ ? which : i;
		}
	}
	if (silent) {
		struct doctor_line *l = doctor_add(r, DOCTOR_DRIVER, DOCTOR_FAULT,
			"driver.nvidia.devices", "%zu of %zu GPUs do not answer", silent, n->ncard);
		doctor_evidence(l, "%s: %s", n->address[which], n->card[which].why);
		doctor_fix(l, "sudo dmesg | grep -iE 'RmInitAdapter|NVRM: xid' | tail");
	} else if (n->gpu.devices > 0 && (unsigned)n->gpu.devices < bound) {
		struct doctor_line *l =
			doctor_add(r, DOCTOR_DRIVER, DOCTOR_NOTE, "driver.nvidia.devices",
				"CUDA offers %d of %u GPUs", n->gpu.devices, bound);
		doctor_evidence(l, "CUDA_VISIBLE_DEVICES is %s%s", visible ? visible : "not set",
			visible ? "" : "; with MIG on a process sees one instance");
	}
}

static void list_cards(const struct doctor_options *o, struct doctor_nvidia *n)
{
	for (size_t i = 0; i < o->machine->ndev && n->ncard < DOCTOR_CARDS; i++) {
		const struct pcie_device *d = &o->machine->dev[i];
		if (is_bound(d, VENDOR_NVIDIA) && d->addr.known) {
			pcie_addr_format(d->addr, n->address[n->ncard++]);
		}
	}
}

static void judge_nvidia(const struct doctor_options *o, const struct vendor *v, unsigned gpus,
	unsigned bound, struct doctor_report *r, struct doctor_nvidia *ret)
{
	if (!loaded(o, "nvidia")) {
		bool other = judge_module(o, v, r, gpus, bound);
		struct doctor_line *l = doctor_add(r, DOCTOR_DRIVER,
			other ? DOCTOR_NOTE : DOCTOR_UNSEEN, "driver.nvidia.libcuda",
			other ? "CUDA needs NVIDIA's own driver"
			      : "The driver's libraries were not looked at");
		doctor_evidence(l, "there is no /sys/module/nvidia");
		return;
	}
	/* First: libcuda makes nodes that are not there yet. */
	doctor_cuda_ask(o, &ret->gpu);
	judge_module(o, v, r, gpus, bound);
	if (judge_nodes(o, v, r) || ret->gpu.step == DOCTOR_GPU_DONE) {
		list_cards(o, ret);
		doctor_cards_ask(o, ret);
		doctor_cuda(o, r, &ret->gpu);
		judge_count(bound, r, ret);
		doctor_cards(ret, DOCTOR_DRIVER, r);
	} else {
		struct doctor_line *l = doctor_add(r, DOCTOR_DRIVER, DOCTOR_UNSEEN,
			"driver.nvidia.libcuda", "The driver's libraries were not judged");
		doctor_evidence(l, "they cannot work without the nodes");
	}
}

void doctor_driver(
	const struct doctor_options *o, struct doctor_report *r, struct doctor_nvidia *ret)
{
	if (!o->machine) {
		struct doctor_line *l = doctor_add(r, DOCTOR_DRIVER, DOCTOR_UNSEEN, "driver",
			"Which GPUs there are could not be seen");
		doctor_evidence(l, "no PCI devices could be read");
		return;
	}
	for (size_t i = 0; i < ARRAY_LEN(vendors); i++) {
		unsigned bound, vfio, gpus = count(o->machine, vendors[i].id, &bound, &vfio);
		if (gpus > vfio && vendors[i].id == VENDOR_NVIDIA) {
			judge_nvidia(o, &vendors[i], gpus - vfio, bound - vfio, r, ret);
		} else if (gpus > vfio) {
			judge_module(o, &vendors[i], r, gpus - vfio, bound - vfio);
			judge_nodes(o, &vendors[i], r);
		}
		if (vfio) {
			struct doctor_line *l = doctor_add(r, DOCTOR_DRIVER, DOCTOR_NOTE,
				"driver.vfio", "%u %s GPU%s held for a guest", vfio,
				vendors[i].name, vfio > 1 ? "s are" : " is");
			doctor_evidence(l, "driver vfio-pci");
		}
	}
}
