/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which device of one side is which of the other? Runs know theirs by a name that ends with the
 * PCI address where there is one, and bus numbers move when the firmware's settings do: one
 * address is no identity, a model in the order of the buses is. Pure; any thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"
#include "runs/side.h"

/* One device: what A's runs and what B's runs call it. The strings are the sides'. */
struct runs_device_pair {
	const char *a, *b;
};

/* Do both names say the same model? They may differ in their address. */
bool runs_device_same_model(const char *x, const char *y);

/*
 * The devices that both sides have, in the order of A's first runs; the caller frees them. Of a
 * model of which both sides have as many, each is the one that stands at its place in the order of
 * the buses; of another model, the one at its own address. Where no model is common and both sides
 * have as many devices, they are paired in that order too: the models then differ. 0: none.
 */
size_t runs_devices_pair(
	const struct runs_side *a, const struct runs_side *b, struct runs_device_pair **ret);

/* The devices of S, by commas, the first two by name: for a sentence. */
void runs_devices_say(const struct runs_side *s, struct text *t);
