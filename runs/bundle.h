/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs in one file for another machine: barscope-runs(5). A bundle is a store of its own with
 * the chosen runs, so everything that reads a store reads a bundle too. Blocking.
 */
#pragma once

#include <stddef.h>

#include "base/why.h"
#include "runs/info.h"

/*
 * Writes the runs of LIST, which must not be running, from the store at FROM to a fresh file
 * TO (-EEXIST); TO appears only when it is complete.
 */
int runs_bundle_export(
	const char *from, const struct runs_list *list, const char *to, struct why *why);

struct runs_imported {
	size_t added, known; /* KNOWN: were there already, by their uid */
};

/*
 * Takes all runs of the file at FROM into the store at TO, which is made when missing. All or
 * nothing. -EBADMSG: FROM is damaged or holds what no bundle holds; and store.h's errors.
 */
int runs_bundle_import(
	const char *from, const char *to, struct runs_imported *ret, struct why *why);
