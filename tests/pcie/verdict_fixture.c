/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "verdict_fixture.h"

struct fixture verdict_machine(uint64_t base, uint64_t size)
{
	struct fixture f = {.s = machine_pc()};
	machine_aperture(f.s, 0x80000000, 0xbfffffff);
	if (base >= HIGH) {
		machine_aperture(f.s, HIGH, HIGH + 256 * GIB - 1);
	}
	f.s->apertures_complete = true;
	f.port = machine_bridge(f.s, "0000:00:01.0", -1, 1, base, base + 2 * size - 1);
	f.gpu = machine_gpu(f.s, "0000:01:00.0", f.port);
	machine_low_bar(f.s, f.gpu, 0, 0x80000000, 16 * MIB);
	machine_bar(f.s, f.gpu, 1, base, size);
	machine_bar(f.s, f.gpu, 3, base + size, 32 * MIB);
	machine_rebar(f.s, f.gpu, 1, size, SIZES(6, 14));
	machine_vram(f.s, f.gpu, 16 * GIB);
	pcie_snapshot_settle(f.s);
	f.d = &f.s->dev[f.gpu];
	f.bar = pcie_device_bar(f.d, PCIE_BAR_NORMAL, 1);
	return f;
}

void expect_of(const struct pcie_snapshot *s, const char *id, const char *answer,
	enum pcie_confidence confidence, enum pcie_level level)
{
	struct pcie_verdicts *v = pcie_verdicts_create(s);
	assert_true(v->ngpu >= 1);
	const struct pcie_verdict *x = pcie_gpu_find(&v->gpu[0], id);
	if (!answer) {
		if (x) {
			fail_msg("%s is %s, and should not be said", id, x->answer);
		}
	} else if (!x || strcmp(x->answer, answer) || x->confidence != confidence ||
		   x->level != level) {
		fail_msg("%s is %s (%s, %s), expected %s (%s, %s): %s", id,
			x ? x->answer : "not said", x ? pcie_confidence_name(x->confidence) : "",
			x ? pcie_level_name(x->level) : "", answer,
			pcie_confidence_name(confidence), pcie_level_name(level),
			x ? x->headline : "");
	} else {
		assert_true(pcie_rule_has_answer(x->rule, answer));
		assert_true(x->headline[0]);
	}
	pcie_verdicts_destroy(v);
}

void expect_headline(const struct pcie_snapshot *s, const char *id, const char *headline)
{
	struct pcie_verdicts *v = pcie_verdicts_create(s);
	const struct pcie_verdict *x = pcie_gpu_find(&v->gpu[0], id);
	assert_non_null(x);
	assert_string_equal(x->headline, headline);
	pcie_verdicts_destroy(v);
}

void expect_cause(const struct pcie_snapshot *s, enum pcie_cause cause)
{
	struct pcie_verdicts *v = pcie_verdicts_create(s);
	if (v->gpu[0].cause != cause) {
		const char *is = pcie_cause_name(v->gpu[0].cause), *want = pcie_cause_name(cause);
		fail_msg("cause is %s, expected %s", is ? is : "null", want ? want : "null");
	}
	pcie_verdicts_destroy(v);
}

void expect_evidence(
	const struct pcie_snapshot *s, const char *id, const char *item, const char *value)
{
	struct pcie_verdicts *v = pcie_verdicts_create(s);
	const struct pcie_verdict *x = pcie_gpu_find(&v->gpu[0], id);
	assert_non_null(x);
	const char *is = NULL;
	for (size_t i = 0; i < x->nevidence && !is; i++) {
		is = strcmp(x->evidence[i].id, item) ? NULL : x->evidence[i].value;
	}
	if (is && value) {
		assert_string_equal(is, value);
	} else if (is || value) {
		fail_msg("%s of %s is %s, expected %s", item, id, is ? is : "not said",
			value ? value : "not said");
	}
	pcie_verdicts_destroy(v);
}
