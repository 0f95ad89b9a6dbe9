/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which NVIDIA libraries a program would load, whether they answer, whether they fit the module,
 * and whether what they compile can be kept. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "doctor/line.h"
#include "stress/cuda_dev.h"

enum {
	/* Eight cards that nothing keeps awake take their time; a lost one never answers. */
	CHILD_MS = 45000,
	/* The driver's library is tens of MB; the toolkit's stub for the linker is far smaller. */
	STUB_BYTES = 1 << 20,
};

/* "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.95.05  …": the version. */
static bool module_version(const struct doctor_options *o, char *ret, size_t size)
{
	char buf[512], *save;
	if (doctor_read(o, "proc/driver/nvidia/version", buf, sizeof(buf)) <= 0) {
		return false;
	}
	for (char *word = strtok_r(buf, " \t\n", &save); word;
		word = strtok_r(NULL, " \t\n", &save)) {
		if (strspn(word, "0123456789.") == strlen(word) && strchr(word, '.')) {
			text_copy(ret, size, word);
			return true;
		}
	}
	return false;
}

/* "…/libcuda.so.580.95.05": what is behind ".so."; NULL for "libcuda.so.1". */
static const char *library_version(const char *path)
{
	const char *so = strstr(path, ".so.");
	return so && strchr(so + 4, '.') ? so + 4 : NULL;
}

/* "580.95.05" against "580.126.9", number by number. */
static int compare_versions(const char *a, const char *b)
{
	for (;;) {
		char *a_end, *b_end;
		unsigned long x = strtoul(a, &a_end, 10), y = strtoul(b, &b_end, 10);
		if (x != y) {
			return x < y ? -1 : 1;
		}
		if (*a_end != '.' || *b_end != '.') {
			return (*a_end == '.') - (*b_end == '.');
		}
		a = a_end + 1;
		b = b_end + 1;
	}
}

/* True: a line tells that the two differ. It is a fault only where the library does not work. */
static bool judge_match(
	const struct doctor_options *o, struct doctor_report *r, const struct doctor_gpu *g)
{
	char module[32];
	const char *library = library_version(g->libcuda);
	if (!library || !module_version(o, module, sizeof(module))) {
		return false;
	}
	int order = compare_versions(library, module);
	bool works = g->step > DOCTOR_GPU_LOAD;
	struct doctor_line *l = doctor_add(r, DOCTOR_DRIVER,
		order == 0 ? DOCTOR_OK
		: works    ? DOCTOR_NOTE
			   : DOCTOR_FAULT,
		"driver.nvidia.match",
		order == 0 ? "Kernel module and libcuda are of one version"
		: works    ? "libcuda is %s than the kernel module, and works all the same"
			   : "libcuda is %s than the kernel module",
		order < 0 ? "older" : "newer");
	doctor_evidence(l, "library %s, module %s%s%.120s", library, module, order ? ", " : "",
		order ? g->libcuda : "");
	if (order && !works) {
		doctor_fix(l, "sudo reboot   # loads the module that was installed; without one:");
		doctor_fix(l, "sudo rmmod nvidia_uvm nvidia_drm nvidia_modeset nvidia && "
			      "sudo modprobe nvidia");
	}
	return order != 0;
}

/* LD_LIBRARY_PATH without the folder of the file PATH; the caller frees it, NULL: not in it. */
static char *search_path_without(const char *path)
{
	const char *all = getenv("LD_LIBRARY_PATH"), *slash = strrchr(path, '/');
	struct text t = {0};
	bool found = false;
	if (!all || !slash) {
		return NULL;
	}
	for (const char *p = all; *p;) {
		const char *end = strchrnul(p, ':');
		_cleanup_free_ char *dir = strndup(p, (size_t)(end - p));
		_cleanup_free_ char *real = dir ? realpath(dir, NULL) : NULL;
		if (real && strlen(real) == (size_t)(slash - path) &&
			!strncmp(real, path, (size_t)(slash - path))) {
			found = true;
		} else if (dir && *dir) {
			text_addf(&t, "%s%s", t.len ? ":" : "", dir);
		}
		p = end + (*end == ':');
	}
	if (!found) {
		text_finish(&t);
		return NULL;
	}
	return text_steal(&t);
}

static bool is_stub(const struct doctor_gpu *g)
{
	struct stat st;
	return strstr(g->libcuda, "/stubs/") || strstr(g->why, "stub") ||
	       (g->libcuda[0] && !stat(g->libcuda, &st) && st.st_size < STUB_BYTES &&
		       (g->error == -ENOSYS));
}

/* Nothing came of loading it: say which of the reasons it is. */
static void judge_unloadable(
	const struct doctor_options *o, struct doctor_report *r, const struct doctor_gpu *g)
{
	if (is_stub(g)) {
		struct doctor_line *l = doctor_add(r, DOCTOR_DRIVER, DOCTOR_FAULT,
			"driver.nvidia.libcuda",
			"The libcuda.so.1 that is found first is the toolkit's stub, not the driver");
		doctor_evidence(
			l, "%s: made to link with, every call ends with error 34", g->libcuda);
		_cleanup_free_ char *rest = search_path_without(g->libcuda);
		_cleanup_free_ char *word = rest ? doctor_shell_word(rest) : NULL;
		if (word && *rest) {
			doctor_fix(l, "export LD_LIBRARY_PATH=%s", word);
		} else if (word) {
			doctor_fix(l, "unset LD_LIBRARY_PATH");
		} else {
			doctor_fix(l,
				"grep -r stubs /etc/ld.so.conf /etc/ld.so.conf.d   # take it out, "
				"then: sudo ldconfig");
		}
		return;
	}
	if (judge_match(o, r, g)) {
		return; /* that is the reason */
	}
	bool none = g->error == -ENOENT;
	struct doctor_line *l = doctor_add(r, DOCTOR_DRIVER, DOCTOR_FAULT, "driver.nvidia.libcuda",
		none                     ? "libcuda.so.1 cannot be loaded"
		: g->error == -ETIMEDOUT ? "libcuda.so.1 does not answer"
					 : "libcuda.so.1 does not work");
	doctor_evidence(l, "%s", g->why);
	doctor_fix(l, "ldconfig -p | grep libcuda; echo \"$LD_LIBRARY_PATH\"");
	if (none) {
		doctor_fix(l, "sudo apt install libcuda1   # of the module's version");
	} else {
		doctor_fix(l, "cat /proc/driver/nvidia/version; sudo dmesg | grep -i nvrm | tail");
	}
}

static void judge_libcuda(struct doctor_report *r, const struct doctor_gpu *g)
{
	int least, all;
	cuda_dev_needs(g->cc, &least, &all);
	bool old = g->version < least, partly = g->version < all;
	struct doctor_line *l = doctor_add(r, DOCTOR_DRIVER,
		old      ? DOCTOR_FAULT
		: partly ? DOCTOR_NOTE
			 : DOCTOR_OK,
		"driver.nvidia.libcuda",
		old      ? "The driver is older than CUDA %d.%d: it refuses barscope's kernels"
		: partly ? "The fastest kernels for this GPU need a driver of CUDA %d.%d"
			 : "libcuda answers, and takes barscope's kernels (CUDA %d.%d and later)",
		(partly && !old ? all : least) / 1000, (partly && !old ? all : least) % 1000 / 10);
	doctor_evidence(l, "%s, CUDA %d.%d, %s%s", g->libcuda, g->version / 1000,
		g->version % 1000 / 10, g->device[0] ? g->device : "no device",
		g->devices > 1 ? " and others" : "");
	if (partly) {
		doctor_fix(l, "sudo apt install nvidia-driver   # then reboot");
	}
}

static void judge_jit(struct doctor_report *r, const struct doctor_gpu *g)
{
	if (g->step < DOCTOR_GPU_COMPILE) {
		struct doctor_line *l = doctor_add(r, DOCTOR_DRIVER, DOCTOR_FAULT,
			"driver.nvidia.context", "The GPU gives no context to work in");
		doctor_evidence(l, "%s", g->why);
		doctor_fix(l, "nvidia-smi -q -d COMPUTE,ECC,PAGE_RETIREMENT; sudo dmesg | grep -i "
			      "'nvrm: xid' | tail");
		return;
	}
	if (g->error && g->step == DOCTOR_GPU_COMPILE) {
		struct doctor_line *l = doctor_add(r, DOCTOR_DRIVER, DOCTOR_FAULT,
			"driver.nvidia.jit", "The driver cannot compile a kernel");
		doctor_evidence(l, "%s", g->why);
		doctor_fix(l, "ldconfig -p | grep libnvidia-ptxjitcompiler");
		doctor_fix(l,
			"sudo apt install libnvidia-ptxjitcompiler1   # of the driver's version");
		return;
	}
	char time[TEXT_TIME_MAX];
	bool kept = g->cached > 0;
	struct doctor_line *l = doctor_add(r, DOCTOR_DRIVER, kept ? DOCTOR_OK : DOCTOR_NOTE,
		"driver.nvidia.jit",
		kept           ? "The driver compiles a kernel and keeps it"
		: g->cache_off ? "Every start compiles all kernels anew: the cache is switched off"
		: *g->cache    ? "The driver compiles a kernel, but kept nothing of it"
			       : "The driver compiles a kernel; its cache could not be tried");
	const char *slash = strrchr(g->cache, '/');
	doctor_evidence(l, "%s for a tiny one%s%.*s", text_ns(g->compile_ns, time),
		kept           ? ", cached in "
		: g->cache_off ? ", CUDA_CACHE_DISABLE=1"
		: *g->cache    ? ", nothing in "
			       : ", no folder to cache in",
		g->cache_off || !slash ? 0 : (int)(slash - g->cache), g->cache);
	if (g->cache_off) {
		doctor_fix(l, "unset CUDA_CACHE_DISABLE");
	}
	if (g->error && g->step == DOCTOR_GPU_LAUNCH) {
		l = doctor_add(r, DOCTOR_DRIVER, DOCTOR_FAULT, "driver.nvidia.launch",
			"An empty kernel cannot be launched");
		doctor_evidence(l, "%s", g->why);
		doctor_fix(l, "sudo dmesg | grep -i 'nvrm: xid' | tail");
	}
}

static void judge_cublaslt(struct doctor_report *r, const struct doctor_gpu *g)
{
	bool crashed = g->error && g->step == DOCTOR_GPU_LIBRARY;
	if (!crashed && *g->cublaslt_why) {
		struct doctor_line *l =
			doctor_add(r, DOCTOR_DRIVER, DOCTOR_NOTE, "driver.nvidia.cublaslt",
				"cuBLASLt is not here: there is no yardstick for the kernels");
		doctor_evidence(l, "%s", g->cublaslt_why);
	} else if (crashed) {
		struct doctor_line *l = doctor_add(r, DOCTOR_DRIVER, DOCTOR_FAULT,
			"driver.nvidia.cublaslt", "cuBLASLt cannot be loaded");
		doctor_evidence(l, "%s", g->why);
		doctor_fix(l, "ldconfig -p | grep cublasLt; echo \"$LD_LIBRARY_PATH\"");
	} else if (*g->cublaslt) {
		struct doctor_line *l = doctor_add(
			r, DOCTOR_DRIVER, DOCTOR_OK, "driver.nvidia.cublaslt", "cuBLASLt answers");
		doctor_evidence(l, "%s, version %u.%u.%u", g->cublaslt,
			(unsigned)(g->cublaslt_version / 10000),
			(unsigned)(g->cublaslt_version / 100 % 100),
			(unsigned)(g->cublaslt_version % 100));
	}
}

void doctor_cuda_ask(const struct doctor_options *o, struct doctor_gpu *ret)
{
	const struct doctor_gpu_question q = {
		.libcuda = o->libcuda,
		.cublaslt = o->libcublaslt,
		.shape = o->shape,
		.quick = o->quick,
		.limit_ms = o->gpu_ms ? o->gpu_ms : CHILD_MS,
	};
	doctor_gpu_ask(&q, ret);
}

void doctor_cuda(
	const struct doctor_options *o, struct doctor_report *r, const struct doctor_gpu *g)
{
	if (g->step <= DOCTOR_GPU_LOAD) {
		judge_unloadable(o, r, g);
		return;
	}
	judge_libcuda(r, g);
	judge_match(o, r, g);
	judge_jit(r, g);
	judge_cublaslt(r, g);
}
