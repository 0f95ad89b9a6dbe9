/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plug FIFO COMMAND...: runs COMMAND on a mocked machine with one GPU behind a bridge, under
 * umockdev-wrapper, and does what lines in FIFO say: "plug" and "unplug" a second GPU with their
 * uevents; "resize" the first one's BAR and "narrow" its link, which no uevent tells of.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <fcntl.h>

#include <umockdev.h>

struct machine {
	UMockdevTestbed *testbed;
	gchar *bridge, *gpu, *second;
};

static const char small[] = "0x00000000e0000000 0x00000000efffffff 0x000000000014220c\n";
static const char large[] = "0x0000006000000000 0x00000063ffffffff 0x000000000014220c\n";

static gchar *add_gpu(struct machine *m, const char *address, const char *resource)
{
	return umockdev_testbed_add_device(m->testbed, "pci", address, m->bridge, "vendor",
		"0x10de", "device", "0x2684", "class", "0x030000", "subsystem_vendor", "0x10de",
		"subsystem_device", "0x0001", "resource", resource, "current_link_speed",
		"16.0 GT/s PCIe", "max_link_speed", "16.0 GT/s PCIe", "current_link_width", "16",
		"max_link_width", "16", NULL, NULL);
}

static void build(struct machine *m)
{
	m->testbed = umockdev_testbed_new();
	m->bridge = umockdev_testbed_add_device(m->testbed, "pci", "pci0000:00/0000:00:01.0", NULL,
		"vendor", "0x8086", "device", "0x460d", "class", "0x060400", NULL, NULL);
	m->gpu = add_gpu(m, "0000:41:00.0", small);
}

static void obey(struct machine *m, const char *order)
{
	if (!strcmp(order, "plug") && !m->second) {
		m->second = add_gpu(m, "0000:42:00.0", large);
	} else if (!strcmp(order, "unplug") && m->second) {
		umockdev_testbed_uevent(m->testbed, m->second, "remove");
		umockdev_testbed_remove_device(m->testbed, m->second);
		g_free(m->second);
		m->second = NULL;
	} else if (!strcmp(order, "resize")) {
		umockdev_testbed_set_attribute(m->testbed, m->gpu, "resource", large);
	} else if (!strcmp(order, "narrow")) {
		umockdev_testbed_set_attribute(m->testbed, m->gpu, "current_link_width", "8");
	} else {
		fprintf(stderr, "plug: '%s' is no order\n", order);
	}
}

int main(int argc, char **argv)
{
	struct machine m = {0};
	char line[256];
	int status;
	if (argc < 3) {
		fprintf(stderr, "usage: plug FIFO COMMAND...\n");
		return 3;
	}
	build(&m);
	int fd = open(argv[1], O_RDWR | O_CLOEXEC | O_NONBLOCK);
	pid_t child = fd < 0 ? -1 : fork();
	if (child < 0) {
		perror("plug");
		return 3;
	}
	if (child == 0) {
		execvp(argv[2], argv + 2);
		perror(argv[2]);
		_exit(127);
	}
	FILE *orders = fdopen(fd, "r+");
	struct pollfd p = {.fd = fd, .events = POLLIN};
	while (waitpid(child, &status, WNOHANG) == 0) {
		if (poll(&p, 1, 50) > 0 && fgets(line, sizeof(line), orders)) {
			line[strcspn(line, "\n")] = '\0';
			obey(&m, line);
		}
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
