/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stress/shared.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

void stress_state_write(struct stress_state *state, const struct stress_status *s)
{
	uint64_t word[STRESS_STATE_WORDS] = {0};
	memcpy(word, s, sizeof(*s));
	uint64_t version = atomic_load_explicit(&state->version, memory_order_relaxed);
	atomic_store_explicit(&state->version, version + 1, memory_order_relaxed);
	for (size_t i = 0; i < STRESS_STATE_WORDS; i++) {
		atomic_store_explicit(&state->word[i], word[i], memory_order_release);
	}
	atomic_store_explicit(&state->version, version + 2, memory_order_release);
}

bool stress_state_read(const struct stress_state *state, struct stress_status *ret)
{
	for (int attempt = 0; attempt < 64; attempt++) {
		uint64_t word[STRESS_STATE_WORDS];
		uint64_t before = atomic_load_explicit(&state->version, memory_order_acquire);
		if (before & 1) {
			continue;
		}
		for (size_t i = 0; i < STRESS_STATE_WORDS; i++) {
			word[i] = atomic_load_explicit(&state->word[i], memory_order_acquire);
		}
		if (atomic_load_explicit(&state->version, memory_order_relaxed) == before) {
			memcpy(ret, word, sizeof(*ret));
			return true;
		}
	}
	return false;
}

int stress_shared_receive(
	int sock, struct stress_config *ret, struct stress_shared **ret_shared, int *ret_wake)
{
	struct stress_message m;
	struct iovec iov = {.iov_base = &m, .iov_len = sizeof(m)};
	int fds[2];
	union {
		struct cmsghdr align;
		char buf[CMSG_SPACE(sizeof(fds))];
	} control;
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control.buf,
		.msg_controllen = sizeof(control.buf),
	};
	ssize_t n = recvmsg(sock, &msg, MSG_CMSG_CLOEXEC);
	struct cmsghdr *cmsg = n < 0 ? NULL : CMSG_FIRSTHDR(&msg);
	if (n != (ssize_t)sizeof(m) || m.request != STRESS_CONFIG || !cmsg ||
		cmsg->cmsg_type != SCM_RIGHTS || cmsg->cmsg_len != CMSG_LEN(sizeof(fds))) {
		return -EPROTO;
	}
	memcpy(fds, CMSG_DATA(cmsg), sizeof(fds));
	void *p = mmap(
		NULL, sizeof(struct stress_shared), PROT_READ | PROT_WRITE, MAP_SHARED, fds[0], 0);
	close(fds[0]);
	if (p == MAP_FAILED) {
		return -errno;
	}
	*ret = m.config;
	*ret_shared = p;
	*ret_wake = fds[1];
	return 0;
}
