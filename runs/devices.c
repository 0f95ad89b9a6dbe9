/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "runs/devices.h"

#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/macros.h"
#include "base/sort.h"

enum { SAID = 2 }; /* devices of a side in a sentence */
static const char at[] = " at ";

/* The address behind "MODEL at ", or the empty end of NAME where none stands there. */
static const char *address_of(const char *name)
{
	const char *found = NULL, *end = name + strlen(name);
	for (const char *p = name; (p = strstr(p, at)); p++) {
		found = p + strlen(at);
	}
	bool address = found && strchr(found, ':') && strchr(found, '.') &&
		       found + strspn(found, "0123456789abcdefABCDEF:.") == end;
	return address ? found : end;
}

static size_t model_length(const char *name)
{
	const char *address = address_of(name);
	return (size_t)(address - name) - (*address ? strlen(at) : 0);
}

bool runs_device_same_model(const char *x, const char *y)
{
	size_t n = model_length(x);
	return n == model_length(y) && !strncmp(x, y, n);
}

/* Domains may have more digits than four: the longer address is the higher one. */
static int by_bus(const void *x, const void *y)
{
	const char *a = address_of(*(const char *const *)x),
		   *b = address_of(*(const char *const *)y);
	size_t la = strlen(a), lb = strlen(b);
	return la != lb ? (la < lb ? -1 : 1) : strcmp(a, b);
}

/* The devices of S, of MODEL's model (NULL: all), in the order of their first runs. */
static size_t devices_of(const struct runs_side *s, const char *model, const char ***ret)
{
	const char **d = xcalloc(s->n, sizeof(*d));
	size_t n = 0;
	for (size_t i = 0; i < s->n; i++) {
		const char *name = s->run[i].info.device;
		size_t k = 0;
		while (k < n && strcmp(d[k], name) != 0) {
			k++;
		}
		if (k == n && (!model || runs_device_same_model(model, name))) {
			d[n++] = name;
		}
	}
	*ret = d;
	return n;
}

/* The one of B that is A's NAME, among those of MODEL (NULL: all); NULL: none. */
static const char *find(
	const struct runs_side *a, const struct runs_side *b, const char *name, const char *model)
{
	_cleanup_free_ const char **x = NULL, **y = NULL;
	size_t n = devices_of(a, model, &x), m = devices_of(b, model, &y);
	if (n != m) {
		for (size_t i = 0; i < m; i++) {
			if (!strcmp(y[i], name)) {
				return y[i];
			}
		}
		return NULL;
	}
	sort_array(x, n, sizeof(*x), by_bus);
	sort_array(y, m, sizeof(*y), by_bus);
	for (size_t i = 0; i < n; i++) {
		if (!strcmp(x[i], name)) {
			return y[i];
		}
	}
	return NULL;
}

size_t runs_devices_pair(
	const struct runs_side *a, const struct runs_side *b, struct runs_device_pair **ret)
{
	_cleanup_free_ const char **d = NULL;
	size_t n = devices_of(a, NULL, &d), found = 0;
	struct runs_device_pair *pair = xcalloc(n, sizeof(*pair));
	for (int tries = 0; !found && tries < 2; tries++) {
		for (size_t i = 0; i < n; i++) {
			const char *other = find(a, b, d[i], tries ? NULL : d[i]);
			if (other) {
				pair[found++] = (struct runs_device_pair){d[i], other};
			}
		}
	}
	*ret = pair;
	return found;
}

void runs_devices_say(const struct runs_side *s, struct text *t)
{
	_cleanup_free_ const char **d = NULL;
	size_t n = devices_of(s, NULL, &d);
	for (size_t i = 0; i < MIN(n, SAID); i++) {
		text_addf(t, "%s%s", i ? ", " : "", *d[i] ? d[i] : "no name");
	}
	if (n > SAID) {
		text_addf(t, " and %zu more", n - SAID);
	}
}
