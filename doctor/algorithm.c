/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the shape and the kernel that it gets do to the time: last in line, after the machine. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "doctor/line.h"

/* What a warp loads at once, and a sector of L2. */
enum { VECTOR = 16, SECTOR = 32, HALF = 2 };

/* Worth a word: slower than the library by more than noise, or above the floor of a kernel that is
 * bound by memory. */
static const double gap = 1.05, above = 1.25;

static void judge_alignment(const struct doctor_options *o, struct doctor_report *r)
{
	const struct stress_shape *s = &o->shape;
	const uint64_t row = (uint64_t)s->k * HALF;
	bool vec = row % VECTOR == 0, whole = row % SECTOR == 0;
	struct doctor_line *l = doctor_add(r, DOCTOR_ALGORITHM,
		!vec     ? DOCTOR_FAULT
		: !whole ? DOCTOR_NOTE
			 : DOCTOR_OK,
		"algorithm.alignment",
		!vec     ? "Rows of W are not aligned: every load is cut in pieces"
		: !whole ? "Every second row of W begins inside a sector of memory"
			 : "Rows of x and W begin at multiples of %d bytes",
		row % 128 == 0 ? 128 : SECTOR);
	char off[64] = "";
	if (!whole) {
		snprintf(off, sizeof(off), ", %" PRIu64 " more than a multiple of %d",
			row % (vec ? SECTOR : VECTOR), vec ? SECTOR : VECTOR);
	}
	doctor_evidence(l, "K = %u in FP16, %" PRIu64 " bytes a row%s", s->k, row, off);
	if (!whole) {
		const uint32_t step = (vec ? SECTOR : VECTOR) / HALF;
		doctor_fix(l, "# pad the leading dimension of W and x from %u to %u elements", s->k,
			(s->k + step - 1) / step * step);
	}
}

static void judge_kernel(
	const struct doctor_options *o, struct doctor_report *r, const struct doctor_gpu *g)
{
	const struct stress_shape *s = &o->shape;
	if (g->kernel_error) {
		struct doctor_line *l = doctor_add(r, DOCTOR_ALGORITHM,
			g->kernel_error == -EOPNOTSUPP ? DOCTOR_NOTE : DOCTOR_UNSEEN,
			"algorithm.kernel", "No kernel for this shape could be looked at");
		doctor_evidence(l, "%s", g->kernel_why);
		return;
	}
	bool spills = g->local_bytes > 0;
	struct doctor_line *l = doctor_add(r, DOCTOR_ALGORITHM, spills ? DOCTOR_FAULT : DOCTOR_OK,
		"algorithm.spills",
		spills ? "The kernel %s keeps registers in memory: it spills"
		       : "The kernel %s spills no registers",
		g->kernel);
	doctor_evidence(l,
		"%ux%ux%u: %d registers, %d bytes of local memory, %d block%s a multiprocessor",
		s->m, s->k, s->n, g->registers, g->local_bytes, g->blocks_per_sm,
		g->blocks_per_sm == 1 ? "" : "s");
	if (spills) {
		doctor_fix(l, "barscope tune --shape %ux%ux%u   # shows which kernels do not", s->m,
			s->k, s->n);
	}
	if (*g->kernel_note) {
		l = doctor_add(r, DOCTOR_ALGORITHM, DOCTOR_NOTE, "algorithm.kernel",
			"A faster kernel was refused by the driver");
		doctor_evidence(l, "%s", g->kernel_note);
	}
}

/* How far from the best library and from the floor. */
static void judge_times(
	const struct doctor_options *o, struct doctor_report *r, const struct doctor_gpu *g)
{
	const struct stress_shape *s = &o->shape;
	char own[TEXT_TIME_MAX], library[TEXT_TIME_MAX], floor[TEXT_TIME_MAX];
	if (*g->time_why) {
		struct doctor_line *l = doctor_add(r, DOCTOR_ALGORITHM, DOCTOR_NOTE,
			"algorithm.gap", "The kernel could not be timed");
		doctor_evidence(l, "%s", g->time_why);
		return;
	}
	if (g->own_ns <= 0 || g->read_ns <= 0) {
		return;
	}
	bool behind = g->library_ns > 0 && g->own_ns > g->library_ns * gap;
	bool high = g->own_ns > g->read_ns * above;
	struct doctor_line *l = doctor_add(r, DOCTOR_ALGORITHM,
		behind || high ? DOCTOR_NOTE : DOCTOR_OK, "algorithm.gap", "%s",
		behind ? "cuBLASLt is faster at this shape"
		: high ? "The kernel is far above the floor at this shape"
		       : "The kernel is near the floor");
	text_ns((uint64_t)g->own_ns, own);
	text_ns((uint64_t)g->read_ns, floor);
	text_ns((uint64_t)g->library_ns, library);
	doctor_evidence(l, "%s; reading the weights alone %s (%.2f times)%s%s", own, floor,
		g->own_ns / g->read_ns, g->library_ns > 0 ? ", cuBLASLt's best " : ", no cuBLASLt",
		g->library_ns > 0 ? library : "");
	if (behind || high) {
		doctor_fix(l, "barscope tune --shape %ux%ux%u", s->m, s->k, s->n);
	}
}

void doctor_algorithm(
	const struct doctor_options *o, struct doctor_report *r, const struct doctor_gpu *g)
{
	if (g->step == DOCTOR_GPU_NOT_ASKED) {
		return; /* no GPU whose algorithm there would be */
	}
	judge_alignment(o, r);
	if (g->step == DOCTOR_GPU_DONE && !o->quick) {
		judge_kernel(o, r, g);
		judge_times(o, r, g);
	}
}
