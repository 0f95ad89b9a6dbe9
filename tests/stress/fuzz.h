/* SPDX-License-Identifier: GPL-2.0-or-later */
/* libFuzzer's entry; fuzz_main.c replays files where there is no libFuzzer. */
#pragma once

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
