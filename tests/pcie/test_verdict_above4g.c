/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The three questions behind "Above 4G Decoding". */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "verdict_fixture.h"

static void aperture(void **state)
{
	(void)state;
	struct fixture f = verdict_machine(HIGH, 16 * GIB);
	expect_of(f.s, "above4g.aperture", "yes", PCIE_PROVEN, GOOD);
	f.s->host.have_arch = PCIE_DENIED;
	expect_of(f.s, "above4g.aperture", "yes", PCIE_LIKELY, GOOD);
	f.s->host.have_arch = PCIE_KNOWN;
	f.s->naperture = 0; /* windows and BARs speak for themselves */
	f.s->apertures_complete = false;
	expect_of(f.s, "above4g.aperture", "yes", PCIE_LIKELY, GOOD);
	strcpy(f.s->host.cmdline, "quiet pci=nocrs,realloc");
	expect_of(f.s, "above4g.aperture", "yes", PCIE_WEAK, GOOD);
	strcpy(f.s->host.cmdline, "pci=big_root_window");
	expect_of(f.s, "above4g.aperture", "yes", PCIE_WEAK, GOOD);
	strcpy(f.s->host.arch, "riscv64");
	expect_of(f.s, "above4g.aperture", "n-a", PCIE_PROVEN, NOTE);
	pcie_snapshot_destroy(f.s);

	f = verdict_machine(LOW, 256 * MIB);
	expect_of(f.s, "above4g.aperture", "no", PCIE_PROVEN, BAD); /* ReBAR needs it */
	expect_cause(f.s, PCIE_CAUSE_APERTURE_MISSING);
	f.d->vram.bytes = 256 * MIB;
	expect_of(f.s, "above4g.aperture", "no", PCIE_PROVEN, NOTE); /* nobody needs it */
	expect_cause(f.s, PCIE_CAUSE_NONE);
	f.s->apertures_complete = false;
	expect_of(f.s, "above4g.aperture", "unknown", PCIE_WEAK, UNSURE);
	machine_said(f.s, PCIE_SAID_NO_PLATFORM, f.gpu, 0, "xe: platform support is missing");
	expect_of(f.s, "above4g.aperture", "no", PCIE_LIKELY, NOTE);
	pcie_snapshot_destroy(f.s);

	/* The whole list is low, and yet something is above: two boots, no answer. */
	f = verdict_machine(LOW, 256 * MIB);
	machine_bar(f.s, f.port, 0, HIGH, MIB);
	expect_of(f.s, "above4g.aperture", "unknown", PCIE_WEAK, UNSURE);
	pcie_snapshot_destroy(f.s);

	/* All of the address space as one root window is what pci=nocrs leaves. */
	f = verdict_machine(LOW, 256 * MIB);
	f.s->naperture = 0;
	machine_aperture(f.s, 0, 0xffffffffff);
	f.s->host.have_cmdline = PCIE_DENIED;
	expect_of(f.s, "above4g.aperture", "yes", PCIE_WEAK, GOOD);
	pcie_snapshot_destroy(f.s);
}

static void used(void **state)
{
	(void)state;
	struct fixture f = verdict_machine(HIGH, 16 * GIB);
	expect_of(f.s, "above4g.used", "yes", PCIE_PROVEN, GOOD);
	f.d->bars_complete = false;
	f.d->rebar.have = PCIE_DENIED;
	expect_of(f.s, "above4g.used", "yes", PCIE_LIKELY, GOOD);
	f.bar->have = PCIE_DENIED;
	expect_of(f.s, "above4g.used", "yes", PCIE_WEAK, GOOD); /* the register's word */
	f.bar->reg.have = PCIE_DENIED;
	f.d->nbar = 2;
	expect_of(f.s, "above4g.used", "unknown", PCIE_WEAK, UNSURE);
	pcie_snapshot_destroy(f.s);

	f = verdict_machine(LOW, 256 * MIB);
	expect_of(f.s, "above4g.used", "no", PCIE_PROVEN, NOTE); /* alone never bad */
	f.bar->have = PCIE_ABSENT;
	expect_of(f.s, "above4g.used", "no", PCIE_PROVEN, NOTE);
	pcie_snapshot_destroy(f.s);
}

static void setup_item(void **state)
{
	(void)state;
	struct fixture f = verdict_machine(HIGH, 16 * GIB);
	struct pcie_host *h = &f.s->host;
	expect_of(f.s, "above4g.setup", "unknown", PCIE_WEAK, UNSURE);
	h->have_setup = PCIE_KNOWN;
	h->nsetup = 1;
	strcpy(h->setup[0].name, "Above 4G Decoding");
	h->setup[0].value = PCIE_KNOWN;
	strcpy(h->setup[0].current, "Enabled");
	expect_of(f.s, "above4g.setup", "yes", PCIE_PROVEN, NOTE);
	strcpy(h->setup[0].current, "Disabled");
	expect_of(f.s, "above4g.setup", "no", PCIE_PROVEN, NOTE);
	h->setup[0].value = PCIE_DENIED;
	expect_of(f.s, "above4g.setup", "unknown", PCIE_WEAK, UNSURE);
	h->is_virtual = true;
	expect_of(f.s, "above4g.setup", "unknown", PCIE_WEAK, UNSURE);
	strcpy(h->arch, "aarch64");
	expect_of(f.s, "above4g.setup", "n-a", PCIE_PROVEN, NOTE);
	pcie_snapshot_destroy(f.s);

	/* What the firmware itself placed high tells of its option; what the kernel did does not.
	 */
	f = verdict_machine(HIGH, 16 * GIB);
	struct pcie_history *x = machine_history(f.s, f.gpu, 1, false, PCIE_FINAL_UNKNOWN);
	x->has_firmware = x->has_base = true;
	x->firmware_base = x->base = HIGH;
	expect_of(f.s, "above4g.setup", "yes", PCIE_LIKELY, NOTE);
	x->firmware_base = (uint64_t)0xfffffffe << 32; /* all ones: it gave up */
	x->final = PCIE_FINAL_ASSIGNED;
	f.s->log = PCIE_LOG_COMPLETE;
	expect_of(f.s, "above4g.setup", "no", PCIE_WEAK, NOTE);
	expect_cause(f.s, PCIE_CAUSE_KERNEL_RESCUED);
	pcie_snapshot_destroy(f.s);

	f = verdict_machine(LOW, 256 * MIB);
	expect_of(f.s, "above4g.setup", "no", PCIE_LIKELY, NOTE);
	f.s->host.efi = false;
	expect_of(f.s, "above4g.setup", "no", PCIE_WEAK, NOTE);
	f.s->host.have_dmi = PCIE_KNOWN;
	strcpy(f.s->host.sys_vendor, "Apple Inc.");
	expect_of(f.s, "above4g.setup", "n-a", PCIE_PROVEN, NOTE);
	pcie_snapshot_destroy(f.s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(aperture),
		cmocka_unit_test(used),
		cmocka_unit_test(setup_item),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
