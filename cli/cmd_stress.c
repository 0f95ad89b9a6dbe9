/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "cli/cmd.h"
#include "cli/noise.h"
#include "cli/stress.h"

int cmd_stress_status(const struct cmd_stress_result *r, const struct cmd_stress_summary *s)
{
	if (r->signal) {
		return 128 + r->signal;
	}
	if (s->corrupt || r->status.ended) {
		return EXIT_FINDING;
	}
	if (*r->trouble) {
		return r->status.phase == STRESS_FAILED && r->status.no_gpu ? EXIT_NO_GPU
									    : EXIT_USAGE;
	}
	return s->samples ? EXIT_FINE : EXIT_UNDETERMINED;
}

int cmd_stress(int argc, char **argv)
{
	struct cmd_stress_options o;
	int status;
	if (!cmd_stress_parse(argc, argv, &o, &status)) {
		return status;
	}
	if (o.unlock_clocks) {
		return cmd_stress_clocks_unlock(&o);
	}
	cmd_stress_clocks_warn(&o);
	if (o.sweep) {
		return cmd_sweep(&o);
	}
	if (o.record) {
		cmd_noise_say(&o);
	}
	if (!strcmp(o.config.device, "all")) {
		return cmd_stress_all(&o);
	}
	struct cmd_stress_loop *loop;
	struct cmd_stress_result r;
	status = cmd_stress_loop(&o, &loop, &r);
	if (status) {
		return status;
	}
	struct cmd_stress_summary s;
	cmd_stress_summarise(&r, &s);
	_cleanup_free_ char *out = NULL;
	if (o.json) {
		struct js *j = cmd_stress_json(&o, &r, &s);
		out = js_text(j);
		js_free(j);
	} else if (s.samples || !*r.trouble) {
		const struct cmd_style style = cmd_style_detect(o.ascii);
		struct text t = {0};
		cmd_stress_print(&t, &o, &r, &s, style);
		out = cmd_style_plain(style, text_steal(&t));
	}
	cmd_stress_loop_finish(loop);
	status = cmd_stress_status(&r, &s);
	if (*r.trouble) {
		cmd_fail(status, "%s", r.trouble);
	}
	int printed = out ? cmd_print(out) : EXIT_FINE;
	return status ? status : printed;
}
