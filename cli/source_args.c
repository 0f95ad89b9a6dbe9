/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/source_args.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "cli/cmd.h"
#include "cli/store_args.h"
#include "runs/driver.h"

struct parser {
	int argc;
	char **argv;
	int at;
	bool *given; /* of the command's own options: which had their value */
};

/* Does the argument at P name option NAME? *RET_VALUE: what stands behind "=", else NULL. */
static bool is_option(const struct parser *p, const char *name, const char **ret_value)
{
	const char *arg = p->argv[p->at];
	size_t n = strlen(name);
	if (strncmp(arg, "--", 2) || strncmp(arg + 2, name, n)) {
		return false;
	}
	if (arg[2 + n] != '=' && arg[2 + n] != '\0') {
		return false;
	}
	*ret_value = arg[2 + n] == '=' ? arg + 3 + n : NULL;
	return true;
}

/* The option's value: behind "=", or the next argument; NULL: a usage error was printed. */
static const char *take_value(struct parser *p, const char *name, const char *value)
{
	if (!value && p->at + 1 < p->argc) {
		value = p->argv[++p->at];
	}
	if (!value || !*value) {
		cmd_usage_error(p->argv[0], "--%s needs a value", name);
		return NULL;
	}
	return value;
}

/* 1: taken; 0: none of ours; -1: a usage error was printed. */
static int own_option(struct parser *p, const struct cmd_option *options, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const char *value = NULL, *arg = p->argv[p->at];
		bool letter = options[i].letter && arg[1] == options[i].letter && !arg[2];
		if (!letter && !is_option(p, options[i].name, &value)) {
			continue;
		}
		if (options[i].value) {
			const char *taken = take_value(p, options[i].name, value);
			if (taken && p->given[i]) {
				cmd_usage_error(p->argv[0], "--%s is given twice", options[i].name);
				return -1;
			}
			p->given[i] = true;
			*options[i].value = taken ? taken : *options[i].value;
			return taken ? 1 : -1;
		}
		if (value) {
			cmd_usage_error(p->argv[0], "--%s takes no value", options[i].name);
			return -1;
		}
		*options[i].set = true;
		return 1;
	}
	return 0;
}

static int common_option(struct parser *p, struct cmd_source_args *ret)
{
	const char *value;
	if (is_option(p, "with", &value)) {
		value = take_value(p, "with", value);
		if (!value) {
			return -1;
		}
		ret->with[ret->nwith++] = value;
		return 1;
	}
	if (is_option(p, "store", &value)) {
		if (ret->store) {
			cmd_usage_error(p->argv[0], "--store is given twice");
			return -1;
		}
		ret->store = take_value(p, "store", value);
		return ret->store ? 1 : -1;
	}
	if (is_option(p, "wake", &value)) {
		if (value) {
			cmd_usage_error(p->argv[0], "--wake takes no value");
			return -1;
		}
		ret->wake = true;
		return 1;
	}
	return 0;
}

/* What no single argument tells: 0, or the status of a usage error that was printed. */
static int judge_together(const char *cmd, const struct cmd_source_args *a, size_t max)
{
	size_t input = 0;
	for (size_t i = 0; i < CMD_SOURCES; i++) {
		input += a->source[i] && !strcmp(a->source[i], "-");
		if (a->source[i] && !*a->source[i]) {
			return cmd_usage_error(cmd, "an empty argument is no SOURCE");
		}
	}
	for (size_t i = 0; i < a->nwith; i++) {
		input += !strcmp(a->with[i], "-");
	}
	if (input > 1) {
		return cmd_usage_error(cmd, "standard input ('-') can be read only once");
	}
	if (max != 1 && a->nwith) {
		return cmd_usage_error(cmd, "--with is no option of it%s",
			max ? ": it would be a witness of both machines" : "");
	}
	return max == 0 && a->store ? cmd_usage_error(cmd, "--store is no option of it") : 0;
}

bool cmd_source_parse(int argc, char **argv, const struct cmd_option *options, size_t n, size_t max,
	const char *help, struct cmd_source_args *ret, int *status)
{
	_cleanup_free_ bool *given = xcalloc(n + 1, sizeof(*given));
	struct parser p = {argc, argv, 1, given};
	size_t sources = 0;
	bool only_sources = false; /* behind "--" */

	*ret = (struct cmd_source_args){.with = xcalloc((size_t)argc, sizeof(*ret->with))};
	for (; p.at < argc; p.at++) {
		const char *arg = argv[p.at];
		if (!only_sources && !strcmp(arg, "--")) {
			only_sources = true;
			continue;
		}
		if (!only_sources && (!strcmp(arg, "--help") || !strcmp(arg, "-h"))) {
			*status = cmd_print(help);
			cmd_source_finish(ret);
			return false;
		}
		if (only_sources || arg[0] != '-' || !strcmp(arg, "-")) {
			if (sources == max) {
				*status = cmd_usage_error(
					argv[0], "'%s' is one argument too many", arg);
				cmd_source_finish(ret);
				return false;
			}
			ret->source[sources++] = arg;
			continue;
		}
		int r = own_option(&p, options, n);
		r = r ? r : common_option(&p, ret);
		if (r <= 0) {
			*status = r ? EXIT_USAGE
				    : cmd_usage_error(argv[0], "'%s' is no option of it", arg);
			cmd_source_finish(ret);
			return false;
		}
	}
	*status = judge_together(argv[0], ret, max);
	if (*status) {
		cmd_source_finish(ret);
	}
	return *status == 0;
}

void cmd_source_finish(struct cmd_source_args *a)
{
	free(a->with);
	a->with = NULL;
}

/* A run or label: what is forced to be one, and a name that no file has. */
static bool names_a_run(const char *source)
{
	if (!source || !strcmp(source, "live") || !strcmp(source, "-")) {
		return false;
	}
	return !strncmp(source, "run:", 4) || !strncmp(source, "label:", 6) ||
	       (access(source, F_OK) && errno == ENOENT && !strchr(source, '/'));
}

/* The machine of the newest run that REF names and that has one kept. */
static int scan_run(const char *store, const char *ref, struct pcie_snapshot **ret, struct why *why)
{
	char boot_id[RUNS_BOOT_ID_MAX];
	struct runs_store *s;
	int r = cmd_store_open(store, RUNS_STORE_READ, &s, boot_id, why);
	bool by_name = !strncmp(ref, "run:", 4) || !strncmp(ref, "label:", 6);
	if (r < 0) {
		struct why reason = *why;
		why_set(why, "%s: %s%s", ref, by_name ? "" : "no such file, and ", reason.text);
		return r;
	}
	_cleanup_runs_ struct runs_list list = {0};
	_cleanup_free_ char *record = NULL;
	size_t len = 0;
	r = runs_info_find(s, ref, boot_id, &list, why);
	if (r == -ENOENT && !by_name) {
		struct why reason = *why;
		why_set(why, "%s: no such file, and %s", ref, reason.text);
	}
	for (size_t i = list.n; !r && !record && i-- > 0;) {
		if (list.run[i].machine) {
			r = runs_info_machine(s, list.run[i].machine, &record, &len, why);
		}
	}
	runs_store_close(s);
	if (!r && !record) {
		why_set(why, "%s: no machine was kept with it", ref);
		return -ENODATA;
	}
	return r < 0 ? r : pcie_scan_buffer(ref, record, len, ret, why);
}

int cmd_source_scan(
	const struct cmd_source_args *a, size_t i, struct pcie_snapshot **ret, struct why *why)
{
	const struct pcie_scan_options o = {
		.source = i < CMD_SOURCES ? a->source[i] : NULL,
		.with = a->with,
		.nwith = a->nwith,
		.wake = a->wake,
		.log = a->log,
		.driver = &runs_driver,
	};
	if (names_a_run(o.source)) {
		return scan_run(a->store, o.source, ret, why);
	}
	return pcie_scan(&o, ret, why);
}

int cmd_find_device(const struct pcie_snapshot *s, const char *option, const char *bdf, int *ret,
	struct why *why)
{
	struct pcie_addr a;
	if (pcie_addr_parse(bdf, &a) < 0) {
		why_set(why, "--%s: '%s' is no PCI address (0000:01:00.0 or 01:00.0)", option, bdf);
		return -EINVAL;
	}
	int dev = pcie_snapshot_find(s, a);
	if (dev < 0) {
		why_set(why, "--%s: there is no device %s in %s", option, bdf, pcie_origin_name(s));
		return -ENOENT;
	}
	*ret = dev;
	return 0;
}

/* "; its GPUs: 0000:01:00.0, 0000:02:00.0": what could have been meant. The caller frees it. */
static char *gpus_there(const struct pcie_snapshot *s)
{
	enum { SHOWN = 6 };
	struct text t = {0};
	char addr[PCIE_ADDR_MAX];
	unsigned n = 0;

	for (size_t i = 0; i < s->ndev; i++) {
		const struct pcie_device *d = &s->dev[i];
		if (pcie_device_is_gpu(d) && d->addr.known && n++ < SHOWN) {
			text_addf(&t, "%s%s", n == 1 ? "; its GPUs: " : ", ",
				pcie_addr_format(d->addr, addr));
		}
	}
	text_add(&t, n > SHOWN ? ", …" : "");
	return text_steal(&t);
}

int cmd_find_gpu(const struct pcie_snapshot *s, const char *bdf, int *ret, struct why *why)
{
	int dev;
	struct why not_there;
	int rc = cmd_find_device(s, "gpu", bdf, &dev, &not_there);
	if (rc == -EINVAL) {
		*why = not_there;
		return rc;
	}
	if (rc < 0 || !pcie_device_is_gpu(&s->dev[dev])) {
		_cleanup_free_ char *there = gpus_there(s);
		if (rc < 0) {
			why_set(why, "%s%s", not_there.text, there);
		} else {
			why_set(why, "--gpu: %s is not a GPU%s", bdf, there);
		}
		return -ENOENT;
	}
	*ret = dev;
	return 0;
}
