/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stress/choice.h"

#include <string.h>

static bool same_device(const struct stress_choice_device *a, const struct stress_choice_device *b)
{
	return !strcmp(a->name, b->name) && a->cc == b->cc && a->sms == b->sms &&
	       a->driver == b->driver;
}

bool stress_choice_fits(const struct stress_choice *a, const struct stress_choice *b)
{
	return same_device(&a->device, &b->device) && a->build == b->build && a->m == b->m &&
	       a->k == b->k && a->n == b->n && a->f32 == b->f32 && a->hot == b->hot;
}

bool stress_library_choice_fits(
	const struct stress_library_choice *a, const struct stress_library_choice *b)
{
	return same_device(&a->device, &b->device) && a->version == b->version &&
	       !strcmp(a->build_id, b->build_id) && a->m == b->m && a->k == b->k && a->n == b->n &&
	       a->ldx == b->ldx && a->ldw == b->ldw && a->ldy == b->ldy && a->f32 == b->f32 &&
	       a->bias == b->bias && a->act == b->act && a->align == b->align &&
	       a->reductions == b->reductions && a->workspace == b->workspace;
}
