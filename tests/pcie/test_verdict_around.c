/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is around the GPU: link, errors, power, views, boot mode, driver, peers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/macros.h"
#include "verdict_fixture.h"

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
	struct fixture f = verdict_machine(HIGH, 16 * GIB);
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
	expect_headline(f.s, "link", "16 GT/s x8, as wide as the port; the card can do x16");
	f.d->link.speed = 25;
	expect_headline(f.s, "link",
		"x8, as wide as the port; the card can do x16; 2.5 GT/s now of 16 GT/s, which an idle "
		"GPU does by itself");
	p->link.have = PCIE_DENIED;
	expect_of(f.s, "link", "unknown", PCIE_WEAK, UNSURE);
	expect_headline(f.s, "link", "x8 of the card's x16; what the port can do is not known");
	f.s->host.is_virtual = true;
	expect_of(f.s, "link", "unknown", PCIE_WEAK, NOTE);
	pcie_snapshot_destroy(f.s);
}

static void errors_and_power(void **state)
{
	(void)state;
	struct fixture f = verdict_machine(HIGH, 16 * GIB);
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
	machine_said(
		f.s, PCIE_SAID_FELL_OFF, f.gpu, 0, "NVRM: Xid: 79, GPU has fallen off the bus.");
	expect_of(f.s, "power", "gone", PCIE_LIKELY, BAD);
	f.d->config_gone = false; /* it is back */
	f.d->asleep = false;
	expect_of(f.s, "power", NULL, 0, 0);
	pcie_snapshot_destroy(f.s);
}

static void views_and_boot(void **state)
{
	(void)state;
	struct fixture f = verdict_machine(HIGH, 16 * GIB);
	expect_of(f.s, "views", "match", PCIE_LIKELY, GOOD);
	f.bar->reg.base = 0;
	expect_of(f.s, "views", "differ", PCIE_LIKELY, NOTE);
	pcie_snapshot_destroy(f.s);

	/* A constant offset everywhere is a host bridge that translates. */
	f = verdict_machine(HIGH, 16 * GIB);
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
	struct fixture f = verdict_machine(HIGH, 256 * MIB);
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
	struct fixture f = verdict_machine(HIGH, 16 * GIB);
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
	struct fixture f = verdict_machine(HIGH, 16 * GIB);
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

/* Where two GPUs meet is said when the tree up to the root bus is known, else not at all. */
static void peers_meet(void **state)
{
	(void)state;
	struct fixture f = verdict_machine(HIGH, 16 * GIB);
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

static void other_devices_addresses(void **state)
{
	(void)state;
	struct fixture f = verdict_machine(HIGH, 16 * GIB);
	int port = machine_bridge(f.s, "0000:00:02.0", -1, 2, HIGH, HIGH + 32 * GIB - 1);
	int nic = machine_gpu(f.s, "0000:02:00.0", port);
	machine_bar(f.s, nic, 0, HIGH + 16 * GIB + 32 * MIB, MIB);
	f.s->dev[nic].device = 0x1572;
	f.s->dev[nic].class_code = 0x020000;
	struct pcie_bar *b = pcie_device_bar(&f.s->dev[nic], PCIE_BAR_NORMAL, 0);
	f.d = &f.s->dev[f.gpu]; /* the list may have moved */

	expect_of(f.s, "overlap", NULL, 0, 0); /* right behind BAR 3 */
	b->base--;
	expect_of(f.s, "overlap", "shared", PCIE_LIKELY, NOTE);
	expect_headline(f.s, "overlap", "a BAR has addresses that 0000:02:00.0 has too");
	expect_evidence(f.s, "overlap", "O2", "0000:02:00.0 BAR 0 at 0x4401ffffff, 1 MiB");
	f.d->bars_complete = false; /* a text may be of two states */
	expect_of(f.s, "overlap", "shared", PCIE_WEAK, NOTE);
	f.s->dev[nic].device = f.d->device; /* the same card, at another bus number then */
	expect_of(f.s, "overlap", NULL, 0, 0);
	f.s->dev[nic].device = 0x1572;
	b->src = pcie_snapshot_source(f.s, "another witness");
	expect_of(f.s, "overlap", NULL, 0, 0);
	struct pcie_bar *own = pcie_device_bar(f.d, PCIE_BAR_NORMAL, 3);
	b->src = own->src;
	enum pcie_tri *const on[] = {&b->decode_enabled, &own->decode_enabled,
		&f.s->dev[port].mem_enable, &f.s->dev[f.port].mem_enable};
	for (size_t i = 0; i < ARRAY_LEN(on); i++) { /* what does not decode answers nobody */
		enum pcie_tri was = *on[i];
		*on[i] = PCIE_YES;
		expect_of(f.s, "overlap", "shared", PCIE_WEAK, NOTE);
		*on[i] = PCIE_NO;
		expect_of(f.s, "overlap", NULL, 0, 0);
		*on[i] = was;
	}
	b->assigned = PCIE_NO;
	expect_of(f.s, "overlap", NULL, 0, 0);
	pcie_snapshot_destroy(f.s);
}

static void outside_of_the_windows(void **state)
{
	(void)state;
	struct fixture f = verdict_machine(HIGH, 16 * GIB);
	struct pcie_device *p = &f.s->dev[f.port];
	struct pcie_window *mem = &p->window[PCIE_WINDOW_MEM], *pref = &p->window[PCIE_WINDOW_PREF];

	*mem = *pref;
	mem->base = 0x80000000;
	mem->limit = 0x80ffffff;
	expect_of(f.s, "overlap", NULL, 0, 0);
	pref->limit = HIGH + 16 * GIB + 32 * MIB - 2; /* the last byte of BAR 3 */
	expect_of(f.s, "overlap", "outside", PCIE_LIKELY, NOTE);
	expect_evidence(f.s, "overlap", "O1", "0000:01:00.0 BAR 3 at 0x4400000000, 32 MiB");
	p->class_code = 0x060401; /* passes on what nobody else claims */
	expect_of(f.s, "overlap", NULL, 0, 0);
	p->class_code = 0x060400;
	mem->have = PCIE_DENIED; /* it may be in there */
	expect_of(f.s, "overlap", NULL, 0, 0);
	mem->have = pref->have = PCIE_ABSENT; /* a listing that was cut, or a sleeping bridge */
	expect_of(f.s, "overlap", NULL, 0, 0);
	pcie_snapshot_destroy(f.s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(link),
		cmocka_unit_test(errors_and_power),
		cmocka_unit_test(views_and_boot),
		cmocka_unit_test(driver),
		cmocka_unit_test(sources_are_named),
		cmocka_unit_test(peers),
		cmocka_unit_test(peers_meet),
		cmocka_unit_test(other_devices_addresses),
		cmocka_unit_test(outside_of_the_windows),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
