/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/why.h"

#include <stdarg.h>
#include <stdio.h>

void why_set(struct why *why, const char *fmt, ...)
{
	if (!why) {
		return;
	}

	va_list ap;
	va_start(ap, fmt);
	vsnprintf(why->text, sizeof(why->text), fmt, ap);
	va_end(ap);
}
