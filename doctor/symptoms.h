/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From what a person sees to the checks that decide it. Pure; any thread. */
#pragma once

#include <stddef.h>

#include "doctor/doctor.h"

struct doctor_symptom {
	const char *word;      /* what --symptom takes */
	const char *seen;      /* how a person would say it */
	const char *usual;     /* the usual cause, in one sentence */
	const char *checks[4]; /* prefixes of line ids, in order; NULL-ended */
	const char *signs[5];  /* what a log says then, lower case; NULL-ended */
};

/* Ended by a NULL word. */
const struct doctor_symptom *doctor_symptoms(void);
/* By its word, or by a word of what is seen; NULL. */
const struct doctor_symptom *doctor_symptom_find(const char *word);

/*
 * The first line of the LEN bytes at LOG that holds one of the signs; NULL when none does.
 * *RET_LEN is the line's length, *RET_NUMBER counts from 1.
 */
const char *doctor_symptom_sign(const struct doctor_symptom *s, const char *log, size_t len,
	size_t *ret_len, size_t *ret_number);
