/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A journal that answers, one that hangs, and one that hangs while others write the store. */
#include "runs/lastwords.h"

#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "runs/postmortem.h"
#include "runs/write.h"
#include "tests/runs/place.h"

static const char boot[] = "22222222-0000-0000-0000-000000000000";

/* A journalctl that is this script stands first in PATH from now on. */
static void put_journal(const struct place *p, const char *script)
{
	char path[256], text[1024], dirs[256];
	snprintf(text, sizeof(text), "#!/bin/sh\ncd %s\n%s", p->root, script);
	place_file(p, "bin/journalctl", text);
	snprintf(path, sizeof(path), "%s/bin/journalctl", p->root);
	assert_int_equal(chmod(path, 0755), 0);
	snprintf(dirs, sizeof(dirs), "%s/bin:/usr/bin:/bin", p->root);
	setenv("PATH", dirs, 1);
}

static uint64_t in_ms(uint64_t ms)
{
	return clock_ns() + ms * 1000000;
}

static void the_journal_of_that_boot_is_read(void **state)
{
	char words[160] = "";
	put_journal(*state,
		"case $1 in --boot=22222222000000000000000000000000) ;; *) exit 1 ;; esac\n"
		"echo 'Nov 01 10:00:00 host kernel: NVRM: Xid (PCI:0000:01:00): 62, halt'\n"
		"echo 'Nov 01 10:00:01 host kernel: NVRM: Xid (PCI:0000:01:00): 79, GPU has'\n"
		"echo 'Nov 01 10:00:02 host kernel: usb 1-1: new device'\n");
	assert_true(runs_last_words(NULL, boot, INT64_MAX, in_ms(60000), words, sizeof(words)));
	assert_string_equal(words, "NVRM: Xid (PCI:0000:01:00): 79, GPU has");
	/* Another boot, or what is none, or another root: nothing. */
	assert_false(runs_last_words(NULL, "33333333-0000-0000-0000-000000000000", INT64_MAX,
		in_ms(60000), words, sizeof(words)));
	assert_false(
		runs_last_words(NULL, "$(reboot)", INT64_MAX, in_ms(60000), words, sizeof(words)));
	assert_false(runs_last_words(((struct place *)*state)->root, boot, INT64_MAX, in_ms(60000),
		words, sizeof(words)));
}

static void whose_machine_it_was_is_not_told(void **state)
{
	char words[160] = "";
	put_journal(*state, "echo 'host kernel: AER: serial=AB12 de:ad:be:ef:00:01'\n");
	assert_true(runs_last_words(NULL, boot, INT64_MAX, in_ms(60000), words, sizeof(words)));
	assert_string_equal(words, "AER: serial=XXXX 00:00:00:00:00:00");
}

static void a_journal_that_hangs_is_given_up(void **state)
{
	char words[160] = "";
	put_journal(*state, "echo 'host kernel: Kernel panic - not syncing'\nexec sleep 300\n");
	uint64_t from = clock_ns();
	/* What it told counts; whether it came to that in time is the machine's affair. */
	if (runs_last_words(NULL, boot, INT64_MAX, in_ms(700), words, sizeof(words))) {
		assert_string_equal(words, "Kernel panic - not syncing");
	}
	assert_true(clock_ns() - from < (uint64_t)100 * 1000000000);
}

/* A run of an earlier boot, never closed. */
static void leave_open(const struct place *p)
{
	struct runs_store *s = NULL;
	struct why why = {""};
	struct runs_info run = {.state = RUNS_RUNNING, .max_error = -1};
	int64_t id;
	runs_write_uid(run.uid);
	snprintf(run.label, sizeof(run.label), "down");
	snprintf(run.boot_id, sizeof(run.boot_id), "%s", boot);
	assert_int_equal(runs_store_open(p->store, RUNS_STORE_CREATE, &s, &why), 0);
	assert_int_equal(runs_write_open(s, &why), 0);
	assert_int_equal(runs_write_run(s, &run, "{}", &id, &why), 0);
	assert_int_equal(runs_db_end(runs_store_db(s), 0, &why), 0);
	runs_store_close(s);
}

static void the_store_is_free_while_the_journal_is_read(void **state)
{
	const struct place *p = *state;
	char started[256];
	struct runs_store *s = NULL;
	struct why why = {""};
	struct runs_crash crash = {0};
	leave_open(p);
	put_journal(p, "touch started\nwhile [ ! -e go ]; do sleep 0.05; done\n"
		       "echo 'host kernel: watchdog: BUG: soft lockup'\n");
	snprintf(started, sizeof(started), "%s/started", p->root);
	const pid_t writer = fork();
	assert_true(writer >= 0);
	if (writer ==
		0) { /* writes while the journal waits for it; a locked store is seen in 10 s */
		for (int i = 0; i < 1000 && access(started, F_OK); i++) {
			poll(NULL, 0, 20);
		}
		int bad = runs_store_open(p->store, RUNS_STORE_WRITE, &s, &why) ||
			  runs_write_open(s, &why) || runs_db_end(runs_store_db(s), 0, &why);
		place_file(p, "go", "");
		_exit(bad ? 1 : 0);
	}
	assert_int_equal(runs_store_open(p->store, RUNS_STORE_WRITE, &s, &why), 0);
	assert_int_equal(runs_postmortem(s, NULL, "11111111-0000-0000-0000-000000000000", 100000,
				 &crash, &why),
		0);
	int status = -1;
	assert_true(waitpid(writer, &status, 0) == writer);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	assert_string_equal(crash.label, "down");
	assert_non_null(strstr(crash.text, "last words: watchdog: BUG: soft lockup"));
	runs_store_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			the_journal_of_that_boot_is_read, place_setup, place_teardown),
		cmocka_unit_test_setup_teardown(
			whose_machine_it_was_is_not_told, place_setup, place_teardown),
		cmocka_unit_test_setup_teardown(
			a_journal_that_hangs_is_given_up, place_setup, place_teardown),
		cmocka_unit_test_setup_teardown(
			the_store_is_free_while_the_journal_is_read, place_setup, place_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
