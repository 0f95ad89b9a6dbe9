/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "runs/choices.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/json.h"
#include "base/macros.h"
#include "base/text.h"

enum { FILE_MAX = 4 << 20, ENTRIES_MAX = 4096 };

static const char schema[] = "barscope.choices/1";

int runs_choices_path(char **ret)
{
	_cleanup_free_ char *dir = NULL;
	struct text t = {0};
	const int r = file_cache_dir(&dir);

	if (r < 0) {
		return r;
	}
	text_addf(&t, "%s/choices.json", dir);
	*ret = text_steal(&t);
	return 0;
}

void runs_choices_finish(struct runs_choices *c)
{
	free(c->own);
	free(c->library);
	*c = (struct runs_choices){0};
}

void runs_choices_put(struct runs_choices *c, const struct stress_choice *own)
{
	for (size_t i = 0; i < c->own_n; i++) {
		if (stress_choice_fits(&c->own[i], own)) {
			c->own[i] = *own;
			return;
		}
	}
	c->own = xgrow(c->own, c->own_n, &c->own_cap, sizeof(*own));
	c->own[c->own_n++] = *own;
}

void runs_choices_put_library(struct runs_choices *c, const struct stress_library_choice *library)
{
	for (size_t i = 0; i < c->library_n; i++) {
		if (stress_library_choice_fits(&c->library[i], library)) {
			c->library[i] = *library;
			return;
		}
	}
	c->library = xgrow(c->library, c->library_n, &c->library_cap, sizeof(*library));
	c->library[c->library_n++] = *library;
}

/* -- the file ------------------------------------------------------------------------------ */

/* FNV-1a, 64 bits, over the entries as they are written. */
static uint64_t check_sum(const struct js *entries)
{
	_cleanup_free_ char *s = js_text_compact(entries);
	uint64_t h = 0xcbf29ce484222325u;

	for (const char *p = s; *p; p++) {
		h = (h ^ (unsigned char)*p) * 0x100000001b3u;
	}
	return h;
}

/* What both kinds have: for which device and shape, and what came of it. */
struct common {
	const char *kind;
	struct stress_choice_device device;
	uint32_t m, k, n;
	bool f32;
	uint64_t p50_ns;
	int64_t date;
};

static struct js *common_json(const struct common *c)
{
	struct js *j = js_object();

	js_set_str(j, "kind", c->kind);
	js_set_str(j, "device", c->device.name);
	js_set_int(j, "cc", c->device.cc);
	js_set_int(j, "sms", c->device.sms);
	js_set_int(j, "driver", c->device.driver);
	js_set_int(j, "m", c->m);
	js_set_int(j, "k", c->k);
	js_set_int(j, "n", c->n);
	js_set_bool(j, "f32", c->f32);
	js_set_u64(j, "p50_ns", c->p50_ns);
	js_set_int(j, "date", c->date);
	return j;
}

static struct js *own_json(const struct stress_choice *c)
{
	struct js *j = common_json(
		&(struct common){"own", c->device, c->m, c->k, c->n, c->f32, c->p50_ns, c->date});

	js_set_hex(j, "build", c->build);
	js_set_bool(j, "hot", c->hot);
	js_set_str(j, "kernel", c->kernel);
	return j;
}

static struct js *library_json(const struct stress_library_choice *c)
{
	struct js *algo = js_array();
	struct js *j = common_json(&(struct common){
		"cublaslt", c->device, c->m, c->k, c->n, c->f32, c->p50_ns, c->date});

	js_set_u64(j, "version", c->version);
	js_set_str(j, "build_id", c->build_id);
	js_set_int(j, "ldx", c->ldx);
	js_set_int(j, "ldw", c->ldw);
	js_set_int(j, "ldy", c->ldy);
	js_set_bool(j, "bias", c->bias);
	js_set_int(j, "act", c->act);
	js_set_int(j, "align", c->align);
	js_set_int(j, "reductions", c->reductions);
	js_set_u64(j, "workspace", c->workspace);
	for (size_t i = 0; i < ARRAY_LEN(c->algo); i++) {
		char word[24];

		snprintf(word, sizeof(word), "%016llx", (unsigned long long)c->algo[i]);
		js_push_str(algo, word);
	}
	js_set(j, "algo", algo);
	return j;
}

int runs_choices_save(const char *path, const struct runs_choices *c, struct why *why)
{
	struct js *j = js_object(), *entries = js_array();
	_cleanup_free_ char *dir = xstrdup(path);
	char *slash = strrchr(dir, '/');

	for (size_t i = 0; i < c->own_n; i++) {
		js_push(entries, own_json(&c->own[i]));
	}
	for (size_t i = 0; i < c->library_n; i++) {
		js_push(entries, library_json(&c->library[i]));
	}
	js_set_str(j, "schema", schema);
	js_set_hex(j, "check", check_sum(entries));
	js_set(j, "entries", entries);
	_cleanup_free_ char *s = js_text(j);

	js_free(j);
	if (slash && slash != dir) {
		*slash = '\0';
		const int r = file_make_dirs(dir);

		if (r < 0) {
			why_set(why, "the cache folder %s cannot be made: %s", dir, strerror(-r));
			return r;
		}
	}
	return file_write_atomic(path, s, strlen(s), why);
}

/* A member that must be there, from 0 to MAX. */
static bool take_u32(const struct js *j, const char *key, uint32_t *ret)
{
	int64_t v;

	if (!js_int(js_get(j, key), &v) || v < 0 || v > UINT32_MAX) {
		return false;
	}
	*ret = (uint32_t)v;
	return true;
}

static bool take_u64(const struct js *j, const char *key, uint64_t *ret)
{
	int64_t v;

	if (!js_int(js_get(j, key), &v) || v < 0) {
		return false;
	}
	*ret = (uint64_t)v;
	return true;
}

static bool take_text(const struct js *j, const char *key, char *ret, size_t size)
{
	const char *s = js_get_str(j, key);

	if (!s || strlen(s) >= size) {
		return false;
	}
	text_copy(ret, size, s);
	return true;
}

static bool take_common(const struct js *j, struct common *ret)
{
	struct common c = {
		.kind = js_get_str(j, "kind"),
		.f32 = js_get_bool(j, "f32", false),
		.date = js_get_int(j, "date", 0),
	};
	struct stress_choice_device *d = &c.device;

	if (!c.kind || !take_text(j, "device", d->name, sizeof(d->name)) ||
		!take_u32(j, "cc", &d->cc) || !take_u32(j, "sms", &d->sms) ||
		!take_u32(j, "driver", &d->driver) || !take_u32(j, "m", &c.m) ||
		!take_u32(j, "k", &c.k) || !take_u32(j, "n", &c.n) ||
		!take_u64(j, "p50_ns", &c.p50_ns)) {
		return false;
	}
	*ret = c;
	return true;
}

static bool take_own(const struct js *j, const struct common *of, struct stress_choice *ret)
{
	struct stress_choice c = {
		.device = of->device,
		.m = of->m,
		.k = of->k,
		.n = of->n,
		.f32 = of->f32,
		.hot = js_get_bool(j, "hot", false),
		.p50_ns = of->p50_ns,
		.date = of->date,
	};
	const char *build = js_get_str(j, "build");

	if (!build || strncmp(build, "0x", 2) != 0 || text_parse_u64(build + 2, 16, &c.build) < 0 ||
		!take_text(j, "kernel", c.kernel, sizeof(c.kernel))) {
		return false;
	}
	*ret = c;
	return true;
}

static bool take_library(
	const struct js *j, const struct common *of, struct stress_library_choice *ret)
{
	struct stress_library_choice c = {
		.device = of->device,
		.m = of->m,
		.k = of->k,
		.n = of->n,
		.f32 = of->f32,
		.bias = js_get_bool(j, "bias", false),
		.p50_ns = of->p50_ns,
		.date = of->date,
	};
	const struct js *algo = js_get(j, "algo");

	if (!take_u64(j, "version", &c.version) ||
		!take_text(j, "build_id", c.build_id, sizeof(c.build_id)) ||
		!take_u32(j, "ldx", &c.ldx) || !take_u32(j, "ldw", &c.ldw) ||
		!take_u32(j, "ldy", &c.ldy) || !take_u32(j, "act", &c.act) ||
		!take_u32(j, "align", &c.align) || !take_u32(j, "reductions", &c.reductions) ||
		!take_u64(j, "workspace", &c.workspace) || js_len(algo) != ARRAY_LEN(c.algo)) {
		return false;
	}
	for (size_t i = 0; i < ARRAY_LEN(c.algo); i++) {
		const char *word = js_str(js_at(algo, i));

		if (!word || text_parse_u64(word, 16, &c.algo[i]) < 0) {
			return false;
		}
	}
	*ret = c;
	return true;
}

static int take_entries(const struct js *entries, struct runs_choices *ret)
{
	for (size_t i = 0; i < js_len(entries); i++) {
		const struct js *j = js_at(entries, i);
		struct stress_library_choice library;
		struct stress_choice own;
		struct common c;

		if (!take_common(j, &c)) {
			return -EBADMSG;
		}
		if (!strcmp(c.kind, "own") && take_own(j, &c, &own)) {
			runs_choices_put(ret, &own);
		} else if (!strcmp(c.kind, "cublaslt") && take_library(j, &c, &library)) {
			runs_choices_put_library(ret, &library);
		} else {
			return -EBADMSG;
		}
	}
	return 0;
}

static int parse(const char *s, size_t len, struct runs_choices *ret)
{
	struct js *j = NULL;
	struct why ignored;
	uint64_t want = 0;
	int r = -EBADMSG;

	if (js_parse(s, len, &j, &ignored) < 0) {
		return r;
	}
	const char *name = js_get_str(j, "schema"), *sum = js_get_str(j, "check");
	const struct js *entries = js_get(j, "entries");

	if (name && !strcmp(name, schema) && sum && !strncmp(sum, "0x", 2) &&
		text_parse_u64(sum + 2, 16, &want) == 0 && entries &&
		js_len(entries) <= ENTRIES_MAX && check_sum(entries) == want) {
		r = take_entries(entries, ret);
	}
	js_free(j);
	return r;
}

int runs_choices_load(const char *path, struct runs_choices *ret, struct why *note)
{
	_cleanup_free_ char *s = NULL;
	size_t len = 0;

	*ret = (struct runs_choices){0};
	note->text[0] = '\0';
	int r = file_read_all(path, FILE_MAX, &s, &len, note);

	if (r == -ENOENT || r == -ENOTDIR) {
		note->text[0] = '\0';
		return 0;
	}
	if (r == 0) {
		r = parse(s, len, ret);
		if (r < 0) {
			why_set(note,
				"%s is damaged or not barscope's: ignored; 'barscope tune' writes it "
				"anew",
				path);
		}
	}
	if (r < 0) {
		runs_choices_finish(ret);
	}
	return r;
}

/* -- for a run ----------------------------------------------------------------------------- */

/* Whether a choice's shape is one that C multiplies. */
static bool is_wanted(const struct stress_choice *c, const struct stress_config *config)
{
	const struct stress_shape *s = &config->shape;

	if (c->f32 != (config->dtype == STRESS_F32) || c->m != s->m) {
		return false;
	}
	if (!config->layers) {
		return c->k == s->k && c->n == s->n;
	}
	return (c->k == s->k && (c->n == 3 * s->k || c->n == s->k || c->n == s->n)) ||
	       (c->k == s->n && c->n == s->k);
}

void runs_choices_lend(const struct runs_choices *choices, struct stress_config *c)
{
	c->choices = 0;
	for (size_t i = choices->own_n; i-- > 0 && c->choices < STRESS_CHOICES;) {
		if (is_wanted(&choices->own[i], c)) {
			c->choice[c->choices++] = choices->own[i];
		}
	}
}

void runs_choices_lend_usual(struct stress_config *c, struct why *note)
{
	_cleanup_free_ char *path = NULL;
	struct runs_choices choices;

	note->text[0] = '\0';
	c->choices = 0;
	if (runs_choices_path(&path) < 0) {
		return;
	}
	runs_choices_load(path, &choices, note);
	runs_choices_lend(&choices, c);
	runs_choices_finish(&choices);
}
