/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Could the driver have its BARs? A BAR with a good address may still be held by somebody
 * else, mostly the boot framebuffer: vfio-pci then says "can't reserve", and the guest's
 * GPU does not start.
 */
#include <string.h>

#include "pcie/judge.h"

bool pcie_is_reserved(const struct pcie_judge *j)
{
	const struct pcie_device *d = j->d;

	if (!j->reserved || j->reserved->value >= PCIE_BAR_SLOTS) {
		return false;
	}
	const char *line = pcie_line_text(j->s, j->reserved->line);
	if (!strstr(line, "[mem 0x")) {
		return false; /* without an address there is nothing to hold */
	}
	const char *who;
	if (pcie_reserved_by(j, &who) == PCIE_HOLDER_DRIVER) {
		return false; /* it has the BAR by now */
	}
	/* Another driver has it now: the line tells of a time before. */
	return d->have_driver != PCIE_KNOWN || !d->driver[0] || strstr(line, d->driver);
}

static void judge_claim(const struct pcie_judge *j, struct pcie_verdict *v)
{
	if (!pcie_is_reserved(j)) {
		return;
	}
	int bar = (int)j->reserved->value;
	const char *who = NULL;
	pcie_reserved_by(j, &who);
	bool boot = who && (!strcmp(who, "BOOTFB") || strstr(who, "efifb") ||
				   strstr(who, "vesafb") || strstr(who, "simple"));

	pcie_evidence(v, "B8", "kernel log", "%s", pcie_line_text(j->s, j->reserved->line));
	if (who) {
		pcie_evidence(v, "B9", "/proc/iomem", "%s stands inside BAR %d", who, bar);
		pcie_say(v, "refused", PCIE_PROVEN, PCIE_LEVEL_BAD,
			"the driver could not reserve BAR %d: %s holds addresses in it", bar, who);
	} else {
		pcie_say(v, "refused", PCIE_LIKELY, PCIE_LEVEL_BAD,
			"the driver could not reserve BAR %d: something else holds addresses in it",
			bar);
		pcie_advise(v, "sudo cat /proc/iomem shows who stands inside the BAR: add it with "
			       "--with FILE");
	}
	if (!who || boot) {
		pcie_advise(v,
			"%s: keep it off this GPU with initcall_blacklist=sysfb_init on the "
			"kernel command line (before 5.15: video=efifb:off), or make another "
			"GPU the first display in the firmware setup",
			boot ? "that is the boot framebuffer"
			     : "it is mostly the boot framebuffer");
	} else {
		pcie_advise(v, "unbind what holds it, then bind this driver again");
	}
	pcie_advise(v, "no setup item for BARs changes it: the BAR has its address");
}

const struct pcie_rule pcie_rule_claim = {
	.id = "claim",
	.title = "could the driver have its BARs",
	.answers = "refused",
	.decides = false,
	.judge = judge_claim,
};
