/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/text.h"

static char dir[] = "/tmp/barscope-test-XXXXXX";

static const char *in_dir(const char *name, char buf[static 256])
{
	snprintf(buf, 256, "%s/%s", dir, name);
	return buf;
}

static int make_dir(void **state)
{
	(void)state;
	return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
	(void)state;
	char cmd[300];
	snprintf(cmd, sizeof(cmd), "rm -rf '%s'", dir);
	return system(cmd);
}

static void written_whole_or_not_at_all(void **state)
{
	(void)state;
	char path[256], *s;
	size_t n;
	struct why why = {{0}};
	in_dir("a", path);
	assert_int_equal(file_write_atomic(path, "one", 3, &why), 0);
	assert_int_equal(file_write_atomic(path, "three", 5, &why), 0);
	assert_int_equal(file_read_all(path, 100, &s, &n, &why), 0);
	assert_int_equal(n, 5);
	assert_string_equal(s, "three");
	free(s);

	in_dir("missing/a", path);
	assert_int_equal(file_write_atomic(path, "x", 1, &why), -ENOENT);
	assert_true(strlen(why.text) > 0);

	assert_int_equal(file_write_atomic("/dev/null/a", "x", 1, &why), -ENOTDIR);
}

static void what_stands_there_stays_what_it_is(void **state)
{
	(void)state;
	char file[256], link[256], fifo[256], *s;
	size_t n;
	struct stat st;
	struct why why = {{0}};
	in_dir("target", file);
	in_dir("link", link);
	in_dir("fifo", fifo);
	assert_int_equal(file_write_atomic(file, "old", 3, &why), 0);
	assert_int_equal(chmod(file, 0600), 0);
	assert_int_equal(symlink(file, link), 0);
	assert_int_equal(file_write_atomic(link, "new", 3, &why), 0);
	assert_int_equal(lstat(link, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(stat(file, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(file_read_all(file, 10, &s, &n, &why), 0);
	assert_string_equal(s, "new");
	free(s);

	assert_int_equal(mkfifo(fifo, 0600), 0);
	int reader = open(fifo, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	assert_true(reader >= 0);
	char buf[8] = "";
	assert_int_equal(file_write_atomic(fifo, "pipe", 4, &why), 0);
	assert_int_equal(read(reader, buf, sizeof(buf)), 4);
	assert_string_equal(buf, "pipe");
	close(reader);
	assert_int_equal(stat(fifo, &st), 0);
	assert_true(S_ISFIFO(st.st_mode));

	assert_int_equal(file_write_atomic("/dev/null", "x", 1, &why), 0);
	assert_int_equal(file_write_atomic("/dev/full", "x", 1, &why), -ENOSPC);
	assert_int_equal(stat("/dev/full", &st), 0);
	assert_true(S_ISCHR(st.st_mode));
}

static void limits_are_kept(void **state)
{
	(void)state;
	char path[256], *s, buf[4];
	size_t n;
	struct why why = {{0}};
	in_dir("b", path);
	assert_int_equal(file_write_atomic(path, "0123456789", 10, &why), 0);
	assert_int_equal(file_read_all(path, 10, &s, &n, &why), 0);
	free(s);
	assert_int_equal(file_read_all(path, 9, &s, &n, &why), -EFBIG);
	assert_non_null(strstr(why.text, "larger than 9 B"));
	assert_int_equal(file_read_at(AT_FDCWD, path, buf, sizeof(buf)), 3);
	assert_string_equal(buf, "012");
	assert_int_equal(file_read_all(dir, 10, &s, &n, &why), -EISDIR);
	assert_int_equal(file_read_all("/dev/zero", 1 << 20, &s, &n, &why), -EFBIG);
	assert_int_equal(file_read_at(AT_FDCWD, "/nowhere", buf, sizeof(buf)), -ENOENT);
}

static void folders_and_places(void **state)
{
	(void)state;
	char path[256];
	struct stat st;
	in_dir("x/y/z", path);
	assert_int_equal(file_make_dirs(path), 0);
	assert_int_equal(file_make_dirs(path), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	in_dir("b/c", path);
	assert_int_equal(file_make_dirs(path), -ENOTDIR);

	char *where;
	setenv("XDG_DATA_HOME", "/data", 1);
	assert_int_equal(file_data_dir(&where), 0);
	assert_string_equal(where, "/data/barscope");
	free(where);
	setenv("XDG_DATA_HOME", "relative", 1); /* the specification: to be ignored */
	setenv("HOME", "/home/x", 1);
	assert_int_equal(file_data_dir(&where), 0);
	assert_string_equal(where, "/home/x/.local/share/barscope");
	free(where);
	unsetenv("HOME");
	assert_int_equal(file_data_dir(&where), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(written_whole_or_not_at_all),
		cmocka_unit_test(what_stands_there_stays_what_it_is),
		cmocka_unit_test(limits_are_kept),
		cmocka_unit_test(folders_and_places),
	};
	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
