/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers, times and sizes among the arguments of command CMD ("": the screen), OPTION with its
 * dashes. 0 and the value, or EXIT_USAGE after one sentence on stderr.
 */
#pragma once

#include <stdint.h>

int cmd_take_number(const char *cmd, const char *option, const char *s, uint64_t least,
	uint64_t most, uint64_t *ret);
int cmd_take_u32(const char *cmd, const char *option, const char *s, uint32_t least, uint32_t most,
	uint32_t *ret);

/* Seconds, up to a year, in ns. */
int cmd_take_seconds(const char *cmd, const char *option, const char *s, uint64_t *ret_ns);
/* A time with its unit (ns, us, ms, s), from 1 us to an hour. */
int cmd_take_time(const char *cmd, const char *option, const char *s, uint64_t *ret_ns);

/* A share of the free memory, in permille, or a size in bytes; the other one is left alone. */
int cmd_take_fill(const char *cmd, const char *option, const char *s, uint32_t *ret_permille,
	uint64_t *ret_bytes);

/* "--speed": 0 for max, else a number above 0 up to 1e9. */
int cmd_take_speed(const char *cmd, const char *s, double *ret);
