/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stress/nvml_api.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/macros.h"
#include "stress/library.h"

#define SLOT(member) offsetof(struct nvml_api, member)
#define NEED(member, ...)                                                                          \
	{                                                                                          \
		{__VA_ARGS__}, 0, false, SLOT(member)                                              \
	}
#define WANT(member, ...)                                                                          \
	{                                                                                          \
		{__VA_ARGS__}, 0, true, SLOT(member)                                               \
	}
#define SAME(member) WANT(member, "nvml" #member)

static const struct stress_symbol symbols[] = {
	NEED(Init, "nvmlInit_v2"),
	NEED(Shutdown, "nvmlShutdown"),
	NEED(DeviceGetHandleByPciBusId, "nvmlDeviceGetHandleByPciBusId_v2"),
	SAME(DeviceGetName),
	SAME(DeviceGetClockInfo),
	SAME(DeviceGetMaxClockInfo),
	SAME(DeviceGetApplicationsClock),
	WANT(DeviceGetCurrentClocksEventReasons, "nvmlDeviceGetCurrentClocksEventReasons",
		"nvmlDeviceGetCurrentClocksThrottleReasons"),
	SAME(DeviceGetFieldValues),
	SAME(DeviceGetTemperature),
	SAME(DeviceGetTemperatureThreshold),
	SAME(DeviceGetMarginTemperature),
	SAME(DeviceGetPowerUsage),
	SAME(DeviceGetEnforcedPowerLimit),
	SAME(DeviceGetPowerManagementDefaultLimit),
	SAME(DeviceGetPerformanceState),
	SAME(DeviceGetPersistenceMode),
	SAME(DeviceGetPcieReplayCounter),
	SAME(DeviceGetCurrPcieLinkGeneration),
	SAME(DeviceGetCurrPcieLinkWidth),
	SAME(DeviceGetTotalEccErrors),
	SAME(DeviceGetMemoryInfo),
	SAME(DeviceGetBAR1MemoryInfo),
	WANT(DeviceGetComputeRunningProcesses, "nvmlDeviceGetComputeRunningProcesses_v3",
		"nvmlDeviceGetComputeRunningProcesses_v2"),
	WANT(DeviceGetGraphicsRunningProcesses, "nvmlDeviceGetGraphicsRunningProcesses_v3",
		"nvmlDeviceGetGraphicsRunningProcesses_v2"),
	SAME(EventSetCreate),
	SAME(DeviceRegisterEvents),
	WANT(EventSetWait, "nvmlEventSetWait_v2", "nvmlEventSetWait"),
	SAME(EventSetFree),
	SAME(DeviceSetGpuLockedClocks),
	SAME(DeviceResetGpuLockedClocks),
	SAME(ErrorString),
};

static int resolve(struct nvml_api *api, const char *library, struct why *why)
{
	const char *missing = stress_library_load(
		symbols, ARRAY_LEN(symbols), stress_library_find, api->handle, api);

	if (missing) {
		why_set(why, "%s has no %s: the driver is too old", library, missing);
		return -ENOSYS;
	}
	return 0;
}

int nvml_api_init(struct nvml_api *ret, const char *library, struct why *why)
{
	struct nvml_api api = {0};
	const char *name = library ? library : "libnvidia-ml.so.1", *reason = NULL;
	char buf[NVML_ERROR_MAX];

	api.handle = stress_library_open(&name, 1, &reason);
	if (!api.handle) {
		why_set(why, "%s; clocks and temperatures of the GPU cannot be read", reason);
		return -ENOENT;
	}
	int r = resolve(&api, name, why);

	if (r == 0) {
		const nvmlReturn e = api.Init();

		r = nvml_errno(e);
		if (e == NVML_ERROR_LIB_RM_VERSION_MISMATCH) {
			why_set(why,
				"%s and the loaded kernel module are of different versions: reboot, or "
				"reload the module",
				name);
		} else if (r < 0) {
			why_set(why, "nvmlInit: %s", nvml_error(&api, e, buf));
		}
	}
	if (r < 0) {
		stress_library_close(api.handle);
		return r;
	}
	*ret = api;
	return 0;
}

void nvml_api_finish(struct nvml_api *api)
{
	if (api->handle) {
		api->Shutdown();
		stress_library_close(api->handle);
		api->handle = NULL;
	}
}

const char *nvml_error(const struct nvml_api *api, nvmlReturn e, char buf[static NVML_ERROR_MAX])
{
	const char *text = api->ErrorString ? api->ErrorString(e) : NULL;

	snprintf(buf, NVML_ERROR_MAX, "NVML error %d%s%s", e, text ? ": " : "", text ? text : "");
	return buf;
}

int nvml_errno(nvmlReturn e)
{
	switch (e) {
	case NVML_SUCCESS:
		return 0;
	case NVML_ERROR_NOT_SUPPORTED:
	case NVML_ERROR_FUNCTION_NOT_FOUND:
	case NVML_ERROR_ARGUMENT_VERSION_MISMATCH:
	case NVML_ERROR_DEPRECATED:
	case NVML_ERROR_INVALID_ARGUMENT: /* an id that this driver does not know */
		return -EOPNOTSUPP;
	case NVML_ERROR_NO_PERMISSION:
		return -EACCES;
	case NVML_ERROR_NOT_FOUND:
	case NVML_ERROR_DRIVER_NOT_LOADED:
	case NVML_ERROR_GPU_IS_LOST:
		return -ENODEV;
	case NVML_ERROR_TIMEOUT:
		return -ETIMEDOUT;
	default:
		return -EIO;
	}
}
