/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What loggers, pagers and grep put before a kernel message. */
#include "pcie/klog_lines.h"

#include "base/macros.h"
#include "pcie/klog_scan.h"

enum { MAX_PREFIXES = 8 };

static bool letter(char c)
{
	return (unsigned char)((c | 0x20) - 'a') < 26;
}

/* COUNT digits. */
static bool digits(const char **p, int count)
{
	for (int i = 0; i < count; i++) {
		if (!klog_digit((*p)[i])) {
			return false;
		}
	}
	*p += count;
	return true;
}

/* "hh:mm", "hh:mm:ss", "hh:mm:ss.123456", "hh:mm:ss,123". */
static bool clock_time(const char **p)
{
	const char *s = *p;
	if (!digits(&s, 2) || *s++ != ':' || !digits(&s, 2)) {
		return false;
	}
	if (*s == ':') {
		s++;
		if (!digits(&s, 2)) {
			return false;
		}
		if (*s == '.' || *s == ',') {
			s++;
			while (klog_digit(*s)) {
				s++;
			}
		}
	}
	*p = s;
	return true;
}

/* One of NAMES, three letters each, a capital first. */
static bool name3(const char **p, const char *names)
{
	for (; **p >= 'A' && **p <= 'Z' && *names; names += 3) {
		if (**p == *names && klog_eat_n(p, names, 3)) {
			return true;
		}
	}
	return false;
}

static bool month(const char **p)
{
	return name3(p, "JanFebMarAprMayJunJulAugSepOctNovDec");
}

static bool weekday(const char **p)
{
	return name3(p, "MonTueWedThuFriSatSun");
}

/* "2025-11-18T10:51:00,123456+01:00", also with a blank and a zone's name. */
static bool iso_time(const char **p)
{
	const char *s = *p;
	if (!digits(&s, 4) || *s++ != '-' || !digits(&s, 2) || *s++ != '-' || !digits(&s, 2) ||
		(*s != 'T' && *s != ' ')) {
		return false;
	}
	s++;
	if (!clock_time(&s)) {
		return false;
	}
	if (*s == 'Z') {
		s++;
	} else if (*s == '+' || *s == '-') {
		s++;
		if (!digits(&s, 2)) {
			return false;
		}
		if (*s == ':') {
			s++;
		}
		digits(&s, 2);
	} else if (*s == ' ' && s[1] >= 'A' && s[1] <= 'Z' && s[2] >= 'A' && s[2] <= 'Z') {
		const char *zone = s + 1;
		while (*zone >= 'A' && *zone <= 'Z') {
			zone++;
		}
		if (*zone == ' ' && zone - s <= 6) {
			s = zone;
		}
	}
	*p = s;
	return true;
}

/* "Dec 17 18:17:51", with "Wed " before or " 2025" behind as ctime has them. */
static bool calendar_time(const char **p)
{
	const char *s = *p;
	if (weekday(&s)) {
		if (*s != ' ') {
			return false;
		}
		klog_blanks(&s);
	}
	if (!month(&s)) {
		if (s == *p || !iso_time(&s)) {
			return false; /* "Wed 2025-12-17 18:17:51" is journald's */
		}
		*p = s;
		return true;
	}
	uint64_t day;
	klog_blanks(&s); /* "[Nov18 10:51]" has none */
	if (!klog_dec(&s, &day) || day > 31 || *s != ' ') {
		return false;
	}
	klog_blanks(&s);
	if (!clock_time(&s)) {
		return false;
	}
	const char *year = s;
	klog_blanks(&year);
	if (digits(&year, 4) && (*year == ']' || *year == ' ')) {
		s = year;
	}
	*p = s;
	return true;
}

/* "12345.678901"; the microseconds. */
static bool seconds(const char **p, uint64_t *ret_usec)
{
	const char *s = *p;
	uint64_t whole, usec = 0, unit = 100000;
	if (!klog_dec(&s, &whole) || *s != '.' || !klog_digit(s[1])) {
		return false;
	}
	for (s++; klog_digit(*s); s++, unit /= 10) {
		usec += unit * (uint64_t)(*s - '0');
	}
	*p = s;
	*ret_usec = whole * 1000000 + usec;
	return true;
}

/* A bracket of a time stamp, or the caller's or processor's ("[    T1]", "[   C0]"). */
static bool bracket(const char **p, struct klog_stamp *stamp)
{
	const char *s = *p + 1;
	uint64_t usec;

	klog_blanks(&s);
	if (klog_digit(*s)) {
		if (seconds(&s, &usec)) {
			if (*s == ' ' || *s == ',' || *s == '@') { /* " <    0.000003>", ",0" */
				s = strchr(s, ']');
				if (!s) {
					return false;
				}
			}
			if (*s != ']') {
				return false;
			}
			stamp->has_time = true;
			stamp->usec = usec;
		} else if (!iso_time(&s) || *s != ']') {
			return false;
		}
	} else if (*s == '+' || *s == '<') {
		s++;
		klog_blanks(&s);
		if (!seconds(&s, &usec)) {
			return false;
		}
		if (*s == '>') {
			s++;
		}
		if (*s != ']') {
			return false;
		}
		stamp->kernel = true;
	} else if ((*s == 'T' || *s == 'C') && klog_digit(s[1])) {
		while (klog_digit(*s) || *s == 'T' || *s == 'C' || *s == '@') {
			s++;
		}
		if (*s != ']' || !stamp->any) {
			return false;
		}
	} else if (calendar_time(&s) && *s == ']') {
		stamp->kernel = true; /* dmesg -T and -e */
	} else {
		return false;
	}
	stamp->any = true;
	*p = s + 1;
	return true;
}

/* "<6>" */
static bool level(const char **p)
{
	const char *s = *p + 1;
	uint64_t v;
	if (!klog_dec(&s, &v) || *s != '>') {
		return false;
	}
	*p = s + 1;
	return true;
}

/* "kernel: " or "kernel[123]: ". */
static bool is_kernel(const char **p)
{
	const char *s = *p;
	if (*s != 'k' || !klog_eat(&s, "kernel")) {
		return false;
	}
	if (*s == '[') {
		s = strchr(s, ']');
		if (!s) {
			return false;
		}
		s++;
	}
	if (*s != ':') {
		return false;
	}
	*p = s + 1;
	return true;
}

/* The kernel's name, with one word of a host before it or without. */
static bool kernel_tag(const char **p, struct klog_stamp *stamp)
{
	const char *s = *p;
	if (!is_kernel(&s)) {
		while ((unsigned char)*s > ' ' && s - *p < 64) {
			s++;
		}
		klog_blanks(&s);
		if (!is_kernel(&s)) {
			return false;
		}
	}
	stamp->any = stamp->kernel = true;
	*p = s;
	return true;
}

/*
 * A date in another language, as strftime() writes it: "Mär 05 10:11:12", "3月  5 10:11:12", "Di
 * Mär  5 10:11:12". Words of any kind up to a time with seconds; one of them has a letter.
 */
static bool foreign_time(const char **p)
{
	enum { WORDS = 4, LONGEST = 20 };
	const char *s = *p;
	bool named = false;

	for (int n = 0; n <= WORDS; n++) {
		const char *t = s;
		if (n > 0 && clock_time(&t) && t - s >= 8) {
			*p = t;
			return named;
		}
		for (t = s; (unsigned char)*t > ' ' && *t != '[' && *t != ']'; t++) {
			named = named || letter(*t) || (unsigned char)*t >= 0x80;
		}
		if (t == s || *t != ' ' || t - s > LONGEST) {
			return false;
		}
		klog_blanks(&t);
		s = t;
	}
	return false;
}

/* Such a date before "kernel:", or with its year in a bracket (dmesg -T). */
static bool foreign_prefix(const char **p, struct klog_stamp *stamp)
{
	const char *s = *p;
	if (*s != '[') {
		if (!foreign_time(&s) || *s != ' ') {
			return false;
		}
		klog_blanks(&s);
		if (!kernel_tag(&s, stamp)) {
			return false;
		}
		*p = s;
		return true;
	}
	s++;
	klog_blanks(&s);
	if (!foreign_time(&s) || *s++ != ' ' || !digits(&s, 4) || *s != ']') {
		return false;
	}
	stamp->any = stamp->kernel = true;
	*p = s + 1;
	return true;
}

/* "kern  :info  :" of dmesg -x. */
static bool facility(const char **p)
{
	const char *s = *p;
	if (!klog_eat(&s, "kern ")) {
		return false;
	}
	klog_blanks(&s);
	if (*s++ != ':') {
		return false;
	}
	while (letter(*s)) {
		s++;
	}
	klog_blanks(&s);
	if (*s != ':') {
		return false;
	}
	*p = s + 1;
	return true;
}

/* grep's "12:" or "12-", or "file.log:" and "file.log:12:" before a bracket or a month. */
static bool grep_prefix(const char **p)
{
	const char *s = *p;
	uint64_t line;
	if (klog_dec(&s, &line) && line < 100000000 && (*s == ':' || *s == '-') &&
		(s[1] == '[' || s[1] == '<' || letter(s[1]))) {
		*p = s + 1;
		return true;
	}
	for (s = *p; *s && *s != ' ' && *s != '[' && s - *p < 80; s++) {
		const char *after = s + 1;
		if (*s == ':' && letter(*after) && month(&after) && *after == ' ') {
			*p = s + 1;
			return true;
		}
	}
	if (*s == '[' && s - *p > 2 && (s[-1] == ':' || s[-1] == '-')) {
		*p = s;
		return true;
	}
	return false;
}

/* A prefix that begins with a digit. */
static bool numeric_prefix(const char **p, struct klog_stamp *stamp)
{
	const char *s = *p;
	uint64_t usec;
	if (seconds(&s, &usec)) {
		if (*s == ']') { /* the first bracket was lost */
			stamp->any = stamp->has_time = true;
			stamp->usec = usec;
			*p = s + 1;
			return true;
		}
		if (*s == ' ' && s - *p >= 16) { /* journald's short-unix */
			stamp->any = true;
			*p = s;
			return true;
		}
		return false;
	}
	if (iso_time(&s) && (*s == ' ' || *s == ':')) {
		stamp->any = true;
		*p = s + (*s == ':');
		return true;
	}
	return grep_prefix(p);
}

static bool word_prefix(const char **p, struct klog_stamp *stamp)
{
	if (calendar_time(p)) {
		stamp->any = true;
		return true;
	}
	if (kernel_tag(p, stamp)) {
		return true;
	}
	if (facility(p)) {
		stamp->any = stamp->kernel = true;
		return true;
	}
	return grep_prefix(p);
}

/* List marks and what is left of quoting. */
static void bullets(const char **p)
{
	for (;;) {
		klog_blanks(p);
		const char *s = *p;
		if ((*s == '-' || *s == '*' || *s == '+' || *s == '>' || *s == '|') &&
			(s[1] == ' ' || s[1] == '[' || (*s == '>' && s[1] == '>'))) {
			*p = s + 1;
		} else if (!klog_eat(p, "\xe2\x80\xa2") && !klog_eat(p, "\xc2\xb7")) {
			return;
		}
	}
}

size_t klog_prefix(const char *s, struct klog_stamp *ret)
{
	const char *p = s;
	*ret = (struct klog_stamp){0};

	if (*p != '[') {
		bullets(&p);
	}
	for (int i = 0; i < MAX_PREFIXES; i++) {
		bool found;
		if (*p == '[') {
			found = bracket(&p, ret);
		} else if (*p == '<') {
			found = level(&p);
			ret->any |= found;
			ret->kernel |= found;
		} else if (ret->any) {
			found = kernel_tag(&p, ret);
		} else if (klog_digit(*p)) {
			found = numeric_prefix(&p, ret);
		} else {
			found = (letter(*p) || *p == '/' || *p == '.') && word_prefix(&p, ret);
		}
		if (!found && !(i == 0 && foreign_prefix(&p, ret))) {
			break;
		}
		klog_blanks(&p);
	}
	return (size_t)(p - s);
}
