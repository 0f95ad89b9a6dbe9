/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any bytes as a script: parsed or refused with a sentence. */
#include <stdint.h>
#include <stdlib.h>

#include "stress/sample.h"
#include "stress/script.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct stress_script s;
	struct why why = {0};
	if (stress_script_parse((const char *)data, size, &s, &why) < 0) {
		if (!*why.text) {
			abort();
		}
		return 0;
	}
	for (size_t i = 0; i < s.n; i++) {
		const struct stress_script_line *l = &s.line[i];
		uint64_t sum = l->launch_ns + l->device_ns + l->notify_ns + l->gap_ns;
		if (!l->repeat || (l->flags & 0xff) >= STRESS_SERIES ||
			sum > 5 * (uint64_t)3600e9) {
			abort();
		}
	}
	stress_script_finish(&s);
	return 0;
}
