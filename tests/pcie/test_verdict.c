/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Every rule, at every level it has, and with facts that were denied. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "machines.h"
#include "pcie/verdict.h"

#define HIGH ((uint64_t)0x4000000000)
#define LOW  0xa0000000u

/* One GPU of 16 GiB behind a root port, in order; each test spoils what it is about. */
struct fixture {
	struct pcie_snapshot *s;
	int port, gpu;
	struct pcie_device *d;
	struct pcie_bar *bar; /* the VRAM BAR */
};

static struct fixture machine(uint64_t base, uint64_t size)
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

static void expect_of(const struct pcie_snapshot *s, const char *id, const char *answer,
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

static void expect_headline(const struct pcie_snapshot *s, const char *id, const char *headline)
{
	struct pcie_verdicts *v = pcie_verdicts_create(s);
	const struct pcie_verdict *x = pcie_gpu_find(&v->gpu[0], id);
	assert_non_null(x);
	assert_string_equal(x->headline, headline);
	pcie_verdicts_destroy(v);
}

static void expect_cause(const struct pcie_snapshot *s, enum pcie_cause cause)
{
	struct pcie_verdicts *v = pcie_verdicts_create(s);
	if (v->gpu[0].cause != cause) {
		const char *is = pcie_cause_name(v->gpu[0].cause), *want = pcie_cause_name(cause);
		fail_msg("cause is %s, expected %s", is ? is : "null", want ? want : "null");
	}
	pcie_verdicts_destroy(v);
}

#define GOOD   PCIE_LEVEL_GOOD
#define NOTE   PCIE_LEVEL_NOTE
#define UNSURE PCIE_LEVEL_UNSURE
#define BAD    PCIE_LEVEL_BAD

static void assignment(void **state)
{
	(void)state;
	struct fixture f = machine(HIGH, 16 * GIB);
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

	f = machine(HIGH, 16 * GIB);
	f.bar->assigned = PCIE_NO;
	f.bar->ignored = true;
	expect_of(f.s, "assignment", "failed", PCIE_PROVEN, BAD);
	f.bar->enhanced = true; /* the register says nothing, the kernel's view all */
	expect_of(f.s, "assignment", "failed", PCIE_PROVEN, BAD);
	f.bar->have = PCIE_ABSENT;
	expect_of(f.s, "assignment", "unknown", PCIE_WEAK, UNSURE);
	pcie_snapshot_destroy(f.s);

	/* A driver's complaint counts where not all BARs were seen, and not against sysfs. */
	f = machine(HIGH, 16 * GIB);
	machine_said(f.s, PCIE_SAID_INVALID_REGION, f.gpu, 3, "NVRM: BAR3 is 0M @ 0x0");
	expect_of(f.s, "assignment", "ok", PCIE_LIKELY, GOOD);
	f.d->bars_complete = false;
	expect_of(f.s, "assignment", "unknown", PCIE_WEAK, UNSURE); /* BAR 3 has an address */
	f.d->nbar = 2;
	expect_of(f.s, "assignment", "failed", PCIE_LIKELY, BAD);
	pcie_snapshot_destroy(f.s);

	/* A probe that ended with -12 forbids "ok" for a text, which may leave a BAR out. */
	f = machine(HIGH, 16 * GIB);
	f.d->bars_complete = false;
	machine_said(f.s, PCIE_SAID_PROBE_FAILED, f.gpu, 12, "amdgpu: probe failed with error -12");
	expect_of(f.s, "assignment", "unknown", PCIE_WEAK, UNSURE);
	expect_headline(f.s, "assignment",
		"the driver did not start, as it does when a BAR has no address; not all BARs are "
		"shown here");
	pcie_snapshot_destroy(f.s);
}

static void rebar_full(void **state)
{
	(void)state;
	struct fixture f = machine(HIGH, 16 * GIB);
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
	struct fixture f = machine(HIGH, 256 * MIB);
	expect_of(f.s, "rebar", "off", PCIE_PROVEN, BAD);
	f.d->vram.have = PCIE_DENIED;
	expect_of(f.s, "rebar", "off", PCIE_LIKELY, BAD);
	f.d->rebar.have = PCIE_DENIED;
	expect_of(f.s, "rebar", "unknown", PCIE_WEAK, UNSURE);
	machine_said(f.s, PCIE_SAID_RESIZE_FAILED, f.gpu, 16 * GIB, "Failed to resize BAR1");
	expect_of(f.s, "rebar", "off", PCIE_LIKELY, BAD);
	pcie_snapshot_destroy(f.s);

	f = machine(HIGH, 4 * GIB);
	expect_of(f.s, "rebar", "partial", PCIE_PROVEN, BAD);
	/* The card's smallest size was not grown from anything. */
	f.d->rebar.entry[0].supported = SIZES(12, 14);
	expect_of(f.s, "rebar", "off", PCIE_PROVEN, BAD);
	pcie_snapshot_destroy(f.s);

	/* A list with holes: only what it offers is named, the smallest that holds the VRAM. */
	f = machine(HIGH, 256 * MIB);
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
	struct fixture f = machine(HIGH, 256 * MIB);
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
	struct fixture f = machine(HIGH, 256 * MIB);
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
	f = machine(HIGH, 256 * MIB);
	f.d->rebar.count = 0;
	machine_rebar(f.s, f.gpu, 1, 256 * MIB, SIZES(8, 8));
	machine_rebar(f.s, f.gpu, 3, 32 * MIB, SIZES(1, 8));
	expect_of(f.s, "rebar", "card-limit", PCIE_PROVEN, NOTE);
	pcie_snapshot_destroy(f.s);
}

static void aperture(void **state)
{
	(void)state;
	struct fixture f = machine(HIGH, 16 * GIB);
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

	f = machine(LOW, 256 * MIB);
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
	f = machine(LOW, 256 * MIB);
	machine_bar(f.s, f.port, 0, HIGH, MIB);
	expect_of(f.s, "above4g.aperture", "unknown", PCIE_WEAK, UNSURE);
	pcie_snapshot_destroy(f.s);

	/* All of the address space as one root window is what pci=nocrs leaves. */
	f = machine(LOW, 256 * MIB);
	f.s->naperture = 0;
	machine_aperture(f.s, 0, 0xffffffffff);
	f.s->host.have_cmdline = PCIE_DENIED;
	expect_of(f.s, "above4g.aperture", "yes", PCIE_WEAK, GOOD);
	pcie_snapshot_destroy(f.s);
}

static void used(void **state)
{
	(void)state;
	struct fixture f = machine(HIGH, 16 * GIB);
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

	f = machine(LOW, 256 * MIB);
	expect_of(f.s, "above4g.used", "no", PCIE_PROVEN, NOTE); /* alone never bad */
	f.bar->have = PCIE_ABSENT;
	expect_of(f.s, "above4g.used", "no", PCIE_PROVEN, NOTE);
	pcie_snapshot_destroy(f.s);
}

static void setup_item(void **state)
{
	(void)state;
	struct fixture f = machine(HIGH, 16 * GIB);
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
	f = machine(HIGH, 16 * GIB);
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

	f = machine(LOW, 256 * MIB);
	expect_of(f.s, "above4g.setup", "no", PCIE_LIKELY, NOTE);
	f.s->host.efi = false;
	expect_of(f.s, "above4g.setup", "no", PCIE_WEAK, NOTE);
	f.s->host.have_dmi = PCIE_KNOWN;
	strcpy(f.s->host.sys_vendor, "Apple Inc.");
	expect_of(f.s, "above4g.setup", "n-a", PCIE_PROVEN, NOTE);
	pcie_snapshot_destroy(f.s);
}

static void set_link(struct pcie_device *d, uint16_t speed, uint8_t width)
{
	d->link = (struct pcie_link){.have = PCIE_KNOWN,
		.speed = speed,
		.width = width,
		.max_speed = 160,
		.max_width = 16};
}

static void link(void **state)
{
	(void)state;
	struct fixture f = machine(HIGH, 16 * GIB);
	struct pcie_device *p = &f.s->dev[f.port];
	expect_of(f.s, "link", "unknown", PCIE_WEAK, NOTE);
	set_link(f.d, 160, 16);
	expect_of(f.s, "link", "ok", PCIE_LIKELY, GOOD); /* the port's end is not known */
	set_link(p, 160, 16);
	expect_of(f.s, "link", "ok", PCIE_PROVEN, GOOD);
	set_link(f.d, 25, 16);
	expect_of(f.s, "link", "ok", PCIE_WEAK, NOTE); /* idle */
	set_link(f.d, 160, 8);
	expect_of(f.s, "link", "degraded", PCIE_LIKELY, BAD);
	p->link.max_width = 8; /* an x8 slot is no fault */
	expect_of(f.s, "link", "ok", PCIE_PROVEN, GOOD);
	p->link.have = PCIE_DENIED;
	expect_of(f.s, "link", "unknown", PCIE_WEAK, NOTE);
	f.s->host.is_virtual = true;
	expect_of(f.s, "link", "unknown", PCIE_WEAK, NOTE);
	pcie_snapshot_destroy(f.s);
}

static void errors_and_power(void **state)
{
	(void)state;
	struct fixture f = machine(HIGH, 16 * GIB);
	expect_of(f.s, "aer", NULL, 0, 0);
	f.d->aer.have = PCIE_KNOWN;
	expect_of(f.s, "aer", "none", PCIE_LIKELY, GOOD);
	f.d->aer.correctable = 3;
	expect_of(f.s, "aer", "corrected", PCIE_LIKELY, NOTE);
	f.d->aer.fatal = 1;
	expect_of(f.s, "aer", "errors", PCIE_LIKELY, BAD);
	f.d->aer.have = PCIE_DENIED;
	expect_of(f.s, "aer", NULL, 0, 0);
	machine_said(f.s, PCIE_SAID_AER, f.gpu, 2, "pcieport: AER: Uncorrected (Non-Fatal)");
	expect_of(f.s, "aer", "errors", PCIE_LIKELY, BAD);

	expect_of(f.s, "power", NULL, 0, 0);
	f.d->asleep = true;
	strcpy(f.d->power, "D3hot");
	expect_of(f.s, "power", "asleep", PCIE_LIKELY, NOTE);
	f.d->config_gone = true;
	expect_of(f.s, "power", "gone", PCIE_LIKELY, NOTE);
	pcie_snapshot_destroy(f.s);
}

static void views_and_boot(void **state)
{
	(void)state;
	struct fixture f = machine(HIGH, 16 * GIB);
	expect_of(f.s, "views", "match", PCIE_LIKELY, GOOD);
	f.bar->reg.base = 0;
	expect_of(f.s, "views", "differ", PCIE_LIKELY, NOTE);
	pcie_snapshot_destroy(f.s);

	/* A constant offset everywhere is a host bridge that translates. */
	f = machine(HIGH, 16 * GIB);
	for (int i = 0; i < f.d->nbar; i++) {
		f.d->bar[i].reg.base -= 0x80000000;
	}
	f.s->dev[f.port].window[PCIE_WINDOW_PREF].reg.base -= 0x80000000;
	expect_of(f.s, "views", "translated", PCIE_LIKELY, GOOD);
	f.d->is_vf = PCIE_YES;
	expect_of(f.s, "views", NULL, 0, 0);

	expect_of(f.s, "boot.mode", "uefi", PCIE_PROVEN, GOOD);
	f.s->host.efi = false;
	expect_of(f.s, "boot.mode", "legacy", PCIE_PROVEN, NOTE);
	f.s->host.have_efi = PCIE_DENIED;
	expect_of(f.s, "boot.mode", NULL, 0, 0);
	pcie_snapshot_destroy(f.s);
}

static void option(struct pcie_device *d, const char *name, const char *value)
{
	d->noption = 1;
	strcpy(d->option[0].name, name);
	strcpy(d->option[0].value, value);
}

static void driver(void **state)
{
	(void)state;
	struct fixture f = machine(HIGH, 256 * MIB);
	expect_of(f.s, "driver.resize", NULL, 0, 0);
	option(f.d, "EnableResizableBar", "0");
	expect_of(f.s, "driver.resize", "off", PCIE_PROVEN, NOTE);
	expect_cause(f.s, PCIE_CAUSE_DRIVER_OPTION);
	option(f.d, "EnableResizableBar", "1");
	expect_of(f.s, "driver.resize", "on", PCIE_PROVEN, GOOD);
	expect_cause(f.s, PCIE_CAUSE_UNKNOWN);
	option(f.d, "vram_bar_size", "-1");
	expect_of(f.s, "driver.resize", "off", PCIE_PROVEN, NOTE);
	option(f.d, "vram_bar_size", "0");
	expect_of(f.s, "driver.resize", "on", PCIE_PROVEN, GOOD);
	option(f.d, "rebar", "0");
	expect_of(f.s, "driver.resize", "off", PCIE_PROVEN, NOTE);
	option(f.d, "rebar", "yes"); /* not a number: nothing is said */
	expect_of(f.s, "driver.resize", NULL, 0, 0);
	pcie_snapshot_destroy(f.s);
}

/* Evidence names who said so, not who usually does. */
static void sources_are_named(void **state)
{
	(void)state;
	struct fixture f = machine(HIGH, 16 * GIB);
	f.s->host.efi_src = pcie_snapshot_source(f.s, "dmesg.txt");
	f.d->power_src = pcie_snapshot_source(f.s, "lspci.txt");
	strcpy(f.d->power, "D3hot");
	option(f.d, "EnableResizableBar", "1");
	f.d->option[0].src = pcie_snapshot_source(f.s, "boot.log");
	static const char *const row[][3] = {{"boot.mode", "C1", "dmesg.txt"},
		{"driver.resize", "D1", "boot.log"}, {"power", "W1", "lspci.txt"}};
	f.d->asleep = true;
	struct pcie_verdicts *v = pcie_verdicts_create(f.s);
	for (size_t i = 0; i < ARRAY_LEN(row); i++) {
		const struct pcie_verdict *x = pcie_gpu_find(&v->gpu[0], row[i][0]);
		assert_non_null(x);
		assert_string_equal(x->evidence[0].id, row[i][1]);
		assert_string_equal(x->evidence[0].source, row[i][2]);
	}
	pcie_verdicts_destroy(v);
	pcie_snapshot_destroy(f.s);
}

static void peers(void **state)
{
	(void)state;
	struct fixture f = machine(HIGH, 16 * GIB);
	expect_of(f.s, "peer", NULL, 0, 0);
	machine_gpu(f.s, "0000:02:00.0", -1);
	pcie_snapshot_settle(f.s);
	f.d = &f.s->dev[f.gpu];
	expect_of(f.s, "peer", "tight", PCIE_WEAK, NOTE); /* just as large: a few MiB are missing */
	f.d->vram.bytes = 12 * GIB;
	expect_of(f.s, "peer", "ready", PCIE_LIKELY, GOOD);
	f.d->vram.bytes = 24 * GIB;
	expect_of(f.s, "peer", "limited", PCIE_LIKELY, NOTE);
	f.d->vram.have = PCIE_DENIED;
	expect_of(f.s, "peer", "unknown", PCIE_WEAK, NOTE);
	pcie_snapshot_destroy(f.s);
}

/* Rule ID of the first GPU gives ITEM with this VALUE as evidence; NULL: it gives none. */
static void expect_evidence(
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

/* Where two GPUs meet is said when the tree up to the root bus is known, else not at all. */
static void peers_meet(void **state)
{
	(void)state;
	struct fixture f = machine(HIGH, 16 * GIB);
	int second = machine_bridge(f.s, "0000:00:02.0", -1, 2, 0, 0);
	machine_gpu(f.s, "0000:02:00.0", second);
	pcie_snapshot_settle(f.s);
	expect_evidence(f.s, "peer", "T1", "0000:02:00.0 meets it at the host bridge");

	int at = pcie_snapshot_find(f.s, (struct pcie_addr){.dev = 2, .known = true});
	strcpy(f.s->dev[at].root, "pci0000:80");
	expect_evidence(
		f.s, "peer", "T1", "0000:02:00.0 meets it at the host bridge, on another root bus");
	/* Bus 0 is a root bus, with no word of its name. */
	f.s->dev[at].root[0] = '\0';
	expect_evidence(f.s, "peer", "T1", "0000:02:00.0 meets it at the host bridge");
	pcie_snapshot_destroy(f.s);

	/* Two GPUs in a text without their bridges: buses 1 and 2 are behind something. */
	struct pcie_snapshot *s = machine_pc();
	for (int i = 0; i < 2; i++) {
		int gpu = machine_gpu(s, i ? "0000:02:00.0" : "0000:01:00.0", -1);
		s->dev[gpu].root[0] = '\0';
		s->dev[gpu].bars_complete = false;
	}
	pcie_snapshot_settle(s);
	expect_evidence(s, "peer", "T1", NULL);
	machine_aperture(s, HIGH, HIGH + GIB - 1); /* pci0000:00 */
	strcpy(s->aperture[0].root, "pci0000:01");
	expect_evidence(s, "peer", "T1", NULL);
	machine_aperture(s, HIGH + GIB, HIGH + 2 * GIB - 1);
	strcpy(s->aperture[1].root, "pci0000:02");
	expect_evidence(
		s, "peer", "T1", "0000:02:00.0 meets it at the host bridge, on another root bus");
	pcie_snapshot_destroy(s);
}

static void causes(void **state)
{
	(void)state;
	/* Pinned, by the log's own words. */
	struct fixture f = machine(HIGH, 256 * MIB);
	machine_history(f.s, f.port, -1, true, PCIE_FINAL_ASSIGNED)->pinned = true;
	expect_cause(f.s, PCIE_CAUSE_PINNED_WINDOW);
	pcie_snapshot_destroy(f.s);

	/* A removable port's windows were shared out. */
	f = machine(HIGH, 256 * MIB);
	f.s->dev[f.port].removable = true;
	machine_said(f.s, PCIE_SAID_RESIZE_FAILED, f.gpu, 16 * GIB, "not enough address space");
	expect_cause(f.s, PCIE_CAUSE_WINDOW_TOO_SMALL);
	pcie_snapshot_destroy(f.s);

	/* Nothing but the boot mode speaks. */
	f = machine(HIGH, 256 * MIB);
	expect_cause(f.s, PCIE_CAUSE_UNKNOWN);
	f.s->host.efi = false;
	expect_cause(f.s, PCIE_CAUSE_CSM);
	f.s->host.efi = true;
	f.s->host.is_virtual = true;
	expect_cause(f.s, PCIE_CAUSE_HYPERVISOR);
	pcie_snapshot_destroy(f.s);

	/* The firmware's window is beyond the CPU's address bits. */
	f = machine(LOW, 256 * MIB);
	machine_aperture(f.s, (uint64_t)1 << 36, ((uint64_t)1 << 37) - 1);
	f.s->aperture[f.s->naperture - 1].ignored = true;
	f.s->host.phys_bits = 36;
	expect_of(f.s, "above4g.aperture", "no", PCIE_LIKELY, BAD);
	expect_cause(f.s, PCIE_CAUSE_CPU_ADDRESS_WIDTH);
	pcie_snapshot_destroy(f.s);

	/* 32-bit BARs are not helped by any window above. */
	f = machine(HIGH, 16 * GIB);
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
	f = machine(HIGH, 16 * GIB);
	strcpy(f.s->host.cmdline, "pci=nocrs");
	expect_cause(f.s, PCIE_CAUSE_NOCRS);
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
		struct fixture f = machine(LOW, 256 * MIB);
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
		cmocka_unit_test(assignment),
		cmocka_unit_test(rebar_full),
		cmocka_unit_test(rebar_small),
		cmocka_unit_test(rebar_limits),
		cmocka_unit_test(rebar_not_asked),
		cmocka_unit_test(aperture),
		cmocka_unit_test(used),
		cmocka_unit_test(setup_item),
		cmocka_unit_test(link),
		cmocka_unit_test(errors_and_power),
		cmocka_unit_test(views_and_boot),
		cmocka_unit_test(driver),
		cmocka_unit_test(sources_are_named),
		cmocka_unit_test(peers),
		cmocka_unit_test(peers_meet),
		cmocka_unit_test(causes),
		cmocka_unit_test(kinds),
		cmocka_unit_test(the_table),
		cmocka_unit_test(advice_fits_the_machine),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
