/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What NVML says about the cards: persistence, clocks, power, heat, errors, other users. One line a
 * question, about the card that answers worst: eight healthy cards are no reason for eight lines.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/macros.h"
#include "doctor/line.h"

enum {
	ASK_MS = 5000,
	HOT_CELSIUS = 80, /* without a load; where the card tells no limit of its own */
	HOT_MARGIN = 10,  /* °C left */
};

/* What one card answers to one question; RESULT below 0: it does not know. */
struct answer {
	int result; /* enum doctor_result */
	char tested[80], evidence[160], fix[160];
};

struct question {
	enum doctor_group group;
	const char *id;
	void (*judge)(const struct stress_gpu_facts *f, struct answer *ret);
};

static void judge_persistence(const struct stress_gpu_facts *f, struct answer *a)
{
	int64_t on;
	if (!stress_gpu_knows(f, NVML_PERSISTENCE, &on)) {
		return;
	}
	a->result = on ? DOCTOR_OK : DOCTOR_NOTE;
	snprintf(a->tested, sizeof(a->tested), "%s",
		on ? "The driver stays loaded between programs"
		   : "The driver starts the GPU anew for each program");
	snprintf(a->evidence, sizeof(a->evidence), "persistence mode is %s%s", on ? "on" : "off",
		on ? "" : ": seconds at the first call, and locked clocks are lost");
	snprintf(a->fix, sizeof(a->fix), "%s",
		on ? ""
		   : "sudo nvidia-smi -pm 1   # or: systemctl enable --now nvidia-persistenced");
}

static void judge_errors(const struct stress_gpu_facts *f, struct answer *a)
{
	int64_t hard, soft = 0;
	if (!stress_gpu_knows(f, NVML_ECC_HARD, &hard)) {
		return;
	}
	stress_gpu_knows(f, NVML_ECC_SOFT, &soft);
	a->result = hard ? DOCTOR_FAULT : soft ? DOCTOR_NOTE : DOCTOR_OK;
	snprintf(a->tested, sizeof(a->tested), "%s",
		hard   ? "The GPU's memory has uncorrectable errors"
		: soft ? "The GPU's memory has errors, all corrected"
		       : "The GPU's memory has no errors");
	snprintf(a->evidence, sizeof(a->evidence),
		"ECC since the driver loaded: %" PRId64 " uncorrected, %" PRId64 " corrected", hard,
		soft);
	snprintf(a->fix, sizeof(a->fix), "%s",
		hard ? "nvidia-smi -q -d ECC,ROW_REMAPPER; sudo dmesg | grep -i 'nvrm: xid' | tail"
		     : "");
}

static void judge_sm_clock(const struct stress_gpu_facts *f, struct answer *a)
{
	int64_t now, most, reasons = 0, app = 0;
	char why[NVML_REASONS_MAX];
	const int64_t bad = NVML_REASON_HW_SLOWDOWN | NVML_REASON_SW_THERMAL |
			    NVML_REASON_HW_THERMAL | NVML_REASON_POWER_BRAKE;
	if (!stress_gpu_knows(f, NVML_SM_MHZ, &now) ||
		!stress_gpu_knows(f, NVML_SM_MAX_MHZ, &most)) {
		return;
	}
	stress_gpu_knows(f, NVML_REASONS, &reasons);
	bool capped = stress_gpu_knows(f, NVML_SM_APP_MHZ, &app) && app > 0 && app < most;
	bool steady = now * 100 >= most * 97 || (capped && now >= app);
	a->result = reasons & bad ? DOCTOR_FAULT : steady ? DOCTOR_OK : DOCTOR_NOTE;
	if (reasons & bad) {
		snprintf(a->tested, sizeof(a->tested), "The GPU slows itself down");
		snprintf(a->fix, sizeof(a->fix),
			"nvidia-smi -q -d PERFORMANCE,TEMPERATURE,POWER   # then fans, dust, cables");
	} else {
		/* Whether somebody locked it the driver does not tell; that it floats shows. */
		snprintf(a->tested, sizeof(a->tested), "%s",
			steady ? "The GPU's clock stands high without a load"
			       : "The GPU's clock floats: the first launches run slower");
		if (!steady) {
			snprintf(a->fix, sizeof(a->fix),
				"sudo nvidia-smi -lgc %" PRId64
				"   # until a restart; undone by -rgc",
				capped ? app : most);
		}
	}
	snprintf(a->evidence, sizeof(a->evidence), "SM %" PRId64 " MHz of %" PRId64 "%s%s%s", now,
		most, capped ? " (application clocks are set lower)" : "",
		reasons ? ", held back by: " : "",
		reasons ? nvml_reasons_text((uint64_t)reasons, why) : "");
}

static void judge_power_limit(const struct stress_gpu_facts *f, struct answer *a)
{
	int64_t limit, usual;
	if (!stress_gpu_knows(f, NVML_POWER_LIMIT_MW, &limit) ||
		!stress_gpu_knows(f, NVML_POWER_DEFAULT_MW, &usual)) {
		return;
	}
	bool low = limit < usual;
	a->result = low ? DOCTOR_NOTE : DOCTOR_OK;
	snprintf(a->tested, sizeof(a->tested), "%s",
		low ? "The power limit is below the card's own"
		    : "The power limit is the card's own");
	snprintf(a->evidence, sizeof(a->evidence), "%" PRId64 " W of %" PRId64 " W", limit / 1000,
		usual / 1000);
	if (low) {
		snprintf(a->fix, sizeof(a->fix), "sudo nvidia-smi -pl %" PRId64, usual / 1000);
	}
}

static void judge_heat(const struct stress_gpu_facts *f, struct answer *a)
{
	int64_t now, limit = 0, margin;
	if (!stress_gpu_knows(f, NVML_CELSIUS, &now)) {
		return;
	}
	bool told = true;
	if (stress_gpu_knows(f, NVML_SLOWDOWN_CELSIUS, &limit)) {
		margin = limit - now;
	} else if (!stress_gpu_knows(f, NVML_MARGIN, &margin)) {
		told = false;
		margin = HOT_CELSIUS + HOT_MARGIN - now;
	}
	bool hot = margin <= HOT_MARGIN;
	a->result = hot ? DOCTOR_FAULT : DOCTOR_OK;
	snprintf(a->tested, sizeof(a->tested),
		hot ? "The GPU is hot before any load" : "The GPU is cool");
	if (told) {
		snprintf(a->evidence, sizeof(a->evidence),
			"%" PRId64 " °C, %" PRId64 " below where it slows down", now, margin);
	} else {
		snprintf(
			a->evidence, sizeof(a->evidence), "%" PRId64 " °C; it tells no limit", now);
	}
	if (hot) {
		snprintf(a->fix, sizeof(a->fix),
			"nvidia-smi -q -d TEMPERATURE   # then fans, dust, case");
	}
}

static void judge_users(const struct stress_gpu_facts *f, struct answer *a)
{
	unsigned compute = 0, users = 0;
	if (f->processes < 0) {
		return;
	}
	for (int i = 0; i < f->processes && i < STRESS_GPU_PROCESSES; i++) {
		bool own = doctor_is_child(f->process[i].pid);
		users += !own;
		compute += !own && !f->process[i].graphics;
	}
	a->result = compute ? DOCTOR_FAULT : users ? DOCTOR_NOTE : DOCTOR_OK;
	snprintf(a->tested, sizeof(a->tested), "%s",
		compute ? "Somebody else computes on the GPU"
		: users ? "A display runs on the GPU: its frames come between the launches"
			: "Nobody else uses the GPU");
	int at = snprintf(a->evidence, sizeof(a->evidence), "%d process%s with a context%s",
		f->processes, f->processes == 1 ? "" : "es", f->processes ? ":" : "");
	for (int i = 0; i < f->processes && i < STRESS_GPU_PROCESSES && f->process[i].pid; i++) {
		if (at > 0 && (size_t)at + 12 < sizeof(a->evidence)) {
			at += snprintf(a->evidence + at, sizeof(a->evidence) - (size_t)at, " %d",
				f->process[i].pid);
		}
	}
	if (users) {
		snprintf(a->fix, sizeof(a->fix), "nvidia-smi   # the list at its end");
	}
}

static const struct question questions[] = {
	{DOCTOR_DRIVER, "driver.nvidia.persistence", judge_persistence},
	{DOCTOR_DRIVER, "driver.nvidia.ecc", judge_errors},
	{DOCTOR_CLOCKS, "clocks.gpu", judge_sm_clock},
	{DOCTOR_CLOCKS, "clocks.gpu_power", judge_power_limit},
	{DOCTOR_CLOCKS, "clocks.gpu_temperature", judge_heat},
	{DOCTOR_CLOCKS, "clocks.gpu_users", judge_users},
};

void doctor_cards_ask(const struct doctor_options *o, struct doctor_nvidia *n)
{
	const char *address[DOCTOR_CARDS];
	for (size_t i = 0; i < n->ncard; i++) {
		address[i] = n->address[i];
	}
	n->error = stress_gpu_facts(address, n->ncard, STRESS_GPU_ALL, true,
		o->gpu_ms ? (int)o->gpu_ms : ASK_MS, n->card, &n->why);
}

void doctor_cards(const struct doctor_nvidia *n, enum doctor_group group, struct doctor_report *r)
{
	if (n->ncard == 0) {
		return;
	}
	if (n->error < 0) {
		if (group == DOCTOR_DRIVER) {
			struct doctor_line *l = doctor_add(r, group, DOCTOR_NOTE,
				"driver.nvidia.nvml",
				"NVML does not answer: clocks, power and heat are not known");
			doctor_evidence(l, "%s", n->why.text);
		}
		return;
	}
	if (group == DOCTOR_DRIVER) {
		struct doctor_line *l =
			doctor_add(r, group, DOCTOR_OK, "driver.nvidia.nvml", "NVML answers");
		doctor_evidence(l, "%s", n->gpu.nvml[0] ? n->gpu.nvml : "libnvidia-ml.so.1");
	}
	for (size_t q = 0; q < ARRAY_LEN(questions); q++) {
		struct answer worst = {.result = -1};
		size_t which = 0, alike = 0;
		if (questions[q].group != group) {
			continue;
		}
		for (size_t i = 0; i < n->ncard; i++) {
			struct answer a = {.result = -1};
			questions[q].judge(&n->card[i], &a);
			alike = a.result == worst.result ? alike + 1 : alike;
			if (a.result > worst.result) {
				worst = a;
				which = i;
				alike = 0;
			}
		}
		if (worst.result < 0) {
			continue; /* none of the cards tells */
		}
		struct doctor_line *l = doctor_add(r, group, (enum doctor_result)worst.result,
			questions[q].id, "%s", worst.tested);
		char more[32] = "";
		if (alike) {
			snprintf(more, sizeof(more), "; and %zu more", alike);
		}
		doctor_evidence(l, "%s%s%s%s", n->ncard > 1 ? n->address[which] : "",
			n->ncard > 1 ? ": " : "", worst.evidence, more);
		if (*worst.fix) {
			doctor_fix(l, "%s", worst.fix);
		}
	}
}
