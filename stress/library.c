/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stress/library.h"

#include <dlfcn.h>
#include <string.h>

#include "base/macros.h"

void *stress_library_open(const char *const *names, size_t n, const char **ret_reason)
{
	void *library = NULL;

	for (size_t i = 0; !library && i < n; i++) {
		library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
	}
	if (!library && ret_reason) {
		const char *reason = dlerror();

		*ret_reason = reason ? reason : names[n - 1];
	}
	return library;
}

void stress_library_close(void *library)
{
	if (library) {
		dlclose(library);
	}
}

void *stress_library_symbol(void *library, const char *name)
{
	return dlsym(library, name);
}

const char *stress_library_file(const void *symbol)
{
	Dl_info info;

	return symbol && dladdr(symbol, &info) ? info.dli_fname : NULL;
}

void *stress_library_find(void *data, const struct stress_symbol *s)
{
	void *p = NULL;

	for (size_t i = 0; !p && i < ARRAY_LEN(s->name) && s->name[i]; i++) {
		p = dlsym(data, s->name[i]);
	}
	return p;
}

const char *stress_library_load(const struct stress_symbol *table, size_t n,
	stress_find_symbol *find, void *data, void *ret)
{
	for (size_t i = 0; i < n; i++) {
		void *p = find(data, &table[i]);

		if (!p && !table[i].optional) {
			return table[i].name[0];
		}
		stress_library_put((char *)ret + table[i].offset, p);
	}
	return NULL;
}

void stress_library_put(void *slot, void *symbol)
{
	memcpy(slot, &symbol, sizeof(symbol));
}
