/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pcie/watch.h"

#include <errno.h>
#include <libudev.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

struct pcie_watch {
	struct udev *udev;
	struct udev_monitor *monitor;
};

/* "udev" sends behind the rules, when a device is complete; a machine without the daemon
 * has only what the kernel sends. */
static struct udev_monitor *open_monitor(struct udev *udev)
{
	struct udev_queue *queue = udev_queue_new(udev);
	bool daemon = queue && udev_queue_get_udev_is_active(queue);
	udev_queue_unref(queue);

	struct udev_monitor *m = udev_monitor_new_from_netlink(udev, daemon ? "udev" : "kernel");
	if (m && udev_monitor_filter_add_match_subsystem_devtype(m, "pci", NULL) >= 0 &&
		udev_monitor_enable_receiving(m) >= 0) {
		return m;
	}
	udev_monitor_unref(m);
	return NULL;
}

int pcie_watch_open(struct pcie_watch **ret)
{
	struct pcie_watch *w = xcalloc(1, sizeof(*w));
	errno = 0;
	w->udev = udev_new();
	w->monitor = w->udev ? open_monitor(w->udev) : NULL;
	if (!w->monitor) {
		int r = errno ? -errno : -ENODEV;
		pcie_watch_close(w);
		return r;
	}
	*ret = w;
	return 0;
}

void pcie_watch_close(struct pcie_watch *w)
{
	if (w) {
		udev_monitor_unref(w->monitor);
		udev_unref(w->udev);
		free(w);
	}
}

int pcie_watch_fd(const struct pcie_watch *w)
{
	return udev_monitor_get_fd(w->monitor);
}

bool pcie_watch_drain(struct pcie_watch *w)
{
	bool changed = false;
	struct pollfd p = {.fd = pcie_watch_fd(w), .events = POLLIN};
	while (poll(&p, 1, 0) > 0) {
		struct udev_device *d = udev_monitor_receive_device(w->monitor);
		if (!d) {
			/* Filtered out, or the buffer ran over: then something did change. */
			if (errno == ENOBUFS) {
				changed = true;
				continue;
			}
			break;
		}
		udev_device_unref(d);
		changed = true;
	}
	return changed;
}
