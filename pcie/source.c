/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pcie/source.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/gz.h"
#include "base/text.h"
#include "pcie/libpci.h"
#include "pcie/scan.h"
#include "pcie/witness.h"

/* Of one input, packed and unpacked; and how many files of a folder are looked at. */
enum { INPUT_MAX = 64 << 20, FOLDER_FILES = 64 };

/* A log that came with the feed is a witness like one from a file. */
static void merge_log(struct pcie_snapshot *s, char *log, size_t len)
{
	struct pcie_snapshot *from;
	struct why why;
	if (log && pcie_text_scan("kernel log", log, len, &from, &why) == 0) {
		pcie_merge(s, from);
		pcie_snapshot_destroy(from);
	}
	free(log);
}

static struct pcie_snapshot *finish(struct pcie_feed *f)
{
	char *log;
	size_t len;
	struct pcie_snapshot *s = pcie_feed_finish(f, &log, &len);
	merge_log(s, log, len);
	return s;
}

static void read_boot_id(struct pcie_snapshot *s)
{
	char id[64];
	if (file_read_at(AT_FDCWD, "/proc/sys/kernel/random/boot_id", id, sizeof(id)) > 0) {
		text_copy(s->boot_id, sizeof(s->boot_id), text_trim(id));
	}
}

static int scan_sysfs(
	const struct pcie_sysfs *o, const char *origin, struct pcie_snapshot **ret, struct why *why)
{
	_cleanup_free_ struct pcie_feed *f = xmalloc(sizeof(*f));
	pcie_feed_init(f, origin);
	f->complete = o->live;
	int r = pcie_sysfs_read(o, &f->sink, why);
	if (r < 0) {
		pcie_feed_abort(f);
		return r;
	}
	*ret = finish(f);
	if (o->live) {
		read_boot_id(*ret);
	}
	return 0;
}

static int scan_record(
	const char *name, const char *data, size_t len, struct pcie_snapshot **ret, struct why *why)
{
	struct text origin = {0};
	text_addf(&origin, "record %s", name);
	_cleanup_free_ struct pcie_feed *f = xmalloc(sizeof(*f));
	pcie_feed_init(f, origin.s);
	text_finish(&origin);
	int r = pcie_record_read(name, data, len, &f->sink, &f->complete, why);
	if (r < 0) {
		pcie_feed_abort(f);
		return r;
	}
	*ret = finish(f);
	if (data[len - 1] != '\n') {
		pcie_snapshot_note(
			*ret, -1, "%s ends in the middle of a line: it is cut off", name);
	}
	return 0;
}

/* A record or text, unpacked. */
static int scan_plain(
	const char *name, const char *data, size_t len, struct pcie_snapshot **ret, struct why *why)
{
	if (pcie_record_is(data, len)) {
		return scan_record(name, data, len, ret, why);
	}
	return pcie_text_scan(name, data, len, ret, why);
}

static int scan_data(
	const char *name, const char *data, size_t len, struct pcie_snapshot **ret, struct why *why)
{
	if (!gz_is(data, len)) {
		return scan_plain(name, data, len, ret, why);
	}
	_cleanup_free_ char *plain = NULL;
	size_t plain_len;
	bool cut = false;
	int r = gz_unpack(data, len, INPUT_MAX, &plain, &plain_len, &cut, why);
	if (r < 0) {
		struct why inner = *why;
		why_set(why, "%s: %s", name, inner.text);
		return r;
	}
	r = scan_plain(name, plain, plain_len, ret, why);
	if (r == 0 && cut) {
		pcie_snapshot_note(*ret, -1, "%s is cut off: its end is missing", name);
	}
	return r;
}

int pcie_scan_buffer(
	const char *name, const char *data, size_t len, struct pcie_snapshot **ret, struct why *why)
{
	int r = scan_data(name, data, len, ret, why);
	if (r == 0) {
		pcie_libpci_name_all(*ret);
	}
	return r;
}

static int scan_file(const char *path, struct pcie_snapshot **ret, struct why *why)
{
	_cleanup_free_ char *data = NULL;
	size_t len;
	int r = file_read_all(path, INPUT_MAX, &data, &len, why);
	if (r < 0) {
		return r;
	}
	const char *name = strcmp(path, "-") ? path : "standard input";
	if (len == 0) {
		why_set(why, "%s is empty", name);
		return -ENODATA;
	}
	return scan_data(name, data, len, ret, why);
}

static int visible(const struct dirent *e)
{
	return e->d_name[0] != '.';
}

/*
 * The files that lie beside sys/ and proc/: dmesg.txt, nvidia-smi-q.txt, … A file in which
 * nothing is recognised belongs to something else; one that cannot be read is said.
 */
static void merge_folder(struct pcie_snapshot *s, const char *root)
{
	struct dirent **list;
	int n = scandir(root, &list, visible, alphasort);
	for (int i = 0, files = 0; i < n; i++) {
		char path[PATH_MAX];
		struct stat st;
		struct pcie_snapshot *from;
		int len = snprintf(path, sizeof(path), "%s/%s", root, list[i]->d_name);
		if (len < (int)sizeof(path) && lstat(path, &st) == 0 && S_ISREG(st.st_mode) &&
			files++ < FOLDER_FILES) {
			struct why why = {""};
			int r = scan_file(path, &from, &why);
			if (r == 0) {
				pcie_merge(s, from);
				pcie_snapshot_destroy(from);
			} else if (r != -ENODATA) {
				pcie_snapshot_note(s, -1, "not read: %s", why.text);
			}
		}
		free(list[i]);
	}
	if (n >= 0) {
		free(list);
	}
}

/* Is the sysfs below ROOT the running kernel's, mounted, and no copy? */
static bool is_running(const char *root)
{
	char path[PATH_MAX];
	struct stat here, there;
	return snprintf(path, sizeof(path), "%s/bus", root) < (int)sizeof(path) &&
	       (stat(path, &there) == 0 ||
		       (snprintf(path, sizeof(path), "%s/sys/bus", root) < (int)sizeof(path) &&
			       stat(path, &there) == 0)) &&
	       stat("/sys/bus", &here) == 0 && here.st_dev == there.st_dev;
}

static int scan_path(const struct pcie_scan_options *o, struct pcie_snapshot **ret, struct why *why)
{
	struct stat st;
	if (!strcmp(o->source, "-")) {
		return scan_file(o->source, ret, why);
	}
	if (stat(o->source, &st) < 0) {
		int r = -errno;
		why_set(why, "%s: %s", o->source, strerror(-r));
		return r;
	}
	if (!S_ISDIR(st.st_mode)) {
		return scan_file(o->source, ret, why);
	}

	struct text origin = {0};
	text_addf(&origin, "sysfs tree %s", o->source);
	/* A copy has nothing that could be woken. */
	struct pcie_sysfs sysfs = {.root = o->source, .wake = o->wake || !is_running(o->source)};
	int r = scan_sysfs(&sysfs, origin.s, ret, why);
	text_finish(&origin);
	if (r == 0) {
		merge_folder(*ret, o->source);
	}
	return r;
}

int pcie_scan(const struct pcie_scan_options *o, struct pcie_snapshot **ret, struct why *why)
{
	struct pcie_snapshot *s;
	int r;
	if (o->source && strcmp(o->source, "live")) {
		r = scan_path(o, &s, why);
	} else {
		struct pcie_sysfs sysfs = {
			.root = o->sysfs ? o->sysfs : "/",
			.live = !o->sysfs,
			.wake = o->wake,
			.log = o->log && !o->sysfs,
			.driver = o->driver,
		};
		r = scan_sysfs(&sysfs, "live", &s, why);
	}
	if (r < 0) {
		return r;
	}
	for (size_t i = 0; i < o->nwith; i++) {
		struct pcie_snapshot *from;
		r = scan_file(o->with[i], &from, why);
		if (r < 0) {
			pcie_snapshot_destroy(s);
			return r;
		}
		pcie_merge(s, from);
		pcie_snapshot_destroy(from);
	}
	pcie_libpci_name_all(s);
	*ret = s;
	return 0;
}
