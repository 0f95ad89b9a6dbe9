/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The folders that builds, caches and the store live in, and what kind of system this is. */
#include <errno.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "doctor/line.h"
#include "doctor/place.h"

struct folder {
	const char *id;
	const char *variable;
	const char *below_home; /* the default, under HOME; NULL: none */
	const char *fallback;   /* the default else */
	bool need_exec, must_survive, must_exist;
	uint64_t need_bytes;
};

static const struct folder folders[] = {
	{"env.home", "HOME", NULL, NULL, false, false, true, 16 * MIB},
	{"env.tmpdir", "TMPDIR", NULL, "/tmp", true, false, true, 256 * MIB},
	{"env.build_dir", "BUILD_DIR", NULL, NULL, true, false, true, GIB},
	{"env.cache", "XDG_CACHE_HOME", ".cache", NULL, false, false, false, 64 * MIB},
	{"env.data", "XDG_DATA_HOME", ".local/share", NULL, false, true, false, 64 * MIB},
	/* The driver's JIT cache: CUDA_CACHE_PATH, ~/.nv/ComputeCache by default. */
	{"env.cuda_cache", "CUDA_CACHE_PATH", ".nv/ComputeCache", NULL, true, false, false,
		64 * MIB},
};

enum { NEED_INODES = 1000 };

/* The fault of this place as words, the first that explains most. */
static const char *fault_words(unsigned faults, const struct folder *f)
{
	static const struct {
		unsigned fault;
		const char *words;
	} names[] = {
		{PLACE_RELATIVE, "is not an absolute path"},
		{PLACE_NOT_A_FOLDER, "is not a folder"},
		{PLACE_READ_ONLY, "is on a read-only file system"},
		{PLACE_FULL, "has too little space"},
		{PLACE_NO_INODES, "has too few inodes"},
		{PLACE_MISSING, "does not exist"},
		{PLACE_NOT_WRITABLE, "cannot be written by this user"},
		{PLACE_NO_EXEC, "is mounted noexec: what a JIT or build puts there cannot run"},
		{PLACE_BLANK, "has a blank in its path: tools split it in two"},
		{PLACE_NON_ASCII, "has a character outside ASCII in its path"},
		{PLACE_SPECIAL,
			"has a character in its path that shells and make take for their own"},
		{PLACE_VOLATILE, "does not survive a reboot"},
	};

	if (!f->need_exec) {
		faults &= ~(unsigned)PLACE_NO_EXEC;
	}
	if (!f->must_survive) {
		faults &= ~(unsigned)PLACE_VOLATILE;
	}
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		if (faults & names[i].fault) {
			return names[i].words;
		}
	}
	return NULL;
}

static void add_fixes(
	struct doctor_line *l, const struct folder *f, const char *path, unsigned faults)
{
	_cleanup_free_ char *word = doctor_shell_word(path);
	if (faults & (PLACE_BLANK | PLACE_NON_ASCII | PLACE_SPECIAL | PLACE_RELATIVE |
			     PLACE_NOT_A_FOLDER)) {
		doctor_fix(l, "mkdir -p /var/tmp/%s-$(id -u)", f->id + strlen("env."));
		doctor_fix(
			l, "export %s=/var/tmp/%s-$(id -u)", f->variable, f->id + strlen("env."));
	} else if (faults & (PLACE_FULL | PLACE_NO_INODES)) {
		doctor_fix(l, "df -h %s; df -i %s", word, word);
		doctor_fix(l, "export %s=FOLDER_ON_A_DISK_WITH_SPACE", f->variable);
	} else if (faults & PLACE_READ_ONLY) {
		doctor_fix(l, "mkdir -p /var/tmp/%s-$(id -u)", f->id + strlen("env."));
		doctor_fix(
			l, "export %s=/var/tmp/%s-$(id -u)", f->variable, f->id + strlen("env."));
	} else if ((faults & PLACE_MISSING) && (faults & PLACE_NOT_WRITABLE)) {
		doctor_fix(
			l, "sudo mkdir -p %s && sudo chown \"$(id -u):$(id -g)\" %s", word, word);
	} else if (faults & PLACE_MISSING) {
		doctor_fix(l, "mkdir -p %s", word);
	} else if (faults & PLACE_NOT_WRITABLE) {
		doctor_fix(l, "sudo chown \"$(id -u):$(id -g)\" %s && chmod u+rwx %s", word, word);
	} else {
		doctor_fix(l, "export %s=FOLDER_ON_A_LOCAL_DISK", f->variable);
	}
}

static void judge_folder(
	const struct folder *f, const char *path, bool is_default, struct doctor_report *r)
{
	struct doctor_place p;
	doctor_place_try(path, f->need_exec, f->need_bytes, NEED_INODES, &p);
	bool unmade = !f->must_exist && (p.faults & PLACE_MISSING);
	if (unmade) {
		/* What nobody made yet is made by the program that needs it. */
		p.faults &= ~(unsigned)PLACE_MISSING;
		p.error = p.error == ENOENT ? 0 : p.error;
	}

	const char *words = fault_words(p.faults, f);
	bool layer = !words && f->must_survive && (p.faults & PLACE_LAYER);
	const char *says = words   ? words
			   : layer ? "lies in an overlay: what is stored there goes with the "
				     "container or live system"
				   : "can be used";
	enum doctor_result result = words ? DOCTOR_FAULT : layer ? DOCTOR_NOTE : DOCTOR_OK;
	struct doctor_line *l =
		doctor_add(r, DOCTOR_ENVIRONMENT, result, f->id, "%s %s", f->variable, says);
	char size[TEXT_SIZE_MAX];
	doctor_evidence(l, "%s%s, %s, %s free%s%s", path,
		unmade && is_default ? " (default, not made yet)"
		: unmade             ? " (not made yet)"
		: is_default         ? " (default)"
				     : "",
		p.fs[0] ? p.fs : "file system unknown", text_size(p.free_bytes, size),
		p.error ? ", " : "", p.error ? strerror(p.error) : "");
	if (words || layer) {
		add_fixes(l, f, path, p.faults);
	}
}

/* Where the account database says that this user is at home. */
static void judge_home_of_account(struct doctor_report *r)
{
	const char *home = getenv("HOME");
	const struct passwd *pw = getpwuid(getuid());
	const char *sudo_user = getenv("SUDO_USER");
	if (!home || !pw) {
		return;
	}
	if (strcmp(home, pw->pw_dir) == 0) {
		struct doctor_line *l = doctor_add(r, DOCTOR_ENVIRONMENT, DOCTOR_OK,
			"env.home_same", "HOME is the account's own");
		doctor_evidence(l, "%s", home);
		return;
	}
	struct doctor_line *l = doctor_add(r, DOCTOR_ENVIRONMENT, DOCTOR_NOTE, "env.home_same",
		"HOME differs from the account's: a service or root would use another");
	doctor_evidence(l, "HOME=%s, account '%s': %s%s%s", home, pw->pw_name, pw->pw_dir,
		sudo_user ? ", through sudo from " : "", sudo_user ? sudo_user : "");
	_cleanup_free_ char *word = doctor_shell_word(pw->pw_dir);
	doctor_fix(l, "export HOME=%s", word);
}

static bool has(const struct doctor_options *o, const char *path)
{
	char c[2];
	return doctor_read(o, path, c, sizeof(c)) >= 0;
}

static void judge_container(const struct doctor_options *o, struct doctor_report *r)
{
	char buf[256] = "";
	const char *kind = NULL;
	if (has(o, ".dockerenv")) {
		kind = "docker (/.dockerenv)";
	} else if (has(o, "run/.containerenv")) {
		kind = "podman (/run/.containerenv)";
	} else if (doctor_read(o, "run/systemd/container", buf, sizeof(buf)) > 0) {
		kind = text_trim(buf);
	} else if (getenv("KUBERNETES_SERVICE_HOST")) {
		kind = "kubernetes (KUBERNETES_SERVICE_HOST)";
	}
	if (kind) {
		struct doctor_line *l = doctor_add(r, DOCTOR_ENVIRONMENT, DOCTOR_NOTE,
			"env.container",
			"This is a container: what its host keeps from it is not judged here");
		doctor_evidence(l, "%s", kind);
	}

	struct statvfs root;
	if (statvfs(o->root ? o->root : "/", &root) == 0 && (root.f_flag & ST_RDONLY)) {
		struct doctor_line *l = doctor_add(r, DOCTOR_ENVIRONMENT, DOCTOR_NOTE,
			"env.root_ro", "The root file system is read-only");
		doctor_evidence(l, "statvfs(/): ST_RDONLY");
	}
	if (!has(o, "proc/version")) {
		struct doctor_line *l = doctor_add(
			r, DOCTOR_ENVIRONMENT, DOCTOR_UNSEEN, "env.proc", "/proc is not mounted");
		doctor_fix(l, "mount -t proc proc /proc");
	}
}

void doctor_environment(const struct doctor_options *o, struct doctor_report *r)
{
	const char *home = getenv("HOME");
	unsigned waiting = 0;

	for (size_t i = 0; i < ARRAY_LEN(folders); i++) {
		const struct folder *f = &folders[i];
		bool build = strcmp(f->variable, "BUILD_DIR") == 0;
		const char *path = build && o->build_dir ? o->build_dir : getenv(f->variable);
		_cleanup_free_ char *made = NULL;
		if (path && path[0]) {
			judge_folder(f, path, false, r);
		} else if (f->below_home && doctor_worst(r, "env.home") == DOCTOR_FAULT) {
			waiting++; /* one cause, one fault: what is wrong with HOME */
		} else if (f->below_home && home && home[0]) {
			struct text t = {0};
			text_addf(&t, "%s/%s", home, f->below_home);
			made = text_steal(&t);
			judge_folder(f, made, true, r);
		} else if (f->fallback) {
			judge_folder(f, f->fallback, true, r);
		} else if (!build) {
			struct doctor_line *l = doctor_add(r, DOCTOR_ENVIRONMENT, DOCTOR_FAULT,
				f->id, "%s is not set", f->variable);
			doctor_evidence(l, "the environment has no %s", f->variable);
			doctor_fix(
				l, "export HOME=\"$(getent passwd \"$(id -u)\" | cut -d: -f6)\"");
		}
	}
	if (waiting) {
		struct doctor_line *l = &r->line[0];
		size_t n = strlen(l->evidence);
		snprintf(l->evidence + n, sizeof(l->evidence) - n,
			"; %u folders that are below it by default were not looked at", waiting);
	}
	judge_home_of_account(r);
	doctor_elsewhere(o, r);
	judge_container(o, r);
}
