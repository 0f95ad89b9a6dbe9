/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "runs/study.h"

/* A's or B's state in words: "with Above 4G Decoding ON". */
static const char *state_words(char side)
{
	return side == 'B' ? "ON" : "OFF";
}

void runs_study_say_next(
	const struct runs_study *s, const struct runs_study_boots *b, struct text *t)
{
	char next = runs_study_next(s, b);
	size_t done = runs_study_count(b, 'A') + runs_study_count(b, 'B');
	if (!next) {
		text_addf(t, "The study is complete: barscope study report %s\n", s->name);
		return;
	}
	text_addf(t, "Now boot with %s %s (%c) and say 'barscope study run %s%s': %zu of %u.\n",
		*s->change ? s->change : "the change", state_words(next), next, s->name,
		*s->fact      ? ""
		: next == 'A' ? " --side A"
			      : " --side B",
		done + 1, 2 * s->boots);
	const struct runs_study_boot *last = b->n ? &b->boot[b->n - 1] : NULL;
	if (last && last->side == next) {
		text_add(t, "It is the state of the boot before: only restart.\n");
	}
}
