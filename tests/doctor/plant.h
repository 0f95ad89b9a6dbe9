/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A machine with one NVIDIA GPU and nothing wrong, made of folders, a capture record and the
 * libraries of tests/fakes; tests plant one fault in it. Its healthy() may be called again to
 * mend what was planted.
 */
#pragma once

#include <stdbool.h>

#include "doctor/doctor.h"

enum { PLANT_PATH = 512 };

/* Makes the folder of this test program; false: no place for it. */
bool plant_begin(void);
int plant_end(void);

/* This program again, as what uses the GPU's driver: true, with its exit status. */
bool plant_is_child(int argc, char **argv, int *ret);

struct CMUnitTest;

/* A test program's main: its N TESTS in a folder of their own. */
int plant_main(int argc, char **argv, const struct CMUnitTest *tests, size_t n);

/* The path of NAME in that folder; eight of them at a time. */
const char *plant_at(const char *name);
void plant_folder(const char *name);
/* The file NAME holds TEXT; folders are made. */
void plant_file(const char *name, const char *text);

/* All of it may be read and written by every user. */
void plant_open_to_all(void);

/* Everything in order. */
void plant_healthy(void);
/* The GPU and its bus are those of this machine of the corpus. */
void plant_record(const char *corpus);
/* libcuda.so.1 is this file; "": the one that the loader finds. */
void plant_libcuda(const char *path);

/* How long the cores are watched; 1 to begin with, as theirs stand still. */
void plant_watch(unsigned ms);
/* Is nothing left out, as when a person asks? */
void plant_whole(bool whole);

/* What the doctor says of it, all groups; the caller destroys it. */
struct doctor_report *plant_run(void);

/* The line ID is a fault whose words have WORDS, it has a fix, and nothing else is a fault. */
void plant_only(const char *id, const char *words);
/* The same of a report that is there already; 0, or the test's output tells what is wrong. */
int plant_judge(const struct doctor_report *r, const char *id, const char *words);

/* In a container or on tmpfs the data folder is volatile in truth: no planted fault. */
bool plant_true_anyway(const char *id);

/* Mounts and a user namespace of its own, where needed and allowed. */
bool plant_can_mount(void);
/* The line ID of R; the test fails when there is none. */
const struct doctor_line *plant_line(const struct doctor_report *r, const char *id);
