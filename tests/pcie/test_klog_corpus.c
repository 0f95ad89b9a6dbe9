/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The log reader on the corpus: it agrees with sysfs where a log of a guest holds both, and a log
 * cut at any byte claims no more than the whole lines before the cut.
 */
#include "klog_fixture.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>

#include "base/file.h"
#include "base/text.h"

/* Calls EACH with every tests/corpus/NNN-name/input.log; returns how many. */
static int for_each_log(void (*each)(const char *name, const char *data, size_t len))
{
	char path[1024];
	snprintf(path, sizeof(path), "%s/tests/corpus", getenv("BARSCOPE_SOURCE"));
	DIR *dir = opendir(path);
	assert_non_null(dir);
	int n = 0;
	for (struct dirent *e; (e = readdir(dir));) {
		char file[2048];
		char *data;
		size_t len;
		snprintf(file, sizeof(file), "%s/%s/input.log", path, e->d_name);
		if (e->d_name[0] == '.' || file_read_all(file, 1 << 20, &data, &len, NULL) < 0) {
			continue;
		}
		each(e->d_name, data, len);
		free(data);
		n++;
	}
	closedir(dir);
	return n;
}

/* Sysfs. */

static int compared;

/* One resource of sysfs and what the log says of it. */
static void compare(const char *name, struct pcie_snapshot *s, const char *address, int line,
	uint64_t start, uint64_t end)
{
	struct pcie_addr a;
	assert_int_equal(pcie_addr_parse(address, &a), 0);
	int dev = pcie_snapshot_find(s, a);
	if (dev < 0) {
		return; /* the log was filtered by grep */
	}
	const struct pcie_device *d = &s->dev[dev];
	bool same;
	if (line >= 13) {
		const struct pcie_window *w = &d->window[line - 13];
		same = w->have == PCIE_KNOWN && !w->unassigned && w->base == start &&
		       w->limit == end;
	} else {
		const struct pcie_bar *b = line < 6 ? pcie_device_find_bar(d, PCIE_BAR_NORMAL, line)
					   : line == 6
						   ? pcie_device_find_bar(d, PCIE_BAR_ROM, 6)
						   : pcie_device_find_bar(d, PCIE_BAR_VF, line - 7);
		same = b && b->assigned == PCIE_YES && b->base == start &&
		       b->size == end - start + 1;
	}
	if (!same) {
		fail_msg("%s: %s resource %d is 0x%llx-0x%llx in sysfs", name, address, line,
			(unsigned long long)start, (unsigned long long)end);
	}
	compared++;
}

/* How many BARs of ADDRESS have an address in the log. */
static int placed(const struct pcie_snapshot *s, const char *address)
{
	struct pcie_addr a;
	pcie_addr_parse(address, &a);
	int dev = pcie_snapshot_find(s, a), n = 0;
	for (int i = 0; dev >= 0 && i < s->dev[dev].nbar; i++) {
		n += s->dev[dev].bar[i].assigned == PCIE_YES;
	}
	return dev < 0 ? -1 : n;
}

static void against_sysfs(const char *name, const char *data, size_t len)
{
	/* "@@@ dev ADDRESS …" with "  resource[N] START END FLAGS" lines, then "@@@ dmesg". */
	const char *log = strstr(data, "@@@ dmesg");
	if (!log) {
		return;
	}
	struct pcie_snapshot *s = klog_read_n(log, len - (size_t)(log - data));
	char address[PCIE_ADDR_MAX] = "";
	int bars = 0;
	/* A resize shows the devices twice: what counts is behind it. */
	const char *from = strstr(data, "@@@ write");
	for (const char *p = from ? from : data; p < log; p = strchr(p, '\n') + 1) {
		char next[PCIE_ADDR_MAX];
		unsigned line;
		unsigned long long start, end, flags;
		if (sscanf(p, "@@@ dev %19s ", next) == 1) {
			if (address[0] && placed(s, address) >= 0) {
				assert_int_equal(placed(s, address), bars);
			}
			memcpy(address, next, sizeof(address));
			bars = 0;
		} else if (sscanf(p, "  resource[%u] %llx %llx %llx", &line, &start, &end,
				   &flags) == 4 &&
			   flags) {
			compare(name, s, address, (int)line, start, end);
			bars += line < 13;
		}
	}
	pcie_snapshot_destroy(s);
}

static void the_log_agrees_with_sysfs(void **state)
{
	(void)state;
	assert_true(for_each_log(against_sysfs) > 10);
	assert_true(compared > 60);
}

/* Cuts. */

static bool is_bad(enum pcie_final f)
{
	return f == PCIE_FINAL_FAILED || f == PCIE_FINAL_NO_SPACE || f == PCIE_FINAL_CANT_CLAIM;
}

static const struct pcie_history *same_resource(
	const struct pcie_snapshot *s, const struct pcie_history *h)
{
	for (size_t i = 0; i < s->nhistory; i++) {
		if (!pcie_addr_compare(s->history[i].addr, h->addr) &&
			!strcmp(s->history[i].resource, h->resource)) {
			return &s->history[i];
		}
	}
	return NULL;
}

/*
 * WHOLE are the lines before the cut, CUT has a piece of one more, NEXT all of that line: what
 * failed in WHOLE is assigned in CUT only if it is in NEXT too, at the same place.
 */
static void check_cut(const char *name, size_t at, const struct pcie_snapshot *whole,
	const struct pcie_snapshot *cut, const struct pcie_snapshot *next)
{
	for (size_t i = 0; i < cut->nhistory; i++) {
		const struct pcie_history *c = &cut->history[i];
		const struct pcie_history *w = same_resource(whole, c), *n = same_resource(next, c);
		if (c->final != PCIE_FINAL_ASSIGNED || !w || !is_bad(w->final)) {
			continue;
		}
		if (!n || n->final != PCIE_FINAL_ASSIGNED || n->base != c->base) {
			fail_msg("%s cut at byte %zu: %s is assigned", name, at, c->resource);
		}
	}
}

static void cut_everywhere(const char *name, const char *data, size_t len)
{
	/* Long ones are cut at every third line, which is every kind of line all the same. */
	int step = len > 6000 ? 3 : 1;
	size_t start = 0;
	for (int line = 0; start < len; line++) {
		const char *nl = memchr(data + start, '\n', len - start);
		size_t end = nl ? (size_t)(nl - data) + 1 : len;
		if (line % step == 0) {
			struct pcie_snapshot *whole = klog_read_n(data, start);
			struct pcie_snapshot *next = klog_read_n(data, end);
			for (size_t at = start + 1; at < end; at++) {
				struct pcie_snapshot *cut = klog_read_n(data, at);
				check_cut(name, at, whole, cut, next);
				pcie_snapshot_destroy(cut);
			}
			pcie_snapshot_destroy(whole);
			pcie_snapshot_destroy(next);
		}
		start = end;
	}
}

static void a_cut_log_claims_no_more(void **state)
{
	(void)state;
	for_each_log(cut_everywhere);
}

/* Lines left out at random, as grep does it: nothing breaks, and no address is made up. */
static uint64_t seed = 1;

static void without_lines(const char *name, const char *data, size_t len)
{
	for (int round = 0; round < 20; round++) {
		struct text t = {0};
		for (const char *p = data; p < data + len;) {
			const char *nl = memchr(p, '\n', (size_t)(data + len - p));
			size_t n = nl ? (size_t)(nl - p) + 1 : (size_t)(data + len - p);
			seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407U;
			if (seed >> 62) {
				text_addn(&t, p, n);
			}
			p += n;
		}
		struct pcie_snapshot *s = klog_read_n(t.s ? t.s : "", t.len);
		for (size_t i = 0; i < s->nhistory; i++) {
			char hex[32];
			snprintf(hex, sizeof(hex), "%llx", (unsigned long long)s->history[i].base);
			if (s->history[i].has_base && !strstr(data, hex)) {
				fail_msg("%s: 0x%s is nowhere in the text", name, hex);
			}
		}
		pcie_snapshot_settle(s);
		pcie_snapshot_destroy(s);
		text_finish(&t);
	}
}

static void a_thinned_log_invents_nothing(void **state)
{
	(void)state;
	for_each_log(without_lines);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_log_agrees_with_sysfs),
		cmocka_unit_test(a_cut_log_claims_no_more),
		cmocka_unit_test(a_thinned_log_invents_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
