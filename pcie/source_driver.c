/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The driver as a witness: what NVIDIA's says of the memory of its awake GPUs. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "pcie/attrs.h"
#include "pcie/source_sysfs.h"

static void give_size(struct pcie_sysfs_reader *r, const char *attr, uint64_t bytes)
{
	char value[24];
	int n = snprintf(value, sizeof(value), "%llu", (unsigned long long)bytes);
	if (bytes) {
		r->sink->attr(r->sink, pcie_attr_find(attr), value, (size_t)n);
	}
}

/* What the driver said of the device at ADDR, beside its files. */
void pcie_sysfs_give_sizes(struct pcie_sysfs_reader *r, struct pcie_addr addr)
{
	for (size_t i = 0; i < r->nsizes; i++) {
		const struct pcie_gpu_sizes *g = &r->sizes[i];
		if (!pcie_addr_compare(g->addr, addr)) {
			give_size(r, PCIE_ATTR_NVML_MEMORY, g->memory);
			give_size(r, PCIE_ATTR_NVML_BAR1, g->bar1);
			if (g->note[0]) {
				pcie_sysfs_problem(r, addr, "%s", g->note);
			}
		}
	}
}

/* A display controller of NVIDIA's that its driver has, and that does not sleep. */
static bool can_be_asked(struct pcie_sysfs_reader *r, const char *name)
{
	static const char *const power[] = {"power/runtime_status", "power_state"};
	_cleanup_fd_ int dir =
		openat(r->bus, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC); /* the kernel's link */
	if (dir < 0 || pcie_sysfs_text(r, dir, "vendor") <= 0 || strncmp(r->value, "0x10de", 6) ||
		pcie_sysfs_text(r, dir, "class") <= 0 || strncmp(r->value, "0x03", 4) ||
		pcie_sysfs_link(r, dir, "driver", r->value, sizeof(r->value)) <= 0) {
		return false;
	}
	const char *slash = strrchr(r->value, '/');
	bool can = slash && !strcmp(slash, "/nvidia");
	for (size_t i = 0; i < ARRAY_LEN(power) && !r->o->wake; i++) {
		can = can && !(pcie_sysfs_text(r, dir, power[i]) > 0 &&
				     pcie_sysfs_sleeps(power[i], r->value));
	}
	return can;
}

void pcie_sysfs_ask_driver(struct pcie_sysfs_reader *r, const struct pcie_addr *addr, size_t n)
{
	size_t cap = 0;
	for (size_t i = 0; i < n; i++) {
		char name[PCIE_ADDR_MAX];
		if (can_be_asked(r, pcie_addr_format(addr[i], name))) {
			r->sizes = xgrow(r->sizes, r->nsizes, &cap, sizeof(*r->sizes));
			r->sizes[r->nsizes++] = (struct pcie_gpu_sizes){.addr = addr[i]};
		}
	}
	if (r->nsizes) {
		r->o->driver->sizes(r->o->driver, r->sizes, r->nsizes);
	}
}
