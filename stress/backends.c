/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>

#include "stress/backend.h"

static const struct stress_backend_ops *const all[] = {
	&stress_backend_cuda,
	&stress_backend_cpu,
	&stress_backend_script,
	NULL,
};

const struct stress_backend_ops *const *stress_backends(void)
{
	return all;
}

const struct stress_backend_ops *stress_backend_find(const char *name)
{
	for (size_t i = 0; all[i]; i++) {
		if (!strcmp(all[i]->name, name)) {
			return all[i];
		}
	}
	return NULL;
}

int stress_backend_choose(const char *name, const struct stress_backend_ops **ret, struct why *why)
{
	const struct stress_backend_ops *named;
	struct stress_device device;

	if (*name && strcmp(name, "auto")) {
		named = stress_backend_find(name);
		if (!named) {
			why_set(why, "there is no back end '%s'", name);
			return -EINVAL;
		}
		*ret = named;
		return 0;
	}
	for (size_t i = 0; all[i]; i++) {
		if (all[i]->probe(&device, 1, why) > 0) {
			*ret = all[i];
			return 0;
		}
	}
	return -ENODEV;
}
