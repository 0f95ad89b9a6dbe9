/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * JSON values: a thin face over jansson, so that no other file knows it. The prefix is js_,
 * since json_ is jansson's own.
 * A value put into an object or array belongs to it; the root is freed by its
 * owner. Members keep the order in which they were set. Any thread, one at a time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/why.h"

struct js;

struct js *js_object(void);
struct js *js_array(void);
void js_free(struct js *j);

/* Members of an object. Text that is not UTF-8 has its bad bytes replaced by U+FFFD. */
void js_set(struct js *obj, const char *key, struct js *value);
void js_set_str(struct js *obj, const char *key, const char *s);
void js_set_strf(struct js *obj, const char *key, const char *fmt, ...) PRINTF(3, 4);
void js_set_bool(struct js *obj, const char *key, bool v);
void js_set_int(struct js *obj, const char *key, int64_t v);
/* Left out when V >= 2^63 (the contract's "dropped with a note"); returns false then. */
bool js_set_u64(struct js *obj, const char *key, uint64_t v);
/* Not finite: left out. */
void js_set_real(struct js *obj, const char *key, double v);
/* An address or register as "0x…", lower case. */
void js_set_hex(struct js *obj, const char *key, uint64_t v);
void js_set_null(struct js *obj, const char *key);

void js_push(struct js *arr, struct js *value);
void js_push_str(struct js *arr, const char *s);
void js_push_int(struct js *arr, int64_t v);

/* Indented by two, with a final newline. The caller frees it. */
char *js_text(const struct js *j);
/* On one line, without a newline. The caller frees it. */
char *js_text_compact(const struct js *j);

/* Reading. The getters return NULL, the default or 0 where the member is missing or of another
 * kind. */
int js_parse(const char *s, size_t len, struct js **ret, struct why *why);
const struct js *js_get(const struct js *obj, const char *key);
const char *js_get_str(const struct js *obj, const char *key);
int64_t js_get_int(const struct js *obj, const char *key, int64_t otherwise);
double js_get_real(const struct js *obj, const char *key, double otherwise);
bool js_get_bool(const struct js *obj, const char *key, bool otherwise);
size_t js_len(const struct js *arr);
const struct js *js_at(const struct js *arr, size_t i);
const char *js_str(const struct js *j);
bool js_int(const struct js *j, int64_t *ret);
/* Deep equality. */
bool js_equal(const struct js *a, const struct js *b);
/* The I-th member of an object, in its order; NULL past the end. */
const char *js_member(const struct js *obj, size_t i, const struct js **ret_value);
