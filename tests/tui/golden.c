/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "golden.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/file.h"

bool golden_equal(const struct tui_canvas *c, const char *name)
{
	char path[512];
	struct why why = {0};
	_cleanup_free_ char *got = tui_canvas_text(c);
	_cleanup_free_ char *want = NULL;
	size_t len;
	const char *source = getenv("BARSCOPE_SOURCE");
	snprintf(path, sizeof(path), "%s/tests/tui/golden/%s.txt", source ? source : ".", name);
	if (getenv("BARSCOPE_REWRITE")) {
		return file_write_atomic(path, got, strlen(got), &why) == 0;
	}
	if (file_read_all(path, 1 << 20, &want, &len, &why) < 0) {
		fprintf(stderr, "%s: %s\n%s", path, why.text, got);
		return false;
	}
	if (strcmp(want, got) != 0) {
		fprintf(stderr, "%s differs.\nwanted:\n%s\ngot:\n%s", path, want, got);
		return false;
	}
	return true;
}
