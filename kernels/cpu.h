/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What this CPU and its operating system can run: cpuid and xgetbv on x86, hwcap on
 * AArch64. A flag is set only when the registers are saved by the system, too. Any thread.
 */
#pragma once

enum {
	CPU_AVX2 = 1 << 0, /* AVX2, FMA and F16C */
	/* AVX-512 F, BW, DQ and VL: what every CPU with a 512-bit path worth using has. */
	CPU_AVX512 = 1 << 1,
	CPU_NEON = 1 << 2,
	CPU_SSE2 = 1 << 3,
};

unsigned cpu_flags(void);

/* "avx2", … of one flag; NULL for others. */
const char *cpu_flag_name(unsigned flag);
