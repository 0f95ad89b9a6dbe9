/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>

#include "base/text.h"
#include "runs/info.h"

/*
 * REF is a bare number, and L what has it: is it a label too? -ENOTUNIQ: of other runs; the
 * sentence says how to name either. Where no run has the number, the sentence leads to the label.
 */
static int check_number(struct runs_store *s, const char *ref, const struct runs_list *l,
	const char *boot_id, struct why *why)
{
	_cleanup_runs_ struct runs_list same = {0};
	int r = runs_info_list(s, ref, boot_id, &same, why);
	if (r < 0) {
		return r;
	}
	if (!l->n) {
		why_set(why, "there is no run %s in %s%s%s", ref, runs_db_path(runs_store_db(s)),
			same.n ? "; its label of that name is label:" : "", same.n ? ref : "");
		return -ENOENT;
	}
	if (same.n && (same.n > 1 || same.run[0].id != l->run[0].id)) {
		why_set(why, "'%s' is the number of a run and a label: say run:%s or label:%s", ref,
			ref, ref);
		return -ENOTUNIQ;
	}
	return 0;
}

int runs_info_find(struct runs_store *s, const char *ref, const char *boot_id,
	struct runs_list *ret, struct why *why)
{
	uint64_t id = 0;
	bool by_id = !strncmp(ref, "run:", 4);
	const char *label = !strncmp(ref, "label:", 6) ? ref + 6 : ref;
	if (by_id && text_parse_u64(ref + 4, 10, &id)) {
		why_set(why, "'%s' is not the number of a run", ref + 4);
		return -EINVAL;
	}
	const bool bare = label == ref && !by_id && !text_parse_u64(ref, 10, &id);
	by_id = by_id || bare;
	_cleanup_runs_ struct runs_list l = {0};
	int r;
	if (by_id) {
		r = runs_info_number(s, (int64_t)id, boot_id, &l, why);
		if (!r && bare) {
			r = check_number(s, ref, &l, boot_id, why);
		}
	} else {
		r = runs_info_list(s, label, boot_id, &l, why);
	}
	if (!r && !l.n) {
		if (by_id) {
			why_set(why, "there is no run %llu in %s", (unsigned long long)id,
				runs_db_path(runs_store_db(s)));
		} else {
			why_set(why, "no run in %s has the label '%s'",
				runs_db_path(runs_store_db(s)), label);
		}
		r = -ENOENT;
	}
	if (!r) {
		*ret = l;
		l = (struct runs_list){0};
	}
	return r;
}
