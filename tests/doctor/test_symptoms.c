/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "doctor/symptoms.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void found_by_word_and_by_what_is_seen(void **state)
{
	(void)state;
	assert_string_equal(doctor_symptom_find("random-crash")->word, "random-crash");
	assert_string_equal(doctor_symptom_find("WOBBLES")->word, "time-wobbles");
	assert_string_equal(doctor_symptom_find("sandbox")->word, "no-build-path");
	assert_null(doctor_symptom_find("e")); /* several: nobody is guessed at */
	assert_null(doctor_symptom_find(""));
	assert_null(doctor_symptom_find("no such thing"));
}

static void signs_are_words_on_a_line(void **state)
{
	(void)state;
	static const char log[] = "resonance of nanometres\nall well\nloss: NaN at step 3";
	const struct doctor_symptom *s = doctor_symptom_find("precision");
	size_t len, number;
	const char *line = doctor_symptom_sign(s, log, strlen(log), &len, &number);
	assert_non_null(line);
	assert_int_equal(number, 3);
	assert_int_equal(len, strlen("loss: NaN at step 3"));
	assert_null(doctor_symptom_sign(s, log, strlen("resonance of nanometres"), &len, &number));
	assert_null(doctor_symptom_sign(s, "", 0, &len, &number));
}

static void every_symptom_is_whole(void **state)
{
	(void)state;
	for (const struct doctor_symptom *s = doctor_symptoms(); s->word; s++) {
		assert_non_null(s->seen);
		assert_non_null(s->usual);
		assert_non_null(s->checks[0]);
		assert_non_null(s->signs[0]);
		assert_ptr_equal(doctor_symptom_find(s->word), s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(found_by_word_and_by_what_is_seen),
		cmocka_unit_test(signs_are_words_on_a_line),
		cmocka_unit_test(every_symptom_is_whole),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
