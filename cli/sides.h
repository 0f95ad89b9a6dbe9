/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two sides, compared and shown: what "compare" and "study report" share. */
#pragma once

#include <stdbool.h>

#include "runs/compare.h"
#include "runs/store.h"

struct cmd_compare_options {
	const char *despite; /* names, by commas; NULL: none */
	bool json, csv;
	const char *html;  /* a file for the page; NULL: none */
	const char *head;  /* text before the comparison, for a person; NULL: none */
	const char *page;  /* the same as HTML; NULL: none */
	const char *study; /* the same for programs, JSON: member "study"; NULL: none */
};

/*
 * Compares what A and B name (see runs_side_open), with the machines they kept, and prints it.
 * STORE may be NULL. Returns the exit status.
 */
int cmd_compare_sides(struct runs_store *store, const char *boot_id, const char *a, const char *b,
	const struct cmd_compare_options *o);
