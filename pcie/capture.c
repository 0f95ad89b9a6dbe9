/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sink that writes what a scan reads as a record: see source_record.c for the format. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "pcie/config.h"
#include "pcie/record.h"
#include "pcie/scan.h"
#include "pcie/source.h"

struct capture {
	struct pcie_sink sink; /* first: the sink is the capture */
	struct text devices, host;
};

static struct capture *capture_of(struct pcie_sink *sink)
{
	return (struct capture *)sink;
}

static void write_bytes(struct text *t, const char *name, const uint8_t *p, size_t n)
{
	static const char hex[] = "0123456789ABCDEF";
	text_addf(t, "H: %s=", name);
	for (size_t i = 0; i < n; i++) {
		char pair[2] = {hex[p[i] >> 4], hex[p[i] & 15]};
		text_addn(t, pair, 2);
	}
	text_add(t, "\n");
}

/* umockdev unescapes with g_strcompress(): C escapes, and octal for the rest. */
static void write_text(struct text *t, const char *name, const char *s, size_t n)
{
	text_addf(t, "A: %s=", name);
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)s[i];
		if (c == '\n') {
			text_add(t, "\\n");
		} else if (c == '\\') {
			text_add(t, "\\\\");
		} else if (c < ' ' || c == 0x7f) {
			text_addf(t, "\\%03o", c);
		} else {
			text_addn(t, s + i, 1);
		}
	}
	text_add(t, "\n");
}

static void capture_device(struct pcie_sink *sink, const char *path, struct pcie_addr addr)
{
	struct capture *c = capture_of(sink);
	char slot[PCIE_ADDR_MAX];
	text_addf(&c->devices, "%sP: %s\nE: SUBSYSTEM=pci\nE: PCI_SLOT_NAME=%s\n",
		c->devices.len ? "\n" : "", path, pcie_addr_format(addr, slot));
}

static void capture_attr(
	struct pcie_sink *sink, const struct pcie_attr *attr, const char *data, size_t len)
{
	struct capture *c = capture_of(sink);
	switch (attr->kind) {
	case PCIE_ATTR_BINARY: {
		uint8_t bytes[PCIE_CONFIG_EXT_SIZE];
		len = MIN(len, sizeof(bytes));
		memcpy(bytes, data, len);
		pcie_config_mask(bytes, len);
		write_bytes(&c->devices, attr->name, bytes, len);
		break;
	}
	case PCIE_ATTR_LINK:
		text_addf(&c->devices, "L: %s=%s\n", attr->name, data);
		break;
	case PCIE_ATTR_TEXT:
		write_text(&c->devices, attr->name, data, len);
		break;
	}
}

static void capture_host(struct pcie_sink *sink, const char *name, const char *data, size_t len)
{
	write_text(&capture_of(sink)->host, name, data, len);
}

/* What could not be read is not in the record, and a scan of it says so by itself. */
static void capture_problem(struct pcie_sink *sink, struct pcie_addr addr, const char *text)
{
	(void)sink, (void)addr, (void)text;
}

int pcie_capture(
	const char *root, bool with_log, bool wake, char **ret, size_t *ret_len, struct why *why)
{
	return pcie_capture_asking(NULL, root, with_log, wake, ret, ret_len, why);
}

int pcie_capture_asking(const struct pcie_driver *driver, const char *root, bool with_log,
	bool wake, char **ret, size_t *ret_len, struct why *why)
{
	struct capture c = {
		.sink = {capture_device, capture_attr, capture_host, capture_problem},
	};
	struct pcie_sysfs o = {
		.root = root,
		.live = !strcmp(root, "/"),
		.wake = wake,
		.whole = true,
		.log = with_log,
		.driver = driver,
	};
	int r = pcie_sysfs_read(&o, &c.sink, why);
	if (r == 0) {
		/* Only /sys itself proves that what did not come does not exist. */
		text_addf(&c.devices, "%sP: " PCIE_RECORD_HOST "\nE: SUBSYSTEM=barscope\n%s%s",
			c.devices.len ? "\n" : "",
			o.live ? "A: " PCIE_RECORD_VERSION "=" PCIE_RECORD_VERSION_NO "\n" : "",
			c.host.s ? c.host.s : "");
		*ret_len = c.devices.len;
		*ret = text_steal(&c.devices);
	}
	text_finish(&c.devices);
	text_finish(&c.host);
	return r;
}
