/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pcie/mask.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/macros.h"

static bool word_char(char c)
{
	return isalnum((unsigned char)c) || ((unsigned char)c & 0x80);
}

/* Whether position I of the N bytes at S begins a word. */
static bool begins_word(const char *s, size_t i)
{
	return i == 0 || !word_char(s[i - 1]);
}

static bool ends_word(const char *s, size_t n, size_t i)
{
	return i >= n || !word_char(s[i]);
}

static size_t hex_run(const char *s, size_t n, size_t i)
{
	size_t from = i;
	while (i < n && isxdigit((unsigned char)s[i])) {
		i++;
	}
	return i - from;
}

/* Letters and digits from I to END become C. */
static void blot(char *s, size_t i, size_t end, char c)
{
	for (; i < end; i++) {
		if (word_char(s[i])) {
			s[i] = c;
		}
	}
}

/* "00:1a:2b:3c:4d:5e", "00-1a-…": six or more pairs; the end of it, or 0. */
static size_t pairs(const char *s, size_t n, size_t i)
{
	size_t count = 0;
	char sep = '\0';
	for (;; i++) {
		if (hex_run(s, n, i) != 2) {
			return 0;
		}
		i += 2;
		count++;
		if (i >= n || (s[i] != ':' && s[i] != '-') || (sep && s[i] != sep) ||
			hex_run(s, n, i + 1) != 2) {
			break;
		}
		sep = s[i];
	}
	return count >= 6 && ends_word(s, n, i) ? i : 0;
}

/* 8-4-4-4-12 hex digits; the end, or 0. */
static size_t uuid(const char *s, size_t n, size_t i)
{
	static const size_t run[] = {8, 4, 4, 4, 12};
	for (size_t r = 0; r < ARRAY_LEN(run); r++) {
		if (r && (i >= n || s[i++] != '-')) {
			return 0;
		}
		if (hex_run(s, n, i) != run[r]) {
			return 0;
		}
		i += run[r];
	}
	return i;
}

/* A word that a serial number or name follows; the start of the value, or 0. */
static size_t key(const char *s, size_t n, size_t i)
{
	static const char *const keys[] = {"SerialNumber", "Serial Number", "serial_number",
		"serialno", "S/N", "asset tag", "asset_tag", "chassis tag", "Board ID", "eui.",
		"naa.", "wwn-0x", "nqn.", "iccid", "imei", "set hostname to", "hostname set to",
		"hostname", "serial=", "serial:", "serial #"};
	for (size_t k = 0; k < ARRAY_LEN(keys); k++) {
		size_t len = strlen(keys[k]);
		if (((s[i] ^ keys[k][0]) & ~0x20) || n - i < len ||
			strncasecmp(s + i, keys[k], len) != 0) {
			continue;
		}
		size_t v = i + len;
		/* A blank, a mark or the key's own end must stand between. */
		bool open = strchr(".x=:#", keys[k][len - 1]) != NULL;
		while (v < n && strchr(" \t:=#<\"'", s[v])) {
			open = true;
			v++;
		}
		return open && v < n ? v : 0;
	}
	return 0;
}

/* The end of the value that stands at I: up to a blank or the line's end. */
static size_t value_end(const char *s, size_t n, size_t i)
{
	while (i < n && !strchr(" \t\n,;)>\"'", s[i])) {
		i++;
	}
	return i;
}

/* "user@host": both sides begin with a letter. The end, or 0. */
static size_t account(const char *s, size_t n, size_t i)
{
	size_t at = i;
	while (at < n && (word_char(s[at]) || strchr("._+-", s[at]))) {
		at++;
	}
	if (at >= n || s[at] != '@' || !isalpha((unsigned char)s[i]) || at + 1 >= n ||
		!isalpha((unsigned char)s[at + 1])) {
		return 0;
	}
	size_t end = at + 1;
	while (end < n && (word_char(s[end]) || strchr(".-", s[end]))) {
		end++;
	}
	/* "resource_alignment=32@pci:10de:2204" is a parameter. */
	return end < n && s[end] == ':' ? 0 : end;
}

/* A host with the name of something that a log speaks of anyway cannot be told from it. */
static bool is_common(const char *host, size_t len)
{
	static const char *const words[] = {"amd", "amdgpu", "bar", "bus", "cpu", "debian",
		"device", "fedora", "gpu", "host", "intel", "kernel", "linux", "localhost", "mem",
		"memory", "nvidia", "pci", "pcie", "root", "system", "ubuntu", "window"};
	if (len < 3) {
		return true;
	}
	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		if (strlen(words[i]) == len && !strncasecmp(words[i], host, len)) {
			return true;
		}
	}
	return strspn(host, "0123456789abcdefABCDEFxX") >= len; /* a number in hex */
}

static size_t host_end(const char *s, size_t n, size_t i, const char *host, size_t len)
{
	bool here = len && n - i >= len && !strncasecmp(s + i, host, len);
	return here && ends_word(s, n, i + len) ? i + len : 0;
}

char *pcie_mask_text(const char *text, size_t len, const char *host, size_t *ret_len)
{
	char *s = xmalloc(len + 1);
	memcpy(s, text, len);
	s[len] = '\0';
	if (ret_len) {
		*ret_len = len;
	}
	size_t full = host ? strlen(host) : 0;
	size_t label = host ? strcspn(host, ".") : 0;
	if (!host || is_common(host, label)) {
		full = label = 0;
	}

	/* Words are looked at in TEXT, so that a masked one cannot hide the next. */
	for (size_t i = 0; i < len; i++) {
		if (!word_char(text[i]) || !begins_word(text, i)) {
			continue;
		}
		size_t end, v;
		if ((end = uuid(text, len, i))) {
			blot(s, i, end, '0');
		} else if ((end = pairs(text, len, i))) {
			blot(s, i, end, '0');
		} else if (hex_run(text, len, i) == 32 && ends_word(text, len, i + 32)) {
			blot(s, i, i + 32, '0'); /* a machine's or a boot's id */
			end = i + 32;
		} else if ((v = key(text, len, i))) {
			end = pairs(text, len, v);
			blot(s, v, end ? end : value_end(text, len, v), end ? '0' : 'X');
			end = end ? end : value_end(text, len, v);
		} else if ((end = account(text, len, i))) {
			blot(s, i, end, 'x');
		} else if ((end = host_end(text, len, i, host, full)) ||
			   (end = host_end(text, len, i, host, label))) {
			blot(s, i, end, 'x');
		}
		if (end > i + 1) {
			i = end - 1;
		}
	}
	return s;
}
