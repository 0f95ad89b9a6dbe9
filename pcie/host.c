/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pcie/host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "pcie/guest.h"
#include "pcie/iomem.h"
#include "pcie/mask.h"

/* Copies the line at S, without its end, and returns the next one's start or NULL. */
static const char *next_line(const char *s, char *line, size_t size)
{
	size_t n = strcspn(s, "\n");
	size_t keep = MIN(n, size - 1);
	memcpy(line, s, keep);
	line[keep] = '\0';
	return s[n] ? s + n + 1 : NULL;
}

/* The value behind "KEY :" or "KEY:" when LINE is such a line, else NULL. */
static char *value_of(char *line, const char *key)
{
	size_t n = strlen(key);
	if (strncmp(line, key, n)) {
		return NULL;
	}
	char *p = line + n + strspn(line + n, " \t");
	return *p == ':' ? text_trim(p + 1) : NULL;
}

/* Keeps the lines whose key is in KEYS. */
static void keep_lines(struct text *out, const char *s, const char *const *keys, size_t n)
{
	char line[512];
	while (s) {
		s = next_line(s, line, sizeof(line));
		for (size_t i = 0; i < n; i++) {
			char copy[sizeof(line)];
			memcpy(copy, line, sizeof(copy));
			const char *value = value_of(copy, keys[i]);
			if (value) {
				text_addf(out, "%s: %s\n", keys[i], value);
			}
		}
	}
}

/* proc/cpuinfo: one line of address sizes, and whether the flags name a hypervisor. */

static void reduce_cpuinfo(struct text *out, const char *s, const char *hostname)
{
	(void)hostname;
	bool sizes = false, flags = false;
	char line[8192]; /* the flags of recent processors take more than 2000 characters */
	while (s && !(sizes && flags)) {
		s = next_line(s, line, sizeof(line));
		char *value = value_of(line, "flags");
		if (value && !flags) {
			flags = true;
			bool found = false;
			char *save = NULL;
			for (char *w = strtok_r(value, " ", &save); w;
				w = strtok_r(NULL, " ", &save)) {
				found = found || !strcmp(w, "hypervisor");
			}
			text_addf(out, "flags: %s\n", found ? "hypervisor" : "");
		} else if (!sizes && (value = value_of(line, "address sizes"))) {
			sizes = true;
			text_addf(out, "address sizes: %s\n", value);
		}
	}
}

static void parse_cpuinfo(
	struct pcie_snapshot *s, const struct pcie_host_file *file, const char *text)
{
	(void)file;
	char line[8192];
	while (text) {
		text = next_line(text, line, sizeof(line));
		unsigned bits;
		char *value = value_of(line, "flags");
		if (value) {
			s->host.have_virtual = PCIE_KNOWN;
			s->host.is_virtual = strstr(value, "hypervisor") != NULL;
		} else if ((value = value_of(line, "address sizes")) &&
			   sscanf(value, "%u bits physical", &bits) == 1 && bits <= 64) {
			s->host.have_phys_bits = PCIE_KNOWN;
			s->host.phys_bits = (uint8_t)bits;
		}
	}
}

static void reduce_cmdline(struct text *out, const char *s, const char *hostname)
{
	char *masked = pcie_mask_cmdline(s, strcspn(s, "\n"), hostname);
	text_add(out, masked);
	free(masked);
}

static void reduce_whole(struct text *out, const char *s, const char *hostname)
{
	(void)hostname;
	text_add(out, s);
}

static char *field_of(struct pcie_snapshot *s, const struct pcie_host_file *file)
{
	return (char *)&s->host + file->field;
}

static void parse_kernel(
	struct pcie_snapshot *s, const struct pcie_host_file *file, const char *text)
{
	s->host.have_kernel = PCIE_KNOWN;
	text_copy(field_of(s, file), file->size, text);
}

/* "Linux version 6.1.0-32-amd64 (…": only where osrelease is missing. */
static void reduce_version(struct text *out, const char *s, const char *hostname)
{
	(void)hostname;
	char release[96];
	if (sscanf(s, "Linux version %95s", release) == 1) {
		text_addf(out, "Linux version %s", release);
	}
}

static void parse_version(
	struct pcie_snapshot *s, const struct pcie_host_file *file, const char *text)
{
	static const char start[] = "Linux version ";
	if (s->host.have_kernel != PCIE_KNOWN && !strncmp(text, start, sizeof(start) - 1)) {
		parse_kernel(s, file, text + sizeof(start) - 1);
	}
}

static void parse_arch(struct pcie_snapshot *s, const struct pcie_host_file *file, const char *text)
{
	s->host.have_arch = PCIE_KNOWN;
	text_copy(field_of(s, file), file->size, text);
}

static void parse_cmdline(
	struct pcie_snapshot *s, const struct pcie_host_file *file, const char *text)
{
	s->host.have_cmdline = PCIE_KNOWN;
	text_copy(field_of(s, file), file->size, text);
}

static void parse_dmi(struct pcie_snapshot *s, const struct pcie_host_file *file, const char *text)
{
	s->host.have_dmi = PCIE_KNOWN;
	text_copy(field_of(s, file), file->size, text);
}

/* "board" is vendor and name; the vendor's file comes first in the table. */
static void parse_board(
	struct pcie_snapshot *s, const struct pcie_host_file *file, const char *text)
{
	size_t n = strlen(s->host.board);
	s->host.have_dmi = PCIE_KNOWN;
	snprintf(field_of(s, file) + n, file->size - n, "%s%s", n ? " " : "", text);
}

static void parse_efi(struct pcie_snapshot *s, const struct pcie_host_file *file, const char *text)
{
	(void)file;
	s->host.have_efi = PCIE_KNOWN;
	s->host.efi = *text == '1';
	s->host.efi_src = pcie_snapshot_source(s, "/sys/firmware/efi");
}

static void parse_hypervisor(
	struct pcie_snapshot *s, const struct pcie_host_file *file, const char *text)
{
	s->host.have_virtual = PCIE_KNOWN;
	s->host.is_virtual = true;
	text_copy(field_of(s, file), file->size, text);
}

/* Xen's first domain has the machine's own PCI: no guest, though the CPU flag is set. */
static void parse_xen(struct pcie_snapshot *s, const struct pcie_host_file *file, const char *text)
{
	(void)file;
	if (strstr(text, "control_d")) {
		s->host.have_virtual = PCIE_KNOWN;
		s->host.is_virtual = false;
		s->host.virt[0] = '\0';
	}
}

static void parse_iomem(
	struct pcie_snapshot *s, const struct pcie_host_file *file, const char *text)
{
	char line[256];
	while (text) {
		text = next_line(text, line, sizeof(line));
		pcie_iomem_line(s, line);
	}
	pcie_iomem_finish(s, pcie_snapshot_source(s, file->name));
}

/* Options of the driver DRIVER, for every device that it has. */
static void add_option(
	struct pcie_snapshot *s, const char *driver, const char *name, const char *value)
{
	for (size_t i = 0; i < s->ndev; i++) {
		struct pcie_device *d = &s->dev[i];
		if (strcmp(d->driver, driver) || d->noption == PCIE_OPTIONS) {
			continue;
		}
		struct pcie_option *o = &d->option[d->noption++];
		o->src = pcie_snapshot_source(s, "driver parameters");
		text_copy(o->name, sizeof(o->name), name);
		text_copy(o->value, sizeof(o->value), value);
	}
}

static const char *const nvidia_options[] = {"CoherentGPUMemoryMode", "EnableResizableBar"};

static void reduce_nvidia_params(struct text *out, const char *s, const char *hostname)
{
	(void)hostname;
	keep_lines(out, s, nvidia_options, ARRAY_LEN(nvidia_options));
}

static void parse_nvidia_params(
	struct pcie_snapshot *s, const struct pcie_host_file *file, const char *text)
{
	(void)file;
	char line[256];
	while (text) {
		text = next_line(text, line, sizeof(line));
		for (size_t i = 0; i < ARRAY_LEN(nvidia_options); i++) {
			const char *value = value_of(line, nvidia_options[i]);
			if (value && strcmp(value, "\"\"")) {
				add_option(s, "nvidia", nvidia_options[i], value);
			}
		}
	}
}

/* Since Linux 5.12: nanoseconds from reset to the start of the boot loader (ACPI 6.5, 5.2.24). */
static void parse_firmware_time(
	struct pcie_snapshot *s, const struct pcie_host_file *file, const char *text)
{
	(void)file;
	uint64_t ns;
	if (!text_parse_u64(text, 10, &ns) && ns) {
		s->host.have_firmware_time = PCIE_KNOWN;
		s->host.firmware_ns = ns;
	}
}

/* "sys/module/DRIVER/parameters/NAME" */
static void parse_module(
	struct pcie_snapshot *s, const struct pcie_host_file *file, const char *text)
{
	char driver[32];
	if (sscanf(file->name, "sys/module/%31[^/]/", driver) == 1) {
		add_option(s, driver, strrchr(file->name, '/') + 1, text);
	}
}

#define FIELD(member) offsetof(struct pcie_host, member), sizeof(((struct pcie_host *)0)->member)

const struct pcie_host_file pcie_host_files[] = {
	{"proc/sys/kernel/osrelease", NULL, parse_kernel, FIELD(kernel)},
	{"proc/version", reduce_version, parse_version, FIELD(kernel)},
	{"proc/sys/kernel/arch", NULL, parse_arch, FIELD(arch)},
	{"proc/cmdline", reduce_cmdline, parse_cmdline, FIELD(cmdline)},
	{"proc/cpuinfo", reduce_cpuinfo, parse_cpuinfo, 0, 0},
	{"sys/class/dmi/id/bios_vendor", NULL, parse_dmi, FIELD(bios_vendor)},
	{"sys/class/dmi/id/bios_version", NULL, parse_dmi, FIELD(bios_version)},
	{"sys/class/dmi/id/bios_date", NULL, parse_dmi, FIELD(bios_date)},
	{"sys/class/dmi/id/board_vendor", NULL, parse_board, FIELD(board)},
	{"sys/class/dmi/id/board_name", NULL, parse_board, FIELD(board)},
	{"sys/class/dmi/id/sys_vendor", NULL, parse_dmi, FIELD(sys_vendor)},
	{"sys/class/dmi/id/product_name", NULL, parse_dmi, FIELD(product)},
	{"sys/firmware/efi", NULL, parse_efi, 0, 0},
	{"sys/firmware/acpi/fpdt/boot/bootloader_launch_ns", NULL, parse_firmware_time, 0, 0},
	{"sys/hypervisor/type", NULL, parse_hypervisor, FIELD(virt)},
	{"proc/xen/capabilities", NULL, parse_xen, 0, 0},
	{"proc/iomem", reduce_whole, parse_iomem, 0, 0},
	{"proc/driver/nvidia/params", reduce_nvidia_params, parse_nvidia_params, 0, 0},
	{"sys/module/amdgpu/parameters/rebar", NULL, parse_module, 0, 0},
	{"sys/module/i915/parameters/lmem_bar_size", NULL, parse_module, 0, 0},
	{"sys/module/xe/parameters/vram_bar_size", NULL, parse_module, 0, 0},
};
const size_t pcie_nhost_files = ARRAY_LEN(pcie_host_files);

const struct pcie_host_file *pcie_host_find(const char *name)
{
	for (size_t i = 0; i < pcie_nhost_files; i++) {
		if (!strcmp(pcie_host_files[i].name, name)) {
			return &pcie_host_files[i];
		}
	}
	return NULL;
}

char *pcie_host_reduce(const struct pcie_host_file *file, const char *text, const char *hostname)
{
	struct text out = {0};
	if (file->reduce) {
		file->reduce(&out, text, hostname);
	} else {
		char line[256];
		next_line(text, line, sizeof(line));
		text_add(&out, text_trim(line));
	}
	return text_steal(&out);
}

static const char *const nvidia_information[] = {"Model", "Video BIOS", "GPU Firmware"};

void pcie_host_reduce_nvidia(struct text *out, const char *s)
{
	keep_lines(out, s, nvidia_information, ARRAY_LEN(nvidia_information));
}

bool pcie_host_parse_nvidia(struct pcie_snapshot *s, const char *name, const char *text)
{
	static const char folder[] = PCIE_HOST_NVIDIA_FOLDER "/";
	struct pcie_addr addr;
	if (strncmp(name, folder, sizeof(folder) - 1)) {
		return false;
	}
	name += sizeof(folder) - 1;
	int n = pcie_addr_scan(name, &addr);
	if (n < 0 || strcmp(name + n, "/" PCIE_HOST_NVIDIA_FILE)) {
		return false;
	}
	int dev = pcie_snapshot_find(s, addr);
	if (dev < 0) {
		return true;
	}
	struct pcie_device *d = &s->dev[dev];
	char line[256];
	while (text) {
		text = next_line(text, line, sizeof(line));
		const char *value = value_of(line, "Model");
		if (value) {
			text_copy(d->name, sizeof(d->name), value);
		} else if ((value = value_of(line, "Video BIOS"))) {
			text_copy(d->vbios, sizeof(d->vbios), value);
		}
	}
	return true;
}

void pcie_host_finish(struct pcie_snapshot *s)
{
	struct pcie_host *h = &s->host;
	char machine[sizeof(h->sys_vendor) + sizeof(h->product) + 1];

	if (h->have_dmi != PCIE_KNOWN) {
		return;
	}
	snprintf(machine, sizeof(machine), "%s %s", h->sys_vendor, h->product);
	const char *name = pcie_guest_hypervisor(machine);
	if (name) {
		h->have_virtual = PCIE_KNOWN;
		h->is_virtual = true;
		text_copy(h->virt, sizeof(h->virt), name);
	} else if (h->have_virtual == PCIE_UNKNOWN && pcie_guest_is_metal(machine)) {
		/* Other names deny nothing: a cloud may call its guests anything. */
		h->have_virtual = PCIE_KNOWN;
		h->is_virtual = false;
	}
}
