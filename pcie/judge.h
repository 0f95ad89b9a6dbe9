/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What verdicts and plans share: facts derived once per machine and once per GPU, and how
 * a verdict is filled. For rule_*.c, cause.c, advice.c, verdict.c and plan_commands.c alone.
 *
 * Nothing here decides an answer. A derived fact keeps the distinction between "no" and
 * "not known", and says how sure it is, so that a missing reading weakens a verdict and
 * never turns it round.
 */
#pragma once

#include "base/text.h"
#include "pcie/path.h"
#include "pcie/verdict.h"

#define PCIE_4G ((uint64_t)1 << 32)
/*
 * No CPU that Linux runs on has wider physical addresses: 52 bits on x86 (SDM 3A 4.1.4), 56 on
 * Arm (FEAT_D128) and RISC-V (Privileged 12.4). A register above it has all ones cut to its size.
 */
#define PCIE_ADDRESS_LIMIT ((uint64_t)1 << 56)

/* Derived from the snapshot alone; the same for each GPU. */
struct pcie_machine {
	enum pcie_tri pc; /* x86: only there is an "Above 4G Decoding" to look for */
	bool pc_stated;   /* the architecture was read, not inferred from chipset ids */
	enum pcie_tri guest;
	bool apple;             /* no setup screen at all */
	enum pcie_tri nocrs;    /* command line: pci=nocrs */
	enum pcie_tri big_root; /* command line: pci=big_root_window */
	enum pcie_tri realloc;  /* command line: pci=realloc without =off */
	enum pcie_tri legacy_boot;

	int high_aperture;    /* firmware's memory aperture that reaches above 4 GiB, -1 */
	int kernel_aperture;  /* the same, made by the kernel, -1 */
	int ignored_aperture; /* above 4 GiB, dropped by the kernel, -1 */
	int cut_window;       /* statement: such a window was dropped, -1 */
	int high_iomem;       /* top-level "PCI Bus" row above 4 GiB, -1 */
	/* The whole list of apertures was seen, and none reaches above 4 GiB. */
	bool low_complete;
	int high_dev[2]; /* two different devices with a BAR above 4 GiB, -1 */
	int high_bar[2];
	int high_bridge; /* a bridge with a window above 4 GiB, -1 */
	/* A device's BAR above 4 GiB as the firmware left it (index of a history), -1 */
	int high_firmware;
	/* Nothing is there now, but the log found something above 4 GiB (history), -1 */
	int once_high;
	int no_platform; /* statement: a driver saw no root window above 4 GiB, -1 */
};

enum pcie_bar_state {
	PCIE_BAR_NOTHING,  /* not implemented, an upper half, or I/O */
	PCIE_BAR_OPEN,     /* it may be there: nobody looked well enough */
	PCIE_BAR_PLACED,   /* memory with an address in the final state */
	PCIE_BAR_UNPLACED, /* memory without one */
};

struct pcie_bar_finding {
	enum pcie_bar_state state;
	enum pcie_confidence sure;
	const struct pcie_bar *bar;         /* NULL: known from the log only */
	const struct pcie_history *history; /* NULL: none */
	bool is64, prefetchable, type_known;
	bool occupied; /* NOTHING because of I/O or an upper half, not because it is empty */
	bool wiped;    /* the kernel lists nothing, the register has a type */
	bool named;    /* the ReBAR list names it, and the listing has no line for it */
	bool has_size;
	uint64_t size;
};

enum { PCIE_BAR_SLOTS = 6 };

/* What a rule reads. */
struct pcie_judge {
	const struct pcie_snapshot *s;
	const struct pcie_machine *m;
	int dev;
	const struct pcie_device *d;
	enum pcie_gpu_kind kind;
	bool coherent; /* the CPU reaches its memory without a BAR */

	struct pcie_bar_finding slot[PCIE_BAR_SLOTS]; /* memory BARs by index */
	/* BARs of a text that numbers none; the same findings, in the text's order. */
	struct pcie_bar_finding loose[PCIE_BAR_SLOTS];
	unsigned nloose;
	bool all_slots_seen; /* both views of all six slots were read */

	const struct pcie_bar_finding *vram_bar; /* NULL: cannot be told */
	int vram_index;                          /* BAR number; -1 when the text has none */
	bool vram_bar_sure;                      /* no other BAR could be it */
	bool vram_bar_missing; /* BARs are shown, and none can be the one of this card's VRAM */
	bool has_len;
	uint64_t len; /* length of the VRAM BAR */

	bool has_vram;
	uint64_t vram;
	enum pcie_confidence vram_sure;
	char vram_what[48];

	enum pcie_fact rebar;                     /* of the VRAM BAR */
	const struct pcie_rebar_entry *entry;     /* NULL: none, or sizes not known */
	uint64_t supported;                       /* its sizes, a known card's corrected */
	uint64_t min_size, max_size;              /* with entry */
	bool one_size;                            /* offers its current size only */
	const struct pcie_statement *tried;       /* the driver's resize failed */
	bool tried_in_log;                        /* ... as the log's lines on the BAR show */
	const struct pcie_statement *resized;     /* the driver's resize succeeded */
	const struct pcie_statement *no_platform; /* this device's driver saw no aperture */
	const struct pcie_statement *invalid;     /* NVRM: I/O region is invalid */
	const struct pcie_statement *broken;      /* probe failed with -12/-22, can't enable */
	const struct pcie_statement *fell_off;    /* off the bus, or did not wake */
	const struct pcie_statement *reserved;    /* a driver could not reserve a BAR */

	int path[PCIE_PATH_MAX]; /* bridges from the device up to the root */
	unsigned npath;
	unsigned ncard;  /* of these, the card's own switch ports */
	bool hotplugged; /* a removable or Thunderbolt port is on the path */
	uint16_t vendor; /* 0: not known */

	enum pcie_cause cause;
	char cause_text[240];
	bool has_cause;
};

void pcie_machine_init(struct pcie_machine *ret, const struct pcie_snapshot *s);
void pcie_judge_init(struct pcie_judge *ret, const struct pcie_snapshot *s,
	const struct pcie_machine *m, int dev);

/* The GPU has a BAR that only addresses above 4 GiB could hold, or could grow there. */
bool pcie_needs_high(const struct pcie_judge *j);
/* The firmware left the VRAM BAR without an address and the kernel placed it above 4 GiB. */
bool pcie_was_rescued(const struct pcie_judge *j);
/* The length covers the VRAM: 0.9 of it, as firmware keeps a little for itself. */
bool pcie_covers_vram(uint64_t len, uint64_t vram);

/* Filling a verdict. */
void pcie_say(struct pcie_verdict *v, const char *answer, enum pcie_confidence c,
	enum pcie_level level, const char *fmt, ...) PRINTF(5, 6);
void pcie_evidence(struct pcie_verdict *v, const char *id, const char *source, const char *fmt, ...)
	PRINTF(4, 5);
void pcie_against(struct pcie_verdict *v, const char *id, const char *source, const char *fmt, ...)
	PRINTF(4, 5);
void pcie_advise(struct pcie_verdict *v, const char *fmt, ...) PRINTF(2, 3);
/* Advice for the cause that was found, in order. */
void pcie_advise_cause(const struct pcie_judge *j, struct pcie_verdict *v);

/* Finds the cause of what is wrong with this GPU. Pure; cause.c. */
void pcie_cause_find(struct pcie_judge *j);

/* A memory BAR has no address. */
bool pcie_has_failed(const struct pcie_judge *j);
/* Bridge DEV is above this GPU. */
bool pcie_on_path(const struct pcie_judge *j, int dev);

/* The log shows a driver giving H up for a larger size, and no room for that. */
bool pcie_resize_in_history(const struct pcie_judge *j, const struct pcie_history *h);

/* Why the kernel refused a driver's resize, as far as the driver's line tells (cause_log.c). */
enum pcie_refusal {
	PCIE_REFUSED_NOT_SAID,
	PCIE_REFUSED_ROOM, /* no space, or no window could be given back */
	PCIE_REFUSED_BUSY, /* the BAR was in use */
	PCIE_REFUSED_KEPT, /* the firmware's addresses must stay, or there is nothing to resize */
	PCIE_REFUSED_SIZE, /* the card does not offer it */
};
enum pcie_refusal pcie_resize_refusal(const struct pcie_judge *j);
/* The driver that is bound now, or the last one, could not reserve a BAR (rule_claim.c). */
bool pcie_is_reserved(const struct pcie_judge *j);
/* Who stands inside that BAR, as /proc/iomem shows. */
enum pcie_holder {
	PCIE_HOLDER_UNKNOWN,
	PCIE_HOLDER_DRIVER, /* nobody but the driver that wants it: it has the BAR now */
	PCIE_HOLDER_OTHER,  /* "BOOTFB" and the like, RET_NAME, the snapshot's */
};
enum pcie_holder pcie_reserved_by(const struct pcie_judge *j, const char **ret_name);

/* The name of source SRC; "?" when nobody is named. */
const char *pcie_source_name(const struct pcie_snapshot *s, pcie_src src);
/* The text of log line N, or "". */
const char *pcie_line_text(const struct pcie_snapshot *s, uint32_t line);
/* "0x6000000000-0x7fffffffff" */
enum { PCIE_RANGE_MAX = 44 };
const char *pcie_range(uint64_t base, uint64_t limit, char buf[static PCIE_RANGE_MAX]);
/* "0000:01:00.0 BAR 1 at 0x6000000000, 256 MiB" and the like, from the kernel's view. */
enum { PCIE_BAR_TEXT_MAX = 120 };
const char *pcie_bar_text(
	const struct pcie_device *d, const struct pcie_bar *b, char buf[static PCIE_BAR_TEXT_MAX]);
/* Who tells of BAR F. */
const char *pcie_bar_source(const struct pcie_judge *j, const struct pcie_bar_finding *f);
/* "BAR 1", or "a BAR" where the text numbers none. */
const char *pcie_vram_bar_name(const struct pcie_judge *j);
/* Whether the command line has pci=…WORD… among its comma-separated options. */
enum pcie_tri pcie_pci_option(const struct pcie_host *h, const char *word);

/* True when BAR's kernel view gives it a place at or above 4 GiB. */
bool pcie_bar_is_high(const struct pcie_bar *b);
/* The window through which 64-bit prefetchable BARs behind bridge D go. NULL: none known. */
const struct pcie_window *pcie_pref_window(const struct pcie_device *d);

extern const struct pcie_rule pcie_rule_setup, pcie_rule_aperture, pcie_rule_used;
extern const struct pcie_rule pcie_rule_rebar, pcie_rule_assignment, pcie_rule_link;
extern const struct pcie_rule pcie_rule_views, pcie_rule_boot, pcie_rule_aer, pcie_rule_power;
extern const struct pcie_rule pcie_rule_driver, pcie_rule_vf_rebar, pcie_rule_peer;
extern const struct pcie_rule pcie_rule_claim, pcie_rule_overlap;

/* NO: an option of the driver forbids resizing; which, and the line that allows it. */
enum pcie_tri pcie_resize_option(
	const struct pcie_judge *j, const struct pcie_option **ret, const char **ret_fix);
/* The rebar answer, which the rule says and the cause explains. */
enum pcie_rebar_answer {
	PCIE_REBAR_NA,
	PCIE_REBAR_UNKNOWN,
	PCIE_REBAR_UNASSIGNED,
	PCIE_REBAR_FULL,
	PCIE_REBAR_AT_LARGEST, /* full, as far as the card goes; VRAM not known */
	PCIE_REBAR_GROWN,      /* full, by the driver's word */
	PCIE_REBAR_CARD_LIMIT,
	PCIE_REBAR_UNSUPPORTED,
	PCIE_REBAR_SMALL, /* off or partial */
};
enum pcie_rebar_answer pcie_rebar_find(const struct pcie_judge *j);
/* A larger size is offered, or was asked for, and the VRAM is not covered. */
bool pcie_can_grow(const struct pcie_judge *j);
/* The smallest offered size that covers the VRAM, else the largest; 0: not known. */
uint64_t pcie_rebar_target(const struct pcie_judge *j);
