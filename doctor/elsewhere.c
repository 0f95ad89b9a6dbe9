/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether the folders are the same for root and for a service as for who asks: sudo resets the
 * environment (sudoers(5), env_reset), and a service manager never saw the shell's profile
 * (systemd.exec(5), "Environment variables in spawned processes"; environment.d(5)).
 */
#include <dirent.h>
#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "doctor/line.h"

static const char *const variables[] = {
	"XDG_DATA_HOME", "XDG_CACHE_HOME", "CUDA_CACHE_PATH", "TMPDIR", "BUILD_DIR"};

enum { CONF_MAX = 1 << 16 };

static bool is_set(const char *variable)
{
	const char *v = getenv(variable);
	return v && *v;
}

/* Does the file at PATH below the root hold a line "VARIABLE=…"? */
static bool file_sets(const struct doctor_options *o, const char *path, const char *variable)
{
	_cleanup_free_ char *buf = xmalloc(CONF_MAX);
	const size_t n = strlen(variable);
	if (doctor_read(o, path, buf, CONF_MAX) <= 0) {
		return false;
	}
	for (char *save, *line = strtok_r(buf, "\n", &save); line;
		line = strtok_r(NULL, "\n", &save)) {
		line += strspn(line, " \t");
		if (!strncmp(line, variable, n) && line[n] == '=') {
			return true;
		}
	}
	return false;
}

static bool folder_sets(const struct doctor_options *o, const char *path, const char *variable)
{
	struct text whole = {0};
	text_addf(&whole, "%s/%s", o->root ? o->root : "", path);
	_cleanup_free_ char *dir = text_steal(&whole);
	_cleanup_dir_ DIR *d = opendir(dir);
	struct dirent *e;
	bool found = false;
	while (d && !found && (e = readdir(d))) {
		struct text t = {0};
		text_addf(&t, "%s/%s", path, e->d_name);
		_cleanup_free_ char *file = text_steal(&t);
		found = file_sets(o, file, variable);
	}
	return found;
}

/* What a service of this user gets from files that its manager reads. */
static bool manager_knows(const struct doctor_options *o, const char *variable)
{
	const char *home = getenv("HOME");
	if (file_sets(o, "etc/environment", variable) ||
		folder_sets(o, "etc/environment.d", variable) ||
		folder_sets(o, "usr/lib/environment.d", variable)) {
		return true;
	}
	struct text t = {0};
	text_addf(&t, "%s/.config/environment.d", home ? home : "");
	_cleanup_free_ char *own = text_steal(&t);
	/* HOME is where the user says it is, also when the rest is looked at below a root. */
	return home && *home && folder_sets(&(struct doctor_options){0}, own, variable);
}

static void judge_service(const struct doctor_options *o, struct doctor_report *r)
{
	char unknown[96] = "";
	struct text fix = {0};
	for (size_t i = 0; i < ARRAY_LEN(variables); i++) {
		if (!is_set(variables[i]) || manager_knows(o, variables[i])) {
			continue;
		}
		size_t n = strlen(unknown);
		snprintf(unknown + n, sizeof(unknown) - n, "%s%s", n ? ", " : "", variables[i]);
		_cleanup_free_ char *word = doctor_shell_word(getenv(variables[i]));
		text_addf(&fix, "\necho %s=%s >>~/.config/environment.d/60-folders.conf",
			variables[i], word);
	}
	_cleanup_free_ char *commands = text_steal(&fix);
	char none[2];
	bool systemd = doctor_read(o, "run/systemd/system", none, sizeof(none)) == -EISDIR;
	if (!*unknown) {
		if (systemd) {
			struct doctor_line *l = doctor_add(r, DOCTOR_ENVIRONMENT, DOCTOR_OK,
				"env.service", "A service of this user finds the same folders");
			doctor_evidence(l, "a system service without User= has no HOME at all");
		}
		return;
	}
	struct doctor_line *l = doctor_add(r, DOCTOR_ENVIRONMENT, DOCTOR_NOTE, "env.service",
		systemd ? "A service would use other folders than this shell"
			: "Which folders a service would use cannot be known: no systemd here");
	doctor_evidence(l, "set here, and in no file that the service manager reads: %s", unknown);
	if (systemd) {
		doctor_fix(l, "mkdir -p ~/.config/environment.d%s", commands);
		doctor_fix(l, "systemctl --user daemon-reexec");
	}
}

static void judge_root(struct doctor_report *r)
{
	const struct passwd *pw = geteuid() ? getpwuid(0) : NULL;
	const char *home = getenv("HOME");
	if (!pw || !home || !*home) {
		return;
	}
	char of_root[128], dropped[96] = "", keep[128] = "HOME";
	text_copy(of_root, sizeof(of_root), pw->pw_dir);
	for (size_t i = 0; i < ARRAY_LEN(variables); i++) {
		if (is_set(variables[i])) {
			size_t n = strlen(dropped), k = strlen(keep);
			snprintf(dropped + n, sizeof(dropped) - n, ", %s dropped", variables[i]);
			snprintf(keep + k, sizeof(keep) - k, ",%s", variables[i]);
		}
	}
	struct doctor_line *l = doctor_add(r, DOCTOR_ENVIRONMENT, DOCTOR_NOTE, "env.root",
		"Under sudo the folders are root's: runs stored there are not found here");
	doctor_evidence(l,
		"HOME %s in place of %s%s, unless /etc/sudoers keeps them, which this user "
		"cannot read",
		of_root, home, dropped);
	doctor_fix(l, "sudo --preserve-env=%s barscope ...", keep);
}

void doctor_elsewhere(const struct doctor_options *o, struct doctor_report *r)
{
	judge_root(r);
	judge_service(o, r);
}
