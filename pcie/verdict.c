/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pcie/verdict.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "pcie/judge.h"

/* In the order in which a person asks. */
static const struct pcie_rule *const rules[] = {
	&pcie_rule_assignment,
	&pcie_rule_rebar,
	&pcie_rule_aperture,
	&pcie_rule_used,
	&pcie_rule_setup,
	&pcie_rule_link,
	&pcie_rule_claim,
	&pcie_rule_overlap,
	&pcie_rule_driver,
	&pcie_rule_peer,
	&pcie_rule_aer,
	&pcie_rule_views,
	&pcie_rule_boot,
	&pcie_rule_power,
	&pcie_rule_vf_rebar,
};

_Static_assert(ARRAY_LEN(rules) <= PCIE_VERDICTS_MAX, "a GPU has room for each rule");

static char *format(const char *fmt, va_list ap) __attribute__((format(printf, 1, 0)));
static char *format(const char *fmt, va_list ap)
{
	char *s;
	return vasprintf(&s, fmt, ap) < 0 ? xstrdup("") : s;
}

void pcie_say(struct pcie_verdict *v, const char *answer, enum pcie_confidence c,
	enum pcie_level level, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	free(v->headline);
	v->headline = format(fmt, ap);
	va_end(ap);
	v->answer = answer;
	v->confidence = c;
	v->level = level;
}

static void add_evidence(struct pcie_evidence **list, size_t *n, size_t *cap, const char *id,
	const char *source, char *value)
{
	*list = xgrow(*list, *n, cap, sizeof(**list));
	struct pcie_evidence *e = &(*list)[(*n)++];
	*e = (struct pcie_evidence){.source = xstrdup(source), .value = value};
	text_copy(e->id, sizeof(e->id), id);
}

void pcie_evidence(struct pcie_verdict *v, const char *id, const char *source, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	add_evidence(&v->evidence, &v->nevidence, &v->capevidence, id, source, format(fmt, ap));
	va_end(ap);
}

void pcie_against(struct pcie_verdict *v, const char *id, const char *source, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	add_evidence(&v->against, &v->nagainst, &v->capagainst, id, source, format(fmt, ap));
	va_end(ap);
}

void pcie_advise(struct pcie_verdict *v, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	v->advice = xgrow(v->advice, v->nadvice, &v->capadvice, sizeof(*v->advice));
	v->advice[v->nadvice++] = format(fmt, ap);
	va_end(ap);
}

static void finish_list(struct pcie_evidence *e, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(e[i].source);
		free(e[i].value);
	}
	free(e);
}

static void verdict_finish(struct pcie_verdict *v)
{
	finish_list(v->evidence, v->nevidence);
	finish_list(v->against, v->nagainst);
	for (size_t i = 0; i < v->nadvice; i++) {
		free(v->advice[i]);
	}
	free(v->advice);
	free(v->headline);
	*v = (struct pcie_verdict){0};
}

static void judge_gpu(
	struct pcie_gpu *g, const struct pcie_snapshot *s, const struct pcie_machine *m, int dev)
{
	struct pcie_judge j;
	pcie_judge_init(&j, s, m, dev);
	pcie_cause_find(&j);

	*g = (struct pcie_gpu){
		.dev = dev,
		.addr = s->dev[dev].addr,
		.name = xstrdup(s->dev[dev].name),
		.kind = j.kind,
		.cause = j.cause,
		.cause_text = xstrdup(j.cause_text),
	};
	for (size_t i = 0; i < ARRAY_LEN(rules); i++) {
		struct pcie_verdict *v = &g->verdict[g->nverdict];
		*v = (struct pcie_verdict){.rule = rules[i]};
		rules[i]->judge(&j, v);
		if (v->answer) {
			g->nverdict++;
		} else {
			verdict_finish(v);
		}
	}
}

struct pcie_verdicts *pcie_verdicts_create_for(const struct pcie_snapshot *s, int dev)
{
	struct pcie_verdicts *v = xcalloc(1, sizeof(*v));
	struct pcie_machine m;

	pcie_machine_init(&m, s);
	for (size_t i = 0; i < s->ndev; i++) {
		if ((dev >= 0 && (size_t)dev != i) || !pcie_device_is_gpu(&s->dev[i])) {
			continue;
		}
		v->gpu = xgrow(v->gpu, v->ngpu, &v->capgpu, sizeof(*v->gpu));
		judge_gpu(&v->gpu[v->ngpu++], s, &m, (int)i);
	}
	return v;
}

struct pcie_verdicts *pcie_verdicts_create(const struct pcie_snapshot *s)
{
	return pcie_verdicts_create_for(s, -1);
}

void pcie_verdicts_destroy(struct pcie_verdicts *v)
{
	if (!v) {
		return;
	}
	for (size_t i = 0; i < v->ngpu; i++) {
		for (size_t k = 0; k < v->gpu[i].nverdict; k++) {
			verdict_finish(&v->gpu[i].verdict[k]);
		}
		free(v->gpu[i].name);
		free(v->gpu[i].cause_text);
	}
	free(v->gpu);
	free(v);
}

const struct pcie_verdict *pcie_gpu_find(const struct pcie_gpu *g, const char *id)
{
	for (size_t i = 0; i < g->nverdict; i++) {
		if (!strcmp(g->verdict[i].rule->id, id)) {
			return &g->verdict[i];
		}
	}
	return NULL;
}

const char *pcie_gpu_answer(const struct pcie_gpu *g, const char *id)
{
	const struct pcie_verdict *v = pcie_gpu_find(g, id);
	return v ? v->answer : "unknown";
}

enum pcie_level pcie_gpu_level(const struct pcie_gpu *g)
{
	enum pcie_level worst = PCIE_LEVEL_GOOD;
	for (size_t i = 0; i < g->nverdict; i++) {
		worst = MAX(worst, g->verdict[i].level);
	}
	return worst;
}

bool pcie_verdicts_have_discrete(const struct pcie_verdicts *v)
{
	for (size_t i = 0; i < v->ngpu; i++) {
		if (v->gpu[i].kind == PCIE_GPU_DISCRETE) {
			return true;
		}
	}
	return false;
}

enum pcie_level pcie_gpu_deciding_level(const struct pcie_gpu *g)
{
	enum pcie_level worst = PCIE_LEVEL_GOOD;
	for (size_t i = 0; i < g->nverdict; i++) {
		const struct pcie_verdict *v = &g->verdict[i];
		if (v->rule->decides || v->level == PCIE_LEVEL_BAD) {
			worst = MAX(worst, v->level);
		}
	}
	return worst;
}

char *pcie_gpu_why(const struct pcie_gpu *g)
{
	const char *cause = pcie_cause_name(g->cause);
	struct text t = {0};

	if (cause) {
		text_addf(&t, "%s%s%s", cause, g->cause_text[0] ? ": " : "", g->cause_text);
	} else {
		text_add(&t, g->cause_text[0] ? g->cause_text : "not known");
	}
	return text_steal(&t);
}

const struct pcie_rule *pcie_rule_at(size_t i)
{
	return i < ARRAY_LEN(rules) ? rules[i] : NULL;
}

const struct pcie_rule *pcie_rule_find(const char *id)
{
	for (size_t i = 0; i < ARRAY_LEN(rules); i++) {
		if (!strcmp(rules[i]->id, id)) {
			return rules[i];
		}
	}
	return NULL;
}

bool pcie_rule_has_answer(const struct pcie_rule *r, const char *answer)
{
	size_t n = strlen(answer);
	for (const char *p = r->answers; n && *p;) {
		size_t len = strcspn(p, " ");
		if (len == n && !strncmp(p, answer, n)) {
			return true;
		}
		p += len + strspn(p + len, " ");
	}
	return false;
}

const char *pcie_level_name(enum pcie_level l)
{
	static const char *const name[] = {"good", "note", "unsure", "bad"};
	return (size_t)l < ARRAY_LEN(name) ? name[l] : "unsure";
}

const char *pcie_confidence_name(enum pcie_confidence c)
{
	static const char *const name[] = {"weak", "likely", "proven"};
	return (size_t)c < ARRAY_LEN(name) ? name[c] : "weak";
}

const char *pcie_line_text(const struct pcie_snapshot *s, uint32_t line)
{
	return line < s->nline ? s->line[line] : "";
}

const char *pcie_range(uint64_t base, uint64_t limit, char buf[static PCIE_RANGE_MAX])
{
	snprintf(buf, PCIE_RANGE_MAX, "0x%llx-0x%llx", (unsigned long long)base,
		(unsigned long long)limit);
	return buf;
}

const char *pcie_bar_text(
	const struct pcie_device *d, const struct pcie_bar *b, char buf[static PCIE_BAR_TEXT_MAX])
{
	char addr[PCIE_ADDR_MAX], size[TEXT_SIZE_MAX], index[16] = "";
	const char *kind = b->kind == PCIE_BAR_VF ? "VF BAR" : "BAR";
	if (b->index >= 0) {
		snprintf(index, sizeof(index), " %d", b->index);
	}
	snprintf(buf, PCIE_BAR_TEXT_MAX, "%s %s%s at 0x%llx%s%s", pcie_addr_format(d->addr, addr),
		kind, index, (unsigned long long)b->base, b->has_size ? ", " : "",
		b->has_size ? text_size(b->size, size) : "");
	return buf;
}
