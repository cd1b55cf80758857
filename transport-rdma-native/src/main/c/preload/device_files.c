/*
 * Copyright 2026 The Netty Project
 *
 * The Netty Project licenses this file to you under the Apache License,
 * version 2.0 (the "License"); you may not use this file except in compliance
 * with the License. You may obtain a copy of the License at:
 *
 *   https://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
 * WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
 * License for the specific language governing permissions and limitations
 * under the License.
 */
/*
 * Device files for programs that look for a device in the file system, and ask verbs only about a device that is there.
 * The kernel has no part in this device, so there are no such files. In this process, and in those that inherit
 * LD_PRELOAD, two names stand for files that exist:
 *
 *   /dev/infiniband/NAME                    /dev/null: a character device that may be read and written, as a verbs
 *                                           device is. UCX wants no more (uct_ib_device_is_accessible()).
 *   /sys/class/infiniband/NAME/device/net   /sys/class/net: the network interfaces whose addresses are the device's.
 *                                           These are all: connections are made at every address of the host.
 *                                           Here pyverbs' tests look for an address to use.
 *
 * Other paths are not changed. The functions below are those that such programs call to look for files. They call their
 * siblings that take a folder's descriptor (fstatat(2), openat(2)).
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "embedded/device/context.h"

#define EXPORT __attribute__((visibility("default")))

static const struct {
    const char *name;
    const char *file;
} stand_ins[] = {
    { "/dev/infiniband/" DEVICE_NAME, "/dev/null" },
    { "/sys/class/infiniband/" DEVICE_NAME "/device/net", "/sys/class/net" },
};

/* Returns the path to use in place of this one, a constant or in the buffer. NULL (EFAULT in the kernel) stays NULL. */
static const char *stand_in(const char *path, char buffer[PATH_MAX]) {
    /* Hides the pointer from the compiler. The headers promise that it is not NULL, but callers may pass NULL. */
    __asm__("" : "+r"(path));
    if (path == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < sizeof(stand_ins) / sizeof(stand_ins[0]); i++) {
        size_t length = strlen(stand_ins[i].name);
        if (strncmp(path, stand_ins[i].name, length) == 0 && (path[length] == '\0' || path[length] == '/')) {
            int written = snprintf(buffer, PATH_MAX, "%s%s", stand_ins[i].file, path + length);
            return written < PATH_MAX ? buffer : path;
        }
    }
    return path;
}

EXPORT int stat(const char *path, struct stat *status) {
    char buffer[PATH_MAX];
    return fstatat(AT_FDCWD, stand_in(path, buffer), status, 0);
}

EXPORT int stat64(const char *path, struct stat64 *status) {
    char buffer[PATH_MAX];
    return fstatat64(AT_FDCWD, stand_in(path, buffer), status, 0);
}

EXPORT int lstat(const char *path, struct stat *status) {
    char buffer[PATH_MAX];
    return fstatat(AT_FDCWD, stand_in(path, buffer), status, AT_SYMLINK_NOFOLLOW);
}

EXPORT int lstat64(const char *path, struct stat64 *status) {
    char buffer[PATH_MAX];
    return fstatat64(AT_FDCWD, stand_in(path, buffer), status, AT_SYMLINK_NOFOLLOW);
}

/* statx(2) has no such sibling. It uses a folder's descriptor only for relative paths, and ours are absolute. */
EXPORT int statx(int folder, const char *path, int flags, unsigned int mask, struct statx *status) {
    static __typeof__(&statx) next;
    char buffer[PATH_MAX];
    __typeof__(&statx) function = __atomic_load_n(&next, __ATOMIC_RELAXED);
    if (function == NULL) {
        *(void **) &function = dlsym(RTLD_NEXT, "statx");
        if (function == NULL) {
            errno = ENOSYS;
            return -1;
        }
        __atomic_store_n(&next, function, __ATOMIC_RELAXED);
    }
    return function(folder, stand_in(path, buffer), flags, mask, status);
}

EXPORT int access(const char *path, int mode) {
    char buffer[PATH_MAX];
    return faccessat(AT_FDCWD, stand_in(path, buffer), mode, 0);
}

static bool has_mode(int flags) {
    return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE; /* open(2) */
}

#define OPEN(open, openat)                                                                                            \
    EXPORT int open(const char *path, int flags, ...) {                                                               \
        char buffer[PATH_MAX];                                                                                        \
        mode_t mode = 0;                                                                                              \
        if (has_mode(flags)) {                                                                                        \
            va_list arguments;                                                                                        \
            va_start(arguments, flags);                                                                               \
            mode = va_arg(arguments, mode_t);                                                                         \
            va_end(arguments);                                                                                        \
        }                                                                                                             \
        return openat(AT_FDCWD, stand_in(path, buffer), flags, mode);                                                 \
    }

OPEN(open, openat)
OPEN(open64, openat64)

EXPORT DIR *opendir(const char *path) {
    char buffer[PATH_MAX];
    int fd = openat(AT_FDCWD, stand_in(path, buffer), O_RDONLY | O_NONBLOCK | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        return NULL;
    }
    DIR *folder = fdopendir(fd);
    if (folder == NULL) {
        int error = errno;
        close(fd);
        errno = error;
    }
    return folder;
}
