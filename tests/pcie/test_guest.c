/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Guest or real machine: by DMI, by the log, and unknown where nothing tells. */
#include "pcie/guest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"
#include "klog_fixture.h"
#include "pcie/host.h"

/* An ARM machine: no processor flag tells. */
static struct pcie_snapshot *arm(const char *vendor, const char *product)
{
	struct pcie_snapshot *s = pcie_snapshot_create("test");
	struct pcie_host *h = &s->host;
	h->have_dmi = PCIE_KNOWN;
	text_copy(h->sys_vendor, sizeof(h->sys_vendor), vendor);
	text_copy(h->product, sizeof(h->product), product);
	pcie_host_finish(s);
	return s;
}

static void what_dmi_tells(void **state)
{
	(void)state;
	static const struct {
		const char *vendor, *product, *virt;
		enum pcie_fact have;
		bool guest;
	} row[] = {
		{"Amazon EC2", "m7g.2xlarge", "amazon", PCIE_KNOWN, true}, /* Graviton */
		{"Amazon EC2", "m7g.metal", "", PCIE_KNOWN, false},
		{"Amazon EC2", "m7i.metal-24xl", "", PCIE_KNOWN, false},
		{"BHYVE", "BHYVE", "bhyve", PCIE_KNOWN, true},
		{"QEMU", "QEMU Virtual Machine", "qemu", PCIE_KNOWN, true},
		{"innotek GmbH", "VirtualBox", "oracle", PCIE_KNOWN, true},
		{"VMware, Inc.", "VMware20,1", "vmware", PCIE_KNOWN, true},
		{"Microsoft Corporation", "Virtual Machine", "microsoft", PCIE_KNOWN, true},
		{"Microsoft Corporation", "Surface Pro X", "", PCIE_UNKNOWN, false},
		{"Google", "Google Compute Engine", "google", PCIE_KNOWN, true},
		{"Google", "Kevin", "", PCIE_UNKNOWN, false},
		{"Red Hat", "KVM", "kvm", PCIE_KNOWN, true},
		{"OpenStack Foundation", "OpenStack Nova", "openstack", PCIE_KNOWN, true},
		{"Alibaba Cloud", "Alibaba Cloud ECS", "alibaba", PCIE_KNOWN, true},
		/* A vendor that is in no list denies nothing. */
		{"Some Cloud", "vServer", "", PCIE_UNKNOWN, false},
		{"Schenker", "Xenia XENON", "", PCIE_UNKNOWN, false},
	};
	for (size_t i = 0; i < ARRAY_LEN(row); i++) {
		struct pcie_snapshot *s = arm(row[i].vendor, row[i].product);
		assert_int_equal(s->host.have_virtual, row[i].have);
		assert_int_equal(s->host.is_virtual, row[i].guest);
		assert_string_equal(s->host.virt, row[i].virt);
		pcie_snapshot_destroy(s);
	}
}

/* The processor's flag denies; only a hypervisor's own name is stronger. */
static void flag_and_name(void **state)
{
	(void)state;
	struct pcie_snapshot *s = arm("Dell Inc.", "PowerEdge R760");
	s->host.have_virtual = PCIE_KNOWN;
	s->host.is_virtual = false;
	pcie_host_finish(s);
	assert_true(s->host.have_virtual == PCIE_KNOWN && !s->host.is_virtual);
	text_copy(s->host.sys_vendor, sizeof(s->host.sys_vendor), "QEMU");
	pcie_host_finish(s);
	assert_true(s->host.is_virtual);
	assert_string_equal(s->host.virt, "qemu");
	pcie_snapshot_destroy(s);
}

/* A log and sysfs call the same hypervisor by the same name. */
static void what_a_log_tells(void **state)
{
	(void)state;
	static const struct {
		const char *text, *virt;
	} row[] = {
		{"[    0.000000] DMI: Amazon EC2 m7g.2xlarge/, BIOS 1.0 11/1/2018\n", "amazon"},
		{"[    0.000000] DMI: QEMU Standard PC (Q35 + ICH9, 2009), BIOS 1.16 04/01/2014\n"
		 "[    0.000000] Hypervisor detected: KVM\n",
			"qemu"},
		{"[    0.000000] Hypervisor detected: KVM\n", "kvm"},
		{"[    0.000000] Hypervisor detected: Microsoft Hyper-V\n", "microsoft"},
		{"[    0.000000] Hypervisor detected: Xen HVM\n", "xen"},
		{"[    0.000000] Hypervisor detected: Jailhouse\n", "Jailhouse"},
	};
	for (size_t i = 0; i < ARRAY_LEN(row); i++) {
		struct pcie_snapshot *s = klog_read(row[i].text);
		assert_true(s->host.have_virtual == PCIE_KNOWN && s->host.is_virtual);
		assert_string_equal(s->host.virt, row[i].virt);
		pcie_snapshot_destroy(s);
	}
	struct pcie_snapshot *s = klog_read(
		"[    0.000000] DMI: Amazon EC2 m7g.metal/Not Specified, BIOS 1.0 10/16/2017\n");
	assert_int_equal(s->host.have_virtual, PCIE_UNKNOWN);
	pcie_snapshot_destroy(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_dmi_tells),
		cmocka_unit_test(flag_and_name),
		cmocka_unit_test(what_a_log_tells),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
