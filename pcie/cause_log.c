/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The causes that the kernel log names in words of its own, and what it says where the cause
 * stays open: a text often shows that there was no room, and not which window was short.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pcie/cause.h"

/* What pci_resize_resource() answers; ENOTSUPP is the kernel's own number. */
static const struct {
	const char *name;
	int number;
} refusals[] = {
	{"ENOSPC", ENOSPC},
	{"EBUSY", EBUSY},
	{"EINVAL", EINVAL},
	{"ENOENT", ENOENT},
	{"EOPNOTSUPP", EOPNOTSUPP},
	{"ENOTSUPP", 524},
};

/* "(-ENOSPC)", "(-16)", "error `-28`": the error at the end of a driver's line. 0: none. */
static int refusal(const char *line)
{
	int found = 0;
	for (const char *p = strchr(line, '-'); p; p = strchr(p + 1, '-')) {
		if (p == line || !strchr("(` ", p[-1])) {
			continue;
		}
		if (isdigit((unsigned char)p[1])) {
			char *end;
			unsigned long v = strtoul(p + 1, &end, 10);
			bool closed = *end == '\0' || strchr(").`, ", *end);
			found = closed && v < 4096 ? (int)v : found;
		}
		for (size_t i = 0; i < ARRAY_LEN(refusals); i++) {
			size_t n = strlen(refusals[i].name);
			if (!strncmp(p + 1, refusals[i].name, n) &&
				!isalnum((unsigned char)p[1 + n])) {
				found = refusals[i].number;
			}
		}
	}
	return found;
}

enum pcie_refusal pcie_resize_refusal(const struct pcie_judge *j)
{
	const char *line = j->tried ? pcie_line_text(j->s, j->tried->line) : "";

	switch (refusal(line)) {
	case EBUSY:
		return PCIE_REFUSED_BUSY;
	case EOPNOTSUPP:
	case 524:
		return PCIE_REFUSED_KEPT;
	case EINVAL:
		return PCIE_REFUSED_SIZE;
	case ENOSPC:
	case ENOENT: /* no window on the way could be given back */
		return PCIE_REFUSED_ROOM;
	default:
		break;
	}
	bool room = j->tried_in_log || strstr(line, "No address space") ||
		    strstr(line, "Not enough PCI address space") || strstr(line, "No space left");
	return room ? PCIE_REFUSED_ROOM : PCIE_REFUSED_NOT_SAID;
}

/* The first memory BAR without an address whose history has WORDS in one of its lines. */
static const struct pcie_bar_finding *failed_with(
	const struct pcie_judge *j, const char *words, int *ret_index, const char **ret_line)
{
	for (int i = 0; i < PCIE_BAR_SLOTS; i++) {
		const struct pcie_bar_finding *f = &j->slot[i];
		for (uint32_t n = 0;
			f->state == PCIE_BAR_UNPLACED && f->history && n < f->history->nline; n++) {
			const char *line = pcie_line_text(j->s, f->history->line[n]);
			if (strstr(line, words)) {
				*ret_index = i;
				*ret_line = line;
				return f;
			}
		}
	}
	return NULL;
}

/* "… conflicts with Reserved [mem 0xe0000000-0xefffffff]": the other's name and range. */
static bool conflict_partner(const char *line, char *buf, size_t size)
{
	static const char *const words[] = {"address conflict with ", "conflicts with "};
	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		const char *p = strstr(line, words[i]);
		if (p) {
			text_copy(buf, size, p + strlen(words[i]));
			return buf[0] != '\0';
		}
	}
	return false;
}

bool pcie_cause_from_claim(struct pcie_judge *j)
{
	const char *line;
	char partner[96];
	int bar;

	if ((failed_with(j, "conflicts with ", &bar, &line) ||
		    failed_with(j, "address conflict with ", &bar, &line)) &&
		conflict_partner(line, partner, sizeof(partner))) {
		pcie_cause_set(j, PCIE_CAUSE_RESOURCE_CONFLICT,
			"the firmware's address of BAR %d conflicts with %s, and the kernel found "
			"no other",
			bar, partner);
	} else if (failed_with(j, "no compatible bridge window", &bar, &line)) {
		pcie_cause_set(j, PCIE_CAUSE_WINDOW_TOO_SMALL,
			"the firmware put BAR %d outside the window of the bridge above it, and "
			"there was no room inside",
			bar);
	}
	return j->has_cause;
}

/* "[mem 0xc0000000-0xcfffffff …]" in LINE. */
static bool range_in(const char *line, uint64_t *ret_base, uint64_t *ret_limit)
{
	const char *mem = strstr(line, "[mem 0x");
	if (!mem) {
		return false;
	}
	char *end;
	*ret_base = strtoull(mem + 5, &end, 16);
	*ret_limit = *end == '-' ? strtoull(end + 1, &end, 16) : 0;
	return *ret_limit > *ret_base;
}

/* Does LINE come from driver NAME: "[  112.1] NAME 0000:01:00.0: …"? */
static bool is_speaker(const char *line, const char *name)
{
	struct pcie_addr addr;
	size_t n = strlen(name);

	for (const char *p = strstr(line, name); n && p; p = strstr(p + 1, name)) {
		bool begins = p == line || strchr(" \t]", p[-1]);
		if (begins && p[n] == ' ' && pcie_addr_scan(p + n + 1, &addr) > 0) {
			return true;
		}
	}
	return false;
}

enum pcie_holder pcie_reserved_by(const struct pcie_judge *j, const char **ret_name)
{
	const char *line = j->reserved ? pcie_line_text(j->s, j->reserved->line) : "";
	enum pcie_holder holder = PCIE_HOLDER_UNKNOWN;
	struct pcie_addr own;
	uint64_t base, limit;

	if (!range_in(line, &base, &limit)) {
		return PCIE_HOLDER_UNKNOWN;
	}
	for (size_t i = 0; i < j->s->niomem; i++) {
		const struct pcie_iomem *r = &j->s->iomem[i];
		if (r->base < base || r->limit > limit || pcie_addr_scan(r->name, &own) > 0) {
			continue;
		}
		bool bound = j->d->have_driver == PCIE_KNOWN && !strcmp(r->name, j->d->driver);
		if (!bound && !is_speaker(line, r->name)) {
			*ret_name = r->name;
			return PCIE_HOLDER_OTHER;
		}
		holder = PCIE_HOLDER_DRIVER;
	}
	return holder;
}

void pcie_cause_reserved(struct pcie_judge *j)
{
	const char *who;
	if (pcie_reserved_by(j, &who) == PCIE_HOLDER_OTHER) {
		pcie_cause_set(j, PCIE_CAUSE_RESOURCE_CONFLICT,
			"%s holds addresses inside BAR %d, and the driver wants them", who,
			(int)j->reserved->value);
	} else {
		pcie_cause_set(j, PCIE_CAUSE_RESOURCE_CONFLICT,
			"something else holds addresses inside BAR %d, and the driver wants them",
			(int)j->reserved->value);
	}
}

/* The number of the last line that gives the VRAM BAR a place of WANTED bytes. */
static bool line_of_place(const struct pcie_judge *j, uint64_t wanted, uint32_t *ret_line)
{
	const struct pcie_history *h = j->vram_bar ? j->vram_bar->history : NULL;
	uint64_t base, limit;
	bool found = false;

	for (uint32_t i = 0; wanted && h && i < h->nline; i++) {
		const char *line = pcie_line_text(j->s, h->line[i]);
		if (strstr(line, "assigned") && !strstr(line, "not assigned") &&
			range_in(line, &base, &limit) && limit - base + 1 == wanted) {
			*ret_line = h->line[i];
			found = true;
		}
	}
	return found;
}

/* The first line behind AFTER where memory found no place, or WINDOW: a window no claim. */
static uint32_t first_failure(const struct pcie_judge *j, uint32_t after, bool window)
{
	uint32_t first = UINT32_MAX;

	for (size_t i = 0; i < j->s->nhistory; i++) {
		const struct pcie_history *h = &j->s->history[i];
		for (uint32_t n = 0; !h->io && (!window || h->window) && n < h->nline; n++) {
			const char *line = pcie_line_text(j->s, h->line[n]);
			bool hit = window ? strstr(line, "can't claim") != NULL
					  : strstr(line, "failed to assign") ||
						    strstr(line, "can't assign") ||
						    strstr(line, "no space");
			if (hit && h->line[n] > after) {
				first = MIN(first, h->line[n]);
			}
		}
	}
	return first;
}

/*
 * The kernel gave the larger BAR a place, and all others of that resize theirs; then it could
 * not claim a window: no room is not the reason.
 */
static bool had_the_place(const struct pcie_judge *j, uint64_t wanted)
{
	uint32_t placed;
	return line_of_place(j, wanted, &placed) &&
	       first_failure(j, placed, true) < first_failure(j, placed, false);
}

/* A larger size was tried, and failed. */
static void say_tried(struct pcie_judge *j)
{
	uint64_t wanted = pcie_rebar_target(j);
	char size[TEXT_SIZE_MAX] = "the larger size";
	if (wanted) {
		text_size(wanted, size);
	}
	switch (pcie_resize_refusal(j)) {
	case PCIE_REFUSED_BUSY:
		pcie_cause_say(j,
			"the kernel refused the resize as busy (EBUSY): the BAR was still in use, "
			"by a boot framebuffer or another driver, or its decoding was on");
		break;
	case PCIE_REFUSED_KEPT:
		pcie_cause_say(j,
			"the kernel refused the resize as not supported: it must keep the "
			"firmware's addresses, or the card offers no sizes");
		break;
	case PCIE_REFUSED_SIZE:
		pcie_cause_say(j, "the kernel refused %s: the card does not offer that size", size);
		break;
	case PCIE_REFUSED_ROOM:
		if (had_the_place(j, wanted)) {
			pcie_cause_set(j, PCIE_CAUSE_KERNEL_REGRESSION,
				"the kernel had placed the BAR of %s, and then failed to claim its "
				"own windows",
				size);
		} else {
			pcie_cause_say(j,
				"the kernel found no room for %s: a window above the card is too "
				"small, or something else is in it; which one is not shown here",
				size);
		}
		break;
	case PCIE_REFUSED_NOT_SAID:
		break;
	}
}

void pcie_cause_open(struct pcie_judge *j, bool failed)
{
	const char *line;
	char size[TEXT_SIZE_MAX];
	int bar;

	if (!failed && (j->tried || j->tried_in_log)) {
		say_tried(j);
		return;
	}
	if (!failed) {
		if (j->d->config_gone) {
			pcie_cause_say(
				j, "it is powered down or off the bus: little could be read");
		} else if (j->fell_off) {
			pcie_cause_say(j, "the log says that it fell off the bus, or did not wake");
		}
		return;
	}
	const struct pcie_bar_finding *f = failed_with(j, "no space", &bar, &line);
	if (!f) {
		f = failed_with(j, "failed to assign", &bar, &line);
	}
	if (f) {
		pcie_cause_say(j,
			"the kernel found no room for BAR %d%s%s: the window that it must be in is "
			"missing or too small; the windows are not shown here",
			bar, f->has_size ? ", " : "", f->has_size ? text_size(f->size, size) : "");
	} else if (j->invalid) {
		pcie_cause_say(j, "the driver says that BAR %d has no address, and not why",
			(int)j->invalid->value);
	}
}
