/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/plan.h"

static struct js *rule_json(const struct pcie_plan *p, const struct pcie_plan_gpu *g, int k)
{
	const struct pcie_plan_fit *f = &g->fit[k];
	struct js *o = js_object();

	js_set_str(o, "rule", pcie_plan_rule_name((enum pcie_plan_rule)k));
	js_set_bool(o, "applies", p->applies[k]);
	if (f->fits != PCIE_TRI_UNKNOWN) {
		js_set_bool(o, "fits", f->fits == PCIE_YES);
	} else {
		js_set_null(o, "fits");
	}
	struct js *by = js_array();
	for (unsigned i = 0; i < f->nblocker; i++) {
		js_push_str(by, f->blocker[i].what);
	}
	js_set(o, "blocked_by", by);
	if (f->need) {
		js_set_u64(o, "need", f->need);
		js_set_u64(o, "align", f->align);
	}
	if (f->has_have) {
		js_set_u64(o, "have", f->have);
	}
	if (f->has_place) {
		js_set_hex(o, "placed", f->place);
		js_set_hex(o, "bar_at", f->bar_place);
	}
	if (g->alone[k] != PCIE_TRI_UNKNOWN) {
		js_set_bool(o, "alone", g->alone[k] == PCIE_YES);
	}
	return o;
}

struct js *cmd_plan_json(const struct pcie_snapshot *s, const struct pcie_plan *p)
{
	struct js *o = js_object(), *gpus = js_array(), *together = js_object();
	struct js *commands = js_array(), *notes = js_array();
	char addr[PCIE_ADDR_MAX];

	js_set_str(o, "schema", "barscope.plan/1");
	for (size_t i = 0; i < p->ngpu; i++) {
		const struct pcie_plan_gpu *g = &p->gpu[i];
		const struct pcie_device *d = &s->dev[g->dev];
		struct js *q = js_object(), *rules = js_array();
		if (d->addr.known) {
			js_set_str(q, "address", pcie_addr_format(d->addr, addr));
		} else {
			js_set_null(q, "address");
		}
		if (g->bar >= 0) {
			js_set_int(q, "bar", g->bar);
		}
		if (g->has_current) {
			js_set_u64(q, "current", g->current);
		}
		if (g->has_target) {
			js_set_u64(q, "target", g->target);
			js_set_str(q, "target_why", g->target_why);
		}
		for (int k = 0; k < PCIE_PLAN_RULES; k++) {
			js_push(rules, rule_json(p, g, k));
		}
		js_set(q, "rules", rules);
		js_push(gpus, q);
	}
	js_set(o, "gpus", gpus);
	js_set_int(together, "legacy", p->together[PCIE_PLAN_LEGACY]);
	js_set_int(together, "tight", p->together[PCIE_PLAN_TIGHT]);
	js_set_int(together, "of", (int64_t)p->ngpu);
	js_set(o, "together", together);
	for (size_t i = 0; i < p->ncommand; i++) {
		js_push_str(commands, p->command[i]);
	}
	for (size_t i = 0; i < p->nnote; i++) {
		js_push_str(notes, p->note[i]);
	}
	js_set(o, "commands", commands);
	js_set(o, "notes", notes);
	return o;
}
