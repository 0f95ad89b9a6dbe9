/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "runs/clocks.h"

#include <errno.h>
#include <time.h>

#include "base/text.h"
#include "pcie/addr.h"
#include "runs/db.h"
#include "stress/gpu_facts.h"

enum { UNLOCK_MS = 10000 };

/* Locks of GPUs lie behind those of runs in the lock file. */
static const int64_t first_lock = (int64_t)1 << 48;
/* The schema that has the table. */
enum { schema = 3 };

static int lock_of(const char *address, int64_t *ret, struct why *why)
{
	struct pcie_addr a;

	if (pcie_addr_parse(address, &a) < 0) {
		why_set(why, "'%.40s' is no PCI address (0000:01:00.0 or 01:00.0)", address);
		return -EINVAL;
	}
	*ret = first_lock + ((int64_t)a.domain << 16 | a.bus << 8 | a.dev << 3 | a.fn);
	return 0;
}

/* -EBUSY: another run holds the lock; OTHERWISE says what that means. */
static int hold(struct runs_store *s, const char *address, const char *otherwise, struct why *why)
{
	int64_t lock;
	int r = lock_of(address, &lock, why);

	if (r < 0) {
		return r;
	}
	r = runs_store_lock(s, lock);
	if (r == -EAGAIN) {
		why_set(why, "another run has locked the clocks of %s%s", address, otherwise);
		return -EBUSY;
	}
	if (r < 0) {
		why_set(why, "the store's lock file cannot be used");
	}
	return r;
}

int runs_clocks_mark(struct runs_store *s, const char *boot_id, const char *address, uint32_t mhz,
	struct why *why)
{
	struct timespec t;
	int r = hold(s, address, "", why);

	clock_gettime(CLOCK_REALTIME, &t);
	return r ? r
		 : runs_db_run(runs_store_db(s), why,
			   "INSERT OR REPLACE INTO locked_clocks (address, mhz, boot_id, at)"
			   " VALUES (?, ?, ?, ?)",
			   "sisi", address, (int64_t)mhz, boot_id,
			   (int64_t)t.tv_sec * 1000000000 + t.tv_nsec);
}

int runs_clocks_clear(struct runs_store *s, const char *address, struct why *why)
{
	return runs_db_run(
		runs_store_db(s), why, "DELETE FROM locked_clocks WHERE address = ?", "s", address);
}

int runs_clocks_left(struct runs_store *s, const char *boot_id, struct runs_clocks *ret, size_t max,
	struct why *why)
{
	_cleanup_rows_ struct runs_rows *q = NULL;
	size_t n = 0;
	if (runs_store_schema(s) < schema) {
		return 0; /* nobody could write it down */
	}
	int r = runs_db_query(runs_store_db(s), &q, why,
		"SELECT address, mhz FROM locked_clocks WHERE boot_id = ? ORDER BY address", "s",
		boot_id);

	while (!r && n < max && (r = runs_rows_next(q, why)) > 0) {
		struct why ignored;
		int64_t lock;

		ret[n] = (struct runs_clocks){.mhz = (uint32_t)runs_rows_int(q, 1)};
		runs_rows_copy(q, 0, ret[n].address, sizeof(ret[n].address));
		if (lock_of(ret[n].address, &lock, &ignored) == 0 && !runs_store_locked(s, lock)) {
			n++;
		}
		r = 0;
	}
	return r < 0 ? r : (int)n;
}

int runs_clocks_unlock(struct runs_store *s, const char *address, struct why *why)
{
	struct why reason = {""};
	const int r = stress_gpu_unlock(address, UNLOCK_MS, &reason);

	if (r < 0) {
		why_set(why,
			"the clocks of %s stay locked (%.120s): 'nvidia-smi -i %s -rgc' unlocks them",
			address, reason.text, address);
		return r;
	}
	return runs_clocks_clear(s, address, why);
}

static int is_left(struct runs_store *s, const char *boot_id, const char *address, struct why *why)
{
	_cleanup_rows_ struct runs_rows *q = NULL;
	int r = runs_db_query(runs_store_db(s), &q, why,
		"SELECT 1 FROM locked_clocks WHERE address = ? AND boot_id = ?", "ss", address,
		boot_id);

	return r < 0 ? r : runs_rows_next(q, why);
}

int runs_clocks_unlock_left(
	struct runs_store *s, const char *boot_id, const char *address, struct why *why)
{
	int r = hold(s, address, " meanwhile: they stay as they are", why);

	r = r < 0 ? r : is_left(s, boot_id, address, why);
	if (r <= 0) {
		return r;
	}
	r = runs_clocks_unlock(s, address, why);
	return r < 0 ? r : 1;
}
