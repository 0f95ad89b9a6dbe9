/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the reader and the writer of capture records agree on. */
#pragma once

/* The pretended device that holds facts of the machine, and the attribute that says who
 * wrote the record and in which version. */
#define PCIE_RECORD_HOST       "/devices/virtual/barscope/host"
#define PCIE_RECORD_VERSION    "barscope_capture"
#define PCIE_RECORD_VERSION_NO "1"
