/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stress/host.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/macros.h"
#include "base/text.h"

enum { PATH_LONGEST = 1024 };

static int read_small(const char *root, const char *path, char *buf, size_t size)
{
	char full[PATH_LONGEST];
	if ((size_t)snprintf(full, sizeof(full), "%s%s", root, path) >= sizeof(full)) {
		return -1;
	}
	return file_read_at(AT_FDCWD, full, buf, size);
}

static void read_affinity(struct stress_host *h)
{
	size_t size = CPU_ALLOC_SIZE(STRESS_CPUS_MAX);
	cpu_set_t *set = CPU_ALLOC(STRESS_CPUS_MAX);
	if (set && sched_getaffinity(0, size, set) == 0) {
		for (int i = 0; i < STRESS_CPUS_MAX; i++) {
			if (CPU_ISSET_S(i, size, set)) {
				h->cpu[h->cpus++] = (uint16_t)i;
			}
		}
	}
	CPU_FREE(set);
	if (!h->cpus) {
		h->cpus = 1;
	}
}

static void read_model(const char *root, struct stress_host *h)
{
	char buf[4096];
	if (read_small(root, "/proc/cpuinfo", buf, sizeof(buf)) <= 0) {
		return;
	}
	char *at = strstr(buf, "model name");
	at = at ? strchr(at, ':') : NULL;
	if (at) {
		at[strcspn(at, "\n")] = '\0';
		text_copy(h->model, sizeof(h->model), text_trim(at + 1));
	}
}

/* -- caches ------------------------------------------------------------------------ */

struct cache {
	uint64_t level, bytes;
	char shared[128]; /* shared_cpu_list: the instance's identity */
};

static bool read_cache(const char *root, unsigned cpu, unsigned index, struct cache *ret)
{
	char path[128], buf[64];
	struct cache c;
	snprintf(
		path, sizeof(path), "/sys/devices/system/cpu/cpu%u/cache/index%u/type", cpu, index);
	if (read_small(root, path, buf, sizeof(buf)) <= 0) {
		return false;
	}
	ret->bytes = 0;
	if (!strncmp(buf, "Instruction", 11)) {
		return true;
	}
	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/cache/index%u/level", cpu,
		index);
	if (read_small(root, path, buf, sizeof(buf)) <= 0 ||
		text_parse_u64(text_trim(buf), 10, &c.level) < 0) {
		return true;
	}
	snprintf(
		path, sizeof(path), "/sys/devices/system/cpu/cpu%u/cache/index%u/size", cpu, index);
	if (read_small(root, path, buf, sizeof(buf)) <= 0 ||
		text_parse_size(text_trim(buf), &c.bytes) < 0) {
		return true;
	}
	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/cache/index%u/shared_cpu_list",
		cpu, index);
	if (read_small(root, path, c.shared, sizeof(c.shared)) <= 0) {
		return true;
	}
	*ret = c;
	return true;
}

static bool read_last_cache(const char *root, unsigned cpu, struct cache *ret)
{
	struct cache c, last = {0};
	for (unsigned i = 0; i < 16 && read_cache(root, cpu, i, &c); i++) {
		if (c.bytes && c.level >= last.level) {
			last = c;
		}
	}
	*ret = last;
	return last.bytes > 0;
}

/* Every distinct last-level cache counts once. */
static void read_caches(const char *root, struct stress_host *h)
{
	enum { INSTANCES = 256 };
	char(*seen)[sizeof(((struct cache *)0)->shared)] = calloc(INSTANCES, sizeof(*seen));
	size_t n = 0;
	for (uint32_t i = 0; seen && i < h->cpus && n < INSTANCES; i++) {
		struct cache c;
		if (!read_last_cache(root, h->cpu[i], &c)) {
			continue;
		}
		size_t k = 0;
		while (k < n && strcmp(seen[k], c.shared)) {
			k++;
		}
		if (k == n) {
			text_copy(seen[n++], sizeof(*seen), c.shared);
			h->llc_bytes += c.bytes;
		}
	}
	free(seen);
}

/* -- memory and control groups ----------------------------------------------------- */

static uint64_t field_kib(const char *text, const char *name)
{
	const char *at = strstr(text, name);
	return at ? strtoull(at + strlen(name), NULL, 10) * 1024 : 0;
}

static bool read_number(const char *root, const char *dir, const char *name, uint64_t *ret)
{
	char path[PATH_LONGEST], buf[64];
	if ((size_t)snprintf(path, sizeof(path), "%s/%s", dir, name) >= sizeof(path) ||
		read_small(root, path, buf, sizeof(buf)) <= 0) {
		return false;
	}
	return text_parse_u64(text_trim(buf), 10, ret) == 0; /* "max" is no number */
}

static void limit_memory(const char *root, const char *dir, const char *max_name,
	const char *used_name, struct stress_host *h)
{
	uint64_t max, used;
	if (!read_number(root, dir, max_name, &max) || !read_number(root, dir, used_name, &used)) {
		return;
	}
	/* Page cache counts as used and can be given back. */
	char path[PATH_LONGEST], stat[8192];
	if ((size_t)snprintf(path, sizeof(path), "%s/memory.stat", dir) < sizeof(path) &&
		read_small(root, path, stat, sizeof(stat)) > 0) {
		const char *at = strstr(stat, "inactive_file ");
		uint64_t cache = at ? strtoull(at + 14, NULL, 10) : 0;
		used -= MIN(cache, used);
	}
	uint64_t left = max > used ? max - used : 1;
	if (!h->available_bytes || left < h->available_bytes) {
		h->available_bytes = left;
	}
}

static void limit_cpu(const char *root, const char *dir, struct stress_host *h)
{
	char path[PATH_LONGEST], buf[64];
	uint64_t quota, period;
	if ((size_t)snprintf(path, sizeof(path), "%s/cpu.max", dir) >= sizeof(path) ||
		read_small(root, path, buf, sizeof(buf)) <= 0) {
		return;
	}
	char *space = strchr(buf, ' ');
	if (!space) {
		return;
	}
	*space = '\0';
	if (text_parse_u64(buf, 10, &quota) < 0 ||
		text_parse_u64(text_trim(space + 1), 10, &period) < 0 || !period) {
		return;
	}
	double cores = (double)quota / (double)period;
	if (h->quota == 0 || cores < h->quota) {
		h->quota = cores;
	}
}

/* One line of /proc/self/cgroup: "0::/path" (v2) or "4:memory:/path" (v1); up to the root. */
static void walk_group(const char *root, char *line, struct stress_host *h)
{
	char *kind = strchr(line, ':');
	char *path = kind ? strchr(kind + 1, ':') : NULL;
	if (!path) {
		return;
	}
	*path++ = '\0';
	kind++;
	bool v2 = !*kind;
	if (!v2 && strcmp(kind, "memory")) {
		return;
	}
	char dir[PATH_LONGEST];
	const char *mount = v2 ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory";
	for (;;) {
		if ((size_t)snprintf(dir, sizeof(dir), "%s%s", mount,
			    strcmp(path, "/") ? path : "") >= sizeof(dir)) {
			return;
		}
		if (v2) {
			limit_memory(root, dir, "memory.max", "memory.current", h);
			limit_cpu(root, dir, h);
		} else {
			limit_memory(
				root, dir, "memory.limit_in_bytes", "memory.usage_in_bytes", h);
		}
		char *slash = strrchr(path, '/');
		if (!slash || !*path) {
			return;
		}
		*slash = '\0';
	}
}

static void read_memory(const char *root, struct stress_host *h)
{
	char buf[8192];
	if (read_small(root, "/proc/meminfo", buf, sizeof(buf)) > 0) {
		h->available_bytes = field_kib(buf, "MemAvailable:");
	}
	if (read_small(root, "/proc/self/cgroup", buf, sizeof(buf)) <= 0) {
		return;
	}
	char *save = NULL;
	for (char *line = strtok_r(buf, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		walk_group(root, line, h);
	}
}

void stress_host_read(const char *root, struct stress_host *ret)
{
	*ret = (struct stress_host){0};
	read_affinity(ret);
	read_model(root, ret);
	read_caches(root, ret);
	read_memory(root, ret);
}

/* These hold the device files and compute nothing. */
static bool is_daemon(const char *name)
{
	/* The kernel cuts names at 15 bytes. */
	static const char *const names[] = {"nvidia-persiste", "nv-fabricmanage", "nv-hostengine"};
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		if (!strcmp(name, names[i])) {
			return true;
		}
	}
	return false;
}

/* 1: one of FOLDER's links leads to PREFIX and a digit; 0: none; negative errno: not to be seen. */
static int opens(const char *folder, const char *prefix)
{
	_cleanup_dir_ DIR *d = opendir(folder);
	if (!d) {
		return -errno;
	}
	size_t len = strlen(prefix);
	for (const struct dirent *e; (e = readdir(d));) {
		char target[256];
		ssize_t n = readlinkat(dirfd(d), e->d_name, target, sizeof(target) - 1);
		if (n > (ssize_t)len && !strncmp(target, prefix, len) && target[len] >= '0' &&
			target[len] <= '9') {
			return 1;
		}
	}
	return 0;
}

void stress_host_openers(const char *root, const char *prefix, struct stress_host_openers *ret)
{
	char path[512], name[32];
	*ret = (struct stress_host_openers){0};
	snprintf(path, sizeof(path), "%s/proc", root);
	_cleanup_dir_ DIR *d = opendir(path);
	if (!d) {
		ret->invisible = 1;
		return;
	}
	for (const struct dirent *e; (e = readdir(d));) {
		long pid = strtol(e->d_name, NULL, 10);
		if (pid <= 0 || pid == getpid()) {
			continue;
		}
		snprintf(path, sizeof(path), "%s/proc/%ld/fd", root, pid);
		int r = opens(path, prefix);
		ret->invisible += r == -EACCES || r == -EPERM;
		snprintf(path, sizeof(path), "/proc/%ld/comm", pid);
		if (r <= 0 || read_small(root, path, name, sizeof(name)) <= 0) {
			continue;
		}
		name[strcspn(name, "\n")] = '\0';
		if (!is_daemon(name) && ret->n++ == 0) {
			ret->pid = (pid_t)pid;
			text_copy(ret->name, sizeof(ret->name), name);
		}
	}
}

void stress_host_prefer_for_oom(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	if (fd >= 0) {
		if (write(fd, "500", 3) < 0) {
			/* Not allowed here: then the kernel chooses. */
		}
		close(fd);
	}
}

/* -- links ------------------------------------------------------------------------- */

static int read_pci(const char *root, const char *address, const char *name, char *buf, size_t size)
{
	char path[160];
	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%.24s/%s", address, name);
	return read_small(root, path, buf, size);
}

/* "16.0 GT/s PCIe" is generation 4. */
static uint32_t link_generation(const char *speed)
{
	static const double rate[] = {0, 2.5, 5, 8, 16, 32, 64};
	double v = strtod(speed, NULL);
	for (uint32_t gen = 1; gen < ARRAY_LEN(rate); gen++) {
		if (v > rate[gen] - 0.1 && v < rate[gen] + 0.1) {
			return gen;
		}
	}
	return 0;
}

void stress_host_pci_read(const char *root, const char *address, struct stress_host_pci *ret)
{
	static const char *const files[] = {
		"aer_dev_correctable", "aer_dev_nonfatal", "aer_dev_fatal"};
	static const char *const totals[] = {
		"TOTAL_ERR_COR ", "TOTAL_ERR_NONFATAL ", "TOTAL_ERR_FATAL "};
	char buf[2048];
	*ret = (struct stress_host_pci){.link_gen = 0};
	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		const char *at = read_pci(root, address, files[i], buf, sizeof(buf)) > 0
					 ? strstr(buf, totals[i])
					 : NULL;
		if (at) {
			ret->aer[i] = strtoull(at + strlen(totals[i]), NULL, 10);
			ret->has_aer = true;
		}
	}
	if (read_pci(root, address, "current_link_speed", buf, sizeof(buf)) > 0) {
		ret->link_gen = link_generation(buf);
	}
	if (read_pci(root, address, "current_link_width", buf, sizeof(buf)) > 0) {
		ret->link_width = (uint32_t)strtoul(buf, NULL, 10);
	}
}
