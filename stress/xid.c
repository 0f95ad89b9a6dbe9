/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stress/telemetry.h"

#include "base/macros.h"

/* NVIDIA's list of Xid errors, those that a stress meets. 31 bytes fit an event. */
static const struct {
	uint64_t xid;
	const char *name;
} names[] = {
	{13, "graphics engine exception"},
	{31, "MMU fault"},
	{32, "invalid command stream"},
	{38, "driver firmware error"},
	{43, "channel reset"},
	{45, "channel removed"},
	{48, "double-bit ECC error"},
	{61, "microcontroller breakpoint"},
	{62, "power controller halted"},
	{63, "memory row remapped"},
	{64, "row remapping failed"},
	{69, "graphics class error"},
	{74, "NVLink error"},
	{79, "GPU has fallen off the bus"},
	{92, "many single-bit ECC errors"},
	{94, "contained memory error"},
	{95, "uncontained memory error"},
	{109, "context switch timeout"},
	{119, "GSP does not answer"},
	{120, "GSP error"},
	{154, "recovery action changed"},
};

const char *stress_xid_name(uint64_t xid)
{
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		if (names[i].xid == xid) {
			return names[i].name;
		}
	}
	return "";
}
