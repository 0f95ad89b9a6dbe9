/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "cli/args.h"
#include "cli/cmd.h"
#include "cli/number.h"
#include "cli/sides.h"
#include "cli/store_args.h"
#include "cli/stress.h"
#include "cli/study.h"
#include "pcie/verdict.h"
#include "runs/session.h"

static const char help[] =
	"usage: barscope study new NAME --change TEXT [--fact FACT] [--boots N] [-- STRESS OPTIONS]\n"
	"       barscope study run NAME [--side A|B] [--did-not-start WHY]\n"
	"       barscope study status [NAME] [--json]\n"
	"       barscope study report NAME [--html FILE] [--json | --csv] [--despite LIST]\n"
	"       barscope study unit NAME\n\n"
	"Did that change do anything? A is without it, B with it; the machine is booted several times\n"
	"in each state, in the order that status says, and 'run' is said once in each boot.\n\n"
	"  --change TEXT    what is changed, in words\n"
	"  --fact FACT      what files a boot as A or B, instead of your word: a verdict's id\n"
	"                   (above4g.aperture, rebar=full) or env.NAME; B when it is yes, full, ok\n"
	"                   or the answer behind '='\n"
	"  --gpu BDF        whose fact; default: the first GPU\n"
	"  --boots N        boots a side; default 4, with more shapes 5 or more\n"
	"  --shapes LIST    by commas; default: the one of the stress options. One is tested, more\n"
	"                   when the boots suffice\n"
	"  --restarts N     processes a boot and shape; default 3\n"
	"  --warmup N       seconds at most until the latency is steady; default 60\n"
	"  --side A|B       files a boot by hand\n"
	"  --did-not-start WHY  files this boot as one in which nothing could be measured\n"
	"  STRESS OPTIONS   as of 'barscope stress'; default: 60 seconds\n"
	"  unit             prints a systemd unit that runs the study's next boot by itself, and a\n"
	"                   login hint; it installs neither\n" CMD_STORE_HELP
	"\nExit status of report: 0 better, or no difference shown; 1 worse; 2 not comparable, or a\n"
	"description only.\n";

/* How much boots differ by themselves, for the shape that is tested. */
static struct runs_noise load_noise(struct runs_store *s, const struct cmd_study *st)
{
	const struct js *shapes = js_get(st->options, "shapes");
	struct cmd_stress_options o;
	struct runs_info like = {0};
	struct runs_noise noise;
	int status;
	if (!cmd_study_stress(st, js_len(shapes) ? js_str(js_at(shapes, 0)) : NULL, &o, &status)) {
		return runs_noise_assumed("the study's stress options cannot be used");
	}
	runs_info_configured(&like, &o.config);
	runs_floor_study(s, st->study.id, &like, &noise);
	return noise;
}

int cmd_study_load(struct runs_store *s, const char *name, struct cmd_study *ret, struct why *why)
{
	struct cmd_study st = {0};
	int r = runs_study_load(s, name, &st.study, why);
	if (!r) {
		r = runs_study_load_boots(s, st.study.id, &st.boots, why);
	}
	if (!r) {
		r = js_parse(st.study.options, strlen(st.study.options), &st.options, why);
	}
	if (r) {
		cmd_study_finish(&st);
		return r;
	}
	st.noise = load_noise(s, &st);
	*ret = st;
	return 0;
}

void cmd_study_finish(struct cmd_study *s)
{
	runs_study_finish(&s->study);
	runs_study_boots_finish(&s->boots);
	js_free(s->options);
	s->options = NULL;
}

/* The stress options behind "--", checked as "barscope stress" does; a script by its full path. */
static struct js *take_stress(const struct cmd_study_options *o, int *status)
{
	struct js *list = js_array();
	char *argv[CMD_STUDY_ARGS + 1];
	int argc = 0;
	bool timed = false, shaped = false;
	argv[argc++] = (char *)(uintptr_t) "stress";
	for (size_t i = 1; i < o->narg; i++) {
		char path[PATH_MAX];
		bool script = i > 1 && !strcmp(o->arg[i - 1], "--script");
		timed = timed || !strncmp(o->arg[i], "--seconds", 9) ||
			!strncmp(o->arg[i], "--samples", 9);
		shaped = shaped || !strncmp(o->arg[i], "--shape", 7);
		js_push_str(list, script && realpath(o->arg[i], path) ? path : o->arg[i]);
		argv[argc++] = (char *)(uintptr_t)o->arg[i];
	}
	argv[argc] = NULL;
	struct cmd_stress_options parsed;
	*status = EXIT_USAGE;
	if (!cmd_stress_parse(argc, argv, &parsed, status)) {
		js_free(list);
		return NULL;
	}
	if (parsed.record || parsed.store) {
		*status = cmd_usage_error(
			"study", "--record and --store are the study's: leave them out behind --");
		js_free(list);
		return NULL;
	}
	if (shaped && o->shapes) {
		*status = cmd_usage_error(
			"study", "--shapes says which shapes: leave --shape out behind --");
		js_free(list);
		return NULL;
	}
	if (!timed) {
		js_push_str(list, "--seconds");
		js_push_str(list, "60");
	}
	return list;
}

/* --shapes as an array; NULL after a sentence. */
static struct js *take_shapes(const char *shapes)
{
	struct js *list = js_array();
	_cleanup_free_ char *copy = xstrdup(shapes ? shapes : "");
	for (char *save, *p = strtok_r(copy, ",", &save); p; p = strtok_r(NULL, ",", &save)) {
		struct stress_config config = {.layers = 0};
		struct why why;
		if (stress_config_shape(&config, p, &why)) {
			cmd_usage_error("study", "%s", why.text);
			js_free(list);
			return NULL;
		}
		js_push_str(list, p);
	}
	return list;
}

static bool check_fact(const char *fact)
{
	char name[64];
	if (!fact || !strncmp(fact, "env.", 4)) {
		return true;
	}
	text_copy(name, sizeof(name), fact);
	name[strcspn(name, "=")] = '\0';
	const struct pcie_rule *rule = pcie_rule_find(name);
	const char *answer = strchr(fact, '=');
	if (!rule) {
		cmd_usage_error("study", "--fact takes a verdict's id or env.NAME, not '%s'", fact);
		return false;
	}
	if (answer && !pcie_rule_has_answer(rule, answer + 1)) {
		cmd_usage_error("study", "%s is one of: %s", name, rule->answers);
		return false;
	}
	return true;
}

/* Fills S from the options; false after a sentence. */
static bool plan(const struct cmd_study_options *o, struct runs_study *s, int *status)
{
	uint32_t boots = 0, restarts = 3, warmup = 60;
	struct why why;
	*status = EXIT_USAGE;
	if (runs_study_check_name(o->arg[0], &why)) {
		cmd_usage_error("study", "%s", why.text);
		return false;
	}
	if (!o->change) {
		cmd_usage_error(
			"study", "new needs --change TEXT: what is changed between A and B");
		return false;
	}
	char gpu[PCIE_ADDR_MAX] = "";
	struct pcie_addr addr;
	if (o->gpu && pcie_addr_parse(o->gpu, &addr) < 0) {
		cmd_usage_error(
			"study", "--gpu: '%s' is no PCI address (0000:01:00.0 or 01:00.0)", o->gpu);
		return false;
	}
	if (o->gpu) {
		pcie_addr_format(addr, gpu);
	}
	if (!check_fact(o->fact) ||
		(o->boots && cmd_take_u32("study", "--boots", o->boots, 1, 64, &boots)) ||
		(o->restarts &&
			cmd_take_u32("study", "--restarts", o->restarts, 1, 20, &restarts)) ||
		(o->warmup && cmd_take_u32("study", "--warmup", o->warmup, 0, 3600, &warmup))) {
		return false;
	}
	struct js *shapes = take_shapes(o->shapes);
	struct js *stress = shapes ? take_stress(o, status) : NULL;
	if (!stress) {
		js_free(shapes);
		return false;
	}
	size_t tests = js_len(shapes) ? js_len(shapes) : 1;
	struct js *j = js_object();
	js_set(j, "stress", stress);
	js_set(j, "shapes", shapes);
	js_set_int(j, "restarts", restarts);
	js_set_int(j, "warmup", warmup);
	js_set_str(j, "gpu", gpu);
	s->options = js_text_compact(j);
	js_free(j);
	s->boots = boots ? boots : (uint32_t)runs_boots_needed(tests);
	text_copy(s->name, sizeof(s->name), o->arg[0]);
	text_copy(s->change, sizeof(s->change), o->change);
	text_copy(s->fact, sizeof(s->fact), o->fact ? o->fact : "");
	if (s->boots < runs_boots_needed(tests)) {
		fprintf(stderr, "%u boot%s a side cannot test %zu shape%s; %zu can\n", s->boots,
			s->boots == 1 ? "" : "s", tests, tests == 1 ? "" : "s",
			runs_boots_needed(tests));
	}
	return true;
}

static int print_status(const struct cmd_study_options *o, struct runs_store *s, const char *name)
{
	struct cmd_study st = {0};
	struct why why;
	if (cmd_study_load(s, name, &st, &why)) {
		return cmd_fail(EXIT_USAGE, "%s", why.text);
	}
	_cleanup_free_ char *out = NULL;
	if (o->json) {
		struct js *j = cmd_study_json(&st);
		out = js_text(j);
		js_free(j);
	} else {
		struct text t = {0};
		cmd_study_print(&t, &st, cmd_style_detect(false));
		out = text_steal(&t);
	}
	cmd_study_finish(&st);
	return cmd_print(out);
}

static int create(const struct cmd_study_options *o)
{
	struct runs_study s = {0};
	struct why why;
	int status;
	if (!plan(o, &s, &status)) {
		return status;
	}
	_cleanup_store_ struct runs_store *store = NULL;
	char boot_id[RUNS_BOOT_ID_MAX];
	int r = cmd_store_open(o->store, RUNS_STORE_CREATE, &store, boot_id, &why);
	if (!r) {
		r = runs_study_create(store, &s, &why);
	}
	struct why warning;
	if (!r && runs_store_warning(runs_db_path(runs_store_db(store)), &warning)) {
		fprintf(stderr, "barscope: %s\n", warning.text);
	}
	status = r ? cmd_fail(EXIT_USAGE, "%s", why.text) : print_status(o, store, s.name);
	runs_study_finish(&s);
	return status;
}

static int status(const struct cmd_study_options *o)
{
	_cleanup_store_ struct runs_store *s = NULL;
	char boot_id[RUNS_BOOT_ID_MAX];
	struct why why;
	struct runs_study *list = NULL;
	size_t n = 0;
	int r = cmd_store_open(o->store, RUNS_STORE_READ, &s, boot_id, &why);
	if (!r && o->narg) {
		return print_status(o, s, o->arg[0]);
	}
	if (!r) {
		r = runs_study_list(s, &list, &n, &why);
	}
	if (r) {
		return cmd_fail(EXIT_USAGE, "%s", why.text);
	}
	int result = n ? EXIT_FINE : cmd_fail(EXIT_UNDETERMINED, "there is no study yet");
	for (size_t i = 0; i < n; i++) {
		result = result ? result : print_status(o, s, list[i].name);
		runs_study_finish(&list[i]);
	}
	free(list);
	return result;
}

static int unit(const struct cmd_study_options *o)
{
	_cleanup_store_ struct runs_store *s = NULL;
	char boot_id[RUNS_BOOT_ID_MAX], self[PATH_MAX], store[PATH_MAX];
	struct why why;
	struct cmd_study st = {0};
	int r = cmd_store_open(o->store, RUNS_STORE_READ, &s, boot_id, &why);
	if (!r) {
		r = cmd_study_load(s, o->arg[0], &st, &why);
	}
	if (r) {
		return cmd_fail(EXIT_USAGE, "%s", why.text);
	}
	if (!*st.study.fact) {
		const int refused = cmd_fail(EXIT_USAGE,
			"study '%s' has no fact, so no unit can tell which side a boot is: 'barscope "
			"study run %s --side A' or B by hand",
			st.study.name, st.study.name);
		cmd_study_finish(&st);
		return refused;
	}
	if (!realpath("/proc/self/exe", self)) {
		text_copy(self, sizeof(self), "/usr/bin/barscope");
	}
	const char *path = runs_db_path(runs_store_db(s));
	if (!realpath(path, store)) {
		text_copy(store, sizeof(store), path);
	}
	struct text t = {0};
	text_addf(&t,
		"# ~/.config/systemd/user/barscope-study.service, then:\n"
		"#   systemctl --user enable barscope-study.service\n"
		"#   loginctl enable-linger   (to run without a login)\n"
		"[Unit]\nDescription=barscope study %s: this boot\n\n"
		"[Service]\nType=oneshot\nExecStartPre=/bin/sleep 60\n"
		"ExecStart=\"%s\" study run %s --store \"%s\"\n\n"
		"[Install]\nWantedBy=default.target\n\n"
		"# A hint at each login, for ~/.profile:\n"
		"#   \"%s\" study status %s --store \"%s\" 2>/dev/null | tail -n 2\n",
		st.study.name, self, st.study.name, store, self, st.study.name, store);
	cmd_study_finish(&st);
	_cleanup_free_ char *out = text_steal(&t);
	return cmd_print(out);
}

static const struct {
	const char *name;
	size_t least, most;
	int (*run)(const struct cmd_study_options *o);
} verbs[] = {
	{"new", 1, CMD_STUDY_ARGS, create},
	{"run", 1, 1, cmd_study_run},
	{"status", 0, 1, status},
	{"report", 1, 1, cmd_study_report},
	{"unit", 1, 1, unit},
};

int cmd_study(int argc, char **argv)
{
	struct cmd_study_options o = {0};
	const struct cmd_option options[] = {
		{"store", NULL, &o.store},
		{"change", NULL, &o.change},
		{"fact", NULL, &o.fact},
		{"boots", NULL, &o.boots},
		{"gpu", NULL, &o.gpu},
		{"shapes", NULL, &o.shapes},
		{"restarts", NULL, &o.restarts},
		{"warmup", NULL, &o.warmup},
		{"side", NULL, &o.side},
		{"did-not-start", NULL, &o.failed},
		{"despite", NULL, &o.despite},
		{"html", NULL, &o.html},
		{"json", &o.json, NULL},
		{"csv", &o.csv, NULL},
	};
	int result;
	if (argc < 2 || !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
		return argc < 2 ? cmd_usage_error("study", "say new, run, status, report or unit")
				: cmd_print(help);
	}
	for (size_t i = 0; i < ARRAY_LEN(verbs); i++) {
		if (strcmp(argv[1], verbs[i].name) != 0) {
			continue;
		}
		argv[1] = argv[0];
		if (!cmd_args_parse(argc - 1, argv + 1, options, ARRAY_LEN(options), help,
			    verbs[i].least, verbs[i].most, o.arg, &o.narg, &result)) {
			return result;
		}
		return verbs[i].run(&o);
	}
	return cmd_usage_error("study", "'%s' is none of new, run, status, report, unit", argv[1]);
}
