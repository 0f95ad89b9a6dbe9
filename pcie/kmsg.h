/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The running kernel's log. Linux only; any thread; never waits for new messages. */
#pragma once

#include <stddef.h>

#include "base/text.h"
#include "base/why.h"

/*
 * The kernel's messages as dmesg prints them ("[    1.234567] text" lines), from
 * DEVICE (/dev/kmsg) or else syslog(2), into a fresh buffer with a NUL behind it; the
 * caller frees it. -EPERM or -EACCES when the kernel keeps it from this user
 * (dmesg_restrict), -ENOENT where there is none.
 */
int pcie_kmsg_read(const char *device, char **ret, size_t *ret_len, struct why *why);

/*
 * One record of /dev/kmsg ("6,1234,987654,-;text\n KEY=value\n"; Documentation/ABI/
 * testing/dev-kmsg) added to OUT as dmesg prints it. Messages that programs have
 * written there are left out. -EBADMSG when it is no record. Pure.
 */
int pcie_kmsg_record(const char *record, size_t len, struct text *out);

/* The text of syslog(2) (LEN bytes), which has "<6>" before each line, without that. Pure. */
void pcie_kmsg_syslog(const char *buf, size_t len, struct text *out);
