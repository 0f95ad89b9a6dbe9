/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "cli/cmd.h"
#include "cli/plan.h"
#include "cli/source_args.h"

static const char help[] =
	"usage: barscope plan [SOURCE] [--with FILE]... [--gpu BDF] [--size SIZE] [--without BDF]\n"
	"                     [--map] [--json] [--wake] [--ascii]\n\n"
	"Would a larger BAR fit, what blocks it, and what to do: the kernel's own arithmetic, by\n"
	"both rules that Linux has had. Prints commands and runs none.\n\n" CMD_SOURCE_HELP
	"  --gpu BDF    this GPU only\n"
	"  --size SIZE  32G and the like; otherwise the smallest size that shows all of the VRAM\n"
	"  --without BDF  as if this device, or all behind this bridge, were not there\n"
	"  --map        the whole address map\n"
	"  --json       for programs (schema barscope.plan/1)\n"
	"  --ascii      plain characters only\n\n"
	"Exit status: 0 all fit by every rule that this kernel may use, 1 one does not, 2 the rules\n"
	"disagree or too little is known, 3 usage or unreadable input, 4 no GPU.\n";

enum { MAP_ROWS = 24 };

struct plan_args {
	const char *gpu, *size, *without;
	bool map, json, ascii;
};

static int find_devices(const struct plan_args *a, const struct pcie_snapshot *s,
	struct pcie_plan_options *o, int *without, struct why *why)
{
	o->dev = -1;
	if (a->gpu) {
		int rc = cmd_find_gpu(s, a->gpu, &o->dev, why);
		if (rc < 0) {
			return rc;
		}
	}
	if (a->without) {
		int rc = cmd_find_device(s, "without", a->without, without, why);
		if (rc < 0) {
			return rc;
		}
		if (*without == o->dev) {
			why_set(why,
				"--without and --gpu name the same device: a plan for one that is not there");
			return -EINVAL;
		}
		o->without = without;
		o->nwithout = 1;
	}
	return 0;
}

static int print_plan(const struct plan_args *a, const struct pcie_snapshot *s,
	const struct pcie_plan_options *o, const struct pcie_plan *p)
{
	_cleanup_free_ char *out = NULL;
	if (a->json) {
		struct js *j = cmd_plan_json(s, p);
		out = js_text(j);
		js_free(j);
	} else {
		struct text t = {0};
		struct cmd_style style = cmd_style_detect(a->ascii);
		cmd_plan_print(&t, s, p, style);
		cmd_plan_print_map(&t, s, o, a->map ? 0 : MAP_ROWS, style);
		out = text_steal(&t);
	}
	return cmd_print(out);
}

static int plan(const struct plan_args *a, const struct pcie_snapshot *s, uint64_t size)
{
	struct pcie_plan_options o = {.size = size};
	int without;
	struct why why;

	if (find_devices(a, s, &o, &without, &why) < 0) {
		return cmd_fail(EXIT_USAGE, "%s", why.text);
	}
	struct pcie_plan *p = pcie_plan_create(s, &o);
	int status = print_plan(a, s, &o, p);
	if (status == EXIT_FINE && p->ngpu == 0) {
		status = cmd_fail(EXIT_NO_GPU, "no discrete GPU in %s%s%s", pcie_origin_name(s),
			a->without ? " without " : "", a->without ? a->without : "");
	} else if (status == EXIT_FINE) {
		enum pcie_tri fits = pcie_plan_answer(p);
		status = fits == PCIE_YES  ? EXIT_FINE
			 : fits == PCIE_NO ? EXIT_FINDING
					   : EXIT_UNDETERMINED;
	}
	pcie_plan_destroy(p);
	return status;
}

int cmd_plan(int argc, char **argv)
{
	struct cmd_source_args src;
	struct plan_args a = {0};
	const struct cmd_option options[] = {
		{"gpu", NULL, &a.gpu},
		{"size", NULL, &a.size},
		{"without", NULL, &a.without},
		{"map", &a.map, NULL},
		{"json", &a.json, NULL},
		{"ascii", &a.ascii, NULL},
	};
	int status;
	if (!cmd_source_parse(argc, argv, options, ARRAY_LEN(options), 1, help, &src, &status)) {
		return status;
	}
	uint64_t size = 0;
	if (a.size && (text_parse_size(a.size, &size) < 0 || size < MIB || (size & (size - 1)))) {
		cmd_source_finish(&src);
		return cmd_usage_error(argv[0],
			"--size: '%s' is not a BAR size: a power of two from 1M up, like 32G",
			a.size);
	}
	if (a.json && a.map) {
		cmd_source_finish(&src);
		return cmd_usage_error(
			argv[0], "--map is for people, --json for programs: take one");
	}
	struct pcie_snapshot *s;
	struct why why;
	src.log = true;
	int rc = cmd_source_scan(&src, 0, &s, &why);
	cmd_source_finish(&src);
	if (rc < 0) {
		return cmd_fail(EXIT_USAGE, "%s", why.text);
	}
	pcie_plan_add_lost_bars(s);
	status = plan(&a, s, size);
	pcie_snapshot_destroy(s);
	return status;
}
