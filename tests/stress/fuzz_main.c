/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Replays every file of a folder through a fuzz target, whole and cut at every length, and
 * with single bytes changed by a fixed rule.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "tests/stress/fuzz.h"

static void replay(const char *data, size_t len)
{
	for (size_t n = 0; n <= len; n++) {
		char *exact = malloc(n ? n : 1); /* its end is the sanitizer's to watch */
		memcpy(exact, data, n);
		LLVMFuzzerTestOneInput((const uint8_t *)exact, n);
		free(exact);
	}
	char *copy = malloc(len ? len : 1);
	for (size_t i = 0; i < len; i++) {
		memcpy(copy, data, len);
		static const char bytes[] = {'\0', '\n', ' ', '0', '9', 'x', '=', '#', '-', '\xff'};
		for (size_t k = 0; k < sizeof(bytes); k++) {
			copy[i] = bytes[k];
			LLVMFuzzerTestOneInput((const uint8_t *)copy, len);
		}
	}
	free(copy);
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
		return 3;
	}
	_cleanup_dir_ DIR *dir = opendir(argv[1]);
	unsigned n = 0;
	for (const struct dirent *e; dir && (e = readdir(dir));) {
		char path[1024];
		char *data;
		size_t len;
		struct why why;
		snprintf(path, sizeof(path), "%s/%s", argv[1], e->d_name);
		if (*e->d_name == '.' || file_read_all(path, 1 << 20, &data, &len, &why) < 0) {
			continue;
		}
		replay(data, len);
		free(data);
		n++;
	}
	printf("%u inputs replayed\n", n);
	return n ? 0 : 1; /* an empty folder proves nothing */
}
