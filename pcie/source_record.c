/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * umockdev's text format: "P: /devices/…" begins a device, "A: name=value" is an
 * attribute with C escapes, "H: name=HEX" one of bytes, "L: name=target" a link; E:, N:
 * and S: belong to udev. Machine facts stand in a device of their own.
 */
#include "pcie/source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "pcie/chars.h"
#include "pcie/record.h"

enum mode { MODE_OTHER, MODE_DEVICE, MODE_HOST };

struct record {
	struct pcie_sink *sink;
	enum mode mode;
	bool complete;
	size_t devices, understood;
};

/* The address at the end of a device's path. */
static bool path_addr(const char *path, struct pcie_addr *ret)
{
	const char *slash = strrchr(path, '/');
	return !strncmp(path, "/devices/", 9) && pcie_addr_parse(slash + 1, ret) == 0;
}

bool pcie_record_is(const char *data, size_t len)
{
	/* The first line that is not empty decides. */
	while (len && (*data == '\n' || *data == '\r')) {
		data++;
		len--;
	}
	static const char start[] = "P: /devices/";
	return len >= sizeof(start) - 1 && !memcmp(data, start, sizeof(start) - 1);
}

/* Undoes C escapes in place; returns the new length. */
static size_t unescape(char *s, size_t len)
{
	static const char from[] = "bfnrtv", to[] = "\b\f\n\r\t\v";
	size_t out = 0;
	for (size_t i = 0; i < len; i++) {
		if (s[i] != '\\' || i + 1 == len) {
			s[out++] = s[i];
			continue;
		}
		i++;
		if (s[i] >= '0' && s[i] <= '7') {
			unsigned v = 0;
			int n = 0;
			for (; n < 3 && i < len && s[i] >= '0' && s[i] <= '7'; n++, i++) {
				v = v << 3 | (unsigned)(s[i] - '0');
			}
			i--;
			s[out++] = (char)v;
			continue;
		}
		const char *p = s[i] ? strchr(from, s[i]) : NULL;
		s[out++] = p ? to[p - from] : s[i];
	}
	s[out] = '\0';
	return out;
}

/* Hex digits to bytes in place; -1 when there is anything else. */
static int unhex(char *s, size_t len)
{
	if (len % 2) {
		return -1;
	}
	for (size_t i = 0; i < len; i += 2) {
		int hi = pcie_hex_digit(s[i]), lo = pcie_hex_digit(s[i + 1]);
		if (hi < 0 || lo < 0) {
			return -1;
		}
		s[i / 2] = (char)(hi << 4 | lo);
	}
	s[len / 2] = '\0';
	return (int)(len / 2);
}

static void begin(struct record *r, const char *path)
{
	struct pcie_addr addr;
	r->mode = MODE_OTHER;
	if (!strcmp(path, PCIE_RECORD_HOST)) {
		r->mode = MODE_HOST;
	} else if (path_addr(path, &addr)) {
		r->mode = MODE_DEVICE;
		r->devices++;
		r->sink->device(r->sink, path, addr);
	}
	r->understood++;
}

/* KEY is A, H or L; S is "name=value". */
static void value(struct record *r, char key, char *s, size_t len)
{
	char *eq = memchr(s, '=', len);
	if (!eq || r->mode == MODE_OTHER) {
		return;
	}
	*eq = '\0';
	char *v = eq + 1;
	size_t n = len - (size_t)(v - s);
	if (key == 'A') {
		n = unescape(v, n);
	} else if (key == 'H') {
		int bytes = unhex(v, n);
		if (bytes < 0) {
			return;
		}
		n = (size_t)bytes;
	}

	if (r->mode == MODE_HOST) {
		if (!strcmp(s, PCIE_RECORD_VERSION)) {
			r->complete = true;
		} else if (!memchr(v, '\0', n)) {
			r->sink->host(r->sink, s, v, n);
		}
		return;
	}
	const struct pcie_attr *attr = pcie_attr_find(s);
	if (!attr || (attr->kind == PCIE_ATTR_LINK) != (key == 'L')) {
		return;
	}
	if (attr->kind == PCIE_ATTR_BINARY || !memchr(v, '\0', n)) {
		r->sink->attr(r->sink, attr, v, n);
	}
}

int pcie_record_read(const char *name, const char *data, size_t len, struct pcie_sink *sink,
	bool *ret_complete, struct why *why)
{
	struct record r = {.sink = sink};
	_cleanup_free_ char *line = NULL;
	size_t cap = 0, strange = 0;

	for (size_t at = 0; at < len;) {
		const char *end = memchr(data + at, '\n', len - at);
		size_t n = end ? (size_t)(end - data) - at : len - at;
		if (n + 1 > cap) {
			cap = 2 * (n + 1);
			line = xreallocarray(line, cap, 1);
		}
		memcpy(line, data + at, n);
		at += n + 1;
		n -= n && line[n - 1] == '\r';
		line[n] = '\0';
		if (n == 0) {
			continue;
		}
		if (n < 3 || line[1] != ':' || line[2] != ' ') {
			strange++;
			continue;
		}
		switch (line[0]) {
		case 'P':
			begin(&r, line + 3);
			break;
		case 'A':
		case 'H':
		case 'L':
			value(&r, line[0], line + 3, n - 3);
			break;
		default:
			break;
		}
	}
	if (!r.understood) {
		why_set(why, "%s: no device of a capture record in it", name);
		return -EBADMSG;
	}
	if (strange) {
		char text[120];
		snprintf(text, sizeof(text),
			"%zu lines are not of a record's format and were passed over", strange);
		sink->problem(sink, (struct pcie_addr){0}, text);
	}
	*ret_complete = r.complete;
	return 0;
}
