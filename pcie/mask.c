/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pcie/mask.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/macros.h"

static bool word_char(char c)
{
	return isalnum((unsigned char)c) || ((unsigned char)c & 0x80);
}

/* Whether position I of the N bytes at S begins a word. */
static bool begins_word(const char *s, size_t i)
{
	return i == 0 || !word_char(s[i - 1]);
}

static bool ends_word(const char *s, size_t n, size_t i)
{
	return i >= n || !word_char(s[i]);
}

static size_t hex_run(const char *s, size_t n, size_t i)
{
	size_t from = i;
	while (i < n && isxdigit((unsigned char)s[i])) {
		i++;
	}
	return i - from;
}

/* Letters and digits from I to END become C. */
static void blot(char *s, size_t i, size_t end, char c)
{
	for (; i < end; i++) {
		if (word_char(s[i])) {
			s[i] = c;
		}
	}
}

/* "00:1a:2b:3c:4d:5e", "00-1a-…": six or more pairs; the end of it, or 0. */
static size_t pairs(const char *s, size_t n, size_t i)
{
	size_t count = 0;
	char sep = '\0';
	for (;; i++) {
		if (hex_run(s, n, i) != 2) {
			return 0;
		}
		i += 2;
		count++;
		if (i >= n || (s[i] != ':' && s[i] != '-') || (sep && s[i] != sep) ||
			hex_run(s, n, i + 1) != 2) {
			break;
		}
		sep = s[i];
	}
	return count >= 6 && ends_word(s, n, i) ? i : 0;
}

/* 8-4-4-4-12 hex digits; the end, or 0. */
static size_t uuid(const char *s, size_t n, size_t i)
{
	static const size_t run[] = {8, 4, 4, 4, 12};
	for (size_t r = 0; r < ARRAY_LEN(run); r++) {
		if (r && (i >= n || s[i++] != '-')) {
			return 0;
		}
		if (hex_run(s, n, i) != run[r]) {
			return 0;
		}
		i += run[r];
	}
	return i;
}

/* A word that a serial number or name follows; the start of the value, or 0. */
static size_t key(const char *s, size_t n, size_t i)
{
	static const char *const keys[] = {"SerialNumber", "Serial Number", "serial_number",
		"serialno", "S/N", "asset tag", "asset_tag", "chassis tag", "Board ID", "eui.",
		"naa.", "wwn-0x", "nqn.", "iccid", "imei", "set hostname to", "hostname set to",
		"hostname", "serial=", "serial:", "serial #"};
	for (size_t k = 0; k < ARRAY_LEN(keys); k++) {
		size_t len = strlen(keys[k]);
		if (((s[i] ^ keys[k][0]) & ~0x20) || n - i < len ||
			strncasecmp(s + i, keys[k], len) != 0) {
			continue;
		}
		size_t v = i + len;
		/* A blank, a mark or the key's own end must stand between. */
		bool open = strchr(".x=:#", keys[k][len - 1]) != NULL;
		while (v < n && strchr(" \t:=#<\"'", s[v])) {
			open = true;
			v++;
		}
		return open && v < n ? v : 0;
	}
	return 0;
}

/* The end of the value that stands at I: up to a blank or the line's end. */
static size_t value_end(const char *s, size_t n, size_t i)
{
	while (i < n && !strchr(" \t\n,;)>\"'", s[i])) {
		i++;
	}
	return i;
}

/* "user@host": both sides begin with a letter. The end, or 0. */
static size_t account(const char *s, size_t n, size_t i)
{
	size_t at = i;
	while (at < n && (word_char(s[at]) || strchr("._+-", s[at]))) {
		at++;
	}
	if (at >= n || s[at] != '@' || !isalpha((unsigned char)s[i]) || at + 1 >= n ||
		!isalpha((unsigned char)s[at + 1])) {
		return 0;
	}
	size_t end = at + 1;
	while (end < n && (word_char(s[end]) || strchr(".-", s[end]))) {
		end++;
	}
	/* "resource_alignment=32@pci:10de:2204" is a parameter. */
	return end < n && s[end] == ':' ? 0 : end;
}

/* A host with the name of something that a log speaks of anyway cannot be told from it. */
static bool is_common(const char *host, size_t len)
{
	static const char *const words[] = {"amd", "amdgpu", "bar", "bus", "cpu", "debian",
		"device", "fedora", "gpu", "host", "intel", "kernel", "linux", "localhost", "mem",
		"memory", "nvidia", "pci", "pcie", "root", "system", "ubuntu", "window"};
	if (len < 3) {
		return true;
	}
	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		if (strlen(words[i]) == len && !strncasecmp(words[i], host, len)) {
			return true;
		}
	}
	return strspn(host, "0123456789abcdefABCDEFxX") >= len; /* a number in hex */
}

static size_t host_end(const char *s, size_t n, size_t i, const char *host, size_t len)
{
	bool here = len && n - i >= len && !strncasecmp(s + i, host, len);
	return here && ends_word(s, n, i + len) ? i + len : 0;
}

/*
 * Parameters whose values bear upon PCI, GPUs, clocks or the console: a name, or what stands in
 * front of a "." or "_" in one. The others' values may hold anything: addresses, keys, names.
 */
static bool is_kept_parameter(const char *name, size_t n)
{
	static const char *const kept[] = {"NVreg", "acpi", "agp", "amd_iommu", "amd_pstate",
		"amdgpu", "amdkfd", "apic", "ast", "clocksource", "cma", "console", "cpufreq",
		"cpuidle", "crashkernel", "default_hugepagesz", "drm", "efi", "fbcon", "hpet",
		"hugepages", "hugepagesz", "i915", "idle", "initcall_blacklist", "intel_idle",
		"intel_iommu", "intel_pstate", "intremap", "iommu", "irqaffinity", "isolcpus",
		"kvm", "kvm_amd", "kvm_intel", "lapic", "loglevel", "maxcpus", "mce", "mem",
		"memhp", "memmap", "mgag200", "mitigations", "modprobe.blacklist",
		"module_blacklist", "movable_node", "movablecore", "nmi_watchdog", "nohz", "nosmt",
		"nouveau", "nr_cpus", "numa", "nvidia", "pci", "pcie", "pciehp", "pcieport",
		"possible_cpus", "preempt", "processor", "radeon", "rcu_nocb_poll", "rcu_nocbs",
		"rd.driver.blacklist", "rdblacklist", "smt", "split_lock_detect", "swiotlb",
		"threadirqs", "transparent_hugepage", "tsc", "ttm", "vfio", "vga", "video",
		"x2apic", "xe", "xen_pciback"};
	static const char *const files[] = {"Path", "path", "firmware", "File", "file"};
	for (size_t k = 0; k < ARRAY_LEN(files); k++) {
		if (memmem(name, n, files[k], strlen(files[k]))) {
			return false;
		}
	}
	for (size_t k = 0; k < ARRAY_LEN(kept); k++) {
		size_t i = 0;
		/* The kernel takes "-" and "_" for the same. */
		while (i < n && kept[k][i] &&
			(name[i] == kept[k][i] || (name[i] == '-' && kept[k][i] == '_'))) {
			i++;
		}
		if (!kept[k][i] && (i == n || strchr("._-", name[i]))) {
			return true;
		}
	}
	return false;
}

/* The end of the parameter at I: a blank outside of quotes. */
static size_t parameter_end(const char *s, size_t n, size_t i)
{
	for (bool quoted = false; i < n && (quoted || !strchr(" \t", s[i])); i++) {
		quoted ^= s[i] == '"';
	}
	return i;
}

/* The parameters of a kernel command line, from I to END. */
static void mask_parameters(char *s, size_t i, size_t end)
{
	bool init = false; /* behind "--" nothing is the kernel's */
	while (i < end) {
		if (strchr(" \t", s[i])) {
			i++;
			continue;
		}
		const size_t to = parameter_end(s, end, i);
		const size_t name = i + (s[i] == '"');
		size_t v = name;
		while (v < to && (word_char(s[v]) || strchr("._-", s[v]))) {
			v++;
		}
		init = init || (to - i == 2 && !strncmp(s + i, "--", 2));
		if (init) {
			blot(s, i, to, 'X');
		} else if (v < to && s[v] != '"' && !is_kept_parameter(s + name, v - name)) {
			/* What has no name is masked whole. */
			blot(s, s[v] == '=' || s[v] == '[' ? v : i, to, 'X');
		}
		i = to;
	}
}

/* A log's "Kernel command line: …" and "Unknown kernel command line parameters "…", …". */
static void mask_command_lines(char *s, size_t len)
{
	static const char mark[] = "ommand line";
	for (size_t i = 0, end; i < len; i = end + 1) {
		const char *newline = memchr(s + i, '\n', len - i);
		end = newline ? (size_t)(newline - s) : len;
		const char *at = memmem(s + i, end - i, mark, sizeof(mark) - 1);
		if (!at) {
			continue;
		}
		size_t from = (size_t)(at - s) + sizeof(mark) - 1, to = end;
		while (from < end && s[from] != ':' && s[from] != '"') {
			from++;
		}
		if (from < end && s[from] == '"') {
			const char *close = memrchr(s + from + 1, '"', end - from - 1);
			to = close ? (size_t)(close - s) : end;
		}
		mask_parameters(s, from + 1, to);
	}
}

char *pcie_mask_cmdline(const char *line, size_t len, const char *host)
{
	char *s = pcie_mask_text(line, len, host, NULL);
	mask_parameters(s, 0, len);
	return s;
}

char *pcie_mask_text(const char *text, size_t len, const char *host, size_t *ret_len)
{
	char *s = xmalloc(len + 1);
	memcpy(s, text, len);
	s[len] = '\0';
	if (ret_len) {
		*ret_len = len;
	}
	size_t full = host ? strlen(host) : 0;
	size_t label = host ? strcspn(host, ".") : 0;
	if (!host || is_common(host, label)) {
		full = label = 0;
	}

	/* Words are looked at in TEXT, so that a masked one cannot hide the next. */
	for (size_t i = 0; i < len; i++) {
		if (!word_char(text[i]) || !begins_word(text, i)) {
			continue;
		}
		size_t end, v;
		if ((end = uuid(text, len, i))) {
			blot(s, i, end, '0');
		} else if ((end = pairs(text, len, i))) {
			blot(s, i, end, '0');
		} else if (hex_run(text, len, i) == 32 && ends_word(text, len, i + 32)) {
			blot(s, i, i + 32, '0'); /* a machine's or a boot's id */
			end = i + 32;
		} else if ((v = key(text, len, i))) {
			end = pairs(text, len, v);
			blot(s, v, end ? end : value_end(text, len, v), end ? '0' : 'X');
			end = end ? end : value_end(text, len, v);
		} else if ((end = account(text, len, i))) {
			blot(s, i, end, 'x');
		} else if ((end = host_end(text, len, i, host, full)) ||
			   (end = host_end(text, len, i, host, label))) {
			blot(s, i, end, 'x');
		}
		if (end > i + 1) {
			i = end - 1;
		}
	}
	mask_command_lines(s, len);
	return s;
}
