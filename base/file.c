/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/text.h"

int file_read_at(int dirfd, const char *name, char *buf, size_t size)
{
	_cleanup_fd_ int fd = openat(dirfd, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	return fd < 0 ? -errno : file_read_fd(fd, buf, size);
}

int file_read_fd(int fd, char *buf, size_t size)
{
	size_t len = 0;
	while (len < size - 1) {
		ssize_t n = read(fd, buf + len, size - 1 - len);
		if (n < 0) {
			if (errno == EINTR) {
				continue;
			}
			return -errno;
		}
		if (n == 0) {
			break;
		}
		len += (size_t)n;
	}
	buf[len] = '\0';
	return (int)len;
}

static int read_fd(int fd, size_t max, char **ret, size_t *ret_len)
{
	struct stat st;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0 &&
		(uint64_t)st.st_size > max) {
		return -EFBIG; /* told before reading it */
	}
	size_t cap = 1 << 16, len = 0;
	_cleanup_free_ char *buf = malloc(cap);
	if (!buf) {
		return -ENOMEM;
	}
	for (;;) {
		if (len == cap - 1) {
			char *more = realloc(buf, cap * 2);
			if (!more) {
				return -ENOMEM;
			}
			buf = more;
			cap *= 2;
		}
		ssize_t n = read(fd, buf + len, cap - 1 - len);
		if (n < 0) {
			if (errno == EINTR) {
				continue;
			}
			return -errno;
		}
		if (n == 0) {
			break;
		}
		len += (size_t)n;
		if (len > max) {
			return -EFBIG;
		}
	}
	buf[len] = '\0';
	*ret = buf;
	*ret_len = len;
	buf = NULL;
	return 0;
}

int file_read_all(const char *path, size_t max, char **ret, size_t *ret_len, struct why *why)
{
	bool input = strcmp(path, "-") == 0;
	_cleanup_fd_ int fd = input ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
	int r = fd < 0 ? -errno : read_fd(fd, max, ret, ret_len);
	if (r == -EFBIG) {
		char size[TEXT_SIZE_MAX];
		why_set(why, "%s: larger than %s", input ? "standard input" : path,
			text_size(max, size));
	} else if (r < 0) {
		why_set(why, "%s: %s", input ? "standard input" : path, strerror(-r));
	}
	return r;
}

static int write_fully(int fd, const char *data, size_t len)
{
	while (len > 0) {
		ssize_t n = write(fd, data, len);
		if (n < 0) {
			if (errno == EINTR) {
				continue;
			}
			return -errno;
		}
		data += n;
		len -= (size_t)n;
	}
	/* A pipe or a terminal has nothing to sync. */
	return fsync(fd) < 0 && errno != EINVAL && errno != EROFS ? -errno : 0;
}

/* A device, FIFO or the like keeps its node: it is written, never replaced. */
static int write_through(const char *path, const char *data, size_t len)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0) {
		return -errno;
	}
	int r = write_fully(fd, data, len);
	return close(fd) < 0 && r == 0 ? -errno : r;
}

/* PATH becomes DATA at once or stays as it is. */
static int replace(const char *path, mode_t mode, const char *data, size_t len)
{
	struct text tmp = {0};
	text_addf(&tmp, "%s.XXXXXX", path);
	_cleanup_free_ char *name = text_steal(&tmp);

	int fd = mkostemp(name, O_CLOEXEC);
	if (fd < 0) {
		return -errno;
	}
	fchmod(fd, mode);
	int r = write_fully(fd, data, len);
	if (close(fd) < 0 && r == 0) {
		r = -errno;
	}
	if (r == 0 && rename(name, path) < 0) {
		r = -errno;
	}
	if (r < 0) {
		unlink(name);
	}
	return r;
}

int file_write_atomic(const char *path, const char *data, size_t len, struct why *why)
{
	struct stat st;
	int r;
	if (stat(path, &st) < 0) {
		mode_t mask = umask(0);
		umask(mask);
		r = errno == ENOENT ? replace(path, 0666 & ~mask, data, len) : -errno;
	} else if (!S_ISREG(st.st_mode)) {
		r = write_through(path, data, len);
	} else {
		/* Behind a symbolic link: the file that it names, not the link. */
		_cleanup_free_ char *target = realpath(path, NULL);
		r = target ? replace(target, st.st_mode & 07777, data, len) : -errno;
	}
	if (r < 0) {
		why_set(why, "%s: %s", path, strerror(-r));
	}
	return r;
}

int file_make_dirs(const char *path)
{
	_cleanup_free_ char *p = xstrdup(path);
	for (char *s = p + 1;; s++) {
		if (*s && *s != '/') {
			continue;
		}
		char c = *s;
		*s = '\0';
		if (mkdir(p, 0700) < 0 && errno != EEXIST) {
			return -errno;
		}
		if (!c) {
			return 0;
		}
		*s = c;
	}
}

/* A folder of ours below the one that VARIABLE names, or below HOME. */
static int base_dir(const char *variable, const char *below_home, char **ret)
{
	struct text t = {0};
	const char *xdg = getenv(variable);
	const char *home = getenv("HOME");
	if (xdg && xdg[0] == '/') {
		text_addf(&t, "%s/barscope", xdg);
	} else if (home && home[0] == '/') {
		text_addf(&t, "%s/%s/barscope", home, below_home);
	} else {
		return -ENOENT;
	}
	*ret = text_steal(&t);
	return 0;
}

int file_data_dir(char **ret)
{
	return base_dir("XDG_DATA_HOME", ".local/share", ret);
}

int file_cache_dir(char **ret)
{
	return base_dir("XDG_CACHE_HOME", ".cache", ret);
}
