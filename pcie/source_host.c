/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is beside the devices: kernel, firmware, memory map, driver options, setup items, log. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/text.h"
#include "pcie/firmware.h"
#include "pcie/host.h"
#include "pcie/kmsg.h"
#include "pcie/mask.h"
#include "pcie/source_sysfs.h"

enum { IOMEM_MAX = 8 << 20 };

/* Where the file NAME ("proc/…", "sys/…") is; false when the copy has no such part. */
static bool host_path(const struct pcie_sysfs_reader *r, const char *name, char *path, size_t size)
{
	const char *base = !strncmp(name, "proc/", 5) ? r->proc : r->sys;
	int n = snprintf(path, size, "%s%s", base, strchr(name, '/'));
	return base[0] && n > 0 && (size_t)n < size;
}

static void give(struct pcie_sysfs_reader *r, const char *name, const char *text)
{
	r->sink->host(r->sink, name, text, strlen(text));
}

static void read_host_file(struct pcie_sysfs_reader *r, const struct pcie_host_file *file)
{
	char path[PATH_MAX];
	if (!host_path(r, file->name, path, sizeof(path))) {
		return;
	}
	if (!strcmp(file->name, "sys/firmware/efi")) {
		char above[PATH_MAX];
		snprintf(above, sizeof(above), "%.*s", (int)(strrchr(path, '/') - path), path);
		if (pcie_sysfs_is_dir(above)) {
			give(r, file->name, pcie_sysfs_is_dir(path) ? "1" : "0");
		}
		return;
	}

	_cleanup_free_ char *text = NULL;
	if (!strcmp(file->name, "proc/iomem")) {
		size_t len;
		struct stat st;
		if (!r->o->live && lstat(path, &st) == 0 && S_ISLNK(st.st_mode)) {
			return;
		}
		if (file_read_all(path, IOMEM_MAX, &text, &len, NULL) < 0) {
			return;
		}
	} else {
		if (pcie_sysfs_value(r, AT_FDCWD, path, r->value, sizeof(r->value)) < 0) {
			return;
		}
		text = xstrdup(r->value);
	}
	_cleanup_free_ char *kept = pcie_host_reduce(file, text, r->hostname);
	if (kept[0]) {
		give(r, file->name, kept);
	}
}

static void read_nvidia(struct pcie_sysfs_reader *r)
{
	char path[PATH_MAX];
	if (!host_path(r, PCIE_HOST_NVIDIA_FOLDER, path, sizeof(path))) {
		return;
	}
	_cleanup_dir_ DIR *dir = opendir(path);
	if (!dir) {
		return;
	}
	for (const struct dirent *e; (e = readdir(dir));) {
		struct pcie_addr addr;
		char name[512];
		if (pcie_addr_parse(e->d_name, &addr) < 0) {
			continue;
		}
		snprintf(name, sizeof(name), "%s/" PCIE_HOST_NVIDIA_FILE, e->d_name);
		if (pcie_sysfs_value(r, dirfd(dir), name, r->value, sizeof(r->value)) < 0) {
			continue;
		}
		struct text kept = {0};
		pcie_host_reduce_nvidia(&kept, r->value);
		snprintf(name, sizeof(name), PCIE_HOST_NVIDIA_FOLDER "/%s/" PCIE_HOST_NVIDIA_FILE,
			e->d_name);
		if (kept.len) {
			give(r, name, kept.s);
		}
		text_finish(&kept);
	}
}

/* One line of DIR/NAME into r->value; negative errno. */
static int read_line(struct pcie_sysfs_reader *r, int dir, const char *name)
{
	int n = pcie_sysfs_value(r, dir, name, r->value, sizeof(r->value));
	if (n >= 0) {
		r->value[strcspn(r->value, "\n")] = '\0';
	}
	return n;
}

/* A setup item, when it matters: FOLDER/ATTR is its folder, NAME the fact's. */
static void read_setup_item(
	struct pcie_sysfs_reader *r, int folder, const char *attr, const char *name)
{
	_cleanup_fd_ int dir = pcie_sysfs_folder(r, folder, attr);
	if (dir < 0) {
		return;
	}
	struct text item = {0};
	bool shown = read_line(r, dir, "display_name") > 0 && r->value[0];
	text_add(&item, shown ? r->value : attr);
	if (pcie_firmware_matters(attr) || pcie_firmware_matters(item.s)) {
		if (read_line(r, dir, "current_value") >= 0) {
			text_addf(&item, "\n%s", r->value);
		}
		give(r, name, item.s);
	}
	text_finish(&item);
}

static int visible(const struct dirent *e)
{
	return e->d_name[0] != '.';
}

/* Names below PATH in a fixed order; the caller frees with free_names(). */
static int list_names(const char *path, struct dirent ***ret)
{
	return scandir(path, ret, visible, alphasort);
}

static void free_names(struct dirent **list, int n)
{
	for (int i = 0; i < n; i++) {
		free(list[i]);
	}
	if (n >= 0) {
		free(list);
	}
}

static void read_setup(struct pcie_sysfs_reader *r)
{
	char path[PATH_MAX], folder[PATH_MAX], name[PATH_MAX];
	struct dirent **driver, **item;
	if (!host_path(r, PCIE_FIRMWARE_FOLDER, path, sizeof(path))) {
		return;
	}
	int drivers = list_names(path, &driver);
	if (drivers < 0 && !r->o->live) {
		return; /* a copy that left the folder out says nothing */
	}
	give(r, PCIE_FIRMWARE_FOLDER, "");
	for (int d = 0; d < drivers; d++) {
		int n = snprintf(
			folder, sizeof(folder), "%s/%s/attributes", path, driver[d]->d_name);
		int items = n < (int)sizeof(folder) ? list_names(folder, &item) : -1;
		_cleanup_fd_ int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		for (int i = 0; fd >= 0 && i < items; i++) {
			snprintf(name, sizeof(name), PCIE_FIRMWARE_FOLDER "/%s/attributes/%s",
				driver[d]->d_name, item[i]->d_name);
			read_setup_item(r, fd, item[i]->d_name, name);
		}
		free_names(item, items);
	}
	free_names(driver, drivers);
}

static void read_rebar_uefi(struct pcie_sysfs_reader *r)
{
	char path[PATH_MAX], number[8];
	if (!host_path(r, PCIE_FIRMWARE_REBAR, path, sizeof(path))) {
		return;
	}
	int n = pcie_sysfs_value(r, AT_FDCWD, path, r->value, sizeof(r->value));
	if (n == 5) {
		snprintf(number, sizeof(number), "%u", (unsigned char)r->value[4]);
		give(r, PCIE_FIRMWARE_REBAR, number);
		return;
	}
	*strrchr(path, '/') = '\0';
	_cleanup_dir_ DIR *vars = n == -ENOENT ? opendir(path) : NULL;
	if (vars && readdir(vars) && readdir(vars) && readdir(vars)) {
		give(r, PCIE_FIRMWARE_REBAR, "none"); /* mounted, and it is not among them */
	}
}

static void read_log(struct pcie_sysfs_reader *r)
{
	_cleanup_free_ char *log = NULL;
	size_t len;
	struct why why;
	int n = pcie_kmsg_read("/dev/kmsg", &log, &len, &why);
	if (n < 0) {
		pcie_sysfs_problem(r, (struct pcie_addr){0}, "the kernel log: %s", why.text);
		return;
	}
	size_t kept_len;
	_cleanup_free_ char *kept = pcie_mask_text(log, len, r->hostname, &kept_len);
	r->sink->host(r->sink, PCIE_FEED_LOG, kept, kept_len);
}

void pcie_sysfs_read_host(struct pcie_sysfs_reader *r)
{
	for (size_t i = 0; i < pcie_nhost_files; i++) {
		read_host_file(r, &pcie_host_files[i]);
	}
	/* Kernels before 6.1 have no file for it. */
	struct utsname u;
	if (r->o->live && uname(&u) == 0 && access("/proc/sys/kernel/arch", F_OK) < 0) {
		give(r, "proc/sys/kernel/arch", u.machine);
	}
	read_nvidia(r);
	read_setup(r);
	read_rebar_uefi(r);
	if (r->o->log) {
		read_log(r);
	}
}

void pcie_sysfs_find_hostname(struct pcie_sysfs_reader *r)
{
	char path[PATH_MAX];
	if (r->o->live) {
		gethostname(r->hostname, sizeof(r->hostname) - 1);
	} else if (host_path(r, "proc/sys/kernel/hostname", path, sizeof(path)) &&
		   pcie_sysfs_value(r, AT_FDCWD, path, r->hostname, sizeof(r->hostname)) > 0) {
		r->hostname[strcspn(r->hostname, "\n")] = '\0';
	}
}
