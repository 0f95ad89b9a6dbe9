/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stress/script.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/macros.h"
#include "base/text.h"
#include "stress/sample.h"

enum {
	LINE_LONGEST = 255,
	REPEAT_MAX = 1000000000,
};

static const uint64_t layer_max_ns = (uint64_t)3600 * 1000000000u; /* an hour */

struct word_flag {
	const char *word;
	uint32_t set; /* sample flags */
	uint32_t clear;
	enum stress_script_act act;
};

static const struct word_flag word_flags[] = {
	{"read", STRESS_READ, 0xff, STRESS_SCRIPT_PLAY},
	{"empty", STRESS_EMPTY, 0xff, STRESS_SCRIPT_PLAY},
	{"h2d", STRESS_H2D, 0xff, STRESS_SCRIPT_PLAY},
	{"d2h", STRESS_D2H, 0xff, STRESS_SCRIPT_PLAY},
	{"zero-copy", STRESS_ZERO_COPY, 0xff, STRESS_SCRIPT_PLAY},
	{"peer", STRESS_PEER, 0xff, STRESS_SCRIPT_PLAY},
	{"nodevice", 0, STRESS_HAS_DEVICE, STRESS_SCRIPT_PLAY},
	{"batch", STRESS_BATCH, 0, STRESS_SCRIPT_PLAY},
	{"missed", STRESS_MISSED, 0, STRESS_SCRIPT_PLAY},
	{"warmup", STRESS_WARMUP, 0, STRESS_SCRIPT_PLAY},
	{"mismatch", STRESS_MISMATCH, 0, STRESS_SCRIPT_PLAY},
	{"perturbed", STRESS_PERTURBED, 0, STRESS_SCRIPT_PLAY},
	{"hang", 0, 0, STRESS_SCRIPT_HANG},
	{"crash", 0, 0, STRESS_SCRIPT_CRASH},
	{"fail", 0, 0, STRESS_SCRIPT_FAIL},
};

/* The next blank-separated word of the line; NULL at its end. */
static char *next_word(char **at)
{
	char *start = *at + strspn(*at, " \t\r");
	if (!*start) {
		return NULL;
	}
	char *end = start + strcspn(start, " \t\r");
	*at = *end ? end + 1 : end;
	*end = '\0';
	return start;
}

static int bad(struct why *why, uint32_t number, const char *what, const char *word)
{
	why_set(why, "script line %u: %s '%.40s'", number, what, word);
	return -EBADMSG;
}

/* "name=value" flags. 1: taken, 0: another word, negative: a bad value. */
static int take_value(const char *word, struct stress_script_line *l)
{
	uint64_t v;
	int r;
	if (!strncmp(word, "hash=", 5)) {
		r = text_parse_u64(word + 5, 16, &l->hash);
		l->flags |= STRESS_HAS_HASH;
		return r < 0 ? r : 1;
	}
	if (!strncmp(word, "cycles=", 7)) {
		r = text_parse_u64(word + 7, 10, &l->cycles);
		l->flags |= STRESS_HAS_CYCLES;
		return r < 0 ? r : 1;
	}
	if (!strncmp(word, "copy=", 5)) {
		r = text_parse_u64(word + 5, 10, &v);
		l->copy = r < 0 ? 0 : (uint32_t)v;
		return r < 0 || v > UINT32_MAX ? -ERANGE : 1;
	}
	if (!strncmp(word, "repeat=", 7)) {
		r = text_parse_u64(word + 7, 10, &v);
		if (r < 0 || v < 1 || v > REPEAT_MAX) {
			return -ERANGE;
		}
		l->repeat = (uint32_t)v;
		return 1;
	}
	return 0;
}

static int take_flag(const char *word, struct stress_script_line *l, struct why *why)
{
	int r = take_value(word, l);
	if (r < 0) {
		return bad(why, l->number, "no good value in", word);
	}
	if (r > 0) {
		return 0;
	}
	for (size_t i = 0; i < ARRAY_LEN(word_flags); i++) {
		const struct word_flag *f = &word_flags[i];
		if (!strcmp(word, f->word)) {
			l->flags = (l->flags & ~f->clear) | f->set;
			l->act = f->act != STRESS_SCRIPT_PLAY ? f->act : l->act;
			return 0;
		}
	}
	return bad(why, l->number, "there is no flag", word);
}

static int parse_line(char *text, struct stress_script_line *l, struct why *why)
{
	static const char *const names[] = {"launch", "device", "notify", "gap"};
	uint64_t *const layer[] = {&l->launch_ns, &l->device_ns, &l->notify_ns, &l->gap_ns};
	for (size_t i = 0; i < ARRAY_LEN(layer); i++) {
		char *word = next_word(&text);
		if (!word) {
			return bad(why, l->number, "a number of ns is missing for", names[i]);
		}
		if (text_parse_u64(word, 10, layer[i]) < 0 || *layer[i] > layer_max_ns) {
			return bad(why, l->number, "not a number of ns up to an hour:", word);
		}
	}
	for (char *word = next_word(&text); word; word = next_word(&text)) {
		int r = take_flag(word, l, why);
		if (r < 0) {
			return r;
		}
	}
	return 0;
}

/* One line of the file, without its newline. */
static int take_line(
	struct stress_script *s, const char *text, size_t len, uint32_t number, struct why *why)
{
	char buf[LINE_LONGEST + 1];
	if (len > LINE_LONGEST || memchr(text, '\0', len)) {
		why_set(why, "script line %u: %s", number,
			len > LINE_LONGEST ? "longer than 255 bytes" : "a NUL byte");
		return -EBADMSG;
	}
	memcpy(buf, text, len);
	buf[len] = '\0';
	buf[strcspn(buf, "#")] = '\0';
	const char *word = text_trim(buf);
	if (!*word) {
		return 0;
	}
	if (s->again) {
		why_set(why, "script line %u: nothing may follow 'again'", number);
		return -EBADMSG;
	}
	if (!strcmp(word, "again")) {
		s->again = true;
		return 0;
	}
	struct stress_script_line l = {
		.flags = STRESS_GEMM | STRESS_HAS_DEVICE,
		.repeat = 1,
		.number = number,
	};
	int r = parse_line(buf, &l, why);
	if (r < 0) {
		return r;
	}
	s->line = xgrow(s->line, s->n, &s->cap, sizeof(*s->line));
	s->line[s->n++] = l;
	return 0;
}

int stress_script_parse(const char *text, size_t len, struct stress_script *ret, struct why *why)
{
	struct stress_script s = {0};
	int r = 0;
	uint32_t number = 0;
	for (size_t at = 0; at < len && !r;) {
		const char *end = memchr(text + at, '\n', len - at);
		size_t n = end ? (size_t)(end - (text + at)) : len - at;
		r = take_line(&s, text + at, n, ++number, why);
		at += n + 1;
	}
	if (!r && !s.n) {
		why_set(why, "the script has no samples");
		r = -EBADMSG;
	}
	if (r < 0) {
		stress_script_finish(&s);
		return r;
	}
	*ret = s;
	return 0;
}

void stress_script_finish(struct stress_script *s)
{
	free(s->line);
	*s = (struct stress_script){0};
}
