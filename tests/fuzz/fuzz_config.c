/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Config space: any bytes, any length; what is fetched lazily means the same as the whole. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "pcie/config.h"
#include "pcie/config_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
	const uint8_t *data;
	size_t size;
};

static int read_input(void *ctx, size_t off, uint8_t *buf, size_t len)
{
	const struct input *in = ctx;
	if (off >= in->size) {
		return 0;
	}
	len = MIN(len, in->size - off);
	memcpy(buf, in->data + off, len);
	return (int)len;
}

static struct pcie_snapshot *decode(const uint8_t *bytes, size_t len)
{
	struct pcie_snapshot *s = pcie_snapshot_create("fuzz");
	pcie_snapshot_add(s, (struct pcie_addr){.known = true});
	pcie_config_decode(s, 0, bytes, len, pcie_snapshot_source(s, "config space"));
	const struct pcie_device *d = &s->dev[0];
	if (d->nbar > PCIE_BARS || d->rebar.count > PCIE_REBAR_ENTRIES ||
		d->vf_rebar.count > PCIE_REBAR_ENTRIES || d->config_bytes > PCIE_CONFIG_EXT_SIZE) {
		abort();
	}
	for (int i = 0; i < d->nbar; i++) {
		if (d->bar[i].have != PCIE_UNKNOWN) {
			abort(); /* registers are not the kernel's view */
		}
	}
	return s;
}

/* Masking clears, and clears nothing that the decoder looks at. */
static void mask(const uint8_t *bytes, size_t len)
{
	uint8_t once[PCIE_CONFIG_EXT_SIZE], twice[PCIE_CONFIG_EXT_SIZE];
	memcpy(once, bytes, len);
	pcie_config_mask(once, len);
	for (size_t i = 0; i < len; i++) {
		if (once[i] != bytes[i] && once[i] != 0) {
			abort();
		}
	}
	memcpy(twice, once, len);
	pcie_config_mask(twice, len);
	if (memcmp(once, twice, len)) {
		abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	pcie_snapshot_destroy(decode(data, size));
	mask(data, MIN(size, (size_t)PCIE_CONFIG_EXT_SIZE));

	struct input in = {data, size};
	struct pcie_config_source src = {read_input, &in, size};
	uint8_t lazy[PCIE_CONFIG_EXT_SIZE], whole[PCIE_CONFIG_EXT_SIZE];
	int n = pcie_config_fetch(&src, false, lazy), m = pcie_config_fetch(&src, true, whole);
	/* A file that ends inside the lists is cut to a length that exists by the one only. */
	if (n == m && n >= 0) {
		struct pcie_snapshot *a = decode(lazy, (size_t)n), *b = decode(whole, (size_t)m);
		if (!pcie_snapshot_equal(a, b, NULL, 0)) {
			abort();
		}
		pcie_snapshot_destroy(a);
		pcie_snapshot_destroy(b);
	}
	return 0;
}
