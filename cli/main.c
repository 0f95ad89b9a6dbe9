/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <locale.h>
#include <stdint.h>
#include <string.h>

#include "base/text.h"
#include "cli/cmd.h"
#include "config.h"
#include "doctor/gpu.h"
#include "stress/worker.h"

static const struct cmd commands[] = {
	{"capture", "[-o FILE] [--with-log]", "the machine as a text record, to send or to keep",
		cmd_capture},
	{"check", "[SOURCE] [--gpu BDF] [--require LIST] [--explain] [--json]",
		"verdicts with evidence, worst first", cmd_check},
	{"compare", "A B [--json]", "two runs, labels or exported files", cmd_compare},
	{"diff", "A [B] [--json]", "what changed between two machines", cmd_diff},
	{"doctor", "[--symptom WORD] [--build-dir DIR] [--fix-script] [--json]",
		"environment, driver, BIOS and PCIe, clocks", cmd_doctor},
	{"plan", "[SOURCE] [--gpu BDF] [--size SIZE] [--without BDF] [--map] [--json]",
		"would a larger BAR fit, and what blocks it", cmd_plan},
	{"runs", "list|show|export|import|rm", "the store of recorded runs", cmd_runs},
	{"show", "[SOURCE] [--json] [--all]", "devices, BARs, Resizable BAR, windows, link",
		cmd_show},
	{"stress", "[--seconds N] [--shape MxKxN] [--record LABEL] [--json]",
		"a GEMM again and again without the screen, and how steady it is", cmd_stress},
	{"study", "new|run|status|report|unit NAME",
		"did that change do anything? boots before and after", cmd_study},
	{"tune", "[--shape MxKxN]", "how fast every GPU kernel is, and how near to the floor",
		cmd_tune},
	{"verify", "[--shape MxKxN]", "every GPU kernel against FP64", cmd_verify},
	{NULL, NULL, NULL, NULL},
};

static const struct cmd *find_command(const char *name)
{
	for (const struct cmd *c = commands; c->name; c++) {
		if (!strcmp(c->name, name)) {
			return c;
		}
	}
	return NULL;
}

static int not_a_command(const char *name)
{
	return cmd_fail(EXIT_USAGE, "'%s' is not a command; try 'barscope --help'", name);
}

static int print_help(void)
{
	struct text t = {0};
	text_add(&t, "barscope: what is in effect on this machine's PCIe BARs, and how steady a\n"
		     "memory-bound GEMM runs beside it.\n\n"
		     "usage: barscope [COMMAND] [ARGUMENTS]\n\n"
		     "Without a command the screen opens on the live machine.\n\n");
	for (const struct cmd *c = commands; c->name; c++) {
		text_addf(&t, "  %-9s %s\n", c->name, c->summary);
	}
	text_add(&t, cmd_tui_options);
	text_add(&t,
		"\n  --help, --version\n\n"
		"'barscope COMMAND --help' tells the arguments. Exit statuses: 0 fine, 1 a finding,\n"
		"2 undetermined, 3 usage or unreadable input, 4 no GPU.\n");
	int status = cmd_print(t.s);
	text_finish(&t);
	return status;
}

/* "help", "help COMMAND". */
static int help(int argc, char **argv)
{
	if (argc < 3) {
		return print_help();
	}
	const struct cmd *c = find_command(argv[2]);
	if (!c || argc > 3) {
		return not_a_command(argv[c ? 3 : 2]);
	}
	const char *of[] = {c->name, "--help", NULL};
	return c->run(2, (char **)(uintptr_t)of);
}

int main(int argc, char **argv)
{
	/* The front re-executes this program as the process that owns a device. */
	if (argc > 1 && !strcmp(argv[1], "--worker")) {
		return stress_worker_main(argc, argv);
	}
	if (argc > 1 && !strcmp(argv[1], "--doctor-gpu")) {
		return doctor_gpu_main(argc, argv);
	}
	setlocale(LC_CTYPE, "");

	if (argc < 2) {
		return cmd_tui(argc, argv);
	}
	if (!strcmp(argv[1], "help")) {
		return help(argc, argv);
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
		return print_help();
	}
	if (!strcmp(argv[1], "--version")) {
		return cmd_print("barscope " BARSCOPE_VERSION "\n");
	}
	if (argv[1][0] == '-') {
		return cmd_tui(argc, argv);
	}
	const struct cmd *c = find_command(argv[1]);
	return c ? c->run(argc - 1, argv + 1) : not_a_command(argv[1]);
}
