/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "base/macros.h"
#include "cli/args.h"
#include "cli/cmd.h"
#include "cli/number.h"
#include "cli/stress.h"
#include "runs/write.h"

static const char help[] =
	"usage: barscope stress [OPTIONS]\n\n"
	"A memory-bound GEMM in the shape of decoding, again and again, and how steady it is.\n\n"
	"  --backend B      cuda, cpu or script; default: the best there is\n"
	"  --device BDF     cuda: this GPU; all: every GPU at once, then each alone\n"
	"  --shape MxKxN    default 1x4096x11008; decode7b or decode13b: a token's chain of GEMMs\n"
	"                   through all layers, decode:KxN that of another model, *LAYERS behind it\n"
	"  --dtype f16|f32  default f16\n"
	"  --threads N      CPU threads; default: cores - 1\n"
	"  --kernel NAME    cpu: avx512, avx2, neon, ref, or one of these with -row\n"
	"  --copies N       rotating copies of the weights; default: 5 times the last-level cache\n"
	"  --hot            one copy: what fits stays in the cache\n"
	"  --seed N         of the random numbers; default 1\n"
	"  --seconds N      default 10; a script runs to its end\n"
	"  --samples N      stop after N samples\n"
	"  --mode M         isolated (each launch is waited for), queued or graph; default isolated\n"
	"  --paced T        one launch every T (250us, 10ms, 1s) instead of back to back\n"
	"  --no-ceiling     leave out the read-only loops between the launches\n"
	"  --inject-fault F break something to see it noticed: output (one bit), weight (one bit\n"
	"                   in memory) or delay (50 us before every second launch)\n"
	"  --no-telemetry   read nothing of the GPU beside the launches\n"
	"  --telemetry-test  read in every other second only: what do the readings cost?\n"
	"  --watch-gaps     a thread on a spare core sees when cores stand still: firmware, hypervisor\n"
	"  --max-temperature C  end the run there; default: a little below the GPU's own limit\n"
	"  --lock-clocks MHZ  keep the clock of the GPU of --device there for the run (root)\n"
	"  --unlock-clocks  no run: unlock what a killed one has left locked\n"
	"  --script FILE    what the script back end plays, see barscope-script(5)\n"
	"  --speed N|max    how fast it plays; default 1\n"
	"  --fill X         weights over 90% (of the free memory) or 20G, and a memory test first\n"
	"  --sweep[=LIST]   shape after shape (1x4096x4096,...), each for --seconds, default 2;\n"
	"                   sweep and fill raise the load in steps and always record\n"
	"  --record LABEL   store the run, with the machine and its environment\n"
	"  --keep-samples   with --record: every sample too, packed\n"
	"  --store FILE     another store than $XDG_DATA_HOME/barscope/barscope.db\n"
	"  --json           for programs (schema barscope.stress/1)\n"
	"  --ascii          plain characters only\n\n"
	"Exit status: 0 fine, 1 corruption was found or the GPU ended the run (Xid, heat), 2 nothing\n"
	"was measured, 3 usage or failure, 4 no GPU that can be used, 128 + n when signal n ended it.\n";

enum {
	OPT_BACKEND = 256,
	OPT_DEVICE,
	OPT_SHAPE,
	OPT_DTYPE,
	OPT_THREADS,
	OPT_KERNEL,
	OPT_COPIES,
	OPT_HOT,
	OPT_MODE,
	OPT_SEED,
	OPT_SECONDS,
	OPT_SAMPLES,
	OPT_PACED,
	OPT_NO_CEILING,
	OPT_FILL,
	OPT_INJECT,
	OPT_NO_TELEMETRY,
	OPT_TELEMETRY_TEST,
	OPT_WATCH_GAPS,
	OPT_MAX_TEMPERATURE,
	OPT_LOCK_CLOCKS,
	OPT_UNLOCK_CLOCKS,
	OPT_SWEEP,
	OPT_SCRIPT,
	OPT_SPEED,
	OPT_RECORD,
	OPT_KEEP,
	OPT_STORE,
	OPT_JSON,
	OPT_ASCII,
	OPT_HELP,
};

static const struct option options[] = {
	{"backend", required_argument, NULL, OPT_BACKEND},
	{"device", required_argument, NULL, OPT_DEVICE},
	{"shape", required_argument, NULL, OPT_SHAPE},
	{"dtype", required_argument, NULL, OPT_DTYPE},
	{"threads", required_argument, NULL, OPT_THREADS},
	{"kernel", required_argument, NULL, OPT_KERNEL},
	{"copies", required_argument, NULL, OPT_COPIES},
	{"hot", no_argument, NULL, OPT_HOT},
	{"mode", required_argument, NULL, OPT_MODE},
	{"seed", required_argument, NULL, OPT_SEED},
	{"seconds", required_argument, NULL, OPT_SECONDS},
	{"samples", required_argument, NULL, OPT_SAMPLES},
	{"paced", required_argument, NULL, OPT_PACED},
	{"no-ceiling", no_argument, NULL, OPT_NO_CEILING},
	{"fill", required_argument, NULL, OPT_FILL},
	{"sweep", optional_argument, NULL, OPT_SWEEP},
	{"inject-fault", required_argument, NULL, OPT_INJECT},
	{"no-telemetry", no_argument, NULL, OPT_NO_TELEMETRY},
	{"telemetry-test", no_argument, NULL, OPT_TELEMETRY_TEST},
	{"watch-gaps", no_argument, NULL, OPT_WATCH_GAPS},
	{"max-temperature", required_argument, NULL, OPT_MAX_TEMPERATURE},
	{"lock-clocks", required_argument, NULL, OPT_LOCK_CLOCKS},
	{"unlock-clocks", no_argument, NULL, OPT_UNLOCK_CLOCKS},
	{"script", required_argument, NULL, OPT_SCRIPT},
	{"speed", required_argument, NULL, OPT_SPEED},
	{"record", required_argument, NULL, OPT_RECORD},
	{"keep-samples", no_argument, NULL, OPT_KEEP},
	{"store", required_argument, NULL, OPT_STORE},
	{"json", no_argument, NULL, OPT_JSON},
	{"ascii", no_argument, NULL, OPT_ASCII},
	{"help", no_argument, NULL, OPT_HELP},
	{NULL, 0, NULL, 0},
};

/* 0, or EXIT_USAGE after a sentence; so all parsers below. */
static int take_text(const char *name, const char *s, char *ret, size_t size)
{
	if (!*s || strlen(s) >= size) {
		return cmd_usage_error(
			"stress", "%s: '%.40s' is %s", name, s, *s ? "too long" : "empty");
	}
	text_copy(ret, size, s);
	return 0;
}

static int take_dtype(const char *s, enum stress_dtype *ret)
{
	if (strcmp(s, "f16") && strcmp(s, "f32")) {
		return cmd_usage_error("stress", "--dtype takes f16 or f32, not '%.40s'", s);
	}
	*ret = s[1] == '1' ? STRESS_F16 : STRESS_F32;
	return 0;
}

static int take_inject(const char *s, enum stress_inject *ret)
{
	static const char *const names[] = {
		[STRESS_INJECT_OUTPUT] = "output",
		[STRESS_INJECT_WEIGHT] = "weight",
		[STRESS_INJECT_DELAY] = "delay",
	};
	for (unsigned i = STRESS_INJECT_OUTPUT; i < ARRAY_LEN(names); i++) {
		if (!strcmp(s, names[i])) {
			*ret = (enum stress_inject)i;
			return 0;
		}
	}
	return cmd_usage_error(
		"stress", "--inject-fault takes output, weight or delay, not '%.40s'", s);
}

static int take_mode(const char *s, enum stress_mode *ret)
{
	for (unsigned i = 0; i < STRESS_MODES; i++) {
		if (!strcmp(s, stress_mode_name(i))) {
			*ret = (enum stress_mode)i;
			return 0;
		}
	}
	return cmd_usage_error("stress", "--mode takes isolated, queued or graph, not '%.40s'", s);
}

static int take_label(const char *arg)
{
	struct why why;
	return runs_label_check(arg, &why) < 0 ? cmd_usage_error("stress", "--record: %s", why.text)
					       : 0;
}

static int take_option(struct cmd_stress_options *o, int opt, const char *arg)
{
	struct stress_config *c = &o->config;
	struct why why;
	switch (opt) {
	case OPT_BACKEND:
		return take_text("--backend", arg, c->backend, sizeof(c->backend));
	case OPT_DEVICE:
		return take_text("--device", arg, c->device, sizeof(c->device));
	case OPT_SHAPE:
		return stress_config_shape(c, arg, &why) < 0
			       ? cmd_usage_error("stress", "%s", why.text)
			       : 0;
	case OPT_DTYPE:
		return take_dtype(arg, &c->dtype);
	case OPT_THREADS:
		return cmd_take_u32("stress", "--threads", arg, 1, 65536, &c->threads);
	case OPT_KERNEL:
		return take_text("--kernel", arg, c->kernel, sizeof(c->kernel));
	case OPT_COPIES:
		return cmd_take_u32("stress", "--copies", arg, 1, 65536, &c->copies);
	case OPT_HOT:
		c->copies = 1;
		return 0;
	case OPT_MODE:
		return take_mode(arg, &c->mode);
	case OPT_SEED:
		return cmd_take_number("stress", "--seed", arg, 0, UINT64_MAX, &c->seed);
	case OPT_SECONDS:
		return cmd_take_seconds("stress", "--seconds", arg, &o->duration_ns);
	case OPT_SAMPLES:
		return cmd_take_number("stress", "--samples", arg, 1, UINT64_MAX, &o->samples);
	case OPT_PACED:
		return cmd_take_time("stress", "--paced", arg, &c->paced_ns);
	case OPT_FILL:
		return cmd_take_fill("stress", "--fill", arg, &c->fill_permille, &c->fill_bytes);
	case OPT_SWEEP:
		o->sweep = true;
		o->shapes = arg;
		return 0;
	case OPT_INJECT:
		return take_inject(arg, &c->inject);
	case OPT_SCRIPT:
		return take_text("--script", arg, c->script, sizeof(c->script));
	case OPT_SPEED:
		return cmd_take_speed("stress", arg, &c->script_speed);
	case OPT_RECORD:
		o->record = arg;
		return take_label(arg);
	case OPT_STORE:
		o->store = arg;
		return 0;
	case OPT_KEEP:
		o->keep = true;
		return 0;
	case OPT_NO_CEILING:
		c->no_ceiling = true;
		return 0;
	case OPT_NO_TELEMETRY:
		c->no_telemetry = true;
		return 0;
	case OPT_TELEMETRY_TEST:
		c->telemetry_test = true;
		return 0;
	case OPT_WATCH_GAPS:
		c->watch_gaps = true;
		return 0;
	case OPT_MAX_TEMPERATURE:
		return cmd_take_u32("stress", "--max-temperature", arg, 30, 120, &c->max_celsius);
	case OPT_LOCK_CLOCKS:
		return cmd_take_u32("stress", "--lock-clocks", arg, 100, 10000, &c->lock_mhz);
	case OPT_UNLOCK_CLOCKS:
		o->unlock_clocks = true;
		return 0;
	case OPT_JSON:
		o->json = true;
		return 0;
	default:
		o->ascii = true;
		return 0;
	}
}

/* What one back end alone, or all but one, can follow. */
static int check_backend(const struct cmd_stress_options *o)
{
	const struct stress_config *c = &o->config;
	const bool script = !strcmp(c->backend, "script"), cpu = !strcmp(c->backend, "cpu");
	const bool cuda = !strcmp(c->backend, "cuda");
	const struct {
		const char *option;
		bool given, possible;
	} each[] = {
		{"--device", *c->device, !cpu && !script},
		{"--threads", c->threads, !cuda && !script},
		{"--kernel", *c->kernel, !script},
		{"--copies", c->copies, !script},
		{"--no-ceiling", c->no_ceiling, !script},
		{"--inject-fault", c->inject, !script},
		{"--mode", c->mode != STRESS_ISOLATED, !script},
		{"--max-temperature", c->max_celsius, !cpu && !script},
		{"--telemetry-test", c->telemetry_test, !cpu && !script},
		{"--watch-gaps", c->watch_gaps, !script},
		{"--fill", c->fill_permille || c->fill_bytes, !script},
		{"--sweep", o->sweep, !script},
	};
	for (size_t i = 0; i < ARRAY_LEN(each); i++) {
		if (each[i].given && !each[i].possible) {
			return cmd_usage_error("stress", "%s means nothing to the %s back end",
				each[i].option, c->backend);
		}
	}
	return 0;
}

/* What only a GPU can follow is not given to the CPU where there is none: cuda says what is
 * missing. */
static void choose_backend(struct cmd_stress_options *o)
{
	struct stress_config *c = &o->config;
	const struct {
		const char *option;
		bool given;
	} each[] = {
		{"--device", *c->device},
		{"--shape decode…", c->layers},
		{"--mode", c->mode != STRESS_ISOLATED},
		{"--max-temperature", c->max_celsius},
		{"--telemetry-test", c->telemetry_test},
	};
	for (size_t i = 0; i < ARRAY_LEN(each) && !o->cuda_for; i++) {
		o->cuda_for = each[i].given ? each[i].option : NULL;
	}
	if (strcmp(c->backend, "auto") != 0) {
		o->cuda_for = NULL; /* it was chosen */
	} else if (o->cuda_for) {
		text_copy(c->backend, sizeof(c->backend), "cuda");
	}
}

/* What is launched together, and what only goes one by one. */
static int check_mode(const struct cmd_stress_options *o)
{
	const struct stress_config *c = &o->config;
	if ((c->fill_permille || c->fill_bytes) && (c->layers || c->mode != STRESS_ISOLATED)) {
		return cmd_usage_error("stress", "--fill is for isolated launches of one GEMM");
	}
	if (c->inject && (c->layers || c->mode != STRESS_ISOLATED)) {
		return cmd_usage_error(
			"stress", "--inject-fault is for isolated launches of one GEMM");
	}
	/* It happens a second after the start, and all weights are looked at in eight. */
	const unsigned least_s = c->inject == STRESS_INJECT_WEIGHT ? 10 : 2;
	if (c->inject && o->duration_ns && o->duration_ns < least_s * (uint64_t)1000000000u) {
		return cmd_usage_error("stress",
			"--inject-fault %s needs --seconds %u or more, or nothing is seen of it",
			least_s == 2 ? "output or delay" : "weight", least_s);
	}
	if (c->paced_ns && c->mode != STRESS_ISOLATED && !c->layers) {
		return cmd_usage_error("stress",
			"--paced is for isolated launches: a %s has many of them",
			c->mode == STRESS_GRAPH ? "graph" : "queue");
	}
	if (c->paced_ns && c->mode == STRESS_QUEUED) {
		return cmd_usage_error("stress", "--paced is for one token at a time");
	}
	return 0;
}

/* Every GPU of the machine: what is measured of one alone, or kept, is not for it. */
static int check_all(const struct cmd_stress_options *o)
{
	const struct stress_config *c = &o->config;
	if (strcmp(c->device, "all") != 0) {
		return 0;
	}
	if (o->record && strlen(o->record) > 63 - strlen("-alone")) {
		return cmd_usage_error("stress",
			"--record: with --device all a label has 57 bytes at most, '-alone' behind it");
	}
	if (o->samples || o->sweep || *c->script || c->lock_mhz || c->inject || c->fill_permille ||
		c->fill_bytes || c->watch_gaps || !strcmp(c->backend, "cpu")) {
		return cmd_usage_error("stress",
			"--device all is for cuda, and goes with --seconds, --shape, --dtype, --mode, "
			"--paced, --record and --json");
	}
	return 0;
}

/* What only makes sense together. */
static int check_together(struct cmd_stress_options *o, bool speed_given, bool shape_given)
{
	struct stress_config *c = &o->config;
	bool script = !strcmp(c->backend, "script");
	if (*c->script && !script) {
		if (strcmp(c->backend, "auto")) {
			return cmd_usage_error("stress",
				"--script belongs to the script back end, not to '%s'", c->backend);
		}
		text_copy(c->backend, sizeof(c->backend), "script");
		script = true;
	}
	if (script && !*c->script) {
		return cmd_usage_error("stress", "the script back end needs --script FILE");
	}
	if (speed_given && !script) {
		return cmd_usage_error("stress", "--speed belongs to the script back end");
	}
	if (check_backend(o)) {
		return EXIT_USAGE;
	}
	choose_backend(o);
	if (c->lock_mhz && !*c->device) {
		return cmd_usage_error("stress",
			"--lock-clocks needs --device BDF: which GPU's clocks are locked is said first");
	}
	if (c->no_telemetry && (c->telemetry_test || c->lock_mhz || c->max_celsius)) {
		return cmd_usage_error("stress",
			"--no-telemetry does not go with --telemetry-test, --lock-clocks or "
			"--max-temperature");
	}
	const bool fill = c->fill_permille || c->fill_bytes;
	if (fill && c->copies) {
		return cmd_usage_error("stress", "--fill decides how many copies there are");
	}
	if (o->sweep && shape_given) {
		return cmd_usage_error("stress", "--sweep takes its shapes itself: --sweep=LIST");
	}
	if (o->sweep || fill) {
		/* What may bring the machine down is in the store before it happens. */
		o->record = o->record ? o->record : o->sweep ? "sweep" : "fill";
		o->ramp = true;
		c->load_percent = cmd_ramp_first();
	}
	if (o->sweep && !o->duration_ns && !o->samples) {
		o->duration_ns = 2 * (uint64_t)1000000000u;
	}
	if (check_mode(o) || check_all(o)) {
		return EXIT_USAGE;
	}
	if (o->keep && !o->record) {
		return cmd_usage_error("stress", "--keep-samples belongs to --record LABEL");
	}
	if (!o->duration_ns && !o->samples && !script) {
		o->duration_ns = 10 * (uint64_t)1000000000u;
	}
	return 0;
}

bool cmd_stress_parse(int argc, char **argv, struct cmd_stress_options *ret, int *status)
{
	struct cmd_stress_options o = {0};
	bool speed_given = false, shape_given = false, copies_given = false, hot_given = false;
	bool given[ARRAY_LEN(options)] = {false};
	const char *value;
	stress_config_init(&o.config);
	optind = 0;
	for (int opt; (opt = cmd_args_next("stress", argc, argv, options, given, &value)) != 0;) {
		if (opt < 0) {
			*status = EXIT_USAGE;
			return false;
		}
		if (opt == CMD_ARGS_PLAIN) {
			*status = cmd_usage_error("stress", "'%s' is not expected here", value);
			return false;
		}
		if (opt == OPT_HELP) {
			*status = cmd_print(help);
			return false;
		}
		speed_given |= opt == OPT_SPEED;
		shape_given |= opt == OPT_SHAPE;
		copies_given |= opt == OPT_COPIES;
		hot_given |= opt == OPT_HOT;
		*status = take_option(&o, opt, value);
		if (*status) {
			return false;
		}
	}
	if (hot_given && copies_given) {
		*status = cmd_usage_error("stress", "--hot is one copy: give it or --copies");
		return false;
	}
	*status = check_together(&o, speed_given, shape_given);
	if (*status) {
		return false;
	}
	*ret = o;
	return true;
}
