# SPDX-License-Identifier: GPL-2.0-or-later
"""Made-up machines, as a sysfs tree or as a record in umockdev's format.

Registers and the kernel's view are made from one description, so they agree unless a
test says otherwise. Sections are those of the PCI Express Base Specification 6.0 and PCI 3.0.
"""

import os
import struct

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30

IO, MEM, PREF, SIZEALIGN, MEM64, WINDOW = 0x100, 0x200, 0x2000, 0x40000, 0x100000, 0x200000
STARTALIGN, UNSET, ROM_BITS = 0x80000, 0x20000000, 0x46200


class Bar:
    """A BAR of SIZE bytes at BASE: kind "mem32", "pref32", "mem64", "pref64" or "io"."""

    def __init__(self, index, base, size, kind="mem32", kernel=True, assigned=True, register=None):
        self.index, self.base, self.size, self.kind = index, base, size, kind
        self.kernel, self.assigned, self.register = kernel, assigned, register

    @property
    def is64(self):
        return self.kind.endswith("64")

    def flags(self):
        if self.kind == "io":
            return IO | SIZEALIGN | 1
        raw = (4 if self.is64 else 0) | (8 if self.kind.startswith("pref") else 0)
        return (MEM | SIZEALIGN | raw | (PREF if raw & 8 else 0) | (MEM64 if raw & 4 else 0))

    def line(self):
        if not self.kernel:
            return (0, 0, 0)
        if not self.assigned:
            return (0, self.size - 1, self.flags() | UNSET)
        return (self.base, self.base + self.size - 1, self.flags())

    def put(self, config, at=0x10):
        value = self.base if self.register is None else self.register
        low = 1 if self.kind == "io" else self.flags() & 0xf
        struct.pack_into("<I", config, at + 4 * self.index, value & 0xffffffff | low)
        if self.is64:
            struct.pack_into("<I", config, at + 4 * self.index + 4, value >> 32)


class Device:
    """One function. PATH: "/devices/pci0000:00/0000:00:01.0"."""

    def __init__(self, path, vendor, device, cls, **more):
        self.path, self.vendor, self.device, self.cls = path, vendor, device, cls
        self.sub = more.pop("sub", (0, 0))
        self.revision = more.pop("revision", 0)
        self.bars = more.pop("bars", [])
        self.vf_bars = more.pop("vf_bars", None)  # a list makes an SR-IOV capability
        self.vfs = more.pop("vfs", (0, 0))  # total, enabled
        self.rom = more.pop("rom", None)  # (base, size)
        self.windows = more.pop("windows", None)  # io, mem, pref: (base, limit) or None
        self.window_registers = more.pop("window_registers", self.windows)
        self.buses = more.pop("buses", None)  # primary, secondary, subordinate
        self.port = more.pop("port", None)  # PCIe device/port type, 7.5.3.2
        self.slot = more.pop("slot", None)  # None, or hot-plug capable?
        self.link = more.pop("link", None)  # (speed code, width, max speed code, max width)
        self.rebar = more.pop("rebar", [])  # [(bar, size, [sizes])]
        self.vf_rebar = more.pop("vf_rebar", [])
        self.serial = more.pop("serial", None)
        self.aer = more.pop("aer", False)
        self.null_cap = more.pop("null_cap", False)
        self.command = more.pop("command", 7)
        self.config_len = more.pop("config_len", 4096 if self.port is not None else 256)
        self.config_bytes = more.pop("config", None)
        self.iov = more.pop("iov", True)  # a kernel with CONFIG_PCI_IOV
        self.driver = more.pop("driver", None)
        self.attrs = more.pop("attrs", {})
        self.links = more.pop("links", {})  # name → target below the top of sysfs
        self.drop = more.pop("drop", ())  # attributes that are not there
        if more:
            raise TypeError(f"unknown: {more}")

    @property
    def name(self):
        return self.path.rsplit("/", 1)[1]

    @property
    def is_bridge(self):
        return self.buses is not None

    def config(self):
        if self.config_bytes is not None:
            return self.config_bytes
        c = bytearray(4096)
        caps = bool(self.port is not None)
        struct.pack_into("<HHHH", c, 0, self.vendor, self.device, self.command, 0x10 if caps else 0)
        struct.pack_into("<I", c, 8, self.cls << 8 | self.revision)
        c[0x0e] = 1 if self.is_bridge else 0
        for bar in self.bars:
            bar.put(c)
        if self.is_bridge:
            c[0x18:0x1b] = bytes(self.buses)
            self.put_windows(c)
        else:
            struct.pack_into("<HH", c, 0x2c, *self.sub)
        if self.rom:
            struct.pack_into("<I", c, 0x38 if self.is_bridge else 0x30, self.rom[0])
        if caps:
            c[0x34] = 0x40
            struct.pack_into("<BBHHH", c, 0x40, 0x01, 0x60, 3, 0, 0)  # power management, D0
            flags = 2 | self.port << 4 | (0x100 if self.slot is not None else 0)
            struct.pack_into("<BBH", c, 0x60, 0x10, 0, flags)
            if self.link:
                speed, width, max_speed, max_width = self.link
                struct.pack_into("<I", c, 0x6c, max_speed | max_width << 4)
                struct.pack_into("<H", c, 0x72, speed | width << 4)
            if self.slot is not None:
                struct.pack_into("<I", c, 0x74, 0x40 if self.slot else 0)
            self.put_extended(c)
        return bytes(c[:self.config_len])

    def put_windows(self, c):
        io, mem, pref = self.window_registers
        base, limit = io or (0xf000, 0xfff)
        struct.pack_into("<BB", c, 0x1c, base >> 8 & 0xf0, limit >> 8 & 0xf0)
        base, limit = mem or (0xfff00000, 0xfffff)
        struct.pack_into("<HH", c, 0x20, base >> 16 & 0xfff0, limit >> 16 & 0xfff0)
        base, limit = pref or (0xfff00000, 0xfffff)
        struct.pack_into("<HHII", c, 0x24, base >> 16 & 0xfff0 | 1, limit >> 16 & 0xfff0 | 1,
                         base >> 32, limit >> 32)

    def put_extended(self, c):
        parts = []
        if self.aer:
            parts.append((1, 2, bytes(0x44)))
        if self.serial:
            parts.append((3, 1, self.serial))
        if self.null_cap:
            parts.append((0, 1, bytes(12)))
        for ident, entries in ((0x15, self.rebar), (0x24, self.vf_rebar)):
            if entries:
                body = b""
                for k, (bar, size, sizes) in enumerate(entries):
                    bits = sum(1 << (s.bit_length() - 21) for s in sizes)
                    control = bar | (len(entries) << 5 if k == 0 else 0)
                    control |= size.bit_length() - 21 << 8 | bits >> 28 << 16
                    body += struct.pack("<II", bits << 4 & 0xfffffff0, control)
                parts.append((ident, 1, body))
        if self.vf_bars is not None:
            body = bytearray(0x3c)
            struct.pack_into("<HHH", body, 0x08, self.vfs[0], self.vfs[0], self.vfs[1])
            for bar in self.vf_bars:
                bar.put(body, 0x20)
            parts.append((0x10, 1, bytes(body)))
        at = 0x100
        for i, (ident, version, body) in enumerate(parts):
            after = at + 4 + len(body) + 3 & ~3
            following = after if i + 1 < len(parts) else 0
            struct.pack_into("<I", c, at, ident | version << 16 | following << 20)
            c[at + 4:at + 4 + len(body)] = body
            at = after

    def resource(self):
        lines = [(0, 0, 0)] * (13 if self.iov else 7)
        for bar in self.bars:
            lines[bar.index] = bar.line()
        if self.rom:
            lines[6] = (self.rom[0], self.rom[0] + self.rom[1] - 1, ROM_BITS)
        for bar in self.vf_bars or []:
            lines[7 + bar.index] = bar.line()
        if self.windows:
            io, mem, pref = self.windows
            for window, flags in ((io, IO | WINDOW | 1), (mem, MEM | WINDOW),
                                  (pref, MEM | PREF | MEM64 | WINDOW | 0x9)):
                lines.append((window[0], window[1], flags | STARTALIGN) if window else (0, 0, 0))
            lines.append((0, 0, 0))
        return "".join("0x%016x 0x%016x 0x%016x\n" % line for line in lines)

    def all_attrs(self):
        a = {
            "vendor": f"0x{self.vendor:04x}\n",
            "device": f"0x{self.device:04x}\n",
            "class": f"0x{self.cls:06x}\n",
            "revision": f"0x{self.revision:02x}\n",
            "subsystem_vendor": f"0x{self.sub[0]:04x}\n",
            "subsystem_device": f"0x{self.sub[1]:04x}\n",
            "irq": "0\n",
            "numa_node": "-1\n",
            "power_state": "D0\n",
            "power/runtime_status": "active\n",
            "resource": self.resource(),
        }
        speeds = {1: "2.5", 2: "5.0", 3: "8.0", 4: "16.0", 5: "32.0", 6: "64.0"}
        if self.link:
            speed, width, max_speed, max_width = self.link
            a["current_link_speed"] = f"{speeds[speed]} GT/s PCIe\n"
            a["current_link_width"] = f"{width}\n"
            a["max_link_speed"] = f"{speeds[max_speed]} GT/s PCIe\n"
            a["max_link_width"] = f"{max_width}\n"
        for bar, _, sizes in self.rebar:
            a[f"resource{bar}_resize"] = "%016x\n" % sum(1 << (s.bit_length() - 21) for s in sizes)
        if self.vf_bars is not None:
            a["sriov_totalvfs"] = f"{self.vfs[0]}\n"
            a["sriov_numvfs"] = f"{self.vfs[1]}\n"
        a.update(self.attrs)
        return {k: v for k, v in a.items() if k not in self.drop}

    def all_links(self):
        up = "../" * self.path.count("/")  # to the top of sysfs
        links = {name: up + target for name, target in self.links.items()}
        if self.driver:
            links["driver"] = f"{up}bus/pci/drivers/{self.driver}"
        return links


class Machine:
    """HOST: file below the root → text, "proc/iomem" and such."""

    def __init__(self, devices, host=None):
        self.devices, self.host = devices, host or {}

    def write_tree(self, root):
        bus = os.path.join(root, "sys/bus/pci/devices")
        os.makedirs(bus)
        for d in self.devices:
            folder = f"{root}/sys{d.path}"
            os.makedirs(folder, exist_ok=True)
            for name, text in d.all_attrs().items():
                path = os.path.join(folder, name)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "w", encoding="utf-8") as f:
                    f.write(text)
            if "config" not in d.drop:
                with open(os.path.join(folder, "config"), "wb") as f:
                    f.write(d.config())
            for name, target in d.all_links().items():
                os.symlink(target, os.path.join(folder, name))
            if d.driver:
                os.makedirs(f"{root}/sys/bus/pci/drivers/{d.driver}", exist_ok=True)
            os.symlink(f"../../..{d.path}", os.path.join(bus, d.name))
        for name, text in self.host.items():
            path = os.path.join(root, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)

    def record(self):
        out = []
        for d in self.devices:
            lines = [f"P: {d.path}", "E: SUBSYSTEM=pci", f"E: PCI_SLOT_NAME={d.name}"]
            if "config" not in d.drop:
                lines.append("H: config=" + d.config().hex().upper())
            for name, text in d.all_attrs().items():
                text = text.replace("\\", "\\\\").replace("\n", "\\n")
                lines.append(f"A: {name}={text}")
            lines += [f"L: {name}={target}" for name, target in d.all_links().items()]
            out.append("\n".join(lines) + "\n")
        host = ["P: /devices/virtual/barscope/host", "E: SUBSYSTEM=barscope",
                "A: barscope_capture=1"]
        for name, text in self.host.items():
            text = text.replace("\\", "\\\\").replace("\n", "\\n")
            host.append(f"A: {name}={text}")
        out.append("\n".join(host) + "\n")
        return "\n".join(out)


ROOT, UPSTREAM, DOWNSTREAM, ENDPOINT, RC_ENDPOINT = 4, 5, 6, 0, 9


def sizes(low, high):
    """All powers of two from LOW to HIGH bytes."""
    out = []
    while low <= high:
        out.append(low)
        low *= 2
    return out
