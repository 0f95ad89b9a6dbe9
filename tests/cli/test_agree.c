/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a person reads and what a program reads is the same: each verdict of check's text
 * is in its JSON with the same answer and level, and with --explain the other way round;
 * the same of plan's rules. Over all machines of the corpus, and random ones, whose text
 * must also keep to its width.
 */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/sort.h"
#include "base/text.h"
#include "cli/check.h"
#include "cli/plan.h"
#include "machines.h"
#include "pcie/scan.h"

enum { WIDTH = 80, WIDTH_OF_COMMANDS = 100, RANDOM_MACHINES = 600 };

/* Facts as lines, "ADDRESS ID ANSWER LEVEL". */
struct list {
	char **line;
	size_t n, cap;
};

static void add(struct list *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void add(struct list *l, const char *fmt, ...)
{
	va_list ap;
	char *s;
	va_start(ap, fmt);
	assert_true(vasprintf(&s, fmt, ap) >= 0);
	va_end(ap);
	l->line = xgrow(l->line, l->n, &l->cap, sizeof(*l->line));
	l->line[l->n++] = s;
}

static void finish(struct list *l)
{
	for (size_t i = 0; i < l->n; i++) {
		free(l->line[i]);
	}
	free(l->line);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Every line of A is in B as often; and B has no other when EQUAL. */
static void compare(const char *what, struct list *a, struct list *b, bool equal)
{
	sort_array(a->line, a->n, sizeof(*a->line), by_text);
	sort_array(b->line, b->n, sizeof(*b->line), by_text);
	size_t k = 0;
	for (size_t i = 0; i < a->n; i++, k++) {
		while (k < b->n && !equal && strcmp(a->line[i], b->line[k])) {
			k++;
		}
		if (k >= b->n || strcmp(a->line[i], b->line[k])) {
			fail_msg("%s: the text says \"%s\", the JSON does not", what, a->line[i]);
		}
	}
	if (equal && k != b->n) {
		fail_msg("%s: the JSON says \"%s\", the text does not", what, b->line[k]);
	}
}

/* Line by line: calls ON with each, its newline cut off. */
static void each_line(char *text, void (*on)(void *ctx, char *line), void *ctx)
{
	for (char *p = text, *next; p && *p; p = next) {
		next = strchr(p, '\n');
		if (next) {
			*next++ = '\0';
		}
		on(ctx, p);
	}
}

struct reader {
	struct list *out;
	char head[32][32]; /* addresses that stand above the lines to come */
	size_t nhead;
	bool body, over;
	char rule[8], said[16];
	size_t width;
	const char *what;
};

static void read_head(struct reader *r, const char *line)
{
	if (r->body) {
		r->nhead = 0;
		r->body = false;
	}
	assert_true(r->nhead < ARRAY_LEN(r->head));
	const char *end = strstr(line, "  ");
	assert_non_null(end);
	snprintf(r->head[r->nhead++], sizeof(r->head[0]), "%.*s", (int)(end - line), line);
}

static bool is_end(const char *line)
{
	return !strncmp(line, "Notes", 5) || !strncmp(line, "The kernel log", 14) ||
	       !strncmp(line, "What to do", 10) || !strncmp(line, "Address map", 11) ||
	       !strncmp(line, "Together", 8) || !strncmp(line, "This kernel", 11);
}

static void check_line(void *ctx, char *line)
{
	struct reader *r = ctx;
	static const struct {
		const char *mark;
		enum pcie_level level;
	} marks[] = {{"  ok ", PCIE_LEVEL_GOOD}, {"  -- ", PCIE_LEVEL_NOTE},
		{"  ?? ", PCIE_LEVEL_UNSURE}, {"  !! ", PCIE_LEVEL_BAD}};

	if (strlen(line) > r->width) {
		fail_msg("%s: %zu columns: %s", r->what, strlen(line), line);
	}
	r->over = r->over || is_end(line);
	if (r->over || !*line) {
		return;
	}
	if (line[0] != ' ') {
		read_head(r, line);
		return;
	}
	for (size_t i = 0; i < ARRAY_LEN(marks); i++) {
		char id[24], answer[16];
		if (strncmp(line, marks[i].mark, 5) ||
			sscanf(line + 5, "%23s %15s", id, answer) != 2) {
			continue;
		}
		r->body = true;
		for (size_t k = 0; k < r->nhead; k++) {
			add(r->out, "%s %s %s %s", r->head[k], id, answer,
				pcie_level_name(marks[i].level));
		}
	}
	char cause[32];
	if (sscanf(line, "  Cause: %31[a-z-]:", cause) == 1 && line[9 + strlen(cause)] == ':') {
		for (size_t k = 0; k < r->nhead; k++) {
			add(r->out, "%s cause %s", r->head[k], cause);
		}
	}
}

static void list_json(const struct js *j, struct list *out)
{
	const struct js *gpus = js_get(j, "gpus");
	for (size_t g = 0; g < js_len(gpus); g++) {
		const struct js *gpu = js_at(gpus, g), *v = js_get(gpu, "verdicts");
		const char *addr = js_get_str(gpu, "address"), *cause = js_get_str(gpu, "cause");
		addr = addr ? addr : "(no address)";
		for (size_t i = 0; i < js_len(v); i++) {
			const struct js *one = js_at(v, i);
			add(out, "%s %s %s %s", addr, js_get_str(one, "id"),
				js_get_str(one, "answer"), js_get_str(one, "level"));
		}
		if (cause && strcmp(cause, "none")) {
			add(out, "%s cause %s", addr, cause);
		}
	}
}

static void check_agrees(const struct pcie_snapshot *s, const char *name, bool width)
{
	struct pcie_verdicts *v = pcie_verdicts_create(s);
	struct js *j = cmd_check_json(s, v);

	for (int explain = 0; explain < 2; explain++) {
		struct list text = {0}, json = {0};
		struct text t = {0};
		cmd_check_print(&t, s, v, explain, (struct cmd_style){0});
		_cleanup_free_ char *out = text_steal(&t);
		struct reader r = {.out = &text, .width = width ? WIDTH : SIZE_MAX, .what = name};
		each_line(out, check_line, &r);
		list_json(j, &json);
		compare(name, &text, &json, explain);
		finish(&text);
		finish(&json);
	}
	js_free(j);
	pcie_verdicts_destroy(v);
}

/* "  legacy  does not fit  why", "  tight   the same". */
static void plan_line(void *ctx, char *line)
{
	struct reader *r = ctx;
	static const char *const says[] = {"fits", "does not fit", "not known"};
	static const char *const means[] = {"true", "false", "null"};

	if (strlen(line) > r->width) {
		fail_msg("%s: %zu columns: %s", r->what, strlen(line), line);
	}
	r->over = r->over || is_end(line);
	if (r->over || !*line) {
		return;
	}
	if (line[0] != ' ') {
		r->nhead = 0; /* each stands alone, also one without a target */
		read_head(r, line);
		return;
	}
	if (strncmp(line, "  legacy  ", 10) && strncmp(line, "  tight   ", 10)) {
		return;
	}
	for (size_t i = 0; i < ARRAY_LEN(says); i++) {
		if (!strncmp(line + 10, says[i], strlen(says[i]))) {
			snprintf(r->said, sizeof(r->said), "%s", means[i]);
		}
	}
	if (!strncmp(line + 10, "only with", 9)) {
		return;
	}
	add(r->out, "%s %.6s %s", r->head[0], line + 2, r->said);
}

static void plan_agrees(const struct pcie_snapshot *s, const char *name, bool width)
{
	struct pcie_plan *p = pcie_plan_create(s, &(struct pcie_plan_options){.dev = -1});
	struct js *j = cmd_plan_json(s, p);
	struct list text = {0}, json = {0};
	struct text t = {0};

	cmd_plan_print(&t, s, p, (struct cmd_style){0});
	_cleanup_free_ char *out = text_steal(&t);
	struct reader r = {
		.out = &text, .width = width ? WIDTH_OF_COMMANDS : SIZE_MAX, .what = name};
	each_line(out, plan_line, &r);
	const struct js *gpus = js_get(j, "gpus");
	for (size_t g = 0; g < js_len(gpus); g++) {
		const struct js *gpu = js_at(gpus, g), *rules = js_get(gpu, "rules");
		const char *addr = js_get_str(gpu, "address");
		for (size_t i = 0; js_get(gpu, "target") && i < js_len(rules); i++) {
			_cleanup_free_ char *fits =
				js_text_compact(js_get(js_at(rules, i), "fits"));
			add(&json, "%s %-6s %s", addr ? addr : "(no address)",
				js_get_str(js_at(rules, i), "rule"), fits);
		}
	}
	compare(name, &text, &json, true);
	finish(&text);
	finish(&json);
	js_free(j);
	pcie_plan_destroy(p);
}

static const char *find_input(const char *folder, char *buf, size_t size)
{
	static const char *const names[] = {
		"machine", "machine.rec", "input.paste", "input.txt", "input.log", "input.lspci"};
	struct stat st;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		snprintf(buf, size, "%s/%s", folder, names[i]);
		if (stat(buf, &st) == 0) {
			return buf;
		}
	}
	return NULL;
}

static void corpus(void **state)
{
	(void)state;
	const char *source = getenv("BARSCOPE_SOURCE");
	assert_non_null(source);
	char path[512], folder[1024], input[1100];
	snprintf(path, sizeof(path), "%s/tests/corpus", source);
	DIR *d = opendir(path);
	assert_non_null(d);
	unsigned n = 0;
	for (struct dirent *e; (e = readdir(d));) {
		snprintf(folder, sizeof(folder), "%s/%s", path, e->d_name);
		struct pcie_snapshot *s;
		struct why why;
		if (e->d_name[0] == '.' || !find_input(folder, input, sizeof(input))) {
			continue;
		}
		if (pcie_scan(&(struct pcie_scan_options){.source = input}, &s, &why) < 0) {
			fail_msg("%s: %s", e->d_name, why.text);
		}
		check_agrees(s, e->d_name, true);
		plan_agrees(s, e->d_name, true);
		pcie_snapshot_destroy(s);
		n++;
	}
	closedir(d);
	assert_true(n > 80);
}

static void random_machines(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= RANDOM_MACHINES; seed++) {
		char name[32];
		snprintf(name, sizeof(name), "seed %u", (unsigned)seed);
		struct pcie_snapshot *s = machine_random(seed);
		check_agrees(s, name, false);
		plan_agrees(s, name, false);
		pcie_snapshot_destroy(s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(corpus),
		cmocka_unit_test(random_machines),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
