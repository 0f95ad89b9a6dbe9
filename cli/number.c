/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/number.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "base/text.h"
#include "cli/cmd.h"

int cmd_take_number(const char *cmd, const char *option, const char *s, uint64_t least,
	uint64_t most, uint64_t *ret)
{
	uint64_t v;
	if (text_parse_u64(s, 10, &v) < 0 || v < least || v > most) {
		return cmd_usage_error(cmd, "%s takes a number from %llu to %llu, not '%.40s'",
			option, (unsigned long long)least, (unsigned long long)most, s);
	}
	*ret = v;
	return 0;
}

int cmd_take_u32(const char *cmd, const char *option, const char *s, uint32_t least, uint32_t most,
	uint32_t *ret)
{
	uint64_t v = 0;
	int r = cmd_take_number(cmd, option, s, least, most, &v);
	if (!r) {
		*ret = (uint32_t)v;
	}
	return r;
}

/* A number above 0 at the start of S. False: there is none. */
static bool parse_real(const char *s, const char **ret_end, double *ret)
{
	char *end;
	errno = 0;
	double v = strtod(s, &end);
	if (errno || end == s || !(v > 0) || v > 1e18) { /* NaN fails, too */
		return false;
	}
	*ret_end = end;
	*ret = v;
	return true;
}

int cmd_take_seconds(const char *cmd, const char *option, const char *s, uint64_t *ret_ns)
{
	static const double shortest_s = 0.001, longest_s = 365 * 86400.0;
	double v = 0;
	const char *end = s;
	if (!parse_real(s, &end, &v) || *end || v < shortest_s || v > longest_s) {
		return cmd_usage_error(cmd,
			"%s takes a time in seconds from 0.001 to a year, such as 0.5 or 60, not "
			"'%.40s'",
			option, s);
	}
	*ret_ns = (uint64_t)(v * 1e9);
	return 0;
}

int cmd_take_time(const char *cmd, const char *option, const char *s, uint64_t *ret_ns)
{
	static const struct {
		const char *unit;
		double ns;
	} units[] = {{"ns", 1}, {"us", 1e3}, {"µs", 1e3}, {"ms", 1e6}, {"s", 1e9}};
	double v = 0;
	const char *end;
	if (parse_real(s, &end, &v)) {
		for (size_t i = 0; i < ARRAY_LEN(units); i++) {
			double ns = v * units[i].ns;
			if (!strcmp(end, units[i].unit) && ns >= 1e3 && ns <= 3600e9) {
				*ret_ns = (uint64_t)ns;
				return 0;
			}
		}
	}
	return cmd_usage_error(cmd,
		"%s takes a time from 1us to an hour, such as 250us or 10ms, not '%.40s'", option,
		s);
}

int cmd_take_fill(const char *cmd, const char *option, const char *s, uint32_t *ret_permille,
	uint64_t *ret_bytes)
{
	const char *end = s;
	double v = 0;
	uint64_t bytes = 0;
	if (parse_real(s, &end, &v) && !strcmp(end, "%") && v >= 0.1 && v <= 99) {
		*ret_permille = (uint32_t)(v * 10 + 0.5);
		return 0;
	}
	/* "50" is no size that anybody means. */
	if (text_parse_size(s, &bytes) >= 0 && bytes >= MIB) {
		*ret_bytes = bytes;
		return 0;
	}
	return cmd_usage_error(cmd,
		"%s takes a share of the free memory up to 99%%, such as 90%%, or a size from "
		"1M on, such as 20G, not '%.40s'",
		option, s);
}

int cmd_take_speed(const char *cmd, const char *s, double *ret)
{
	double v = 0;
	const char *end = s;
	if (!strcmp(s, "max")) {
		*ret = 0;
		return 0;
	}
	if (!parse_real(s, &end, &v) || *end || v > 1e9) {
		return cmd_usage_error(
			cmd, "--speed takes a number up to 1e9 or max, not '%.40s'", s);
	}
	*ret = v;
	return 0;
}
