/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pcie/log_explain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/macros.h"
#include "base/sort.h"
#include "base/text.h"

/* What each device is to the GPUs. */
struct roles {
	bool *gpu, *path; /* by device; PATH: a bridge above a GPU */
	bool any;         /* there is a GPU */
};

static struct roles find_roles(const struct pcie_snapshot *s)
{
	struct roles r = {
		.gpu = xcalloc(s->ndev, sizeof(bool)),
		.path = xcalloc(s->ndev, sizeof(bool)),
	};
	for (size_t i = 0; i < s->ndev; i++) {
		if (!pcie_device_is_gpu(&s->dev[i])) {
			continue;
		}
		r.gpu[i] = r.any = true;
		/* A bridge that is marked has all above it marked. */
		for (int up = s->dev[i].parent; up >= 0 && (size_t)up < s->ndev && !r.path[up];
			up = s->dev[up].parent) {
			r.path[up] = true;
		}
	}
	return r;
}

static bool is_bad(const struct pcie_history *h)
{
	return h->final == PCIE_FINAL_FAILED || h->final == PCIE_FINAL_NO_SPACE ||
	       h->final == PCIE_FINAL_CANT_CLAIM;
}

static bool matters(const struct pcie_history *h, const struct roles *r)
{
	if (h->io || h->bar == 6) {
		return false;
	}
	if (!r->any || h->dev < 0) {
		return is_bad(h) && !h->vf;
	}
	if (h->window) {
		return r->path[h->dev];
	}
	/* VFs' BARs compete with the GPU's own; a switch's own BAR pins the window above it. */
	return r->gpu[h->dev] || (r->path[h->dev] && !h->vf);
}

static void say_final(const struct pcie_history *h, char *buf, size_t size)
{
	char bytes[TEXT_SIZE_MAX] = "a size that is not said";
	struct text t = {0};
	if (h->has_size) {
		text_size(h->size, bytes);
	}
	switch (h->final) {
	case PCIE_FINAL_ASSIGNED:
		text_addf(&t, "assigned, %s at 0x%llx", bytes, (unsigned long long)h->base);
		if (h->has_firmware && h->firmware_base == h->base) {
			text_add(&t, " as the firmware had it");
		} else if (h->has_firmware) {
			text_addf(&t, " (the firmware's was 0x%llx)",
				(unsigned long long)h->firmware_base);
		}
		break;
	case PCIE_FINAL_FAILED:
	case PCIE_FINAL_NO_SPACE:
		text_addf(&t, "no address: there was no room for %s", bytes);
		break;
	case PCIE_FINAL_CANT_CLAIM:
		text_addf(&t, "no address: the one it had could not be kept (%s)", bytes);
		break;
	case PCIE_FINAL_RELEASED:
		text_add(&t, h->window ? "given up" : "given back, and nothing said of it since");
		break;
	default:
		text_addf(&t, "open: no address is named in the end (%s)", bytes);
		break;
	}
	if (h->pinned) {
		text_add(&t, "; could not grow, as something in it stays");
	}
	text_copy(buf, size, t.s);
	text_finish(&t);
}

/* The first line, which has the firmware's value, and the last ones. */
static void pick_lines(
	const struct pcie_snapshot *s, const struct pcie_history *h, struct pcie_log_item *item)
{
	size_t max = ARRAY_LEN(item->line);
	for (uint32_t i = 0; i < h->nline; i++) {
		bool kept = h->nline <= max || i == 0 || i + (max - 1) >= h->nline;
		if (kept && h->line[i] < s->nline) {
			item->line[item->nline++] = s->line[h->line[i]];
		}
	}
}

struct order {
	bool bad;
	const struct pcie_history *h;
};

static int order_compare(const void *a, const void *b)
{
	const struct order *x = a, *y = b;
	if (x->bad != y->bad) {
		return x->bad ? -1 : 1;
	}
	int c = pcie_addr_compare(x->h->addr, y->h->addr);
	return c ? c : strcmp(x->h->resource, y->h->resource);
}

size_t pcie_log_explain(const struct pcie_snapshot *s, struct pcie_log_item **ret)
{
	struct roles roles = find_roles(s);
	struct order *order = xcalloc(s->nhistory, sizeof(*order));
	size_t n = 0;
	for (size_t i = 0; i < s->nhistory; i++) {
		if (s->history[i].dev < (int)s->ndev && matters(&s->history[i], &roles)) {
			order[n++] = (struct order){is_bad(&s->history[i]), &s->history[i]};
		}
	}
	sort_array(order, n, sizeof(*order), order_compare);

	struct pcie_log_item *item = xcalloc(n, sizeof(*item));
	for (size_t i = 0; i < n; i++) {
		char addr[PCIE_ADDR_MAX];
		const struct pcie_history *h = order[i].h;
		snprintf(item[i].resource, sizeof(item[i].resource), "%s %s",
			pcie_addr_format(h->addr, addr), h->resource);
		item[i].bad = order[i].bad;
		say_final(h, item[i].final, sizeof(item[i].final));
		pick_lines(s, h, &item[i]);
	}
	free(order);
	free(roles.gpu);
	free(roles.path);
	*ret = item;
	return n;
}
