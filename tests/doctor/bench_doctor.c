/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long the whole doctor takes, without a GPU and with one (libraries of tests/fakes in NVIDIA's
 * place: their own time is next to nothing). Fails above one second and five.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/macros.h"
#include "base/sort.h"
#include "doctor/gpu.h"
#include "plant.h"

enum { ROUNDS = 5 };

static int by_value(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;
	return x < y ? -1 : x > y;
}

static int measure(const char *what, const char *record, double limit)
{
	double s[ROUNDS];
	plant_healthy();
	plant_record(record);
	plant_libcuda("");
	for (size_t i = 0; i < ROUNDS; i++) {
		const uint64_t from = clock_ns();
		doctor_report_destroy(plant_run());
		s[i] = (double)(clock_ns() - from) / 1e9;
	}
	sort_array(s, ROUNDS, sizeof(s[0]), by_value);
	printf("%s: median %.2f s, longest %.2f s; goal %.0f s\n", what, s[ROUNDS / 2],
		s[ROUNDS - 1], limit);
	return s[ROUNDS / 2] > limit;
}

int main(int argc, char **argv)
{
	int r;
	if (plant_is_child(argc, argv, &r)) {
		return r;
	}
	if (!plant_begin()) {
		return 1;
	}
	plant_whole(true);
	plant_watch(0); /* as long as by default */
	int bad = measure("without a GPU", "119-igpu-and-bmc", 1);
	bad |= measure("with an NVIDIA GPU", "117-fixed-large", 5);
	return plant_end() || bad;
}
