/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The picture of both machines' address spaces beside each other, high addresses on top. Both share
 * one ruler, cut at every edge of a BAR that is shown and of an aperture; a piece is as high as its
 * text needs and not as its size, or a 16 MiB BAR could not be seen beside one of 256 GiB.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/sort.h"
#include "cli/chart.h"
#include "cli/html.h"

enum { SHOWN = 48, LEFT = 92, TOP = 26 }; /* BARs a side; pixels */

static const uint64_t border = (uint64_t)1 << 32;

struct item {
	uint64_t base, limit;
	const struct pcie_device *dev;
	const struct pcie_bar *bar;
};

struct machine {
	const struct pcie_snapshot *s;
	struct item shown[SHOWN];
	size_t n, left_out;
};

struct ruler {
	uint64_t *edge; /* ascending; owned */
	double *y;      /* of each edge, downwards; owned */
	size_t n, cap;
};

static bool is_placed(const struct pcie_bar *b)
{
	return b->have == PCIE_KNOWN && !b->io && b->kind != PCIE_BAR_ROM && b->has_base &&
	       b->has_size && b->size && b->assigned != PCIE_NO;
}

/* GPUs' BARs; where neither machine has a GPU, those of all devices. */
static void choose(struct machine *m, bool gpus)
{
	for (size_t i = 0; i < m->s->ndev; i++) {
		const struct pcie_device *d = &m->s->dev[i];
		for (int k = 0; k < d->nbar; k++) {
			const struct pcie_bar *b = &d->bar[k];
			if (!is_placed(b) || (gpus && !pcie_device_is_gpu(d))) {
				continue;
			}
			if (m->n == SHOWN) {
				m->left_out++;
				continue;
			}
			m->shown[m->n++] = (struct item){b->base, b->base + b->size - 1, d, b};
		}
	}
}

static bool has_gpu(const struct pcie_snapshot *s)
{
	for (size_t i = 0; i < s->ndev; i++) {
		if (pcie_device_is_gpu(&s->dev[i])) {
			return true;
		}
	}
	return false;
}

static bool is_aperture(const struct pcie_aperture *p)
{
	return !p->io && !p->ignored && p->limit > p->base;
}

static void add_edges(struct ruler *r, uint64_t base, uint64_t limit)
{
	for (int i = 0; i < 2; i++) {
		r->edge = xgrow(r->edge, r->n, &r->cap, sizeof(*r->edge));
		r->edge[r->n++] = i ? (limit == UINT64_MAX ? limit : limit + 1) : base;
	}
}

static int by_address(const void *x, const void *y)
{
	uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;
	return a < b ? -1 : a > b;
}

/* How high the piece from LO to HI is. */
static double height_of(const struct machine m[2], uint64_t lo, uint64_t hi)
{
	bool aperture = false;
	for (int side = 0; side < 2; side++) {
		for (size_t i = 0; i < m[side].n; i++) {
			if (m[side].shown[i].base < hi && m[side].shown[i].limit >= lo) {
				return 32 + fmin(log2((double)(hi - lo) / 1048576.0 + 1), 16);
			}
		}
		for (size_t i = 0; i < m[side].s->naperture; i++) {
			const struct pcie_aperture *p = &m[side].s->aperture[i];
			aperture = aperture || (is_aperture(p) && p->base < hi && p->limit >= lo);
		}
	}
	return aperture ? 17 : 15;
}

static void make_ruler(const struct machine m[2], struct ruler *r)
{
	for (int side = 0; side < 2; side++) {
		for (size_t i = 0; i < m[side].n; i++) {
			add_edges(r, m[side].shown[i].base, m[side].shown[i].limit);
		}
		for (size_t i = 0; i < m[side].s->naperture; i++) {
			if (is_aperture(&m[side].s->aperture[i])) {
				add_edges(r, m[side].s->aperture[i].base,
					m[side].s->aperture[i].limit);
			}
		}
	}
	add_edges(r, border, border - 1);
	sort_array(r->edge, r->n, sizeof(*r->edge), by_address);
	size_t n = 1;
	for (size_t i = 1; i < r->n; i++) {
		if (r->edge[i] != r->edge[n - 1]) {
			r->edge[n++] = r->edge[i];
		}
	}
	r->n = n;
	r->y = xcalloc(n, sizeof(*r->y));
	double y = TOP + 12;
	for (size_t i = n; i-- > 0;) {
		r->y[i] = y;
		y += i ? height_of(m, r->edge[i - 1], r->edge[i]) : 0;
	}
}

static double place(const struct ruler *r, uint64_t address)
{
	size_t i = 0;
	while (i + 1 < r->n && r->edge[i + 1] <= address) {
		i++;
	}
	if (i + 1 == r->n || address <= r->edge[i]) {
		return r->y[i];
	}
	double share = (double)(address - r->edge[i]) / (double)(r->edge[i + 1] - r->edge[i]);
	return r->y[i] + share * (r->y[i + 1] - r->y[i]);
}

static void name_of(const struct pcie_device *d, const struct pcie_bar *b, char *buf, size_t size)
{
	char addr[PCIE_ADDR_MAX] = "?", number[8] = "";
	if (d->addr.known) {
		pcie_addr_format(d->addr, addr);
	}
	if (b->index >= 0) {
		snprintf(number, sizeof(number), " %d", b->index);
	}
	snprintf(buf, size, "%s %sBAR%s", strncmp(addr, "0000:", 5) ? addr : addr + 5,
		b->kind == PCIE_BAR_VF ? "VF " : "", number);
}

static void draw_item(
	struct text *t, const struct ruler *r, const struct item *m, int side, double x, double w)
{
	char name[64], size[TEXT_SIZE_MAX], title[128];
	double low = place(r, m->base);
	double high = place(r, m->limit == UINT64_MAX ? m->limit : m->limit + 1);
	name_of(m->dev, m->bar, name, sizeof(name));
	text_size(m->bar->size, size);
	snprintf(title, sizeof(title), "%s, %s at 0x%llx", name, size, (unsigned long long)m->base);
	cmd_chart_rect(t, x, high, w, low - high, side ? "fb" : "fa", title);
	double mid = (low + high) / 2;
	cmd_chart_text(t, x + w / 2, mid - 2, "strong", 'm', "%s", name);
	cmd_chart_text(t, x + w / 2, mid + 11, "", 'm', "%s", size);
}

/* BARs that are not shown by name: where the ruler has room for them. */
static void draw_others(
	struct text *t, const struct ruler *r, const struct machine *m, double x, double w)
{
	for (size_t i = 0; i < m->s->ndev; i++) {
		for (int k = 0; k < m->s->dev[i].nbar; k++) {
			const struct pcie_bar *b = &m->s->dev[i].bar[k];
			bool shown = !is_placed(b) || b->base < r->edge[0] ||
				     b->base >= r->edge[r->n - 1];
			for (size_t j = 0; j < m->n && !shown; j++) {
				shown = m->shown[j].bar == b;
			}
			if (!shown) {
				double low = place(r, b->base), high = place(r, b->base + b->size);
				cmd_chart_rect(t, x, fmin(high, low - 1), w, fmax(low - high, 1),
					"other", NULL);
			}
		}
	}
}

static void draw_lane(struct text *t, const struct ruler *r, const struct machine *m, int side,
	double x, double w)
{
	for (size_t i = 0; i < m->s->naperture; i++) {
		const struct pcie_aperture *p = &m->s->aperture[i];
		if (is_aperture(p)) {
			char title[96];
			double high = place(r, p->limit == UINT64_MAX ? p->limit : p->limit + 1);
			snprintf(title, sizeof(title), "aperture 0x%llx-0x%llx",
				(unsigned long long)p->base, (unsigned long long)p->limit);
			cmd_chart_rect(t, x, high, w, place(r, p->base) - high, "hole", title);
		}
	}
	draw_others(t, r, m, x, w);
	for (size_t i = 0; i < m->n; i++) {
		draw_item(t, r, &m->shown[i], side, x + 5, w - 10);
	}
}

/* Said to have no address, or wiped: the kernel lists nothing, the register has a type. */
static bool is_lost(const struct pcie_bar *b)
{
	bool wiped = b->have == PCIE_ABSENT && b->reg.have == PCIE_KNOWN && !b->reg.io;
	return b->kind != PCIE_BAR_ROM && !b->io && (b->assigned == PCIE_NO || wiped);
}

/* GPUs' BARs that have no address, below the ruler. Returns how many. */
static size_t draw_lost(struct text *t, const struct machine *m, double x, double w, double y)
{
	size_t n = 0;
	for (size_t i = 0; i < m->s->ndev && n < SHOWN; i++) {
		const struct pcie_device *d = &m->s->dev[i];
		for (int k = 0; k < d->nbar && n < SHOWN; k++) {
			const struct pcie_bar *b = &d->bar[k];
			if (!pcie_device_is_gpu(d) || !is_lost(b)) {
				continue;
			}
			if (t) {
				char name[64], size[TEXT_SIZE_MAX];
				double top = y + 38 * (double)n;
				name_of(d, b, name, sizeof(name));
				cmd_chart_rect(t, x + 5, top, w - 10, 32, "lost", NULL);
				cmd_chart_text(t, x + w / 2, top + 14, "strong", 'm', "%s", name);
				cmd_chart_text(t, x + w / 2, top + 27, "", 'm', "%s",
					b->has_size ? text_size(b->size, size) : "size unknown");
			}
			n++;
		}
	}
	return n;
}

/* Addresses on the left, where they do not run into each other; the line at 4 GiB. */
static void draw_addresses(struct text *t, const struct ruler *r, double w)
{
	double four = place(r, border), last = -100;
	cmd_chart_line(t, LEFT - 4, four, w, four, "border");
	cmd_chart_text(t, LEFT - 8, four + 4, "strong", 'e', "4 GiB");
	for (size_t i = r->n; i-- > 0;) {
		if (r->y[i] - last >= 11 && fabs(r->y[i] - four) >= 13) {
			last = r->y[i];
			cmd_chart_text(t, LEFT - 8, r->y[i] + 3.5, "mono", 'e', "0x%llx",
				(unsigned long long)r->edge[i]);
		}
	}
}

void cmd_html_map(struct text *t, const struct cmd_page *p, int w)
{
	struct machine *m = xcalloc(2, sizeof(*m));
	struct ruler r = {0};
	m[0].s = p->m->a;
	m[1].s = p->m->b;
	bool gpus = has_gpu(m[0].s) || has_gpu(m[1].s);
	choose(&m[0], gpus);
	choose(&m[1], gpus);
	make_ruler(m, &r);
	double bottom = r.y[0] + 10, lane = (w - LEFT - 14) / 2.0;
	size_t lost = MAX(draw_lost(NULL, &m[0], 0, 0, 0), draw_lost(NULL, &m[1], 0, 0, 0));
	size_t left_out = m[0].left_out + m[1].left_out;
	double h = bottom + (lost ? 22 + 38 * (double)lost : 0) + (left_out ? 18 : 0);
	cmd_chart_begin(t, w, (int)h, "Addresses of BARs before and after");
	for (int side = 0; side < 2; side++) {
		double x = LEFT + side * (lane + 12);
		cmd_chart_text(t, x + lane / 2, 14, side ? "cb" : "ca", 'm', side ? "B" : "A");
		draw_lane(t, &r, &m[side], side, x, lane);
		draw_lost(t, &m[side], x, lane, bottom + 20);
	}
	draw_addresses(t, &r, w);
	if (lost) {
		cmd_chart_text(t, LEFT - 8, bottom + 40, "", 'e', "no address");
	}
	if (left_out) {
		cmd_chart_text(
			t, 2, h - 5, "tick", 's', "%zu more BARs are not shown by name", left_out);
	}
	cmd_chart_end(t);
	free(r.edge);
	free(r.y);
	free(m);
}
