/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What speaks against a text that was read: it is not of one state, or not readable. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "pcie/snapshot.h"

/* Notes ranges in S, which is settled, that no machine has at one time. */
void pcie_text_doubt(struct pcie_snapshot *s);

/*
 * Does the text (LEN bytes), in which no GPU was found, name one whose address was lost: the
 * class of a GPU, or an address with letters in place of digits?
 */
bool pcie_text_lost_address(const char *data, size_t len);

/*
 * The tool whose output the text (LEN bytes), in which nothing was recognised, seems to be; NULL:
 * none that is known. *RET_INSTEAD: what to show in its place.
 */
const char *pcie_text_other_tool(const char *data, size_t len, const char **ret_instead);
