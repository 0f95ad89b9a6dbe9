/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a test may reach inside the CPU back end: to flip a bit and see that it is noticed. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct stress_backend;

/* The weights of one copy; *RET_BYTES of them. */
void *stress_cpu_weights(struct stress_backend *b, uint32_t copy, size_t *ret_bytes);
