/* SPDX-License-Identifier: GPL-2.0-or-later */
/* "barscope stress" from outside: output, JSON, exit statuses, signals. Needs $BARSCOPE. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/macros.h"
#include "tests/cli/program.h"

/* "barscope stress ARGUMENTS": ARGUMENTS ends with NULL. */
static pid_t launch(const char *const *arguments)
{
	const char *all[26] = {"stress"};

	for (size_t i = 0; arguments[i]; i++) {
		assert_true(i + 2 < ARRAY_LEN(all));
		all[i + 1] = arguments[i];
	}
	return program_start(all, NULL, 0);
}

#define RUN(o, ...) program_end(launch((const char *const[]){__VA_ARGS__, NULL}), o)

static const char *script(const char *text)
{
	static char path[128];
	snprintf(path, sizeof(path), "%s", in_folder("script"));
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	return path;
}

static struct js *parse(const struct outcome *o)
{
	struct js *j = NULL;
	struct why why;
	if (js_parse(o->out, strlen(o->out), &j, &why) < 0) {
		fail_msg("%s: %s %s", why.text, o->out, o->err);
	}
	assert_string_equal(js_get_str(j, "schema"), "barscope.stress/1");
	return j;
}

static void a_script_in_numbers(void **state)
{
	(void)state;
	/* Hosts: 5000 times 1000 ns with two of 3000 and one of 90000. */
	const char *path = script("100 850 50 10 hash=ab repeat=4997\n"
				  "100 2850 50 10 hash=ab repeat=2\n"
				  "100 89850 50 10 hash=ab\n");
	struct outcome o;
	RUN(&o, "--script", path, "--speed", "max", "--json");
	assert_int_equal(o.status, 0);
	assert_string_equal(o.err, "");
	struct js *j = parse(&o);
	assert_string_equal(js_get_str(j, "backend"), "script");
	assert_string_equal(js_get_str(j, "state"), "done");
	assert_int_equal(js_get_int(j, "samples", -1), 5000);
	assert_int_equal(js_get_int(j, "dropped", -1), 0);
	assert_int_equal(js_get_int(j, "p50_ns", -1), 1000);
	assert_int_equal(js_get_int(j, "p99_ns", -1), 1000);
	assert_int_equal(js_get_int(j, "p999_ns", -1), 1000);
	assert_int_equal(js_get_int(j, "max_ns", -1), 90000);
	assert_true(js_get_real(j, "band", -1) == 0);
	assert_string_equal(js_get_str(j, "hash"), "0xab");
	assert_false(js_get_bool(j, "corruption", true));
	const struct js *layers = js_get(j, "layers");
	static const struct {
		const char *name;
		int p50, max;
	} expected[] = {{"host", 1000, 90000}, {"launch", 100, 100}, {"device", 850, 89850},
		{"notify", 50, 50}, {"gap", 10, 10}};
	for (size_t i = 0; i < ARRAY_LEN(expected); i++) {
		const struct js *l = js_get(layers, expected[i].name);
		assert_int_equal(js_get_int(l, "p50_ns", -1), expected[i].p50);
		assert_int_equal(js_get_int(l, "max_ns", -1), expected[i].max);
	}
	/* No matrices, no floor: members that are not known are left out. */
	assert_null(js_get(j, "gb_per_s"));
	assert_null(js_get(j, "ceiling_share"));
	js_free(j);
}

static void too_few_samples_name_no_tail(void **state)
{
	(void)state;
	const char *path = script("100 850 50 10 repeat=399\n");
	struct outcome o;
	RUN(&o, "--script", path, "--speed", "max", "--json");
	struct js *j = parse(&o);
	assert_int_equal(js_get_int(j, "samples", -1), 399);
	assert_null(js_get(j, "p99_ns"));
	js_free(j);
	RUN(&o, "--script", path, "--speed", "max");
	assert_int_equal(o.status, 0);
	assert_non_null(strstr(o.out, "p99 needs 400 samples, p99.9 4000"));

	path = script("100 850 50 10 repeat=400\n");
	RUN(&o, "--script", path, "--speed", "max", "--json");
	j = parse(&o);
	assert_int_equal(js_get_int(j, "p99_ns", -1), 1000);
	assert_null(js_get(j, "p999_ns"));
	js_free(j);
}

static void limits_cut_by_the_samples_clock(void **state)
{
	(void)state;
	/* 1 ms from submit to submit, played at once. */
	const char *path = script("100 850 40 10\n100 99000000 0 998900 read\nagain\n");
	struct outcome o;
	RUN(&o, "--script", path, "--speed", "max", "--seconds", "3", "--json");
	assert_int_equal(o.status, 0);
	struct js *j = parse(&o);
	assert_int_equal(js_get_int(j, "samples", -1), 30); /* one every 100 ms; reads apart */
	js_free(j);
	RUN(&o, "--script", path, "--speed", "max", "--samples", "7", "--json");
	j = parse(&o);
	assert_int_equal(js_get_int(j, "samples", -1), 7);
	js_free(j);
}

static void the_cpu_measures_itself(void **state)
{
	(void)state;
	struct outcome o;
	RUN(&o, "--backend", "cpu", "--shape", "1x512x512", "--threads", "1", "--copies", "4",
		"--seconds", "0.5", "--json");
	assert_int_equal(o.status, 0);
	struct js *j = parse(&o);
	assert_string_equal(js_get_str(j, "backend"), "cpu");
	assert_string_equal(js_get_str(j, "shape"), "1x512x512");
	assert_int_equal(js_get_int(j, "threads", 0), 1);
	assert_true(js_get_int(j, "samples", 0) > 100);
	assert_int_equal(js_get_int(j, "bytes", 0), 2 * (512 * 512 + 512 + 512));
	double gb = js_get_real(j, "gb_per_s", 0), ceiling = js_get_real(j, "ceiling_gb_per_s", 0);
	double share = js_get_real(j, "ceiling_share", 0);
	assert_true(gb > 0 && ceiling > 0);
	if (js_get(j, "ceiling_share")) {
		assert_true(share > gb / ceiling * 0.999 && share < gb / ceiling * 1.001);
		assert_true(share < 1.06 && js_get(j, "floor_ns"));
	} else { /* others had the cores while the loops ran */
		assert_true(gb > ceiling * 1.04 && !js_get(j, "floor_ns"));
	}
	assert_true(js_get_real(j, "max_error", -1) >= 0);
	assert_true(js_get_real(j, "max_error", 1) <= js_get_real(j, "error_limit", 0));
	assert_non_null(js_get_str(j, "hash"));
	js_free(j);

	RUN(&o, "--backend", "cpu", "--shape", "1x512x512", "--seconds", "0.2", "--no-ceiling",
		"--dtype", "f32", "--kernel", "ref");
	assert_int_equal(o.status, 0);
	assert_non_null(strstr(o.out, "1x512x512 f32, kernel ref"));
	assert_non_null(strstr(o.out, "the read ceiling was not measured"));
}

static void paced_launches_keep_their_pace(void **state)
{
	(void)state;
	struct outcome o;
	RUN(&o, "--backend", "cpu", "--shape", "1x64x64", "--paced", "10ms", "--seconds", "1",
		"--json");
	assert_int_equal(o.status, 0);
	struct js *j = parse(&o);
	/* Intended starts are exact, however busy the machine is: 100, and one at the edge. */
	int64_t n = js_get_int(j, "samples", -1);
	assert_true(n >= 99 && n <= 101);
	assert_true(js_get_int(j, "missed", -1) >= 0);
	js_free(j);
	/* Launches that take longer than the pace allows: nearly all begin late. */
	RUN(&o, "--backend", "cpu", "--shape", "1x512x512", "--kernel", "ref", "--paced", "1us",
		"--samples", "300");
	assert_int_equal(o.status, 0);
	assert_non_null(strstr(o.out, "of 300 began more than a period late: they"));
	/* Counted where a script says so, too. */
	RUN(&o, "--script", script("1 2 3 4 missed repeat=7\n1 2 3 4 repeat=93\n"), "--speed",
		"max");
	assert_non_null(strstr(o.out, "7 of 100 began more than a period late"));
}

static void corruption_is_a_finding(void **state)
{
	(void)state;
	const char *path = script("1 2 3 4 hash=1 repeat=9\n1 2 3 4 hash=2\n");
	struct outcome o;
	RUN(&o, "--script", path, "--speed", "max");
	assert_int_equal(o.status, 1);
	assert_non_null(strstr(o.out, "1 sample differs from the golden output"));
	RUN(&o, "--script", path, "--speed", "max", "--json");
	assert_int_equal(o.status, 1);
	struct js *j = parse(&o);
	assert_true(js_get_bool(j, "corruption", false));
	js_free(j);
}

static void an_injected_fault_is_found(void **state)
{
	(void)state;
	struct outcome o;
	RUN(&o, "--backend", "cpu", "--shape", "2x256x256", "--threads", "1", "--copies", "2",
		"--seconds", "2", "--inject-fault", "output", "--json");
	assert_int_equal(o.status, 1);
	struct js *j = parse(&o);
	assert_true(js_get_bool(j, "corruption", false));
	assert_int_equal(js_get_int(j, "mismatches", -1), 1);
	assert_string_equal(js_get_str(js_get(j, "finding"), "kind"), "transient");
	assert_int_equal(js_get_int(js_get(j, "finding"), "outputs", -1), 1);
	js_free(j);

	/* Recorded, the finding is an event of the run. */
	char store[160];
	snprintf(store, sizeof(store), "%s", in_folder("found.db"));
	RUN(&o, "--backend", "cpu", "--shape", "2x256x256", "--threads", "1", "--copies", "2",
		"--seconds", "12", "--inject-fault", "weight", "--record", "found", "--store",
		store);
	assert_int_equal(o.status, 1);
	assert_non_null(strstr(o.out, "weights changed in memory, 1 word, first at byte 0x"));

	RUN(&o, "--backend", "cpu", "--shape", "1x256x256", "--threads", "1", "--seconds", "2",
		"--inject-fault", "delay", "--json");
	assert_int_equal(o.status, 0);
	j = parse(&o);
	assert_int_equal(js_get_int(js_get(j, "delayed"), "delay_ns", -1), 50000);
	assert_true(js_get_real(js_get(j, "delayed"), "launch_ns", 0) > 45000);
	js_free(j);
}

static void trouble_keeps_what_was_measured(void **state)
{
	(void)state;
	struct outcome o;
	RUN(&o, "--script", script("1 2 3 4 repeat=50\n1 2 3 4 crash\n"), "--speed", "max",
		"--json");
	assert_int_equal(o.status, 3);
	assert_non_null(strstr(o.err, "ended by signal 11"));
	struct js *j = parse(&o);
	assert_string_equal(js_get_str(j, "state"), "died");
	assert_int_equal(js_get_int(j, "samples", -1), 50);
	js_free(j);

	RUN(&o, "--script", script("1 2 3 4 repeat=50\n1 2 3 4 fail\n"), "--speed", "max",
		"--json");
	assert_int_equal(o.status, 3);
	assert_string_equal(o.err, "barscope: script line 2 says that this launch fails\n");
	j = parse(&o);
	assert_string_equal(js_get_str(j, "state"), "failed");
	js_free(j);

	RUN(&o, "--script", script("1 2 3 4 repeat=50\n1 2 3 4 hang\n"), "--seconds", "0.1",
		"--json");
	assert_int_equal(o.status, 3);
	assert_non_null(strstr(o.err, "the worker has not answered for"));
	j = parse(&o);
	assert_string_equal(js_get_str(j, "state"), "hung");
	assert_int_equal(js_get_int(j, "samples", -1), 50);
	js_free(j);
}

/* Returns once the run that is recorded in STORE has samples there. */
static void await_samples(const char *store)
{
	char command[512], text[4096];
	/* Not by program_start(), whose output files are those of the program that runs. */
	snprintf(command, sizeof(command), "\"$BARSCOPE\" runs show 1 --json --store '%s' 2>&1",
		store);
	for (int i = 0; i < 300; i++) {
		FILE *f = popen(command, "r");
		assert_non_null(f);
		text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
		pclose(f);
		const char *n = strstr(text, "\"samples\": ");
		if (n && strtoull(n + 11, NULL, 10) > 0) {
			return;
		}
		usleep(200000);
	}
	fail_msg("no samples in %s: %s", store, text);
}

static void signals_end_it_after_the_summary(void **state)
{
	(void)state;
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
	for (size_t i = 0; i < ARRAY_LEN(signals); i++) {
		const char *path = script("1000 998000 900 100\nagain\n");
		char store[160], name[24];
		snprintf(name, sizeof(name), "signal%zu.db", i);
		snprintf(store, sizeof(store), "%s", in_folder(name));
		pid_t pid = launch((const char *const[]){
			"--script", path, "--record", "signal", "--store", store, "--json", NULL});
		await_samples(store);
		kill(pid, signals[i]);
		struct outcome o;
		program_end(pid, &o);
		assert_int_equal(o.status, 128 + signals[i]);
		struct js *j = parse(&o);
		assert_string_equal(js_get_str(j, "state"), "stopped");
		assert_true(js_get_int(j, "samples", 0) > 0);
		js_free(j);
	}
}

static void bad_arguments_are_one_sentence(void **state)
{
	(void)state;
	static const struct {
		const char *arguments[5];
		const char *sentence;
	} bad[] = {
		{{"--shape", "0x4096x11008"}, "each of M, K and N must be from 1 to 16777216"},
		{{"--shape", "1x4096"}, "shape '1x4096' is not MxKxN"},
		{{"--shape", "1x16777216x16777216"}, "a matrix of more than 2^40 elements"},
		{{"--shape", "1x99999999999999999999999x1"}, "each of M, K and N"},
		{{"--shape", "-1x2x3"}, "is not MxKxN"},
		{{"--shape"}, "--shape needs a value"},
		{{"--shape", "1x8x8", "--shape", "1x8x8"}, "--shape is given twice"},
		{{"--sweep", "--sweep=1x8x8"}, "--sweep is given twice"},
		{{"--store="}, "--store needs a value"},
		{{"--threads", "0"}, "--threads takes a number from 1 to 65536, not '0'"},
		{{"--threads", "1.5"}, "--threads takes a number"},
		{{"--seconds", "0"}, "--seconds takes a time in seconds from 0.001 to a year"},
		{{"--seconds", "0.0000000001"}, "--seconds takes a time in seconds"},
		{{"--seconds", "1m"}, "such as 0.5 or 60, not '1m'"},
		{{"--fill", "50"}, "or a size from 1M on, such as 20G, not '50'"},
		{{"--seconds", "nan"}, "--seconds takes a time"},
		{{"--seconds", "-3"}, "--seconds takes a time"},
		{{"--samples", "0"}, "--samples takes a number from 1"},
		{{"--paced", "10"}, "--paced takes a time from 1us to an hour"},
		{{"--dtype", "f64"}, "--dtype takes f16 or f32, not 'f64'"},
		{{"--speed", "2"}, "--speed belongs to the script back end"},
		{{"--backend", "script"}, "the script back end needs --script FILE"},
		{{"--backend", "cpu", "--script", "x"}, "--script belongs to the script back end"},
		{{"--backend", "cpu", "--device", "0000:01:00.0"},
			"--device means nothing to the cpu back end"},
		{{"--backend", "cuda", "--threads", "2"},
			"--threads means nothing to the cuda back end"},
		{{"--script", "x", "--copies", "2"}, "--copies means nothing to the script back"},
		{{"--script", "x", "--inject-fault", "weight"}, "--inject-fault means nothing to"},
		{{"--script", "x", "--watch-gaps"}, "--watch-gaps means nothing to"},
		{{"--inject-fault", "disk"}, "--inject-fault takes output, weight or delay"},
		{{"--inject-fault", "output", "--seconds", "1"}, "needs --seconds 2 or more"},
		{{"--inject-fault", "weight", "--seconds", "5"}, "needs --seconds 10 or more"},
		{{"--record", ""}, "--record needs a value"},
		{{"--frobnicate"}, "'--frobnicate' is no option of it"},
		{{"-js"}, "'-js' is no option of it"},
		{{"--hot", "-js"}, "'-js' is no option of it"},
		{{"extra"}, "'extra' is not expected here"},
		{{"--", "-js"}, "'-js' is not expected here"},
		{{"--backend", "abacus"}, "there is no back end 'abacus'"},
		{{"--backend", "cpu", "--threads", "65536"},
			"65536 threads: this process may run on"},
		{{"--backend", "cpu", "--shape", "1x16777216x65536"}, "needs 4.00 TiB of memory"},
		{{"--backend", "cpu", "--kernel", "abacus"}, "there is no kernel 'abacus'"},
#ifdef __x86_64__
		{{"--backend", "cpu", "--kernel", "neon"}, "'neon' is for 64-bit ARM processors"},
#endif
		{{"--script", "/nonexistent/file"}, "/nonexistent/file"},
		{{"--secon", "1"}, "'--secon' is no option of it"},
		{{"--hot=1"}, "--hot takes no value"},
		{{"--hot", "--copies", "5"}, "--hot is one copy"},
		{{"--sweep="}, "--sweep= needs shapes"},
		{{"--backend", "cpu", "--fill", "900T"}, "900 TiB of memory cannot be filled"},
	};
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		const char *arguments[6] = {NULL};
		for (size_t k = 0; k < 5; k++) {
			arguments[k] = bad[i].arguments[k];
		}
		struct outcome o;
		program_end(launch(arguments), &o);
		if (o.status != 3 || !strstr(o.err, bad[i].sentence) || *o.out) {
			fail_msg("%s %s: status %d, '%s', '%s'", arguments[0],
				arguments[1] ? arguments[1] : "", o.status, o.err, o.out);
		}
	}
}

static void a_record_is_asked_for_before_the_run(void **state)
{
	(void)state;
	const char *path = script("1000 98000 900 100 repeat=50\n");
	char store[160];
	snprintf(store, sizeof(store), "%s", in_folder("store/barscope.db"));
	struct outcome o;
	for (int i = 1; i <= 2; i++) {
		RUN(&o, "--script", path, "--record", "before", "--store", store, "--json");
		assert_int_equal(o.status, 0);
		struct js *j = parse(&o);
		assert_int_equal(js_get_int(j, "run", -1), i);
		assert_int_equal(js_get_int(j, "samples", -1), 50);
		js_free(j);
	}
	/* Not a store, and no place for one: the run does not begin. */
	RUN(&o, "--script", path, "--record", "before", "--store", path);
	assert_int_equal(o.status, 3);
	assert_string_equal(o.out, "");
	assert_non_null(strstr(o.err, "is not a barscope store"));
	RUN(&o, "--script", path, "--record", "before", "--store", "/proc/nowhere/barscope.db");
	assert_int_equal(o.status, 3);
	assert_string_equal(o.out, "");
	assert_non_null(strstr(o.err, "/proc/nowhere"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_script_in_numbers),
		cmocka_unit_test(too_few_samples_name_no_tail),
		cmocka_unit_test(limits_cut_by_the_samples_clock),
		cmocka_unit_test(the_cpu_measures_itself),
		cmocka_unit_test(paced_launches_keep_their_pace),
		cmocka_unit_test(corruption_is_a_finding),
		cmocka_unit_test(an_injected_fault_is_found),
		cmocka_unit_test(trouble_keeps_what_was_measured),
		cmocka_unit_test(signals_end_it_after_the_summary),
		cmocka_unit_test(a_record_is_asked_for_before_the_run),
		cmocka_unit_test(bad_arguments_are_one_sentence),
	};
	if (!getenv("BARSCOPE")) {
		printf("BARSCOPE is not set: no program to run\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, program_folder_make, program_folder_remove);
}
