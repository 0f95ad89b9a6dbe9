/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gzip in memory. Any thread. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/why.h"

/* Starts with gzip's magic number? */
bool gz_is(const char *data, size_t len);

/*
 * Unpacks LEN bytes (several members one after another too) into a fresh buffer
 * with a NUL behind it; the caller frees it. More than MAX bytes: -EFBIG. Damaged:
 * -EBADMSG; truncated input yields what could be unpacked and *ret_cut = true.
 */
int gz_unpack(const char *data, size_t len, size_t max, char **ret, size_t *ret_len, bool *ret_cut,
	struct why *why);

/* Packs LEN bytes; the caller frees the result. */
int gz_pack(const char *data, size_t len, char **ret, size_t *ret_len);
