/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs barscope on a folder of real cases and compares with what each case's
 * expect.json asserts: facts (addresses, ids, BARs, ReBAR entries, VRAM) of show,
 * answers and causes of check. No answer may be wrong; one that claims to be proven
 * must be the expected one even where "unknown" would do as well. The folder
 * is $BARSCOPE_CASES, else ../shared/cases beside the source; it is not part of
 * the project, and without it the test is skipped. Arguments: names of cases, all
 * without any.
 */
#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/json.h"
#include "base/text.h"

enum { SKIPPED = 77, OUTPUT_MAX = 64 << 20 };

struct run {
	const char *name; /* of the case */
	unsigned failures;
};

__attribute__((format(printf, 2, 3))) static void fail(struct run *run, const char *fmt, ...)
{
	va_list ap;
	printf("%s%s: ", run->failures++ ? "" : "\n", run->name);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
}

static char *compact(const struct js *j)
{
	return j ? js_text_compact(j) : xstrdup("nothing");
}

/* Compares member KEY of EXPECTED, when it is there, with that of GOT. */
static void check_member(struct run *run, const char *where, const struct js *expected,
	const struct js *got, const char *key)
{
	const struct js *want = js_get(expected, key), *is = got ? js_get(got, key) : NULL;
	if (!want || (is && js_equal(want, is))) {
		return;
	}
	char *w = compact(want), *i = compact(is);
	fail(run, "%s: %s is %s, expected %s", where, key, i, w);
	free(w);
	free(i);
}

static bool same_member(const struct js *a, const struct js *b, const char *key)
{
	const struct js *x = js_get(a, key), *y = js_get(b, key);
	return x && y && js_equal(x, y);
}

static bool is_memory_bar(const struct js *bar)
{
	const char *kind = js_get_str(bar, "kind");
	return kind && !strcmp(kind, "bar") && !js_get_bool(bar, "io", false);
}

/* Without an index a BAR is matched by base, by size, or else by its kind, in order. */
static bool matches(const struct js *want, const struct js *bar)
{
	if (js_get(want, "index")) {
		return same_member(want, bar, "index");
	}
	if (js_get(want, "base")) {
		return same_member(want, bar, "base");
	}
	if (js_get(want, "size")) {
		return same_member(want, bar, "size");
	}
	return same_member(want, bar, "is64") && same_member(want, bar, "prefetchable") &&
	       same_member(want, bar, "assigned");
}

static void check_bars(
	struct run *run, const char *address, const struct js *want, const struct js *got)
{
	bool taken[64] = {false};
	for (size_t i = 0; i < js_len(want); i++) {
		const struct js *w = js_at(want, i), *found = NULL;
		for (size_t k = 0; k < js_len(got) && k < ARRAY_LEN(taken) && !found; k++) {
			if (!taken[k] && is_memory_bar(js_at(got, k)) &&
				matches(w, js_at(got, k))) {
				found = js_at(got, k);
				taken[k] = true;
			}
		}
		char *text = compact(w);
		if (!found) {
			fail(run, "%s: no BAR like %s", address, text);
		}
		free(text);
		static const char *const member[] = {
			"size", "base", "is64", "prefetchable", "assigned"};
		char where[96];
		snprintf(where, sizeof(where), "%s BAR %lld", address,
			(long long)js_get_int(w, "index", (int64_t)i));
		for (size_t m = 0; found && m < ARRAY_LEN(member); m++) {
			check_member(run, where, w, found, member[m]);
		}
	}
}

static void check_rebar(
	struct run *run, const char *address, const struct js *want, const struct js *got)
{
	char where[96];
	snprintf(where, sizeof(where), "%s ReBAR", address);
	check_member(run, where, want, got, "state");
	const struct js *entries = js_get(want, "entries"),
			*ours = got ? js_get(got, "entries") : NULL;
	if (entries && js_len(entries) != (ours ? js_len(ours) : 0)) {
		fail(run, "%s: %zu entries, expected %zu", where, ours ? js_len(ours) : 0,
			js_len(entries));
		return;
	}
	for (size_t i = 0; entries && i < js_len(entries); i++) {
		static const char *const member[] = {"bar", "current", "supported"};
		for (size_t m = 0; m < ARRAY_LEN(member); m++) {
			check_member(run, where, js_at(entries, i), js_at(ours, i), member[m]);
		}
	}
}

/* The device that the case's GPU is; one without address by order among such. */
static const struct js *find_device(
	const struct js *devices, const struct js *gpu, const char *address, size_t *nameless)
{
	size_t skip = *nameless;
	for (size_t i = 0; i < js_len(devices); i++) {
		const struct js *d = js_at(devices, i);
		const char *a = js_get_str(d, "address");
		if (address && a && !strcmp(a, address)) {
			return d;
		}
		if (!address && !a && js_get_bool(d, "is_gpu", false) && skip-- == 0) {
			(*nameless)++;
			return d;
		}
	}
	(void)gpu;
	return NULL;
}

static void check_facts(struct run *run, const struct js *expect, const struct js *machine)
{
	const struct js *gpus = js_get(expect, "gpus"), *devices = js_get(machine, "devices");
	size_t nameless = 0;

	for (size_t i = 0; i < js_len(gpus); i++) {
		const struct js *gpu = js_at(gpus, i);
		const char *address = js_get_str(gpu, "address");
		const struct js *d = find_device(devices, gpu, address, &nameless);
		address = address ? address : "(no address)";
		if (!d) {
			fail(run, "%s: no such device", address);
			continue;
		}
		if (!js_get_bool(d, "is_gpu", false)) {
			fail(run, "%s: not taken for a GPU", address);
		}
		check_member(run, address, gpu, d, "vendor");
		check_member(run, address, gpu, d, "device");
		if (js_get(gpu, "bars")) {
			check_bars(run, address, js_get(gpu, "bars"), js_get(d, "bars"));
		}
		if (js_get(gpu, "rebar")) {
			check_rebar(run, address, js_get(gpu, "rebar"), js_get(d, "rebar"));
		}
		int64_t vram;
		if (js_get(gpu, "vram") && js_int(js_get(gpu, "vram"), &vram)) {
			const struct js *v = js_get(d, "vram");
			int64_t is = v ? js_get_int(v, "bytes", 0) : 0;
			if (is != vram) {
				fail(run, "%s: VRAM is %lld, expected %lld", address, (long long)is,
					(long long)vram);
			}
		}
	}
}

/* ANSWER is WANT, or one of WANT's. */
static bool is_among(const struct js *want, const char *answer)
{
	const char *one = js_str(want);
	if (one) {
		return !strcmp(one, answer);
	}
	for (size_t i = 0; i < js_len(want); i++) {
		one = js_str(js_at(want, i));
		if (one && !strcmp(one, answer)) {
			return true;
		}
	}
	return false;
}

static const struct js *find_verdict(const struct js *gpu, const char *id)
{
	const struct js *list = js_get(gpu, "verdicts");
	for (size_t i = 0; i < js_len(list); i++) {
		const char *is = js_get_str(js_at(list, i), "id");
		if (is && !strcmp(is, id)) {
			return js_at(list, i);
		}
	}
	return NULL;
}

static void check_answers(
	struct run *run, const char *address, const struct js *want, const struct js *gpu)
{
	const struct js *answers = js_get(want, "verdicts"), *allowed;
	const char *id;
	for (size_t i = 0; answers && (id = js_member(answers, i, &allowed)); i++) {
		const struct js *v = find_verdict(gpu, id);
		const char *answer = v ? js_get_str(v, "answer") : NULL;
		const char *sure = v ? js_get_str(v, "confidence") : NULL;
		/* The first is the right one; what else is allowed must not claim to be proven. */
		bool proven = sure && !strcmp(sure, "proven");
		const struct js *first = js_str(allowed) ? allowed : js_at(allowed, 0);
		if (answer && is_among(proven ? first : allowed, answer)) {
			continue;
		}
		char *w = compact(allowed);
		fail(run, "%s: %s is %s (%s), expected %s: %s", address, id,
			answer ? answer : "not said", v ? js_get_str(v, "confidence") : "", w,
			v ? js_get_str(v, "headline") : "");
		free(w);
	}
	const struct js *cause = js_get(want, "cause");
	const char *is = js_get_str(gpu, "cause");
	if (cause && !is_among(cause, is ? is : "null")) {
		char *w = compact(cause);
		fail(run, "%s: cause is %s, expected %s: %s", address, is ? is : "null", w,
			js_get_str(gpu, "cause_text") ? js_get_str(gpu, "cause_text") : "");
		free(w);
	}
}

static void check_verdicts(struct run *run, const struct js *expect, const struct js *verdicts)
{
	const struct js *gpus = js_get(expect, "gpus"), *ours = js_get(verdicts, "gpus");
	size_t nameless = 0;

	for (size_t i = 0; i < js_len(gpus); i++) {
		const struct js *want = js_at(gpus, i), *gpu = NULL;
		const char *address = js_get_str(want, "address");
		size_t skip = nameless;
		for (size_t k = 0; k < js_len(ours) && !gpu; k++) {
			const char *a = js_get_str(js_at(ours, k), "address");
			bool same = address && a && !strcmp(a, address);
			if (same || (!address && !a && skip-- == 0)) {
				gpu = js_at(ours, k);
			}
		}
		nameless += !address;
		if (gpu) {
			check_answers(run, address ? address : "(no address)", want, gpu);
		} else {
			fail(run, "%s: no verdicts", address ? address : "(no address)");
		}
	}
}

/* What "barscope COMMAND --json FILE ARGS" prints, and its exit status. */
static char *run_barscope(const char *command, const char *file, const char *args, int *ret_status)
{
	const char *program = getenv("BARSCOPE");
	struct text line = {0}, out = {0};
	char buf[65536];
	size_t n;

	text_addf(&line, "'%s' %s --json '%s' %s", program ? program : "barscope", command, file,
		args);
	FILE *f = popen(line.s, "r");
	text_finish(&line);
	if (!f) {
		*ret_status = -1;
		return xstrdup("");
	}
	while ((n = fread(buf, 1, sizeof(buf), f)) > 0 && out.len < OUTPUT_MAX) {
		text_addn(&out, buf, n);
	}
	int status = pclose(f);
	*ret_status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	return text_steal(&out);
}

/* The command's JSON, or NULL with a failure. It may end with up to MAX_STATUS. */
static struct js *ask(
	struct run *run, const char *command, const char *file, const char *args, int max_status)
{
	struct why why = {""};
	struct js *j = NULL;
	int status;
	char *text = run_barscope(command, file, args, &status);
	if (status < 0 || status > max_status || js_parse(text, strlen(text), &j, &why) < 0) {
		fail(run, "%s ended with %d: %s", command, status, why.text);
		j = NULL;
	}
	free(text);
	return j;
}

static void check_together(struct run *run, const struct js *want, const struct js *plan)
{
	static const char *const member[] = {"legacy", "tight", "of"};
	const struct js *is = js_get(plan, "together");
	for (size_t i = 0; i < ARRAY_LEN(member); i++) {
		check_member(run, "plan together", want, is, member[i]);
	}
}

/* The case's input: a paste, or a capture record. */
static bool find_input(const char *folder, const char *name, char *buf, size_t size)
{
	static const char *const file[] = {"input.txt", "input.paste", "machine.rec"};
	for (size_t i = 0; i < ARRAY_LEN(file); i++) {
		snprintf(buf, size, "%s/%s/%s", folder, name, file[i]);
		if (!access(buf, R_OK)) {
			return true;
		}
	}
	return false;
}

static void check_case(const char *folder, struct run *run)
{
	char expect_path[4096], input_path[4096];
	char *text;
	size_t len;
	struct why why = {""};
	struct js *expect, *j;

	snprintf(expect_path, sizeof(expect_path), "%s/%s/expect.json", folder, run->name);
	if (file_read_all(expect_path, OUTPUT_MAX, &text, &len, &why) < 0) {
		fail(run, "%s", why.text);
		return;
	}
	int r = js_parse(text, len, &expect, &why);
	free(text);
	if (r < 0 || !find_input(folder, run->name, input_path, sizeof(input_path))) {
		fail(run, "expect.json or input: %s", why.text);
		return;
	}
	/* Further witnesses lie beside it. */
	struct text with = {0};
	const struct js *more = js_get(expect, "with");
	for (size_t i = 0; more && i < js_len(more); i++) {
		text_addf(&with, " --with '%s/%s/%s'", folder, run->name, js_str(js_at(more, i)));
	}
	const char *args = with.s ? with.s : "";
	if ((j = ask(run, "show", input_path, args, 0))) {
		check_facts(run, expect, j);
		js_free(j);
	}
	if ((j = ask(run, "check", input_path, args, 2))) {
		check_verdicts(run, expect, j);
		js_free(j);
	}
	const struct js *plan = js_get(expect, "plan");
	if (plan && (j = ask(run, "plan", input_path, js_get_str(plan, "args"), 2))) {
		check_together(run, js_get(plan, "together"), j);
		js_free(j);
	}
	text_finish(&with);
	js_free(expect);
}

static int is_case(const struct dirent *e)
{
	return e->d_name[0] >= '0' && e->d_name[0] <= '9';
}

static bool is_wanted(const char *name, int argc, char **argv)
{
	bool wanted = argc < 2;
	for (int i = 1; i < argc; i++) {
		wanted = wanted || !strncmp(name, argv[i], strlen(argv[i]));
	}
	return wanted;
}

int main(int argc, char **argv)
{
	const char *folder = getenv("BARSCOPE_CASES"), *source = getenv("BARSCOPE_SOURCE");
	struct text beside = {0};
	struct dirent **list;
	unsigned failed = 0, cases = 0;

	if (!folder) {
		text_addf(&beside, "%s/../shared/cases", source ? source : ".");
		folder = beside.s;
	}
	int n = scandir(folder, &list, is_case, alphasort);
	if (n <= 0) {
		printf("skipped: no cases in %s\n", folder);
		text_finish(&beside);
		return SKIPPED;
	}
	for (int i = 0; i < n; i++) {
		struct run run = {.name = list[i]->d_name};
		char expect[4096];
		snprintf(expect, sizeof(expect), "%s/%s/expect.json", folder, run.name);
		if (!access(expect, R_OK) && is_wanted(run.name, argc, argv)) {
			cases++;
			check_case(folder, &run);
			failed += run.failures > 0;
		}
		free(list[i]);
	}
	free(list);
	text_finish(&beside);
	printf("%u of %u cases as expected\n", cases - failed, cases);
	return failed ? 1 : 0;
}
