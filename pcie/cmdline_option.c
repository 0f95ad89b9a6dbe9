/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pcie/cmdline_option.h"

#include <string.h>

#include "base/macros.h"

/* The parameters that a live machine's scan reads, as "DRIVER.PARAMETER", and their names there. */
static const struct {
	const char *driver, *param, *name;
} rows[] = {
	{"amdgpu", "rebar", "rebar"},
	{"amdgpu", "vis_vramlimit", "vis_vramlimit"},
	{"i915", "lmem_bar_size", "lmem_bar_size"},
	{"nvidia", "NVreg_CoherentGPUMemoryMode", "CoherentGPUMemoryMode"},
	{"nvidia", "NVreg_EnableResizableBar", "EnableResizableBar"},
	{"xe", "vram_bar_size", "vram_bar_size"},
};

/* The kernel takes "-" and "_" in a parameter's name for the same. */
static bool eats(const char **s, const char *word)
{
	const char *p = *s;
	for (; *word; word++, p++) {
		if (*p != *word && !(*p == '-' && *word == '_')) {
			return false;
		}
	}
	*s = p;
	return true;
}

/* The value of DRIVER.PARAM in LINE, the last one counts; NULL: not there. */
static const char *find_value(
	const char *line, const char *driver, const char *param, size_t *ret_len)
{
	const char *found = NULL;
	for (const char *s = line; *s; s += strcspn(s, " "), s += strspn(s, " ")) {
		const char *p = s;
		if (!strncmp(s, "-- ", 3)) {
			break; /* the rest is for init */
		}
		p += *p == '"';
		if (eats(&p, driver) && *p++ == '.' && eats(&p, param) && *p++ == '=') {
			p += *p == '"';
			*ret_len = strcspn(p, " \"");
			found = p;
		}
	}
	return found;
}

static void add(
	struct pcie_device *d, const char *name, const char *value, size_t len, pcie_src src)
{
	for (int i = 0; i < d->noption; i++) {
		if (!strcmp(d->option[i].name, name)) {
			return;
		}
	}
	if (d->noption == PCIE_OPTIONS || len >= sizeof(d->option->value)) {
		return;
	}
	struct pcie_option *o = &d->option[d->noption++];
	*o = (struct pcie_option){.src = src};
	memcpy(o->name, name, strlen(name));
	memcpy(o->value, value, len);
}

void pcie_cmdline_options(struct pcie_snapshot *s, pcie_src src)
{
	for (size_t k = 0; k < ARRAY_LEN(rows) && s->host.have_cmdline == PCIE_KNOWN; k++) {
		size_t len = 0;
		const char *value =
			find_value(s->host.cmdline, rows[k].driver, rows[k].param, &len);
		for (size_t i = 0; i < s->ndev && value; i++) {
			if (!strcmp(s->dev[i].driver, rows[k].driver)) {
				add(&s->dev[i], rows[k].name, value, len, src);
			}
		}
	}
}
