/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The plain main of a fuzz target: feeds it the files and folders named on the
 * command line, each file whole, and with --truncate also cut behind every byte
 * (large ones at even steps). Behind --inputs only the inputs of machines are
 * taken from folders, not their golden files.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { INPUT_MAX = 4 << 20, EVERY_BYTE_MAX = 6144, STEPS = 3072, MAX_DEPTH = 8 };

struct replay {
	bool truncate, only_inputs;
	unsigned long files, inputs;
};

/* A copy of exactly this size, so that a sanitizer sees a read behind the end. */
static void feed(struct replay *r, const char *data, size_t len)
{
	char *copy = malloc(len ? len : 1);
	if (!copy) {
		abort();
	}
	memcpy(copy, data, len);
	LLVMFuzzerTestOneInput((const uint8_t *)copy, len);
	free(copy);
	r->inputs++;
}

static void feed_file(struct replay *r, const char *path)
{
	char *data;
	size_t len;
	struct why why;
	if (file_read_all(path, INPUT_MAX, &data, &len, &why) < 0) {
		fprintf(stderr, "%s\n", why.text);
		return;
	}
	r->files++;
	feed(r, data, len);
	size_t step = len > EVERY_BYTE_MAX ? len / STEPS : 1;
	for (size_t n = 0; r->truncate && n < len; n += step) {
		feed(r, data, n);
	}
	free(data);
}

static int visible(const struct dirent *e)
{
	return e->d_name[0] != '.';
}

static void feed_path(struct replay *r, const char *path, int depth)
{
	struct stat st;
	if (stat(path, &st) < 0 || depth > MAX_DEPTH) {
		fprintf(stderr, "%s: cannot be read\n", path);
		return;
	}
	if (!S_ISDIR(st.st_mode)) {
		const char *slash = strrchr(path, '/');
		if (depth == 0 || !r->only_inputs || !strncmp(slash + 1, "input.", 6)) {
			feed_file(r, path);
		}
		return;
	}
	struct dirent **list;
	int n = scandir(path, &list, visible, alphasort);
	for (int i = 0; i < n; i++) {
		struct text below = {0};
		text_addf(&below, "%s/%s", path, list[i]->d_name);
		feed_path(r, below.s, depth + 1);
		text_finish(&below);
		free(list[i]);
	}
	if (n >= 0) {
		free(list);
	}
}

int main(int argc, char **argv)
{
	struct replay r = {.truncate = false};
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--truncate")) {
			r.truncate = true;
		} else if (!strcmp(argv[i], "--inputs")) {
			r.only_inputs = true;
		} else {
			feed_path(&r, argv[i], 0);
		}
	}
	printf("%lu files, %lu inputs\n", r.files, r.inputs);
	return r.files > 0 ? 0 : 1;
}
