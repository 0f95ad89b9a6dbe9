/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/canvas.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "tui/svg.h"

static void expect_text(const struct tui_canvas *c, const char *want)
{
	_cleanup_free_ char *got = tui_canvas_text(c);
	assert_string_equal(got, want);
}

static void text_is_clipped_at_every_edge(void **state)
{
	(void)state;
	struct tui_canvas c;
	tui_canvas_init(&c, 6, 3, tui_glyphs(TUI_UTF8));
	struct tui_rect all = tui_canvas_rect(&c);
	tui_text(&c, all, -2, 0, TUI_TEXT, "abcdefghijkl");
	tui_text(&c, all, 0, -1, TUI_TEXT, "above");
	tui_text(&c, all, 0, 3, TUI_TEXT, "below");
	tui_text(&c, (struct tui_rect){2, 1, 3, 1}, 1, 0, TUI_TEXT, "xyz");
	/* A rectangle that hangs out of the canvas on both sides. */
	tui_fill(&c, (struct tui_rect){-5, 2, 100, 100}, TUI_TEXT, '#');
	expect_text(&c, "cdefgh\n   xy\n######\n");
	tui_canvas_finish(&c);
}

static void wide_characters_stay_whole(void **state)
{
	(void)state;
	struct tui_canvas c;
	tui_canvas_init(&c, 5, 4, tui_glyphs(TUI_UTF8));
	struct tui_rect all = tui_canvas_rect(&c);
	/* The third one needs columns 4 and 5: it is left out, not cut. */
	assert_int_equal(tui_text(&c, all, 0, 0, TUI_TEXT, "漢字漢"), 4);
	/* Overwriting either half frees the other. */
	tui_text(&c, all, 0, 1, TUI_TEXT, "漢字");
	tui_put(&c, all, 1, 1, TUI_TEXT, 'x');
	tui_put(&c, all, 2, 1, TUI_TEXT, 'y');
	/* A wide one over the halves of two others. */
	tui_text(&c, all, 0, 2, TUI_TEXT, "漢字");
	tui_text(&c, all, 1, 2, TUI_TEXT, "中");
	/* With an ellipsis. */
	assert_int_equal(tui_text_fit(&c, all, 0, 3, 4, TUI_TEXT, "漢字漢"), 3);
	expect_text(&c, "漢字\n xy\n 中\n漢…\n");
	for (size_t i = 0; i < 20; i++) {
		/* No right half without its left one. */
		assert_true(c.cell[i].ch != 0 || (i % 5 > 0 && c.cell[i - 1].ch > 0x2fff));
	}
	tui_canvas_finish(&c);
}

static void control_characters_do_not_pass(void **state)
{
	(void)state;
	struct tui_canvas c;
	tui_canvas_init(&c, 20, 1, tui_glyphs(TUI_UTF8));
	tui_text(&c, tui_canvas_rect(&c), 0, 0, TUI_TEXT, "a\033[2Jb\x9b\r\n\x7f");
	_cleanup_free_ char *got = tui_canvas_text(&c);
	for (const char *p = got; *p; p++) {
		assert_true((unsigned char)*p >= 0x20 || *p == '\n');
		assert_int_not_equal(*p, 0x7f);
	}
	tui_canvas_finish(&c);
}

static void ascii_has_only_seven_bits(void **state)
{
	(void)state;
	struct tui_canvas c;
	tui_canvas_init(&c, 40, 6, tui_glyphs(TUI_ASCII));
	struct tui_rect all = tui_canvas_rect(&c);
	tui_panel(&c, all, TUI_TITLE, "±5 %", "µs");
	tui_text(&c, all, 2, 2, TUI_TEXT, "21.5 µs ±3 % ≥ 漢 € …");
	_cleanup_free_ char *got = tui_canvas_text(&c);
	for (const char *p = got; *p; p++) {
		assert_in_range((unsigned char)*p, 1, 0x7e);
	}
	assert_non_null(strstr(got, "21.5 us +-3 % >= ? ? ..."));
	assert_int_equal(tui_text_width(&c, "±≥"), 4);
	tui_canvas_finish(&c);
}

static void words_wrap(void **state)
{
	(void)state;
	struct tui_canvas c;
	tui_canvas_init(&c, 10, 5, tui_glyphs(TUI_UTF8));
	const char *s = "one two three a-word-without-blanks x";
	int rows = tui_text_wrap(&c, tui_canvas_rect(&c), 0, TUI_TEXT, s);
	assert_int_equal(rows, tui_text_rows(&c, 10, s));
	expect_text(&c, "one two\nthree\na-word-wit\nhout-blank\ns x\n");
	/* Any width ends. */
	for (int w = 1; w < 40; w++) {
		assert_in_range(tui_text_rows(&c, w, s), 1, 40);
	}
	tui_canvas_finish(&c);
}

static void panels_have_titles_that_fit(void **state)
{
	(void)state;
	struct tui_canvas c;
	tui_canvas_init(&c, 24, 3, tui_glyphs(TUI_UTF8));
	struct tui_rect in =
		tui_panel(&c, tui_canvas_rect(&c), TUI_TITLE, "Devices", "a long remark");
	assert_int_equal(in.w, 22);
	assert_int_equal(in.h, 1);
	expect_text(&c, "╭─ Devices ── a long… ─╮\n"
			"│                      │\n"
			"╰──────────────────────╯\n");
	tui_canvas_finish(&c);
}

/* Every size down to nothing: only the sanitizers can object. */
static void no_size_is_too_small(void **state)
{
	(void)state;
	for (int w = 0; w < 12; w++) {
		for (int h = 0; h < 5; h++) {
			struct tui_canvas c;
			tui_canvas_init(&c, w, h, tui_glyphs(TUI_UTF8));
			struct tui_rect r = {0, 0, w, h};
			tui_panel(&c, r, TUI_TITLE, "title", "remark");
			tui_section(&c, r, TUI_TITLE, "title", "remark");
			tui_text_right(&c, r, 1, 0, TUI_TEXT, "right");
			tui_text_wrap(&c, r, 0, TUI_TEXT, "some words");
			tui_tint(&c, r, TUI_BG_BAR);
			assert_int_equal(c.w, MAX(w, 1));
			tui_canvas_finish(&c);
		}
	}
}

static void themes_never_speak_by_colour_alone(void **state)
{
	(void)state;
	/* Without colours every look is the terminal's own colour. */
	for (int i = 0; i < TUI_ROLES; i++) {
		assert_int_equal(tui_theme_look(TUI_MONO, (enum tui_role)i).fg, -1);
		assert_true(tui_theme_look(TUI_16, (enum tui_role)i).fg < 16);
	}
	/* The four lights differ in shape, in every set. */
	for (int i = TUI_ASCII; i <= TUI_UTF8; i++) {
		const struct tui_glyphs *g = tui_glyphs((enum tui_charset)i);
		const uint32_t light[] = {g->good, g->note, g->bad, g->unsure};
		for (size_t a = 0; a < 4; a++) {
			for (size_t b = a + 1; b < 4; b++) {
				assert_int_not_equal(light[a], light[b]);
			}
		}
	}
}

static void the_set_fits_the_terminal(void **state)
{
	(void)state;
	assert_int_equal(tui_charset_pick(false, true, "xterm-256color"), TUI_UTF8);
	assert_int_equal(tui_charset_pick(false, true, "linux"), TUI_BLOCKS);
	assert_int_equal(tui_charset_pick(false, false, "xterm-256color"), TUI_ASCII);
	assert_int_equal(tui_charset_pick(true, true, "xterm-256color"), TUI_ASCII);
	/* A set's own glyphs need no stand-in: they are drawn as they are. */
	const struct tui_glyphs *a = tui_glyphs(TUI_ASCII);
	const uint32_t *g = &a->hline;
	for (const uint32_t *p = g; p < a->eighth + 9; p++) {
		assert_in_range(*p, 0x20, 0x7e);
	}
}

/* Lines, blocks and braille are shapes, words stand where their cells do, whatever the font. */
static void pictures_need_no_font(void **state)
{
	(void)state;
	struct tui_canvas c;
	tui_canvas_init(&c, 20, 2, tui_glyphs(TUI_UTF8));
	struct tui_rect all = tui_canvas_rect(&c);
	tui_text(&c, all, 0, 0, TUI_TEXT, "a<b   two");
	tui_hline(&c, all, 0, 1, 3, TUI_TEXT, 0x2500);
	tui_put(&c, all, 4, 1, TUI_TEXT, 0x28ff);
	tui_put(&c, all, 5, 1, TUI_TEXT, 0x2592);
	_cleanup_free_ char *svg = tui_canvas_svg(&c);
	assert_non_null(strstr(svg, "<text x=\"10\" y=\"23\" textLength=\"24\""));
	assert_non_null(strstr(svg, ">a&lt;b</text>"));
	assert_non_null(strstr(svg, "<text x=\"58\" y=\"23\" textLength=\"24\""));
	assert_non_null(strstr(svg, "fill-opacity=\"0.50\""));
	for (const char *p = svg; *p; p++) {
		assert_in_range((unsigned char)*p, 1, 0x7e);
	}
	tui_canvas_finish(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_is_clipped_at_every_edge),
		cmocka_unit_test(wide_characters_stay_whole),
		cmocka_unit_test(control_characters_do_not_pass),
		cmocka_unit_test(ascii_has_only_seven_bits),
		cmocka_unit_test(words_wrap),
		cmocka_unit_test(panels_have_titles_that_fit),
		cmocka_unit_test(no_size_is_too_small),
		cmocka_unit_test(themes_never_speak_by_colour_alone),
		cmocka_unit_test(the_set_fits_the_terminal),
		cmocka_unit_test(pictures_need_no_font),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
