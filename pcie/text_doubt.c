/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pcie/text_doubt.h"

#include <string.h>

#include "base/macros.h"
#include "base/text.h"
#include "pcie/chars.h"

/* The largest window for memory of the bridge D; 0 when one of them is not known. */
static uint64_t largest_window(const struct pcie_device *d)
{
	uint64_t most = 0;
	for (int i = PCIE_WINDOW_MEM; i <= PCIE_WINDOW_PREF; i++) {
		const struct pcie_window *w = &d->window[i];
		if (w->have == PCIE_ABSENT) {
			continue;
		}
		if (w->have != PCIE_KNOWN || w->unassigned || w->from_register ||
			w->limit < w->base || w->limit - w->base == UINT64_MAX) {
			return 0;
		}
		most = MAX(most, w->limit - w->base + 1);
	}
	return most;
}

static void doubt_device(struct pcie_snapshot *s, int dev)
{
	const struct pcie_device *d = &s->dev[dev];
	uint64_t most = d->parent >= 0 ? largest_window(&s->dev[d->parent]) : 0;
	char a[TEXT_SIZE_MAX], b[TEXT_SIZE_MAX];

	for (int i = 0; i < d->nbar; i++) {
		const struct pcie_bar *bar = &d->bar[i];
		if (!pcie_bar_is_placed(bar)) {
			continue;
		}
		if (most && bar->size > most) {
			pcie_snapshot_note(s, dev,
				"a BAR of %s, and no window of the bridge above is larger than %s: what "
				"the text shows is not of one state",
				text_size(bar->size, a), text_size(most, b));
			return;
		}
		for (int k = 0; k < i; k++) {
			if (pcie_bar_is_placed(&d->bar[k]) && pcie_bars_overlap(bar, &d->bar[k])) {
				pcie_snapshot_note(s, dev,
					"a BAR of %s at 0x%llx and one of %s at 0x%llx overlap: what the "
					"text shows is not of one state",
					text_size(d->bar[k].size, a),
					(unsigned long long)d->bar[k].base, text_size(bar->size, b),
					(unsigned long long)bar->base);
				return;
			}
		}
	}
}

void pcie_text_doubt(struct pcie_snapshot *s)
{
	for (size_t i = 0; i < s->ndev; i++) {
		doubt_device(s, (int)i);
	}
}

/* "VGA compatible controller: " or "VGA compatible controller [0300]: ". */
static bool has_class(const char *data, size_t len, const char *name)
{
	const char *end = data + len;
	size_t n = strlen(name);
	for (const char *p = data; (p = memmem(p, (size_t)(end - p), name, n)); p += n) {
		size_t left = (size_t)(end - p) - n;
		const char *q = p + n;
		if (left >= 7 && q[0] == ' ' && q[1] == '[' && q[6] == ']') {
			q += 7;
			left -= 7;
		}
		if (left >= 2 && q[0] == ':' && q[1] == ' ') {
			return true;
		}
	}
	return false;
}

/* Two digits, or letters that look like them. */
static bool like_digits(const char *s, bool *odd)
{
	for (int i = 0; i < 2; i++) {
		bool letter = s[i] && strchr("OoIlS|", s[i]);
		if (!letter && pcie_hex_digit(s[i]) < 0) {
			return false;
		}
		*odd = *odd || letter;
	}
	return true;
}

/* "0l:00.0", "OOOO:O3:OO.O": an address that nobody can read. */
static bool has_odd_address(const char *data, size_t len)
{
	const char *end = data + len;
	for (const char *p = data; (p = memchr(p, '.', (size_t)(end - p))); p++) {
		bool odd = false;
		if (p - data < 5 || end - p < 3 || p[-3] != ':' || !(p[2] == ' ' || p[2] == ':') ||
			!(p - data == 5 || strchr(" \t\n:", p[-6])) || !like_digits(p - 5, &odd) ||
			!like_digits(p - 2, &odd)) {
			continue;
		}
		bool function = p[1] >= '0' && p[1] <= '7';
		if (function ? odd : p[1] && strchr("OoIl|", p[1]) != NULL) {
			return true;
		}
	}
	return false;
}

bool pcie_text_lost_address(const char *data, size_t len)
{
	return has_class(data, len, "VGA compatible controller") ||
	       has_class(data, len, "3D controller") ||
	       has_class(data, len, "Display controller") || has_odd_address(data, len);
}

const char *pcie_text_other_tool(const char *data, size_t len, const char **ret_instead)
{
	static const char linux_lspci[] = "'sudo lspci -vv' of a Linux system",
			  lspci[] = "'sudo lspci -vv'", smi[] = "'nvidia-smi -q'";
	static const struct {
		const char *sign, *tool, *instead;
	} known[] = {
		{"@pci0:", "FreeBSD's pciconf", linux_lspci},
		{"VMkernel Name:", "esxcli hardware pci list", linux_lspci},
		{"GPU-Z", "GPU-Z", linux_lspci},
		{"Large Memory Range", "Windows' device manager", linux_lspci},
		{"Hardware Class: graphics card", "hwinfo", lspci},
		{"H/W path", "lshw -short", "'sudo lshw -C display' or 'sudo lspci -vv'"},
		{"SVendor:", "lspci -vmm", lspci},
		{"-[0000:00]-", "lspci -t", lspci},
		{"memory.total [MiB]", "nvidia-smi --query-gpu", smi},
		{"ROCm System Management", "rocm-smi", lspci},
		{"Device-1:", "inxi", lspci},
		{"BASE_ADDRESS_", "setpci", lspci},
	};
	for (size_t i = 0; i < ARRAY_LEN(known); i++) {
		if (memmem(data, len, known[i].sign, strlen(known[i].sign))) {
			*ret_instead = known[i].instead;
			return known[i].tool;
		}
	}
	return NULL;
}
