/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any string as a shape. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "stress/worker.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	memcpy(text, data, size);
	text[size] = '\0';
	struct stress_shape s;
	struct why why = {0};
	if (stress_shape_parse(text, &s, &why) < 0) {
		if (!*why.text) {
			abort();
		}
	} else if (!s.m || !s.k || !s.n || (uint64_t)s.k * s.n > (uint64_t)1 << 40) {
		abort();
	}
	free(text);
	return 0;
}
