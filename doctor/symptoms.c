/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "doctor/symptoms.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

static const struct doctor_symptom symptoms[] = {
	{
		.word = "tuning-makes-it-slower",
		.seen = "performance gets worse the more I tune",
		.usual =
			"Larger tiles need more registers than there are; the kernel spills to memory.",
		.checks = {"algorithm.spills", "clocks"},
		.signs = {"bytes spill stores", "spill loads", "bytes stack frame"},
	},
	{
		.word = "random-crash",
		.seen = "random crash, gone after a reboot",
		.usual = "A BAR or a bridge window is not mapped as it should be.",
		.checks = {"pcie.assignment", "pcie.above4g", "driver"},
		.signs = {"nvrm: xid", "can't assign; no space", "failed to assign",
			"this pci i/o region assigned to your nvidia device is invalid"},
	},
	{
		.word = "no-build-path",
		.seen = "no sandbox or build area path, crash decoding: disabled",
		.usual =
			"BUILD_DIR, TMPDIR or HOME is missing, cannot be written, or has a blank in it.",
		.checks = {"env"},
		.signs = {"no sandbox or build area path", "crash decoding: disabled",
			"no space left on device", "read-only file system"},
	},
	{
		.word = "new-card-slower",
		.seen = "a new card is slower than the old one",
		.usual =
			"Resizable BAR is not in effect, the link is narrow, or a driver option is off.",
		.checks = {"pcie", "driver", "clocks"},
		.signs = {"not enough pci address space for a large bar", "failed to resize bar",
			"available pcie bandwidth, limited by", "small bar device"},
	},
	{
		.word = "precision",
		.seen = "precision suddenly bad",
		.usual =
			"Products are accumulated in FP16 somewhere: 'barscope verify' shows the error and its bound.",
		.checks = {"algorithm", "driver"},
		.signs = {"nan", "overflow encountered", "fp16 accumulation"},
	},
	{
		.word = "time-wobbles",
		.seen = "time wobbles with fixed input",
		.usual =
			"Clocks float, a neighbour takes a core, or the mapping changed since the last boot.",
		.checks = {"clocks", "pcie"},
		.signs = {"cpu clock throttled", "temperature above threshold", "hw slowdown",
			"sw power cap"},
	},
	{NULL},
};

const struct doctor_symptom *doctor_symptoms(void)
{
	return symptoms;
}

const struct doctor_symptom *doctor_symptom_find(const char *word)
{
	for (const struct doctor_symptom *s = symptoms; s->word; s++) {
		if (strcasecmp(s->word, word) == 0) {
			return s;
		}
	}
	/* One of several: nobody is guessed at. */
	const struct doctor_symptom *found = NULL;
	for (const struct doctor_symptom *s = symptoms; s->word; s++) {
		if (word[0] && (strcasestr(s->seen, word) || strcasestr(s->word, word))) {
			if (found) {
				return NULL;
			}
			found = s;
		}
	}
	return found;
}

static bool holds(const char *line, size_t len, const char *sign)
{
	size_t n = strlen(sign);
	for (size_t i = 0; i + n <= len; i++) {
		if (strncasecmp(line + i, sign, n) == 0) {
			/* "nan" is a word, not a part of "resonance". */
			bool word_before = i > 0 && isalnum((unsigned char)line[i - 1]);
			bool word_after = i + n < len && isalnum((unsigned char)line[i + n]);
			if (!word_before && !word_after) {
				return true;
			}
		}
	}
	return false;
}

const char *doctor_symptom_sign(const struct doctor_symptom *s, const char *log, size_t len,
	size_t *ret_len, size_t *ret_number)
{
	const char *end = log + len;
	size_t number = 1;
	for (const char *line = log; line < end; number++) {
		const char *eol = memchr(line, '\n', (size_t)(end - line));
		size_t n = (size_t)((eol ? eol : end) - line);
		for (size_t i = 0; i < ARRAY_LEN(s->signs) && s->signs[i]; i++) {
			if (holds(line, n, s->signs[i])) {
				*ret_len = n;
				*ret_number = number;
				return line;
			}
		}
		line += n + 1;
	}
	return NULL;
}
