/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The doctor's report in its forms. Pure; the caller frees the text. */
#pragma once

#include "cli/style.h"
#include "doctor/doctor.h"
#include "doctor/symptoms.h"

/* What of a report is shown, and beside what. */
struct cmd_doctor_page {
	const struct doctor_report *report;
	const struct doctor_symptom *symptom; /* only its lines; NULL: all */
	const char *sign;                     /* where a log has its sign, or NULL */
};

bool cmd_doctor_selected(const struct doctor_line *l, const struct doctor_symptom *s);

char *cmd_doctor_text(const struct cmd_doctor_page *p, struct cmd_style style);
char *cmd_doctor_json(const struct cmd_doctor_page *p);
/* The commands of all faults, for sh. */
char *cmd_doctor_script(const struct cmd_doctor_page *p);
