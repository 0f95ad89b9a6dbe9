/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How checks write their lines. Private to the room. */
#pragma once

#include <sys/types.h>

#include "doctor/doctor.h"
#include "doctor/gpu.h"
#include "stress/gpu_facts.h"

/* Appends a line; TESTED is formatted. The pointer holds until the next one. */
struct doctor_line *doctor_add(struct doctor_report *r, enum doctor_group group,
	enum doctor_result result, const char *id, const char *tested, ...) PRINTF(5, 6);
void doctor_evidence(struct doctor_line *l, const char *fmt, ...) PRINTF(2, 3);
/* One more command to copy. */
void doctor_fix(struct doctor_line *l, const char *fmt, ...) PRINTF(2, 3);

/* S as one word for a POSIX shell, quoted only where it must be; the caller frees it. */
char *doctor_shell_word(const char *s);

/* ROOT/PATH read into BUF; as file_read_at(). */
/* Is process PID one that this process started? A stress that runs here is no foreign user. */
bool doctor_is_child(pid_t pid);
int doctor_read(const struct doctor_options *o, const char *path, char *buf, size_t size);

/* For root and for a service: the same folders? */
void doctor_elsewhere(const struct doctor_options *o, struct doctor_report *r);
void doctor_environment(const struct doctor_options *o, struct doctor_report *r);
/* What was learned of NVIDIA's GPUs and their driver. */
enum { DOCTOR_CARDS = 16 };
struct doctor_nvidia {
	struct doctor_gpu gpu;
	size_t ncard; /* bound to the driver, the first of them */
	char address[DOCTOR_CARDS][PCIE_ADDR_MAX];
	struct stress_gpu_facts card[DOCTOR_CARDS];
	int error; /* NVML told nothing at all: WHY */
	struct why why;
};

/* Where an NVIDIA GPU is, RET gets what its driver said; else it stays as it is. */
void doctor_driver(
	const struct doctor_options *o, struct doctor_report *r, struct doctor_nvidia *ret);
/* Asks NVML for the facts of the cards at the N->ncard addresses; then the lines of one group. */
void doctor_cards_ask(const struct doctor_options *o, struct doctor_nvidia *n);
void doctor_cards(const struct doctor_nvidia *n, enum doctor_group group, struct doctor_report *r);
/* Asks the NVIDIA driver, which may take seconds; then what came of it, in lines. */
void doctor_cuda_ask(const struct doctor_options *o, struct doctor_gpu *ret);
void doctor_cuda(
	const struct doctor_options *o, struct doctor_report *r, const struct doctor_gpu *g);
void doctor_pcie(const struct doctor_options *o, struct doctor_report *r);
void doctor_clocks(
	const struct doctor_options *o, struct doctor_report *r, const struct doctor_nvidia *n);
void doctor_algorithm(
	const struct doctor_options *o, struct doctor_report *r, const struct doctor_gpu *g);
