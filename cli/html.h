/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A comparison as one HTML page that needs nothing else: pictures are SVG inside it, there is no
 * script, and its own policy forbids it to load anything. Pure.
 */
#pragma once

#include "base/text.h"
#include "cli/print_compare.h"
#include "runs/trace.h"

/* Each picture is drawn for both; the style sheet shows the one that suits the window. */
enum { CMD_WIDE = 640, CMD_NARROW = 360 };

struct cmd_page {
	const struct runs_comparison *c;
	const struct cmd_machines *m;
	const struct runs_traces *trace; /* two: A's and B's of the pair that decided */
	const char *head;                /* what stands before it, HTML; NULL: nothing */
};

/* The whole page; the caller frees it. */
char *cmd_compare_html(const struct cmd_page *p);

extern const char cmd_html_style[];

/* Pictures, W wide: the SVG alone. */
void cmd_html_distribution(struct text *t, const struct cmd_page *p, int w);
void cmd_html_tail(struct text *t, const struct cmd_page *p, int w);
void cmd_html_time(struct text *t, const struct cmd_page *p, int w);
void cmd_html_boots(struct text *t, const struct cmd_page *p, int w);
void cmd_html_layers(struct text *t, const struct cmd_page *p, int w);
/* The address map; needs both machines. */
void cmd_html_map(struct text *t, const struct cmd_page *p, int w);
