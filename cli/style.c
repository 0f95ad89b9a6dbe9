/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/style.h"

#include <langinfo.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/macros.h"
#include "base/text.h"
#include "tui/terminal.h"

struct cmd_terminal cmd_terminal_here(void)
{
	const bool is_one = isatty(STDOUT_FILENO);
	return (struct cmd_terminal){
		.is_one = is_one,
		.colours = is_one ? tui_terminal_colours() : 0,
		.no_color = getenv("NO_COLOR"),
		.force = getenv("CLICOLOR_FORCE"),
		.colorterm = getenv("COLORTERM"),
	};
}

static bool is_set(const char *variable)
{
	return variable && *variable;
}

bool cmd_colours_in_text(const struct cmd_terminal *t)
{
	if (is_set(t->no_color)) {
		return false;
	}
	if (is_set(t->force) && strcmp(t->force, "0") != 0) {
		return true;
	}
	return t->is_one && (t->colours >= 8 || (t->colours < 0 && is_set(t->colorterm)));
}

enum tui_colours cmd_colours_of_screen(const struct cmd_terminal *t)
{
	if (is_set(t->no_color)) {
		return TUI_MONO;
	}
	return t->colours >= 256 ? TUI_256 : t->colours >= 8 ? TUI_16 : TUI_MONO;
}

struct cmd_style cmd_style_detect(bool ascii)
{
	const struct cmd_terminal here = cmd_terminal_here();
	return (struct cmd_style){
		.colour = cmd_colours_in_text(&here),
		.utf8 = !ascii && !strcmp(nl_langinfo(CODESET), "UTF-8"),
	};
}

char *cmd_ascii(const char *s)
{
	static const struct {
		const char *fancy, *plain;
	} pairs[] = {
		{"µ", "u"},
		{"μ", "u"}, /* the Greek letter */
		{" °C", " C"},
		{"m°C", "mC"},
		{"°", ""},
		{"±", "+-"},
		{"−", "-"},
		{"–", "-"},
		{"—", "-"},
		{"’", "'"},
		{"·", "-"},
		{"…", "..."},
		{"→", "->"},
		{"≥", ">="},
		{"×", "x"},
		{"Σ", "sum"},
		{"✓ ", "ok"},
		{"✗ ", "!!"},
	};
	struct text t = {0};

	while (*s) {
		size_t i = 0;

		while (i < ARRAY_LEN(pairs) &&
			strncmp(s, pairs[i].fancy, strlen(pairs[i].fancy)) != 0) {
			i++;
		}
		if (i < ARRAY_LEN(pairs)) {
			text_add(&t, pairs[i].plain);
			s += strlen(pairs[i].fancy);
		} else if ((unsigned char)*s < 0x80) {
			text_addn(&t, s++, 1);
		} else {
			uint32_t ch;

			text_add(&t, "?");
			s += text_utf8_decode(s, strlen(s), &ch);
		}
	}
	return text_steal(&t);
}

const char *cmd_colour(struct cmd_style style, enum cmd_colour c)
{
	static const char *const sequence[] = {
		"\033[0m", "\033[1m", "\033[2m", "\033[32m", "\033[33m", "\033[31m"};
	return style.colour && (size_t)c < ARRAY_LEN(sequence) ? sequence[c] : "";
}

char *cmd_style_plain(struct cmd_style style, char *s)
{
	if (style.utf8) {
		return s;
	}
	char *plain = cmd_ascii(s);
	free(s);
	return plain;
}
