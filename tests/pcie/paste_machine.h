/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Random machines, and what lspci of six ages prints of them: what goes into the
 * text reader must come out of it. Written after the formats' descriptions, with
 * no code of the reader.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "pcie/addr.h"

/* Versions of pciutils whose output differs in what matters here. */
enum era { ERA_3_1, ERA_3_5, ERA_3_6, ERA_3_7, ERA_3_8, ERA_3_14, ERAS };

enum gen_state {
	GEN_ASSIGNED,
	GEN_UNASSIGNED, /* no address, register 0 */
	GEN_IGNORED,    /* no address, register not 0 */
	GEN_VIRTUAL,    /* an address, register 0 */
	GEN_WIPED,      /* nothing is left of it but the register's type bits */
};

struct gen_bar {
	int index; /* 6: ROM */
	bool io, is64, pref;
	enum gen_state state;
	uint64_t base, size;
};

struct gen_window {
	bool open;
	uint64_t base, limit;
};

struct gen_rebar {
	int bar;
	unsigned current;   /* code: 2^(20 + n) */
	uint64_t supported; /* bits */
};

struct gen_dev {
	struct pcie_addr addr;
	int parent; /* index, -1 */
	bool bridge, gpu;
	uint16_t vendor, device, subvendor, subdevice, class_code;
	const char *class_name, *vendor_name, *name, *driver;
	uint8_t revision, secondary, subordinate;
	bool mem_enable;
	int nbar;
	struct gen_bar bar[8];
	int nrebar;
	struct gen_rebar rebar[3];
	int nvf;
	struct gen_bar vf[3];
	struct gen_window io, mem, pref;
	unsigned speed, max_speed, width, max_width; /* speed code 1 to 6 */
};

struct gen_machine {
	int n;
	struct gen_dev dev[24];
	bool domains; /* some device is not in domain 0 */
};

struct gen_options {
	enum era era;
	int verbose;  /* 0 to 3 */
	int hex;      /* 0, 1: 64 bytes, 3: 256, 4: 4096 */
	bool numeric; /* -nn */
	bool domain;  /* -D */
	int path;     /* 1: -P, 2: -PP */
	bool denied;  /* not root */
};

/* A small generator of its own: the same machines everywhere. */
uint64_t gen_random(uint64_t *seed);
unsigned gen_below(uint64_t *seed, unsigned n);

void gen_machine(struct gen_machine *m, uint64_t *seed);
void gen_lspci(const struct gen_machine *m, const struct gen_options *o, struct text *out);
/* The 4096 bytes of D's config space. */
void gen_config(const struct gen_dev *d, uint8_t bytes[static 4096]);
