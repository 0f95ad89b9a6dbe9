/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The door: live, trees, records, and all that is wrong with them. */
#include "pcie/scan.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/gz.h"
#include "base/text.h"
#include "pcie/libpci.h"
#include "pcie/source.h"

static char *corpus(const char *name)
{
	const char *top = getenv("BARSCOPE_SOURCE");
	struct text t = {0};
	text_addf(&t, "%s/tests/corpus/%s", top ? top : ".", name);
	return text_steal(&t);
}

static struct pcie_snapshot *scan(const char *source)
{
	const struct pcie_scan_options o = {.source = source};
	struct pcie_snapshot *s = NULL;
	struct why why = {""};
	if (pcie_scan(&o, &s, &why) < 0) {
		fail_msg("%s", why.text);
	}
	return s;
}

static struct pcie_snapshot *scan_corpus(const char *name)
{
	_cleanup_free_ char *path = corpus(name);
	return scan(path);
}

static struct pcie_snapshot *scan_text(const char *data, size_t len)
{
	struct pcie_snapshot *s = NULL;
	struct why why = {""};
	if (pcie_scan_buffer("buffer", data, len, &s, &why) < 0) {
		fail_msg("%s", why.text);
	}
	return s;
}

static void assert_same(const struct pcie_snapshot *a, const struct pcie_snapshot *b)
{
	char where[160];
	if (!pcie_snapshot_equal(a, b, where, sizeof(where))) {
		fail_msg("they differ: %s", where);
	}
}

static int find(const struct pcie_snapshot *s, const char *addr)
{
	struct pcie_addr a;
	assert_int_equal(pcie_addr_parse(addr, &a), 0);
	return pcie_snapshot_find(s, a);
}

static void capture_equals_live(void **state)
{
	(void)state;
	if (!pcie_sysfs_is("/")) {
		skip();
	}
	/* A counter or a device may change between the two; a second try settles it. */
	for (int tries = 0;; tries++) {
		const struct pcie_scan_options o = {0};
		struct pcie_snapshot *live, *record;
		struct why why = {""};
		char *text, where[160];
		size_t len;
		assert_int_equal(pcie_scan(&o, &live, &why), 0);
		assert_int_equal(pcie_capture("/", false, false, &text, &len, &why), 0);
		record = scan_text(text, len);
		bool same = pcie_snapshot_equal(live, record, where, sizeof(where));
		assert_string_equal(live->origin, "live");
		assert_string_equal(record->boot_id, "");
		pcie_snapshot_destroy(live);
		pcie_snapshot_destroy(record);
		free(text);
		if (same) {
			return;
		}
		if (tries == 2) {
			fail_msg("they differ: %s", where);
		}
	}
}

static void capture_equals_tree(void **state)
{
	(void)state;
	_cleanup_free_ char *root = corpus("001-h200-vm/machine");
	const struct pcie_scan_options o = {.sysfs = root};
	struct pcie_snapshot *tree;
	struct why why = {""};
	assert_int_equal(pcie_scan(&o, &tree, &why), 0);
	char *text;
	size_t len;
	assert_int_equal(pcie_capture(root, false, false, &text, &len, &why), 0);
	struct pcie_snapshot *record = scan_text(text, len);
	assert_same(tree, record);

	int gpu = find(tree, "0000:00:06.0");
	const struct pcie_bar *b = pcie_device_find_bar(&tree->dev[gpu], PCIE_BAR_NORMAL, 2);
	assert_true(b->base == UINT64_C(0x100000000000) && b->size == 256 * GIB);
	assert_true(b->reg.base == b->base);
	assert_true(tree->dev[gpu].rebar.have == PCIE_ABSENT && tree->dev[gpu].rebar.null_cap);
	assert_string_equal(tree->dev[gpu].driver, "nvidia"); /* the link is a text file there */

	/* A captured record captured and packed again is the same machine. */
	char *packed;
	size_t packed_len;
	assert_int_equal(gz_pack(text, len, &packed, &packed_len), 0);
	struct pcie_snapshot *again = scan_text(packed, packed_len);
	assert_same(tree, again);
	assert_null(strstr(text, "GPU-0")); /* the card's UUID line is not kept */
	free(text);
	free(packed);
	pcie_snapshot_destroy(tree);
	pcie_snapshot_destroy(record);
	pcie_snapshot_destroy(again);
}

static void tree_of_bridges(void **state)
{
	(void)state;
	struct pcie_snapshot *s = scan_corpus("002-switch-rebar/machine.rec");
	int gpu = find(s, "0000:23:00.0"), nic = find(s, "0000:20:03.0");
	const struct pcie_device *d = &s->dev[gpu];
	assert_string_equal(d->root, "pci0000:20");
	assert_int_equal(d->parent, find(s, "0000:22:00.0"));
	assert_int_equal(s->dev[d->parent].parent, find(s, "0000:21:00.0"));
	assert_int_equal(s->dev[find(s, "0000:20:01.0")].parent, -1);
	assert_true(s->dev[find(s, "0000:20:01.0")].hotplug_slot);
	assert_int_equal(d->rebar.count, 2);
	assert_true(d->rebar.entry[0].current == 32 * GIB);
	assert_int_equal(d->rebar.offset, 0x100);
	assert_int_equal(d->option[0].value[0], '-');
	assert_true(d->vram.bytes == UINT64_C(25753026560));
	const struct pcie_bar *vf = pcie_device_find_bar(&s->dev[nic], PCIE_BAR_VF, 3);
	assert_true(vf->size == 1 * MIB && vf->reg.base == vf->base);
	assert_int_equal(s->dev[nic].sriov_total, 64);
	assert_int_equal(s->dev[nic].iommu_group, 14);
	assert_int_equal(s->dev[nic].aer.correctable, 3);
	for (int i = 0; i < d->nbar; i++) {
		assert_true(d->bar[i].reg.base == d->bar[i].base);
	}
	pcie_snapshot_destroy(s);
}

static void denied_is_not_absent(void **state)
{
	(void)state;
	struct pcie_snapshot *s = scan_corpus("003-wiped-unprivileged/machine.rec");
	const struct pcie_device *d = &s->dev[find(s, "0000:01:00.0")];
	assert_int_equal(d->config, PCIE_DENIED);
	assert_int_equal(d->capabilities, PCIE_DENIED);
	assert_int_equal(d->vf_rebar.have, PCIE_DENIED);
	/* Linux 6.1 shows a resourceN_resize without privilege where there is a capability. */
	assert_int_equal(d->rebar.have, PCIE_ABSENT);
	assert_int_equal(s->dev[find(s, "0000:00:1c.0")].rebar.have, PCIE_DENIED);
	assert_int_equal(s->have_iomem, PCIE_DENIED);
	const struct pcie_bar *b = pcie_device_find_bar(d, PCIE_BAR_NORMAL, 1);
	assert_true(b->have == PCIE_ABSENT && b->reg.have == PCIE_KNOWN && b->reg.is64);
	assert_int_equal(s->nnote, 2);
	pcie_snapshot_destroy(s);

	s = scan_corpus("004-gone-and-asleep/machine.rec");
	d = &s->dev[find(s, "0000:01:00.0")];
	assert_true(d->asleep && d->config == PCIE_DENIED && d->rebar.have == PCIE_DENIED);
	d = &s->dev[find(s, "0000:02:00.0")];
	assert_true(d->config_gone && d->vendor == 0x1002 && d->rebar.have == PCIE_UNKNOWN);
	assert_int_equal(d->bar[0].reg.have, PCIE_UNKNOWN);
	pcie_snapshot_destroy(s);

	s = scan_corpus("005-arm-translated/machine.rec");
	assert_int_equal(find(s, "10000:e0:06.0"), 3);
	assert_string_equal(s->dev[3].root, "pci10000:e0");
	assert_int_equal(s->dev[3].parent, -1);
	pcie_snapshot_destroy(s);
}

/* A scratch folder, removed at the end. */
struct scratch {
	char path[64];
};

static int setup(void **state)
{
	struct scratch *t = calloc(1, sizeof(*t));
	strcpy(t->path, "/tmp/barscope-test-XXXXXX");
	*state = t;
	return mkdtemp(t->path) ? 0 : -1;
}

static int teardown(void **state)
{
	struct scratch *t = *state;
	char cmd[128];
	snprintf(cmd, sizeof(cmd), "rm -rf '%s'", t->path);
	int r = system(cmd);
	free(t);
	return r;
}

static void put(const struct scratch *t, const char *name, const char *text)
{
	char path[PATH_MAX];
	snprintf(path, sizeof(path), "%s/%s", t->path, name);
	char *slash = strrchr(path, '/');
	*slash = '\0';
	assert_int_equal(file_make_dirs(path), 0);
	*slash = '/';
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static void put_link(const struct scratch *t, const char *name, const char *target)
{
	char path[PATH_MAX];
	snprintf(path, sizeof(path), "%s/%s", t->path, name);
	assert_int_equal(symlink(target, path), 0);
}

static void damaged_trees(void **state)
{
	const struct scratch *t = *state;
	struct pcie_snapshot *s;
	struct why why;
	const struct pcie_scan_options o = {.source = t->path};
	assert_int_equal(pcie_scan(&o, &s, &why), -ENOENT);
	assert_non_null(strstr(why.text, t->path));

	const struct pcie_scan_options none = {.sysfs = t->path};
	assert_int_equal(pcie_scan(&none, &s, &why), -ENOENT);

	put(t, "bus/pci/devices/README", "no device");
	s = scan(t->path);
	assert_int_equal(s->ndev, 0);
	pcie_snapshot_destroy(s);

	put(t, "devices/pci0000:00/0000:00:02.0/vendor", "0x10de\n");
	put(t, "devices/pci0000:00/0000:00:02.0/device", "0x2684\n");
	put(t, "devices/pci0000:00/0000:00:02.0/class", "0x030000\n");
	put(t, "devices/pci0000:00/0000:00:02.0/config", "");
	put_link(t, "bus/pci/devices/0000:00:02.0", "../../../devices/pci0000:00/0000:00:02.0");
	put_link(t, "bus/pci/devices/0000:00:03.0", "../../../devices/pci0000:00/0000:00:03.0");
	put(t, "bus/pci/devices/0000:00:04.0", "../../../../../../etc/0000:00:04.0");
	put(t, "bus/pci/devices/0000:00:05.0/vendor", "0x8086\n");
	put(t, "devices/pci0000:00/0000:00:06.0/vendor", "junk\n");
	put(t, "devices/pci0000:00/0000:00:06.0/resource/x", "a folder where a file belongs");
	put(t, "devices/pci0000:00/0000:00:06.0/class", "0x030000\n");
	put_link(t, "bus/pci/devices/0000:00:06.0", "../../../devices/pci0000:00/0000:00:06.0");
	s = scan(t->path);
	int gpu = find(s, "0000:00:02.0");
	assert_true(gpu >= 0 && s->dev[gpu].device == 0x2684);
	assert_int_equal(s->dev[gpu].config_bytes, 0);
	assert_int_equal(s->dev[gpu].rebar.have, PCIE_UNKNOWN);
	assert_int_equal(find(s, "0000:00:03.0"), -1); /* vanished: a note */
	assert_int_equal(find(s, "0000:00:04.0"), -1); /* points out of the tree */
	assert_true(find(s, "0000:00:05.0") >= 0);     /* a plain folder will do */
	assert_int_equal(s->dev[find(s, "0000:00:06.0")].have_ids, PCIE_UNKNOWN);
	bool said = false;
	for (size_t i = 0; i < s->nnote; i++) {
		said = said || strstr(s->note[i].text, "0000:00:03.0: vanished");
	}
	assert_true(said);
	pcie_snapshot_destroy(s);
}

/* Somebody else's folder: links in it do not lead to this machine's files, and what cannot be
 * read in it is said. */
static void a_folder_from_elsewhere(void **state)
{
	const struct scratch *t = *state;
	static const char device[] = "sys/devices/pci0000:00/0000:00:02.0";
	char outside[128], name[128];
	snprintf(outside, sizeof(outside), "%s/outside", t->path);
	put(t, "outside/vbios_version", "not yours\n");
	put(t, "outside/vendor", "0x1002\n");
	put(t, "copy/sys/devices/pci0000:00/0000:00:02.0/vendor", "0x10de\n");
	put(t, "copy/sys/devices/pci0000:00/0000:00:02.0/device", "0x2684\n");
	put(t, "copy/sys/bus/pci/devices/0000:00:02.0", "../../../devices/pci0000:00/0000:00:02.0");
	put(t, "copy/sys/bus/pci/devices/0000:00:03.0", "../../../devices/pci0000:00/0000:00:03.0");
	snprintf(name, sizeof(name), "copy/%s/vbios_version", device);
	put_link(t, name, "../../../../../outside/vbios_version");
	put_link(t, "copy/sys/devices/pci0000:00/0000:00:03.0", outside);
	put(t, "copy/dmesg.gz", "\x1f\x8b\x08 damaged");
	put(t, "copy/README", "what else lies there\n");
	char copy[128];
	snprintf(copy, sizeof(copy), "%s/copy", t->path);
	struct pcie_snapshot *s = scan(copy);
	const int dev = find(s, "0000:00:02.0");
	assert_true(dev >= 0 && s->dev[dev].device == 0x2684);
	assert_string_equal(s->dev[dev].vbios, "");
	assert_int_equal(find(s, "0000:00:03.0"), -1);
	unsigned damaged = 0;
	for (size_t i = 0; i < s->nnote; i++) {
		damaged += strstr(s->note[i].text, "dmesg.gz") != NULL;
		assert_null(strstr(s->note[i].text, "README"));
	}
	assert_int_equal(damaged, 1);
	pcie_snapshot_destroy(s);
}

static void what_the_firmware_shows(void **state)
{
	const struct scratch *t = *state;
	put(t, "sys/bus/pci/devices/README", "");
	struct pcie_snapshot *s = scan(t->path);
	assert_int_equal(s->host.have_setup, PCIE_UNKNOWN); /* a copy without the folder */
	assert_int_equal(s->host.have_rebar_uefi, PCIE_UNKNOWN);
	pcie_snapshot_destroy(s);

	put(t, "sys/class/firmware-attributes/x/attributes/Above4GDecoding/display_name",
		"Above 4G Decoding\n");
	put(t, "sys/class/firmware-attributes/x/attributes/Above4GDecoding/current_value",
		"Enabled\n");
	put(t, "sys/class/firmware-attributes/x/attributes/Wol/current_value", "Disabled\n");
	put(t, "sys/class/firmware-attributes/x/attributes/ReSizeBAR/possible_values", "a;b\n");
	put(t, "sys/firmware/efi/efivars/Other-1", "x");
	put(t, "sys/firmware/acpi/fpdt/boot/bootloader_launch_ns", "8123456789\n");
	s = scan(t->path);
	assert_int_equal(s->host.have_setup, PCIE_KNOWN);
	assert_int_equal(s->host.nsetup, 2);
	assert_string_equal(s->host.setup[0].name, "Above 4G Decoding");
	assert_string_equal(s->host.setup[0].current, "Enabled");
	assert_string_equal(s->host.setup[1].name, "ReSizeBAR");
	assert_int_equal(s->host.setup[1].value, PCIE_DENIED);
	assert_int_equal(s->host.have_rebar_uefi, PCIE_ABSENT);
	assert_true(s->host.have_firmware_time == PCIE_KNOWN);
	assert_true(s->host.firmware_ns == UINT64_C(8123456789));
	assert_true(s->host.have_efi == PCIE_KNOWN && s->host.efi);
	pcie_snapshot_destroy(s);

	char path[PATH_MAX];
	snprintf(path, sizeof(path),
		"%s/sys/firmware/efi/efivars/ReBarState-a3c5b77a-c88f-4a93-bf1c-4a92a32c65ce",
		t->path);
	FILE *f = fopen(path, "wb");
	assert_non_null(f);
	assert_int_equal(fwrite("\7\0\0\0\14", 1, 5, f), 5);
	fclose(f);
	s = scan(t->path);
	assert_int_equal(s->host.have_rebar_uefi, PCIE_KNOWN);
	assert_int_equal(s->host.rebar_uefi, 12);

	/* The same from a record. */
	char *text;
	size_t len;
	struct why why;
	assert_int_equal(pcie_capture(t->path, false, false, &text, &len, &why), 0);
	struct pcie_snapshot *record = scan_text(text, len);
	assert_same(s, record);
	pcie_snapshot_destroy(s);
	pcie_snapshot_destroy(record);
	free(text);
}

/* What names a person, a host or a card is read by nobody, or masked where it is in a text. */
static void a_record_names_nobody(void **state)
{
	const struct scratch *t = *state;
	put(t, "sys/devices/pci0000:00/0000:00:02.0/class", "0x030000\n");
	put(t, "sys/devices/pci0000:00/0000:00:02.0/serial_number", "SECRET-1\n");
	put(t, "sys/devices/pci0000:00/0000:00:02.0/unique_id", "SECRET-2\n");
	put(t, "sys/bus/pci/devices/0000:00:02.0", "../../../devices/pci0000:00/0000:00:02.0");
	put(t, "sys/class/dmi/id/product_serial", "SECRET-3\n");
	put(t, "sys/class/dmi/id/product_uuid", "SECRET-4\n");
	put(t, "sys/class/dmi/id/product_name", "Tower 7\n");
	put(t, "proc/sys/kernel/hostname", "atlas\n");
	put(t, "proc/version", "Linux version 6.1.0-32-amd64 (someone@SECRET-5) (gcc) #1 SMP\n");
	put(t, "proc/cmdline",
		"root=UUID=0123abcd-4567-89ab-cdef-0123456789ab pci=realloc netname=atlas "
		"hw=52:54:00:12:34:56 ro\n");
	put(t, "proc/driver/nvidia/gpus/0000:00:02.0/information",
		"Model: \t\t NVIDIA Test\nGPU UUID: \t GPU-SECRET-6\nVideo BIOS: \t 1.2.3\n");
	put(t, "proc/driver/nvidia/params",
		"EnableResizableBar: 1\nRegistryDwords: \"SECRET-7\"\n");

	char *text;
	size_t len;
	struct why why;
	assert_int_equal(pcie_capture(t->path, false, false, &text, &len, &why), 0);
	static const char *const never[] = {
		"SECRET", "0123abcd", "0123456789ab", "52:54:00:12:34:56", "atlas"};
	for (size_t i = 0; i < ARRAY_LEN(never); i++) {
		if (strstr(text, never[i])) {
			fail_msg("the record holds %s:\n%s", never[i], text);
		}
	}
	/* What matters is still there, and the scan of the machine masks the same. */
	struct pcie_snapshot *record = scan_text(text, len), *tree = scan(t->path);
	assert_non_null(strstr(record->host.cmdline, "pci=realloc"));
	assert_string_equal(record->host.kernel, "6.1.0-32-amd64");
	assert_string_equal(record->host.product, "Tower 7");
	assert_string_equal(record->dev[0].vbios, "1.2.3");
	assert_string_equal(record->dev[0].name, "NVIDIA Test");
	assert_string_equal(record->host.cmdline, tree->host.cmdline);
	pcie_snapshot_destroy(record);
	pcie_snapshot_destroy(tree);
	free(text);
}

/* Devices that come and go while they are read: never a crash, never a wrong neighbour. */
static void devices_vanish_while_they_are_read(void **state)
{
	const struct scratch *t = *state;
	enum { DEVICES = 8, SCANS = 150 };
	char name[128];
	for (int i = 0; i < DEVICES; i++) {
		static const char *const attr[][2] = {
			{"vendor", "0x10de\n"}, {"device", "0x2684\n"}, {"class", "0x030000\n"}};
		for (size_t a = 0; a < ARRAY_LEN(attr); a++) {
			snprintf(name, sizeof(name), "devices/pci0000:00/0000:00:%02x.0/%s", i + 1,
				attr[a][0]);
			put(t, name, attr[a][1]);
		}
		char target[128];
		snprintf(target, sizeof(target), "../../../devices/pci0000:00/0000:00:%02x.0",
			i + 1);
		snprintf(name, sizeof(name), "bus/pci/devices/0000:00:%02x.0", i + 1);
		put(t, "bus/pci/devices/README", "");
		put_link(t, name, target);
	}
	char from[PATH_MAX], to[PATH_MAX];
	snprintf(from, sizeof(from), "%s/devices/pci0000:00/0000:00:03.0", t->path);
	snprintf(to, sizeof(to), "%s/devices/gone", t->path);
	pid_t child = fork();
	if (child == 0) {
		for (;;) {
			if (rename(from, to) == 0) {
				rename(to, from);
			}
		}
	}
	assert_true(child > 0);
	for (int n = 0; n < SCANS; n++) {
		struct pcie_snapshot *s = scan(t->path);
		assert_true(s->ndev >= DEVICES - 1);
		for (size_t i = 0; i < s->ndev; i++) {
			const struct pcie_device *d = &s->dev[i];
			assert_true(d->addr.dev == 3 || d->device == 0x2684);
		}
		pcie_snapshot_destroy(s);
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

static void bad_inputs(void **state)
{
	const struct scratch *t = *state;
	struct pcie_snapshot *s;
	struct why why = {""};
	static const struct {
		const char *source;
		int r;
	} bad[] = {{"/nonexistent/file", -ENOENT}, {"/dev/zero", -EFBIG}, {"/dev/null", -ENODATA}};
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		const struct pcie_scan_options o = {.source = bad[i].source};
		assert_int_equal(pcie_scan(&o, &s, &why), bad[i].r);
		assert_non_null(strstr(why.text, bad[i].source));
	}
	put(t, "packed", "\x1f\x8b\x08 damaged");
	char path[128];
	snprintf(path, sizeof(path), "%s/packed", t->path);
	const struct pcie_scan_options o = {.source = path};
	assert_int_equal(pcie_scan(&o, &s, &why), -EBADMSG);

	/* A witness that cannot be read ends the scan, too. */
	const char *with[] = {"/nonexistent/witness"};
	_cleanup_free_ char *machine = corpus("002-switch-rebar/machine.rec");
	const struct pcie_scan_options w = {.source = machine, .with = with, .nwith = 1};
	assert_int_equal(pcie_scan(&w, &s, &why), -ENOENT);
}

static void records_that_are_cut_or_odd(void **state)
{
	(void)state;
	_cleanup_free_ char *path = corpus("002-switch-rebar/machine.rec");
	_cleanup_free_ char *data = NULL;
	size_t len;
	assert_int_equal(file_read_all(path, 1 << 20, &data, &len, NULL), 0);
	for (size_t n = 40; n < len; n += 211) {
		char *cut = malloc(n + 1);
		memcpy(cut, data, n);
		cut[n] = '\0';
		pcie_snapshot_destroy(scan_text(cut, n));
		free(cut);
	}

	static const char odd[] =
		"P: /devices/pci0000:00/0000:00:02.0\r\n"
		"# a comment\n"
		"A: class=0x030000\\n\n"
		"A: vendor=\\060x10de\n" /* octal */
		"A: device=0x2684\\\n"   /* ends in a backslash */
		"A: no_equal_sign\n"
		"H: config=DE1\n" /* half a byte */
		"H: config=ZZ\n"
		"L: class=../030200\n" /* a link that is no link */
		"A: driver=nvidia\n"
		"E: DRIVER=nvidia\n"
		"P: /devices/pci0000:00/0000:00:02.0\n" /* twice: the first stands */
		"A: class=0x060400\\n\n"
		"P: /devices/virtual/net/lo\n"
		"A: class=0x0\n"
		"P: \n"
		"A: class=0x0";
	struct pcie_snapshot *s = scan_text(odd, sizeof(odd) - 1);
	assert_int_equal(s->ndev, 1);
	assert_int_equal(s->dev[0].class_code, 0x030000);
	assert_int_equal(s->dev[0].vendor, 0x10de);
	assert_int_equal(s->dev[0].config_bytes, 0);
	assert_int_equal(s->dev[0].have_driver, PCIE_UNKNOWN);
	assert_int_equal(s->nnote, 2);
	assert_non_null(strstr(s->note[0].text, "1 lines"));
	assert_non_null(strstr(s->note[1].text, "cut off"));
	pcie_snapshot_destroy(s);
}

/* libpci ends the program by its error hook; here it only loses the handle. */
static void libpci_cannot_end_the_program(void **state)
{
	(void)state;
	char path[2000];
	memset(path, 'x', sizeof(path));
	path[0] = '/';
	path[sizeof(path) - 1] = '\0';
	struct pcie_libpci *p = pcie_libpci_open(path);
	struct pcie_addr a = {.known = true};
	uint8_t buf[4];
	assert_int_equal(pcie_libpci_read(p, a, 256, buf, sizeof(buf)), -EIO);
	assert_int_equal(pcie_libpci_read(p, a, 256, buf, sizeof(buf)), -EIO);
	char name[64] = "before";
	pcie_libpci_name(p, 0x10de, 0x2684, name, sizeof(name));
	assert_string_equal(name, "");
	pcie_libpci_close(p);

	p = pcie_libpci_open("/nonexistent");
	assert_true(pcie_libpci_read(p, a, 256, buf, sizeof(buf)) < 0);
	pcie_libpci_close(p);
	assert_int_equal(pcie_libpci_read(NULL, a, 0, buf, sizeof(buf)), -ENODEV);
	pcie_libpci_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(capture_equals_live),
		cmocka_unit_test(capture_equals_tree),
		cmocka_unit_test(tree_of_bridges),
		cmocka_unit_test(denied_is_not_absent),
		cmocka_unit_test_setup_teardown(damaged_trees, setup, teardown),
		cmocka_unit_test_setup_teardown(a_folder_from_elsewhere, setup, teardown),
		cmocka_unit_test_setup_teardown(what_the_firmware_shows, setup, teardown),
		cmocka_unit_test_setup_teardown(a_record_names_nobody, setup, teardown),
		cmocka_unit_test_setup_teardown(
			devices_vanish_while_they_are_read, setup, teardown),
		cmocka_unit_test_setup_teardown(bad_inputs, setup, teardown),
		cmocka_unit_test(records_that_are_cut_or_odd),
		cmocka_unit_test(libpci_cannot_end_the_program),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
