/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stress/nvml.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/macros.h"
#include "base/text.h"

struct nvml {
	struct nvml_api api;
	nvmlDevice device;
	nvmlEventSet events; /* NULL: not asked for, or not supported */
	bool refused[NVML_READINGS];
	bool policies_refused;
};

/* The shapes of the calls behind the readings. */
enum shape { CALL_U32, CALL_U32_OF, CALL_U64, CALL_ECC, CALL_MEMORY, CALL_MARGIN, CALL_FIELD };

static const struct call {
	const char *name;
	enum shape shape;
	int of; /* which clock, threshold, field, … */
	size_t offset;
} calls[NVML_READINGS] = {
#define CALL(reading, member, shape, of)                                                           \
	[reading] = {"nvml" #member, shape, of, offsetof(struct nvml_api, member)}
	CALL(NVML_SM_MHZ, DeviceGetClockInfo, CALL_U32_OF, NVML_CLOCK_SM),
	CALL(NVML_MEM_MHZ, DeviceGetClockInfo, CALL_U32_OF, NVML_CLOCK_MEM),
	CALL(NVML_REASONS, DeviceGetCurrentClocksEventReasons, CALL_U64, 0),
	CALL(NVML_PSTATE, DeviceGetPerformanceState, CALL_U32, 0),
	CALL(NVML_CELSIUS, DeviceGetTemperature, CALL_U32_OF, 0),
	CALL(NVML_MEM_CELSIUS, DeviceGetFieldValues, CALL_FIELD, NVML_FI_MEMORY_TEMPERATURE),
	CALL(NVML_MARGIN, DeviceGetMarginTemperature, CALL_MARGIN, 0),
	CALL(NVML_MILLIWATT, DeviceGetPowerUsage, CALL_U32, 0),
	CALL(NVML_REPLAYS, DeviceGetPcieReplayCounter, CALL_U32, 0),
	CALL(NVML_LINK_GEN, DeviceGetCurrPcieLinkGeneration, CALL_U32, 0),
	CALL(NVML_LINK_WIDTH, DeviceGetCurrPcieLinkWidth, CALL_U32, 0),
	CALL(NVML_ECC_SOFT, DeviceGetTotalEccErrors, CALL_ECC, NVML_ECC_CORRECTED),
	CALL(NVML_ECC_HARD, DeviceGetTotalEccErrors, CALL_ECC, NVML_ECC_UNCORRECTED),
	CALL(NVML_MEMORY_BYTES, DeviceGetMemoryInfo, CALL_MEMORY, 0),
	CALL(NVML_BAR1_BYTES, DeviceGetBAR1MemoryInfo, CALL_MEMORY, 0),
	CALL(NVML_SLOWDOWN_CELSIUS, DeviceGetTemperatureThreshold, CALL_U32_OF,
		NVML_THRESHOLD_SLOWDOWN),
	CALL(NVML_SLOWDOWN_MARGIN, DeviceGetFieldValues, CALL_FIELD, NVML_FI_SLOWDOWN_MARGIN),
	CALL(NVML_SM_MAX_MHZ, DeviceGetMaxClockInfo, CALL_U32_OF, NVML_CLOCK_SM),
	CALL(NVML_MEM_MAX_MHZ, DeviceGetMaxClockInfo, CALL_U32_OF, NVML_CLOCK_MEM),
	CALL(NVML_SM_APP_MHZ, DeviceGetApplicationsClock, CALL_U32_OF, NVML_CLOCK_SM),
	CALL(NVML_MEM_APP_MHZ, DeviceGetApplicationsClock, CALL_U32_OF, NVML_CLOCK_MEM),
	CALL(NVML_POWER_LIMIT_MW, DeviceGetEnforcedPowerLimit, CALL_U32, 0),
	CALL(NVML_POWER_DEFAULT_MW, DeviceGetPowerManagementDefaultLimit, CALL_U32, 0),
	CALL(NVML_PERSISTENCE, DeviceGetPersistenceMode, CALL_U32, 0),
#undef CALL
};

static const struct {
	const char *name;
	int field;
} policies[NVML_POLICIES] = {
	[NVML_POLICY_POWER] = {"power", NVML_FI_POLICY_POWER},
	[NVML_POLICY_THERMAL] = {"thermal", NVML_FI_POLICY_THERMAL},
	[NVML_POLICY_SYNC_BOOST] = {"sync boost", NVML_FI_POLICY_SYNC_BOOST},
	[NVML_POLICY_BOARD_LIMIT] = {"board limit", NVML_FI_POLICY_BOARD_LIMIT},
	[NVML_POLICY_RELIABILITY] = {"reliability", NVML_FI_POLICY_RELIABILITY},
};

static const struct {
	uint64_t bit;
	const char *name;
} reasons[] = {
	{NVML_REASON_IDLE, "idle"},
	{NVML_REASON_APP_CLOCKS, "clocks set by the user"},
	{NVML_REASON_POWER_CAP, "power cap"},
	{NVML_REASON_HW_SLOWDOWN, "hardware slowdown"},
	{NVML_REASON_SYNC_BOOST, "sync boost"},
	{NVML_REASON_SW_THERMAL, "heat (driver)"},
	{NVML_REASON_HW_THERMAL, "heat (hardware)"},
	{NVML_REASON_POWER_BRAKE, "power brake"},
	{NVML_REASON_DISPLAY, "display clock"},
};

const char *nvml_reasons_text(uint64_t mask, char buf[static NVML_REASONS_MAX])
{
	struct text t = {0};
	const char *between = "";

	for (size_t i = 0; i < ARRAY_LEN(reasons); i++) {
		if (mask & reasons[i].bit) {
			text_addf(&t, "%s%s", between, reasons[i].name);
			between = ", ";
			mask &= ~reasons[i].bit;
		}
	}
	if (mask) {
		text_addf(&t, "%s0x%llx", between, (unsigned long long)mask);
	}
	text_copy(buf, NVML_REASONS_MAX, t.s ? t.s : "none");
	text_finish(&t);
	return buf;
}

const char *nvml_policy_name(enum nvml_policy p)
{
	return (unsigned)p < NVML_POLICIES ? policies[p].name : "?";
}

const char *nvml_reading_call(enum nvml_reading r)
{
	return (unsigned)r < NVML_READINGS ? calls[r].name : "?";
}

int nvml_open(const char *library, const char *address, struct nvml **ret, struct why *why)
{
	struct nvml *n = xcalloc(1, sizeof(*n));
	char buf[NVML_ERROR_MAX];
	int r = nvml_api_init(&n->api, library, why);

	if (r == 0) {
		const nvmlReturn e = n->api.DeviceGetHandleByPciBusId(address, &n->device);

		r = nvml_errno(e);
		if (r < 0) {
			why_set(why, "NVML and the GPU at %s: %s", address,
				nvml_error(&n->api, e, buf));
		}
	}
	if (r < 0) {
		nvml_close(n);
		return r;
	}
	*ret = n;
	return 0;
}

void nvml_close(struct nvml *n)
{
	if (!n) {
		return;
	}
	if (n->events && n->api.EventSetFree) {
		n->api.EventSetFree(n->events);
	}
	nvml_api_finish(&n->api);
	free(n);
}

/* -- readings ---------------------------------------------------------------------------- */

static int64_t field_value(const struct nvml_field *f)
{
	switch (f->type) {
	case NVML_TYPE_DOUBLE:
		return (int64_t)f->value.d;
	case NVML_TYPE_UNSIGNED:
		return f->value.u;
	case NVML_TYPE_UNSIGNED_LONG:
		return (int64_t)f->value.ul;
	case NVML_TYPE_SIGNED:
		return f->value.i;
	case NVML_TYPE_UNSIGNED_SHORT:
		return f->value.us;
	default:
		return f->value.sll;
	}
}

static nvmlReturn read_field(const struct nvml *n, int id, int64_t *ret)
{
	struct nvml_field f = {.id = (unsigned)id};
	const nvmlReturn e = n->api.DeviceGetFieldValues(n->device, 1, &f);

	if (e == NVML_SUCCESS && f.result == NVML_SUCCESS) {
		*ret = field_value(&f);
	}
	return e == NVML_SUCCESS ? f.result : e;
}

/* The pointers of one shape have one type; the table keeps where each stands. */
union pointer {
	void *any;
	nvmlReturn (*u32)(nvmlDevice d, unsigned *ret);
	nvmlReturn (*u32_of)(nvmlDevice d, int of, unsigned *ret);
	nvmlReturn (*u64)(nvmlDevice d, unsigned long long *ret);
	nvmlReturn (*ecc)(nvmlDevice d, int type, int counter, unsigned long long *ret);
	nvmlReturn (*memory)(nvmlDevice d, struct nvml_memory *ret);
	nvmlReturn (*margin)(nvmlDevice d, struct nvml_margin *ret);
};

static union pointer pointer_of(const struct nvml *n, const struct call *c)
{
	union pointer p;

	memcpy(&p.any, (const char *)&n->api + c->offset, sizeof(p.any));
	return p;
}

static nvmlReturn call(const struct nvml *n, const struct call *c, int64_t *ret)
{
	const union pointer p = pointer_of(n, c);
	struct nvml_margin margin = {.version = NVML_MARGIN_VERSION};
	struct nvml_memory memory = {0};
	unsigned long long wide = 0;
	unsigned narrow = 0;
	nvmlReturn e = NVML_ERROR_NOT_SUPPORTED;

	switch (c->shape) {
	case CALL_U32:
		e = p.u32(n->device, &narrow);
		*ret = narrow;
		break;
	case CALL_U32_OF:
		e = p.u32_of(n->device, c->of, &narrow);
		*ret = narrow;
		break;
	case CALL_U64:
		e = p.u64(n->device, &wide);
		*ret = (int64_t)wide;
		break;
	case CALL_ECC:
		e = p.ecc(n->device, c->of, NVML_ECC_VOLATILE, &wide);
		*ret = (int64_t)wide;
		break;
	case CALL_MEMORY:
		e = p.memory(n->device, &memory);
		*ret = (int64_t)memory.total;
		break;
	case CALL_MARGIN:
		e = p.margin(n->device, &margin);
		*ret = margin.celsius;
		break;
	case CALL_FIELD:
		e = read_field(n, c->of, ret);
		break;
	}
	return e;
}

bool nvml_supports(const struct nvml *n, enum nvml_reading r)
{
	return !n->refused[r] && pointer_of(n, &calls[r]).any;
}

int nvml_read(struct nvml *n, enum nvml_reading r, int64_t *ret)
{
	int64_t v = 0;

	if (!nvml_supports(n, r)) {
		return -EOPNOTSUPP;
	}
	const int e = nvml_errno(call(n, &calls[r], &v));

	if (e == 0) {
		*ret = v;
	}
	n->refused[r] = e == -EOPNOTSUPP || e == -EACCES;
	return e;
}

int nvml_read_policies(struct nvml *n, uint64_t ret_ns[static NVML_POLICIES], unsigned *ret_known)
{
	struct nvml_field f[NVML_POLICIES] = {0};
	unsigned known = 0;

	if (n->policies_refused || !n->api.DeviceGetFieldValues) {
		return -EOPNOTSUPP;
	}
	for (size_t i = 0; i < NVML_POLICIES; i++) {
		f[i].id = (unsigned)policies[i].field;
	}
	const int e = nvml_errno(n->api.DeviceGetFieldValues(n->device, NVML_POLICIES, f));

	for (size_t i = 0; e == 0 && i < NVML_POLICIES; i++) {
		if (f[i].result == NVML_SUCCESS) {
			ret_ns[i] = (uint64_t)field_value(&f[i]);
			known |= 1u << i;
		}
	}
	n->policies_refused = e == -EOPNOTSUPP || e == -EACCES || (e == 0 && !known);
	if (n->policies_refused) {
		return -EOPNOTSUPP;
	}
	*ret_known = known;
	return e;
}

void nvml_name(struct nvml *n, char *ret, size_t size)
{
	ret[0] = '\0';
	if (n->api.DeviceGetName &&
		n->api.DeviceGetName(n->device, ret, (unsigned)size) != NVML_SUCCESS) {
		ret[0] = '\0';
	}
	ret[size - 1] = '\0';
}

int nvml_processes(struct nvml *n, bool graphics, struct nvml_process *ret, size_t max)
{
	_Static_assert(sizeof(struct nvml_process) == 24, "as nvmlProcessInfo_v2_t");
	unsigned count = (unsigned)MIN(max, (size_t)NVML_PROCESSES_MAX);
	nvmlReturn (*get)(nvmlDevice, unsigned *, struct nvml_process *) =
		graphics ? n->api.DeviceGetGraphicsRunningProcesses
			 : n->api.DeviceGetComputeRunningProcesses;

	if (!get) {
		return -EOPNOTSUPP;
	}
	const nvmlReturn e = get(n->device, &count, ret);

	/* With too little room it says how many there are, and RET holds none. */
	if (e == NVML_ERROR_INSUFFICIENT_SIZE) {
		memset(ret, 0, max * sizeof(*ret));
	}
	return e == NVML_SUCCESS || e == NVML_ERROR_INSUFFICIENT_SIZE
		       ? (int)MIN(count, (unsigned)NVML_PROCESSES_MAX)
		       : nvml_errno(e);
}

/* -- Xid ----------------------------------------------------------------------------------- */

int nvml_watch_xid(struct nvml *n)
{
	nvmlEventSet set = NULL;

	if (n->events) {
		return 0;
	}
	if (!n->api.EventSetCreate || !n->api.DeviceRegisterEvents || !n->api.EventSetWait ||
		!n->api.EventSetFree) {
		return -EOPNOTSUPP;
	}
	nvmlReturn e = n->api.EventSetCreate(&set);

	if (e != NVML_SUCCESS) {
		return nvml_errno(e);
	}
	e = n->api.DeviceRegisterEvents(n->device, NVML_EVENT_XID, set);
	if (e != NVML_SUCCESS) {
		n->api.EventSetFree(set);
		return nvml_errno(e);
	}
	n->events = set;
	return 0;
}

int nvml_await_xid(struct nvml *n, unsigned timeout_ms, uint64_t *ret_xid)
{
	struct nvml_event e = {0};

	if (!n->events) {
		return -EOPNOTSUPP;
	}
	const nvmlReturn r = n->api.EventSetWait(n->events, &e, timeout_ms);

	if (r == NVML_ERROR_TIMEOUT || (r == NVML_SUCCESS && !(e.type & NVML_EVENT_XID))) {
		return 0;
	}
	if (r != NVML_SUCCESS) {
		return nvml_errno(r);
	}
	*ret_xid = e.data;
	return 1;
}

/* -- clocks -------------------------------------------------------------------------------- */

int nvml_lock_clocks(struct nvml *n, unsigned mhz, struct why *why)
{
	const char *what = mhz ? "clocks cannot be locked" : "locked clocks cannot be released";
	char buf[NVML_ERROR_MAX];

	if (!n->api.DeviceSetGpuLockedClocks || !n->api.DeviceResetGpuLockedClocks) {
		why_set(why, "%s: the driver is too old", what);
		return -EOPNOTSUPP;
	}
	const nvmlReturn e = mhz ? n->api.DeviceSetGpuLockedClocks(n->device, mhz, mhz)
				 : n->api.DeviceResetGpuLockedClocks(n->device);
	const int r = nvml_errno(e);

	if (r < 0) {
		why_set(why, "%s: %s%s", what, nvml_error(&n->api, e, buf),
			r == -EACCES ? "; it needs root" : "");
	}
	return r;
}
