/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/macros.h"
#include "base/sort.h"
#include "base/text.h"
#include "cli/cmd.h"
#include "cli/number.h"
#include "cli/store_args.h"
#include "cli/tune.h"
#include "runs/choices.h"
#include "runs/session.h"
#include "runs/side.h"

static const char help[] =
	"usage: barscope tune [OPTIONS]\n\n"
	"How fast every way to multiply this shape is on the GPU: own kernels, cuBLASLt's candidates\n"
	"(where it is installed) and read-only loops over the same weights. In CUDA graphs, weights\n"
	"cold (rotating copies), all interleaved; each is checked against FP64. The fastest own kernel\n"
	"and cuBLASLt's fastest algorithm are kept in $XDG_CACHE_HOME/barscope/choices.json; stress\n"
	"takes the kernel from there.\n\n" CMD_TUNE_HELP
	"  --rounds N       graphs of each, default 40\n"
	"  --copies N       rotating copies of the weights; default: 5 times L2, and one. 1: hot\n"
	"  --cublaslt FILE  this libcublasLt instead of the one the system finds\n"
	"  --backend B      cuda or cpu: there OpenBLAS and oneDNN stand beside; default cuda\n"
	"  --threads N      cpu: default cores - 1\n"
	"  --fresh          do not try cuBLASLt's algorithm of an earlier search\n"
	"  --ladder         the steps from a plain kernel to the floor, with what each gains; the last\n"
	"                   two are recorded runs of this GPU and shape:\n"
	"  --before LABEL   default before\n"
	"  --after LABEL    default after\n"
	"  --misaligned     what rows at other places than multiples of 16 bytes cost\n"
	"  --store FILE     another store than $XDG_DATA_HOME/barscope/barscope.db\n"
	"  --json           for programs (schema barscope.tune/1)\n\n"
	"Exit status: 0 done, 1 a kernel computes wrong, 3 usage or failure, 4 no GPU.\n";

static int by_time(const void *a, const void *b)
{
	const struct stress_tune_row *x = a, *y = b;
	const double dx = x->measured ? x->p50_ns : 1e18, dy = y->measured ? y->p50_ns : 1e18;

	return dx < dy ? -1 : dx > dy;
}

/* -- what is kept ------------------------------------------------------------------------- */

/* The winners into the cache; a file that cannot be written is a note, no failure. */
static void keep(const char *path, struct runs_choices *choices, const struct cmd_tune_result *r)
{
	const struct stress_tune_row *own = cmd_tune_own(r), *library = cmd_tune_library(r);
	struct why why;

	if (own) {
		struct stress_choice c = r->facts.key;

		text_copy(c.kernel, sizeof(c.kernel), own->name);
		c.p50_ns = (uint64_t)own->p50_ns;
		c.date = time(NULL);
		runs_choices_put(choices, &c);
	}
	if (library && *r->facts.library) {
		struct stress_library_choice c = r->facts.library_key;

		memcpy(c.algo, library->algo, sizeof(c.algo));
		c.p50_ns = (uint64_t)library->p50_ns;
		c.date = time(NULL);
		runs_choices_put_library(choices, &c);
	}
	if ((own || library) && runs_choices_save(path, choices, &why) < 0) {
		fprintf(stderr, "barscope: %s\n", why.text);
	}
}

/* The newest run under LABEL of the same device, shape and type. */
static void find_stored(const char *store_path, const char *label, const struct cmd_tune_result *r,
	const struct stress_config *c, struct cmd_tune_stored *ret)
{
	struct runs_store *store = NULL;
	struct runs_side side = {0};
	char boot[RUNS_BOOT_ID_MAX], shape[STRESS_SHAPE_MAX];
	struct why why;

	*ret = (struct cmd_tune_stored){0};
	text_copy(ret->label, sizeof(ret->label), label);
	snprintf(ret->why, sizeof(ret->why),
		"no run '%.40s' of this GPU and shape: barscope stress --record", label);
	if (cmd_store_open(store_path, RUNS_STORE_READ, &store, boot, &why) < 0) {
		return;
	}
	stress_shape_name(c, shape);
	const int r2 = runs_side_open(store, label, boot, &side, &why);

	for (size_t i = 0; r2 == 0 && i < side.n; i++) {
		const struct runs_member *m = &side.run[i];
		const struct runs_description *d = &m->layer[STRESS_GEMM][RUNS_DEVICE];

		if (!d->n || strcmp(m->info.device, r->facts.device) != 0 ||
			strcmp(m->info.shape, shape) != 0 ||
			strcmp(m->info.dtype, runs_dtype_name(c->dtype)) != 0) {
			continue;
		}
		ret->n++;
		ret->run = m->info.id;
		ret->p50_ns = (double)d->p50;
		ret->band = d->band;
	}
	runs_side_finish(&side);
	runs_store_close(store);
}

/* -- the command --------------------------------------------------------------------------- */

struct command {
	struct stress_tune_options o;
	struct cmd_tune_args a;
	const char *before, *after, *store, *backend, *threads, *rounds, *copies;
	bool ladder, fresh;
};

/* What goes together; 0, or EXIT_USAGE after a sentence. */
static int check(struct command *c)
{
	struct stress_config *config = &c->o.config;

	c->o.rounds = 40;

	if (strcmp(c->backend, "cpu") && strcmp(c->backend, "cuda")) {
		return cmd_usage_error(
			"tune", "--backend takes cuda or cpu, not '%.40s'", c->backend);
	}
	c->o.cpu = !strcmp(c->backend, "cpu");
	if (c->o.cpu && (c->ladder || c->o.library || *config->kernel || *config->device)) {
		return cmd_usage_error("tune",
			"--backend cpu goes with --shape, --dtype, --threads, --rounds, --copies, "
			"--misaligned and --json");
	}
	if (!c->o.cpu && c->threads) {
		return cmd_usage_error("tune", "--threads belongs to --backend cpu");
	}
	if (c->o.misaligned && (c->ladder || *config->kernel)) {
		return cmd_usage_error(
			"tune", "--misaligned does not go with --ladder or --kernel");
	}
	const bool refused = (c->threads && cmd_take_u32("tune", "--threads", c->threads, 1, 65536,
						    &config->threads)) ||
			     (c->rounds && cmd_take_u32("tune", "--rounds", c->rounds, 3, 10000,
						   &c->o.rounds)) ||
			     (c->copies && cmd_take_u32("tune", "--copies", c->copies, 1, 4096,
						   &config->copies));

	return refused ? EXIT_USAGE : 0;
}

/* False: the command ends with *STATUS. */
static bool parse(int argc, char **argv, struct command *c, int *status)
{
	const struct cmd_option options[] = {
		{"shape", NULL, &c->a.shape, 0},
		{"dtype", NULL, &c->a.dtype, 0},
		{"device", NULL, &c->a.device, 0},
		{"kernel", NULL, &c->a.kernel, 0},
		{"rounds", NULL, &c->rounds, 0},
		{"copies", NULL, &c->copies, 0},
		{"cublaslt", NULL, &c->o.library, 0},
		{"ladder", &c->ladder, NULL, 0},
		{"backend", NULL, &c->backend, 0},
		{"threads", NULL, &c->threads, 0},
		{"misaligned", &c->o.misaligned, NULL, 0},
		{"before", NULL, &c->before, 0},
		{"after", NULL, &c->after, 0},
		{"store", NULL, &c->store, 0},
		{"fresh", &c->fresh, NULL, 0},
		{"json", &c->a.json, NULL, 0},
	};
	const char *none[1];
	size_t nnone;

	if (!cmd_args_parse(
		    argc, argv, options, ARRAY_LEN(options), help, 0, 0, none, &nnone, status) ||
		!cmd_tune_config("tune", &c->a, &c->o.config, status)) {
		return false;
	}
	*status = check(c);
	return *status == 0;
}

/* Between what was found earlier and what is kept of this. */
static int search(struct command *c, struct cmd_tune_result *r)
{
	_cleanup_free_ char *path = NULL;
	struct runs_choices choices = {0};
	struct why note;

	if (runs_choices_path(&path) == 0 && runs_choices_load(path, &choices, &note) < 0) {
		fprintf(stderr, "barscope: %s\n", note.text);
	}
	c->o.cached = c->fresh ? NULL : choices.library;
	c->o.cached_n = c->fresh ? 0 : choices.library_n;
	const int status = cmd_tune_run("tune", &c->o, r);

	/* One kernel alone is no search. */
	if (!status && path && !*c->o.config.kernel && !c->o.misaligned && !c->o.cpu) {
		keep(path, &choices, r);
	}
	runs_choices_finish(&choices);
	return status;
}

static char *render(const struct command *c, const struct cmd_tune_result *r)
{
	const struct stress_config *config = &c->o.config;
	struct cmd_tune_stored stored[2];
	struct text out = {0};

	if (c->a.json) {
		return cmd_tune_json(r, config);
	}
	if (c->o.misaligned) {
		cmd_tune_print_misaligned(&out, r, config);
	} else if (c->o.cpu) {
		cmd_tune_print_cpu(&out, r, config);
	} else {
		if (c->ladder) {
			find_stored(c->store, c->before, r, config, &stored[0]);
			find_stored(c->store, c->after, r, config, &stored[1]);
		}
		cmd_tune_print(&out, r, config, c->ladder ? stored : NULL);
	}
	return text_steal(&out);
}

int cmd_tune(int argc, char **argv)
{
	struct command c = {
		.o = {.check_terms = (uint64_t)1 << 21},
		.before = "before",
		.after = "after",
		.backend = "cuda",
	};
	static struct cmd_tune_result r; /* tens of KiB */
	int status;

	if (!parse(argc, argv, &c, &status)) {
		return status;
	}
	status = search(&c, &r);
	if (status) {
		return status;
	}
	if (!c.o.misaligned) {
		sort_array(r.row, r.n, sizeof(r.row[0]), by_time);
	}
	_cleanup_free_ char *s = render(&c, &r);

	status = cmd_print(s);
	for (size_t i = 0; i < r.n; i++) {
		if (r.row[i].kind == STRESS_TUNE_OWN && !r.row[i].wrong &&
			!cmd_tune_is_right(&r.row[i])) {
			return EXIT_FINDING;
		}
	}
	return status;
}
