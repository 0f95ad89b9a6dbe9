/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the boot says about the machine: kernel, command line, firmware, processor. */
#include <stdlib.h>

#include "base/macros.h"
#include "base/text.h"
#include "pcie/guest.h"
#include "pcie/klog_state.h"

/* Copies the N bytes at S. */
static void take(char *dst, size_t size, const char *s, size_t n)
{
	n = MIN(n, size - 1);
	memcpy(dst, s, n);
	dst[n] = '\0';
}

static void set_arch(struct klog *k, const char *name)
{
	k->used = true;
	if (k->host.have_arch != PCIE_KNOWN) {
		k->host.have_arch = PCIE_KNOWN;
		text_copy(k->host.arch, sizeof(k->host.arch), name);
	}
}

/* "Linux version 6.8.6-gentoo (builder@host) (gcc …) #38 SMP …". */
static void version(struct klog *k, const char *s)
{
	static const struct {
		const char *words, *arch;
	} built_for[] = {
		{"x86_64-", "x86_64"},
		{".x86_64 ", "x86_64"},
		{"-amd64 ", "x86_64"},
		{"aarch64-", "aarch64"},
		{".aarch64 ", "aarch64"},
		{"-arm64 ", "aarch64"},
		{"powerpc64le-", "ppc64le"},
		{"powerpc-", "ppc64"},
		{"riscv64-", "riscv64"},
		{"loongarch64-", "loongarch64"},
	};
	klog_start(k, KLOG_MARK_VERSION);
	k->used = true;
	k->seen |= KLOG_SEEN_VERSION;
	size_t n = strcspn(s, " ");
	if (n == 0) {
		return;
	}
	k->host.have_kernel = PCIE_KNOWN;
	take(k->host.kernel, sizeof(k->host.kernel), s, n);
	for (size_t i = 0; i < ARRAY_LEN(built_for); i++) {
		if (strstr(s, built_for[i].words)) {
			set_arch(k, built_for[i].arch);
			break;
		}
	}
}

static void command_line(struct klog *k, const char *s)
{
	k->used = true;
	k->seen |= KLOG_SEEN_CMDLINE;
	k->host.have_cmdline = PCIE_KNOWN;
	text_copy(k->host.cmdline, sizeof(k->host.cmdline), s);
}

/* NAME is DMI's or the kernel's; the first that names a hypervisor is kept: DMI says more. */
static void virtual_machine(struct klog *k, const char *name)
{
	struct pcie_host *h = &k->host;
	h->have_virtual = PCIE_KNOWN;
	h->is_virtual = true;
	if (!h->virt[0]) {
		text_copy(h->virt, sizeof(h->virt), name);
	}
}

/* "Dell Inc. Precision 7920/0RN4PJ, BIOS 2.1.0 07/08/2025". */
static void dmi(struct klog *k, const char *s)
{
	struct pcie_host *h = &k->host;
	const char *bios = NULL;
	for (const char *p = s; (p = strstr(p, ", BIOS ")); p++) {
		bios = p; /* the machine's name may hold commas too */
	}
	if (!bios) {
		return;
	}
	k->used = true;
	h->have_dmi = PCIE_KNOWN;
	take(h->product, sizeof(h->product), s, (size_t)(bios - s));
	char *slash = strrchr(h->product, '/');
	if (slash) {
		text_copy(h->board, sizeof(h->board), slash + 1);
		*slash = '\0';
	}
	const char *v = bios + strlen(", BIOS ");
	size_t len = strlen(v);
	const char *date = v + len;
	while (date > v && date[-1] != ' ') {
		date--;
	}
	uint64_t day[3];
	if (klog_match(date, "%u/%u/%u", day, 3) == 3) {
		take(h->bios_date, sizeof(h->bios_date), date, strlen(date));
		len = (size_t)(date - v);
		while (len && v[len - 1] == ' ') {
			len--;
		}
	}
	take(h->bios_version, sizeof(h->bios_version), v, len);
	const char *guest = pcie_guest_hypervisor(h->product);
	if (guest) {
		virtual_machine(k, guest);
	}
}

static void efi(struct klog *k, const char *s)
{
	/* "EFI v2.70 by EDK II", but also "EFI services will not be available." */
	if (!strncmp(s, "EFI v", 5)) {
		k->host.have_efi = PCIE_KNOWN;
		k->host.efi = true;
		k->host.efi_src = k->src;
		k->seen |= KLOG_SEEN_MAP;
		k->used = true;
	}
}

static void phys_bits(struct klog *k, uint64_t bits)
{
	if (bits >= 32 && bits <= 64) {
		k->host.have_phys_bits = PCIE_KNOWN;
		k->host.phys_bits = (uint8_t)bits;
		k->used = true;
	}
}

/* Lines that only one architecture prints. */
static bool arch_line(struct klog *k, const char *s)
{
	static const struct {
		const char *words, *arch;
	} rows[] = {
		{"BIOS-e820: ", "x86_64"},
		{"e820: ", "x86_64"},
		{"BIOS-provided physical RAM map", "x86_64"},
		{"Booting Linux on physical CPU 0x0000000000 [", "aarch64"},
		{"SError Interrupt on CPU", "aarch64"},
		{"The NVIDIA GPU driver for AArch64", "aarch64"},
		{"CPU features: detected:", "aarch64"},
		{"OPAL: ", "ppc64le"},
		{"SBI specification", "riscv64"},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if (rows[i].words[0] == s[0] && !strncmp(s, rows[i].words, strlen(rows[i].words))) {
			if (i < 3) {
				k->seen |= KLOG_SEEN_MAP;
			}
			set_arch(k, rows[i].arch);
			return true;
		}
	}
	return false;
}

bool klog_host_message(struct klog *k, const char *s)
{
	uint64_t v;
	switch (s[0]) {
	case '-':
		if (!strncmp(s, "-- Boot ", 8) || !strncmp(s, "-- Reboot", 9)) {
			klog_start(k, KLOG_MARK_JOURNAL);
			return true;
		}
		return false;
	case 'C':
		if (klog_eat(&s, "Command line: ")) {
			command_line(k, s);
			return true;
		}
		break;
	case 'D':
		if (klog_eat(&s, "DMI: ")) {
			dmi(k, s);
			return true;
		}
		if (klog_match(s, "DMAR: Host address width %u", &v, 1) == 1) {
			phys_bits(k, v);
			return true;
		}
		return false;
	case 'F':
		if (!strncmp(s, "Freeing unused", 14)) {
			k->seen |= KLOG_SEEN_LATE;
			return true;
		}
		return false;
	case 'H':
		if (klog_eat(&s, "Hypervisor detected: ")) {
			const char *name = pcie_guest_hypervisor(s);
			virtual_machine(k, name ? name : s);
			k->used = true;
			return true;
		}
		if (klog_eat(&s, "Hardware name: ")) {
			dmi(k, s);
			return true;
		}
		return false;
	case 'K':
		if (klog_eat(&s, "Kernel command line: ")) {
			command_line(k, s);
			return true;
		}
		return false;
	case 'L':
		if (klog_eat(&s, "Linux version ")) {
			version(k, s);
			return true;
		}
		return false;
	case 'M':
		if (!strncmp(s, "Memory: ", 8)) {
			k->seen |= KLOG_SEEN_MEMORY;
			return true;
		}
		return false;
	case 'e':
		if (klog_eat(&s, "efi: ")) {
			efi(k, s);
			return true;
		}
		break;
	default:
		break;
	}
	return arch_line(k, s);
}
