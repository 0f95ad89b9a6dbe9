/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of the lspci reader share; nobody else includes this. */
#pragma once

#include <stdint.h>
#include <string.h>

#include "pcie/chars.h"
#include "pcie/config.h"
#include "pcie/lspci.h"

/* The capability that the lines being read belong to. */
enum lspci_cap { LIST_NONE, LIST_OTHER, LIST_POWER, LIST_SRIOV, LIST_REBAR, LIST_VF_REBAR };

/* One device of the text while its lines come in. */
struct lspci_block {
	bool open;
	bool orphan;      /* no header and no command line: whose it is shows later */
	bool verbose;     /* "Control:" or "Flags:" was there: a listing, not an excerpt */
	bool elided;      /* "...": somebody cut lines out */
	bool driver_torn; /* a driver is in use, and its name is not in the text */
	bool denied;
	bool no_cap_list; /* "Status: Cap-" */
	bool caps_ended;  /* something stood behind the last capability */
	bool express;
	bool windows;  /* lines of a bridge */
	char torn[16]; /* what is no size in the list of BAR TORN_BAR; "" when all lists are read */
	int torn_bar;
	unsigned ncap, next_cap;
	enum lspci_cap cap;
	int last_region;
	struct pcie_device d;
};

/* A column so narrow that words are torn. */
struct lspci_fold {
	unsigned column; /* 0: none */
	unsigned indent; /* blanks before every line */
	unsigned lead;   /* bytes of marks before what was torn off */
	bool anywhere;   /* broken anywhere and not between words */
};

/* What was told of a device. */
struct lspci_told {
	unsigned block; /* its last */
	bool two;       /* states were said */
};

struct pcie_lspci {
	struct pcie_snapshot *s;
	pcie_src text_src, hex_src; /* 0 until something of the kind comes */
	struct lspci_block b;
	bool blank; /* the line before was empty */
	unsigned headers;
	struct lspci_fold fold; /* of the lines that are read now */
	bool fold_known;

	uint8_t hex[PCIE_CONFIG_EXT_SIZE];
	size_t nhex; /* bytes from 0 without a gap */
	bool hex_broken;

	struct pcie_addr about;

	struct lspci_told *told; /* for each device of S; NTOLD of them have a value */
	size_t ntold;
	unsigned blocks;     /* that were closed */
	uint32_t above[256]; /* for each bus: the bridge that was listed last, its index + 1 */

	struct pcie_device *orphan;
	size_t norphan, caporphan;
};

/* Reads hex digits (at most 16); *RET_END is behind the last. Returns how many. */
int lspci_hex(const char *s, uint64_t *ret, const char **ret_end);

/* Text without its blanks, so that neither wraps nor lost spacing matter. */
struct lspci_squeezed {
	char s[1024];
	size_t len;
};

void lspci_squeeze(struct lspci_squeezed *q, const char *s);

/* A line is put together of at most so many pieces; of a narrow column, of so many. */
enum { LSPCI_PIECES = 8, LSPCI_FOLDS = 20, LSPCI_NARROW = 50 };

/* May the line at AT be the rest of a wrapped one, or a seam in it? */
bool lspci_is_rest(const struct pcie_lines *l, size_t at);

/*
 * Is the empty line at AT no end, but what a second wrap made of the blank at the end of a
 * full line, or one of the empty lines that stand behind each? What follows begins nothing.
 */
bool lspci_is_seam(const struct pcie_lines *l, size_t at);

/* What the lines from AT on show. */
struct lspci_fold lspci_find_fold(const struct pcie_lines *l, size_t at);

struct lspci_unfolded {
	char s[1024];
	size_t len;
	bool open; /* the text ends behind a full column: the last number may go on */
};

/* Puts the line at AT together; returns its pieces, or 0 when it is too long for one of lspci's. */
size_t lspci_unfold(
	const struct pcie_lines *l, size_t at, struct lspci_fold f, struct lspci_unfolded *ret);

/* The kinds of lines below a header. */
enum lspci_word {
	WORD_NONE,
	WORD_ACCESS_DENIED,
	WORD_BAR,
	WORD_BUS,
	WORD_CAPABILITY,
	WORD_CONTROL,
	WORD_DRIVER,
	WORD_ELISION,
	WORD_FLAGS,
	WORD_IO,
	WORD_IOMMU,
	WORD_IO_WINDOW,
	WORD_LINK_CAP,
	WORD_LINK_STATUS,
	WORD_MEMORY,
	WORD_MEM_WINDOW,
	WORD_MODULES,
	WORD_NUMA,
	WORD_PREF_WINDOW,
	WORD_REBAR_ERROR,
	WORD_REGION,
	WORD_ROM,
	WORD_SLOT,
	WORD_STATUS,
	WORD_SUBSYSTEM,
	WORD_UNKNOWN_HEADER,
	WORD_VFS,
	WORD_DETAIL, /* known, and of no use */
};

/* What S, without leading blanks, begins with. */
enum lspci_word lspci_word(const char *s);

/* Takes a line below a header that starts with WORD, and its continuation. */
size_t lspci_take_property(
	struct pcie_lspci *p, enum lspci_word word, const struct pcie_lines *l, size_t at);

size_t lspci_take_region(
	struct pcie_lspci *p, enum lspci_word word, const struct pcie_lines *l, size_t at);
size_t lspci_take_window(
	struct pcie_lspci *p, enum pcie_window_kind kind, const struct pcie_lines *l, size_t at);
size_t lspci_take_rebar(struct pcie_lspci *p, const struct pcie_lines *l, size_t at);

/* Does an address, or a path of addresses, and a class stand at S? */
bool lspci_is_header(const char *s, size_t len, bool lenient);
/* An address, or a path of addresses, and a blank or nothing. */
bool lspci_starts_with_address(const char *s);
/* More brackets of a kind open than close. */
bool lspci_is_unbalanced(const char *s);
size_t lspci_take_header(struct pcie_lspci *p, const struct pcie_lines *l, size_t at);

/* A row of a hex dump: "10: 0c 00 …"; false when it is none. */
bool lspci_is_hex_row(const char *s);
bool lspci_take_hex_row(struct pcie_lspci *p, const char *s);
/* Gives the BARs of a listing without numbers theirs, from the registers. */
void lspci_number_bars(struct pcie_device *d, const uint8_t *bytes, size_t len);

/*
 * Is NEW, a listing of its own of the device at OLD's address, of another state: another device,
 * or one with BARs elsewhere? Registers and other words for the same do not make another one.
 */
bool lspci_is_other_state(const struct pcie_device *old, const struct pcie_device *new);

/* NEW for OLD, of which only the ids stay, and those only when both have the same name. */
void lspci_replace(struct pcie_device *old, const struct pcie_device *new);

/* Opens an empty block. */
void lspci_open(struct pcie_lspci *p, struct pcie_addr addr, bool orphan);
/* The block is over; CUT as in pcie_lspci_end(). */
void lspci_close(struct pcie_lspci *p, bool cut);
