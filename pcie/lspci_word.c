/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the lines below a header begin with. */
#include "pcie/lspci_int.h"

struct word {
	const char *s;
	enum lspci_word word;
};

static enum lspci_word find_word(const struct word *w, const char *s)
{
	for (; w->s; w++) {
		if (s[1] == w->s[1] && !strncmp(s, w->s, strlen(w->s))) {
			return w->word;
		}
	}
	return WORD_NONE;
}

/* Words by their first letter; the more frequent first. */
static const struct word *words(char first)
{
	static const struct word none[] = {{NULL, WORD_NONE}};
	static const struct word b[] = {
		{"BAR ", WORD_BAR},
		{"Bus: primary", WORD_BUS},
		{"BridgeCtl:", WORD_DETAIL},
		{"BIST ", WORD_DETAIL},
		{NULL, WORD_NONE},
	};
	static const struct word c[] = {
		{"Capabilities:", WORD_CAPABILITY},
		{"Control: ", WORD_CONTROL},
		{"CESta:", WORD_DETAIL},
		{"CEMsk:", WORD_DETAIL},
		{NULL, WORD_NONE},
	};
	static const struct word d[] = {
		{"DevCap", WORD_DETAIL},
		{"DevCtl", WORD_DETAIL},
		{"DevSta", WORD_DETAIL},
		{"DeviceName:", WORD_DETAIL},
		{"Driver in use: ", WORD_DRIVER},
		{NULL, WORD_NONE},
	};
	static const struct word e[] = {{"Expansion ROM at", WORD_ROM}, {NULL, WORD_NONE}};
	static const struct word f[] = {{"Flags: ", WORD_FLAGS}, {NULL, WORD_NONE}};
	static const struct word i[] = {
		{"I/O ports at", WORD_IO},
		{"I/O behind bridge:", WORD_IO_WINDOW},
		{"IOMMU group: ", WORD_IOMMU},
		{"Initial VFs: ", WORD_VFS},
		{"Interrupt: ", WORD_DETAIL},
		{"IOVCap:", WORD_DETAIL},
		{"IOVCtl:", WORD_DETAIL},
		{"IOVSta:", WORD_DETAIL},
		{NULL, WORD_NONE},
	};
	static const struct word k[] = {
		{"Kernel driver in use: ", WORD_DRIVER},
		{"Kernel modules: ", WORD_MODULES},
		{NULL, WORD_NONE},
	};
	static const struct word l[] = {
		{"LnkCap:", WORD_LINK_CAP},
		{"LnkSta:", WORD_LINK_STATUS},
		{"LnkC", WORD_DETAIL},
		{"LnkS", WORD_DETAIL},
		{"Latency: ", WORD_DETAIL},
		{NULL, WORD_NONE},
	};
	static const struct word m[] = {
		{"Memory at", WORD_MEMORY},
		{"Memory behind bridge:", WORD_MEM_WINDOW},
		{"Memory window ", WORD_DETAIL},
		{NULL, WORD_NONE},
	};
	static const struct word n[] = {{"NUMA node: ", WORD_NUMA}, {NULL, WORD_NONE}};
	static const struct word p[] = {
		{"Prefetchable memory behind bridge:", WORD_PREF_WINDOW},
		{"Physical Slot: ", WORD_DETAIL},
		{NULL, WORD_NONE},
	};
	static const struct word r[] = {{"Region ", WORD_REGION}, {NULL, WORD_NONE}};
	static const struct word s[] = {
		{"Subsystem: ", WORD_SUBSYSTEM},
		{"Status: ", WORD_STATUS},
		{"SltCap:", WORD_SLOT},
		{"SltC", WORD_DETAIL},
		{"SltSta:", WORD_DETAIL},
		{"Secondary status: ", WORD_DETAIL},
		{NULL, WORD_NONE},
	};
	static const struct word u[] = {
		{"UESta:", WORD_DETAIL},
		{"UEMsk:", WORD_DETAIL},
		{"UESvrt:", WORD_DETAIL},
		{NULL, WORD_NONE},
	};
	static const struct word virtual[] = {
		{"[virtual] Memory at", WORD_MEMORY},
		{"[virtual] I/O ports at", WORD_IO},
		{"[virtual] Expansion ROM at", WORD_ROM},
		{"[...]", WORD_ELISION},
		{"[snip]", WORD_ELISION},
		{NULL, WORD_NONE},
	};
	static const struct word other[] = {
		{"<access denied", WORD_ACCESS_DENIED},
		{"<error in resizable BAR", WORD_REBAR_ERROR},
		{"<unreadable>", WORD_REBAR_ERROR},
		{"<snip>", WORD_ELISION},
		{"!!! Unknown header type", WORD_UNKNOWN_HEADER},
		{"!!! ", WORD_DETAIL},
		{"...", WORD_ELISION},
		{NULL, WORD_NONE},
	};
	static const struct word *const letter[26] = {
		['B' - 'A'] = b,
		['C' - 'A'] = c,
		['D' - 'A'] = d,
		['E' - 'A'] = e,
		['F' - 'A'] = f,
		['I' - 'A'] = i,
		['K' - 'A'] = k,
		['L' - 'A'] = l,
		['M' - 'A'] = m,
		['N' - 'A'] = n,
		['P' - 'A'] = p,
		['R' - 'A'] = r,
		['S' - 'A'] = s,
		['U' - 'A'] = u,
	};

	if (first >= 'A' && first <= 'Z') {
		return letter[first - 'A'] ? letter[first - 'A'] : none;
	}
	return first == '[' ? virtual : first == '<' || first == '!' || first == '.' ? other : none;
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
