/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pcie/mask.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/macros.h"

static void secrets_go_and_the_form_stays(void **state)
{
	(void)state;
	static const struct {
		const char *in, *out;
	} rows[] = {
		{"e1000e 0000:00:1f.6 eth0: (PCI Express) a4:bb:6d:01:02:03",
			"e1000e 0000:00:1f.6 eth0: (PCI Express) 00:00:00:00:00:00"},
		{"Device Serial Number 00-1b-21-ff-ff-aa-bb-cc",
			"Device Serial Number 00-00-00-00-00-00-00-00"},
		{"EXT4-fs (sda2): mounted filesystem 12345678-9abc-def0-1234-56789abcdef0 ro",
			"EXT4-fs (sda2): mounted filesystem 00000000-0000-0000-0000-000000000000 ro"},
		{"NVRM: GPU at PCI:0000:01:00: GPU-12345678-9abc-def0-1234-56789abcdef0",
			"NVRM: GPU at PCI:0000:01:00: GPU-00000000-0000-0000-0000-000000000000"},
		{"NVRM: GPU Board Serial Number: 1560421001234",
			"NVRM: GPU Board Serial Number: XXXXXXXXXXXXX"},
		{"usb 1-1: SerialNumber: 4C53-0001 ok", "usb 1-1: SerialNumber: XXXX-XXXX ok"},
		{"-- Boot 0123456789abcdef0123456789abcdef --",
			"-- Boot 00000000000000000000000000000000 --"},
		{"Linux version 6.1.0 (builder@myhost.example.org) (gcc)",
			"Linux version 6.1.0 (xxxxxxx@xxxxxx.xxxxxxx.xxx) (gcc)"},
		{"Nov 18 10:51:00 myhost kernel: x", "Nov 18 10:51:00 xxxxxx kernel: x"},
		{"root=/dev/mapper/myhost--vg-root", "root=/dev/mapper/xxxxxx--vg-root"},
		{"systemd[1]: Hostname set to <box>.", "systemd[1]: Hostname set to <XXX>."},
		{"nvme nvme0: subsystem nqn.2014.08.org:S4EWNX0N1",
			"nvme nvme0: subsystem nqn.XXXX.XX.XXX:XXXXXXXXX"},
		{"serial: AB12, next", "serial: XXXX, next"},
		/* these stay */
		{"pci 0000:01:00.0: BAR 1 [mem 0x6000000000-0x600fffffff 64bit pref]: assigned",
			"pci 0000:01:00.0: BAR 1 [mem 0x6000000000-0x600fffffff 64bit pref]: assigned"},
		{"pci=resource_alignment=32@pci:10de:2204",
			"pci=resource_alignment=32@pci:10de:2204"},
		{"serial8250: ttyS0 at I/O 0x3f8", "serial8250: ttyS0 at I/O 0x3f8"},
		{"[    1.234567] Memory: 32768K/65536K", "[    1.234567] Memory: 32768K/65536K"},
		{"microcode: sig=0x906ea, pf=0x2", "microcode: sig=0x906ea, pf=0x2"},
		{"02:03:04 and 11:22:33:44:55", "02:03:04 and 11:22:33:44:55"},
		{"myhostess", "myhostess"},
		{"", ""},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		size_t len;
		char *s =
			pcie_mask_text(rows[i].in, strlen(rows[i].in), "myhost.example.org", &len);
		assert_string_equal(s, rows[i].out);
		assert_int_equal(len, strlen(rows[i].in));
		free(s);
	}
}

/* Of a command line nothing personal stays, whatever its parameter's name. */
static void a_command_line_keeps_what_is_judged(void **state)
{
	(void)state;
	static const struct {
		const char *in, *out;
	} rows[] = {
		{"ip=10.1.2.3::10.1.2.1:255.255.255.0:secret:eth0 quiet",
			"ip=XX.X.X.X::XX.X.X.X:XXX.XXX.XXX.X:XXXXXX:XXXX quiet"},
		{"rd.lvm.lv=secret-vg/root ro", "rd.lvm.lv=XXXXXX-XX/XXXX ro"},
		{"root=PARTUUID=deadbeef-02 rw", "root=XXXXXXXX=XXXXXXXX-XX rw"},
		{"root=LABEL=mine resume=/dev/sdb2", "root=XXXXX=XXXX resume=/XXX/XXXX"},
		{"cryptdevice=UUID=a:b nfsroot=nas:/x,v3",
			"cryptdevice=XXXX=X:X nfsroot=XXX:/X,XX"},
		{"rd.iscsi.initiator=iqn.me netconsole=6665@10.0.0.2/eth0",
			"rd.iscsi.initiator=XXX.XX netconsole=XXXX@XX.X.X.X/XXXX"},
		{"nobody.knows=\"two words\" next=1", "nobody.knows=\"XXX XXXXX\" next=X"},
		{"\"whole=two words\" pci=nocrs", "\"whole=XXX XXXXX\" pci=nocrs"},
		{"\"odd=no end pci=nocrs", "\"odd=XX XXX XXX=XXXXX"},
		{"systemd.hostname=a /dev/mine quiet -- me pci=x",
			"systemd.hostname=X /XXX/XXXX quiet -- XX XXX=X"},
		{"nvidia.NVreg_TemporaryFilePath=/home/me pcix=me",
			"nvidia.NVreg_TemporaryFilePath=/XXXX/XX pcix=XX"},
		/* these stay */
		{"pci=realloc,resource_alignment=20@00:1c.0/00.0 pcie_aspm=off pci-stub.ids=10de:1",
			"pci=realloc,resource_alignment=20@00:1c.0/00.0 pcie_aspm=off "
			"pci-stub.ids=10de:1"},
		{"intel_iommu=on iommu.passthrough=1 vfio-pci.ids=10de:2204 amdgpu.rebar=0",
			"intel_iommu=on iommu.passthrough=1 vfio-pci.ids=10de:2204 amdgpu.rebar=0"},
		{"nvidia.NVreg_EnableResizableBar=1 nvidia-drm.modeset=1 i915.lmem_bar_size=256",
			"nvidia.NVreg_EnableResizableBar=1 nvidia-drm.modeset=1 "
			"i915.lmem_bar_size=256"},
		{"tsc=reliable clocksource=tsc nohz_full=1-3 isolcpus=1-3 console=ttyS0,115200n8",
			"tsc=reliable clocksource=tsc nohz_full=1-3 isolcpus=1-3 "
			"console=ttyS0,115200n8"},
		{"modprobe.blacklist=nouveau,nvidia nomodeset mem=4G acpi_osi=\"!Windows 2015\"",
			"modprobe.blacklist=nouveau,nvidia nomodeset mem=4G "
			"acpi_osi=\"!Windows 2015\""},
		{"", ""},
		{"=", "="},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char *s = pcie_mask_cmdline(rows[i].in, strlen(rows[i].in), NULL);
		assert_string_equal(s, rows[i].out);
		char *again = pcie_mask_cmdline(s, strlen(s), NULL);
		assert_string_equal(again, s);
		free(again);
		free(s);
	}
}

static void a_logs_command_lines_too(void **state)
{
	(void)state;
	static const char log[] =
		"[    0.000000] Command line: root=/dev/mine pci=nocrs\n"
		"[    0.010000] Kernel command line: ip=10.0.0.1 iommu=pt\n"
		"[    0.010001] Unknown kernel command line parameters \"splash ip=10.0.0.1\", will be "
		"passed to user space.\n"
		"[    0.1] pci 0000:00:00.0: x=y";
	static const char masked[] =
		"[    0.000000] Command line: root=/XXX/XXXX pci=nocrs\n"
		"[    0.010000] Kernel command line: ip=XX.X.X.X iommu=pt\n"
		"[    0.010001] Unknown kernel command line parameters \"splash ip=XX.X.X.X\", will be "
		"passed to user space.\n"
		"[    0.1] pci 0000:00:00.0: x=y";
	char *s = pcie_mask_text(log, strlen(log), NULL, NULL);
	assert_string_equal(s, masked);
	free(s);
}

/* A host that is called like a word of the log must not take the log with it. */
static void common_names_are_left(void **state)
{
	(void)state;
	static const char *const hosts[] = {"pci", "kernel", "00", "mem", "c0de", "", NULL};
	static const char line[] = "Nov 18 10:51:00 pci kernel: pci 0000:00:c0de mem";
	for (size_t i = 0; i < ARRAY_LEN(hosts); i++) {
		char *s = pcie_mask_text(line, strlen(line), hosts[i], NULL);
		assert_string_equal(s, line);
		free(s);
	}
}

/* At every cut nothing is read behind the end, and masking twice changes nothing more. */
static void cuts_and_again(void **state)
{
	(void)state;
	static const char line[] = "host S/N: 12 12345678-9abc-def0-1234-56789abcdef0 "
				   "a4:bb:6d:01:02:03 me@box.org nqn.x set hostname to <n";
	for (size_t n = 0; n <= strlen(line); n++) {
		char *cut = malloc(n); /* no NUL: a sanitizer sees a read behind it */
		assert_non_null(cut || n == 0 ? line : NULL);
		if (n) {
			memcpy(cut, line, n);
		}
		char *once = pcie_mask_text(cut, n, "mybox", NULL);
		char *twice = pcie_mask_text(once, n, "mybox", NULL);
		assert_string_equal(once, twice);
		free(cut);
		free(once);
		free(twice);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(secrets_go_and_the_form_stays),
		cmocka_unit_test(a_command_line_keeps_what_is_judged),
		cmocka_unit_test(a_logs_command_lines_too),
		cmocka_unit_test(common_names_are_left),
		cmocka_unit_test(cuts_and_again),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
