/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Resource messages of kernels before 2.6.32, where they differ from all later ones. */
#include "base/macros.h"
#include "pcie/klog_state.h"

bool klog_legacy_window(struct klog *k, uint32_t dev, const char *s)
{
	static const struct {
		const char *words;
		int slot;
	} rows[] = {
		{"IO window: ", KLOG_WINDOW_IO},
		{"MEM window: ", KLOG_WINDOW_MEM},
		{"PREFETCH window: ", KLOG_WINDOW_PREF},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if (rows[i].words[0] != s[0] || strncmp(s, rows[i].words, strlen(rows[i].words))) {
			continue;
		}
		s += strlen(rows[i].words);
		struct klog_range g = {
			.space = rows[i].slot == KLOG_WINDOW_IO ? KLOG_IO : KLOG_MEM,
			.pref = rows[i].slot == KLOG_WINDOW_PREF,
		};
		if (!strncmp(s, "disabled", 8)) {
			g.disabled = true;
		} else if (klog_hex(&s, &g.base) && *s++ == '-' && klog_hex(&s, &g.limit) &&
			   g.limit >= g.base && g.limit - g.base < UINT64_MAX) {
			g.has_base = g.has_size = true;
			g.size = g.limit - g.base + 1;
			g.is64 = g.limit > UINT32_MAX;
		} else {
			return false;
		}
		klog_window_listed(k, dev, rows[i].slot, &g);
		return true;
	}
	return false;
}

/* "PCI: Failed to allocate mem resource #6:20000@f0000000 for 0000:01:00.0". */
static bool failed_to_allocate(struct klog *k, const char *s)
{
	struct pcie_addr a;
	uint64_t v[2];
	bool io = !strncmp(s, "I/O ", 4);
	s = strchr(s, '#');
	if (!s || klog_match(s, "#%u:%x@", v, 2) != 2 || v[0] >= KLOG_SLOTS ||
		!klog_find_addr(s, &a)) {
		return false;
	}
	uint32_t dev = klog_device(k, a);
	if (dev != KLOG_NO_DEVICE) {
		struct klog_range g = {
			.space = io ? KLOG_IO : KLOG_UNTYPED, .has_size = true, .size = v[1]};
		klog_said(k, dev, (int)v[0], KLOG_SAYS_FAILED, &g, false);
	}
	return true;
}

bool klog_legacy_message(struct klog *k, const char *s)
{
	struct pcie_addr a;
	uint64_t v;
	uint32_t dev;

	if (k->bridge < k->snap->ndev && klog_legacy_window(k, k->bridge, s)) {
		return true;
	}
	if (!klog_eat(&s, "PCI: ")) {
		return false;
	}
	if (klog_eat(&s, "Bridge: ")) {
		if (pcie_addr_scan(s, &a) < 0) {
			return false;
		}
		dev = klog_device(k, a);
		if (dev != KLOG_NO_DEVICE) {
			klog_dev(k, dev)->is_bridge = true;
			k->bridge = dev;
			k->list_order = k->order;
		}
		return true;
	}
	if (klog_eat(&s, "Failed to allocate ")) {
		return failed_to_allocate(k, s);
	}
	if (klog_match(s, "Cannot allocate resource region %u of ", &v, 1) == 1 && v <= KLOG_ROM &&
		klog_find_addr(s, &a)) {
		dev = klog_device(k, a);
		if (dev != KLOG_NO_DEVICE) {
			klog_said(k, dev, (int)v, KLOG_SAYS_FAILED, NULL, false);
		}
		return true;
	}
	return false;
}
