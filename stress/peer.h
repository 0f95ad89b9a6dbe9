/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Copies between two GPUs of one machine: some memory on another one, and the way there. What goes
 * through the BARs and the link when drivers let GPUs talk directly. One thread: its device's.
 */
#pragma once

#include "stress/cuda_dev.h"

struct stress_peer {
	CUdevice device;
	CUcontext context;
	CUdeviceptr memory;
	size_t bytes;
	bool direct; /* GPU to GPU; else the driver goes through the host's memory */
	char address[24];
};

/*
 * BYTES on the GPU after D in the driver's order. -ENODEV: there is no other; else as cuda_fail.
 * D's context is current afterwards.
 */
int stress_peer_open(struct cuda_dev *d, size_t bytes, struct stress_peer *ret, struct why *why);
void stress_peer_close(struct cuda_dev *d, struct stress_peer *p); /* an empty one is allowed */

/* From D's memory FROM to the peer's; asynchronous in D's stream. */
CUresult stress_peer_copy(struct cuda_dev *d, const struct stress_peer *p, CUdeviceptr from);
