/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a snapshot means: one verdict per rule and GPU, each with its evidence.
 *
 * A verdict is a pure function of the snapshot. It carries what was read (id, source,
 * raw value), what speaks against it, how sure that makes the answer, and what to do,
 * in order. Ids, answers, levels and causes are a contract (barscope-verdicts(7),
 * docs/verdicts.md): scripts and stored runs depend on them.
 *
 * Three questions are kept apart and never merged: above4g.setup is the firmware's
 * setup item, above4g.aperture whether addresses above 4 GiB are there for PCI, and
 * above4g.used whether this GPU's VRAM BAR has one of them.
 *
 * A struct pcie_verdicts owns its strings; only device numbers refer to the snapshot. What
 * the log says in the end of each resource is log_explain.h. Any thread; const after creation.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pcie/snapshot.h"

/* Order matters: worse is larger. */
enum pcie_level { PCIE_LEVEL_GOOD, PCIE_LEVEL_NOTE, PCIE_LEVEL_UNSURE, PCIE_LEVEL_BAD };

/* PROVEN: the evidence leaves no other reading. LIKELY: another reading needs an unusual
 * machine. WEAK: a hint. */
enum pcie_confidence { PCIE_WEAK, PCIE_LIKELY, PCIE_PROVEN };

enum pcie_cause {
	PCIE_CAUSE_NONE,    /* healthy */
	PCIE_CAUSE_UNKNOWN, /* unhealthy, and the snapshot does not tell why */
	PCIE_CAUSE_APERTURE_MISSING,
	PCIE_CAUSE_APERTURE_TOO_SMALL,
	PCIE_CAUSE_WINDOW_TOO_SMALL,
	PCIE_CAUSE_PINNED_WINDOW,
	PCIE_CAUSE_LOW_SPACE,
	PCIE_CAUSE_CPU_ADDRESS_WIDTH,
	PCIE_CAUSE_VBIOS_LIMIT,
	PCIE_CAUSE_DRIVER_OPTION,
	PCIE_CAUSE_KERNEL_REGRESSION,
	PCIE_CAUSE_KERNEL_RESCUED,
	PCIE_CAUSE_NOCRS,
	PCIE_CAUSE_HYPERVISOR,
	PCIE_CAUSE_CSM,
	PCIE_CAUSE_SOC_WINDOW,
	PCIE_CAUSE_VF_BARS,
	PCIE_CAUSE_RESOURCE_CONFLICT,
	PCIE_CAUSES
};

/*
 * What kind of display device it is: a discrete GPU has VRAM of its own behind a BAR;
 * an integrated one, a server's management controller (BMC), an emulated adapter and a
 * virtual function have none to resize.
 */
enum pcie_gpu_kind {
	PCIE_GPU_DISCRETE,
	PCIE_GPU_INTEGRATED,
	PCIE_GPU_BMC,
	PCIE_GPU_EMULATED,
	PCIE_GPU_VF
};

/* E1–E9 speak for, N1–N9 against "in effect", F… are readings that prove nothing, the
 * others are facts (barscope-verdicts(7) has the list). */
struct pcie_evidence {
	char id[4];
	char *source; /* who said so: "sysfs resource", "kernel log line 12", … */
	char *value;  /* the raw reading */
};

struct pcie_verdict;
struct pcie_judge;

struct pcie_rule {
	const char *id;      /* stable */
	const char *title;   /* the question in words */
	bool decides;        /* an unsure answer makes the whole check undetermined */
	const char *answers; /* all it can say, separated by blanks */
	/* Fills RET; leaves ret->answer NULL when the question does not arise. */
	void (*judge)(const struct pcie_judge *j, struct pcie_verdict *ret);
};

struct pcie_verdict {
	const struct pcie_rule *rule;
	const char *answer; /* static; one of the rule's */
	enum pcie_confidence confidence;
	enum pcie_level level;
	char *headline; /* one sentence */
	struct pcie_evidence *evidence, *against;
	size_t nevidence, capevidence, nagainst, capagainst;
	char **advice; /* in the order to try */
	size_t nadvice, capadvice;
};

enum { PCIE_VERDICTS_MAX = 16 };

struct pcie_gpu {
	int dev; /* index in the snapshot */
	struct pcie_addr addr;
	char *name;
	enum pcie_gpu_kind kind;
	enum pcie_cause cause;
	char *cause_text; /* one sentence: what was seen, also of an unknown cause; may be "" */
	struct pcie_verdict verdict[PCIE_VERDICTS_MAX];
	size_t nverdict;
};

struct pcie_verdicts {
	struct pcie_gpu *gpu; /* in the order of the snapshot */
	size_t ngpu, capgpu;
};

/* Never fails; no GPU in S: ngpu is 0. The caller destroys it. */
struct pcie_verdicts *pcie_verdicts_create(const struct pcie_snapshot *s);
/* The same for one device only; -1: all. */
struct pcie_verdicts *pcie_verdicts_create_for(const struct pcie_snapshot *s, int dev);
void pcie_verdicts_destroy(struct pcie_verdicts *v);

const struct pcie_verdict *pcie_gpu_find(const struct pcie_gpu *g, const char *id);
const char *pcie_gpu_answer(const struct pcie_gpu *g, const char *id); /* "unknown" when none */
/* The worst level among its verdicts. */
enum pcie_level pcie_gpu_level(const struct pcie_gpu *g);
/* One of them has VRAM of its own: the questions are asked of those alone then. */
bool pcie_verdicts_have_discrete(const struct pcie_verdicts *v);
/* A level that makes the exit status 1 or 2; setup items and the like never do. */
enum pcie_level pcie_gpu_deciding_level(const struct pcie_gpu *g);

/* The I-th rule of the table, NULL past its end. */
const struct pcie_rule *pcie_rule_at(size_t i);
const struct pcie_rule *pcie_rule_find(const char *id);
/* Whether ANSWER is one of the rule's. */
bool pcie_rule_has_answer(const struct pcie_rule *r, const char *answer);

enum pcie_gpu_kind pcie_device_kind(const struct pcie_snapshot *s, int dev);
const char *pcie_gpu_kind_name(enum pcie_gpu_kind k);
/* What the largest BAR of such a device maps: "VRAM", "aperture", "framebuffer". */
const char *pcie_gpu_memory_name(enum pcie_gpu_kind k);
const char *pcie_level_name(enum pcie_level l);
const char *pcie_confidence_name(enum pcie_confidence c);
/* "pinned-window: what was seen"; with an unknown cause what was seen alone, or "not known".
 * The caller frees it. */
char *pcie_gpu_why(const struct pcie_gpu *g);
/* The contract's word; NULL for PCIE_CAUSE_UNKNOWN. */
const char *pcie_cause_name(enum pcie_cause c);
