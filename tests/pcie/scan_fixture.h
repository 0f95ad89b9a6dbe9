/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the tests of pasted texts share. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "pcie/witness.h"

/* TEXT as the door takes it; a text that it refuses fails the test. The caller's. */
static inline struct pcie_snapshot *scan(const char *text)
{
	struct pcie_snapshot *s = NULL;
	struct why why = {""};
	if (pcie_text_scan("test", text, strlen(text), &s, &why) < 0) {
		fail_msg("%s", why.text);
	}
	return s;
}
