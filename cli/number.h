/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers among the arguments of command CMD ("": the screen). 0 and the value, or EXIT_USAGE
 * after one sentence on stderr.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

int cmd_take_number(const char *cmd, const char *option, const char *s, uint64_t least,
	uint64_t most, uint64_t *ret);

/* "--speed": 0 for max, else a number above 0 up to 1e9. */
int cmd_take_speed(const char *cmd, const char *s, double *ret);

/* A number above 0 at the start of S; says nothing. False: there is none. */
bool cmd_parse_real(const char *s, const char **ret_end, double *ret);
