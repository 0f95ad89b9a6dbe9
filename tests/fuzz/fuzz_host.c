/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files of the machine beside its devices: the first line names one, what follows is its text,
 * which is reduced as for a record and then read, as it is and as it was kept.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "pcie/host.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char nvidia[] = PCIE_HOST_NVIDIA_FOLDER "/0000:01:00.0/" PCIE_HOST_NVIDIA_FILE;

static void must_end(const char *s, size_t size)
{
	if (!memchr(s, '\0', size)) {
		abort();
	}
}

static void check(const struct pcie_snapshot *s)
{
	const struct pcie_host *h = &s->host;

	must_end(h->kernel, sizeof(h->kernel));
	must_end(h->cmdline, sizeof(h->cmdline));
	must_end(h->board, sizeof(h->board));
	must_end(h->virt, sizeof(h->virt));
	must_end(s->dev[0].name, sizeof(s->dev[0].name));
	must_end(s->dev[0].vbios, sizeof(s->dev[0].vbios));
	if (s->dev[0].noption > PCIE_OPTIONS || h->phys_bits > 64) {
		abort();
	}
}

static void read_nvidia(struct pcie_snapshot *s, const char *text)
{
	struct text kept = {0};
	pcie_host_reduce_nvidia(&kept, text);
	pcie_host_parse_nvidia(s, nvidia, kept.s ? kept.s : "");
	pcie_host_parse_nvidia(s, nvidia, text);
	text_finish(&kept);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *name = malloc(size + 1);
	if (!name) {
		abort();
	}
	memcpy(name, data, size);
	name[size] = '\0';
	size_t line = strcspn(name, "\n");
	const char *text = name + line + (name[line] != '\0');
	name[line] = '\0';

	struct pcie_snapshot *s = pcie_snapshot_create("fuzz");
	pcie_snapshot_add(s, (struct pcie_addr){.bus = 1, .known = true});
	text_copy(s->dev[0].driver, sizeof(s->dev[0].driver), size % 2 ? "nvidia" : "amdgpu");
	const struct pcie_host_file *file = pcie_host_find(name);
	if (pcie_host_parse_nvidia(s, name, "")) {
		read_nvidia(s, text);
	} else {
		/* a name that was mutated stands for another file */
		file = file ? file : &pcie_host_files[(uint8_t)name[0] % pcie_nhost_files];
		char *kept = pcie_host_reduce(file, text, "somehost.org");
		file->parse(s, file, kept);
		file->parse(s, file, text);
		free(kept);
	}
	pcie_host_finish(s);
	check(s);
	pcie_snapshot_destroy(s);
	free(name);
	return 0;
}
