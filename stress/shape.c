/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>

#include "base/text.h"
#include "stress/worker.h"

enum { SHAPE_MAX = 1 << 24 };
static const uint64_t elements_max = (uint64_t)1 << 40;

static int parse_dimension(const char **s, char end, uint32_t *ret)
{
	const char *stop = end ? strchr(*s, end) : *s + strlen(*s);
	char digits[32];
	if (!stop || (size_t)(stop - *s) >= sizeof(digits)) {
		return -EINVAL;
	}
	memcpy(digits, *s, (size_t)(stop - *s));
	digits[stop - *s] = '\0';
	uint64_t v;
	int r = text_parse_u64(digits, 10, &v);
	if (r < 0) {
		return r;
	}
	if (v < 1 || v > SHAPE_MAX) {
		return -ERANGE;
	}
	*ret = (uint32_t)v;
	*s = end ? stop + 1 : stop;
	return 0;
}

int stress_shape_parse(const char *s, struct stress_shape *ret, struct why *why)
{
	struct stress_shape shape;
	const char *at = s;
	int r = parse_dimension(&at, 'x', &shape.m);
	if (!r) {
		r = parse_dimension(&at, 'x', &shape.k);
	}
	if (!r) {
		r = parse_dimension(&at, '\0', &shape.n);
	}
	if (r == -ERANGE) {
		why_set(why, "shape '%.40s': each of M, K and N must be from 1 to %d", s,
			SHAPE_MAX);
		return -EINVAL;
	}
	if (r < 0) {
		why_set(why, "shape '%.40s' is not MxKxN, such as 1x4096x11008", s);
		return -EINVAL;
	}
	if ((uint64_t)shape.k * shape.n > elements_max ||
		(uint64_t)shape.m * shape.k > elements_max ||
		(uint64_t)shape.m * shape.n > elements_max) {
		why_set(why, "shape '%.40s': a matrix of more than 2^40 elements", s);
		return -EINVAL;
	}
	*ret = shape;
	return 0;
}

void stress_config_init(struct stress_config *c)
{
	*c = (struct stress_config){
		.backend = "auto",
		.shape = {.m = 1, .k = 4096, .n = 11008},
		.dtype = STRESS_F16,
		.seed = 1,
		.script_speed = 1,
	};
}
