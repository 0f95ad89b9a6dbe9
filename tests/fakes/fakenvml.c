/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A libnvidia-ml.so.1 without a GPU: one device, whose readings and faults come as FAKE_NVML
 * orders, a list such as "celsius=60,unsupported=GetPowerUsage":
 *
 *   nodriver          nvmlInit says that the driver is not loaded (9)
 *   mismatch          library and kernel module differ (18)
 *   address=BDF       the device's, default 0000:41:00.0
 *   vram=MIB bar1=MIB its sizes, default 8192 each
 *   unsupported=NAME  calls whose name contains NAME are not supported (3)
 *   denied=NAME       they need root (4)
 *   broken=NAME:N     the first N of those calls (all without N) fail for no known reason (999)
 *   slow=US           every call takes that long, holding the GPU's lock (gpu_lock.h)
 *   slowest=NAME:US   those calls take that long
 *   hang=NAME         those calls never end
 *   lost=N            from the N-th call on the GPU is lost (15)
 *   celsius=N heat=N  temperature, and by how much it grows at each reading
 *   margin=N          °C to the limit; without it there is a threshold of 95 °C instead
 *   sm=MHZ step=MHZ   SM clock, and how much every second reading is below it
 *   reasons=MASK      why clocks are not higher
 *   capped=PERCENT    share of time that the power policy takes
 *   xid=N:MS          an Xid error that long after nvmlInit
 *   processes=N       with a context
 *
 * FAKE_NVML_LOG=FILE gets a line for each call, FAKE_NVML_HOLDS=FILE "FROM TO" (ns) of each time
 * that one held the GPU's lock, FAKE_NVML_CLOCKS=FILE holds the locked clock. Compiled with OLD it
 * lacks what a driver of 2020 lacks.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/clock.h"
#include "stress/nvml_api.h"
#include "tests/fakes/gpu_lock.h"

#define EXPORT __attribute__((visibility("default")))

static struct {
	pthread_mutex_t mutex; /* all below */
	uint64_t began_ns;
	unsigned calls, broken, temperatures, clocks;
	bool told_xid;
} state = {.mutex = PTHREAD_MUTEX_INITIALIZER};

/* -- the orders ---------------------------------------------------------------------- */

static const char *order(const char *key, char value[static 64])
{
	const char *p = getenv("FAKE_NVML");
	const size_t len = strlen(key);

	while (p && *p) {
		if (!strncmp(p, key, len) && (p[len] == '=' || p[len] == ',' || !p[len])) {
			const char *v = p[len] == '=' ? p + len + 1 : "1";

			snprintf(value, 64, "%.*s", (int)strcspn(v, ","), v);
			return value;
		}
		p = strchr(p, ',');
		p = p ? p + 1 : NULL;
	}
	return NULL;
}

static long number(const char *key, long otherwise)
{
	char buf[64];
	const char *v = order(key, buf);

	return v ? strtol(v, NULL, 0) : otherwise;
}

/* Does the order KEY name this call? */
static bool names(const char *key, const char *call)
{
	char buf[64];
	char *v = order(key, buf) ? buf : NULL;

	if (!v) {
		return false;
	}
	v[strcspn(v, ":")] = '\0';
	return strstr(call, v) != NULL;
}

static void sleep_us(long us)
{
	const struct timespec t = {.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000};

	nanosleep(&t, NULL);
}

static void write_log(const char *call)
{
	const char *path = getenv("FAKE_NVML_LOG");
	FILE *f = path ? fopen(path, "ae") : NULL;

	if (f) {
		fprintf(f, "%llu %s\n", (unsigned long long)clock_ns(), call);
		fclose(f);
	}
}

static void write_hold(uint64_t from_ns)
{
	const char *path = getenv("FAKE_NVML_HOLDS");
	FILE *f = path ? fopen(path, "ae") : NULL;

	if (f) {
		fprintf(f, "%llu %llu\n", (unsigned long long)from_ns,
			(unsigned long long)clock_ns());
		fclose(f);
	}
}

/* What every call does first: its delays and its faults. */
static nvmlReturn enter(const char *call)
{
	char buf[64];
	long us = number("slow", 0);
	const char *slowest = order("slowest", buf);

	if (slowest && strchr(slowest, ':') && names("slowest", call)) {
		us = atol(strchr(slowest, ':') + 1);
	}
	write_log(call);
	pthread_mutex_lock(&state.mutex);
	const unsigned nth = ++state.calls;
	pthread_mutex_unlock(&state.mutex);

	gpu_lock();
	const uint64_t from = clock_ns();

	while (names("hang", call)) {
		gpu_unlock(); /* stuck on something else: launches go on */
		sleep_us(1000000);
	}
	if (us > 0) {
		sleep_us(us);
		write_hold(from);
	}
	gpu_unlock();
	if (number("lost", 0) && nth >= (unsigned)number("lost", 0)) {
		return NVML_ERROR_GPU_IS_LOST;
	}
	if (names("broken", call)) {
		const char *broken = order("broken", buf), *colon = strchr(broken, ':');

		pthread_mutex_lock(&state.mutex);
		const unsigned n = ++state.broken;
		pthread_mutex_unlock(&state.mutex);
		if (!colon || n <= (unsigned)atol(colon + 1)) {
			return NVML_ERROR_UNKNOWN;
		}
	}
	return names("unsupported", call) ? NVML_ERROR_NOT_SUPPORTED
	       : names("denied", call)    ? NVML_ERROR_NO_PERMISSION
					  : NVML_SUCCESS;
}

#define ENTER()                                                                                    \
	do {                                                                                       \
		const nvmlReturn error = enter(__func__);                                          \
                                                                                                   \
		if (error != NVML_SUCCESS) {                                                       \
			return error;                                                              \
		}                                                                                  \
	} while (0)

static nvmlReturn answer(const char *call, unsigned *ret, long v)
{
	const nvmlReturn e = enter(call);

	if (e == NVML_SUCCESS) {
		*ret = (unsigned)v;
	}
	return e;
}

/* -- library and device ------------------------------------------------------------------ */

EXPORT nvmlReturn nvmlInit_v2(void);
EXPORT nvmlReturn nvmlInit_v2(void)
{
	char buf[64];

	ENTER();
	state.began_ns = clock_ns();
	return order("nodriver", buf)   ? NVML_ERROR_DRIVER_NOT_LOADED
	       : order("mismatch", buf) ? NVML_ERROR_LIB_RM_VERSION_MISMATCH
					: NVML_SUCCESS;
}

EXPORT nvmlReturn nvmlShutdown(void);
EXPORT nvmlReturn nvmlShutdown(void)
{
	ENTER();
	return NVML_SUCCESS;
}

EXPORT const char *nvmlErrorString(nvmlReturn e);
EXPORT const char *nvmlErrorString(nvmlReturn e)
{
	return e == NVML_ERROR_GPU_IS_LOST         ? "GPU is lost"
	       : e == NVML_ERROR_NO_PERMISSION     ? "Insufficient Permissions"
	       : e == NVML_ERROR_DRIVER_NOT_LOADED ? "Driver Not Loaded"
	       : e == NVML_ERROR_NOT_FOUND         ? "Not Found"
						   : NULL;
}

EXPORT nvmlReturn nvmlDeviceGetHandleByPciBusId_v2(const char *address, nvmlDevice *ret);
EXPORT nvmlReturn nvmlDeviceGetHandleByPciBusId_v2(const char *address, nvmlDevice *ret)
{
	char buf[64];
	const char *mine = order("address", buf);

	ENTER();
	*ret = (nvmlDevice)(uintptr_t)0x30;
	return strcasecmp(address, mine ? mine : "0000:41:00.0") ? NVML_ERROR_NOT_FOUND
								 : NVML_SUCCESS;
}

EXPORT nvmlReturn nvmlDeviceGetName(nvmlDevice d, char *ret, unsigned len);
EXPORT nvmlReturn nvmlDeviceGetName(nvmlDevice d, char *ret, unsigned len)
{
	(void)d;
	ENTER();
	snprintf(ret, len, "Fake GPU");
	return NVML_SUCCESS;
}

static nvmlReturn memory(struct nvml_memory *ret, const char *key)
{
	*ret = (struct nvml_memory){.total = (unsigned long long)number(key, 8192) << 20};
	return NVML_SUCCESS;
}

EXPORT nvmlReturn nvmlDeviceGetMemoryInfo(nvmlDevice d, struct nvml_memory *ret);
EXPORT nvmlReturn nvmlDeviceGetMemoryInfo(nvmlDevice d, struct nvml_memory *ret)
{
	(void)d;
	ENTER();
	return memory(ret, "vram");
}

EXPORT nvmlReturn nvmlDeviceGetBAR1MemoryInfo(nvmlDevice d, struct nvml_memory *ret);
EXPORT nvmlReturn nvmlDeviceGetBAR1MemoryInfo(nvmlDevice d, struct nvml_memory *ret)
{
	(void)d;
	ENTER();
	return memory(ret, "bar1");
}

/* -- clocks ------------------------------------------------------------------------------ */

static long locked_clock(void)
{
	const char *path = getenv("FAKE_NVML_CLOCKS");
	FILE *f = path ? fopen(path, "re") : NULL;
	long mhz = 0;

	if (f) {
		if (fscanf(f, "%ld", &mhz) != 1) {
			mhz = 0;
		}
		fclose(f);
	}
	return mhz;
}

static nvmlReturn lock_clock(unsigned mhz)
{
	const char *path = getenv("FAKE_NVML_CLOCKS");
	FILE *f = path ? fopen(path, "we") : NULL;

	if (!f) {
		return NVML_ERROR_NOT_SUPPORTED;
	}
	fprintf(f, "%u\n", mhz);
	return fclose(f) == 0 ? NVML_SUCCESS : NVML_ERROR_UNKNOWN;
}

EXPORT nvmlReturn nvmlDeviceSetGpuLockedClocks(nvmlDevice d, unsigned min, unsigned max);
EXPORT nvmlReturn nvmlDeviceSetGpuLockedClocks(nvmlDevice d, unsigned min, unsigned max)
{
	(void)d;
	ENTER();
	return min > max ? NVML_ERROR_INVALID_ARGUMENT : lock_clock(max);
}

EXPORT nvmlReturn nvmlDeviceResetGpuLockedClocks(nvmlDevice d);
EXPORT nvmlReturn nvmlDeviceResetGpuLockedClocks(nvmlDevice d)
{
	(void)d;
	ENTER();
	return lock_clock(0);
}

EXPORT nvmlReturn nvmlDeviceGetClockInfo(nvmlDevice d, int clock, unsigned *ret);
EXPORT nvmlReturn nvmlDeviceGetClockInfo(nvmlDevice d, int clock, unsigned *ret)
{
	(void)d;
	ENTER();
	if (clock == NVML_CLOCK_MEM) {
		*ret = 3201;
		return NVML_SUCCESS;
	}
	const long locked = locked_clock();

	*ret = (unsigned)(locked ? locked : number("sm", 1980));
	*ret -= ++state.clocks % 2 ? 0 : (unsigned)number("step", 0);
	return NVML_SUCCESS;
}

EXPORT nvmlReturn nvmlDeviceGetMaxClockInfo(nvmlDevice d, int clock, unsigned *ret);
EXPORT nvmlReturn nvmlDeviceGetMaxClockInfo(nvmlDevice d, int clock, unsigned *ret)
{
	(void)d;
	return answer(__func__, ret, clock == NVML_CLOCK_MEM ? 3201 : 1980);
}

EXPORT nvmlReturn nvmlDeviceGetApplicationsClock(nvmlDevice d, int clock, unsigned *ret);
EXPORT nvmlReturn nvmlDeviceGetApplicationsClock(nvmlDevice d, int clock, unsigned *ret)
{
	(void)d;
	return answer(__func__, ret, clock == NVML_CLOCK_MEM ? 3201 : 1980);
}

static nvmlReturn get_reasons(const char *call, unsigned long long *ret)
{
	const nvmlReturn e = enter(call);

	if (e == NVML_SUCCESS) {
		*ret = (unsigned long long)number("reasons", 0);
	}
	return e;
}

EXPORT nvmlReturn nvmlDeviceGetCurrentClocksThrottleReasons(nvmlDevice d, unsigned long long *ret);
EXPORT nvmlReturn nvmlDeviceGetCurrentClocksThrottleReasons(nvmlDevice d, unsigned long long *ret)
{
	(void)d;
	return get_reasons(__func__, ret);
}

#ifndef OLD
EXPORT nvmlReturn nvmlDeviceGetCurrentClocksEventReasons(nvmlDevice d, unsigned long long *ret);
EXPORT nvmlReturn nvmlDeviceGetCurrentClocksEventReasons(nvmlDevice d, unsigned long long *ret)
{
	(void)d;
	return get_reasons(__func__, ret);
}

static nvmlReturn get_field(struct nvml_field *f)
{
	f->type = NVML_TYPE_UNSIGNED_LONG_LONG;
	f->value.ull = 0;
	switch (f->id) {
	case NVML_FI_POLICY_POWER:
		f->value.ull = (clock_ns() - state.began_ns) / 100 * (unsigned)number("capped", 0);
		return NVML_SUCCESS;
	case NVML_FI_POLICY_THERMAL:
	case NVML_FI_POLICY_SYNC_BOOST:
		return NVML_SUCCESS;
	case NVML_FI_MEMORY_TEMPERATURE:
		f->type = NVML_TYPE_UNSIGNED;
		f->value.u = (unsigned)number("celsius", 40) + 6;
		return NVML_SUCCESS;
	case NVML_FI_SLOWDOWN_MARGIN:
		f->type = NVML_TYPE_SIGNED;
		f->value.i = -2;
		return number("margin", -1000) == -1000 ? NVML_ERROR_NOT_SUPPORTED : NVML_SUCCESS;
	default:
		return NVML_ERROR_NOT_SUPPORTED;
	}
}

EXPORT nvmlReturn nvmlDeviceGetFieldValues(nvmlDevice d, int n, struct nvml_field *fields);
EXPORT nvmlReturn nvmlDeviceGetFieldValues(nvmlDevice d, int n, struct nvml_field *fields)
{
	(void)d;
	ENTER();
	for (int i = 0; i < n; i++) {
		fields[i].result = get_field(&fields[i]);
	}
	return NVML_SUCCESS;
}

EXPORT nvmlReturn nvmlDeviceGetMarginTemperature(nvmlDevice d, struct nvml_margin *ret);
EXPORT nvmlReturn nvmlDeviceGetMarginTemperature(nvmlDevice d, struct nvml_margin *ret)
{
	const long margin = number("margin", -1000);

	(void)d;
	ENTER();
	if (ret->version != NVML_MARGIN_VERSION) {
		return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
	}
	if (margin == -1000) {
		return NVML_ERROR_NOT_SUPPORTED;
	}
	ret->celsius = (int)(margin - (long)state.temperatures * number("heat", 0));
	return NVML_SUCCESS;
}
#endif

/* -- sensors ----------------------------------------------------------------------------- */

EXPORT nvmlReturn nvmlDeviceGetTemperature(nvmlDevice d, int sensor, unsigned *ret);
EXPORT nvmlReturn nvmlDeviceGetTemperature(nvmlDevice d, int sensor, unsigned *ret)
{
	(void)d;
	(void)sensor;
	ENTER();
	*ret = (unsigned)(number("celsius", 40) + (long)state.temperatures++ * number("heat", 0));
	return NVML_SUCCESS;
}

EXPORT nvmlReturn nvmlDeviceGetTemperatureThreshold(nvmlDevice d, int threshold, unsigned *ret);
EXPORT nvmlReturn nvmlDeviceGetTemperatureThreshold(nvmlDevice d, int threshold, unsigned *ret)
{
	(void)d;
	if (threshold != NVML_THRESHOLD_SLOWDOWN || number("margin", -1000) != -1000) {
		return NVML_ERROR_NOT_SUPPORTED;
	}
	return answer(__func__, ret, 95);
}

#define ANSWER(name, value)                                                                        \
	EXPORT nvmlReturn name(nvmlDevice d, unsigned *ret);                                       \
	EXPORT nvmlReturn name(nvmlDevice d, unsigned *ret)                                        \
	{                                                                                          \
		(void)d;                                                                           \
		return answer(__func__, ret, value);                                               \
	}

ANSWER(nvmlDeviceGetPowerUsage, 300000)
ANSWER(nvmlDeviceGetEnforcedPowerLimit, 450000)
ANSWER(nvmlDeviceGetPowerManagementDefaultLimit, 500000)
ANSWER(nvmlDeviceGetPerformanceState, 0)
ANSWER(nvmlDeviceGetPersistenceMode, 1)
ANSWER(nvmlDeviceGetPcieReplayCounter, 7)
ANSWER(nvmlDeviceGetCurrPcieLinkGeneration, 4)
ANSWER(nvmlDeviceGetCurrPcieLinkWidth, 16)

EXPORT nvmlReturn nvmlDeviceGetTotalEccErrors(
	nvmlDevice d, int type, int counter, unsigned long long *ret);
EXPORT nvmlReturn nvmlDeviceGetTotalEccErrors(
	nvmlDevice d, int type, int counter, unsigned long long *ret)
{
	(void)d;
	(void)counter;
	ENTER();
	*ret = type == NVML_ECC_CORRECTED ? 2 : 0;
	return NVML_SUCCESS;
}

static nvmlReturn processes(const char *call, unsigned *n, struct nvml_process *ret)
{
	const nvmlReturn e = enter(call);
	const unsigned have = (unsigned)number("processes", 1), room = *n;

	if (e != NVML_SUCCESS) {
		return e;
	}
	*n = have;
	if (have > room) {
		return NVML_ERROR_INSUFFICIENT_SIZE;
	}
	for (unsigned i = 0; i < have; i++) {
		ret[i] = (struct nvml_process){.pid = 1000 + i, .bytes = (512ull + i) << 20};
	}
	return NVML_SUCCESS;
}

EXPORT nvmlReturn nvmlDeviceGetComputeRunningProcesses_v3(
	nvmlDevice d, unsigned *n, struct nvml_process *ret);
EXPORT nvmlReturn nvmlDeviceGetComputeRunningProcesses_v3(
	nvmlDevice d, unsigned *n, struct nvml_process *ret)
{
	(void)d;
	return processes(__func__, n, ret);
}

EXPORT nvmlReturn nvmlDeviceGetGraphicsRunningProcesses_v3(
	nvmlDevice d, unsigned *n, struct nvml_process *ret);
EXPORT nvmlReturn nvmlDeviceGetGraphicsRunningProcesses_v3(
	nvmlDevice d, unsigned *n, struct nvml_process *ret)
{
	(void)d;
	(void)ret;
	ENTER();
	*n = 0;
	return NVML_SUCCESS;
}

/* -- Xid ---------------------------------------------------------------------------------- */

EXPORT nvmlReturn nvmlEventSetCreate(nvmlEventSet *ret);
EXPORT nvmlReturn nvmlEventSetCreate(nvmlEventSet *ret)
{
	ENTER();
	*ret = (nvmlEventSet)(uintptr_t)0x40;
	return NVML_SUCCESS;
}

EXPORT nvmlReturn nvmlEventSetFree(nvmlEventSet set);
EXPORT nvmlReturn nvmlEventSetFree(nvmlEventSet set)
{
	(void)set;
	ENTER();
	return NVML_SUCCESS;
}

EXPORT nvmlReturn nvmlDeviceRegisterEvents(
	nvmlDevice d, unsigned long long types, nvmlEventSet set);
EXPORT nvmlReturn nvmlDeviceRegisterEvents(nvmlDevice d, unsigned long long types, nvmlEventSet set)
{
	(void)d;
	(void)types;
	(void)set;
	ENTER();
	return NVML_SUCCESS;
}

static nvmlReturn await_event(struct nvml_event *ret, unsigned timeout_ms)
{
	char buf[64];
	const char *xid = order("xid", buf);
	const uint64_t until = clock_ns() + timeout_ms * (uint64_t)1000000;
	uint64_t due = UINT64_MAX;

	if (xid && strchr(xid, ':') && !state.told_xid) {
		due = state.began_ns + (uint64_t)atol(strchr(xid, ':') + 1) * 1000000;
	}
	const uint64_t end = due < until ? due : until, now = clock_ns();

	if (now < end) {
		sleep_us((long)((end - now) / 1000));
	}
	if (due > until) {
		return NVML_ERROR_TIMEOUT;
	}
	state.told_xid = true;
	ret->type = NVML_EVENT_XID;
	ret->data = (unsigned long long)atol(xid);
	return NVML_SUCCESS;
}

#ifdef OLD
EXPORT nvmlReturn nvmlEventSetWait(nvmlEventSet set, struct nvml_event *ret, unsigned timeout_ms);
EXPORT nvmlReturn nvmlEventSetWait(nvmlEventSet set, struct nvml_event *ret, unsigned timeout_ms)
#else
EXPORT nvmlReturn nvmlEventSetWait_v2(
	nvmlEventSet set, struct nvml_event *ret, unsigned timeout_ms);
EXPORT nvmlReturn nvmlEventSetWait_v2(nvmlEventSet set, struct nvml_event *ret, unsigned timeout_ms)
#endif
{
	(void)set;
	return names("hang", __func__) || names("unsupported", __func__)
		       ? enter(__func__)
		       : await_event(ret, timeout_ms);
}
