/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * NVML without its header: the few types, constants and prototypes that barscope needs, written
 * from NVIDIA's documentation, and a table of pointers filled from libnvidia-ml.so.1 at run time.
 * A name ends in the version of its prototype (nvmlInit_v2), so a symbol found under that name
 * has that prototype. All but three are optional: a driver that lacks one loses one reading.
 *
 * Any call may block on the driver's locks for milliseconds, and for ever when the GPU is lost.
 */
#pragma once

#include <stdint.h>

#include "base/why.h"

typedef int nvmlReturn;
typedef struct nvml_device *nvmlDevice;
typedef struct nvml_event_set *nvmlEventSet;

enum {
	NVML_SUCCESS = 0,
	NVML_ERROR_UNINITIALIZED = 1,
	NVML_ERROR_INVALID_ARGUMENT = 2,
	NVML_ERROR_NOT_SUPPORTED = 3,
	NVML_ERROR_NO_PERMISSION = 4,
	NVML_ERROR_NOT_FOUND = 6,
	NVML_ERROR_INSUFFICIENT_SIZE = 7,
	NVML_ERROR_DRIVER_NOT_LOADED = 9,
	NVML_ERROR_TIMEOUT = 10,
	NVML_ERROR_FUNCTION_NOT_FOUND = 13,
	NVML_ERROR_GPU_IS_LOST = 15,
	NVML_ERROR_RESET_REQUIRED = 16,
	NVML_ERROR_LIB_RM_VERSION_MISMATCH = 18,
	NVML_ERROR_ARGUMENT_VERSION_MISMATCH = 25,
	NVML_ERROR_DEPRECATED = 26,
	NVML_ERROR_UNKNOWN = 999,
};

enum { NVML_CLOCK_SM = 1, NVML_CLOCK_MEM = 2 };                        /* nvmlClockType_t */
enum { NVML_THRESHOLD_SLOWDOWN = 1 };                                  /* of temperature */
enum { NVML_ECC_CORRECTED = 0, NVML_ECC_UNCORRECTED = 1 };             /* nvmlMemoryErrorType_t */
enum { NVML_ECC_VOLATILE = 0 };                                        /* since the driver loaded */
enum { NVML_EVENT_XID = 8 };                                           /* nvmlEventTypeXid… */
enum { NVML_MARGIN_VERSION = 1 << 24 | 8, NVML_PROCESSES_MAX = 1024 }; /* version << 24 | size */

/*
 * Field ids (nvmlDeviceGetFieldValues). Time lost to a policy in ns: the ids of R410, which still
 * hold. The separate counters for hardware slowdowns are not used: their ids stood for something
 * else in one release (251 to 253, also 269 to 271), and a driver does not say which it means.
 */
enum {
	NVML_FI_POLICY_POWER = 74,
	NVML_FI_POLICY_THERMAL = 75,
	NVML_FI_POLICY_SYNC_BOOST = 76,
	NVML_FI_POLICY_BOARD_LIMIT = 77,
	NVML_FI_POLICY_RELIABILITY = 79,
	NVML_FI_MEMORY_TEMPERATURE = 82,
	NVML_FI_SLOWDOWN_MARGIN = 194, /* the margin at which the hardware slows down, °C */
};

/* nvmlFieldValue_t */
struct nvml_field {
	unsigned id, scope;
	long long timestamp_us, latency_us;
	int type; /* nvmlValueType_t, below */
	nvmlReturn result;
	union {
		double d;
		unsigned u;
		unsigned long ul;
		unsigned long long ull;
		long long sll;
		int i;
		unsigned short us;
	} value;
};
enum {
	NVML_TYPE_DOUBLE,
	NVML_TYPE_UNSIGNED,
	NVML_TYPE_UNSIGNED_LONG,
	NVML_TYPE_UNSIGNED_LONG_LONG,
	NVML_TYPE_SIGNED_LONG_LONG,
	NVML_TYPE_SIGNED,
	NVML_TYPE_UNSIGNED_SHORT,
};

/* nvmlMemory_t and nvmlBAR1Memory_t; their order of free and used does not matter here. */
struct nvml_memory {
	unsigned long long total, rest[2];
};

/* nvmlMarginTemperature_v1_t: °C left until the GPU is at its limit */
struct nvml_margin {
	unsigned version;
	int celsius;
};

/* nvmlProcessInfo_v2_t, also of …_v3 */
struct nvml_process {
	unsigned pid;
	unsigned long long bytes;
	unsigned gpu_instance, compute_instance;
};

/* nvmlEventData_t; the first version ends before the instances. */
struct nvml_event {
	nvmlDevice device;
	unsigned long long type, data;
	unsigned gpu_instance, compute_instance;
};

struct nvml_api {
	nvmlReturn (*Init)(void);
	nvmlReturn (*Shutdown)(void);
	nvmlReturn (*DeviceGetHandleByPciBusId)(const char *address, nvmlDevice *ret);

	/* NULL on drivers that lack them. */
	nvmlReturn (*DeviceGetName)(nvmlDevice d, char *ret, unsigned len);
	nvmlReturn (*DeviceGetClockInfo)(nvmlDevice d, int clock, unsigned *ret_mhz);
	nvmlReturn (*DeviceGetMaxClockInfo)(nvmlDevice d, int clock, unsigned *ret_mhz);
	nvmlReturn (*DeviceGetApplicationsClock)(nvmlDevice d, int clock, unsigned *ret_mhz);
	nvmlReturn (*DeviceGetCurrentClocksEventReasons)(nvmlDevice d, unsigned long long *ret);
	nvmlReturn (*DeviceGetFieldValues)(nvmlDevice d, int n, struct nvml_field *fields);
	nvmlReturn (*DeviceGetTemperature)(nvmlDevice d, int sensor, unsigned *ret_celsius);
	nvmlReturn (*DeviceGetTemperatureThreshold)(
		nvmlDevice d, int threshold, unsigned *ret_celsius);
	nvmlReturn (*DeviceGetMarginTemperature)(nvmlDevice d, struct nvml_margin *ret);
	nvmlReturn (*DeviceGetPowerUsage)(nvmlDevice d, unsigned *ret_mw);
	nvmlReturn (*DeviceGetEnforcedPowerLimit)(nvmlDevice d, unsigned *ret_mw);
	nvmlReturn (*DeviceGetPowerManagementDefaultLimit)(nvmlDevice d, unsigned *ret_mw);
	nvmlReturn (*DeviceGetPerformanceState)(nvmlDevice d, unsigned *ret);
	nvmlReturn (*DeviceGetPersistenceMode)(nvmlDevice d, unsigned *ret);
	nvmlReturn (*DeviceGetPcieReplayCounter)(nvmlDevice d, unsigned *ret);
	nvmlReturn (*DeviceGetCurrPcieLinkGeneration)(nvmlDevice d, unsigned *ret);
	nvmlReturn (*DeviceGetCurrPcieLinkWidth)(nvmlDevice d, unsigned *ret);
	nvmlReturn (*DeviceGetTotalEccErrors)(
		nvmlDevice d, int type, int counter, unsigned long long *ret);
	nvmlReturn (*DeviceGetMemoryInfo)(nvmlDevice d, struct nvml_memory *ret);
	nvmlReturn (*DeviceGetBAR1MemoryInfo)(nvmlDevice d, struct nvml_memory *ret);
	nvmlReturn (*DeviceGetComputeRunningProcesses)(
		nvmlDevice d, unsigned *n, struct nvml_process *ret);
	nvmlReturn (*DeviceGetGraphicsRunningProcesses)(
		nvmlDevice d, unsigned *n, struct nvml_process *ret);
	nvmlReturn (*EventSetCreate)(nvmlEventSet *ret);
	nvmlReturn (*DeviceRegisterEvents)(
		nvmlDevice d, unsigned long long types, nvmlEventSet set);
	nvmlReturn (*EventSetWait)(nvmlEventSet set, struct nvml_event *ret, unsigned timeout_ms);
	nvmlReturn (*EventSetFree)(nvmlEventSet set);
	nvmlReturn (*DeviceSetGpuLockedClocks)(nvmlDevice d, unsigned min_mhz, unsigned max_mhz);
	nvmlReturn (*DeviceResetGpuLockedClocks)(nvmlDevice d);
	const char *(*ErrorString)(nvmlReturn e);

	void *handle;
};

/*
 * Loads LIBRARY (NULL: "libnvidia-ml.so.1"), finds the symbols and initialises NVML, which
 * attaches to no GPU yet. Errors with a sentence: -ENOENT no library, -ENOSYS too old, -ENODEV
 * the driver is not loaded, -EACCES, -EIO.
 */
int nvml_api_init(struct nvml_api *ret, const char *library, struct why *why);
void nvml_api_finish(struct nvml_api *api);

/* "NVML error 15: GPU is lost"; BUF is returned. */
enum { NVML_ERROR_MAX = 96 };
const char *nvml_error(const struct nvml_api *api, nvmlReturn e, char buf[static NVML_ERROR_MAX]);
/* The negative errno that fits: -EOPNOTSUPP, -EACCES, -ENODEV, -ETIMEDOUT, -EIO; 0 of success. */
int nvml_errno(nvmlReturn e);
