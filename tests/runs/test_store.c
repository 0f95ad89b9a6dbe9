/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The store's file: made, opened, locked, refused, damaged, written by another version. */
#include "runs/store.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "base/macros.h"
#include "runs/info.h"
#include "runs/write.h"
#include "tests/runs/place.h"

static struct runs_store *open_new(const struct place *p)
{
	struct runs_store *s;
	struct why why;
	assert_int_equal(runs_store_open(p->store, RUNS_STORE_CREATE, &s, &why), 0);
	return s;
}

static int64_t add_run(struct runs_store *s, const char *label, const char *boot)
{
	struct runs_info run = {
		.started = 1700000000000000000,
		.touched = 1700000000000000000,
		.state = RUNS_RUNNING,
		.max_error = -1,
		.seed = UINT64_MAX - 5,
	};
	snprintf(run.label, sizeof(run.label), "%s", label);
	snprintf(run.boot_id, sizeof(run.boot_id), "%s", boot);
	snprintf(run.backend, sizeof(run.backend), "cpu");
	snprintf(run.shape, sizeof(run.shape), "1x8x8");
	snprintf(run.dtype, sizeof(run.dtype), "f16");
	runs_write_uid(run.uid);
	int64_t id = 0;
	struct why why;
	assert_int_equal(runs_write_open(s, &why), 0);
	assert_int_equal(runs_write_machine(s, "P: machine\n", 11, &run.machine, &why), 0);
	int r = runs_write_run(s, &run, "{\"kernel\":\"6.1\"}", &id, &why);
	struct runs_second *sec = place_second(0, 100, 30000);
	for (uint32_t i = 0; !r && i < 40; i++) {
		sec->second = i;
		r = runs_write_second(s, id, sec, &why);
	}
	runs_second_destroy(sec);
	assert_int_equal(runs_db_end(runs_store_db(s), r, &why), 0);
	return id;
}

static void what_names_a_run(void **state)
{
	struct why why;
	_cleanup_store_ struct runs_store *s = open_new(*state);
	int64_t b = add_run(s, "before", "boot-1"), c = add_run(s, "17", "boot-2");
	_cleanup_runs_ struct runs_list l = {0};
	/* A number is an id; label: and run: force it. */
	char ref[32];
	snprintf(ref, sizeof(ref), "%lld", (long long)b);
	assert_int_equal(runs_info_find(s, ref, NULL, &l, &why), 0);
	assert_int_equal(l.run[0].id, b);
	runs_list_finish(&l);
	assert_int_equal(runs_info_find(s, "17", NULL, &l, &why), -ENOENT);
	assert_non_null(strstr(why.text, "; its label of that name is label:17"));
	assert_int_equal(runs_info_find(s, "label:17", NULL, &l, &why), 0);
	assert_int_equal(l.run[0].id, c);
	runs_list_finish(&l);
	/* Named as another run's number is: nobody guesses. */
	int64_t d = add_run(s, ref, "boot-2");
	assert_int_equal(runs_info_find(s, ref, NULL, &l, &why), -ENOTUNIQ);
	char forced[40];
	snprintf(forced, sizeof(forced), "label:%s", ref);
	assert_non_null(strstr(why.text, forced));
	assert_int_equal(runs_info_find(s, forced, NULL, &l, &why), 0);
	assert_int_equal(l.run[0].id, d);
	runs_list_finish(&l);
	snprintf(forced, sizeof(forced), "run:%s", ref);
	assert_int_equal(runs_info_find(s, forced, NULL, &l, &why), 0);
	assert_int_equal(l.run[0].id, b);
	runs_list_finish(&l);
	assert_int_equal(runs_info_remove(s, d, &why), 0);
	assert_int_equal(runs_info_find(s, "run:x", NULL, &l, &why), -EINVAL);
	assert_int_equal(runs_info_find(s, "after", NULL, &l, &why), -ENOENT);
	assert_non_null(strstr(why.text, "'after'"));
}

static void what_goes_in_comes_out(void **state)
{
	const struct place *p = *state;
	struct why why;
	_cleanup_store_ struct runs_store *s = open_new(p);
	struct stat st;
	assert_int_equal(stat(p->store, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	int64_t a = add_run(s, "before", "boot-1"), b = add_run(s, "before", "boot-1");
	int64_t c = add_run(s, "17", "boot-2");
	_cleanup_runs_ struct runs_list l = {0};
	assert_int_equal(runs_info_find(s, "before", NULL, &l, &why), 0);
	assert_int_equal(l.n, 2);
	assert_true(l.run[0].id == a && l.run[1].id == b);
	assert_true(l.run[0].seed == UINT64_MAX - 5);
	assert_string_not_equal(l.run[0].uid, l.run[1].uid);
	assert_int_equal(l.run[0].machine, l.run[1].machine); /* kept once */
	assert_true(l.run[0].max_error < 0);
	runs_list_finish(&l);
	assert_int_equal(runs_info_list(s, NULL, "boot-1", &l, &why), 0);
	assert_int_equal(l.n, 3);
	assert_int_equal(l.run[0].state, RUNS_DIED); /* open, of this boot, nobody holds it */
	assert_int_equal(l.run[2].state, RUNS_MACHINE_DOWN);
	_cleanup_free_ char *machine = NULL;
	size_t len;
	assert_int_equal(runs_info_machine(s, l.run[0].machine, &machine, &len, &why), 0);
	assert_string_equal(machine, "P: machine\n");
	struct runs_hist h;
	runs_hist_init(&h, RUNS_HIST_1PCT);
	assert_int_equal(runs_info_hist(s, &l.run[0], STRESS_GEMM, RUNS_DEVICE, &h, &why), 0);
	assert_int_equal(h.total, 4000);
	assert_in_range(runs_hist_quantile(&h, 0.5), 31300, 31700);
	assert_int_equal(runs_info_hist(s, &l.run[0], STRESS_PEER, RUNS_DEVICE, &h, &why), 0);
	assert_int_equal(h.total, 0);
	runs_hist_finish(&h);
	struct runs_totals t;
	assert_int_equal(runs_info_totals(s, a, &t, &why), 0);
	assert_true(t.samples == 4000 && t.seconds == 40 && t.last == 39 && !t.events_lost);
	struct runs_event lost = {.source = RUNS_LOST, .code = 12};
	struct runs_second sec = {.second = 40, .event = &lost, .nevent = 1};
	assert_int_equal(runs_write_second(s, a, &sec, &why), 0);
	sec.second = 41;
	assert_int_equal(runs_write_second(s, a, &sec, &why), 0);
	assert_int_equal(runs_info_totals(s, a, &t, &why), 0);
	assert_true(t.events_lost == 24 && t.last == 41);
	uint32_t layers[STRESS_SERIES];
	assert_int_equal(runs_info_layers(s, a, layers, &why), 0);
	assert_int_equal(layers[STRESS_GEMM], 1 << RUNS_HOST | 1 << RUNS_LAUNCH | 1 << RUNS_DEVICE |
						      1 << RUNS_NOTIFY | 1 << RUNS_GAP);
	assert_int_equal(layers[STRESS_READ], 0);

	/* Removing a run removes what belongs to it, and the machine with its last user. */
	assert_int_equal(runs_info_remove(s, a, &why), 0);
	assert_int_equal(runs_info_remove(s, a, &why), -ENOENT);
	assert_int_equal(runs_info_totals(s, a, &t, &why), 0);
	assert_int_equal(t.samples, 0);
	free(machine);
	machine = NULL;
	assert_int_equal(runs_info_machine(s, l.run[1].machine, &machine, &len, &why), 0);
	assert_int_equal(runs_info_remove(s, b, &why), 0);
	assert_int_equal(runs_info_remove(s, c, &why), 0);
	char *gone;
	assert_int_equal(runs_info_machine(s, l.run[1].machine, &gone, &len, &why), -ENODATA);
	assert_non_null(strstr(why.text, "is damaged: it lacks machine"));
	assert_int_equal(runs_db_check(runs_store_db(s), &why), 0);
}

static int try(const char *path, enum runs_store_mode mode, struct why *why)
{
	struct runs_store *s = NULL;
	why->text[0] = '\0';
	int r = runs_store_open(path, mode, &s, why);
	if (r) {
		assert_true(strlen(why->text) > 10);
		assert_null(strchr(why->text, '\n'));
	}
	runs_store_close(s);
	return r;
}

static void put_bytes(const char *path, const void *data, size_t len, off_t at)
{
	_cleanup_fd_ int fd = open(path, O_WRONLY | O_CREAT, 0600);
	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, data, len, at), len);
}

static void what_is_no_store_is_refused(void **state)
{
	const struct place *p = *state;
	struct why why;
	assert_int_equal(try(p->store, RUNS_STORE_READ, &why), -ENOENT);
	assert_int_equal(try(p->store, RUNS_STORE_WRITE, &why), -ENOENT);
	assert_int_equal(try(p->dir, RUNS_STORE_CREATE, &why), -EISDIR);
	assert_int_equal(try("/proc/no/such/folder/x.db", RUNS_STORE_CREATE, &why), -ENOENT);

	char junk[8192];
	memset(junk, 'x', sizeof(junk));
	put_bytes(p->store, junk, sizeof(junk), 0);
	assert_int_equal(try(p->store, RUNS_STORE_READ, &why), -EMEDIUMTYPE);
	assert_int_equal(try(p->store, RUNS_STORE_CREATE, &why), -EMEDIUMTYPE);
	struct stat st;
	assert_int_equal(stat(p->store, &st), 0);
	assert_int_equal(st.st_size, sizeof(junk)); /* left as it was */

	/* Somebody else's SQLite file. */
	unlink(p->store);
	struct runs_db *db;
	assert_int_equal(runs_db_open(p->store, RUNS_DB_CREATE, &db, &why), 0);
	assert_int_equal(runs_db_exec(db, "CREATE TABLE bookmarks (x)", &why), 0);
	runs_db_close(db);
	assert_int_equal(try(p->store, RUNS_STORE_CREATE, &why), -EMEDIUMTYPE);
	assert_non_null(strstr(why.text, "another program"));

	/* An empty file is nobody's: reading finds no runs, writing makes it a store. */
	unlink(p->store);
	put_bytes(p->store, "", 0, 0);
	assert_int_equal(try(p->store, RUNS_STORE_READ, &why), -ENODATA);
	assert_int_equal(try(p->store, RUNS_STORE_CREATE, &why), 0);
	assert_int_equal(try(p->store, RUNS_STORE_READ, &why), 0);
}

static void a_later_schema_is_said(void **state)
{
	const struct place *p = *state;
	struct why why;
	runs_store_close(open_new(p));
	struct runs_db *db;
	assert_int_equal(runs_db_open(p->store, RUNS_DB_WRITE, &db, &why), 0);
	char sql[48];
	snprintf(sql, sizeof(sql), "PRAGMA user_version = %d", runs_store_schema_latest() + 1);
	assert_int_equal(runs_db_exec(db, sql, &why), 0);
	runs_db_close(db);
	assert_int_equal(try(p->store, RUNS_STORE_READ, &why), -EPROTONOSUPPORT);
	assert_int_equal(try(p->store, RUNS_STORE_WRITE, &why), -EPROTONOSUPPORT);
	assert_non_null(strstr(why.text, "later barscope"));
}

/* Reads everything a damaged store may give; it must fail or answer, never crash. */
static int read_all(const char *path)
{
	struct why why;
	_cleanup_store_ struct runs_store *s = NULL;
	int r = runs_store_open(path, RUNS_STORE_READ, &s, &why);
	_cleanup_runs_ struct runs_list l = {0};
	if (!r) {
		r = runs_info_list(s, NULL, "boot-1", &l, &why);
	}
	for (size_t i = 0; !r && i < l.n; i++) {
		struct runs_hist h;
		runs_hist_init(&h, RUNS_HIST_1PCT);
		r = runs_info_hist(s, &l.run[i], STRESS_GEMM, RUNS_HOST, &h, &why);
		runs_hist_finish(&h);
		_cleanup_free_ char *machine = NULL;
		size_t len;
		if (!r) {
			r = runs_info_machine(s, l.run[i].machine, &machine, &len, &why);
		}
	}
	return r;
}

static void damage_is_an_answer(void **state)
{
	const struct place *p = *state;
	struct runs_store *s = open_new(p);
	add_run(s, "x", "boot-1");
	add_run(s, "y", "boot-1");
	runs_store_close(s);
	_cleanup_free_ char *good = NULL;
	size_t len;
	struct why why;
	assert_int_equal(file_read_all(p->store, 16 * MIB, &good, &len, &why), 0);
	assert_int_equal(read_all(p->store), 0);
	size_t refused = 0, tries = 0;
	for (size_t cut = 0; cut < len; cut += 509) { /* truncated anywhere */
		unlink(p->store);
		put_bytes(p->store, good, cut, 0);
		refused += read_all(p->store) != 0;
		tries++;
	}
	assert_true(refused > tries * 9 / 10);
	for (size_t at = 0; at < len; at += 1024) { /* a burst of zeroes anywhere */
		char zero[200] = {0};
		unlink(p->store);
		put_bytes(p->store, good, len, 0);
		put_bytes(p->store, zero, sizeof(zero), (off_t)at);
		read_all(p->store);
	}
	/* A page in the middle overwritten: found by the check. */
	char junk[4096];
	memset(junk, 0x5a, sizeof(junk));
	put_bytes(p->store, good, len, 0);
	put_bytes(p->store, junk, sizeof(junk), (off_t)(len / 2 / 4096 * 4096));
	struct runs_db *db;
	assert_int_equal(runs_db_open(p->store, RUNS_DB_READ, &db, &why), 0);
	assert_int_equal(runs_db_check(db, &why), -EUCLEAN);
	runs_db_close(db);
}

/* Runs FN as nobody in a child, since root may write anything; returns its result. */
static int as_nobody(int (*fn)(const struct place *p), const struct place *p)
{
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		if (!geteuid() && (setgid(65534) || setuid(65534))) {
			_exit(99);
		}
		_exit(fn(p));
	}
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static int use_read_only(const struct place *p)
{
	struct runs_store *s = NULL;
	struct why why = {""};
	int r = runs_store_open(p->store, RUNS_STORE_CREATE, &s, &why);
	if (r != -EROFS || !strstr(why.text, "read-only")) {
		return 1;
	}
	/* Reading works, from a folder in which no lock file can be made too. */
	return read_all(p->store) ? 2 : 0;
}

static void read_only_is_said_and_still_read(void **state)
{
	const struct place *p = *state;
	struct runs_store *s = open_new(p);
	add_run(s, "x", "boot-1");
	runs_store_close(s);
	assert_int_equal(chmod(p->store, 0444), 0);
	assert_int_equal(chmod(p->dir, 0555), 0);
	assert_int_equal(as_nobody(use_read_only, p), 0);
	assert_int_equal(chmod(p->dir, 0700), 0);
}

static void a_lock_is_waited_for_then_said(void **state)
{
	const struct place *p = *state;
	struct why why;
	_cleanup_store_ struct runs_store *a = open_new(p);
	struct runs_store *b = NULL;
	assert_int_equal(runs_store_open(p->store, RUNS_STORE_WRITE, &b, &why), 0);
	runs_db_patience(runs_store_db(b), 50);
	assert_int_equal(runs_write_open(a, &why), 0);
	assert_int_equal(runs_write_open(b, &why), -EBUSY);
	assert_non_null(strstr(why.text, "locked by another program"));
	assert_int_equal(runs_db_end(runs_store_db(a), 0, &why), 0);
	assert_int_equal(runs_write_open(b, &why), 0);
	assert_int_equal(runs_db_end(runs_store_db(b), 0, &why), 0);

	/* The lock of a run is its own. */
	assert_false(runs_store_locked(a, 7));
	assert_int_equal(runs_store_lock(b, 7), 0);
	assert_true(runs_store_locked(a, 7));
	assert_false(runs_store_locked(a, 8));
	assert_int_equal(runs_store_lock(a, 7), -EAGAIN);
	runs_store_close(b);
	assert_false(runs_store_locked(a, 7));
}

static void odd_paths_work(void **state)
{
	const struct place *p = *state;
	char path[160];
	snprintf(path, sizeof(path), "%s/a b%%20?x#y é/st.db", p->dir);
	struct why why;
	assert_int_equal(try(path, RUNS_STORE_CREATE, &why), 0);
	assert_int_equal(access(path, F_OK), 0);
	assert_int_equal(try(path, RUNS_STORE_READ, &why), 0);
}

static void memory_file_systems_are_warned_about(void **state)
{
	(void)state;
	struct why why;
	if (access("/dev/shm", W_OK)) {
		skip();
	}
	assert_true(runs_store_warning("/dev/shm/no/such/folder/barscope.db", &why));
	assert_non_null(strstr(why.text, "tmpfs"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_names_a_run, place_setup, place_teardown),
		cmocka_unit_test_setup_teardown(
			what_goes_in_comes_out, place_setup, place_teardown),
		cmocka_unit_test_setup_teardown(
			what_is_no_store_is_refused, place_setup, place_teardown),
		cmocka_unit_test_setup_teardown(
			a_later_schema_is_said, place_setup, place_teardown),
		cmocka_unit_test_setup_teardown(damage_is_an_answer, place_setup, place_teardown),
		cmocka_unit_test_setup_teardown(
			read_only_is_said_and_still_read, place_setup, place_teardown),
		cmocka_unit_test_setup_teardown(
			a_lock_is_waited_for_then_said, place_setup, place_teardown),
		cmocka_unit_test_setup_teardown(odd_paths_work, place_setup, place_teardown),
		cmocka_unit_test(memory_file_systems_are_warned_about),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
