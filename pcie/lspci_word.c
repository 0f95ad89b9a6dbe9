/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the lines below a header begin with. */
#include "pcie/lspci_int.h"

struct word {
	const char *s;
	size_t len;
	enum lspci_word word;
};

#define W(s, word)                                                                                 \
	{                                                                                          \
		s, sizeof(s) - 1, word                                                             \
	}
#define END                                                                                        \
	{                                                                                          \
		NULL, 0, WORD_NONE                                                                 \
	}

static enum lspci_word find_word(const struct word *w, const char *s)
{
	for (; w->s; w++) {
		if (s[1] == w->s[1] && !strncmp(s, w->s, w->len)) {
			return w->word;
		}
	}
	return WORD_NONE;
}

/* Words by their first letter; the more frequent first. */
static const struct word words_none[] = {END};
static const struct word words_b[] = {
	W("BAR ", WORD_BAR),
	W("Bus: primary", WORD_BUS),
	W("BridgeCtl:", WORD_DETAIL),
	W("BIST ", WORD_DETAIL),
	END,
};
static const struct word words_c[] = {
	W("Capabilities:", WORD_CAPABILITY),
	W("Control: ", WORD_CONTROL),
	W("CESta:", WORD_DETAIL),
	W("CEMsk:", WORD_DETAIL),
	END,
};
static const struct word words_d[] = {
	W("DevCap", WORD_DETAIL),
	W("DevCtl", WORD_DETAIL),
	W("DevSta", WORD_DETAIL),
	W("DeviceName:", WORD_DETAIL),
	W("Driver in use: ", WORD_DRIVER),
	END,
};
static const struct word words_e[] = {W("Expansion ROM at", WORD_ROM), END};
static const struct word words_f[] = {W("Flags: ", WORD_FLAGS), END};
static const struct word words_i[] = {
	W("I/O ports at", WORD_IO),
	W("I/O behind bridge:", WORD_IO_WINDOW),
	W("IOMMU group: ", WORD_IOMMU),
	W("Initial VFs: ", WORD_VFS),
	W("Interrupt: ", WORD_DETAIL),
	W("IOVCap:", WORD_DETAIL),
	W("IOVCtl:", WORD_DETAIL),
	W("IOVSta:", WORD_DETAIL),
	END,
};
static const struct word words_k[] = {
	W("Kernel driver in use:", WORD_DRIVER),
	W("Kernel modules: ", WORD_MODULES),
	END,
};
static const struct word words_l[] = {
	W("LnkCap:", WORD_LINK_CAP),
	W("LnkSta:", WORD_LINK_STATUS),
	W("LnkC", WORD_DETAIL),
	W("LnkS", WORD_DETAIL),
	W("Latency: ", WORD_DETAIL),
	END,
};
static const struct word words_m[] = {
	W("Memory at", WORD_MEMORY),
	W("Memory behind bridge:", WORD_MEM_WINDOW),
	W("Memory window ", WORD_DETAIL),
	END,
};
static const struct word words_n[] = {W("NUMA node: ", WORD_NUMA), END};
static const struct word words_p[] = {
	W("Prefetchable memory behind bridge:", WORD_PREF_WINDOW),
	W("Physical Slot: ", WORD_DETAIL),
	END,
};
static const struct word words_r[] = {W("Region ", WORD_REGION), END};
static const struct word words_s[] = {
	W("Subsystem: ", WORD_SUBSYSTEM),
	W("Status: ", WORD_STATUS),
	W("SltCap:", WORD_SLOT),
	W("SltC", WORD_DETAIL),
	W("SltSta:", WORD_DETAIL),
	W("Secondary status: ", WORD_DETAIL),
	END,
};
static const struct word words_u[] = {
	W("UESta:", WORD_DETAIL),
	W("UEMsk:", WORD_DETAIL),
	W("UESvrt:", WORD_DETAIL),
	END,
};
static const struct word words_virtual[] = {
	W("[virtual] Memory at", WORD_MEMORY),
	W("[virtual] I/O ports at", WORD_IO),
	W("[virtual] Expansion ROM at", WORD_ROM),
	W("[...]", WORD_ELISION),
	W("[snip]", WORD_ELISION),
	END,
};
static const struct word words_other[] = {
	W("<access denied", WORD_ACCESS_DENIED),
	W("<error in resizable BAR", WORD_REBAR_ERROR),
	W("<unreadable>", WORD_REBAR_ERROR),
	W("<snip>", WORD_ELISION),
	W("!!! Unknown header type", WORD_UNKNOWN_HEADER),
	W("!!! ", WORD_DETAIL),
	W("...", WORD_ELISION),
	END,
};
static const struct word *const letter[26] = {
	['B' - 'A'] = words_b,
	['C' - 'A'] = words_c,
	['D' - 'A'] = words_d,
	['E' - 'A'] = words_e,
	['F' - 'A'] = words_f,
	['I' - 'A'] = words_i,
	['K' - 'A'] = words_k,
	['L' - 'A'] = words_l,
	['M' - 'A'] = words_m,
	['N' - 'A'] = words_n,
	['P' - 'A'] = words_p,
	['R' - 'A'] = words_r,
	['S' - 'A'] = words_s,
	['U' - 'A'] = words_u,
};

static const struct word *words(char first)
{
	if (first >= 'A' && first <= 'Z') {
		return letter[first - 'A'] ? letter[first - 'A'] : words_none;
	}
	if (first == '[') {
		return words_virtual;
	}
	return first && strchr("<!.", first) ? words_other : words_none;
}

enum lspci_word lspci_word(const char *s)
{
	enum lspci_word w = find_word(words(*s), s);
	bool digit = s[0] && s[1] && s[2] && s[3] && s[4];

	switch (w) {
	case WORD_REGION:
		digit = digit && s[5] && s[6] && s[7] >= '0' && s[7] <= '5' && s[8] == ':';
		return digit ? w : WORD_NONE;
	case WORD_BAR:
		digit = digit && s[4] >= '0' && s[4] <= '5' && s[5] == ':';
		return digit && strstr(s + 6, "current") ? w : WORD_NONE;
	default:
		return w;
	}
}
