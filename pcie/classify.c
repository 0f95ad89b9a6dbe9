/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pcie/classify.h"

#include <string.h>

#include "pcie/chars.h"
#include "pcie/iomem.h"
#include "pcie/klog.h"
#include "pcie/lshw.h"
#include "pcie/qemu_info.h"
#include "pcie/smi.h"
#include "pcie/sysfs_text.h"
#include "pcie/xorg.h"

bool pcie_classify_lspci_command(const char *s, struct pcie_addr *ret_addr)
{
	const char *p = strstr(s, "lspci");

	ret_addr->known = false;
	/* a word of its own (also a path's last), with an option, a pipe or nothing behind it */
	if (!p || (p > s && !strchr(" \t/#$`'\"(", p[-1])) || strlen(s) > 400) {
		return false;
	}
	const char *rest = p + 5;
	if (*rest && !strchr(" \t|;&>`'\")", *rest)) {
		return false;
	}
	const char *t = pcie_skip(rest);
	if (*t && !strchr("-|;&>`'\")", *t)) {
		return false; /* "lspci says that …" */
	}
	for (t = strstr(rest, "-s"); t; t = strstr(t + 2, "-s")) {
		const char *arg = pcie_skip(t + 2);
		arg += *arg == '\'' || *arg == '"';
		int n = pcie_addr_scan(arg, ret_addr);
		if (n > 0 && (arg[n] == '\0' || strchr(" \t|'\";)", arg[n]))) {
			return true;
		}
		ret_addr->known = false;
	}
	return true;
}

/* Prompts: "$ ", "# ", "user@host:/dir# ". */
static bool is_prompt(const char *s)
{
	if ((s[0] == '$' || s[0] == '#') && (s[1] == ' ' || s[1] == '\0')) {
		return true;
	}
	const char *at = strchr(s, '@');
	if (!at || at == s || at - s > 32) {
		return false;
	}
	for (const char *p = s; p < at; p++) {
		bool word = (*p >= '0' && *p <= '9') ||
			    ((*p | 0x20) >= 'a' && (*p | 0x20) <= 'z') || strchr("_-.[(", *p);
		if (!word) {
			return false;
		}
	}
	const char *end = strpbrk(at, "#$");
	return end && end - at < 128 && (end[1] == ' ' || end[1] == '\0');
}

static bool is_tree(const char *s)
{
	return !strncmp(s, "-[", 2) || !strncmp(s, "+-", 2) || !strncmp(s, "\\-", 2) ||
	       ((s[0] == '|' && (strstr(s, "+-") || strstr(s, "\\-"))));
}

enum pcie_text_kind pcie_classify(const char *s, size_t len)
{
	const char *t = pcie_skip(s);

	if (pcie_xorg_is_line(s)) { /* before the kernel's, whose time stamps it has */
		return PCIE_TEXT_XORG;
	}
	if (pcie_klog_is_line(s, len)) {
		return PCIE_TEXT_LOG;
	}
	if (pcie_iomem_is_line(t)) {
		return PCIE_TEXT_IOMEM;
	}
	if (pcie_smi_is_start(t)) {
		return PCIE_TEXT_SMI;
	}
	if (pcie_qemu_info_is_start(t)) {
		return PCIE_TEXT_QEMU;
	}
	if (pcie_lshw_is_start(t)) {
		return PCIE_TEXT_LSHW;
	}
	if (pcie_sysfs_text_is_start(t)) {
		return PCIE_TEXT_SYSFS;
	}
	if (is_tree(t)) {
		return PCIE_TEXT_TREE;
	}
	return is_prompt(t) ? PCIE_TEXT_COMMAND : PCIE_TEXT_OTHER;
}
