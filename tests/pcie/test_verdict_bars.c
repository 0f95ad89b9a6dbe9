/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether BARs have addresses, and whether they show all of the VRAM. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "verdict_fixture.h"

static void assignment(void **state)
{
	(void)state;
	struct fixture f = verdict_machine(HIGH, 16 * GIB);
	/* Slot 5 is empty: a 32-bit BAR that failed would look the same. */
	expect_of(f.s, "assignment", "ok", PCIE_LIKELY, GOOD);
	f.s->log = PCIE_LOG_COMPLETE;
	expect_of(f.s, "assignment", "ok", PCIE_PROVEN, GOOD);
	f.s->log = PCIE_LOG_NONE;

	f.bar->have = PCIE_ABSENT; /* wiped: sysfs shows nothing, the register a 64-bit type */
	expect_of(f.s, "assignment", "failed", PCIE_PROVEN, BAD);
	f.d->bars_complete = false;
	expect_of(f.s, "assignment", "failed", PCIE_LIKELY, BAD);
	f.bar->have = PCIE_DENIED;
	f.bar->reg.have = PCIE_DENIED;
	expect_of(f.s, "assignment", "unknown", PCIE_WEAK, UNSURE);
	f.d->config_gone = true;
	expect_of(f.s, "assignment", "unknown", PCIE_WEAK, UNSURE);
	pcie_snapshot_destroy(f.s);

	f = verdict_machine(HIGH, 16 * GIB);
	f.bar->assigned = PCIE_NO;
	f.bar->ignored = true;
	expect_of(f.s, "assignment", "failed", PCIE_PROVEN, BAD);
	f.bar->enhanced = true; /* the register says nothing, the kernel's view all */
	expect_of(f.s, "assignment", "failed", PCIE_PROVEN, BAD);
	f.bar->have = PCIE_ABSENT;
	expect_of(f.s, "assignment", "unknown", PCIE_WEAK, UNSURE);
	pcie_snapshot_destroy(f.s);

	/* A driver's complaint counts where not all BARs were seen, and not against sysfs. */
	f = verdict_machine(HIGH, 16 * GIB);
	machine_said(f.s, PCIE_SAID_INVALID_REGION, f.gpu, 3, "NVRM: BAR3 is 0M @ 0x0");
	expect_of(f.s, "assignment", "ok", PCIE_LIKELY, GOOD);
	f.d->bars_complete = false;
	expect_of(f.s, "assignment", "unknown", PCIE_WEAK, UNSURE); /* BAR 3 has an address */
	f.d->nbar = 2;
	expect_of(f.s, "assignment", "failed", PCIE_LIKELY, BAD);
	pcie_snapshot_destroy(f.s);

	/* A probe that ended with -12 forbids "ok" for a text, which may leave a BAR out. */
	f = verdict_machine(HIGH, 16 * GIB);
	f.d->bars_complete = false;
	machine_said(f.s, PCIE_SAID_PROBE_FAILED, f.gpu, 12, "amdgpu: probe failed with error -12");
	expect_of(f.s, "assignment", "unknown", PCIE_WEAK, UNSURE);
	expect_headline(f.s, "assignment",
		"the driver did not start, as it does when a BAR has no address; not all BARs are "
		"shown here");
	pcie_snapshot_destroy(f.s);
}

/* As lspci -vv shows a failed BAR: no line, and the capability still names it. */
static void named_by_capability(void **state)
{
	(void)state;
	struct fixture f = verdict_machine(HIGH, 16 * GIB);
	struct pcie_device *d = f.d;
	d->bars_complete = false;
	d->config_bytes = 0;
	d->rebar.src = f.bar->src;
	f.bar->kind = PCIE_BAR_VF; /* BAR 1 is not shown, the others are */
	f.bar->index = 5;
	assert_int_equal(pcie_device_vram_bar(d), -1);
	expect_of(f.s, "assignment", "failed", PCIE_LIKELY, BAD);
	expect_evidence(f.s, "assignment", "B10",
		"BAR 1, 16 GiB: the Resizable BAR capability names it, and no line shows it");
	expect_of(f.s, "rebar", "unassigned", PCIE_LIKELY, BAD);
	expect_of(f.s, "above4g.used", "no", PCIE_LIKELY, NOTE);

	/* A list from elsewhere, or a text without BARs, says nothing of lines. */
	d->rebar.src = pcie_snapshot_source(f.s, "another");
	expect_of(f.s, "assignment", "unknown", PCIE_WEAK, UNSURE);
	d->rebar.src = d->bar[0].src;
	d->is_vf = PCIE_YES;
	assert_int_equal(pcie_device_vram_bar(d), -1);
	expect_of(f.s, "rebar", "n-a", PCIE_LIKELY, NOTE);
	d->is_vf = PCIE_NO;
	d->nbar = 0;
	expect_of(f.s, "assignment", "unknown", PCIE_WEAK, UNSURE);
	pcie_snapshot_destroy(f.s);
}

/* What is shown cannot be the BAR of the VRAM, and no capability names that one. */
static void vram_bar_not_shown(void **state)
{
	(void)state;
	struct fixture f = verdict_machine(HIGH, 32 * MIB);
	f.d->bars_complete = false;
	f.d->config_bytes = 0;
	f.d->rebar.have = PCIE_UNKNOWN;
	expect_of(f.s, "assignment", "unknown", PCIE_WEAK, UNSURE);
	expect_headline(f.s, "assignment",
		"the BAR that maps its VRAM is not among those shown: it failed, or the text is not "
		"whole");
	expect_of(f.s, "above4g.used", "unknown", PCIE_WEAK, UNSURE);
	f.bar->size = 64 * MIB;
	expect_of(f.s, "assignment", "ok", PCIE_LIKELY, GOOD);
	pcie_snapshot_destroy(f.s);
}

static void rebar_full(void **state)
{
	(void)state;
	struct fixture f = verdict_machine(HIGH, 16 * GIB);
	expect_of(f.s, "rebar", "full", PCIE_PROVEN, GOOD);
	f.d->vram.bytes = 16 * GIB + GIB; /* firmware keeps some: 0.9 is enough */
	expect_of(f.s, "rebar", "full", PCIE_PROVEN, GOOD);
	f.d->vram.have = PCIE_DENIED;
	expect_of(f.s, "rebar", "full", PCIE_LIKELY, GOOD); /* at its largest size */
	f.d->rebar.have = PCIE_DENIED;
	expect_of(f.s, "rebar", "unknown", PCIE_WEAK, UNSURE);
	f.d->rebar.have = PCIE_ABSENT;
	expect_of(f.s, "rebar", "unknown", PCIE_WEAK, UNSURE);
	strcpy(f.d->name, "GA100 [A100 PCIe 12GB]");
	expect_of(f.s, "rebar", "full", PCIE_LIKELY, GOOD);
	f.d->vram.have = PCIE_KNOWN;
	expect_of(f.s, "rebar", "full", PCIE_PROVEN, GOOD);
	f.d->mig = true; /* an instance's size is not the card's */
	f.d->name[0] = '\0';
	expect_of(f.s, "rebar", "unknown", PCIE_WEAK, UNSURE);
	pcie_snapshot_destroy(f.s);
}

static void rebar_small(void **state)
{
	(void)state;
	struct fixture f = verdict_machine(HIGH, 256 * MIB);
	expect_of(f.s, "rebar", "off", PCIE_PROVEN, BAD);
	f.d->vram.have = PCIE_DENIED;
	expect_of(f.s, "rebar", "off", PCIE_LIKELY, BAD);
	f.d->rebar.have = PCIE_DENIED;
	expect_of(f.s, "rebar", "unknown", PCIE_WEAK, UNSURE);
	machine_said(f.s, PCIE_SAID_RESIZE_FAILED, f.gpu, 16 * GIB, "Failed to resize BAR1");
	expect_of(f.s, "rebar", "off", PCIE_LIKELY, BAD);
	pcie_snapshot_destroy(f.s);

	f = verdict_machine(HIGH, 4 * GIB);
	expect_of(f.s, "rebar", "partial", PCIE_PROVEN, BAD);
	/* The card's smallest size was not grown from anything. */
	f.d->rebar.entry[0].supported = SIZES(12, 14);
	expect_of(f.s, "rebar", "off", PCIE_PROVEN, BAD);
	pcie_snapshot_destroy(f.s);

	/* A list with holes: only what it offers is named, the smallest that holds the VRAM. */
	f = verdict_machine(HIGH, 256 * MIB);
	f.d->rebar.entry[0].supported = (uint64_t)1 << 8 | 1 << 13 | 1 << 15;
	expect_headline(f.s, "rebar", "BAR 1 is 256 MiB, and could be 32 GiB");
	f.d->vram.bytes = 6 * GIB;
	expect_headline(f.s, "rebar", "BAR 1 is 256 MiB, and could be 8 GiB");
	f.d->vram.bytes = 48 * GIB;
	expect_headline(f.s, "rebar", "BAR 1 is 256 MiB, and could be 32 GiB");

	/* The card whose list the kernel corrects: 256 MiB to 8 GiB, not 256 MiB to 1 GiB. */
	f.d->vendor = 0x1002;
	f.d->device = 0x731f;
	f.d->vram.bytes = 6 * GIB;
	f.d->rebar.entry[0].supported = 0x700;
	expect_headline(f.s, "rebar", "BAR 1 is 256 MiB, and could be 8 GiB");
	pcie_snapshot_destroy(f.s);
}

static void rebar_limits(void **state)
{
	(void)state;
	struct fixture f = verdict_machine(HIGH, 256 * MIB);
	f.d->rebar.entry[0].supported = SIZES(6, 8);
	expect_of(f.s, "rebar", "card-limit", PCIE_PROVEN, NOTE);
	expect_cause(f.s, PCIE_CAUSE_VBIOS_LIMIT);
	f.s->host.is_virtual = true; /* a copy of the capability may hold the present size only */
	f.d->rebar.entry[0].supported = SIZES(8, 8);
	expect_of(f.s, "rebar", "card-limit", PCIE_WEAK, NOTE);
	expect_cause(f.s, PCIE_CAUSE_HYPERVISOR);
	f.d->rebar.have = PCIE_ABSENT;
	expect_of(f.s, "rebar", "unsupported", PCIE_LIKELY, NOTE);
	expect_cause(f.s, PCIE_CAUSE_HYPERVISOR);
	f.s->host.is_virtual = false;
	expect_of(f.s, "rebar", "unsupported", PCIE_PROVEN, NOTE);
	expect_cause(f.s, PCIE_CAUSE_NONE);
	f.d->rebar.null_cap = true;
	expect_of(f.s, "rebar", "unsupported", PCIE_LIKELY, NOTE);
	expect_cause(f.s, PCIE_CAUSE_HYPERVISOR);
	pcie_snapshot_destroy(f.s);
}

static void rebar_not_asked(void **state)
{
	(void)state;
	struct fixture f = verdict_machine(HIGH, 256 * MIB);
	f.d->coherent = true;
	expect_of(f.s, "rebar", "n-a", PCIE_LIKELY, NOTE);
	f.d->coherent = false;
	f.d->is_vf = PCIE_YES;
	expect_of(f.s, "rebar", "n-a", PCIE_LIKELY, NOTE);
	f.d->is_vf = PCIE_NO;
	f.d->vendor = 0x1a03;
	f.d->device = 0x2000;
	expect_of(f.s, "rebar", "n-a", PCIE_LIKELY, NOTE);
	f.d->vendor = 0x1b36;
	expect_of(f.s, "rebar", "n-a", PCIE_LIKELY, NOTE);
	/* An emulated adapter whose BAR has no address did lose something. */
	f.bar->have = PCIE_ABSENT;
	expect_of(f.s, "rebar", "unassigned", PCIE_PROVEN, BAD);
	pcie_snapshot_destroy(f.s);

	/* A doorbell BAR that may grow as far as the VRAM BAR is not taken for it. */
	f = verdict_machine(HIGH, 256 * MIB);
	f.d->rebar.count = 0;
	machine_rebar(f.s, f.gpu, 1, 256 * MIB, SIZES(8, 8));
	machine_rebar(f.s, f.gpu, 3, 32 * MIB, SIZES(1, 8));
	expect_of(f.s, "rebar", "card-limit", PCIE_PROVEN, NOTE);
	pcie_snapshot_destroy(f.s);
}

/* "can't reserve": somebody else holds addresses of a BAR that has a good one. */
static void claim(void **state)
{
	(void)state;
	struct fixture f = verdict_machine(HIGH, 16 * GIB);
	expect_of(f.s, "claim", NULL, PCIE_WEAK, GOOD);
	const char *line = "vfio-pci 0000:01:00.0: BAR 1: can't reserve [mem "
			   "0x4000000000-0x43ffffffff 64bit pref]";
	f.d->have_driver = PCIE_KNOWN;
	strcpy(f.d->driver, "vfio-pci");
	machine_said(f.s, PCIE_SAID_CANT_RESERVE, f.gpu, 1, line);
	expect_of(f.s, "claim", "refused", PCIE_LIKELY, BAD);
	expect_of(f.s, "assignment", "ok", PCIE_LIKELY, GOOD);
	expect_evidence(f.s, "claim", "B8", line);
	expect_cause(f.s, PCIE_CAUSE_RESOURCE_CONFLICT);

	/* The device's own row is nobody else's; the next one is. */
	struct pcie_iomem row[] = {
		{HIGH, HIGH + 16 * GIB - 1, -1, "0000:01:00.0"},
		{HIGH, HIGH + 3 * MIB - 1, 0, "BOOTFB"},
	};
	f.s->iomem = row;
	f.s->niomem = 1;
	expect_evidence(f.s, "claim", "B9", NULL);
	f.s->niomem = 2;
	expect_of(f.s, "claim", "refused", PCIE_PROVEN, BAD);
	expect_evidence(f.s, "claim", "B9", "BOOTFB stands inside BAR 1");

	/* What the driver itself holds, bound or gone, is what it wanted: it has it by now. */
	strcpy(row[1].name, "vfio-pci");
	expect_of(f.s, "claim", NULL, PCIE_WEAK, GOOD);
	expect_cause(f.s, PCIE_CAUSE_NONE);
	f.d->have_driver = PCIE_UNKNOWN;
	expect_of(f.s, "claim", NULL, PCIE_WEAK, GOOD);
	strcpy(row[1].name, "vfio");
	expect_evidence(f.s, "claim", "B9", "vfio stands inside BAR 1");
	f.d->have_driver = PCIE_KNOWN;
	f.s->iomem = NULL;
	f.s->niomem = 0;

	/* Another driver has it by now. */
	strcpy(f.d->driver, "nvidia");
	expect_of(f.s, "claim", NULL, PCIE_WEAK, GOOD);
	expect_cause(f.s, PCIE_CAUSE_NONE);
	pcie_snapshot_destroy(f.s);

	/* Without an address there is nothing to hold. */
	f = verdict_machine(HIGH, 16 * GIB);
	machine_said(f.s, PCIE_SAID_CANT_RESERVE, f.gpu, 1,
		"amdgpu 0000:01:00.0: BAR 1: can't reserve [mem size 0x00080000]");
	expect_of(f.s, "claim", NULL, PCIE_WEAK, GOOD);
	pcie_snapshot_destroy(f.s);
}

/* A driver that misses the platform's support wanted a larger BAR. */
static void wanted_in_vain(void **state)
{
	(void)state;
	struct fixture f = verdict_machine(LOW, 256 * MIB);
	f.d->rebar.have = PCIE_UNKNOWN;
	expect_of(f.s, "rebar", "unknown", PCIE_WEAK, UNSURE);
	machine_said(f.s, PCIE_SAID_NO_PLATFORM, f.gpu, 0,
		"i915 0000:01:00.0: [drm] Can't resize LMEM BAR - platform support is missing");
	expect_of(f.s, "rebar", "off", PCIE_LIKELY, BAD);
	expect_headline(f.s, "rebar", "BAR 1 is 256 MiB, and could be 16 GiB");
	pcie_snapshot_destroy(f.s);

	/* The line that sums up does not take back the size that the line before has. */
	f = verdict_machine(HIGH, 256 * MIB);
	f.d->rebar.have = PCIE_UNKNOWN;
	f.d->vram.have = PCIE_UNKNOWN;
	machine_said(f.s, PCIE_SAID_RESIZE_FAILED, f.gpu, 32 * GIB, "NVRM: No address space");
	machine_said(f.s, PCIE_SAID_RESIZE_FAILED, f.gpu, 0, "NVRM: BAR resizing failed");
	expect_of(f.s, "rebar", "off", PCIE_LIKELY, BAD);
	expect_headline(f.s, "rebar", "BAR 1 is 256 MiB, and could be 32 GiB");
	pcie_snapshot_destroy(f.s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(assignment),
		cmocka_unit_test(named_by_capability),
		cmocka_unit_test(vram_bar_not_shown),
		cmocka_unit_test(rebar_full),
		cmocka_unit_test(rebar_small),
		cmocka_unit_test(rebar_limits),
		cmocka_unit_test(rebar_not_asked),
		cmocka_unit_test(claim),
		cmocka_unit_test(wanted_in_vain),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
