/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stress/peer.h"

#include <errno.h>

static int open_peer(struct cuda_dev *d, size_t bytes, struct stress_peer *p, struct why *why)
{
	const struct cuda_api *api = &d->api;
	int direct = 0;
	CUresult e = api->DevicePrimaryCtxRetain(&p->context, p->device);

	if (e != CUDA_SUCCESS) {
		p->context = NULL;
		return cuda_fail(api, e, why, "making a context on %s", p->address);
	}
	e = api->CtxSetCurrent(p->context);
	e = e ? e : api->MemAlloc(&p->memory, bytes);
	if (e != CUDA_SUCCESS) {
		p->memory = 0;
	}
	const CUresult back = api->CtxSetCurrent(d->context);

	e = e ? e : back;
	if (e == CUDA_SUCCESS && api->DeviceCanAccessPeer && api->CtxEnablePeerAccess &&
		api->DeviceCanAccessPeer(&direct, d->device, p->device) == CUDA_SUCCESS && direct) {
		p->direct = api->CtxEnablePeerAccess(p->context, 0) == CUDA_SUCCESS;
	}
	p->bytes = bytes;
	return e == CUDA_SUCCESS ? 0
				 : cuda_fail(api, e, why, "allocating memory on %s", p->address);
}

int stress_peer_open(struct cuda_dev *d, size_t bytes, struct stress_peer *ret, struct why *why)
{
	struct stress_peer p = {.device = -1};
	CUdevice all[64];
	int count = 0, n = 0, own = 0;

	if (!d->api.MemcpyPeerAsync || d->api.DeviceGetCount(&count) != CUDA_SUCCESS) {
		count = 0;
	}
	for (int i = 0; i < count && n < 64; i++) {
		if (d->api.DeviceGet(&all[n], i) == CUDA_SUCCESS) {
			own = all[n] == d->device ? n : own;
			n++;
		}
	}
	if (n < 2) {
		why_set(why, "there is one GPU only");
		return -ENODEV;
	}
	p.device = all[(own + 1) % n];
	cuda_dev_address(&d->api, p.device, p.address);
	const int r = open_peer(d, bytes, &p, why);

	if (r < 0) {
		stress_peer_close(d, &p);
		return r;
	}
	*ret = p;
	return 0;
}

void stress_peer_close(struct cuda_dev *d, struct stress_peer *p)
{
	if (!p->context) {
		return;
	}
	if (p->memory && d->api.CtxSetCurrent(p->context) == CUDA_SUCCESS) {
		d->api.MemFree(p->memory);
	}
	d->api.CtxSetCurrent(d->context);
	d->api.DevicePrimaryCtxRelease(p->device);
	*p = (struct stress_peer){.device = -1};
}

CUresult stress_peer_copy(struct cuda_dev *d, const struct stress_peer *p, CUdeviceptr from)
{
	return d->api.MemcpyPeerAsync(p->memory, p->context, from, d->context, p->bytes, d->stream);
}
