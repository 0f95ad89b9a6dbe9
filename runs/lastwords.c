/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "runs/lastwords.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/child.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/macros.h"
#include "base/text.h"
#include "pcie/mask.h"
#include "runs/env.h"

enum { RECORD = 1 << 18, JOURNAL = 1 << 22 };

bool runs_is_fault(const char *line)
{
	static const char *const signs[] = {"NVRM: Xid", "Kernel panic", "Hardware Error",
		"Machine check", "mce: ", "AER: ", "PCIe Bus Error", "temperature above threshold",
		"critical temperature", "watchdog: BUG", "soft lockup", "hard LOCKUP",
		"GPU has fallen", "Oops: ", "Out of memory: "};
	for (size_t i = 0; i < ARRAY_LEN(signs); i++) {
		if (strstr(line, signs[i])) {
			return true;
		}
	}
	return false;
}

/* "<3>[  12.5] host kernel: text" → text: what stands in front differs by source. */
static const char *message(const char *line)
{
	const char *bracket = strchr(line, ']'), *kernel = strstr(line, "kernel: ");
	if (kernel) {
		return kernel + 8;
	}
	return bracket && (*line == '[' || *line == '<') ? bracket + 1 + (bracket[1] == ' ') : line;
}

/* The last line of S that tells, masked as captures are: it is kept with the run. */
static bool take_lines(char *s, const char *host, char *ret, size_t size)
{
	const char *last = NULL;
	for (char *save, *line = strtok_r(s, "\n", &save); line;
		line = strtok_r(NULL, "\n", &save)) {
		if (runs_is_fault(line)) {
			last = message(line);
		}
	}
	if (last) {
		_cleanup_free_ char *masked = pcie_mask_text(last, strlen(last), host, NULL);
		text_copy(ret, size, masked);
	}
	return last != NULL;
}

static bool from_pstore(const char *root, int64_t since, const char *host, char *ret, size_t size)
{
	char path[512];
	snprintf(path, sizeof(path), "%s/sys/fs/pstore", root ? root : "");
	_cleanup_dir_ DIR *dir = opendir(path);
	_cleanup_free_ char *buf = xmalloc(RECORD);
	const struct dirent *d;
	bool found = false;
	while (dir && (d = readdir(dir))) {
		struct stat st;
		bool log =
			(!strncmp(d->d_name, "dmesg-", 6) || !strncmp(d->d_name, "console-", 8)) &&
			fstatat(dirfd(dir), d->d_name, &st, 0) == 0 && st.st_mtime >= since;
		if (log && file_read_at(dirfd(dir), d->d_name, buf, RECORD) > 0) {
			found = take_lines(buf, host, ret, size) || found;
		}
	}
	return found;
}

/* As journalctl takes it: 32 hex digits. */
static bool plain_id(const char *boot_id, char ret[static 33])
{
	size_t n = 0;
	for (const char *p = boot_id; *p; p++) {
		if (*p == '-') {
			continue;
		}
		if (n == 32 || !strchr("0123456789abcdef", *p)) {
			return false;
		}
		ret[n++] = *p;
	}
	ret[n] = '\0';
	return n == 32;
}

static bool from_journal(
	const char *boot_id, uint64_t until_ns, const char *host, char *ret, size_t size)
{
	char id[33], boot[48];
	struct child c;
	if (!plain_id(boot_id, id)) {
		return false;
	}
	snprintf(boot, sizeof(boot), "--boot=%s", id);
	const char *const argv[] = {
		"journalctl", boot, "--dmesg", "--no-pager", "--quiet", "--lines=2000", NULL};
	if (child_start_program("journalctl", (char *const *)(uintptr_t)argv, NULL, &c)) {
		return false;
	}
	_cleanup_free_ char *lines = xmalloc(JOURNAL + 1);
	size_t have;
	child_read_some(&c, lines, JOURNAL, until_ns, &have); /* what came before an error counts */
	lines[have] = '\0';
	child_end(&c, true);
	return take_lines(lines, host, ret, size);
}

bool runs_last_words(const char *root, const char *boot_id, int64_t since, uint64_t until_ns,
	char *ret, size_t size)
{
	char host[RUNS_HOST_MAX];
	runs_env_host(root, host);
	return from_pstore(root, since, host, ret, size) ||
	       (!root && from_journal(boot_id, until_ns, host, ret, size));
}
