/* SPDX-License-Identifier: GPL-2.0-or-later */
/* struct js is json_t under another name: raw() and wrap() are the whole trick. */
#include "base/json.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/alloc.h"
#include "base/text.h"

static json_t *raw(const struct js *j)
{
	return (json_t *)(uintptr_t)j;
}

static struct js *wrap(json_t *j)
{
	if (!j) {
		abort(); /* out of memory: what goes in was made valid before */
	}
	return (struct js *)j;
}

static json_t *valid_string(const char *s)
{
	json_t *v = json_string(s);
	if (v) {
		return v;
	}

	struct text t = {0};
	size_t n = strlen(s);
	while (n > 0) {
		uint32_t ch;
		char buf[4];
		size_t used = text_utf8_decode(s, n, &ch);
		text_addn(&t, buf, text_utf8_encode(ch, buf));
		s += used;
		n -= used;
	}
	v = json_string(t.s ? t.s : "");
	text_finish(&t);
	return v;
}

struct js *js_object(void)
{
	return wrap(json_object());
}

struct js *js_array(void)
{
	return wrap(json_array());
}

void js_free(struct js *j)
{
	json_decref(raw(j));
}

void js_set(struct js *obj, const char *key, struct js *value)
{
	json_object_set_new(raw(obj), key, raw(value));
}

void js_set_str(struct js *obj, const char *key, const char *s)
{
	json_object_set_new(raw(obj), key, valid_string(s));
}

void js_set_strf(struct js *obj, const char *key, const char *fmt, ...)
{
	char *s = NULL;
	va_list ap;
	va_start(ap, fmt);
	int n = vasprintf(&s, fmt, ap);
	va_end(ap);
	if (n >= 0) {
		js_set_str(obj, key, s);
		free(s);
	}
}

void js_set_bool(struct js *obj, const char *key, bool v)
{
	json_object_set_new(raw(obj), key, json_boolean(v));
}

void js_set_int(struct js *obj, const char *key, int64_t v)
{
	json_object_set_new(raw(obj), key, json_integer(v));
}

bool js_set_u64(struct js *obj, const char *key, uint64_t v)
{
	if (v > INT64_MAX) {
		return false;
	}
	js_set_int(obj, key, (int64_t)v);
	return true;
}

void js_set_real(struct js *obj, const char *key, double v)
{
	if (isfinite(v)) {
		json_object_set_new(raw(obj), key, json_real(v));
	}
}

void js_set_hex(struct js *obj, const char *key, uint64_t v)
{
	js_set_strf(obj, key, "0x%" PRIx64, v);
}

void js_set_null(struct js *obj, const char *key)
{
	json_object_set_new(raw(obj), key, json_null());
}

void js_push(struct js *arr, struct js *value)
{
	json_array_append_new(raw(arr), raw(value));
}

void js_push_str(struct js *arr, const char *s)
{
	json_array_append_new(raw(arr), valid_string(s));
}

void js_push_int(struct js *arr, int64_t v)
{
	json_array_append_new(raw(arr), json_integer(v));
}

char *js_text(const struct js *j)
{
	char *s = json_dumps(raw(j), JSON_INDENT(2) | JSON_REAL_PRECISION(12) | JSON_ENCODE_ANY);
	if (!s) {
		abort();
	}
	struct text t = {0};
	text_add(&t, s);
	text_add(&t, "\n");
	free(s);
	return text_steal(&t);
}

char *js_text_compact(const struct js *j)
{
	char *s = json_dumps(raw(j), JSON_COMPACT | JSON_REAL_PRECISION(12) | JSON_ENCODE_ANY);
	if (!s) {
		abort();
	}
	return s;
}

int js_parse(const char *s, size_t len, struct js **ret, struct why *why)
{
	json_error_t e;
	json_t *j = json_loadb(s, len, JSON_REJECT_DUPLICATES, &e);
	if (!j) {
		why_set(why, "not valid JSON: line %d, column %d: %s", e.line, e.column, e.text);
		return -EBADMSG;
	}
	*ret = wrap(j);
	return 0;
}

const struct js *js_get(const struct js *obj, const char *key)
{
	return (const struct js *)json_object_get(raw(obj), key);
}

const char *js_get_str(const struct js *obj, const char *key)
{
	return json_string_value(raw(js_get(obj, key)));
}

int64_t js_get_int(const struct js *obj, const char *key, int64_t otherwise)
{
	int64_t v;
	return js_int(js_get(obj, key), &v) ? v : otherwise;
}

double js_get_real(const struct js *obj, const char *key, double otherwise)
{
	const json_t *v = raw(js_get(obj, key));
	return v && json_is_number(v) ? json_number_value(v) : otherwise;
}

bool js_get_bool(const struct js *obj, const char *key, bool otherwise)
{
	const json_t *v = raw(js_get(obj, key));
	return v && json_is_boolean(v) ? json_is_true(v) : otherwise;
}

size_t js_len(const struct js *arr)
{
	return json_array_size(raw(arr));
}

const struct js *js_at(const struct js *arr, size_t i)
{
	return (const struct js *)json_array_get(raw(arr), i);
}

const char *js_str(const struct js *j)
{
	return json_string_value(raw(j));
}

bool js_int(const struct js *j, int64_t *ret)
{
	if (!j || !json_is_integer(raw(j))) {
		return false;
	}
	*ret = json_integer_value(raw(j));
	return true;
}

bool js_equal(const struct js *a, const struct js *b)
{
	return json_equal(raw(a), raw(b));
}

const char *js_member(const struct js *obj, size_t i, const struct js **ret_value)
{
	void *it = json_object_iter(raw(obj));
	while (it && i-- > 0) {
		it = json_object_iter_next(raw(obj), it);
	}
	if (!it) {
		return NULL;
	}
	*ret_value = (const struct js *)json_object_iter_value(it);
	return json_object_iter_key(it);
}
