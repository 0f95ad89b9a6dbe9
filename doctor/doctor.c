/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "doctor/doctor.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "doctor/line.h"

const char *doctor_group_name(enum doctor_group g)
{
	static const char *const names[DOCTOR_GROUPS] = {
		[DOCTOR_ENVIRONMENT] = "environment",
		[DOCTOR_DRIVER] = "driver",
		[DOCTOR_PCIE] = "BIOS and PCIe",
		[DOCTOR_CLOCKS] = "clocks and power",
		[DOCTOR_ALGORITHM] = "algorithm",
	};
	return names[g];
}

const char *doctor_result_name(enum doctor_result r)
{
	static const char *const names[] = {
		[DOCTOR_OK] = "ok",
		[DOCTOR_NOTE] = "note",
		[DOCTOR_UNSEEN] = "unseen",
		[DOCTOR_FAULT] = "fault",
	};
	return names[r];
}

/* Names of files and processes are other people's: no escape reaches a terminal. */
static char *only_printable(char *s)
{
	for (; *s && *s != '\n'; s++) {
		if ((unsigned char)*s < 0x20 || *s == 0x7f) {
			*s = '?';
		}
	}
	return s;
}

static void one_line(char *s)
{
	for (s = only_printable(s); *s; s = only_printable(s)) {
		*s = '?';
	}
}

struct doctor_line *doctor_add(struct doctor_report *r, enum doctor_group group,
	enum doctor_result result, const char *id, const char *tested, ...)
{
	r->line = xgrow(r->line, r->nline, &r->cap, sizeof(*r->line));
	struct doctor_line *l = &r->line[r->nline++];
	*l = (struct doctor_line){.group = group, .result = result};
	text_copy(l->id, sizeof(l->id), id);
	va_list ap;
	va_start(ap, tested);
	vsnprintf(l->tested, sizeof(l->tested), tested, ap);
	va_end(ap);
	one_line(l->tested);
	return l;
}

void doctor_evidence(struct doctor_line *l, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(l->evidence, sizeof(l->evidence), fmt, ap);
	va_end(ap);
	one_line(l->evidence);
}

void doctor_fix(struct doctor_line *l, const char *fmt, ...)
{
	size_t n = strlen(l->fix);
	if (n > 0 && n + 1 < sizeof(l->fix)) {
		l->fix[n++] = '\n';
	}
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(l->fix + n, sizeof(l->fix) - n, fmt, ap);
	va_end(ap);
	for (char *line = l->fix + n; *line; line += *line == '\n') {
		line = only_printable(line);
	}
}

char *doctor_shell_word(const char *s)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-+,=@%";
	struct text t = {0};
	if (s[0] && strspn(s, plain) == strlen(s)) {
		text_add(&t, s);
		return text_steal(&t);
	}
	text_add(&t, "'");
	for (; *s; s++) {
		if (*s == '\'') {
			text_add(&t, "'\\''");
		} else {
			text_addn(&t, s, 1);
		}
	}
	text_add(&t, "'");
	return text_steal(&t);
}

bool doctor_is_child(pid_t pid)
{
	char path[40], buf[512];
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if (file_read_at(AT_FDCWD, path, buf, sizeof(buf)) <= 0) {
		return false;
	}
	/* The name in brackets may hold anything. */
	const char *end = strrchr(buf, ')');
	int parent;
	return end && sscanf(end, ") %*c %d", &parent) == 1 && parent == getpid();
}

int doctor_read(const struct doctor_options *o, const char *path, char *buf, size_t size)
{
	struct text t = {0};
	text_addf(&t, "%s/%s", o->root ? o->root : "", path);
	_cleanup_free_ char *whole = text_steal(&t);
	return file_read_at(AT_FDCWD, whole, buf, size);
}

int doctor_run(const struct doctor_options *given, struct doctor_report **ret)
{
	struct doctor_report *r = xcalloc(1, sizeof(*r));
	struct doctor_options o = *given;
	_cleanup_free_ struct doctor_nvidia *nvidia = xcalloc(1, sizeof(*nvidia));

	if (o.shape.k == 0) {
		struct stress_config c;
		stress_config_init(&c);
		o.shape = c.shape;
	}
	doctor_environment(&o, r);
	doctor_driver(&o, r, nvidia);
	doctor_pcie(&o, r);
	doctor_clocks(&o, r, nvidia);
	doctor_algorithm(&o, r, &nvidia->gpu);
	*ret = r;
	return 0;
}

void doctor_report_destroy(struct doctor_report *r)
{
	if (r) {
		free(r->line);
		free(r);
	}
}

enum doctor_result doctor_worst(const struct doctor_report *r, const char *prefix)
{
	enum doctor_result worst = DOCTOR_OK;
	for (size_t i = 0; i < r->nline; i++) {
		if (strncmp(r->line[i].id, prefix, strlen(prefix)) == 0 &&
			r->line[i].result > worst) {
			worst = r->line[i].result;
		}
	}
	return worst;
}
