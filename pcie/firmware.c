/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pcie/firmware.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

/* In small letters, without blanks, "-" and "_", so that "Re-Size BAR" is "resizebar". */
static void squeeze(char *dst, size_t size, const char *s)
{
	size_t n = 0;
	for (; *s && n + 1 < size; s++) {
		if (isalnum((unsigned char)*s)) {
			dst[n++] = (char)tolower((unsigned char)*s);
		}
	}
	dst[n] = '\0';
}

bool pcie_firmware_matters(const char *name)
{
	static const char *const word[] = {"above4g", "4gdecod", "resizablebar", "resizebar",
		"rebar", "mmio", "csm", "compatibilitysupport", "sriov"};
	char squeezed[128];
	squeeze(squeezed, sizeof(squeezed), name);
	for (size_t i = 0; i < ARRAY_LEN(word); i++) {
		if (strstr(squeezed, word[i])) {
			return true;
		}
	}
	return false;
}

static void add_item(struct pcie_host *h, const char *text)
{
	if (h->nsetup == PCIE_SETUP_ITEMS) {
		return;
	}
	struct pcie_setup_item *item = &h->setup[h->nsetup++];
	*item = (struct pcie_setup_item){.value = PCIE_DENIED};
	const char *value = strchr(text, '\n');
	int n = value ? (int)(value - text) : (int)strlen(text);
	char name[sizeof(item->name)];
	snprintf(name, sizeof(name), "%.*s", n, text);
	text_copy(item->name, sizeof(item->name), name);
	if (value) {
		item->value = PCIE_KNOWN;
		text_copy(item->current, sizeof(item->current), value + 1);
	}
}

bool pcie_firmware_parse(struct pcie_snapshot *s, const char *name, const char *text)
{
	struct pcie_host *h = &s->host;
	uint64_t limit;

	if (!strcmp(name, PCIE_FIRMWARE_FOLDER)) {
		h->have_setup = h->have_setup == PCIE_UNKNOWN ? PCIE_ABSENT : h->have_setup;
		return true;
	}
	if (!strncmp(name, PCIE_FIRMWARE_FOLDER "/", sizeof(PCIE_FIRMWARE_FOLDER))) {
		h->have_setup = PCIE_KNOWN;
		add_item(h, text);
		return true;
	}
	if (!strcmp(name, PCIE_FIRMWARE_REBAR)) {
		if (!strcmp(text, "none")) {
			h->have_rebar_uefi = PCIE_ABSENT;
		} else if (!text_parse_u64(text, 10, &limit) && limit <= 255) {
			h->have_rebar_uefi = PCIE_KNOWN;
			h->rebar_uefi = (uint8_t)limit;
		}
		return true;
	}
	return false;
}
