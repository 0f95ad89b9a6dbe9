/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stress/sample.h"

const char *stress_event_name(unsigned kind)
{
	static const char *const names[STRESS_EVENT_KINDS] = {
		[STRESS_EVENT_CLOCK_SM] = "clock-sm",
		[STRESS_EVENT_CLOCK_MEM] = "clock-mem",
		[STRESS_EVENT_TEMPERATURE] = "temperature",
		[STRESS_EVENT_POWER] = "power",
		[STRESS_EVENT_THROTTLE] = "throttle",
		[STRESS_EVENT_PSTATE] = "pstate",
		[STRESS_EVENT_XID] = "xid",
		[STRESS_EVENT_ECC] = "ecc",
		[STRESS_EVENT_LINK] = "link",
		[STRESS_EVENT_READING] = "reading",
		[STRESS_EVENT_THROTTLED] = "throttled",
		[STRESS_EVENT_REPLAY] = "replay",
		[STRESS_EVENT_AER] = "aer",
		[STRESS_EVENT_MEM_TEMPERATURE] = "mem-temperature",
		[STRESS_EVENT_MARGIN] = "margin",
		[STRESS_EVENT_GAP] = "tsc-gap",
	};
	return kind < STRESS_EVENT_KINDS && names[kind] ? names[kind] : "?";
}
