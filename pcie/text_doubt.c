/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pcie/text_doubt.h"

#include <string.h>

#include "base/macros.h"
#include "base/text.h"
#include "pcie/chars.h"

/* Has a place in the list of the kernel, or in what stands for it? */
static bool is_placed(const struct pcie_bar *b)
{
	return b->kind == PCIE_BAR_NORMAL && b->have == PCIE_KNOWN && !b->io && !b->from_register &&
	       !b->enhanced && b->assigned == PCIE_YES && b->has_base && b->has_size &&
	       b->size > 0 && b->size - 1 <= UINT64_MAX - b->base;
}

static bool overlap(const struct pcie_bar *a, const struct pcie_bar *b)
{
	return a->base <= b->base + (b->size - 1) && b->base <= a->base + (a->size - 1);
}

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
		if (!is_placed(bar)) {
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
			if (is_placed(&d->bar[k]) && overlap(bar, &d->bar[k])) {
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
