/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pcie/klog_scan.h"

/* The numbers behind "mem ", "io  " or nothing; false when they are none. */
static bool range_numbers(const char **p, struct klog_range *r)
{
	uint64_t base, limit;
	if (klog_eat(p, "size")) {
		klog_blanks(p);
		if (!klog_hex(p, &r->size)) {
			return false;
		}
		r->has_size = true;
		return true;
	}
	const char *s = *p;
	if (!klog_hex(&s, &base)) {
		return false;
	}
	limit = base;
	if (*s == '-') {
		s++;
		klog_blanks(&s);
		if (!klog_hex(&s, &limit)) {
			return false;
		}
	} else if (r->space == KLOG_UNTYPED) {
		return false; /* "[1234]": a process, not a range */
	}
	if (*s != ' ' && *s != ']') {
		return false; /* "disabled" begins with a hex digit */
	}
	*p = s;
	r->has_base = true;
	r->base = base;
	r->limit = limit;
	r->size = limit >= base ? limit - base + 1 : 0;
	r->has_size = r->size || limit < base;
	return true;
}

bool klog_range(const char **p, struct klog_range *ret)
{
	const char *s = *p;
	struct klog_range r = {.space = KLOG_UNTYPED};

	if (*s++ != '[') {
		return false;
	}
	if (klog_eat(&s, "mem")) {
		r.space = KLOG_MEM;
	} else if (klog_eat(&s, "io")) {
		r.space = KLOG_IO;
	} else if (klog_eat(&s, "bus")) {
		r.space = KLOG_BUS;
	} else if (klog_eat(&s, "???")) {
		r.space = KLOG_ODD;
	}
	if (r.space != KLOG_UNTYPED && *s != ' ' && *s != '\t') {
		return false;
	}
	klog_blanks(&s);
	if (!range_numbers(&s, &r) && r.space == KLOG_UNTYPED) {
		return false;
	}
	while (*s && *s != ']') {
		klog_blanks(&s);
		if (klog_eat(&s, "64bit")) {
			r.is64 = true;
		} else if (klog_eat(&s, "pref")) {
			r.pref = true;
		} else if (klog_eat(&s, "window")) {
			r.window = true;
		} else if (klog_eat(&s, "disabled")) {
			r.disabled = true;
		} else if (*s == '[') {
			return false;
		} else {
			while (*s && *s != ' ' && *s != ']' && *s != '[') {
				s++;
			}
		}
	}
	if (*s != ']' || (!r.has_base && !r.has_size && !r.disabled && r.space != KLOG_ODD)) {
		return false;
	}
	*p = s + 1;
	*ret = r;
	return true;
}

int klog_match(const char *s, const char *fmt, uint64_t *ret, int max)
{
	int n = 0;
	for (; *fmt; fmt++) {
		uint64_t v;
		if (*fmt == ' ') {
			if (*s != ' ' && *s != '\t') {
				return -1;
			}
			klog_blanks(&s);
			continue;
		}
		if (*fmt != '%') {
			if (*s++ != *fmt) {
				return -1;
			}
			continue;
		}
		switch (*++fmt) {
		case 'u':
		case 'x':
			if (*fmt == 'u' ? !klog_dec(&s, &v) : !klog_hex(&s, &v)) {
				return -1;
			}
			if (n < max) {
				ret[n++] = v;
			}
			break;
		case 'w':
			if (!*s || *s == ' ') {
				return -1;
			}
			while (*s && *s != ' ') {
				s++;
			}
			break;
		default: /* '*' */
			s = strchr(s, fmt[1]);
			if (!s) {
				return -1;
			}
			break;
		}
	}
	return n;
}

bool klog_find_addr(const char *s, struct pcie_addr *ret)
{
	/* A domain of four digits or more stands before the first colon of an address. */
	for (const char *colon = s; (colon = strchr(colon, ':')); colon++) {
		const char *p = colon;
		while (p > s && colon - p < 8 && pcie_hex_digit(p[-1]) >= 0) {
			p--;
		}
		if (colon - p < 4 || (p > s && pcie_hex_digit(p[-1]) >= 0)) {
			continue;
		}
		struct pcie_addr a;
		int n = pcie_addr_scan(p, &a);
		if (n > 0 && pcie_hex_digit(p[n]) < 0) {
			*ret = a;
			return true;
		}
	}
	return false;
}
