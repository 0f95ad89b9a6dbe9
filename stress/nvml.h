/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One GPU through NVML, joined by its PCI address. Each reading is one call of the driver: it
 * may take µs or ms and may disturb what runs on the GPU, so callers take its time. What the GPU
 * or the driver does not support is asked for once. One thread at a time; any call may hang.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/why.h"
#include "stress/nvml_api.h"

enum nvml_reading {
	NVML_SM_MHZ,
	NVML_MEM_MHZ,
	NVML_REASONS, /* mask of nvml_reason bits: why clocks are not higher */
	NVML_PSTATE,  /* 0 the fastest */
	NVML_CELSIUS, /* of the chip */
	NVML_MEM_CELSIUS,
	NVML_MARGIN, /* °C left until the limit: newer GPUs tell this and no thresholds */
	NVML_MILLIWATT,
	NVML_REPLAYS, /* PCIe replays since the driver loaded */
	NVML_LINK_GEN,
	NVML_LINK_WIDTH,
	NVML_ECC_SOFT, /* corrected errors since the driver loaded */
	NVML_ECC_HARD, /* uncorrected ones */
	/* Constant, or nearly so. */
	NVML_MEMORY_BYTES,
	NVML_BAR1_BYTES,
	NVML_SLOWDOWN_CELSIUS, /* the hardware slows down from here on */
	NVML_SLOWDOWN_MARGIN,  /* the same as a margin */
	NVML_SM_MAX_MHZ,
	NVML_MEM_MAX_MHZ,
	NVML_SM_APP_MHZ, /* application clocks */
	NVML_MEM_APP_MHZ,
	NVML_POWER_LIMIT_MW,
	NVML_POWER_DEFAULT_MW,
	NVML_PERSISTENCE, /* 1: on */
	NVML_READINGS,
};

/* Bits of NVML_REASONS, as nvml.h has them. */
enum nvml_reason {
	NVML_REASON_IDLE = 0x1,
	NVML_REASON_APP_CLOCKS = 0x2,
	NVML_REASON_POWER_CAP = 0x4,
	NVML_REASON_HW_SLOWDOWN = 0x8,
	NVML_REASON_SYNC_BOOST = 0x10,
	NVML_REASON_SW_THERMAL = 0x20,
	NVML_REASON_HW_THERMAL = 0x40,
	NVML_REASON_POWER_BRAKE = 0x80,
	NVML_REASON_DISPLAY = 0x100,
};
/* "power cap, thermal (software)"; "none". Bits without a name as hex. Returns BUF. */
enum { NVML_REASONS_MAX = 160 };
const char *nvml_reasons_text(uint64_t mask, char buf[static NVML_REASONS_MAX]);

/* Counters of the time that a policy took from the clocks. */
enum nvml_policy {
	NVML_POLICY_POWER,
	NVML_POLICY_THERMAL,
	NVML_POLICY_SYNC_BOOST,
	NVML_POLICY_BOARD_LIMIT,
	NVML_POLICY_RELIABILITY,
	NVML_POLICIES,
};
const char *nvml_policy_name(enum nvml_policy p); /* "power", "thermal", … */

struct nvml;

/*
 * The GPU at ADDRESS ("0000:41:00.0") with LIBRARY (NULL: the usual). Attaching to a sleeping
 * GPU wakes it. Errors as nvml_api_init; -ENODEV also when the driver knows no such GPU.
 */
int nvml_open(const char *library, const char *address, struct nvml **ret, struct why *why);
void nvml_close(struct nvml *n); /* NULL is allowed */

/* "nvmlDeviceGetClockInfo": the call behind a reading. */
const char *nvml_reading_call(enum nvml_reading r);
/* Will it be asked? False once the GPU said that it does not have it. */
bool nvml_supports(const struct nvml *n, enum nvml_reading r);
/* -EOPNOTSUPP, -EACCES, -ENODEV (lost), -EIO. */
int nvml_read(struct nvml *n, enum nvml_reading r, int64_t *ret);

/* All policies in one call: bit p of *RET_KNOWN says that ret_ns[p] is there. Errors as above. */
int nvml_read_policies(struct nvml *n, uint64_t ret_ns[static NVML_POLICIES], unsigned *ret_known);

/* NAME "" when it cannot be read. */
void nvml_name(struct nvml *n, char *ret, size_t size);

/* Processes with a context on it, at most MAX; returns how many there are, or negative errno. */
int nvml_processes(struct nvml *n, bool graphics, struct nvml_process *ret, size_t max);

/* Asks to be told of Xid errors. -EOPNOTSUPP: this GPU cannot. */
int nvml_watch_xid(struct nvml *n);
/*
 * Waits at most TIMEOUT_MS (without the driver's locks). 1: *RET_XID is the number of the error;
 * 0: none came; else negative errno, at once.
 */
int nvml_await_xid(struct nvml *n, unsigned timeout_ms, uint64_t *ret_xid);

/* Keeps the SM clock at MHZ; needs root. 0: as the driver likes. Errors with a sentence. */
int nvml_lock_clocks(struct nvml *n, unsigned mhz, struct why *why);
