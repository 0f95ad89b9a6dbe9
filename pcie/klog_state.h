/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The log reader's state while it goes through a text: devices as a snapshot in
 * the making, one history for each resource, root buses, and what is not yet
 * joined to a device. One owner, one thread. Private to klog*.c.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pcie/klog_lines.h"
#include "pcie/klog_scan.h"
#include "pcie/snapshot.h"

/* A resource's number as kernels with SR-IOV count: sysfs "resource" has the same order. */
enum {
	KLOG_ROM = 6,
	KLOG_VF = 7,
	KLOG_WINDOW_IO = 13,
	KLOG_WINDOW_MEM,
	KLOG_WINDOW_PREF,
	KLOG_SLOTS
};

/* What the last message says about a resource. */
enum klog_state {
	KLOG_NOTHING,
	KLOG_FIRMWARE, /* enumerated with the firmware's address */
	KLOG_UNSET,    /* enumerated without a usable address */
	KLOG_RELEASED, /* given back, nothing said since */
	KLOG_WIPED,    /* "releasing [??? 0x00000000 flags 0x0]": it never had an address */
	KLOG_NO_SPACE,
	KLOG_FAILED,
	KLOG_CANT_CLAIM,
	KLOG_ASSIGNED,
	KLOG_LOST,   /* a failed resize left it open */
	KLOG_ABSENT, /* a window that the last list of its bridge leaves out */
};

/* What a message says about a resource. */
enum klog_verb {
	KLOG_SAYS_ENUMERATED,
	KLOG_SAYS_ASSIGNED,
	KLOG_SAYS_RELEASING,
	KLOG_SAYS_RELEASED,
	KLOG_SAYS_NO_SPACE,
	KLOG_SAYS_FAILED,
	KLOG_SAYS_CANT_CLAIM,
	KLOG_SAYS_PINNED,
	KLOG_SAYS_NOT_ASSIGNED,
	KLOG_SAYS_NOT_CLAIMED,
	KLOG_SAYS_CONFLICT,
	KLOG_SAYS_RESERVED, /* "can't reserve": it has an address, somebody else holds it */
	KLOG_SAYS_NO_64BIT,
	KLOG_SAYS_VF_SPACE,
	KLOG_SAYS_CITED, /* belongs to the history, changes nothing */
	KLOG_SAYS_IGNORED,
};

/* A line that proves something; a copy only when it was joined from pieces. */
struct klog_cite {
	const char *s;
	uint32_t len;
	uint32_t order; /* of its message in the text */
	bool owned;
};

struct klog_cites {
	struct klog_cite *cite;
	uint32_t n;
	size_t cap;
};

struct klog_resource {
	uint32_t dev; /* in the snapshot in the making */
	uint8_t slot;
	enum klog_state state;
	bool io, is64, pref, typed;
	bool has_base, has_size, has_firmware, has_old;
	bool pinned, after_driver;
	bool numbered;        /* messages called it "BAR 7" to "BAR 9": a bridge's windows once */
	bool in_resize;       /* released by a driver, which has not said how it ended */
	bool may_be_restored; /* the driver said that its resize failed */
	bool listed;          /* in the bridge's list that is being read */
	uint64_t base, size, firmware_base, old_base, old_size;
	uint64_t tried; /* the largest size that found no room since it was released */
	uint32_t order; /* of the last message */
	struct klog_cites cites;
};

/* What one device has beside its struct pcie_device. */
struct klog_device {
	uint32_t resource[KLOG_SLOTS]; /* number + 1 in klog.resource */
	uint8_t vram_rank;
	uint8_t invalid_bars; /* NVRM: bit n: BAR n has no address */
	bool again;       /* found once more: its resources begin anew with their next message */
	uint64_t found;   /* when it was found: µs + 1; 0: the text has no time */
	bool nobodys;     /* without an address, like orphan[] but another GPU: not the last one */
	bool reduced;     /* i915 goes on with less memory than there is */
	uint64_t visible; /* bytes of VRAM that the driver sees through the BAR */
	uint32_t visible_order; /* of the message that said so */
	uint8_t said[PCIE_SAID_OTHER + 1];
	uint32_t last_said[PCIE_SAID_OTHER + 1];
};

struct klog_statement {
	enum pcie_statement_kind kind;
	uint32_t dev;
	uint64_t value;
	struct klog_cite cite;
};

struct klog_root {
	uint32_t domain;
	uint8_t bus, last_bus;
	bool has_buses, has_mem;
	bool buses_last; /* "[bus 00-fe]" was the list's last line */
	bool complete;
	unsigned nlisted; /* apertures that its list has named */
	uint64_t found;   /* when "PCI host bridge to bus" was said: µs + 1; 1 without a time */
};

/* One line of a root's list. */
struct klog_listed {
	struct klog_range g;
	bool translated;
};

/* GPU drivers by maker: lines without an address belong to the one that spoke last. */
enum klog_maker { KLOG_AMD, KLOG_INTEL, KLOG_NVIDIA, KLOG_MAKERS, KLOG_NO_MAKER = KLOG_MAKERS };

#define KLOG_NO_DEVICE UINT32_MAX

/* What tells that a kernel started. */
enum klog_mark { KLOG_MARK_JOURNAL, KLOG_MARK_VERSION, KLOG_MARK_LIST };

/* Stages of a boot that a complete log shows. */
enum {
	KLOG_SEEN_VERSION = 1 << 0,
	KLOG_SEEN_CMDLINE = 1 << 1,
	KLOG_SEEN_MAP = 1 << 2,
	KLOG_SEEN_MEMORY = 1 << 3,
	KLOG_SEEN_ROOT = 1 << 4,
	KLOG_SEEN_LATE = 1 << 5,
	KLOG_SEEN_ALL = (1 << 6) - 1,
};

struct klog {
	pcie_src src;
	struct pcie_snapshot *snap; /* in the making; becomes the caller's at the end */
	struct klog_device *dev;    /* parallel to snap->dev */
	size_t capdev;
	struct klog_resource *resource;
	size_t nresource, capresource;
	struct klog_statement *statement;
	size_t nstatement, capstatement;
	struct klog_root *root;
	size_t nroot, caproot;

	/* The message in hand. */
	struct klog_message msg;
	uint32_t order;
	bool used; /* something in it was understood */

	uint32_t last_dev; /* a cache: the device of the last message */
	uint32_t bridge;   /* whose window list is being read, since LIST_ORDER */
	uint32_t list_order;
	uint32_t open_root;  /* whose list of resources is being read */
	uint32_t again_root; /* whose list is read once more, so far the same as AGAIN */
	unsigned nagain;
	struct klog_listed again[32];
	uint32_t behind[256];      /* the last bridge that leads to this bus number */
	uint32_t ctx[KLOG_MAKERS]; /* the GPU that spoke last */
	uint32_t
		orphan[KLOG_MAKERS + 1]; /* without an address: hold what is said of nobody known */
	bool nobodys[KLOG_MAKERS];       /* that one's words are about one of several GPUs */
	uint32_t nvrm;                   /* the device of the NVRM lines in hand */
	uint32_t boot_vga;               /* the last that vgaarb chose */
	uint32_t shell;                  /* the device of the last "echo N > …_resize" */
	uint64_t shell_size;
	bool pending_ids; /* amdgpu's "initializing kernel modesetting" */
	uint64_t ids[5];
	bool gpu_driver_seen;
	bool nocrs;           /* pci=nocrs: the firmware's windows are passed over */
	uint32_t acpi_domain; /* of the last "ACPI: PCI Root Bridge" */
	uint8_t acpi_bus;
	bool has_acpi_root;

	/* Boots. HOST and SEEN are this boot's; KEPT ones the last boot's that had facts. */
	struct pcie_host host, kept_host;
	unsigned seen, kept_seen; /* KLOG_SEEN_* */
	unsigned boots;
	bool facts;           /* something about PCI in this boot */
	bool new_boot;        /* a start was seen, and the facts are still an older boot's */
	enum klog_mark mark;  /* of the last start */
	unsigned since_start; /* messages since the start, to take two marks of one for one */
	const char *before;   /* the last line with facts before the second start */
	size_t before_len;
	bool full; /* a limit was reached: said once */
	int lines; /* that said something */
};

enum {
	KLOG_MAX_DEVICES = 16384,
	KLOG_MAX_ROOTS = 512,
	KLOG_MAX_APERTURES = 2048,
	KLOG_KEEP_FIRST = 8,
	KLOG_MAX_CITES = 32, /* of one resource: the first 8 and the last */
	KLOG_MAX_SAID = 16,  /* of one kind by one device: the first and the last */
};

/* klog.c */
/* The device at A, made when new; KLOG_NO_DEVICE when there are too many. */
uint32_t klog_device(struct klog *k, struct pcie_addr a);
/* The device without an address that holds what MAKER's driver says of nobody known. */
uint32_t klog_orphan(struct klog *k, enum klog_maker maker);
struct pcie_device *klog_dev(struct klog *k, uint32_t dev);
/* Something about PCI was understood: a boot that was waiting begins for real. */
void klog_fact(struct klog *k);
/* A kernel start, known by MARK. */
void klog_start(struct klog *k, enum klog_mark mark);
/* The device without an address that stands for the machine. */
uint32_t klog_machine(struct klog *k);
void klog_forget(struct klog *k);
void klog_cite(struct klog *k, struct klog_cites *c);
void klog_say(struct klog *k, uint32_t dev, enum pcie_statement_kind kind, uint64_t value);

/* klog_history.c */
struct klog_resource *klog_resource(struct klog *k, uint32_t dev, int slot);
/* The resource, or NULL when no message has named it. */
struct klog_resource *klog_find_resource(struct klog *k, uint32_t dev, int slot);
/* One message about SLOT. G is NULL when it has no range. FROM_DRIVER: not of "pci", "pcieport". */
void klog_said(struct klog *k, uint32_t dev, int slot, enum klog_verb verb,
	const struct klog_range *g, bool from_driver);
/* Before a message of a resource: those of a device that was found again are forgotten. */
void klog_found_again(struct klog *k, uint32_t dev);
/* DEV's driver said that its resize failed. Returns the size that the core found no room for
 * meanwhile; 0: not told. */
uint64_t klog_resize_failed(struct klog *k, uint32_t dev);
void klog_resized(struct klog *k, uint32_t dev);

/* klog_resource.c: a message of DEV that may be about a resource. */
bool klog_resource_message(struct klog *k, uint32_t dev, const char *s, bool from_driver);

/* klog_legacy.c: the words of 2.6.x */
bool klog_legacy_message(struct klog *k, const char *s);
/* "  MEM window: 0xfd000000-0xfeafffff" of the bridge DEV. */
bool klog_legacy_window(struct klog *k, uint32_t dev, const char *s);

/* klog_bus.c: discovery, bridges, links. */
bool klog_device_message(struct klog *k, uint32_t dev, const char *s);
bool klog_iommu_message(struct klog *k, const char *s);
/* DEV's list of windows names SLOT with G. */
void klog_window_listed(struct klog *k, uint32_t dev, int slot, const struct klog_range *g);
/* Ends the list of windows in hand when DEV and S do not go on with it. */
void klog_list_check(struct klog *k, uint32_t dev, const char *s);

/* klog_root.c */
bool klog_bus_message(struct klog *k, const char *s); /* behind "pci_bus " */
bool klog_pci_message(struct klog *k, const char *s); /* "PCI: ", "acpi PNP0A08:00: ", … */
bool klog_root_added(struct klog *k, uint32_t dev, const char *s);
/* Ends the list of a root bus in hand. AT_END: the text is over. */
void klog_root_list_ends(struct klog *k, bool at_end);

/* klog_driver.c */
enum klog_maker klog_driver_maker(const char *driver, size_t len);
/* MAKER's driver names DEV: what it says next without an address is about this one. */
void klog_driver_speaks(struct klog *k, uint32_t dev, enum klog_maker maker);
/* A driver of this name has tried DEV: it is one of those that GPUs have. */
void klog_tried_driver(struct klog *k, uint32_t dev, const char *name, size_t len);
bool klog_driver_message(struct klog *k, uint32_t dev, const char *s);
bool klog_drm_message(struct klog *k, const char *s); /* "[drm] …" and "amdgpu: …" alone */
bool klog_shell_message(struct klog *k, const char *s);

/* klog_nvrm.c: behind "NVRM: " */
bool klog_nvrm_message(struct klog *k, const char *s);

/* klog_nobody.c: what MAKER's driver said of no device becomes the only GPU's, or one's of its own.
 */
void klog_adopt(struct klog *k, enum klog_maker maker);

/* klog_host.c */
bool klog_host_message(struct klog *k, const char *s);

/* klog_finish.c: the snapshot in the making becomes facts in INTO. */
void klog_finish(struct klog *k, struct pcie_snapshot *into);
