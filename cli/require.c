/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "cli/check.h"
#include "cli/cmd.h"

static void add_ids(struct text *t)
{
	const struct pcie_rule *r;
	for (size_t i = 0; (r = pcie_rule_at(i)); i++) {
		text_addf(t, "%s%s", i ? ", " : "", r->id);
	}
}

/* Each word between bars must be one of the rule's answers. */
static int check_answers(const struct pcie_rule *r, const char *answers, struct why *why)
{
	_cleanup_free_ char *copy = xstrdup(answers);
	char *rest = copy, *word;
	while ((word = strsep(&rest, "|"))) {
		if (!pcie_rule_has_answer(r, word)) {
			why_set(why, "--require: %s cannot be '%s'; it is one of: %s", r->id, word,
				r->answers);
			return -EINVAL;
		}
	}
	return 0;
}

static int parse_item(char *item, struct cmd_require *ret, struct why *why)
{
	char *equals = strchr(item, '=');
	if (!equals) {
		why_set(why, "--require: '%s' is not ID=ANSWER", item);
		return -EINVAL;
	}
	*equals = '\0';
	const struct pcie_rule *r = pcie_rule_find(text_trim(item));
	if (!r) {
		struct text ids = {0};
		add_ids(&ids);
		why_set(why, "--require: there is no verdict '%s'; there are %s", item, ids.s);
		text_finish(&ids);
		return -EINVAL;
	}
	char *answers = text_trim(equals + 1);
	int rc = check_answers(r, answers, why);
	if (rc < 0) {
		return rc;
	}
	ret->item = xgrow(ret->item, ret->n, &ret->cap, sizeof(*ret->item));
	ret->item[ret->n++] = (struct cmd_requirement){.rule = r, .answers = xstrdup(answers)};
	return 0;
}

int cmd_require_parse(const char *list, struct cmd_require *ret, struct why *why)
{
	_cleanup_free_ char *copy = xstrdup(list);
	struct cmd_require r = {0};
	char *rest = copy, *item;

	while ((item = strsep(&rest, ","))) {
		int rc = parse_item(item, &r, why);
		if (rc < 0) {
			cmd_require_finish(&r);
			return rc;
		}
	}
	*ret = r;
	return 0;
}

void cmd_require_finish(struct cmd_require *r)
{
	for (size_t i = 0; i < r->n; i++) {
		free(r->item[i].answers);
	}
	free(r->item);
	*r = (struct cmd_require){0};
}

static bool allows(const char *answers, const char *answer)
{
	size_t n = strlen(answer);
	for (const char *p = answers; *p;) {
		size_t len = strcspn(p, "|");
		if (len == n && !strncmp(p, answer, n)) {
			return true;
		}
		p += len + (p[len] == '|');
	}
	return false;
}

int cmd_require_judge(const struct cmd_require *r, const struct pcie_verdicts *v, struct text *out)
{
	bool discrete = pcie_verdicts_have_discrete(v), failed = false, open = false;

	for (size_t g = 0; g < v->ngpu; g++) {
		const struct pcie_gpu *gpu = &v->gpu[g];
		if (discrete && gpu->kind != PCIE_GPU_DISCRETE) {
			continue;
		}
		for (size_t i = 0; i < r->n; i++) {
			const char *answer = pcie_gpu_answer(gpu, r->item[i].rule->id);
			char addr[PCIE_ADDR_MAX];
			if (allows(r->item[i].answers, answer)) {
				continue;
			}
			bool unknown = !strcmp(answer, "unknown") || !strcmp(answer, "n-a");
			failed = failed || !unknown;
			open = open || unknown;
			text_addf(out, "%s: %s is %s, required is %s\n",
				pcie_addr_format(gpu->addr, addr), r->item[i].rule->id, answer,
				r->item[i].answers);
		}
	}
	return failed ? EXIT_FINDING : open ? EXIT_UNDETERMINED : EXIT_FINE;
}

int cmd_check_status(const struct pcie_verdicts *v, bool required)
{
	bool discrete = pcie_verdicts_have_discrete(v), open = false;

	for (size_t g = 0; g < v->ngpu; g++) {
		enum pcie_level l = pcie_gpu_deciding_level(&v->gpu[g]);
		if (l == PCIE_LEVEL_BAD) {
			return EXIT_FINDING;
		}
		bool asked = !discrete || v->gpu[g].kind == PCIE_GPU_DISCRETE;
		open = open || (asked && l == PCIE_LEVEL_UNSURE);
	}
	return open && !required ? EXIT_UNDETERMINED : EXIT_FINE;
}
