/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pcie/kmsg.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/klog.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/macros.h"
#include "pcie/chars.h"

enum {
	RECORD_MAX = 16384,  /* a message and its dictionary: 8 KiB in the kernel */
	LOG_MAX = 64 << 20,  /* the ring's largest size is 2 GiB; nobody's is near */
	ACTION_READ_ALL = 3, /* syslog(2) */
	ACTION_SIZE_BUFFER = 10,
	FACILITY_SHIFT = 3, /* of a record's first number; kernel messages have 0 */
};

/* One number and the character behind it. */
static bool number(const char **p, const char *end, uint64_t *ret)
{
	const char *s = *p;
	uint64_t v = 0;
	while (s < end && *s >= '0' && *s <= '9' && v < UINT64_MAX / 10 - 10) {
		v = v * 10 + (uint64_t)(*s++ - '0');
	}
	if (s == *p || s == end) {
		return false;
	}
	*ret = v;
	*p = s;
	return true;
}

int pcie_kmsg_record(const char *record, size_t len, struct text *out)
{
	const char *p = record, *end = record + len;
	uint64_t prefix, sequence, usec;

	if (!number(&p, end, &prefix) || *p++ != ',' || !number(&p, end, &sequence) ||
		*p++ != ',' || !number(&p, end, &usec) || (*p != ',' && *p != ';')) {
		return -EBADMSG;
	}
	p = memchr(p, ';', (size_t)(end - p));
	if (!p) {
		return -EBADMSG;
	}
	p++;
	if (prefix >> FACILITY_SHIFT) {
		return 0;
	}
	const char *nl = memchr(p, '\n', (size_t)(end - p));
	if (nl) {
		end = nl; /* the dictionary follows */
	}
	size_t start = out->len;
	text_addf(out, "[%5" PRIu64 ".%06" PRIu64 "] ", usec / 1000000, usec % 1000000);
	size_t indent = out->len - start;
	for (; p < end; p++) {
		/* The kernel writes what is not printable as \xNN, line ends within a message too.
		 */
		int hi, lo;
		if (*p != '\\' || end - p < 4 || p[1] != 'x' || (hi = pcie_hex_digit(p[2])) < 0 ||
			(lo = pcie_hex_digit(p[3])) < 0) {
			text_addn(out, p, 1);
			continue;
		}
		char c = (char)(hi << 4 | lo);
		if (c == '\n') {
			text_addf(out, "\n%*s", (int)indent, "");
		} else if (c != '\0') {
			text_addn(out, &c, 1);
		}
		p += 3;
	}
	text_add(out, "\n");
	return 0;
}

static int read_kmsg(const char *device, struct text *out)
{
	_cleanup_fd_ int fd = open(device, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0) {
		return -errno;
	}
	char record[RECORD_MAX];
	while (out->len < LOG_MAX) {
		ssize_t n = read(fd, record, sizeof(record));
		if (n > 0) {
			pcie_kmsg_record(record, (size_t)n, out);
		} else if (n == 0 || errno == EAGAIN) {
			break;
		} else if (errno != EPIPE && errno != EINTR) { /* EPIPE: overwritten meanwhile */
			return out->len ? 0 : -errno;
		}
	}
	return 0;
}

void pcie_kmsg_syslog(const char *buf, size_t len, struct text *out)
{
	const char *p = buf, *end = buf + len;
	while (p < end) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));
		const char *stop = nl ? nl : end, *from = p;
		if (*p == '<' && p + 1 < stop && p[1] >= '0' && p[1] <= '9') {
			const char *close = memchr(p, '>', MIN((size_t)(stop - p), 8));
			from = close ? close + 1 : p;
		}
		text_addn(out, from, (size_t)(stop - from));
		text_add(out, "\n");
		p = nl ? nl + 1 : end;
	}
}

static int read_syslog(struct text *out)
{
	int size = klogctl(ACTION_SIZE_BUFFER, NULL, 0);
	if (size <= 0) {
		return size < 0 ? -errno : -ENODATA;
	}
	size = MIN(size, LOG_MAX);
	_cleanup_free_ char *buf = malloc((size_t)size);
	if (!buf) {
		return -ENOMEM;
	}
	int n = klogctl(ACTION_READ_ALL, buf, size);
	if (n < 0) {
		return -errno;
	}
	pcie_kmsg_syslog(buf, (size_t)n, out);
	return 0;
}

int pcie_kmsg_read(const char *device, char **ret, size_t *ret_len, struct why *why)
{
	struct text out = {0};
	int r = read_kmsg(device, &out);
	if (r < 0) {
		int again = read_syslog(&out);
		/* Of the two refusals the one that speaks of permission says more. */
		r = again == 0 || again == -EPERM ? again : r;
	}
	if (r < 0) {
		text_finish(&out);
		if (r == -EPERM || r == -EACCES) {
			why_set(why, "needs root here (kernel.dmesg_restrict)");
		} else {
			why_set(why, "%s", strerror(-r));
		}
		return r;
	}
	*ret_len = out.len;
	*ret = text_steal(&out);
	return 0;
}
