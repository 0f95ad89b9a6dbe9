/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the tests of the log reader share. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "pcie/klog.h"

/* TEXT (LEN bytes) read as a log, not settled; NULL is never returned. */
static inline struct pcie_snapshot *klog_read_n(const char *text, size_t len)
{
	char *copy = xmalloc(len + 1);
	memcpy(copy, text, len);
	copy[len] = '\0';
	struct pcie_lines lines = {0};
	pcie_lines_split(&lines, copy, len);
	struct pcie_snapshot *s = pcie_snapshot_create("test");
	pcie_klog_parse(&lines, s, pcie_snapshot_source(s, "log"));
	pcie_lines_finish(&lines);
	free(copy);
	return s;
}

static inline struct pcie_snapshot *klog_read(const char *text)
{
	return klog_read_n(text, strlen(text));
}

/* The device at ADDRESS; fails the test when it is not there. */
static inline struct pcie_device *klog_at(struct pcie_snapshot *s, const char *address)
{
	struct pcie_addr a;
	assert_int_equal(pcie_addr_parse(address, &a), 0);
	int i = pcie_snapshot_find(s, a);
	if (i < 0) {
		fail_msg("no device at %s", address);
	}
	return &s->dev[i];
}

/* The history of RESOURCE at ADDRESS, or NULL. */
static inline const struct pcie_history *klog_history(
	const struct pcie_snapshot *s, const char *address, const char *resource)
{
	struct pcie_addr a;
	assert_int_equal(pcie_addr_parse(address, &a), 0);
	for (size_t i = 0; i < s->nhistory; i++) {
		if (!pcie_addr_compare(s->history[i].addr, a) &&
			!strcmp(s->history[i].resource, resource)) {
			return &s->history[i];
		}
	}
	return NULL;
}

/* How often KIND was said of ADDRESS (NULL: of the machine); the last value in *RET_VALUE. */
static inline int klog_said(const struct pcie_snapshot *s, const char *address,
	enum pcie_statement_kind kind, uint64_t *ret_value)
{
	struct pcie_addr a = {0};
	int n = 0;
	if (address) {
		assert_int_equal(pcie_addr_parse(address, &a), 0);
	}
	for (size_t i = 0; i < s->nstatement; i++) {
		if (s->statement[i].kind == kind && !pcie_addr_compare(s->statement[i].addr, a)) {
			n++;
			if (ret_value) {
				*ret_value = s->statement[i].value;
			}
		}
	}
	return n;
}
