/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stress/finding.h"

#include <stdio.h>
#include <string.h>

#include "base/macros.h"

static const char *const names[STRESS_WRONG_KINDS] = {
	[STRESS_WRONG_NOTHING] = "nothing",
	[STRESS_WRONG_TRANSIENT] = "transient",
	[STRESS_WRONG_REPEATED] = "repeated",
	[STRESS_WRONG_WEIGHTS] = "weights",
	[STRESS_WRONG_X] = "x",
	[STRESS_WRONG_MEMORY] = "memory",
};

const char *stress_wrong_name(unsigned kind)
{
	return kind < STRESS_WRONG_KINDS ? names[kind] : "?";
}

static const char *what(const struct stress_finding *f)
{
	switch (f->kind) {
	case STRESS_WRONG_TRANSIENT:
		return "transient: the inputs are intact and repetitions are right";
	case STRESS_WRONG_REPEATED:
		return "the inputs are intact and a repetition was wrong again";
	case STRESS_WRONG_WEIGHTS:
		return "weights changed in memory";
	case STRESS_WRONG_X:
		return "the input x changed in memory";
	case STRESS_WRONG_MEMORY:
		return "memory does not keep what is written";
	default:
		return "nothing";
	}
}

void stress_finding_text(const struct stress_finding *f, char ret[static STRESS_FINDING_TEXT])
{
	char words[160] = "", outputs[120] = "";

	if (f->words) {
		snprintf(words, sizeof(words),
			", %llu word%s, first at byte 0x%llx (address 0x%llx): 0x%08x instead of "
			"0x%08x",
			(unsigned long long)f->words, f->words == 1 ? "" : "s",
			(unsigned long long)f->offset, (unsigned long long)f->address, f->word_is,
			f->word_was);
	}
	if (f->outputs) {
		snprintf(outputs, sizeof(outputs),
			"; %llu output%s, first y[%u][%u]: 0x%04x instead of 0x%04x",
			(unsigned long long)f->outputs, f->outputs == 1 ? " differs" : "s differ",
			f->m, f->n, f->output_is, f->output_was);
	}
	snprintf(ret, STRESS_FINDING_TEXT, "copy %u: %s%s%s", f->copy, what(f), words, outputs);
}

static uint32_t bits_at(const void *p, size_t i, size_t each)
{
	uint32_t bits = 0;

	memcpy(&bits, (const char *)p + i * each, each); /* little endian, as all of this is */
	return bits;
}

void stress_finding_outputs(struct stress_finding *f, const void *is, const void *was, size_t count,
	uint32_t n, size_t each)
{
	for (size_t i = 0; i < count; i++) {
		const uint32_t a = bits_at(is, i, each), b = bits_at(was, i, each);

		if (a != b && f->outputs++ == 0) {
			f->m = (uint32_t)(i / n);
			f->n = (uint32_t)(i % n);
			f->output_is = a;
			f->output_was = b;
		}
	}
}

bool stress_finding_words(struct stress_finding *f, const void *is, const void *was, size_t bytes,
	uint64_t offset, uint64_t address)
{
	const uint64_t before = f->words;

	if (!memcmp(is, was, bytes)) {
		return true;
	}
	for (size_t at = 0; at < bytes; at += 4) {
		uint32_t a = 0, b = 0;

		memcpy(&a, (const char *)is + at, MIN(bytes - at, (size_t)4));
		memcpy(&b, (const char *)was + at, MIN(bytes - at, (size_t)4));
		if (a != b && f->words++ == 0) {
			f->offset = offset + at;
			f->address = address + offset + at;
			f->word_is = a;
			f->word_was = b;
		}
	}
	return f->words == before;
}
