/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "runs/layer.h"

#include <string.h>

static const char *const layer[RUNS_LAYERS] = {
	[RUNS_HOST] = "host",
	[RUNS_LAUNCH] = "launch",
	[RUNS_DEVICE] = "device",
	[RUNS_NOTIFY] = "notify",
	[RUNS_GAP] = "gap",
	[RUNS_CYCLES] = "cycles",
};

static const char *const series[STRESS_SERIES] = {
	[STRESS_GEMM] = "gemm",
	[STRESS_READ] = "read",
	[STRESS_EMPTY] = "empty",
	[STRESS_H2D] = "h2d",
	[STRESS_D2H] = "d2h",
	[STRESS_ZERO_COPY] = "zero-copy",
	[STRESS_PEER] = "peer",
};

static int find(const char *const *names, unsigned n, const char *name)
{
	for (unsigned i = 0; i < n; i++) {
		if (names[i] && !strcmp(names[i], name)) {
			return (int)i;
		}
	}
	return -1;
}

const char *runs_layer_name(unsigned i)
{
	return i < RUNS_LAYERS ? layer[i] : "?";
}

const char *runs_series_name(unsigned i)
{
	return i < STRESS_SERIES && series[i] ? series[i] : "?";
}

int runs_layer_find(const char *name)
{
	return find(layer, RUNS_LAYERS, name);
}

int runs_series_find(const char *name)
{
	return find(series, STRESS_SERIES, name);
}

bool runs_layer_in_blocks(unsigned s, unsigned l)
{
	return s == STRESS_GEMM || l == RUNS_HOST || l == RUNS_DEVICE;
}
