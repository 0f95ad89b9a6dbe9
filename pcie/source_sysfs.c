/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * /sys and /proc, live or copied. In a copy, links may be plain files that hold
 * the target, as archives without links make them. Nothing outside of a copy is read:
 * link targets are taken as names below the root, and no file of it may be a link.
 */
#include "pcie/source.h"

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
#include <sys/utsname.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/sort.h"
#include "base/text.h"
#include "pcie/config_read.h"
#include "pcie/firmware.h"
#include "pcie/host.h"
#include "pcie/kmsg.h"
#include "pcie/libpci.h"
#include "pcie/mask.h"

enum { VALUE_MAX = 64 << 10, IOMEM_MAX = 8 << 20 };

struct reader {
	const struct pcie_sysfs *o;
	struct pcie_sink *sink;
	char sys[PATH_MAX];  /* the folder that is /sys */
	char proc[PATH_MAX]; /* the folder that is /proc; "" when the copy has none */
	char hostname[256];
	int bus; /* sys/bus/pci/devices */
	int sysfd;
	struct pcie_libpci *libpci;   /* NULL: config space is read by file only */
	struct pcie_gpu_sizes *sizes; /* what the driver said of its GPUs; owned */
	size_t nsizes;
	char value[VALUE_MAX];
};

static bool is_dir(const char *path)
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
		is_dir(list)) {
		return true;
	}
	snprintf(sys, size, "%s", root);
	proc[0] = '\0';
	return snprintf(list, sizeof(list), "%s/bus/pci/devices", sys) < (int)sizeof(list) &&
	       is_dir(list);
}

bool pcie_sysfs_is(const char *root)
{
	char sys[PATH_MAX], proc[PATH_MAX];
	return strlen(root) < PATH_MAX / 2 && locate(root, sys, proc, sizeof(sys));
}

/* A copy may come from anybody: a file in it that is a link could name any file of this machine. */
static int open_value(const struct reader *r, int dir, const char *name)
{
	return openat(dir, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | (r->o->live ? 0 : O_NOFOLLOW));
}

static int read_value(const struct reader *r, int dir, const char *name, char *buf, size_t size)
{
	_cleanup_fd_ int fd = open_value(r, dir, name);
	return fd < 0 ? -errno : file_read_fd(fd, buf, size);
}

/*
 * A folder below DIR, PATH relative to it. In a copy no link on the way may lead out of DIR
 * (openat2, kernel 5.6; without it the last part alone is watched).
 */
static int open_folder(const struct reader *r, int dir, const char *path)
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
static int read_link(const struct reader *r, int dirfd, const char *name, char *buf, size_t size)
{
	ssize_t n = readlinkat(dirfd, name, buf, size - 1);
	if (n < 0) {
		if (errno != EINVAL) {
			return -errno;
		}
		n = read_value(r, dirfd, name, buf, size);
		if (n < 0) {
			return (int)n;
		}
	}
	buf[n] = '\0';
	buf[strcspn(buf, "\r\n")] = '\0';
	return (int)strlen(buf);
}

struct config_ctx {
	struct reader *r;
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

static void problem(struct reader *r, struct pcie_addr addr, const char *fmt, ...) PRINTF(3, 4);

static void problem(struct reader *r, struct pcie_addr addr, const char *fmt, ...)
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
	struct reader *r, int dir, struct pcie_addr addr, const struct pcie_attr *attr)
{
	_cleanup_fd_ int fd = open_value(r, dir, attr->name);
	struct stat st;
	if (fd < 0 || fstat(fd, &st) < 0) {
		if (errno != ENOENT) {
			problem(r, addr, "config space could not be read: %s", strerror(errno));
		}
		return false;
	}
	struct config_ctx ctx = {r, addr, fd};
	struct pcie_config_source src = {read_config_bytes, &ctx, (size_t)st.st_size};
	uint8_t buf[PCIE_CONFIG_EXT_SIZE + 1];
	/* A copy is a plain file: one read of all is less than a few of parts. */
	int n = pcie_config_fetch(&src, r->o->whole || !r->libpci, buf);
	if (n < 0) {
		problem(r, addr, "config space could not be read: %s", strerror(-n));
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

static bool sleeps(const char *name, const char *value)
{
	return (!strcmp(name, "power/runtime_status") && !strncmp(value, "suspended", 9)) ||
	       (!strcmp(name, "power_state") && !strncmp(value, "D3cold", 6));
}

/* One read: an attribute comes as a whole, and the end of the file needs no second one. */
static int read_text(struct reader *r, int dir, const char *name)
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

static void give_size(struct reader *r, const char *attr, uint64_t bytes)
{
	char value[24];
	int n = snprintf(value, sizeof(value), "%llu", (unsigned long long)bytes);
	if (bytes) {
		r->sink->attr(r->sink, pcie_attr_find(attr), value, (size_t)n);
	}
}

/* What the driver said of the device at ADDR, beside its files. */
static void give_sizes(struct reader *r, struct pcie_addr addr)
{
	for (size_t i = 0; i < r->nsizes; i++) {
		const struct pcie_gpu_sizes *g = &r->sizes[i];
		if (!pcie_addr_compare(g->addr, addr)) {
			give_size(r, PCIE_ATTR_NVML_MEMORY, g->memory);
			give_size(r, PCIE_ATTR_NVML_BAR1, g->bar1);
			if (g->note[0]) {
				problem(r, addr, "%s", g->note);
			}
		}
	}
}

static void read_attrs(struct reader *r, DIR *folder, struct pcie_addr addr)
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
			n = read_link(r, dir, attr->name, r->value, sizeof(r->value));
			break;
		case PCIE_ATTR_TEXT:
			n = read_text(r, dir, attr->name);
			break;
		}
		if (n > 0) {
			asleep = asleep || (!r->o->wake && sleeps(attr->name, r->value));
			r->sink->attr(r->sink, attr, r->value, (size_t)n);
		}
		vanished = vanished || n == -ENODEV || n == -ENOENT;
	}
	give_sizes(r, addr);
	char name[PCIE_ADDR_MAX];
	if (vanished &&
		faccessat(r->bus, pcie_addr_format(addr, name), F_OK, AT_SYMLINK_NOFOLLOW) < 0) {
		problem(r, addr, "vanished while it was read: what is said of it is in part old");
	}
}

/* "../../../devices/pci0000:00/…" → "/devices/pci0000:00/…"; a folder stands for itself. */
static void device_path(struct reader *r, const char *name, char *path, size_t size)
{
	int n = read_link(r, r->bus, name, path, size);
	const char *p = n > 0 ? strstr(path, "devices/") : NULL;
	if (!p || strstr(p, "..")) {
		snprintf(path, size, "/bus/pci/devices/%s", name);
		return;
	}
	memmove(path + 1, p, strlen(p) + 1);
	path[0] = '/';
}

static void read_device(struct reader *r, const char *name, struct pcie_addr addr)
{
	char path[PATH_MAX];
	device_path(r, name, path, sizeof(path) - 1);
	int fd = open_folder(r, r->sysfd, path + 1);
	_cleanup_dir_ DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) {
		problem(r, (struct pcie_addr){0}, "%s: %s", name,
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

/* A display controller of NVIDIA's that its driver has, and that does not sleep. */
static bool can_be_asked(struct reader *r, const char *name)
{
	static const char *const power[] = {"power/runtime_status", "power_state"};
	_cleanup_fd_ int dir =
		openat(r->bus, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC); /* the kernel's link */
	if (dir < 0 || read_text(r, dir, "vendor") <= 0 || strncmp(r->value, "0x10de", 6) ||
		read_text(r, dir, "class") <= 0 || strncmp(r->value, "0x03", 4) ||
		read_link(r, dir, "driver", r->value, sizeof(r->value)) <= 0) {
		return false;
	}
	const char *slash = strrchr(r->value, '/');
	bool can = slash && !strcmp(slash, "/nvidia");
	for (size_t i = 0; i < ARRAY_LEN(power) && !r->o->wake; i++) {
		can = can && !(read_text(r, dir, power[i]) > 0 && sleeps(power[i], r->value));
	}
	return can;
}

static void ask_driver(struct reader *r, const struct pcie_addr *addr, size_t n)
{
	size_t cap = 0;
	for (size_t i = 0; i < n; i++) {
		char name[PCIE_ADDR_MAX];
		if (can_be_asked(r, pcie_addr_format(addr[i], name))) {
			r->sizes = xgrow(r->sizes, r->nsizes, &cap, sizeof(*r->sizes));
			r->sizes[r->nsizes++] = (struct pcie_gpu_sizes){.addr = addr[i]};
		}
	}
	if (r->nsizes) {
		r->o->driver->sizes(r->o->driver, r->sizes, r->nsizes);
	}
}

static void read_devices(struct reader *r, DIR *list)
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
		ask_driver(r, addr, n);
	}
	for (size_t i = 0; i < n; i++) {
		char name[PCIE_ADDR_MAX];
		read_device(r, pcie_addr_format(addr[i], name), addr[i]);
	}
	free(addr);
	free(r->sizes);
}

/* Where the file NAME ("proc/…", "sys/…") is; false when the copy has no such part. */
static bool host_path(const struct reader *r, const char *name, char *path, size_t size)
{
	const char *base = !strncmp(name, "proc/", 5) ? r->proc : r->sys;
	int n = snprintf(path, size, "%s%s", base, strchr(name, '/'));
	return base[0] && n > 0 && (size_t)n < size;
}

static void give(struct reader *r, const char *name, const char *text)
{
	r->sink->host(r->sink, name, text, strlen(text));
}

static void read_host_file(struct reader *r, const struct pcie_host_file *file)
{
	char path[PATH_MAX];
	if (!host_path(r, file->name, path, sizeof(path))) {
		return;
	}
	if (!strcmp(file->name, "sys/firmware/efi")) {
		char above[PATH_MAX];
		snprintf(above, sizeof(above), "%.*s", (int)(strrchr(path, '/') - path), path);
		if (is_dir(above)) {
			give(r, file->name, is_dir(path) ? "1" : "0");
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
		if (read_value(r, AT_FDCWD, path, r->value, sizeof(r->value)) < 0) {
			return;
		}
		text = xstrdup(r->value);
	}
	_cleanup_free_ char *kept = pcie_host_reduce(file, text, r->hostname);
	if (kept[0]) {
		give(r, file->name, kept);
	}
}

static void read_nvidia(struct reader *r)
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
		if (read_value(r, dirfd(dir), name, r->value, sizeof(r->value)) < 0) {
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
static int read_line(struct reader *r, int dir, const char *name)
{
	int n = read_value(r, dir, name, r->value, sizeof(r->value));
	if (n >= 0) {
		r->value[strcspn(r->value, "\n")] = '\0';
	}
	return n;
}

/* A setup item, when it matters: FOLDER/ATTR is its folder, NAME the fact's. */
static void read_setup_item(struct reader *r, int folder, const char *attr, const char *name)
{
	_cleanup_fd_ int dir = open_folder(r, folder, attr);
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

static void read_setup(struct reader *r)
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

static void read_rebar_uefi(struct reader *r)
{
	char path[PATH_MAX], number[8];
	if (!host_path(r, PCIE_FIRMWARE_REBAR, path, sizeof(path))) {
		return;
	}
	int n = read_value(r, AT_FDCWD, path, r->value, sizeof(r->value));
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

static void read_log(struct reader *r)
{
	_cleanup_free_ char *log = NULL;
	size_t len;
	struct why why;
	int n = pcie_kmsg_read("/dev/kmsg", &log, &len, &why);
	if (n < 0) {
		problem(r, (struct pcie_addr){0}, "the kernel log: %s", why.text);
		return;
	}
	size_t kept_len;
	_cleanup_free_ char *kept = pcie_mask_text(log, len, r->hostname, &kept_len);
	r->sink->host(r->sink, PCIE_FEED_LOG, kept, kept_len);
}

static void read_host(struct reader *r)
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

static void find_hostname(struct reader *r)
{
	char path[PATH_MAX];
	if (r->o->live) {
		gethostname(r->hostname, sizeof(r->hostname) - 1);
	} else if (host_path(r, "proc/sys/kernel/hostname", path, sizeof(path)) &&
		   read_value(r, AT_FDCWD, path, r->hostname, sizeof(r->hostname)) > 0) {
		r->hostname[strcspn(r->hostname, "\n")] = '\0';
	}
}

int pcie_sysfs_read(const struct pcie_sysfs *o, struct pcie_sink *sink, struct why *why)
{
	_cleanup_free_ struct reader *r = xcalloc(1, sizeof(*r));
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
	find_hostname(r);
	if (o->live) {
		snprintf(path, sizeof(path), "%.*s/bus/pci", PATH_MAX / 2, r->sys);
		r->libpci = pcie_libpci_open(path);
	}
	read_devices(r, list);
	read_host(r);
	pcie_libpci_close(r->libpci);
	return 0;
}
