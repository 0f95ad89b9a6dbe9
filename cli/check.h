/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Verdicts for a program (JSON, barscope.verdicts/1) and for a person, and requirements. Pure. */
#pragma once

#include "base/json.h"
#include "base/text.h"
#include "base/why.h"
#include "cli/style.h"
#include "pcie/snapshot.h"
#include "pcie/verdict.h"

/* schema barscope.verdicts/1; the caller frees it. */
struct js *cmd_check_json(const struct pcie_snapshot *s, const struct pcie_verdicts *v);

/* Worst first, one screen; EXPLAIN: each verdict with all its evidence, and the log. */
void cmd_check_print(struct text *out, const struct pcie_snapshot *s, const struct pcie_verdicts *v,
	bool explain, struct cmd_style style);

/* "rebar=full,link=ok", with "|" between answers that are as good. */
struct cmd_require {
	struct cmd_requirement {
		const struct pcie_rule *rule;
		char *answers; /* "full|card-limit" */
	} * item;
	size_t n, cap;
};

/* -EINVAL with a sentence: an id or answer that does not exist, or nothing at all. */
int cmd_require_parse(const char *list, struct cmd_require *ret, struct why *why);
void cmd_require_finish(struct cmd_require *r);

/*
 * Adds a line to OUT for each requirement that is not met, and returns EXIT_FINE, EXIT_FINDING
 * or EXIT_UNDETERMINED. Discrete GPUs are asked, or all where there is none.
 */
int cmd_require_judge(const struct cmd_require *r, const struct pcie_verdicts *v, struct text *out);

/* The status of a check: bad verdicts, and, unless REQUIRED, answers that are not known. */
int cmd_check_status(const struct pcie_verdicts *v, bool required);
