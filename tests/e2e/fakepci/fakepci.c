// SPDX-License-Identifier: GPL-2.0
/* A host bridge that exists only in memory: one root port and one endpoint with a
 * Resizable BAR capability, so that the kernel's own PCI core (sizing, assignment,
 * resourceN_resize) can be exercised without hardware.  Test guests only: the BARs
 * have nothing behind them. */
#include <linux/init.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/sizes.h>
#include <linux/slab.h>

static ushort vendor = 0x10de, device = 0x1234;
static uint class = 0x030200;
static ulong win32_base = 0x20000000, win32_size = 0x20000000;
static ulong win64_base = 0x2000000000, win64_size = 0x1000000000;
static uint sizes = 0x7f00; /* bit n set: 2^n MiB supported (here 256 MiB to 16 GiB) */
static uint cur = 8;        /* current size: 2^cur MiB */
static int domain = 0x10;
static bool rebar = true, vfrebar;
module_param(vendor, ushort, 0444);
module_param(device, ushort, 0444);
module_param(class, uint, 0444);
module_param(win32_base, ulong, 0444);
module_param(win32_size, ulong, 0444);
module_param(win64_base, ulong, 0444);
module_param(win64_size, ulong, 0444);
module_param(sizes, uint, 0444);
module_param(cur, uint, 0444);
module_param(domain, int, 0444);
module_param(rebar, bool, 0444);
module_param(vfrebar, bool, 0444);

#define CFG 4096
struct fn {
	u8 val[CFG], wmask[CFG];
	bool endpoint;
};
static struct fn port, ep;
static struct pci_sysdata sd = {.node = NUMA_NO_NODE};
static struct resource r_bus = {
	.name = "fakepci bus", .start = 0, .end = 1, .flags = IORESOURCE_BUS};
static struct resource r_32 = {.name = "PCI Bus fake (32-bit)", .flags = IORESOURCE_MEM};
static struct resource r_64 = {.name = "PCI Bus fake (64-bit)",
	.flags = IORESOURCE_MEM | IORESOURCE_MEM_64 | IORESOURCE_PREFETCH};
static struct pci_bus *root;

static void p16(u8 *p, u16 v)
{
	p[0] = v;
	p[1] = v >> 8;
}
static void p32(u8 *p, u32 v)
{
	p16(p, v);
	p16(p + 2, v >> 16);
}
static u32 g32(u8 *p)
{
	return p[0] | p[1] << 8 | p[2] << 16 | (u32)p[3] << 24;
}

static void bar64(struct fn *f, int n, u64 size, u32 flags)
{
	u64 m = ~(size - 1);

	p32(f->val + 0x10 + 4 * n, flags);
	p32(f->wmask + 0x10 + 4 * n, (u32)m & ~0xfu);
	p32(f->wmask + 0x14 + 4 * n, m >> 32);
	/* address bits below the (new) size read as zero */
	p32(f->val + 0x14 + 4 * n, 0);
}

static struct fn *find(struct pci_bus *bus, unsigned int devfn)
{
	if (devfn)
		return NULL;
	if (pci_is_root_bus(bus))
		return &port;
	return bus->number == port.val[PCI_SECONDARY_BUS] ? &ep : NULL;
}

static int rd(struct pci_bus *bus, unsigned int devfn, int where, int len, u32 *val)
{
	struct fn *f = find(bus, devfn);
	int i;

	if (!f || where + len > CFG) {
		*val = ~0;
		return PCIBIOS_DEVICE_NOT_FOUND;
	}
	for (*val = 0, i = 0; i < len; i++)
		*val |= (u32)f->val[where + i] << (8 * i);
	return PCIBIOS_SUCCESSFUL;
}

static int wr(struct pci_bus *bus, unsigned int devfn, int where, int len, u32 val)
{
	struct fn *f = find(bus, devfn);
	u32 before, after;
	int i;

	if (!f || where + len > CFG)
		return PCIBIOS_DEVICE_NOT_FOUND;
	before = g32(ep.val + 0x108);
	for (i = 0; i < len; i++) {
		u8 m = f->wmask[where + i];

		f->val[where + i] = (f->val[where + i] & ~m) | ((val >> (8 * i)) & m);
	}
	after = g32(ep.val + 0x108);
	if (f == &ep && rebar && before != after) {
		u32 n = (after >> 8) & 0x3f;

		pr_info("fakepci: resizable BAR 1 size field %u -> %u\n", (before >> 8) & 0x3f, n);
		bar64(&ep, 1, (u64)SZ_1M << n, 0xc);
	}
	return PCIBIOS_SUCCESSFUL;
}
static struct pci_ops ops = {.read = rd, .write = wr};

static void build(void)
{
	/* root port */
	p16(port.val, 0x1b36);
	p16(port.val + 2, 0xfa4e);
	p16(port.wmask + 4, 0x0547);
	p16(port.val + 6, PCI_STATUS_CAP_LIST);
	p32(port.val + 8, 0x06040000);
	port.val[0xe] = 1;
	p32(port.wmask + 0x18, 0x00ffffff);
	p32(port.wmask + 0x20, 0xfff0fff0);
	p32(port.val + 0x24, 0x00010001);
	p32(port.wmask + 0x24, 0xfff0fff0);
	p32(port.wmask + 0x28, ~0);
	p32(port.wmask + 0x2c, ~0);
	port.val[0x34] = 0x40;
	p16(port.wmask + 0x3e, 0x0fff);
	p32(port.val + 0x40, 0x00420010); /* PCIe, v2, root port */
	p32(port.val + 0x4c, 0x00000104); /* link: gen4, x16 */
	p16(port.val + 0x52, 0x0104);
	/* endpoint */
	p16(ep.val, vendor);
	p16(ep.val + 2, device);
	p16(ep.wmask + 4, 0x0547);
	p16(ep.val + 6, PCI_STATUS_CAP_LIST);
	p32(ep.val + 8, class << 8 | 0xa1);
	p32(ep.val + 0x10, 0);
	p32(ep.wmask + 0x10, ~(SZ_16M - 1));
	bar64(&ep, 1, (u64)SZ_1M << cur, 0xc);
	bar64(&ep, 3, SZ_32M, 0xc);
	ep.val[0x34] = 0x40;
	p32(ep.val + 0x40, 0x00020010); /* PCIe, v2, endpoint */
	p32(ep.val + 0x4c, 0x00000104);
	p16(ep.val + 0x52, 0x0104);
	if (rebar) {
		p32(ep.val + 0x100, 0x00010015);
		p32(ep.val + 0x104, sizes << 4);
		p32(ep.val + 0x108, 1 | 1 << 5 | cur << 8);
		p32(ep.wmask + 0x108, 0x3f00);
	}
}

static int __init fakepci_init(void)
{
	LIST_HEAD(res);

	build();
	sd.domain = domain;
	pci_add_resource(&res, &r_bus);
	r_32.start = win32_base;
	r_32.end = win32_base + win32_size - 1;
	if (request_resource(&iomem_resource, &r_32))
		return -EBUSY;
	pci_add_resource(&res, &r_32);
	if (win64_size) {
		r_64.start = win64_base;
		r_64.end = win64_base + win64_size - 1;
		if (request_resource(&iomem_resource, &r_64)) {
			release_resource(&r_32);
			return -EBUSY;
		}
		pci_add_resource(&res, &r_64);
	}
	pci_lock_rescan_remove();
	root = pci_create_root_bus(NULL, 0, &ops, &sd, &res);
	if (!root) {
		pci_unlock_rescan_remove();
		return -ENODEV;
	}
	pci_scan_child_bus(root);
	pci_assign_unassigned_bus_resources(root);
	pci_bus_add_devices(root);
	pci_unlock_rescan_remove();
	return 0;
}

static void __exit fakepci_exit(void)
{
	pci_lock_rescan_remove();
	pci_stop_root_bus(root);
	pci_remove_root_bus(root);
	pci_unlock_rescan_remove();
	release_resource(&r_32);
	if (win64_size)
		release_resource(&r_64);
}
module_init(fakepci_init);
module_exit(fakepci_exit);
MODULE_LICENSE("GPL");
