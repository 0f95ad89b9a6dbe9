/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * "barscope show" on input that is too long, never ends, says nothing or is no text: one sentence
 * or a snapshot with a note, the documented status, bounded memory. Needs $BARSCOPE.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/gz.h"
#include "tests/cli/program.h"

/* Of one input 64 MiB are read; beside it and its unpacked copy nothing grows with it. */
enum { MEMORY_MAX = 512 << 20, KIB_MAX = 400 << 10 };

/* "barscope show SOURCE", INPUT as its standard input. */
static pid_t launch(const char *source, const char *input)
{
#ifdef TEST_LEAKS /* the sanitizer reserves terabytes of addresses */
	const size_t memory = 0;
#else
	const size_t memory = MEMORY_MAX;
#endif
	return program_start((const char *const[]){"show", source, NULL}, input, memory);
}

static void collect(pid_t pid, struct outcome *ret)
{
	program_end(pid, ret);
#ifndef TEST_LEAKS
	assert_true(ret->kib < KIB_MAX);
#endif
}

static void refused(const struct outcome *o, const char *why)
{
	assert_int_equal(o->status, 3);
	assert_string_equal(o->out, "");
	const char *nl = strchr(o->err, '\n');
	assert_non_null(nl);
	assert_int_equal(nl[1], '\0'); /* one sentence */
	assert_non_null(strstr(o->err, why));
}

static void write_file(const char *name, const char *data, size_t len)
{
	FILE *f = fopen(in_folder(name), "w");
	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, len, f), len);
	assert_int_equal(fclose(f), 0);
}

static void two_gigabytes(void **state)
{
	(void)state;
	struct outcome o;
	write_file("huge", "", 0);
	assert_int_equal(truncate(in_folder("huge"), (off_t)2 << 30), 0);
	collect(launch(in_folder("huge"), "/dev/null"), &o);
	refused(&o, "larger than 64 MiB");
	collect(launch("-", in_folder("huge")), &o);
	refused(&o, "larger than 64 MiB");
	unlink(in_folder("huge"));
}

/* Packed to nearly nothing. */
static void larger_when_unpacked(void **state)
{
	(void)state;
	enum { LEN = 80 << 20 };
	struct outcome o;
	char *plain = calloc(1, LEN), *packed;
	size_t len;
	assert_non_null(plain);
	assert_int_equal(gz_pack(plain, LEN, &packed, &len), 0);
	assert_true(len < LEN / 100);
	write_file("bomb.gz", packed, len);
	free(plain);
	free(packed);
	collect(launch(in_folder("bomb.gz"), "/dev/null"), &o);
	refused(&o, "64 MiB");
}

static void devices_without_end(void **state)
{
	(void)state;
	struct outcome o;
	collect(launch("-", "/dev/zero"), &o);
	refused(&o, "larger than 64 MiB");
	collect(launch("/dev/zero", "/dev/null"), &o);
	refused(&o, "larger than 64 MiB");
	collect(launch("/dev/null", "/dev/null"), &o);
	refused(&o, "empty");
	collect(launch("-", "/dev/null"), &o);
	refused(&o, "empty");
}

/* A FIFO whose writer writes TEXT for ever, until nobody reads. */
static void fifo_for_ever(const char *text)
{
	struct outcome o;
	assert_int_equal(mkfifo(in_folder("fifo"), 0600), 0);
	pid_t writer = fork();
	if (writer == 0) {
		signal(SIGPIPE, SIG_DFL);
		alarm(60); /* when nobody came to read */
		int fd = open(in_folder("fifo"), O_WRONLY);
		char block[4096];
		for (size_t i = 0; i < sizeof(block); i++) {
			block[i] = text[i % strlen(text)];
		}
		while (write(fd, block, sizeof(block)) > 0) {
		}
		_exit(1);
	}
	collect(launch(in_folder("fifo"), "/dev/null"), &o);
	refused(&o, "larger than 64 MiB");
	int status;
	assert_int_equal(waitpid(writer, &status, 0), writer);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE);
	unlink(in_folder("fifo"));
}

static void fifos_that_never_end(void **state)
{
	(void)state;
	fifo_for_ever("a line that never ends, ");
	fifo_for_ever("01:00.0 VGA compatible controller: NVIDIA Corporation Device 2204\n");
}

/* A writer that stays and says no more: the reader waits as cat does, and SIGINT ends it. */
static void fifo_that_is_silent(void **state)
{
	(void)state;
	struct outcome o;
	static const char start[] = "01:00.0 VGA compatible";
	assert_int_equal(mkfifo(in_folder("fifo"), 0600), 0);
	pid_t pid = launch(in_folder("fifo"), "/dev/null");
	int fd = open(in_folder("fifo"), O_WRONLY); /* returns when the reader has opened it */
	assert_true(fd >= 0);
	assert_int_equal(write(fd, start, strlen(start)), (ssize_t)strlen(start));
	kill(pid, SIGINT);
	collect(pid, &o);
	assert_true(o.status == 1000 + SIGINT || o.status == 128 + SIGINT);
	assert_string_equal(o.out, "");
	close(fd);
	unlink(in_folder("fifo"));
}

static void binary_junk(void **state)
{
	(void)state;
	enum { LEN = 4 << 20 };
	struct outcome o;
	char *junk = malloc(LEN);
	assert_non_null(junk);
	uint64_t x = 88172645463325252u;
	for (size_t i = 0; i < LEN; i++) {
		x ^= x << 13, x ^= x >> 7, x ^= x << 17; /* xorshift */
		junk[i] = (char)(x >> 32);
	}
	write_file("junk", junk, LEN);
	collect(launch(in_folder("junk"), "/dev/null"), &o);
	refused(&o, "nothing recognised");
	memset(junk, 0, LEN);
	write_file("junk", junk, LEN);
	collect(launch(in_folder("junk"), "/dev/null"), &o);
	refused(&o, "nothing recognised");
	memcpy(junk, "\x1f\x8b\x08\x00", 4); /* gzip's first bytes and nothing behind them */
	write_file("junk", junk, LEN);
	collect(launch(in_folder("junk"), "/dev/null"), &o);
	refused(&o, "junk");
	free(junk);
}

/* What stands before and behind an endless line is read, and what was left out is said. */
static void endless_line_between_devices(void **state)
{
	(void)state;
	enum { LEN = 24 << 20 };
	static const char first[] =
		"01:00.0 VGA compatible controller [0300]: NVIDIA Corporation Device [10de:2204]\n"
		"\tRegion 1: Memory at 6000000000 (64-bit, prefetchable) [size=256M]\n\n";
	static const char last[] =
		"\n\n02:00.0 VGA compatible controller [0300]: NVIDIA Corporation Device "
		"[10de:2204]\n\tRegion 1: Memory at 7000000000 (64-bit, prefetchable) [size=32G]\n";
	struct outcome o;
	char *text = malloc(LEN);
	assert_non_null(text);
	memset(text, 'x', LEN);
	memcpy(text, first, strlen(first));
	memcpy(text + LEN - strlen(last), last, strlen(last));
	write_file("long", text, LEN);
	free(text);
	collect(launch(in_folder("long"), "/dev/null"), &o);
	assert_int_equal(o.status, 0);
	assert_non_null(strstr(o.out, "0x6000000000"));
	assert_non_null(strstr(o.out, "0x7000000000"));
	assert_non_null(strstr(o.out, "32 GiB"));
	const char *note = strstr(o.out, "a part was not read");
	assert_true(note || strstr(o.err, "a part was not read"));
}

/* A name that is neither a file nor a run is said to be neither, store or not. */
static void no_such_name(void **state)
{
	(void)state;
	struct outcome o;
	collect(launch("nosuch.txt", "/dev/null"), &o);
	refused(&o, "nosuch.txt: no such file");
	collect(launch("/nosuch/folder", "/dev/null"), &o);
	refused(&o, "/nosuch/folder: No such file");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_gigabytes),
		cmocka_unit_test(larger_when_unpacked),
		cmocka_unit_test(devices_without_end),
		cmocka_unit_test(fifos_that_never_end),
		cmocka_unit_test(fifo_that_is_silent),
		cmocka_unit_test(binary_junk),
		cmocka_unit_test(endless_line_between_devices),
		cmocka_unit_test(no_such_name),
	};
	return cmocka_run_group_tests(tests, program_folder_make, program_folder_remove);
}
