/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kernels/cpu.h"

#include <stddef.h>

#if defined(__x86_64__)
#include <cpuid.h>

/* Intel SDM volume 1, 13.3: XCR0 bits 1-2 XMM and YMM, 5-7 opmask and ZMM state. */
enum { XCR0_YMM = 0x06, XCR0_ZMM = 0xe6 };

static unsigned read_xcr0(void)
{
	unsigned lo, hi;
	__asm__("xgetbv" : "=a"(lo), "=d"(hi) : "c"(0));
	return lo;
}

unsigned cpu_flags(void)
{
	unsigned a, b, c, d, flags = CPU_SSE2; /* every x86-64 has it */
	const unsigned leaf1 = bit_OSXSAVE | bit_AVX | bit_FMA | bit_F16C;
	if (!__get_cpuid(1, &a, &b, &c, &d) || (c & leaf1) != leaf1) {
		return flags;
	}
	unsigned xcr0 = read_xcr0();
	if ((xcr0 & XCR0_YMM) != XCR0_YMM || !__get_cpuid_count(7, 0, &a, &b, &c, &d) ||
		!(b & bit_AVX2)) {
		return flags;
	}
	flags |= CPU_AVX2;
	const unsigned wide = bit_AVX512F | bit_AVX512BW | bit_AVX512DQ | bit_AVX512VL;
	if ((xcr0 & XCR0_ZMM) == XCR0_ZMM && (b & wide) == wide) {
		flags |= CPU_AVX512;
	}
	return flags;
}

#elif defined(__aarch64__)
#include <sys/auxv.h>

enum { HWCAP_ASIMD_BIT = 1 << 1 };

unsigned cpu_flags(void)
{
	return getauxval(AT_HWCAP) & HWCAP_ASIMD_BIT ? CPU_NEON : 0;
}

#else

unsigned cpu_flags(void)
{
	return 0;
}

#endif

const char *cpu_flag_name(unsigned flag)
{
	switch (flag) {
	case CPU_AVX2:
		return "avx2";
	case CPU_AVX512:
		return "avx512";
	case CPU_NEON:
		return "neon";
	case CPU_SSE2:
		return "sse2";
	default:
		return NULL;
	}
}
