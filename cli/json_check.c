/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/check.h"

#include <stdlib.h>

#include "pcie/log_explain.h"

static struct js *evidence_json(const struct pcie_evidence *e, size_t n)
{
	struct js *a = js_array();
	for (size_t i = 0; i < n; i++) {
		struct js *o = js_object();
		js_set_str(o, "id", e[i].id);
		js_set_str(o, "source", e[i].source);
		js_set_str(o, "value", e[i].value);
		js_push(a, o);
	}
	return a;
}

static struct js *verdict_json(const struct pcie_verdict *v)
{
	struct js *o = js_object();
	js_set_str(o, "id", v->rule->id);
	js_set_str(o, "answer", v->answer);
	js_set_str(o, "confidence", pcie_confidence_name(v->confidence));
	js_set_str(o, "level", pcie_level_name(v->level));
	js_set_str(o, "headline", v->headline);
	js_set(o, "evidence", evidence_json(v->evidence, v->nevidence));
	js_set(o, "against", evidence_json(v->against, v->nagainst));
	struct js *advice = js_array();
	for (size_t i = 0; i < v->nadvice; i++) {
		js_push_str(advice, v->advice[i]);
	}
	js_set(o, "advice", advice);
	return o;
}

static struct js *gpu_json(const struct pcie_gpu *g)
{
	struct js *o = js_object();
	char addr[PCIE_ADDR_MAX];

	if (g->addr.known) {
		js_set_str(o, "address", pcie_addr_format(g->addr, addr));
	} else {
		js_set_null(o, "address");
	}
	if (g->name[0]) {
		js_set_str(o, "name", g->name);
	}
	js_set_str(o, "kind", pcie_gpu_kind_name(g->kind));
	const char *cause = pcie_cause_name(g->cause);
	if (cause) {
		js_set_str(o, "cause", cause);
	} else {
		js_set_null(o, "cause");
	}
	if (g->cause_text[0]) {
		js_set_str(o, "cause_text", g->cause_text);
	}
	/* Worst first; rules of one level in the table's order. */
	struct js *list = js_array();
	for (int level = PCIE_LEVEL_BAD; level >= PCIE_LEVEL_GOOD; level--) {
		for (size_t i = 0; i < g->nverdict; i++) {
			if ((int)g->verdict[i].level == level) {
				js_push(list, verdict_json(&g->verdict[i]));
			}
		}
	}
	js_set(o, "verdicts", list);
	return o;
}

/* Each resource that matters in the kernel log: its final state and the lines that prove it. */
static struct js *log_json(const struct pcie_snapshot *s)
{
	struct js *list = js_array();
	struct pcie_log_item *item;
	size_t n = pcie_log_explain(s, &item);
	for (size_t i = 0; i < n; i++) {
		struct js *o = js_object(), *lines = js_array();
		js_set_str(o, "resource", item[i].resource);
		js_set_str(o, "final", item[i].final);
		for (size_t l = 0; l < item[i].nline; l++) {
			js_push_str(lines, item[i].line[l]);
		}
		js_set(o, "lines", lines);
		js_push(list, o);
	}
	free(item);
	return list;
}

struct js *cmd_check_json(const struct pcie_snapshot *s, const struct pcie_verdicts *v)
{
	struct js *o = js_object();
	js_set_str(o, "schema", "barscope.verdicts/1");
	struct js *gpus = js_array();
	for (size_t i = 0; i < v->ngpu; i++) {
		js_push(gpus, gpu_json(&v->gpu[i]));
	}
	js_set(o, "gpus", gpus);
	js_set(o, "log", log_json(s));
	return o;
}
