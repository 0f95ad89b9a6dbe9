/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/sides.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "cli/cmd.h"
#include "cli/print_compare.h"
#include "pcie/scan.h"

enum { DESPITE = 32 };

/* A's last machine, B's first; NULL: it kept none, or it cannot be read. */
static struct pcie_snapshot *machine_of(
	struct runs_store *store, const char *ref, const struct runs_side *side, bool last)
{
	_cleanup_free_ char *record = NULL;
	size_t len;
	struct why why;
	struct pcie_snapshot *snapshot = NULL;
	if (runs_side_machine(store, ref, side, last, &record, &len, &why) ||
		pcie_scan_buffer(side->name, record, len, &snapshot, &why)) {
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
		char *out = js_text(j);
		js_free(j);
		return out;
	}
	if (o->csv) {
		cmd_compare_csv(&t, c);
	} else {
		text_add(&t, o->head ? o->head : "");
		cmd_compare_print(&t, c, m, cmd_style_detect(false));
	}
	return text_steal(&t);
}

static int show(const struct runs_comparison *c, struct pcie_snapshot *a, struct pcie_snapshot *b,
	const struct cmd_compare_options *o)
{
	struct pcie_diff *d = a && b ? pcie_diff_create(a, b) : NULL;
	struct cmd_machines m = {a, b, d};
	_cleanup_free_ char *out = render(c, &m, o);
	pcie_diff_destroy(d);
	int printed = cmd_print(out);
	return printed ? printed : runs_verdict_status(c->verdict);
}

int cmd_compare_sides(struct runs_store *store, const char *boot_id, const char *a, const char *b,
	const struct cmd_compare_options *o)
{
	const char *ref[2] = {a, b}, *names[DESPITE];
	struct runs_side side[2];
	struct runs_comparison c = {0};
	struct why why;
	memset(side, 0, sizeof(side));
	_cleanup_free_ char *copy = xstrdup(o->despite ? o->despite : "");
	size_t ndespite = split(copy, names, DESPITE);
	int r = 0, status;
	for (int i = 0; !r && i < 2; i++) {
		r = runs_side_open(store, ref[i], boot_id, &side[i], &why);
	}
	if (r) {
		status = cmd_fail(EXIT_USAGE, "%s", why.text);
	} else if (runs_compare(&side[0], &side[1], names, ndespite, &c, &why)) {
		/* Nothing in common is an answer, not a failure to read. */
		status = cmd_fail(EXIT_UNDETERMINED, "%s", why.text);
	} else {
		struct pcie_snapshot *ma = machine_of(store, a, &side[0], true);
		struct pcie_snapshot *mb = machine_of(store, b, &side[1], false);
		status = show(&c, ma, mb, o);
		pcie_snapshot_destroy(ma);
		pcie_snapshot_destroy(mb);
		runs_comparison_finish(&c);
	}
	runs_side_finish(&side[0]);
	runs_side_finish(&side[1]);
	return status;
}
