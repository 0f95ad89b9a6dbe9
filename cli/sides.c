/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/sides.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/text.h"
#include "cli/cmd.h"
#include "cli/html.h"
#include "cli/print_compare.h"
#include "pcie/scan.h"

enum { DESPITE = 32, POINTS = 280 }; /* names; points of a plot over time */

/* A's last machine, B's first; NULL: it kept none, or it cannot be read, as MISSING then says. */
static struct pcie_snapshot *machine_of(struct runs_store *store, const char *ref,
	const struct runs_side *side, bool last, struct text *missing)
{
	_cleanup_free_ char *record = NULL;
	size_t len;
	struct why why;
	struct pcie_snapshot *snapshot = NULL;
	if (runs_side_machine(store, ref, side, last, &record, &len, &why) ||
		pcie_scan_buffer(side->name, record, len, &snapshot, &why)) {
		text_addf(missing, "%s%s", missing->len ? "; " : "", why.text);
		return NULL;
	}
	return snapshot;
}

/* "a,b" as an array of strings inside COPY. */
static size_t split(char *copy, const char **ret, size_t max)
{
	size_t n = 0;
	for (char *save, *p = strtok_r(copy, ",", &save); p && n < max;
		p = strtok_r(NULL, ",", &save)) {
		ret[n++] = p;
	}
	return n;
}

static char *render(const struct runs_comparison *c, const struct cmd_machines *m,
	const struct cmd_compare_options *o)
{
	struct text t = {0};
	if (o->json) {
		struct js *j = cmd_compare_json(c, m);
		struct js *study;
		struct why why;
		if (o->study && js_parse(o->study, strlen(o->study), &study, &why) == 0) {
			js_set(j, "study", study);
		}
		char *out = js_text(j);
		js_free(j);
		return out;
	}
	if (o->csv) {
		cmd_compare_csv(&t, c);
		return text_steal(&t);
	}
	struct cmd_style style = cmd_style_detect(false);
	text_add(&t, o->head ? o->head : "");
	cmd_compare_print(&t, c, m, style);
	return cmd_style_plain(style, text_steal(&t));
}

/* Writes the page to O's file. */
static int write_page(struct runs_store *store, const char *const ref[2],
	const struct runs_comparison *c, const struct cmd_machines *m,
	const struct cmd_compare_options *o, struct why *why)
{
	struct runs_traces trace[2] = {0};
	const struct runs_pair *pair = &c->pair[c->decided];
	int r = runs_traces_load(store, ref[0], c->a, pair, false, POINTS, &trace[0], why);
	if (!r) {
		r = runs_traces_load(store, ref[1], c->b, pair, true, POINTS, &trace[1], why);
	}
	if (!r) {
		struct cmd_page page = {c, m, trace, o->page};
		_cleanup_free_ char *html = cmd_compare_html(&page);
		r = file_write_atomic(o->html, html, strlen(html), why);
	}
	runs_traces_finish(&trace[0]);
	runs_traces_finish(&trace[1]);
	return r;
}

static int show(struct runs_store *store, const char *const ref[2], const struct runs_comparison *c,
	const struct cmd_compare_options *o)
{
	struct text missing = {0};
	struct pcie_snapshot *a = machine_of(store, ref[0], c->a, true, &missing);
	struct pcie_snapshot *b = machine_of(store, ref[1], c->b, false, &missing);
	struct pcie_diff *d = a && b ? pcie_diff_create(a, b) : NULL;
	struct cmd_machines m = {a, b, d, missing.s ? missing.s : ""};
	struct why why;
	int status;
	if (o->html && write_page(store, ref, c, &m, o, &why)) {
		status = cmd_fail(EXIT_USAGE, "%s", why.text);
	} else {
		_cleanup_free_ char *out = render(c, &m, o);
		status = cmd_print(out);
		status = status ? status : runs_verdict_status(c->verdict);
	}
	text_finish(&missing);
	pcie_diff_destroy(d);
	pcie_snapshot_destroy(a);
	pcie_snapshot_destroy(b);
	return status;
}

int cmd_compare_sides(struct runs_store *store, const char *boot_id, const char *a, const char *b,
	const struct cmd_compare_options *o)
{
	const char *ref[2] = {a, b}, *names[DESPITE];
	struct runs_side side[2];
	struct runs_comparison c = {0};
	struct why why;
	if (o->json && o->csv) {
		return cmd_fail(EXIT_USAGE, "--json and --csv are two outputs; give one of them");
	}
	memset(side, 0, sizeof(side));
	_cleanup_free_ char *copy = xstrdup(o->despite ? o->despite : "");
	size_t ndespite = split(copy, names, DESPITE);
	int r = 0, status;
	for (int i = 0; !r && i < 2; i++) {
		r = runs_side_open(store, ref[i], boot_id, &side[i], &why);
	}
	for (size_t i = 0; !r && i < ndespite; i++) {
		if (!runs_compare_may_differ(&side[0], &side[1], names[i])) {
			why_set(&why,
				"--despite: '%.40s' is no difference that barscope knows; it takes names "
				"as compare shows them under Environment: kernel, cmdline, governor, ...",
				names[i]);
			r = -EINVAL;
		}
	}
	if (r) {
		status = cmd_fail(EXIT_USAGE, "%s", why.text);
	} else if (runs_compare(&side[0], &side[1], names, ndespite, &c, &why)) {
		/* Nothing in common is an answer, not a failure to read. */
		status = cmd_fail(EXIT_UNDETERMINED, "%s", why.text);
	} else {
		status = show(store, ref, &c, o);
		runs_comparison_finish(&c);
	}
	runs_side_finish(&side[0]);
	runs_side_finish(&side[1]);
	return status;
}
