/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The script back end plays a file of latencies: tests, demonstrations, machines with
 * no GPU. Its clock is virtual: it starts at the host's clock and advances by exactly
 * what the lines say; the real time that passes is that divided by the speed.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/macros.h"
#include "base/text.h"
#include "stress/backend.h"
#include "stress/script.h"

static const size_t script_max_bytes = (size_t)64 << 20;
static const uint64_t slice_ns = 100000000; /* the longest sleep without a sign of life */

struct stress_backend {
	struct stress_lender *lender;
	struct stress_script script;
	char name[96];
	size_t at;                              /* the line being played */
	uint32_t played;                        /* times it was played */
	double speed;                           /* 0: no waiting */
	uint64_t clock_ns;                      /* virtual */
	uint64_t base_virtual_ns, base_real_ns; /* where the two clocks were together */
	bool ahead; /* some virtual time passed since the script's start */
};

static int script_probe(struct stress_device *ret, size_t max, struct why *why)
{
	(void)ret;
	(void)max;
	why_set(why, "the script back end is used only when asked for");
	return 0;
}

static void script_close(struct stress_backend *b)
{
	if (b) {
		stress_script_finish(&b->script);
		free(b);
	}
}

static int script_open(const struct stress_config *c, struct stress_lender *lender,
	struct stress_backend **ret, struct why *why)
{
	if (!*c->script) {
		why_set(why, "the script back end needs a script file");
		return -EINVAL;
	}
	if (c->paced_ns) {
		why_set(why, "a script has its own pace: it cannot be paced");
		return -EINVAL;
	}
	if (!(c->script_speed >= 0) || c->script_speed > 1e9) {
		why_set(why, "the script's speed must be from 0 (as fast as possible) to 1e9");
		return -EINVAL;
	}
	_cleanup_free_ char *text = NULL;
	size_t len;
	int r = file_read_all(c->script, script_max_bytes, &text, &len, why);
	if (r < 0) {
		return r;
	}
	struct stress_script script;
	r = stress_script_parse(text, len, &script, why);
	if (r < 0) {
		return r;
	}
	struct stress_backend *b = xcalloc(1, sizeof(*b));
	b->lender = lender;
	b->script = script;
	b->speed = c->script_speed;
	b->clock_ns = b->base_virtual_ns = b->base_real_ns = clock_ns();
	const char *slash = strrchr(c->script, '/');
	text_copy(b->name, sizeof(b->name), slash ? slash + 1 : c->script);
	*ret = b;
	return 0;
}

static void script_facts(const struct stress_backend *b, struct stress_facts *ret)
{
	*ret = (struct stress_facts){
		.threads = 0,
		.copies = 1,
		.series = 1u << STRESS_GEMM,
		.virtual_clock = true,
		.max_error = -1,
	};
	text_copy(ret->device, sizeof(ret->device), b->name);
}

/* Waits until real time has caught up with the virtual clock. */
static void catch_up(struct stress_backend *b)
{
	if (b->speed == 0) {
		return;
	}
	double played = (double)(b->clock_ns - b->base_virtual_ns);
	uint64_t due = b->base_real_ns + (uint64_t)(played / b->speed);
	for (;;) {
		uint64_t now = clock_ns();
		if (now >= due + slice_ns) { /* paused or stopped meanwhile: go on from here */
			b->base_real_ns = now;
			b->base_virtual_ns = b->clock_ns;
		}
		if (now >= due || !b->lender->beat(b->lender)) {
			return;
		}
		struct timespec ts = {.tv_nsec = (long)MIN(due - now, slice_ns)};
		nanosleep(&ts, NULL);
	}
}

static int act(const struct stress_script_line *l, struct why *why)
{
	switch (l->act) {
	case STRESS_SCRIPT_HANG:
		for (;;) {
			pause();
		}
	case STRESS_SCRIPT_CRASH:
		prctl(PR_SET_DUMPABLE, 0); /* an ordered crash leaves no core file */
		signal(SIGSEGV, SIG_DFL);
		raise(SIGSEGV);
		return -EIO;
	case STRESS_SCRIPT_FAIL:
		why_set(why, "script line %u says that this launch fails", l->number);
		return -EIO;
	case STRESS_SCRIPT_PLAY:
		break;
	}
	return 0;
}

static int script_iterate(struct stress_backend *b, enum stress_series series,
	struct stress_sample *ret, size_t max, struct why *why)
{
	(void)series; /* the lines say which */
	(void)max;
	const struct stress_script_line *l = &b->script.line[b->at];
	if (b->played == l->repeat) {
		b->played = 0;
		if (++b->at == b->script.n) {
			if (!b->script.again || !b->ahead) {
				b->at--;
				b->played = l->repeat;
				return 0;
			}
			b->at = 0;
		}
		l = &b->script.line[b->at];
	}
	int r = act(l, why);
	if (r < 0) {
		return r;
	}
	struct stress_sample s = {
		.submit_ns = b->clock_ns,
		.start_ns = b->clock_ns + l->launch_ns,
		.end_ns = b->clock_ns + l->launch_ns + l->device_ns,
		.done_ns = b->clock_ns + l->launch_ns + l->device_ns + l->notify_ns,
		.flags = l->flags,
		.cycles = l->cycles,
		.hash = l->hash,
		.copy = l->copy,
	};
	b->played++;
	b->clock_ns = s.done_ns;
	catch_up(b);
	b->clock_ns += l->gap_ns;
	b->ahead |= b->clock_ns != s.submit_ns;
	*ret = s;
	return 1;
}

const struct stress_backend_ops stress_backend_script = {
	.name = "script",
	.probe = script_probe,
	.open = script_open,
	.facts = script_facts,
	.iterate = script_iterate,
	.close = script_close,
};
