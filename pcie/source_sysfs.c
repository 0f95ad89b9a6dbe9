/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * /sys and /proc, live or copied. In a copy, links may be plain files that hold
 * the target, as archives without links make them. Nothing outside of a copy is read:
 * link targets are taken as names below the root, and no file of it may be a link.
 */
#include "pcie/source_sysfs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/sort.h"
#include "base/text.h"
#include "pcie/config_read.h"
#include "pcie/libpci.h"

bool pcie_sysfs_is_dir(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Finds the two folders; false when ROOT holds no list of PCI devices. */
static bool locate(const char *root, char *sys, char *proc, size_t size)
{
	const char *base = strcmp(root, "/") ? root : "";
	char list[PATH_MAX];

	snprintf(sys, size, "%s/sys", base);
	snprintf(proc, size, "%s/proc", base);
	if (snprintf(list, sizeof(list), "%s/bus/pci/devices", sys) < (int)sizeof(list) &&
		pcie_sysfs_is_dir(list)) {
		return true;
	}
	snprintf(sys, size, "%s", root);
	proc[0] = '\0';
	return snprintf(list, sizeof(list), "%s/bus/pci/devices", sys) < (int)sizeof(list) &&
	       pcie_sysfs_is_dir(list);
}

bool pcie_sysfs_is(const char *root)
{
	char sys[PATH_MAX], proc[PATH_MAX];
	return strlen(root) < PATH_MAX / 2 && locate(root, sys, proc, sizeof(sys));
}

/* A copy may come from anybody: a file in it that is a link could name any file of this machine. */
static int open_value(const struct pcie_sysfs_reader *r, int dir, const char *name)
{
	return openat(dir, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | (r->o->live ? 0 : O_NOFOLLOW));
}

int pcie_sysfs_value(
	const struct pcie_sysfs_reader *r, int dir, const char *name, char *buf, size_t size)
{
	_cleanup_fd_ int fd = open_value(r, dir, name);
	return fd < 0 ? -errno : file_read_fd(fd, buf, size);
}

/*
 * A folder below DIR, PATH relative to it. In a copy no link on the way may lead out of DIR
 * (openat2, kernel 5.6; without it the last part alone is watched).
 */
int pcie_sysfs_folder(const struct pcie_sysfs_reader *r, int dir, const char *path)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
	if (r->o->live) {
		return openat(dir, path, flags);
	}
	struct open_how how = {.flags = (unsigned)flags, .resolve = RESOLVE_BENEATH};
	int fd = (int)syscall(SYS_openat2, dir, path, &how, sizeof(how));
	return fd < 0 && errno == ENOSYS ? openat(dir, path, flags | O_NOFOLLOW) : fd;
}

/* The target of link NAME, or the content of a file that stands for one. */
int pcie_sysfs_link(
	const struct pcie_sysfs_reader *r, int dirfd, const char *name, char *buf, size_t size)
{
	ssize_t n = readlinkat(dirfd, name, buf, size - 1);
	if (n < 0) {
		if (errno != EINVAL) {
			return -errno;
		}
		n = pcie_sysfs_value(r, dirfd, name, buf, size);
		if (n < 0) {
			return (int)n;
		}
	}
	buf[n] = '\0';
	buf[strcspn(buf, "\r\n")] = '\0';
	return (int)strlen(buf);
}

struct config_ctx {
	struct pcie_sysfs_reader *r;
	struct pcie_addr addr;
	int fd;
};

static int read_config_bytes(void *ctx, size_t off, uint8_t *buf, size_t len)
{
	const struct config_ctx *c = ctx;
	if (off >= PCIE_CONFIG_SIZE && c->r->libpci) {
		int r = pcie_libpci_read(c->r->libpci, c->addr, off, buf, len);
		return r < 0 ? r : (int)len;
	}
	ssize_t n = pread(c->fd, buf, len, (off_t)off);
	return n < 0 ? -errno : (int)n;
}

void pcie_sysfs_problem(struct pcie_sysfs_reader *r, struct pcie_addr addr, const char *fmt, ...)
{
	char text[200];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	r->sink->problem(r->sink, addr, text);
}

/* True when it told all that it can tell, so that no file is needed for that. */
static bool read_config(
	struct pcie_sysfs_reader *r, int dir, struct pcie_addr addr, const struct pcie_attr *attr)
{
	_cleanup_fd_ int fd = open_value(r, dir, attr->name);
	struct stat st;
	if (fd < 0 || fstat(fd, &st) < 0) {
		if (errno != ENOENT) {
			pcie_sysfs_problem(
				r, addr, "config space could not be read: %s", strerror(errno));
		}
		return false;
	}
	struct config_ctx ctx = {r, addr, fd};
	struct pcie_config_source src = {read_config_bytes, &ctx, (size_t)st.st_size};
	uint8_t buf[PCIE_CONFIG_EXT_SIZE + 1];
	/* A copy is a plain file: one read of all is less than a few of parts. */
	int n = pcie_config_fetch(&src, r->o->whole || !r->libpci, buf);
	if (n < 0) {
		pcie_sysfs_problem(r, addr, "config space could not be read: %s", strerror(-n));
		return false;
	}
	buf[n] = '\0';
	if (n) {
		r->sink->attr(r->sink, attr, (const char *)buf, (size_t)n);
	}
	if (n < st.st_size && n <= PCIE_CONFIG_CARDBUS_HEADER) {
		char size[24];
		int len = snprintf(size, sizeof(size), "%lld", (long long)st.st_size);
		r->sink->attr(r->sink, pcie_attr_find(PCIE_ATTR_CONFIG_SIZE), size, (size_t)len);
	}
	/* Ones: off the bus, or a virtual function, whose ids are not in its registers. */
	return n >= PCIE_CONFIG_SIZE && !(buf[0] == 0xff && buf[1] == 0xff);
}

bool pcie_sysfs_sleeps(const char *name, const char *value)
{
	return (!strcmp(name, "power/runtime_status") && !strncmp(value, "suspended", 9)) ||
	       (!strcmp(name, "power_state") && !strncmp(value, "D3cold", 6));
}

/* One read: an attribute comes as a whole, and the end of the file needs no second one. */
int pcie_sysfs_text(struct pcie_sysfs_reader *r, int dir, const char *name)
{
	_cleanup_fd_ int fd = open_value(r, dir, name);
	ssize_t n = fd < 0 ? -1 : read(fd, r->value, sizeof(r->value) - 1);
	if (n < 0) {
		return -errno;
	}
	r->value[n] = '\0';
	/* NULs are no text: a damaged copy, not a fact. */
	return strlen(r->value) == (size_t)n ? (int)n : -EBADMSG;
}

/* Which attributes the device's folder has, so that none is asked for in vain. */
static void list_attrs(DIR *dir, bool *there)
{
	for (const struct dirent *e; (e = readdir(dir));) {
		const struct pcie_attr *attr = pcie_attr_find(e->d_name);
		if (attr) {
			there[attr - pcie_attrs] = true;
		} else if (!strcmp(e->d_name, "power")) {
			there[pcie_attr_find("power/runtime_status") - pcie_attrs] = true;
		}
	}
}

static void read_attrs(struct pcie_sysfs_reader *r, DIR *folder, struct pcie_addr addr)
{
	int dir = dirfd(folder);
	bool there[PCIE_ATTRS_MAX] = {false};
	bool asleep = false, vanished = false, told = false;

	list_attrs(folder, there);
	for (size_t i = 0; i < pcie_nattrs; i++) {
		const struct pcie_attr *attr = &pcie_attrs[i];
		if (!there[i] || (attr->wakes && asleep) ||
			(attr->in_config && told && !r->o->whole)) {
			continue;
		}
		int n = 0;
		switch (attr->kind) {
		case PCIE_ATTR_BINARY:
			told = read_config(r, dir, addr, attr);
			break;
		case PCIE_ATTR_LINK:
			n = pcie_sysfs_link(r, dir, attr->name, r->value, sizeof(r->value));
			break;
		case PCIE_ATTR_TEXT:
			n = pcie_sysfs_text(r, dir, attr->name);
			break;
		}
		if (n > 0) {
			asleep = asleep || (!r->o->wake && pcie_sysfs_sleeps(attr->name, r->value));
			r->sink->attr(r->sink, attr, r->value, (size_t)n);
		}
		vanished = vanished || n == -ENODEV || n == -ENOENT;
	}
	pcie_sysfs_give_sizes(r, addr);
	char name[PCIE_ADDR_MAX];
	if (vanished &&
		faccessat(r->bus, pcie_addr_format(addr, name), F_OK, AT_SYMLINK_NOFOLLOW) < 0) {
		pcie_sysfs_problem(
			r, addr, "vanished while it was read: what is said of it is in part old");
	}
}

/* "../../../devices/pci0000:00/…" → "/devices/pci0000:00/…"; a folder stands for itself. */
static void device_path(struct pcie_sysfs_reader *r, const char *name, char *path, size_t size)
{
	int n = pcie_sysfs_link(r, r->bus, name, path, size);
	const char *p = n > 0 ? strstr(path, "devices/") : NULL;
	if (!p || strstr(p, "..")) {
		snprintf(path, size, "/bus/pci/devices/%s", name);
		return;
	}
	memmove(path + 1, p, strlen(p) + 1);
	path[0] = '/';
}

static void read_device(struct pcie_sysfs_reader *r, const char *name, struct pcie_addr addr)
{
	char path[PATH_MAX];
	device_path(r, name, path, sizeof(path) - 1);
	int fd = pcie_sysfs_folder(r, r->sysfd, path + 1);
	_cleanup_dir_ DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) {
		pcie_sysfs_problem(r, (struct pcie_addr){0}, "%s: %s", name,
			errno == ENOENT ? "vanished while it was read" : strerror(errno));
		return;
	}
	r->sink->device(r->sink, path, addr);
	read_attrs(r, dir, addr);
}

static int compare(const void *a, const void *b)
{
	return pcie_addr_compare(*(const struct pcie_addr *)a, *(const struct pcie_addr *)b);
}

static void read_devices(struct pcie_sysfs_reader *r, DIR *list)
{
	struct pcie_addr *addr = NULL;
	size_t n = 0, cap = 0;

	for (const struct dirent *e; (e = readdir(list));) {
		struct pcie_addr a;
		if (pcie_addr_parse(e->d_name, &a) == 0) {
			addr = xgrow(addr, n, &cap, sizeof(*addr));
			addr[n++] = a;
		}
	}
	sort_array(addr, n, sizeof(*addr), compare);
	if (r->o->driver) {
		pcie_sysfs_ask_driver(r, addr, n);
	}
	for (size_t i = 0; i < n; i++) {
		char name[PCIE_ADDR_MAX];
		read_device(r, pcie_addr_format(addr[i], name), addr[i]);
	}
	free(addr);
	free(r->sizes);
}

int pcie_sysfs_read(const struct pcie_sysfs *o, struct pcie_sink *sink, struct why *why)
{
	_cleanup_free_ struct pcie_sysfs_reader *r = xcalloc(1, sizeof(*r));
	char path[PATH_MAX];
	r->o = o;
	r->sink = sink;

	if (strlen(o->root) >= PATH_MAX / 2) {
		why_set(why, "the path of the folder is too long");
		return -ENAMETOOLONG;
	}
	if (!locate(o->root, r->sys, r->proc, sizeof(r->sys))) {
		why_set(why, "%s: no list of PCI devices (sys/bus/pci/devices) there",
			strcmp(o->root, "/") ? o->root : "this machine");
		return -ENOENT;
	}
	_cleanup_fd_ int sysfd = open(r->sys, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	snprintf(path, sizeof(path), "%.*s/bus/pci/devices", PATH_MAX / 2, r->sys);
	_cleanup_dir_ DIR *list = opendir(path);
	if (sysfd < 0 || !list) {
		int e = -errno;
		why_set(why, "%s: %s", path, strerror(errno));
		return e;
	}
	r->sysfd = sysfd;
	r->bus = dirfd(list);
	pcie_sysfs_find_hostname(r);
	if (o->live) {
		snprintf(path, sizeof(path), "%.*s/bus/pci", PATH_MAX / 2, r->sys);
		r->libpci = pcie_libpci_open(path);
	}
	read_devices(r, list);
	pcie_sysfs_read_host(r);
	pcie_libpci_close(r->libpci);
	return 0;
}
