/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/macros.h"
#include "base/text.h"
#include "stress/worker.h"

enum { SHAPE_MAX = 1 << 24, LAYERS = 32, LAYERS_MAX = 1024 };
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

/* Models by name: their width, and that of their MLP. */
static const struct {
	const char *name;
	uint32_t k, n;
} models[] = {
	{"decode7b", 4096, 11008},
	{"decode13b", 5120, 13824},
};

static int parse_layers(const char *s, struct stress_config *c)
{
	uint64_t v;

	if (!*s) {
		c->layers = c->layers ? c->layers : LAYERS;
		return 0;
	}
	if (*s != '*' || text_parse_u64(s + 1, 10, &v) < 0 || v < 1 || v > LAYERS_MAX) {
		return -EINVAL;
	}
	c->layers = (uint32_t)v;
	return 0;
}

/* "decode…": -ENOENT when it is none. */
static int parse_chain(struct stress_config *c, const char *s, struct why *why)
{
	struct stress_config ret = *c;
	char dimensions[40];
	const size_t name = strcspn(s, "*");
	int r = -EINVAL;

	if (strncmp(s, "decode", 6) != 0) {
		return -ENOENT;
	}
	for (size_t i = 0; i < ARRAY_LEN(models); i++) {
		if (name == strlen(models[i].name) && !strncmp(s, models[i].name, name)) {
			ret.shape = (struct stress_shape){1, models[i].k, models[i].n};
			r = 0;
		}
	}
	if (s[6] == ':' && name < sizeof(dimensions)) {
		snprintf(dimensions, sizeof(dimensions), "1x%.*s", (int)name - 7, s + 7);
		r = stress_shape_parse(dimensions, &ret.shape, why);
	}
	r = r ? r : parse_layers(s + name, &ret);
	if (r < 0 || ret.shape.k > SHAPE_MAX / 3) {
		why_set(why,
			"shape '%.40s' is not decode7b, decode13b or decode:KxN, with *LAYERS up to "
			"%d behind it or not",
			s, LAYERS_MAX);
		return -EINVAL;
	}
	*c = ret;
	return 0;
}

int stress_config_shape(struct stress_config *c, const char *s, struct why *why)
{
	struct stress_shape shape;
	const int r = parse_chain(c, s, why);

	if (r != -ENOENT) {
		return r;
	}
	const int e = stress_shape_parse(s, &shape, why);

	if (e == 0) {
		c->shape = shape;
		c->layers = 0;
	}
	return e;
}

const char *stress_shape_name(const struct stress_config *c, char buf[static STRESS_SHAPE_MAX])
{
	const struct stress_shape *s = &c->shape;

	if (!c->layers) {
		snprintf(buf, STRESS_SHAPE_MAX, "%ux%ux%u", s->m, s->k, s->n);
		return buf;
	}
	snprintf(buf, STRESS_SHAPE_MAX, "decode:%ux%u*%u", s->k, s->n, c->layers);
	for (size_t i = 0; i < ARRAY_LEN(models); i++) {
		if (models[i].k == s->k && models[i].n == s->n) {
			snprintf(buf, STRESS_SHAPE_MAX, "%s*%u", models[i].name, c->layers);
		}
	}
	return buf;
}

const char *stress_mode_name(unsigned mode)
{
	static const char *const names[STRESS_MODES] = {
		[STRESS_ISOLATED] = "isolated",
		[STRESS_QUEUED] = "queued",
		[STRESS_GRAPH] = "graph",
	};

	return mode < STRESS_MODES ? names[mode] : "?";
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
