/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pcie/guest.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

#include "base/macros.h"

/* WORDS stands in S, no letter or digit beside it. */
static bool has_words(const char *s, const char *words)
{
	size_t n = strlen(words);
	for (const char *p = s; (p = strstr(p, words)); p++) {
		if ((p == s || !isalnum((unsigned char)p[-1])) && !isalnum((unsigned char)p[n])) {
			return true;
		}
	}
	return false;
}

bool pcie_guest_is_metal(const char *machine)
{
	/* "Amazon EC2 m7g.metal", "Amazon EC2 m7i.metal-24xl" */
	return has_words(machine, "Amazon EC2") && has_words(machine, "metal");
}

const char *pcie_guest_hypervisor(const char *machine)
{
	/* The maker of the machine comes before the means: KVM is behind several. */
	static const struct {
		const char *words, *name;
	} rows[] = {
		{"QEMU", "qemu"},
		{"Bochs", "bochs"},
		{"VMware", "vmware"},
		{"VirtualBox", "oracle"},
		{"innotek GmbH", "oracle"},
		{"Xen", "xen"},
		{"Microsoft Corporation Virtual Machine", "microsoft"},
		{"Hyper-V", "microsoft"},
		{"Google Compute Engine", "google"},
		{"Amazon EC2", "amazon"},
		{"OpenStack", "openstack"},
		{"Alibaba Cloud ECS", "alibaba"},
		{"DigitalOcean", "digitalocean"},
		{"Nutanix AHV", "nutanix"},
		{"oVirt", "ovirt"},
		{"Parallels", "parallels"},
		{"Apple Virtualization", "apple"},
		{"BHYVE", "bhyve"},
		{"Bhyve", "bhyve"},
		{"KVM", "kvm"},
	};
	for (size_t i = 0; !pcie_guest_is_metal(machine) && i < ARRAY_LEN(rows); i++) {
		if (has_words(machine, rows[i].words)) {
			return rows[i].name;
		}
	}
	return NULL;
}
