/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The machine as a value: what was read, by whom, and what could not be read.
 *
 * A source fills one, pcie_merge() joins those of several witnesses, and from
 * then on it is const: verdicts, plans, diffs, text, JSON and screens are
 * functions of it. Devices refer to each other by index, never by pointer, so a
 * snapshot can be grown, compared, handed to another thread and freed with one
 * call. One owner; no function here is safe on a snapshot that another thread
 * changes.
 *
 * A group of facts has four states. UNKNOWN: nobody
 * looked. ABSENT: looked, and it is not there. DENIED: the source refused
 * (privilege, sleeping device). KNOWN: the members are valid. Only KNOWN makes
 * the members mean anything.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/macros.h"
#include "pcie/addr.h"

enum pcie_fact { PCIE_UNKNOWN = 0, PCIE_ABSENT, PCIE_DENIED, PCIE_KNOWN };

/* A question that the source may have left open. */
enum pcie_tri { PCIE_TRI_UNKNOWN = 0, PCIE_NO, PCIE_YES };

/* Index into pcie_snapshot.source: who said so. 0 is "nobody". */
typedef uint8_t pcie_src;

enum pcie_bar_kind { PCIE_BAR_NORMAL, PCIE_BAR_ROM, PCIE_BAR_VF };

/* A BAR as the register holds it (PCI 3.0, 6.2.5.1): never mixed with the kernel's view. */
struct pcie_bar_register {
	enum pcie_fact have; /* ABSENT: the register reads 0 and no type bit is set */
	pcie_src src;
	bool io, is64, prefetchable;
	uint64_t base; /* bus address; 0: not assigned */
};

struct pcie_bar {
	/* The kernel's view (sysfs "resource"), or what the text says in its place. */
	enum pcie_fact have; /* ABSENT: the kernel lists no such BAR (also a wiped one) */
	pcie_src src;
	enum pcie_bar_kind kind;
	int8_t index; /* 0–5; ROM: 6; VF: 0–5; -1: the text has none */
	bool io, is64, prefetchable;
	bool has_base, has_size;
	bool is64_known;              /* is64 and prefetchable were stated, not defaulted */
	enum pcie_tri assigned;       /* has a valid address in the final state */
	enum pcie_tri decode_enabled; /* command register's I/O or memory enable */
	bool ignored;        /* lspci <ignored>: the kernel rejected the firmware's value */
	bool is_virtual;     /* lspci [virtual]: the kernel has an address, the register 0 */
	bool from_register;  /* no list was read: the view above repeats the register */
	bool enhanced;       /* Enhanced Allocation: the register says nothing */
	uint64_t base, size; /* CPU address, bytes; for VF: all VFs together */
	struct pcie_bar_register reg;
};

enum { PCIE_REBAR_ENTRIES = 6, PCIE_REBAR_UNIT_SHIFT = 20 };

/* Bit n of SUPPORTED: 2^(20 + n) bytes (PCIe 6.0, 7.8.6). */
struct pcie_rebar_entry {
	uint8_t bar;
	bool has_current;
	uint64_t current; /* bytes; from the control register, else the BAR's length */
	uint64_t supported;
};

struct pcie_rebar {
	enum pcie_fact have;
	pcie_src src;
	uint16_t offset;    /* in config space; 0 when the witness was resourceN_resize or text */
	bool sizes_unknown; /* the text names the capability without sizes */
	bool null_cap; /* a Null capability stands in the extended list: a hypervisor hides one */
	uint8_t count;
	struct pcie_rebar_entry entry[PCIE_REBAR_ENTRIES];
};

enum pcie_window_kind { PCIE_WINDOW_IO, PCIE_WINDOW_MEM, PCIE_WINDOW_PREF, PCIE_WINDOWS };

struct pcie_window {
	enum pcie_fact have; /* kernel's view; ABSENT: disabled or none */
	pcie_src src;
	bool is64;
	bool unassigned;    /* size known (limit - base + 1), no address */
	bool from_register; /* as in struct pcie_bar */
	uint64_t base, limit;
	struct {
		enum pcie_fact have;
		pcie_src src;
		bool is64;
		uint64_t base, limit; /* limit < base: disabled, and have is ABSENT */
	} reg;
};

/* Speeds in units of 100 MT/s: 25, 50, 80, 160, 320, 640. 0: not said. */
struct pcie_link {
	enum pcie_fact have;
	pcie_src src;
	uint16_t speed, max_speed;
	uint8_t width, max_width;
};

struct pcie_vram {
	enum pcie_fact have;
	pcie_src src;
	uint64_t bytes;
	char what[32]; /* the reading: "mem_info_vram_total", "FB Memory Usage Total", … */
	uint64_t bar1; /* what the driver maps through the VRAM BAR; 0: not said */
};

struct pcie_aer {
	enum pcie_fact have;
	pcie_src src;
	uint64_t correctable, nonfatal, fatal;
};

/* Access Control Services of a port or function (PCIe 6.0, 7.7.11). */
struct pcie_acs {
	enum pcie_fact have;
	pcie_src src;
	bool redirect; /* P2P Request or Completion Redirect: peer traffic goes up first */
	uint16_t control;
};

struct pcie_option {
	char name[32]; /* "EnableResizableBar", "rebar", "vram_bar_size", … */
	char value[32];
	pcie_src src;
};

enum { PCIE_BARS = 13, PCIE_OPTIONS = 8 };

/* What config space tells beside BARs: bits, valid when config_bytes covers them. */
enum pcie_port_type {
	PCIE_PORT_NONE = 0,
	PCIE_PORT_ENDPOINT,
	PCIE_PORT_ROOT,
	PCIE_PORT_UPSTREAM,
	PCIE_PORT_DOWNSTREAM,
	PCIE_PORT_BRIDGE,
	PCIE_PORT_RC_ENDPOINT
};

struct pcie_device {
	struct pcie_addr addr;
	int parent;    /* index of the upstream bridge, -1 at a root bus or when not known */
	char root[16]; /* name of the root bus it hangs under: "pci0000:00"; "" when not known */

	/* A text may give one half: a vendor or device of 0 was not said. */
	enum pcie_fact have_ids, have_subsystem, have_class;
	pcie_src ids_src;
	uint16_t vendor, device, subvendor, subdevice;
	uint32_t class_code; /* 24 bits: class, subclass, programming interface */
	uint8_t revision;
	bool class_no_progif; /* the text gave 16 bits only */
	char name[128];       /* from pci.ids or the text; "" when none */

	uint16_t config_bytes;       /* really read: 0, 64, 128, 256, 4096 */
	bool config_gone;            /* reads all ones: off the bus, or powered down (D3cold) */
	enum pcie_fact config;       /* DENIED: only the first 64 bytes, privilege missing */
	enum pcie_fact capabilities; /* the list was seen to its end / denied / nobody looked */
	enum pcie_fact ext_capabilities;
	enum pcie_tri io_enable, mem_enable, bus_master; /* command register */

	/* The kernel's view of every slot was read (sysfs "resource"): what is not in bar[] is
	 * not there. Never true of text, which leaves out what failed. */
	bool bars_complete;
	uint8_t nbar;
	struct pcie_bar bar[PCIE_BARS];
	struct pcie_rebar rebar, vf_rebar;

	bool is_bridge;
	uint8_t secondary, subordinate; /* bus numbers, bridges with is_bridge */
	struct pcie_window window[PCIE_WINDOWS];
	enum pcie_port_type port_type;
	bool hotplug_slot; /* Slot Capabilities: Hot-Plug Capable */
	bool removable;    /* sysfs "removable", or behind a Thunderbolt/USB4 port */

	struct pcie_link link;
	struct pcie_vram vram;
	struct pcie_aer aer;
	struct pcie_acs acs;

	enum pcie_fact have_driver; /* ABSENT: none bound */
	pcie_src driver_src;
	char driver[32];
	uint8_t noption;
	struct pcie_option option[PCIE_OPTIONS];
	char vbios[32];

	enum pcie_fact have_numa, have_iommu;
	int numa; /* -1: the firmware does not say */
	int iommu_group;
	enum pcie_tri boot_vga;
	enum pcie_tri is_vf; /* sysfs physfn, or SR-IOV VF in the text */
	int physfn;          /* index, -1 */
	uint16_t sriov_total, sriov_num;
	uint64_t dma_mask_bits; /* 0: not said */
	char power[24];         /* "D0", "D3cold", "active", "suspended"; "" when not known */
	pcie_src power_src;
	bool asleep;   /* was not read further so as not to wake it */
	bool coherent; /* memory is the CPU's own address space: BAR1 is N/A (GH200, GB10) */
	bool mig;      /* sizes are a MIG instance's */
};

/* A host bridge's range of CPU addresses for PCI, or a root bus resource. */
struct pcie_aperture {
	char root[16]; /* "pci0000:00" or "" */
	uint64_t base, limit;
	pcie_src src;
	bool prefetchable;
	bool io;
	bool kernel_made; /* pci=big_root_window, pci=nocrs: the kernel's, not the firmware's */
	bool translated;  /* the log gives another bus address */
	bool ignored;     /* the kernel dropped it ("not CPU addressable", conflicts) */
};

/* One line of /proc/iomem, tree by ranges. */
struct pcie_iomem {
	uint64_t base, limit;
	int parent; /* index or -1 */
	char name[48];
};

enum pcie_final {
	PCIE_FINAL_UNKNOWN,
	PCIE_FINAL_ASSIGNED,
	PCIE_FINAL_FAILED,
	PCIE_FINAL_RELEASED,
	PCIE_FINAL_NO_SPACE,
	PCIE_FINAL_CANT_CLAIM
};

/* The history of one resource in a kernel log: firmware's address → tries → final state. */
struct pcie_history {
	struct pcie_addr addr;
	int dev;           /* index, -1 */
	char resource[32]; /* "BAR 2", "bridge window pref", "ROM", "VF BAR 0", … */
	int8_t bar;        /* 0–5, 6 ROM, -1 */
	bool vf, window, io, is64, prefetchable;
	enum pcie_final final;
	bool has_base, has_size, has_firmware;
	uint64_t base, size;    /* of the last message */
	uint64_t firmware_base; /* the first-enumeration line's */
	bool pinned;            /* "was not released (still contains assigned resources)" */
	bool after_driver;      /* the last try came from a driver's resize */
	uint32_t *line;         /* numbers in pcie_snapshot.line, ascending */
	uint32_t nline, cap;
};

/* What a driver or the kernel said about a device, beyond the resource's history. */
enum pcie_statement_kind {
	PCIE_SAID_RESIZE_FAILED,  /* driver: resize failed; VALUE: wanted bytes, 0 unknown */
	PCIE_SAID_RESIZED,        /* driver: resized; VALUE: bytes */
	PCIE_SAID_NO_PLATFORM,    /* i915, xe: platform support is missing */
	PCIE_SAID_INVALID_REGION, /* NVRM: This PCI I/O region … is invalid; VALUE: BAR index */
	PCIE_SAID_PROBE_FAILED,   /* probe of … failed with error; VALUE: errno */
	PCIE_SAID_XID,            /* NVRM: Xid; VALUE: number */
	PCIE_SAID_AER,            /* AER message; VALUE: 1 correctable, 2 non-fatal, 3 fatal */
	PCIE_SAID_LINK,           /* "available PCIe bandwidth, limited by"; VALUE: kb/s */
	PCIE_SAID_SMALL_BAR,      /* xe/i915: small BAR device, reduced BAR size */
	PCIE_SAID_CANT_ENABLE,    /* "can't enable device" */
	PCIE_SAID_CANT_RESERVE,   /* "can't reserve": another owner; VALUE: BAR index */
	PCIE_SAID_RESIZE_TRY,     /* driver or shell: tries to resize; VALUE: wanted bytes */
	PCIE_SAID_CANNOT_FIT,     /* a bridge: its window is too small; VALUE: needed bytes */
	PCIE_SAID_CONFLICT,       /* address conflict with the firmware's or another range */
	PCIE_SAID_TRY_REALLOC,    /* "try booting with pci=realloc" */
	PCIE_SAID_AUTO_REALLOC,   /* "Automatically enabled pci realloc" */
	PCIE_SAID_NO_LOW_GAP,     /* "Cannot find an available gap in the 32-bit address range" */
	PCIE_SAID_NO_64BIT,       /* "can't handle BAR above 4GB": a 32-bit kernel */
	PCIE_SAID_NO_BUS_NUMBERS, /* "devices behind bridge are unusable" */
	PCIE_SAID_WINDOW_CUT,     /* host bridge window ignored, clipped or not addressable */
	PCIE_SAID_NO_EXT_CONFIG,  /* extended configuration space not accessible */
	PCIE_SAID_INIT_FAILED,    /* RmInitAdapter, "Fatal error during GPU init" */
	PCIE_SAID_FELL_OFF,       /* fallen off the bus, D3cold and inaccessible */
	PCIE_SAID_OTHER,
};

struct pcie_statement {
	enum pcie_statement_kind kind;
	struct pcie_addr addr;
	int dev; /* index, -1 */
	uint64_t value;
	uint32_t line;
};

struct pcie_note {
	int dev; /* index, -1: the machine */
	char text[200];
};

/* A setup item that the firmware itself shows (/sys/class/firmware-attributes). */
struct pcie_setup_item {
	char name[64];        /* its display name, else the attribute's */
	enum pcie_fact value; /* DENIED: the item is there, its value needs root */
	char current[48];
};

enum { PCIE_SETUP_ITEMS = 8 };

struct pcie_host {
	enum pcie_fact have_kernel, have_arch, have_efi, have_phys_bits, have_dmi, have_virtual,
		have_cmdline;
	char kernel[96];
	char arch[16]; /* uname -m: "x86_64", "aarch64", "ppc64le", … */
	bool efi;
	pcie_src efi_src;
	uint8_t phys_bits;
	char bios_vendor[64], bios_version[64], bios_date[16], board[96], sys_vendor[64],
		product[64];
	bool is_virtual;
	char virt[32]; /* the hypervisor, or "" */
	char cmdline[1024];
	/* Only items on Above 4G, Resizable BAR, MMIO, CSM and SR-IOV are kept. ABSENT: the
	 * firmware shows none. */
	enum pcie_fact have_setup;
	uint8_t nsetup;
	struct pcie_setup_item setup[PCIE_SETUP_ITEMS];
	/* The ReBarUEFI module's variable: 0 off, n: at most 2^n MiB, 32: no limit. */
	enum pcie_fact have_rebar_uefi;
	uint8_t rebar_uefi;
	enum pcie_fact have_firmware_time; /* FPDT: power-on to the operating system's loader */
	uint64_t firmware_ns;
};

/* How far the log reaches: an answer "not in the log" needs COMPLETE. */
enum pcie_log_cover { PCIE_LOG_NONE, PCIE_LOG_CUT, PCIE_LOG_COMPLETE };

struct pcie_snapshot {
	char origin[128]; /* "live", "sysfs tree PATH", "record PATH", "text PATH", … */
	char boot_id[40]; /* live only; "" else */
	char **source;    /* [0] "nobody"; owned strings */
	size_t nsource, capsource;

	struct pcie_host host;
	struct pcie_device *dev; /* sorted by address after pcie_snapshot_settle() */
	size_t ndev, capdev;
	uint32_t *index; /* hash of addresses: snapshot.c's own */
	size_t nindex;
	struct pcie_aperture *aperture;
	size_t naperture, capaperture;
	struct pcie_iomem *iomem;
	size_t niomem, capiomem;
	enum pcie_fact have_iomem; /* DENIED: names with all-zero numbers */
	bool apertures_complete;   /* the whole root bus list was seen */

	struct pcie_history *history;
	size_t nhistory, caphistory;
	struct pcie_statement *statement;
	size_t nstatement, capstatement;
	char **line; /* the log lines that histories and statements cite; owned */
	size_t nline, capline;
	enum pcie_log_cover log;
	unsigned boots; /* kernel starts seen in the log; 2 or more is said */

	struct pcie_note *note;
	size_t nnote, capnote;
};

struct pcie_snapshot *pcie_snapshot_create(const char *origin);
void pcie_snapshot_destroy(struct pcie_snapshot *s);

/* ORIGIN as a sentence says it: "this machine" for the live one. Valid as long as S. */
const char *pcie_origin_name(const struct pcie_snapshot *s);

/* The index of the source named NAME, made when new. At most 255. */
pcie_src pcie_snapshot_source(struct pcie_snapshot *s, const char *name);

/* Appends a device with its defaults (parent -1, …); the pointer holds until the next add. */
struct pcie_device *pcie_snapshot_add(struct pcie_snapshot *s, struct pcie_addr addr);
void pcie_snapshot_note(struct pcie_snapshot *s, int dev, const char *fmt, ...) PRINTF(3, 4);
struct pcie_aperture *pcie_snapshot_add_aperture(struct pcie_snapshot *s);

/* Index of the device at A, or -1; in constant time. A device's address is fixed by add. */
int pcie_snapshot_find(const struct pcie_snapshot *s, struct pcie_addr a);

/*
 * Sorts the devices by address and their BARs by number, remaps every index, drops BARs
 * that neither view knows, and joins children to bridges by bus number where no source
 * gave the parent. Call when filled; calling it again after a change is allowed.
 */
void pcie_snapshot_settle(struct pcie_snapshot *s);

/* Equal in everything but origin and boot_id. On false, WHERE (may be NULL) says the first
 * difference. */
bool pcie_snapshot_equal(const struct pcie_snapshot *a, const struct pcie_snapshot *b, char *where,
	size_t where_size);

/* The BAR of this kind and index, made when new; NULL when all slots are taken. */
struct pcie_bar *pcie_device_bar(struct pcie_device *d, enum pcie_bar_kind kind, int index);
const struct pcie_bar *pcie_device_find_bar(
	const struct pcie_device *d, enum pcie_bar_kind kind, int index);

/* Memory of the device with an address and a length, in the kernel's list or a text's. */
bool pcie_bar_is_placed(const struct pcie_bar *b);
/* Of two that are placed. */
bool pcie_bars_overlap(const struct pcie_bar *a, const struct pcie_bar *b);

/*
 * Class 03xxxx or 1200xx: judged as a GPU. iGPUs and BMC displays are in; see pcie_device_kind().
 * Where no witness told the class: a GPU's driver, VRAM, or a BAR that is or may grow to 256 MiB.
 */
bool pcie_device_is_gpu(const struct pcie_device *d);

/*
 * The BAR that maps VRAM, by nature and not by number: the one that the ReBAR list
 * names with the largest range, else the largest 64-bit prefetchable memory BAR, else the
 * largest prefetchable one. Index into d->bar or -1, also when the list names one that no
 * witness shows.
 */
int pcie_device_vram_bar(const struct pcie_device *d);

const char *pcie_fact_name(enum pcie_fact f); /* "unknown", "absent", "denied", "known" */
