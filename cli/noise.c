/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/noise.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "cli/store_args.h"
#include "runs/boots.h"
#include "runs/session.h"

enum { BOOTS = 4 }; /* a side: the least that carries a test */

void cmd_noise_words(struct text *t, const struct runs_floor *f)
{
	text_add(t, "noise floor: ");
	if (!f->runs) {
		text_add(t,
			"no earlier run of this configuration is in the store, so nothing is known "
			"of how much boots differ by themselves");
		return;
	}
	if (!isnan(f->within_boot)) {
		text_addf(t, "within a boot the band differs by a factor of %.2f, ",
			exp(f->within_boot));
	}
	if (isnan(f->between_boots)) {
		text_addf(t,
			"%zu earlier run%s, but no label with two boots: how much boots differ by "
			"themselves is not known yet",
			f->runs, f->runs == 1 ? "" : "s");
		return;
	}
	text_addf(t,
		"between boots of one label by a factor of %.2f (%zu runs, %zu boots); %d + %d boots "
		"would find a spread ratio of %.2f in four of five studies",
		exp(f->between_boots), f->runs, f->boots, BOOTS, BOOTS,
		runs_boots_detectable(BOOTS, f->between_boots, 0.8));
}

void cmd_noise_say(const struct cmd_stress_options *o)
{
	_cleanup_store_ struct runs_store *s = NULL;
	char boot_id[RUNS_BOOT_ID_MAX];
	struct runs_info like = {0};
	struct runs_floor f = {.runs = 0};
	struct why why;
	runs_info_configured(&like, &o->config);
	/* A store that cannot be read is said when the run is to be recorded; one that is not there
	 * yet, or is empty, holds no run. */
	int r = cmd_store_open(o->store, RUNS_STORE_READ, &s, boot_id, &why);
	r = r ? r : runs_floor_load(s, &like, &f, &why);
	_cleanup_free_ char *path = NULL;
	const bool none =
		r == -ENODATA || (r == -ENOENT && !runs_store_path(o->store, &path, &why));
	if (r && !none) {
		return;
	}
	struct text t = {0};
	cmd_noise_words(&t, &f);
	_cleanup_free_ char *plain = cmd_style_plain(cmd_style_detect(o->ascii), text_steal(&t));
	fprintf(stderr, "barscope: %s\n", plain);
}
