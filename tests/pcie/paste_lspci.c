/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lspci's output in six ages, for machines of paste_machine.h. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "paste_machine.h"

static void size_tag(struct text *out, uint64_t size)
{
	static const char suffix[][2] = {"", "K", "M", "G", "T"};
	unsigned i = 0;
	if (!size) {
		return;
	}
	while (i < 4 && size >= 1024) {
		size /= 1024;
		i++;
	}
	text_addf(out, " [size=%" PRIu64 "%s]", size, suffix[i]);
}

static void slot(struct text *out, const struct gen_machine *m, const struct gen_options *o, int i)
{
	const struct gen_dev *d = &m->dev[i];
	int chain[16], n = 0;
	for (int k = i; k >= 0; k = m->dev[k].parent) {
		chain[n++] = k;
	}
	if (!o->path) {
		n = 1;
	}
	const struct pcie_addr *a = &m->dev[chain[n - 1]].addr;
	if (o->domain || m->domains) {
		text_addf(out, "%04" PRIx32 ":", d->addr.domain);
	}
	text_addf(out, "%02x:%02x.%x", a->bus, a->dev, a->fn);
	for (int k = n - 2; k >= 0; k--) {
		a = &m->dev[chain[k]].addr;
		if (o->path > 1) {
			text_addf(out, "/%02x:%02x.%x", a->bus, a->dev, a->fn);
		} else {
			text_addf(out, "/%02x.%x", a->dev, a->fn);
		}
	}
}

static void header(
	struct text *out, const struct gen_machine *m, const struct gen_options *o, int i)
{
	const struct gen_dev *d = &m->dev[i];
	slot(out, m, o, i);
	text_addf(out, " %s", d->class_name);
	if (o->numeric) {
		text_addf(out, " [%04x]", d->class_code);
	}
	text_addf(out, ": %s %s", d->vendor_name, d->name);
	if (o->numeric) {
		text_addf(out, " [%04x:%04x]", d->vendor, d->device);
	} else if (!strcmp(d->name, "Device")) {
		text_addf(out, " %04x", d->device);
	}
	if (d->revision) {
		text_addf(out, " (rev %02x)", d->revision);
	}
	if (o->verbose && (d->class_code == 0x0300 || d->class_code == 0x0604)) {
		text_addf(out, " (prog-if 00 [%s])",
			d->class_code == 0x0300 ? "VGA controller" : "Normal decode");
	}
	text_add(out, "\n");
	if (o->verbose && d->subvendor) {
		text_addf(out, "\tSubsystem: ASUSTeK Computer Inc. Device %s%04x%s\n",
			o->numeric ? "[1043:" : "", d->subdevice, o->numeric ? "]" : "");
	}
}

static void flags(struct text *out, const struct gen_dev *d, const struct gen_options *o)
{
	if (o->verbose == 1) {
		text_add(out, "\tFlags: bus master, fast devsel, latency 0, IRQ 146, NUMA node 0, "
			      "IOMMU group 14\n");
		return;
	}
	text_addf(out,
		"\tControl: I/O+ Mem%c BusMaster+ SpecCycle- MemWINV- VGASnoop- ParErr- Stepping- "
		"SERR- FastB2B- DisINTx+\n",
		d->mem_enable ? '+' : '-');
	text_add(out, "\tStatus: Cap+ 66MHz- UDF- FastB2B- ParErr- DEVSEL=fast >TAbort- <TAbort- "
		      "<MAbort- >SERR- <PERR- INTx-\n");
	text_add(out, "\tLatency: 0, Cache Line Size: 64 bytes\n");
	text_add(out, "\tInterrupt: pin A routed to IRQ 146\n\tNUMA node: 0\n");
	if (o->era >= ERA_3_7) {
		text_add(out, "\tIOMMU group: 14\n");
	}
}

static void region(struct text *out, const struct gen_dev *d, const struct gen_bar *b,
	const struct gen_options *o)
{
	bool late = o->era >= ERA_3_6; /* where "[virtual]" stands */
	bool is_virtual = b->state == GEN_VIRTUAL;
	if (b->state == GEN_WIPED && (o->era >= ERA_3_8 || !b->is64)) {
		return;
	}
	text_add(out, "\t");
	if (o->verbose > 1) {
		text_addf(out, "Region %d: ", b->index);
	}
	text_addf(out, "%s%s at ", is_virtual && !late ? "[virtual] " : "",
		b->io ? "I/O ports" : "Memory");
	switch (b->state) {
	case GEN_UNASSIGNED:
	case GEN_WIPED:
		text_add(out, "<unassigned>");
		break;
	case GEN_IGNORED:
		text_add(out, "<ignored>");
		break;
	default:
		text_addf(out, b->io ? "%04" PRIx64 : "%08" PRIx64, b->base);
		break;
	}
	if (!b->io) {
		text_addf(out, " (%s, %sprefetchable)", b->is64 ? "64-bit" : "32-bit",
			b->pref ? "" : "non-");
	}
	text_add(out, is_virtual && late ? " [virtual]" : "");
	if (!d->mem_enable && !b->io && !(is_virtual && o->era < ERA_3_7)) {
		text_add(out, " [disabled]");
	}
	if (b->state == GEN_ASSIGNED || is_virtual) {
		size_tag(out, b->size);
	}
	text_add(out, "\n");
}

static void rom(struct text *out, const struct gen_bar *b)
{
	text_addf(out, "\tExpansion ROM at %08" PRIx64 " [disabled]", b->base);
	size_tag(out, b->size);
	text_add(out, "\n");
}

static void window(struct text *out, const char *what, const struct gen_window *w,
	const struct gen_options *o, int kind)
{
	const char *bits = kind == 0 ? "16" : kind == 1 || w->limit <= UINT32_MAX ? "32" : "64";
	if (!w->open && o->era == ERA_3_1) {
		return;
	}
	text_addf(out, "\t%s behind bridge: ", what);
	if (!w->open) {
		if (o->era == ERA_3_7 && o->verbose > 2) {
			text_add(out, kind == 0   ? "0000f000-00000fff "
				      : kind == 1 ? "fff00000-000fffff "
						  : "00000000fff00000-00000000000fffff ");
		}
		text_add(out, o->era <= ERA_3_5 ? "None" : "[disabled]");
	} else {
		const char *form = o->era >= ERA_3_8 ? kind == 0 ? "%04" PRIx64 "-%04" PRIx64
								 : "%08" PRIx64 "-%08" PRIx64
				   : kind == 2       ? "%016" PRIx64 "-%016" PRIx64
						     : "%08" PRIx64 "-%08" PRIx64;
		char buf[64];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		snprintf(buf, sizeof(buf), form, w->base, w->limit);
#pragma GCC diagnostic pop
		text_add(out, buf);
		if (o->era >= ERA_3_5) {
			size_tag(out, w->limit - w->base + 1);
		}
	}
	if (o->era >= ERA_3_8) {
		text_addf(out, " [%s-bit]", w->open ? bits : kind == 2 ? "64" : bits);
	}
	text_add(out, "\n");
}

static void bridge(struct text *out, const struct gen_dev *d, const struct gen_options *o)
{
	text_addf(out, "\tBus: primary=%02x, secondary=%02x, subordinate=%02x, sec-latency=0\n",
		d->addr.bus, d->secondary, d->subordinate);
	window(out, "I/O", &d->io, o, 0);
	window(out, "Memory", &d->mem, o, 1);
	window(out, "Prefetchable memory", &d->pref, o, 2);
	if (o->verbose > 1) {
		text_add(out, "\tSecondary status: 66MHz- FastB2B- ParErr- DEVSEL=fast >TAbort- "
			      "<TAbort- <MAbort- <SERR- <PERR-\n"
			      "\tBridgeCtl: Parity- SERR+ NoISA- VGA+ MAbort- >Reset- FastB2B-\n"
			      "\t\tPriDiscTmr- SecDiscTmr- DiscTmrStat- DiscTmrSERREn-\n");
	}
}

static const char *speed(unsigned code)
{
	static const char *const s[] = {
		"unknown", "2.5GT/s", "5GT/s", "8GT/s", "16GT/s", "32GT/s", "64GT/s"};
	return s[code];
}

static void express(struct text *out, const struct gen_dev *d, const struct gen_options *o)
{
	text_addf(out, "\tCapabilities: [78] Express %s%s, %s 00\n", o->verbose > 1 ? "(v2) " : "",
		d->bridge ? "Root Port (Slot+)" : "Legacy Endpoint",
		o->era >= ERA_3_14 ? "IntMsgNum" : "MSI");
	if (o->verbose < 2) {
		return;
	}
	text_add(out,
		"\t\tDevCap:\tMaxPayload 256 bytes, PhantFunc 0, Latency L0s unlimited, L1 <64us\n"
		"\t\t\tExtTag+ AttnBtn- AttnInd- PwrInd- RBE+ FLReset-\n");
	text_addf(out,
		"\t\tLnkCap:\tPort #0, Speed %s, Width x%u, ASPM L0s L1, Exit Latency L0s <512ns, "
		"L1 <4us\n\t\t\tClockPM+ Surprise- LLActRep- BwNot- ASPMOptComp+\n",
		speed(d->max_speed), d->max_width);
	text_add(out, "\t\tLnkCtl:\tASPM Disabled; RCB 64 bytes, Disabled- CommClk+\n");
	bool down = d->speed < d->max_speed, narrow = d->width < d->max_width;
	if (o->era <= ERA_3_5) {
		text_addf(out,
			"\t\tLnkSta:\tSpeed %s, Width x%u, TrErr- Train- SlotClk+ DLActive-\n",
			speed(d->speed), d->width);
	} else {
		const char *ok = o->era <= ERA_3_7 ? " (ok)" : "";
		text_addf(out, "\t\tLnkSta:\tSpeed %s%s, Width x%u%s\n", speed(d->speed),
			down ? " (downgraded)" : ok, d->width, narrow ? " (downgraded)" : ok);
		text_add(out, "\t\t\tTrErr- Train- SlotClk+ DLActive- BWMgmt- ABWMgmt-\n");
	}
}

static void rebar(struct text *out, const struct gen_dev *d, const struct gen_options *o)
{
	static const char *const unit[] = {"MB", "GB", "TB", "PB"};
	const char *version = o->verbose > 1 ? " v1" : "";
	text_addf(out, "\tCapabilities: [bb0%s] ", version);
	if (o->era <= ERA_3_5) {
		text_add(out, "#15\n");
		return;
	}
	if (o->era == ERA_3_6) {
		text_add(out, "Resizable BAR <?>\n");
		return;
	}
	text_add(out, "Physical Resizable BAR\n");
	for (int i = 0; i < d->nrebar && o->verbose > 1; i++) {
		const struct gen_rebar *r = &d->rebar[i];
		text_addf(out, "\t\tBAR %d: current size: %u%s, supported:", r->bar,
			1u << r->current % 10, unit[r->current / 10]);
		for (unsigned k = 0; k < 40; k++) {
			if (r->supported >> k & 1) {
				text_addf(out, " %u%s", 1u << k % 10, unit[k / 10]);
			}
		}
		text_add(out, "\n");
	}
}

static void sriov(struct text *out, const struct gen_dev *d, const struct gen_options *o)
{
	text_addf(out, "\tCapabilities: [c00%s] Single Root I/O Virtualization (SR-IOV)\n",
		o->verbose > 1 ? " v1" : "");
	if (o->verbose < 2) {
		return;
	}
	text_add(out, "\t\tIOVCap:\tMigration-, Interrupt Message Number: 000\n"
		      "\t\tInitial VFs: 32, Total VFs: 32, Number of VFs: 0, Function Dependency "
		      "Link: 00\n");
	for (int i = 0; i < d->nvf; i++) {
		const struct gen_bar *b = &d->vf[i];
		text_addf(out,
			b->is64 ? "\t\tRegion %d: Memory at %016" PRIx64 " (%s, %sprefetchable)\n"
				: "\t\tRegion %d: Memory at %08" PRIx64 " (%s, %sprefetchable)\n",
			b->index, b->base, b->is64 ? "64-bit" : "32-bit", b->pref ? "" : "non-");
	}
	text_add(out, "\t\tVF Migration: offset: 00000000, BIR: 0\n");
}

static void capabilities(struct text *out, const struct gen_dev *d, const struct gen_options *o)
{
	if (o->denied) {
		text_add(out, "\tCapabilities: <access denied>\n");
		return;
	}
	text_add(out, "\tCapabilities: [60] Power Management version 3\n");
	if (o->verbose > 1) {
		text_add(out, "\t\tFlags: PMEClk- DSI- D1- D2- AuxCurrent=375mA "
			      "PME(D0+,D1-,D2-,D3hot+,D3cold+)\n"
			      "\t\tStatus: D0 NoSoftRst+ PME-Enable- DSel=0 DScale=0 PME-\n");
	}
	if (!d->max_speed) {
		return;
	}
	express(out, d, o);
	text_addf(out, "\tCapabilities: [100%s] Advanced Error Reporting\n",
		o->verbose > 1 ? " v1" : "");
	if (o->verbose > 1) {
		text_add(out,
			"\t\tUESta:\tDLP- SDES- TLP- FCP- CmpltTO- CmpltAbrt- UnxCmplt- RxOF- "
			"MalfTLP- ECRC- UnsupReq- ACSViol-\n");
	}
	if (d->nrebar) {
		rebar(out, d, o);
	}
	if (d->nvf) {
		sriov(out, d, o);
	}
}

static void hex(struct text *out, const struct gen_dev *d, const struct gen_options *o)
{
	uint8_t bytes[4096];
	unsigned n = o->denied || o->hex < 3 ? 64 : o->hex == 3 ? 256 : 4096;
	gen_config(d, bytes);
	for (unsigned i = 0; i < n; i++) {
		if (i % 16 == 0) {
			text_addf(out, "%02x:", i);
		}
		text_addf(out, " %02x%s", bytes[i], i % 16 == 15 ? "\n" : "");
	}
}

void gen_lspci(const struct gen_machine *m, const struct gen_options *o, struct text *out)
{
	for (int i = 0; i < m->n; i++) {
		const struct gen_dev *d = &m->dev[i];
		header(out, m, o, i);
		if (o->verbose) {
			flags(out, d, o);
			for (int k = 0; k < d->nbar; k++) {
				if (d->bar[k].index < 6) {
					region(out, d, &d->bar[k], o);
				}
			}
			if (d->bridge) {
				bridge(out, d, o);
			}
			for (int k = 0; k < d->nbar; k++) {
				if (d->bar[k].index == 6) {
					rom(out, &d->bar[k]);
				}
			}
			capabilities(out, d, o);
			if (d->driver) {
				text_addf(out, "\tKernel driver in use: %s\n", d->driver);
			}
		}
		if (o->hex) {
			hex(out, d, o);
		}
		if (o->verbose || o->hex) {
			text_add(out, "\n");
		}
	}
}
