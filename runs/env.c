/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "runs/env.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/text.h"
#include "pcie/mask.h"

enum { FILE_MAX = 1 << 16 };

/* Files that hold one value, or a list whose chosen entry stands in brackets. */
static const struct {
	const char *name, *path;
	enum runs_env_weight weight;
} files[] = {
	{"kernel", "proc/sys/kernel/osrelease", RUNS_ENV_MATTERS},
	{"kernel_build", "proc/sys/kernel/version", RUNS_ENV_MATTERS},
	{"cmdline", "proc/cmdline", RUNS_ENV_MATTERS},
	{"governor", "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", RUNS_ENV_MATTERS},
	{"cpu_driver", "sys/devices/system/cpu/cpu0/cpufreq/scaling_driver", RUNS_ENV_MATTERS},
	{"cpu_max_khz", "sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq", RUNS_ENV_MATTERS},
	{"cpu_preference", "sys/devices/system/cpu/cpu0/cpufreq/energy_performance_preference",
		RUNS_ENV_MATTERS},
	{"no_turbo", "sys/devices/system/cpu/intel_pstate/no_turbo", RUNS_ENV_MATTERS},
	{"boost", "sys/devices/system/cpu/cpufreq/boost", RUNS_ENV_MATTERS},
	{"idle_driver", "sys/devices/system/cpu/cpuidle/current_driver", RUNS_ENV_MATTERS},
	{"cpus_online", "sys/devices/system/cpu/online", RUNS_ENV_MATTERS},
	{"smt", "sys/devices/system/cpu/smt/active", RUNS_ENV_MATTERS},
	{"huge_pages", "sys/kernel/mm/transparent_hugepage/enabled", RUNS_ENV_MATTERS},
	{"numa_balancing", "proc/sys/kernel/numa_balancing", RUNS_ENV_MATTERS},
	{"clocksource", "sys/devices/system/clocksource/clocksource0/current_clocksource",
		RUNS_ENV_MATTERS},
	{"platform_profile", "sys/firmware/acpi/platform_profile", RUNS_ENV_MATTERS},
	{"aspm", "sys/module/pcie_aspm/parameters/policy", RUNS_ENV_MATTERS},
	{"nvidia", "sys/module/nvidia/version", RUNS_ENV_MATTERS},
	{"load", "proc/loadavg", RUNS_ENV_NOTED},
};

/* Lines "name : value" or "name value" inside a bigger file. */
static const struct {
	const char *name, *path, *key;
	enum runs_env_weight weight;
} lines[] = {
	{"cpu", "proc/cpuinfo", "model name", RUNS_ENV_MATTERS},
	{"microcode", "proc/cpuinfo", "microcode", RUNS_ENV_MATTERS},
	{"memory", "proc/meminfo", "MemTotal", RUNS_ENV_NOTED},
	{"boot_time", "proc/stat", "btime", RUNS_ENV_NOTED},
};

/* Reads PATH below ROOT, as much as fits BUF; negative errno. */
static int read_below(const char *root, const char *path, char *buf, size_t size)
{
	struct text t = {0};
	text_addf(&t, "%s/%s", root ? root : "", path);
	_cleanup_free_ char *name = text_steal(&t);
	return file_read_at(AT_FDCWD, name, buf, size);
}

const char *runs_env_boot_id(const char *root, char buf[static RUNS_BOOT_ID_MAX])
{
	if (read_below(root, "proc/sys/kernel/random/boot_id", buf, RUNS_BOOT_ID_MAX) < 0) {
		*buf = '\0';
	}
	buf[strcspn(buf, "\r\n")] = '\0';
	return buf;
}

/* "always [madvise] never" → "madvise"; in place. */
static char *chosen(char *s)
{
	char *open = strchr(s, '['), *close = open ? strchr(open, ']') : NULL;
	if (!close) {
		return s;
	}
	*close = '\0';
	return open + 1;
}

static void read_line(
	struct js *env, const char *root, const char *name, const char *path, const char *key)
{
	_cleanup_free_ char *buf = xmalloc(FILE_MAX);
	if (read_below(root, path, buf, FILE_MAX) < 0) {
		return;
	}
	size_t n = strlen(key);
	for (char *line = buf, *next; line; line = next) {
		next = strchr(line, '\n');
		if (next) {
			*next++ = '\0';
		}
		if (strncmp(line, key, n) != 0 || !strchr(" \t:", line[n]) || !line[n]) {
			continue;
		}
		char *value = text_trim(line + n);
		js_set_str(env, name, text_trim(value + (*value == ':')));
		return;
	}
}

static void mask_member(struct js *env, const char *name, const char *host,
	char *(*mask)(const char *, size_t, const char *))
{
	const char *value = js_get_str(env, name);
	if (value) {
		_cleanup_free_ char *masked = mask(value, strlen(value), host);
		js_set_str(env, name, masked);
	}
}

static char *mask_text(const char *text, size_t len, const char *host)
{
	return pcie_mask_text(text, len, host, NULL);
}

static void mask_all(struct js *env, const char *host)
{
	mask_member(env, "cmdline", host, pcie_mask_cmdline);
	mask_member(env, "kernel_build", host, mask_text);
}

void runs_env_mask(struct js *env)
{
	mask_all(env, NULL);
}

const char *runs_env_host(const char *root, char buf[static RUNS_HOST_MAX])
{
	if (read_below(root, "proc/sys/kernel/hostname", buf, RUNS_HOST_MAX) < 0) {
		*buf = '\0';
	}
	buf[strcspn(buf, "\r\n")] = '\0';
	return buf;
}

struct js *runs_env_read(const char *root)
{
	struct js *env = js_object();
	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		char buf[4096];
		if (read_below(root, files[i].path, buf, sizeof(buf)) < 0) {
			continue;
		}
		buf[strcspn(buf, "\n")] = '\0';
		char *value = text_trim(chosen(buf));
		if (*value) {
			js_set_str(env, files[i].name, value);
		}
	}
	for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
		read_line(env, root, lines[i].name, lines[i].path, lines[i].key);
	}
	char host[RUNS_HOST_MAX];
	mask_all(env, runs_env_host(root, host));
	return env;
}

const char *runs_env_name(size_t i)
{
	return i < ARRAY_LEN(files)                      ? files[i].name
	       : i < ARRAY_LEN(files) + ARRAY_LEN(lines) ? lines[i - ARRAY_LEN(files)].name
							 : NULL;
}

static enum runs_env_weight weight_of(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		if (!strcmp(files[i].name, name)) {
			return files[i].weight;
		}
	}
	for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
		if (!strcmp(lines[i].name, name)) {
			return lines[i].weight;
		}
	}
	/* Set by a later version, or by the back end: it was worth keeping. */
	return RUNS_ENV_MATTERS;
}

size_t runs_env_compare(const struct js *a, const struct js *b, struct runs_env_diff **ret)
{
	struct runs_env_diff *d = NULL;
	size_t n = 0, cap = 0;
	const struct js *value;
	const char *name;
	for (size_t i = 0; (name = js_member(a, i, &value)); i++) {
		const char *va = js_str(value), *vb = js_get_str(b, name);
		if (!va || !vb || !strcmp(va, vb)) {
			continue;
		}
		d = xgrow(d, n, &cap, sizeof(*d));
		d[n] = (struct runs_env_diff){.weight = weight_of(name)};
		text_copy(d[n].name, sizeof(d[n].name), name);
		text_copy(d[n].a, sizeof(d[n].a), va);
		text_copy(d[n].b, sizeof(d[n].b), vb);
		n++;
	}
	*ret = d;
	return n;
}
