/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/survey.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/cleanup.h"

enum { DEPTH_MAX = 63 };

static bool has_bars(const struct pcie_device *d)
{
	for (int i = 0; i < d->nbar; i++) {
		if (d->bar[i].have == PCIE_KNOWN) {
			return true;
		}
	}
	return false;
}

static void list_devices(const struct pcie_snapshot *s, struct tui_survey *v)
{
	v->listed = xreallocarray(NULL, MAX(s->ndev, 1), sizeof(*v->listed));
	for (int gpus = 1; gpus >= 0; gpus--) {
		for (size_t i = 0; i < s->ndev; i++) {
			bool gpu = pcie_device_is_gpu(&s->dev[i]);
			if (gpu == gpus && (gpu || has_bars(&s->dev[i]))) {
				v->listed[v->nlisted++] = (int)i;
			}
		}
		v->ngpu = gpus ? v->nlisted : v->ngpu;
	}
}

/*
 * The tree in drawing order, without recursion: devices are sorted by address, so children
 * of each stand in a chain in that order.
 */
struct branches {
	int *child, *sibling, *tail; /* -1: none */
	int first_root, last_root;
};

static void link_children(const struct pcie_snapshot *s, struct branches *b)
{
	for (size_t i = 0; i < s->ndev; i++) {
		b->child[i] = b->sibling[i] = b->tail[i] = -1;
	}
	b->first_root = b->last_root = -1;
	for (size_t i = 0; i < s->ndev; i++) {
		int p = s->dev[i].parent, me = (int)i;
		if (p < 0 || (size_t)p >= s->ndev || p == me) {
			if (b->last_root < 0) {
				b->first_root = me;
			} else {
				b->sibling[b->last_root] = me;
			}
			b->last_root = me;
		} else {
			if (b->tail[p] < 0) {
				b->child[p] = me;
			} else {
				b->sibling[b->tail[p]] = me;
			}
			b->tail[p] = me;
		}
	}
}

static void walk_tree(const struct pcie_snapshot *s, const struct branches *b, struct tui_survey *v)
{
	int stack[DEPTH_MAX + 1];
	unsigned depth = 0;
	uint64_t more = 0;
	stack[0] = b->first_root;
	/* Each device comes at most once, even if a bad input made the parents a ring. */
	while (v->ntree < s->ndev) {
		int dev = stack[depth];
		if (dev < 0) {
			if (depth == 0) {
				break;
			}
			depth--;
			stack[depth] = b->sibling[stack[depth]];
			continue;
		}
		bool last = b->sibling[dev] < 0;
		uint64_t bit = (uint64_t)1 << depth;
		more = (more & (bit - 1)) | (last ? 0 : bit);
		v->tree[v->ntree++] = (struct tui_tree_row){dev, depth, last, more};
		if (b->child[dev] >= 0 && depth < DEPTH_MAX) {
			stack[++depth] = b->child[dev];
		} else {
			stack[depth] = b->sibling[dev];
		}
	}
}

static void grow_tree(const struct pcie_snapshot *s, struct tui_survey *v)
{
	size_t n = MAX(s->ndev, 1);
	_cleanup_free_ int *room = xreallocarray(NULL, 3 * n, sizeof(*room));
	struct branches b = {.child = room, .sibling = room + n, .tail = room + 2 * n};
	v->tree = xcalloc(n, sizeof(*v->tree));
	link_children(s, &b);
	walk_tree(s, &b, v);
}

struct tui_survey *tui_survey_create(const struct pcie_snapshot *s)
{
	struct tui_survey *v = xcalloc(1, sizeof(*v));
	v->verdicts = pcie_verdicts_create(s);
	list_devices(s, v);
	grow_tree(s, v);
	v->nmap = pcie_map_create(s, NULL, 0, &v->map);
	return v;
}

void tui_survey_destroy(struct tui_survey *v)
{
	if (v) {
		pcie_verdicts_destroy(v->verdicts);
		free(v->listed);
		free(v->tree);
		free(v->map);
		free(v);
	}
}

const struct pcie_gpu *tui_survey_gpu(const struct tui_survey *v, int dev)
{
	for (size_t i = 0; v && i < v->verdicts->ngpu; i++) {
		if (v->verdicts->gpu[i].dev == dev) {
			return &v->verdicts->gpu[i];
		}
	}
	return NULL;
}
