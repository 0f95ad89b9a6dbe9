/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "doctor/place.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/macros.h"
#include "base/text.h"

enum { PROBE_BYTES = 64 << 10 };

/* statfs(2)'s magic numbers; linux/magic.h lacks some of them. */
static const struct {
	uint32_t magic;
	const char *name;
	unsigned fault;
} filesystems[] = {
	{0x01021994, "tmpfs", PLACE_VOLATILE},
	{0x858458f6, "ramfs", PLACE_VOLATILE},
	{0x794c7630, "overlay", PLACE_LAYER},
	{0xef53, "ext", 0},
	{0x58465342, "xfs", 0},
	{0x9123683e, "btrfs", 0},
	{0x2fc12fc1, "zfs", 0},
	{0x6969, "nfs", 0},
	{0xff534d42, "cifs", 0},
	{0x01021997, "9p", 0},
	{0x65735546, "fuse", 0},
	{0xf2f52010, "f2fs", 0},
	{0xca451a4e, "bcachefs", 0},
	{0x73717368, "squashfs", 0},
};

static unsigned judge_characters(const char *path)
{
	unsigned faults = path[0] == '/' ? 0 : PLACE_RELATIVE;
	for (const char *s = path; *s; s++) {
		unsigned char c = (unsigned char)*s;
		if (isspace(c)) {
			faults |= PLACE_BLANK;
		} else if (c >= 0x80 || c < 0x20 || c == 0x7f) {
			faults |= PLACE_NON_ASCII;
		} else if (strchr("\"'`$\\*?[]{}()<>|&;#!^:", c)) {
			faults |= PLACE_SPECIAL;
		}
	}
	return faults;
}

/* The nearest parent of PATH that exists. The caller frees it. */
static char *nearest(const char *path)
{
	char *p = xstrdup(path);
	struct stat st;
	while (stat(p, &st) < 0) {
		char *slash = strrchr(p, '/');
		if (!slash) {
			strcpy(p, ".");
			break;
		}
		if (slash == p) {
			p[1] = '\0';
			break;
		}
		*slash = '\0';
	}
	return p;
}

static void judge_filesystem(
	const char *path, uint64_t need_bytes, uint64_t need_inodes, struct doctor_place *ret)
{
	struct statfs fs;
	struct statvfs vfs;
	if (statfs(path, &fs) < 0 || statvfs(path, &vfs) < 0) {
		ret->error = errno;
		return;
	}
	snprintf(ret->fs, sizeof(ret->fs), "0x%x", (uint32_t)fs.f_type);
	for (size_t i = 0; i < ARRAY_LEN(filesystems); i++) {
		if (filesystems[i].magic == (uint32_t)fs.f_type) {
			text_copy(ret->fs, sizeof(ret->fs), filesystems[i].name);
			ret->faults |= filesystems[i].fault;
		}
	}
	ret->free_bytes = (uint64_t)vfs.f_bavail * vfs.f_frsize;
	ret->free_inodes = vfs.f_files ? vfs.f_favail : UINT64_MAX;
	if (vfs.f_flag & ST_RDONLY) {
		ret->faults |= PLACE_READ_ONLY;
	}
	if (ret->free_bytes < need_bytes) {
		ret->faults |= PLACE_FULL;
	}
	if (ret->free_inodes < need_inodes) {
		ret->faults |= PLACE_NO_INODES;
	}
}

/* What this errno of a probe means. */
static unsigned fault_of(int error)
{
	switch (error) {
	case ENOSPC:
	case EDQUOT:
		return PLACE_FULL;
	case EROFS:
		return PLACE_READ_ONLY;
	default:
		return PLACE_NOT_WRITABLE;
	}
}

static int probe(const char *dir, bool need_exec, unsigned *faults)
{
	struct text t = {0};
	text_addf(&t, "%s/.barscope-probe-XXXXXX", dir);
	_cleanup_free_ char *name = text_steal(&t);
	_cleanup_fd_ int fd = mkostemp(name, O_CLOEXEC);
	if (fd < 0) {
		*faults |= fault_of(errno);
		return errno;
	}
	unlink(name); /* it lives as long as FD: a signal leaves nothing behind */

	static const char zeros[4096];
	int error = 0;
	for (size_t done = 0; done < PROBE_BYTES && !error; done += sizeof(zeros)) {
		if (write(fd, zeros, sizeof(zeros)) != (ssize_t)sizeof(zeros)) {
			error = errno ? errno : ENOSPC;
		}
	}
	if (!error && fsync(fd) < 0 && errno != EINVAL) {
		error = errno;
	}
	if (error) {
		*faults |= fault_of(error);
	} else if (need_exec) {
		/* A file system mounted noexec refuses the mapping that a JIT's loader needs. */
		void *p = mmap(NULL, sizeof(zeros), PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
		if (p == MAP_FAILED) {
			*faults |= PLACE_NO_EXEC;
			error = errno;
		} else {
			munmap(p, sizeof(zeros));
		}
	}
	return error;
}

void doctor_place_try(const char *path, bool need_exec, uint64_t need_bytes, uint64_t need_inodes,
	struct doctor_place *ret)
{
	*ret = (struct doctor_place){.faults = judge_characters(path)};

	_cleanup_free_ char *where = nearest(path);
	judge_filesystem(where, need_bytes, need_inodes, ret);

	struct stat st;
	if (stat(path, &st) < 0) {
		ret->error = errno;
		ret->faults |= errno == ENOENT ? PLACE_MISSING : PLACE_NOT_WRITABLE;
		/* Could it be made? */
		if (access(where, W_OK | X_OK) < 0) {
			ret->error = errno;
			ret->faults |= fault_of(errno);
		}
		return;
	}
	if (!S_ISDIR(st.st_mode)) {
		ret->faults |= PLACE_NOT_A_FOLDER;
		return;
	}
	int error = probe(path, need_exec, &ret->faults);
	if (error) {
		ret->error = error;
	}
}
