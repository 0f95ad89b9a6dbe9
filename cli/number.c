/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/number.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

bool cmd_parse_real(const char *s, const char **ret_end, double *ret)
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

int cmd_take_speed(const char *cmd, const char *s, double *ret)
{
	double v = 0;
	const char *end = s;
	if (!strcmp(s, "max")) {
		*ret = 0;
		return 0;
	}
	if (!cmd_parse_real(s, &end, &v) || *end || v > 1e9) {
		return cmd_usage_error(
			cmd, "--speed takes a number up to 1e9 or max, not '%.40s'", s);
	}
	*ret = v;
	return 0;
}
