/* SPDX-License-Identifier: GPL-2.0-or-later */
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
