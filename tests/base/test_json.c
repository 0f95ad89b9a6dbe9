/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/json.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void members_keep_their_order_and_kind(void **state)
{
	(void)state;
	struct js *o = js_object();
	js_set_str(o, "z", "last is first");
	js_set_int(o, "a", -3);
	js_set_hex(o, "base", 0x100000000000);
	js_set_bool(o, "yes", true);
	js_set_null(o, "index");
	js_set_real(o, "nan", NAN);
	assert_true(js_set_u64(o, "fits", INT64_MAX));
	assert_false(js_set_u64(o, "dropped", (uint64_t)INT64_MAX + 1));
	char *s = js_text_compact(o);
	assert_string_equal(s,
		"{\"z\":\"last is first\",\"a\":-3,\"base\":\"0x100000000000\",\"yes\":true,"
		"\"index\":null,\"fits\":9223372036854775807}");
	free(s);
	js_free(o);
}

static void bad_bytes_are_replaced(void **state)
{
	(void)state;
	struct js *a = js_array();
	js_push_str(a, "ok \xff\xe2\x82 end");
	char *s = js_text_compact(a);
	assert_string_equal(s, "[\"ok \xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd end\"]");
	free(s);
	js_free(a);
}

static void what_is_written_is_read(void **state)
{
	(void)state;
	static const char text[] = "{\"a\":{\"b\":[1,2.5,\"x\",null]},\"t\":true}";
	struct js *j;
	struct why why;
	assert_int_equal(js_parse(text, strlen(text), &j, &why), 0);
	const struct js *b = js_get(js_get(j, "a"), "b");
	assert_int_equal(js_len(b), 4);
	int64_t v;
	assert_true(js_int(js_at(b, 0), &v));
	assert_int_equal(v, 1);
	assert_false(js_int(js_at(b, 1), &v));
	assert_string_equal(js_str(js_at(b, 2)), "x");
	assert_null(js_str(js_at(b, 3)));
	assert_null(js_at(b, 4));
	assert_true(js_get_bool(j, "t", false));
	assert_int_equal(js_get_int(j, "missing", 7), 7);
	assert_null(js_get_str(j, "t"));
	const struct js *m;
	assert_string_equal(js_member(j, 1, &m), "t");
	assert_null(js_member(j, 2, &m));
	char *again = js_text_compact(j);
	assert_string_equal(again, text);
	free(again);
	js_free(j);
}

static void bad_input_has_one_sentence(void **state)
{
	(void)state;
	static const char *const bad[] = {"", "{", "[1,]", "{\"a\":1,\"a\":2}", "\"\xff\"", "nul"};
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct js *j = NULL;
		struct why why = {{0}};
		assert_int_equal(js_parse(bad[i], strlen(bad[i]), &j, &why), -EBADMSG);
		assert_null(j);
		assert_true(strlen(why.text) > 0);
		assert_null(strchr(why.text, '\n'));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(members_keep_their_order_and_kind),
		cmocka_unit_test(bad_bytes_are_replaced),
		cmocka_unit_test(what_is_written_is_read),
		cmocka_unit_test(bad_input_has_one_sentence),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
