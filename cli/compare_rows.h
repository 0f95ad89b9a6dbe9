/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The figures of two sides, layer by layer, as text and page show them. Pure. */
#pragma once

#include <stddef.h>

#include "cli/print_runs.h"
#include "runs/compare.h"

enum cmd_figure {
	CMD_P5,
	CMD_P50,
	CMD_P95,
	CMD_P99,
	CMD_P999,
	CMD_MAX,
	CMD_BAND,
	CMD_SLOW, /* share of the time inside launches over 1.5 x median */
};

/* The median of one figure over the runs of a side; NaN: not one run knows it. */
double cmd_side_middle(
	const struct runs_side *s, unsigned series, unsigned layer, enum cmd_figure f);

enum cmd_unit { CMD_NS, CMD_SHARE, CMD_CYCLES };

struct cmd_row {
	char name[40]; /* "gemm host p50", "band": of the row with a layer above it */
	bool first;    /* of its layer */
	enum cmd_unit unit;
	double a, b; /* NaN: not known */
};

/* Rows that at least one side knows; the caller frees RET. */
size_t cmd_compare_rows(const struct runs_comparison *c, struct cmd_row **ret);

/* "21.7 µs", "5.0 %", "41000", "-". Returns BUF. */
const char *cmd_row_value(double v, enum cmd_unit unit, char buf[static CMD_WHEN_MAX]);
/* B against A: "+3.1 %", for shares "0.97 x"; "" where it cannot be said. Returns BUF. */
const char *cmd_row_change(const struct cmd_row *r, char buf[static CMD_WHEN_MAX]);
