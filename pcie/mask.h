/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a capture must not carry: serial numbers, MAC addresses, UUIDs, host
 * and user names in text. Pure but for the host name that the caller gives;
 * any thread.
 */
#pragma once

#include <stddef.h>

/*
 * A copy of TEXT (LEN bytes) in which every such value is replaced by characters
 * of the same kind ("00:00:00:00:00:00", "XXXXXXXX"), so that lines keep their
 * form. HOST, when not NULL or "", is masked wherever it stands as a word. PCI
 * addresses, sizes and ids stay. The caller frees the result; *RET_LEN may be NULL.
 */
char *pcie_mask_text(const char *text, size_t len, const char *host, size_t *ret_len);

/*
 * The same of a kernel command line (LEN bytes, without its newline), whose parameters keep
 * their values only where these bear upon PCI, GPUs, clocks or the console: what ip=, root=,
 * rd.lvm.lv= or one that nobody has heard of says may be personal. pcie_mask_text() does it
 * to the command lines that a log holds. The caller frees the result.
 */
char *pcie_mask_cmdline(const char *line, size_t len, const char *host);
