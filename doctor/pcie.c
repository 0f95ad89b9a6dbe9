/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The verdicts, a line each; 'barscope check --explain' has the chain of evidence. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "doctor/line.h"
#include "pcie/verdict.h"

static enum doctor_result result_of(enum pcie_level level)
{
	switch (level) {
	case PCIE_LEVEL_GOOD:
		return DOCTOR_OK;
	case PCIE_LEVEL_NOTE:
		return DOCTOR_NOTE;
	case PCIE_LEVEL_BAD:
		return DOCTOR_FAULT;
	case PCIE_LEVEL_UNSURE:
		break;
	}
	return DOCTOR_UNSEEN;
}

static void judge_gpu(const struct pcie_gpu *g, struct doctor_report *r)
{
	char bdf[PCIE_ADDR_MAX];
	const char *addr = pcie_addr_format(g->addr, bdf);
	for (size_t i = 0; i < g->nverdict; i++) {
		const struct pcie_verdict *v = &g->verdict[i];
		enum doctor_result result = result_of(v->level);
		if (!v->rule->decides && result == DOCTOR_UNSEEN) {
			continue; /* what nobody can see from here is not held against it */
		}
		char id[40];
		snprintf(id, sizeof(id), "pcie.%s", v->rule->id);
		struct doctor_line *l = doctor_add(
			r, DOCTOR_PCIE, result, id, "%s %s: %s", addr, v->rule->id, v->answer);
		doctor_evidence(l, "%s", v->headline);
		l->root_would_tell = result == DOCTOR_UNSEEN && geteuid() != 0;
		if (result >= DOCTOR_UNSEEN) {
			doctor_fix(l, "barscope check --explain --gpu %s", addr);
		}
	}
}

void doctor_pcie(const struct doctor_options *o, struct doctor_report *r)
{
	if (!o->machine) {
		struct doctor_line *l = doctor_add(
			r, DOCTOR_PCIE, DOCTOR_UNSEEN, "pcie", "The PCI devices could not be read");
		doctor_evidence(l,
			"/sys/bus/pci/devices is not there: no PCI, or a container without /sys");
		doctor_fix(l, "mount -t sysfs sysfs /sys");
		return;
	}
	struct pcie_verdicts *v = pcie_verdicts_create(o->machine);
	unsigned judged = 0;
	for (size_t i = 0; i < v->ngpu; i++) {
		if (v->gpu[i].kind == PCIE_GPU_DISCRETE) {
			judge_gpu(&v->gpu[i], r);
			judged++;
		}
	}
	if (judged == 0) {
		struct doctor_line *l = doctor_add(
			r, DOCTOR_PCIE, DOCTOR_NOTE, "pcie", "No discrete GPU on this machine");
		doctor_evidence(
			l, "%zu PCI devices, %zu of display class", o->machine->ndev, v->ngpu);
	}
	pcie_verdicts_destroy(v);
}
