/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Log lines as loggers, pagers, mail programs and forums leave them, made into
 * kernel messages: prefixes are taken off, wrapped pieces are joined.
 * One owner. Private to klog*.c.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "pcie/lines.h"

/* What stood before a message. */
struct klog_stamp {
	bool any;      /* a time stamp, a level or "kernel:" */
	bool kernel;   /* the kernel is named, or a level is: no other program's line */
	bool has_time; /* seconds since boot */
	bool gap;      /* a blank line or grep's "--" stood before it */
	uint64_t usec;
};

/* The offset of the message in S: behind time stamps, levels, host name, grep's numbers. */
size_t klog_prefix(const char *s, struct klog_stamp *ret);

/* Whether MESSAGE (no prefix) begins as a message that this reader may understand. */
bool klog_begins(const char *message);

/* One message, joined. */
struct klog_message {
	const char *s;     /* the message, behind its prefix */
	const char *whole; /* with its prefix */
	size_t len;        /* of WHOLE */
	bool joined;       /* WHOLE is in the reader's buffer and goes with the next call */
	bool last;         /* nothing follows in the text: it may be cut off */
	struct klog_stamp stamp;
};

struct klog_reader {
	const struct pcie_lines *lines;
	size_t next;
	/* The prefix of line NEXT, when it was looked at already. */
	bool ahead;
	size_t ahead_off;
	struct klog_stamp ahead_stamp;
	struct text join;
};

/* Reads the next message; false at the end. Pieces that belong to no message are passed over. */
bool klog_next(struct klog_reader *r, struct klog_message *ret);
void klog_reader_finish(struct klog_reader *r);
