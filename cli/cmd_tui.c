/* SPDX-License-Identifier: GPL-2.0-or-later */
/* "barscope" without a command: the screen. */
#include <errno.h>
#include <getopt.h>
#include <langinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/macros.h"
#include "base/text.h"
#include "cli/args.h"
#include "cli/cmd.h"
#include "cli/number.h"
#include "cli/style.h"
#include "stress/backend.h"
#include "stress/script.h"
#include "tui/loop.h"
#include "tui/picture.h"

const char cmd_tui_options[] =
	"\nOptions of the screen:\n"
	"  --demo             a scripted machine and scripted latencies, marked as such\n"
	"  --start            start the stress at once, whoever else uses the device\n"
	"  --no-start         wait for the key\n"
	"  --backend B        cuda, cpu or script; default: the best there is\n"
	"  --shape MxKxN      default 1x4096x11008; decode7b: a token's chain, as for stress\n"
	"  --threads N        CPU threads; default: cores - 1\n"
	"  --script FILE      what the script back end plays\n"
	"  --speed N|max      how fast it plays; default 1\n"
	"  --machine SOURCE   show this machine in place of the live one\n"
	"  --store FILE       where baselines and runs are kept\n"
	"  --fps N            frames a second at most, 1 to 60; default 20\n"
	"  --ascii            plain characters only\n"
	"  --mouse            take the mouse too\n"
	"  --picture SECONDS  no terminal: run so long, then print the screen\n"
	"    --size WxH       its size; default 120x40\n"
	"    --keys KEYS      pressed once the machine was read\n"
	"    --svg            as a picture, not as text\n";

enum {
	OPT_DEMO = 256,
	OPT_START,
	OPT_NO_START,
	OPT_BACKEND,
	OPT_SHAPE,
	OPT_THREADS,
	OPT_SCRIPT,
	OPT_SPEED,
	OPT_MACHINE,
	OPT_STORE,
	OPT_FPS,
	OPT_ASCII,
	OPT_MOUSE,
	OPT_PICTURE,
	OPT_SIZE,
	OPT_KEYS,
	OPT_SVG,
};

static const struct option options[] = {
	{"demo", no_argument, NULL, OPT_DEMO},
	{"start", no_argument, NULL, OPT_START},
	{"no-start", no_argument, NULL, OPT_NO_START},
	{"backend", required_argument, NULL, OPT_BACKEND},
	{"shape", required_argument, NULL, OPT_SHAPE},
	{"threads", required_argument, NULL, OPT_THREADS},
	{"script", required_argument, NULL, OPT_SCRIPT},
	{"speed", required_argument, NULL, OPT_SPEED},
	{"machine", required_argument, NULL, OPT_MACHINE},
	{"store", required_argument, NULL, OPT_STORE},
	{"fps", required_argument, NULL, OPT_FPS},
	{"ascii", no_argument, NULL, OPT_ASCII},
	{"mouse", no_argument, NULL, OPT_MOUSE},
	{"picture", required_argument, NULL, OPT_PICTURE},
	{"size", required_argument, NULL, OPT_SIZE},
	{"keys", required_argument, NULL, OPT_KEYS},
	{"svg", no_argument, NULL, OPT_SVG},
	{NULL, 0, NULL, 0},
};

static int parse_side(const char *s, int *ret)
{
	uint64_t n;
	if (text_parse_u64(s, 10, &n) < 0 || n < 1 || n > TUI_MAX_SIDE) {
		return -EINVAL;
	}
	*ret = (int)n;
	return 0;
}

static int parse_size(const char *s, struct tui_picture *p)
{
	char w[8];
	size_t n = strcspn(s, "x");
	if (s[n] == 'x' && n < sizeof(w)) {
		memcpy(w, s, n);
		w[n] = '\0';
		if (parse_side(w, &p->w) == 0 && parse_side(s + n + 1, &p->h) == 0) {
			return 0;
		}
	}
	return cmd_usage_error("", "--size takes columns x rows up to %dx%d, not '%s'",
		TUI_MAX_SIDE, TUI_MAX_SIDE, s);
}

static int take_picture_option(struct tui_picture *p, int opt, const char *arg)
{
	uint64_t n;
	switch (opt) {
	case OPT_PICTURE:
		if (cmd_take_number("", "--picture", arg, 1, 86400, &n)) {
			return EXIT_USAGE;
		}
		p->seconds = (unsigned)n;
		return 0;
	case OPT_SIZE:
		return parse_size(arg, p);
	case OPT_KEYS:
		p->keys = arg;
		return 0;
	default:
		p->svg = true;
		return 0;
	}
}

static int take_picture(const struct tui_options *o, const struct tui_picture *p)
{
	struct why why;
	_cleanup_free_ char *text = NULL;
	bool utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8") || p->svg;
	int r = tui_picture_take(o, p, utf8, &text, &why);
	int printed = text ? cmd_print(text) : 0;
	if (r < 0) {
		return cmd_fail(EXIT_USAGE, "%s", why.text);
	}
	return printed;
}

/* What is wrong in itself is said before a screen opens. */
static int check_script(struct stress_config *c)
{
	enum { SCRIPT_BYTES = 64 << 20 };
	_cleanup_free_ char *text = NULL;
	struct stress_script s = {0};
	struct why why;
	size_t len;
	if (*c->script && (!*c->backend || !strcmp(c->backend, "auto"))) {
		text_copy(c->backend, sizeof(c->backend), "script");
	}
	if (strcmp(c->backend, "script") != 0) {
		return *c->script ? cmd_usage_error("",
					    "--script belongs to the script back end, not to '%s'",
					    c->backend)
				  : 0;
	}
	if (!*c->script) {
		return cmd_usage_error("", "the script back end needs --script FILE");
	}
	if (file_read_all(c->script, SCRIPT_BYTES, &text, &len, &why) < 0 ||
		stress_script_parse(text, len, &s, &why) < 0) {
		return cmd_fail(EXIT_USAGE, "%s", why.text);
	}
	stress_script_finish(&s);
	return 0;
}

static int check(struct tui_options *o, bool start_and_not)
{
	if (start_and_not) {
		return cmd_usage_error("", "--start and --no-start contradict each other");
	}
	if (*o->config.backend && strcmp(o->config.backend, "auto") != 0 &&
		!stress_backend_find(o->config.backend)) {
		return cmd_usage_error("", "there is no back end '%s'", o->config.backend);
	}
	return check_script(&o->config);
}

static int take_option(struct tui_options *o, int opt, const char *arg)
{
	struct why why;
	uint64_t n;
	switch (opt) {
	case OPT_DEMO:
		o->demo = true;
		return 0;
	case OPT_STORE:
		o->store = arg;
		return 0;
	case OPT_START:
		o->start = TUI_START_NOW;
		return 0;
	case OPT_NO_START:
		o->start = TUI_START_NEVER;
		return 0;
	case OPT_BACKEND:
		if (strlen(arg) >= sizeof(o->config.backend)) {
			return cmd_usage_error("", "'%s' is not a back end", arg);
		}
		text_copy(o->config.backend, sizeof(o->config.backend), arg);
		return 0;
	case OPT_SHAPE:
		if (stress_config_shape(&o->config, arg, &why) < 0) {
			return cmd_usage_error("", "--shape: %s", why.text);
		}
		return 0;
	case OPT_THREADS:
		if (cmd_take_number("", "--threads", arg, 1, 1024, &n)) {
			return EXIT_USAGE;
		}
		o->config.threads = (uint32_t)n;
		return 0;
	case OPT_SCRIPT:
		if (strlen(arg) >= sizeof(o->config.script)) {
			return cmd_usage_error("", "the script's path is too long");
		}
		text_copy(o->config.script, sizeof(o->config.script), arg);
		return 0;
	case OPT_SPEED:
		return cmd_take_speed("", arg, &o->config.script_speed);
	case OPT_MACHINE:
		o->source = arg;
		return 0;
	case OPT_FPS:
		if (cmd_take_number("", "--fps", arg, 1, 60, &n)) {
			return EXIT_USAGE;
		}
		o->fps = (unsigned)n;
		return 0;
	case OPT_ASCII:
		o->ascii = true;
		return 0;
	default:
		o->mouse = true;
		return 0;
	}
}

/* The screen was left for a study: its next boot, with its progress on the plain terminal. */
static int measure(const struct tui_left *left, const char *store)
{
	const char side[] = {left->side, '\0'};
	const char *argv[8] = {"study", "run", left->study};
	int argc = 3;
	if (*side) {
		argv[argc++] = "--side";
		argv[argc++] = side;
	}
	fprintf(stderr, "barscope study run %s%s%s\n", left->study, *side ? " --side " : "", side);
	if (store) {
		argv[argc++] = "--store";
		argv[argc++] = store;
	}
	return cmd_study(argc, (char **)(uintptr_t)argv);
}

int cmd_tui(int argc, char **argv)
{
	const struct cmd_terminal here = cmd_terminal_here();
	struct tui_options o = {.fps = 20, .colours = cmd_colours_of_screen(&here)};
	struct tui_picture p = {.w = 120, .h = 40};
	stress_config_init(&o.config);
	bool start = false, not_start = false;
	bool given[ARRAY_LEN(options)] = {false};
	const char *value;
	optind = 0;
	for (int opt; (opt = cmd_args_next("", argc, argv, options, given, &value)) != 0;) {
		if (opt < 0) {
			return EXIT_USAGE;
		}
		if (opt == CMD_ARGS_PLAIN) {
			return cmd_usage_error("", "'%s' is not a command", value);
		}
		start |= opt == OPT_START;
		not_start |= opt == OPT_NO_START;
		int r = opt >= OPT_PICTURE ? take_picture_option(&p, opt, value)
					   : take_option(&o, opt, value);
		if (r) {
			return r;
		}
	}
	int wrong = check(&o, start && not_start);
	if (wrong) {
		return wrong;
	}
	if (p.seconds) {
		return take_picture(&o, &p);
	}
	struct why why;
	struct tui_left left;
	int r = tui_run(&o, &left, &why);
	if (r < 0) {
		return cmd_fail(EXIT_USAGE, "%s", why.text);
	}
	return *left.study ? measure(&left, o.store) : r;
}
