/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Causes, what the log says of them, advice, kinds of GPU and the table of rules. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "verdict_fixture.h"

static void causes(void **state)
{
	(void)state;
	/* Pinned, by the log's own words. */
	struct fixture f = verdict_machine(HIGH, 256 * MIB);
	machine_history(f.s, f.port, -1, true, PCIE_FINAL_ASSIGNED)->pinned = true;
	expect_cause(f.s, PCIE_CAUSE_PINNED_WINDOW);
	pcie_snapshot_destroy(f.s);

	/* A removable port's windows were shared out. */
	f = verdict_machine(HIGH, 256 * MIB);
	f.s->dev[f.port].removable = true;
	machine_said(f.s, PCIE_SAID_RESIZE_FAILED, f.gpu, 16 * GIB, "not enough address space");
	expect_cause(f.s, PCIE_CAUSE_WINDOW_TOO_SMALL);
	pcie_snapshot_destroy(f.s);

	/* Nothing but the boot mode speaks. */
	f = verdict_machine(HIGH, 256 * MIB);
	expect_cause(f.s, PCIE_CAUSE_UNKNOWN);
	f.s->host.efi = false;
	expect_cause(f.s, PCIE_CAUSE_CSM);
	f.s->host.efi = true;
	f.s->host.is_virtual = true;
	expect_cause(f.s, PCIE_CAUSE_HYPERVISOR);
	pcie_snapshot_destroy(f.s);

	/* The firmware's window is beyond the CPU's address bits. */
	f = verdict_machine(LOW, 256 * MIB);
	machine_aperture(f.s, (uint64_t)1 << 36, ((uint64_t)1 << 37) - 1);
	f.s->aperture[f.s->naperture - 1].ignored = true;
	f.s->host.phys_bits = 36;
	expect_of(f.s, "above4g.aperture", "no", PCIE_LIKELY, BAD);
	expect_cause(f.s, PCIE_CAUSE_CPU_ADDRESS_WIDTH);
	pcie_snapshot_destroy(f.s);

	/* 32-bit BARs are not helped by any window above. */
	f = verdict_machine(HIGH, 16 * GIB);
	struct pcie_bar *low = pcie_device_bar(f.d, PCIE_BAR_NORMAL, 0);
	low->assigned = PCIE_NO;
	low->has_base = false;
	expect_cause(f.s, PCIE_CAUSE_LOW_SPACE);
	low->ignored = true;
	expect_cause(f.s, PCIE_CAUSE_RESOURCE_CONFLICT);
	low->ignored = false;
	strcpy(f.s->host.arch, "aarch64");
	expect_cause(f.s, PCIE_CAUSE_SOC_WINDOW);
	pcie_snapshot_destroy(f.s);

	/* Placed high by the kernel alone. */
	f = verdict_machine(HIGH, 16 * GIB);
	strcpy(f.s->host.cmdline, "pci=nocrs");
	expect_cause(f.s, PCIE_CAUSE_NOCRS);
	pcie_snapshot_destroy(f.s);
}

/* Why the kernel refused a driver's resize, in the words of each driver; no cause is made up. */
static void refused_resizes(void **state)
{
	(void)state;
	static const struct {
		const char *line, *says;
	} row[] = {
		{"i915 0000:01:00.0: [drm] Failed to resize BAR2 to 16384M (-ENOSPC)",
			"no room for"},
		{"NVRM: GPU 0000:01:00.0: BAR resizing failed with error `-28`.", "no room for"},
		{"NVRM: No address space to allocate resized BAR1.", "no room for"},
		{"[drm] Not enough PCI address space for a large BAR.", "no room for"},
		{"-bash: echo: write error: No space left on device", "no room for"},
		{"amdgpu 0000:01:00.0: Problem resizing BAR0 (-16).", "busy"},
		{"amdgpu 0000:01:00.0: Problem resizing BAR0 (-EBUSY).", "busy"},
		{"amdgpu 0000:01:00.0: Problem resizing BAR0 (-524).", "not supported"},
		{"xe 0000:01:00.0: Failed to resize BAR2 to 16384M (-EOPNOTSUPP)", "not supported"},
		{"amdgpu 0000:01:00.0: Problem resizing BAR0 (-22).", "does not offer that size"},
		/* Neither a date nor another minus is an error. */
		{"2026-01-16 amdgpu 0000:01:00.0: Problem resizing BAR0 on PC-16.", ""},
		{"amdgpu 0000:01:00.0: Problem resizing BAR0 (-16M).", ""},
	};
	for (size_t i = 0; i < ARRAY_LEN(row); i++) {
		struct fixture f = verdict_machine(HIGH, 256 * MIB);
		machine_said(f.s, PCIE_SAID_RESIZE_FAILED, f.gpu, 16 * GIB, row[i].line);
		struct pcie_verdicts *v = pcie_verdicts_create(f.s);
		assert_int_equal(v->gpu[0].cause, PCIE_CAUSE_UNKNOWN);
		if (!strstr(v->gpu[0].cause_text, row[i].says) ||
			(!row[i].says[0] && v->gpu[0].cause_text[0])) {
			fail_msg("%s: \"%s\" is said", row[i].line, v->gpu[0].cause_text);
		}
		char *why = pcie_gpu_why(&v->gpu[0]);
		assert_string_equal(why, row[i].says[0] ? v->gpu[0].cause_text : "not known");
		free(why);
		pcie_verdicts_destroy(v);
		pcie_snapshot_destroy(f.s);
	}
}

/* A larger BAR that was placed, and a window that could not be claimed: no room was not it. */
static void placed_and_lost(void **state)
{
	(void)state;
	static const struct {
		const char *failure, *claim;
		enum pcie_cause cause;
	} row[] = {
		{NULL, NULL, PCIE_CAUSE_UNKNOWN},
		{NULL, "pcieport: bridge window [mem size 0x1000]: can't claim; address conflict",
			PCIE_CAUSE_KERNEL_REGRESSION},
		{"xe 0000:01:00.0: BAR 3: failed to assign [mem size 0x02000000]", NULL,
			PCIE_CAUSE_UNKNOWN},
		{"xe 0000:01:00.0: BAR 3: failed to assign [mem size 0x02000000]",
			"pcieport: bridge window [mem size 0x1000]: can't claim; address conflict",
			PCIE_CAUSE_UNKNOWN},
	};
	for (size_t i = 0; i < ARRAY_LEN(row); i++) {
		struct fixture f = verdict_machine(HIGH, 256 * MIB);
		const struct {
			int dev, bar;
			const char *line;
		} said[] = {
			{f.gpu, 1,
				"xe 0000:01:00.0: BAR 1: assigned [mem 0x4000000000-0x43ffffffff]"},
			{f.gpu, 3, row[i].failure},
			{f.port, -1, row[i].claim},
		};
		for (size_t k = 0; k < ARRAY_LEN(said); k++) {
			if (said[k].line) {
				struct pcie_history *h = machine_history(f.s, said[k].dev,
					said[k].bar, said[k].bar < 0, PCIE_FINAL_ASSIGNED);
				char **line = &f.s->line[h->line[0]];
				free(*line);
				*line = strdup(said[k].line);
			}
		}
		machine_said(f.s, PCIE_SAID_RESIZE_FAILED, f.gpu, 16 * GIB,
			"xe 0000:01:00.0: Failed to resize BAR1 to 16384M (-ENOSPC)");
		expect_cause(f.s, row[i].cause);
		pcie_snapshot_destroy(f.s);
	}
}

/* Advice names an option of a driver only where that driver is in use, or none is. */
static void advice_fits_the_driver(void **state)
{
	(void)state;
	static const struct {
		const char *driver;
		bool named;
	} row[] = {{"nvidia", true}, {"", true}, {"vfio-pci", false}, {"nouveau", false}};

	for (size_t i = 0; i < ARRAY_LEN(row); i++) {
		struct fixture f = verdict_machine(HIGH, 256 * MIB);
		f.d->have_driver = row[i].driver[0] ? PCIE_KNOWN : PCIE_ABSENT;
		strcpy(f.d->driver, row[i].driver);
		struct pcie_verdicts *v = pcie_verdicts_create(f.s);
		const struct pcie_verdict *x = pcie_gpu_find(&v->gpu[0], "rebar");
		bool named = false;
		for (size_t k = 0; k < x->nadvice; k++) {
			named = named || strstr(x->advice[k], "NVreg");
		}
		assert_int_equal(named, row[i].named);
		assert_non_null(strstr(x->advice[0], "\"Resizable BAR\" on"));
		pcie_verdicts_destroy(v);
		pcie_snapshot_destroy(f.s);
	}
}

/* What failed decides the advice: a BAR without an address asks for no driver option. */
static void advice_fits_the_failure(void **state)
{
	(void)state;
	struct fixture f = verdict_machine(LOW, 256 * MIB);
	f.s->apertures_complete = false;
	f.s->naperture = 0;
	f.bar->have = PCIE_ABSENT;
	struct pcie_verdicts *v = pcie_verdicts_create(f.s);
	const struct pcie_verdict *x = pcie_gpu_find(&v->gpu[0], "rebar");
	assert_string_equal(x->answer, "unassigned");
	assert_true(x->nadvice >= 2);
	assert_non_null(strstr(x->advice[0], "Above 4G Decoding"));
	for (size_t i = 0; i < x->nadvice; i++) {
		assert_null(strstr(x->advice[i], "NVreg"));
	}
	/* The same is not asked for twice, by another rule. */
	assert_int_equal(pcie_gpu_find(&v->gpu[0], "above4g.aperture")->nadvice, 0);
	pcie_verdicts_destroy(v);
	pcie_snapshot_destroy(f.s);

	/* A driver that tried needs no option that lets it try. */
	f = verdict_machine(HIGH, 256 * MIB);
	machine_said(f.s, PCIE_SAID_RESIZE_FAILED, f.gpu, 16 * GIB, "NVRM: No address space");
	v = pcie_verdicts_create(f.s);
	x = pcie_gpu_find(&v->gpu[0], "rebar");
	for (size_t i = 0; i < x->nadvice; i++) {
		assert_null(strstr(x->advice[i], "NVreg"));
	}
	pcie_verdicts_destroy(v);
	pcie_snapshot_destroy(f.s);
}

static void kinds(void **state)
{
	(void)state;
	static const struct {
		uint16_t vendor, device;
		const char *addr, *name;
		enum pcie_gpu_kind kind;
	} row[] = {
		{0x10de, 0x2684, "0000:01:00.0", "", PCIE_GPU_DISCRETE},
		{0x8086, 0x4680, "0000:00:02.0", "", PCIE_GPU_INTEGRATED},
		{0x8086, 0x56a0, "0000:03:00.0", "", PCIE_GPU_DISCRETE},
		{0x1002, 0x1681, "0000:75:00.0", "Rembrandt [Radeon 680M]", PCIE_GPU_INTEGRATED},
		{0x1002, 0x744c, "0000:03:00.0", "Navi 31", PCIE_GPU_DISCRETE},
		{0x102b, 0x0536, "0000:0a:00.0", "", PCIE_GPU_BMC},
		{0x102b, 0x2527, "0000:0a:00.0", "G550 AGP", PCIE_GPU_DISCRETE},
		{0x1b36, 0x0100, "0000:00:05.0", "", PCIE_GPU_EMULATED},
		{0x1234, 0x1111, "0000:00:01.0", "", PCIE_GPU_EMULATED},
		{0x0014, 0x7a36, "0000:00:06.1", "", PCIE_GPU_INTEGRATED},
	};
	for (size_t i = 0; i < ARRAY_LEN(row); i++) {
		struct pcie_snapshot *s = machine_pc();
		int dev = machine_gpu(s, row[i].addr, -1);
		s->dev[dev].vendor = row[i].vendor;
		s->dev[dev].device = row[i].device;
		strcpy(s->dev[dev].name, row[i].name);
		pcie_snapshot_settle(s);
		assert_int_equal(pcie_device_kind(s, 0), row[i].kind);
		pcie_snapshot_destroy(s);
	}
	/* An APU is told by the security processor beside it. */
	struct pcie_snapshot *s = machine_pc();
	int gpu = machine_gpu(s, "0000:0c:00.0", -1);
	s->dev[gpu].vendor = 0x1002;
	int psp = machine_gpu(s, "0000:0c:00.2", -1);
	s->dev[psp].vendor = 0x1022;
	s->dev[psp].class_code = 0x108000;
	pcie_snapshot_settle(s);
	assert_int_equal(pcie_device_kind(s, 0), PCIE_GPU_INTEGRATED);
	pcie_snapshot_destroy(s);
}

static void the_table(void **state)
{
	(void)state;
	const struct pcie_rule *r;
	size_t n = 0;
	for (; (r = pcie_rule_at(n)); n++) {
		assert_ptr_equal(pcie_rule_find(r->id), r);
		assert_true(r->title[0] && r->answers[0]);
	}
	assert_true(n >= 13);
	assert_null(pcie_rule_find("nothing"));
	assert_true(pcie_rule_has_answer(pcie_rule_find("rebar"), "card-limit"));
	assert_false(pcie_rule_has_answer(pcie_rule_find("rebar"), "card"));
	assert_false(pcie_rule_has_answer(pcie_rule_find("rebar"), ""));

	/* No GPU: no verdicts, and nothing to free but the list. */
	struct pcie_snapshot *s = machine_pc();
	struct pcie_verdicts *v = pcie_verdicts_create(s);
	assert_int_equal(v->ngpu, 0);
	pcie_verdicts_destroy(v);
	pcie_verdicts_destroy(NULL);
	pcie_snapshot_destroy(s);
}

/* Advice never sends people to a setup screen that their machine does not have. */
static void advice_fits_the_machine(void **state)
{
	(void)state;
	for (int apple = 0; apple < 2; apple++) {
		struct fixture f = verdict_machine(LOW, 256 * MIB);
		if (apple) {
			f.s->host.have_dmi = PCIE_KNOWN;
			strcpy(f.s->host.sys_vendor, "Apple Inc.");
		} else {
			strcpy(f.s->host.arch, "aarch64");
		}
		struct pcie_verdicts *v = pcie_verdicts_create(f.s);
		for (size_t i = 0; i < v->gpu[0].nverdict; i++) {
			const struct pcie_verdict *x = &v->gpu[0].verdict[i];
			for (size_t k = 0; k < x->nadvice; k++) {
				assert_null(strstr(x->advice[k], "setup"));
			}
		}
		pcie_verdicts_destroy(v);
		pcie_snapshot_destroy(f.s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(causes),
		cmocka_unit_test(refused_resizes),
		cmocka_unit_test(placed_and_lost),
		cmocka_unit_test(advice_fits_the_driver),
		cmocka_unit_test(advice_fits_the_failure),
		cmocka_unit_test(kinds),
		cmocka_unit_test(the_table),
		cmocka_unit_test(advice_fits_the_machine),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
