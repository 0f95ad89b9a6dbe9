/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which NVIDIA libraries a program would load, whether they answer, and whether they fit the
 * module. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "doctor/line.h"
#include "stress/cublaslt.h"
#include "stress/cuda_api.h"

/* The lowest CUDA version whose drivers take the PTX that barscope carries (ISA 7.4: CUDA 11.4). */
enum { CUDA_NEEDED = 11040 };

/* "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.95.05  …": the version. */
static bool module_version(const struct doctor_options *o, char *ret, size_t size)
{
	char buf[512];
	if (doctor_read(o, "proc/driver/nvidia/version", buf, sizeof(buf)) <= 0) {
		return false;
	}
	for (char *word = strtok(buf, " \t\n"); word; word = strtok(NULL, " \t\n")) {
		if (strspn(word, "0123456789.") == strlen(word) && strchr(word, '.')) {
			text_copy(ret, size, word);
			return true;
		}
	}
	return false;
}

/* libcuda.so.1 is a link to libcuda.so.580.95.05: the part behind ".so.". */
static const char *library_version(const char *path)
{
	const char *so = strstr(path, ".so.");
	return so && strchr(so + 4, '.') ? so + 4 : NULL;
}

static void judge_match(const struct doctor_options *o, struct doctor_report *r, const char *path)
{
	char module[32];
	const char *library = library_version(path);
	if (!library || !module_version(o, module, sizeof(module))) {
		return;
	}
	bool same = strcmp(library, module) == 0;
	struct doctor_line *l =
		doctor_add(r, DOCTOR_DRIVER, same ? DOCTOR_OK : DOCTOR_FAULT, "driver.nvidia.match",
			same ? "Kernel module and library are of one version"
			     : "The library and the kernel module are of different versions");
	doctor_evidence(l, "library %s, module %s", library, module);
	if (!same) {
		doctor_fix(l, "# a reboot loads the new module; without one:");
		doctor_fix(l,
			"sudo rmmod nvidia_uvm nvidia_drm nvidia_modeset nvidia && sudo modprobe nvidia");
	}
}

static void judge_cublaslt(const struct doctor_options *o, struct doctor_report *r)
{
	struct cublaslt *lt;
	struct why why = {{0}};
	if (cublaslt_open(o->libcublaslt, &lt, &why) < 0) {
		struct doctor_line *l =
			doctor_add(r, DOCTOR_DRIVER, DOCTOR_NOTE, "driver.nvidia.cublaslt",
				"cuBLASLt is not here: there is no yardstick for the kernels");
		doctor_evidence(l, "%s", why.text);
		return;
	}
	struct doctor_line *l = doctor_add(
		r, DOCTOR_DRIVER, DOCTOR_OK, "driver.nvidia.cublaslt", "cuBLASLt answers");
	doctor_evidence(l, "%s, version %zu", cublaslt_path(lt), cublaslt_version(lt));
	cublaslt_close(lt);
}

void doctor_cuda(const struct doctor_options *o, struct doctor_report *r)
{
	struct cuda_api api;
	struct why why = {{0}};
	int error = cuda_api_init(&api, o->libcuda, &why);
	if (error < 0) {
		struct doctor_line *l =
			doctor_add(r, DOCTOR_DRIVER, DOCTOR_FAULT, "driver.nvidia.libcuda",
				error == -ENOENT ? "libcuda.so.1 cannot be loaded"
						 : "libcuda.so.1 does not work");
		doctor_evidence(l, "%s", why.text);
		if (error == -ENOENT) {
			doctor_fix(l, "ldconfig -p | grep libcuda; echo \"$LD_LIBRARY_PATH\"");
			doctor_fix(l, "sudo apt install libcuda1   # of the module's version");
		} else {
			doctor_fix(l, "ldconfig -p | grep libcuda; echo \"$LD_LIBRARY_PATH\"");
			doctor_fix(l,
				"cat /proc/driver/nvidia/version; sudo dmesg | grep -i nvrm | tail");
		}
		return;
	}
	bool old = api.version < CUDA_NEEDED;
	struct doctor_line *l = doctor_add(r, DOCTOR_DRIVER, old ? DOCTOR_FAULT : DOCTOR_OK,
		"driver.nvidia.libcuda",
		old ? "The driver is older than CUDA 11.4: it refuses the kernels"
		    : "libcuda answers");
	doctor_evidence(l, "%s, CUDA %d.%d", api.path, api.version / 1000, api.version % 1000 / 10);
	if (old) {
		doctor_fix(l, "sudo apt install nvidia-driver   # 470 or newer");
	}
	judge_match(o, r, api.path);
	cuda_api_finish(&api);
	judge_cublaslt(o, r);
}
