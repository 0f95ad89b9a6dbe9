/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A folder, tried for real. Blocking; any thread. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum {
	PLACE_MISSING = 1 << 0,
	PLACE_NOT_A_FOLDER = 1 << 1,
	PLACE_READ_ONLY = 1 << 2,    /* the file system is */
	PLACE_NOT_WRITABLE = 1 << 3, /* for this user */
	PLACE_FULL = 1 << 4,         /* fewer bytes free than asked for, or the probe met ENOSPC */
	PLACE_NO_INODES = 1 << 5,
	PLACE_NO_EXEC = 1 << 6,
	PLACE_VOLATILE = 1 << 7, /* tmpfs, ramfs: gone after a reboot */
	PLACE_BLANK = 1 << 8,    /* white space in the path: many tools split it in two */
	PLACE_NON_ASCII = 1 << 9,
	PLACE_SPECIAL = 1 << 10, /* characters that a shell or make would take for its own */
	PLACE_RELATIVE = 1 << 11,
	PLACE_LAYER = 1 << 12, /* overlay: kept as long as its container or live system is */
};

struct doctor_place {
	unsigned faults; /* PLACE_* */
	int error;       /* errno of the failed probe, 0 */
	uint64_t free_bytes,
		free_inodes; /* for this user; inodes UINT64_MAX where the fs has no limit */
	char fs[16];         /* "tmpfs", "ext4", "0x…" */
};

/*
 * Looks at PATH: characters, existence, file system, then writes, syncs and removes a probe
 * file of 64 KiB, and maps one executable where NEED_EXEC. NEED_BYTES and NEED_INODES say what
 * is too little. Where PATH does not exist, the nearest existing parent is judged for space
 * and kind, and PLACE_MISSING is set.
 */
void doctor_place_try(const char *path, bool need_exec, uint64_t need_bytes, uint64_t need_inodes,
	struct doctor_place *ret);
