/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One record of /dev/kmsg, and the text of syslog(2): what comes out is whole lines. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "pcie/kmsg.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *s = (const char *)data;
	struct text out = {0};
	int r = pcie_kmsg_record(s, size, &out);

	if (r != 0 && (r != -EBADMSG || out.len > 0)) {
		abort();
	}
	if (out.len > 0 && (out.s[0] != '[' || out.s[out.len - 1] != '\n')) {
		abort();
	}
	text_finish(&out);

	out = (struct text){0};
	pcie_kmsg_syslog(s, size, &out);
	if (size > 0 && out.s[out.len - 1] != '\n') {
		abort();
	}
	size_t before = size > 0 && s[size - 1] != '\n', after = 0;
	for (size_t i = 0; i < size; i++) {
		before += s[i] == '\n';
	}
	for (size_t i = 0; i < out.len; i++) {
		after += out.s[i] == '\n';
	}
	if (before != after) {
		abort();
	}
	text_finish(&out);
	return 0;
}
