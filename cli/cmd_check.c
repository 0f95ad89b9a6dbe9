/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>

#include "base/cleanup.h"
#include "cli/check.h"
#include "cli/cmd.h"
#include "cli/source_args.h"

static const char help[] =
	"usage: barscope check [SOURCE] [--with FILE]... [--gpu BDF] [--require LIST] [--explain]\n"
	"                      [--json] [--wake] [--ascii]\n\n"
	"Is Above 4G Decoding in effect, is Resizable BAR, and if not, what blocks it: a verdict\n"
	"for each question and GPU, worst first.\n\n" CMD_SOURCE_HELP
	"  --gpu BDF    this GPU only\n"
	"  --require LIST  fail unless these hold: rebar=full,link=ok,above4g.used=yes; several\n"
	"               answers as rebar=full|card-limit\n"
	"  --explain    all evidence, for and against\n"
	"  --json       for programs (schema barscope.verdicts/1)\n"
	"  --ascii      plain characters only\n\n"
	"Exit status: 0 fine, 1 a bad verdict or a requirement that does not hold, 2 undetermined,\n"
	"3 usage or unreadable input, 4 no GPU. barscope-verdicts(7) explains every verdict.\n";

struct check_args {
	const char *gpu, *require;
	bool explain, json, ascii;
};

static int print_verdicts(
	const struct check_args *a, const struct pcie_snapshot *s, const struct pcie_verdicts *v)
{
	_cleanup_free_ char *out = NULL;
	if (a->json) {
		struct js *j = cmd_check_json(s, v);
		out = js_text(j);
		js_free(j);
	} else {
		struct text t = {0};
		cmd_check_print(&t, s, v, a->explain, cmd_style_detect(a->ascii));
		out = text_steal(&t);
	}
	return cmd_print(out);
}

static int check(
	const struct check_args *a, const struct cmd_require *r, const struct pcie_snapshot *s)
{
	int dev = -1;
	struct why why;
	if (a->gpu && cmd_find_gpu(s, a->gpu, &dev, &why) < 0) {
		return cmd_fail(EXIT_USAGE, "%s", why.text);
	}
	struct pcie_verdicts *v = pcie_verdicts_create_for(s, dev);
	int status = print_verdicts(a, s, v);
	if (status == EXIT_FINE && v->ngpu == 0) {
		status = cmd_fail(EXIT_NO_GPU, "no GPU in %s", pcie_origin_name(s));
	} else if (status == EXIT_FINE) {
		struct text unmet = {0};
		int required = r->n ? cmd_require_judge(r, v, &unmet) : EXIT_FINE;
		status = cmd_check_status(v, r->n > 0);
		if (unmet.len) {
			fputs(unmet.s, stderr);
		}
		text_finish(&unmet);
		/* 1 beats 2 beats 0. */
		if (required == EXIT_FINDING || status == EXIT_FINE) {
			status = required;
		}
	}
	pcie_verdicts_destroy(v);
	return status;
}

int cmd_check(int argc, char **argv)
{
	struct cmd_source_args src;
	struct check_args a = {0};
	const struct cmd_option options[] = {
		{"gpu", NULL, &a.gpu},
		{"require", NULL, &a.require},
		{"explain", &a.explain, NULL},
		{"json", &a.json, NULL},
		{"ascii", &a.ascii, NULL},
	};
	int status;
	if (!cmd_source_parse(argc, argv, options, ARRAY_LEN(options), 1, help, &src, &status)) {
		return status;
	}
	struct cmd_require require = {0};
	struct why why;
	if (a.require && cmd_require_parse(a.require, &require, &why) < 0) {
		cmd_source_finish(&src);
		return cmd_usage_error(argv[0], "%s", why.text);
	}
	struct pcie_snapshot *s;
	src.log = true;
	int rc = cmd_source_scan(&src, 0, &s, &why);
	cmd_source_finish(&src);
	if (rc < 0) {
		status = cmd_fail(EXIT_USAGE, "%s", why.text);
	} else {
		status = check(&a, &require, s);
		pcie_snapshot_destroy(s);
	}
	cmd_require_finish(&require);
	return status;
}
