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
/* Names in a folder: see folder.h. */
#include "folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "embedded/base/cancel.h"
#include "embedded/base/closer.h"
#include "embedded/base/memory_limit.h"
#include "embedded/base/random.h"
#include "trust.h"

#define NAMES "netty-rdma"           /* prefix of all names */
#define UNFINISHED ".netty-rdma-new" /* prefix of a name on which nobody has listened yet */
#define LOCK ".netty-rdma-lock"

/*
 * Limit of tries to take over a name. Its lock is held for a few system calls, and no thread sleeps for it, because
 * callers hold locks.
 */
#define PUBLISH_TRIES 16

/* Limit of names that are looked at. Any user may fill a folder that all may write to, and callers are event loops. */
#define MAX_NAMES 16384

/* Age at which an unfinished name without a socket can no longer be in the midst of bind(2). */
#define UNFINISHED_S 60

#define NAME_TRIES 16

/*
 * Size of "/proc/self/fd/N/NAME". It leads to the name, and fits into a socket's address even if the folder's path does
 * not.
 */
#define PATH_SIZE sizeof(((struct sockaddr_un *) NULL)->sun_path)

#define SETTING_SIZE 4096

struct configured {
    bool set; /* set by folder_configure(), else by the environment */
    char value[SETTING_SIZE];
};

static struct {
    pthread_mutex_t lock;
    struct configured folder, users, groups;
    bool started;                  /* atomic */
    int fd;                        /* folder; -1: none is used */
    char path[SETTING_SIZE];       /* folder's path, for people */
} state = { .lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1 };

/* ---- configuration ---- */

static int configure(struct configured *place, const char *value) {
    size_t size = value != NULL ? strlen(value) + 1 : 0;
    if (size > sizeof(place->value)) {
        return ENAMETOOLONG;
    }
    memcpy(place->value, value != NULL ? value : "", size);
    place->set = value != NULL;
    return 0;
}

int folder_configure(const char *folder, const char *users, const char *groups) {
    pthread_mutex_lock(&state.lock);
    int err = configure(&state.folder, folder);
    if (err == 0) {
        err = configure(&state.users, users);
    }
    if (err == 0) {
        err = configure(&state.groups, groups);
    }
    pthread_mutex_unlock(&state.lock);
    return err;
}

/* Setting, and where it comes from. */
struct setting {
    const char *name, *value; /* "": not set */
};

static struct setting setting(const struct configured *configured, const char *property, const char *variable) {
    if (configured->set) {
        return (struct setting) { property, configured->value };
    }
    const char *value = secure_getenv(variable);
    return (struct setting) { variable, value != NULL ? value : "" };
}

bool folder_is_used(void) {
    return state.fd >= 0;
}

void folder_describe(char *text, size_t size) {
    pthread_mutex_lock(&state.lock);
    if (state.fd >= 0) {
        char peers[2048];
        trust_describe(peers, sizeof(peers));
        snprintf(text, size, "%s, shared with %s", state.path, peers);
    } else {
        snprintf(text, size, "none: reaches processes of this user in this network namespace");
    }
    pthread_mutex_unlock(&state.lock);
}

/* ---- names ---- */

/* Writes the path of a name, which need not exist. */
static void path_of(char path[PATH_SIZE], const char *name) {
    snprintf(path, PATH_SIZE, "/proc/self/fd/%d/%s", state.fd, name);
}

static struct sockaddr_un address_of_name(const char *name) {
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    path_of(address.sun_path, name);
    return address;
}

/* Returns a descriptor of the socket's file, if it is a socket. -1: errno. */
static int open_name(const char *name, struct stat *status) {
    int fd = openat(state.fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) {
        return -1;
    }
    if (fstat(fd, status) != 0 || !S_ISSOCK(status->st_mode)) {
        close(fd);
        errno = ENOTSOCK;
        return -1;
    }
    return fd;
}

struct sockaddr_un folder_address_of_file(int fd) {
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d", fd);
    return address;
}

/*
 * Checks whether the process that has bound the name is gone: 0, or EADDRINUSE if it is not; or errno. The check
 * connects with another socket type, which fails with another error if there is a listener (unix_find_other() in the
 * kernel's net/unix/af_unix.c), so that the owner does not notice.
 */
static int check_dead(const char *name, struct stat *status) {
    int file = open_name(name, status);
    if (file < 0) {
        return errno == EMFILE || errno == ENFILE || errno == ENOMEM ? errno : EADDRINUSE;
    }
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    int err = fd < 0 ? errno : EADDRINUSE;
    if (fd >= 0) {
        const struct sockaddr_un address = folder_address_of_file(file);
        if (connect(fd, (const struct sockaddr *) &address, sizeof(address)) != 0 && errno == ECONNREFUSED) {
            err = 0;
        }
        close(fd);
    }
    close(file);
    return err;
}

/*
 * Lets all users that may reach the file connect: trust.h identifies them, and the folder's own mode keeps others out.
 */
static int set_mode(const char *name) {
    struct stat status;
    int file = open_name(name, &status);
    if (file < 0) {
        return errno;
    }
    char path[PATH_SIZE];
    snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
    int err = status.st_uid == geteuid() ? 0 : EPERM;
    if (err == 0 && chmod(path, trust_has_lists() ? 0666 : 0600) != 0) {
        err = errno;
    }
    close(file);
    return err;
}

/* ---- the lock ---- */

/*
 * Opens the lock file. Any user of the folder may make it, or make another kind of file with its name: a FIFO, which
 * opens only when it has a peer (fifo(7)), or a link to another file. These are refused. Returns -1 with errno.
 */
static int open_lock(void) {
    struct stat status;
    int flags = O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    int fd = openat(state.fd, LOCK, flags);
    if (fd < 0 && errno == ENOENT) {
        fd = openat(state.fd, LOCK, flags | O_CREAT | O_EXCL, 0666);
        if (fd >= 0) {
            fchmod(fd, 0666); /* mode in spite of the umask */
        }
    }
    if (fd >= 0 && (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) || status.st_nlink != 1)) {
        close(fd);
        errno = EINVAL;
        return -1;
    }
    return fd;
}

/* Hashes a name with FNV-1a, to 62 bits, which an offset of a file can have. */
static off_t place_of(const char *name) {
    uint64_t hash = 0xcbf29ce484222325;
    for (; *name != 0; name++) {
        hash = (hash ^ (unsigned char) *name) * 0x100000001b3;
    }
    return (off_t) (hash >> 2);
}

/*
 * Locks the removal of the name if it belongs to a dead process. The lock is a byte of the lock file, so that removers
 * of other names do not wait. A hostile user may hold it for ever, and then the name counts as taken. Returns 0 or
 * errno: EADDRINUSE. On success closing `*lock` unlocks.
 */
static int lock_dead(const char *name, struct stat *status, int *lock) {
    int err = check_dead(name, status);
    if (err != 0) {
        return err;
    }
    int fd = open_lock();
    if (fd < 0) {
        return errno == EMFILE || errno == ENFILE || errno == ENOMEM ? errno : EADDRINUSE;
    }
    struct flock place = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = place_of(name), .l_len = 1 };
    /* Second check: the name may have a new owner now. */
    err = fcntl(fd, F_OFD_SETLK, &place) == 0 ? check_dead(name, status) : EADDRINUSE;
    if (err != 0) {
        close(fd);
        return err;
    }
    *lock = fd;
    return 0;
}

/* ---- listening ---- */

static int bind_unfinished(int fd, char name[FOLDER_NAME_SIZE]) {
    int err = EADDRINUSE;
    for (int i = 0; i < NAME_TRIES && err == EADDRINUSE; i++) {
        uint32_t words[2] = { random_start(), random_start() };
        snprintf(name, FOLDER_NAME_SIZE, UNFINISHED "-%08x%08x", words[0], words[1]);
        const struct sockaddr_un address = address_of_name(name);
        err = bind(fd, (const struct sockaddr *) &address, sizeof(address)) == 0 ? 0 : errno;
    }
    return err;
}

/* Returns 0 or errno: EADDRINUSE. */
static int add_name(const char *unfinished, const char *name) {
    return linkat(state.fd, unfinished, state.fd, name, 0) == 0 ? 0 : errno == EEXIST ? EADDRINUSE : errno;
}

static int publish(const char *unfinished, const char *name, bool take_over) {
    struct stat status;
    int lock, err = add_name(unfinished, name);
    for (int i = 0; i < PUBLISH_TRIES && err == EADDRINUSE && take_over; i++) {
        err = lock_dead(name, &status, &lock);
        if (err == 0) {
            /* EPERM, EACCES: another user's name, which this one may not remove */
            err = unlinkat(state.fd, name, 0) == 0 ? add_name(unfinished, name) : EADDRINUSE;
            close(lock);
        } else if (err == EADDRINUSE) { /* taken, unless a process that is starting has removed the name */
            err = add_name(unfinished, name);
        }
    }
    return err;
}

int folder_listen(int fd, const char *name, bool take_over) {
    char unfinished[FOLDER_NAME_SIZE];
    int err = bind_unfinished(fd, unfinished);
    if (err != 0) {
        return err;
    }
    err = set_mode(unfinished);
    if (err == 0 && listen(fd, SOMAXCONN) != 0) {
        err = errno;
    }
    if (err == 0) {
        err = publish(unfinished, name, take_over);
    }
    unlinkat(state.fd, unfinished, 0);
    return err;
}

void folder_remove(const char *name) {
    unlinkat(state.fd, name, 0);
}

int folder_bind_unnamed(int fd) {
    char unfinished[FOLDER_NAME_SIZE];
    struct stat status;
    fchmod(fd, 0600); /* mode that bind(2) gives the file for as long as it has the name */
    int err = bind_unfinished(fd, unfinished);
    if (err != 0) {
        errno = err;
        return -1;
    }
    int file = open_name(unfinished, &status);
    err = errno;
    unlinkat(state.fd, unfinished, 0);
    errno = err;
    return file;
}

static int connect_file(int fd, int file) {
    const struct sockaddr_un address = folder_address_of_file(file);
    return connect(fd, (const struct sockaddr *) &address, sizeof(address)) == 0 ? 0 : errno;
}

int folder_connect(int fd, const char *name) {
    struct stat status;
    int file = open_name(name, &status);
    if (file < 0) {
        return errno == ENOENT || errno == ENOTSOCK || errno == EACCES ? ECONNREFUSED : errno;
    }
    int err = connect_file(fd, file);
    close(file);
    return err == EACCES || err == EPERM || err == EPROTOTYPE || err == ENOENT ? ECONNREFUSED : err;
}

/* ---- all names ---- */

struct entry { /* getdents64(2) */
    uint64_t inode;
    int64_t offset;
    uint16_t length;
    uint8_t type;
    char name[];
};

/* Returns 0 or errno: EMLINK, the folder has more than MAX_NAMES. */
static int visit_all(bool (*visit)(const char *name, void *context), void *context) {
    _Alignas(struct entry) char buffer[4096];
    int fd = openat(state.fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        return errno;
    }
    ssize_t size = 0;
    bool more = true;
    int names = 0;
    while (more && names < MAX_NAMES && (size = getdents64(fd, buffer, sizeof(buffer))) > 0) {
        for (ssize_t at = 0; more && at < size; names++) {
            const struct entry *entry = (const struct entry *) (buffer + at);
            more = visit(entry->name, context);
            at += entry->length;
        }
    }
    int err = !more ? 0 : size < 0 ? errno : names >= MAX_NAMES ? EMLINK : 0;
    close(fd);
    return err;
}

struct visitor {
    const char *prefix;
    bool (*visit)(const char *name, void *context);
    void *context;
};

static bool visit_if_ours(const char *name, void *context) {
    const struct visitor *visitor = context;
    struct stat status;
    if (strncmp(name, visitor->prefix, strlen(visitor->prefix)) != 0 || strlen(name) >= FOLDER_NAME_SIZE
            || fstatat(state.fd, name, &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISSOCK(status.st_mode)
            || !trust_may_own(status.st_uid)) {
        return true;
    }
    return visitor->visit(name, visitor->context);
}

int folder_visit(const char *prefix, bool (*visit)(const char *name, void *context), void *context) {
    struct visitor visitor = { prefix, visit, context };
    return visit_all(visit_if_ours, &visitor);
}

/* Removes a name that a killed process has left, unless another process removes it already. */
static bool remove_if_dead(const char *name, void *context) {
    (void) context;
    bool unfinished = strncmp(name, UNFINISHED, sizeof(UNFINISHED) - 1) == 0;
    struct stat status;
    int lock;
    if ((unfinished || strncmp(name, NAMES, sizeof(NAMES) - 1) == 0) && lock_dead(name, &status, &lock) == 0) {
        if (!unfinished || time(NULL) - status.st_ctime > UNFINISHED_S) {
            unlinkat(state.fd, name, 0);
        }
        close(lock);
    }
    return true;
}

/* ---- opening ---- */

/* Checks the folder. Returns 0; or errno, and why. */
static int check(const struct setting *folder, char *reason, size_t size) {
    struct stat status;
    if (fstat(state.fd, &status) != 0) {
        return errno;
    }
    if (!trust_owns(status.st_uid, status.st_gid)) {
        snprintf(reason, size, "%s=%s: the folder belongs to user %u, who could replace what is in it: it must belong "
                 "to root, to this user (%u), or to a user or group that is listed", folder->name, folder->value,
                 status.st_uid, geteuid());
        return EPERM;
    }
    if ((status.st_mode & S_IWOTH) != 0 && (status.st_mode & S_ISVTX) == 0) {
        snprintf(reason, size, "%s=%s: every user may remove what is in the folder (mode %04o): chmod o-w, or chmod +t "
                 "(1777) so that each may remove its own alone", folder->name, folder->value, status.st_mode & 07777);
        return EPERM;
    }
    return 0;
}

/* Explains why a new name is said not to be there. */
static void explain_missing(const struct setting *folder, char *reason, size_t size) {
    char path[PATH_SIZE];
    struct stat status;
    path_of(path, "");
    if (fstatat(AT_FDCWD, path, &status, 0) != 0) {
        snprintf(reason, size, "%s=%s: needs /proc/self/fd, which is not here (%s): mount a file system of type proc, "
                 "of this PID namespace, at /proc", folder->name, folder->value, strerror(errno));
    } else if (status.st_nlink == 0) {
        snprintf(reason, size, "%s=%s: the folder has been removed: make it again", folder->name, folder->value);
    } else {
        snprintf(reason, size, "%s=%s: the folder is in a file system in which no sockets can be made: take a folder "
                 "of another one, for example a tmpfs", folder->name, folder->value);
    }
}

/* Tries to make a name as a listener does: there may be no right to, or no support in the file system. */
static int try(const struct setting *folder, char *reason, size_t size) {
    char name[FOLDER_NAME_SIZE];
    snprintf(name, sizeof(name), UNFINISHED "-try-%08x", random_start());
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return errno;
    }
    closer_pass_rights(fd, false);
    int err = folder_listen(fd, name, false);
    if (err == 0) {
        folder_remove(name);
    }
    closer_end_listener(fd); /* others may have connected meanwhile */
    if (err == EACCES || err == EROFS) {
        snprintf(reason, size, "%s=%s: user %u may not make files in the folder (%s): give it to this user or to a "
                 "group of it, or mount it writable", folder->name, folder->value, geteuid(), strerror(err));
    } else if (err == ENOENT) {
        explain_missing(folder, reason, size);
    } else if (err != 0) {
        snprintf(reason, size, "%s=%s: a socket cannot be made in the folder (%s): take one of a local file system, "
                 "for example a tmpfs", folder->name, folder->value, strerror(err));
    }
    return err;
}

static int open_folder(const struct setting *folder, char *reason, size_t size) {
    state.fd = open(folder->value, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (state.fd < 0) {
        int err = errno;
        snprintf(reason, size, "%s=%s: the folder cannot be opened (%s): make it, or mount it here, readable and "
                 "writable for user %u", folder->name, folder->value, strerror(err), geteuid());
        return err;
    }
    int err = check(folder, reason, size);
    if (err == 0) {
        err = try(folder, reason, size);
    }
    if (err != 0) {
        close(state.fd);
        state.fd = -1;
        return err;
    }
    snprintf(state.path, sizeof(state.path), "%s", folder->value);
    visit_all(remove_if_dead, NULL);
    return 0;
}

/* Called with state.lock held. */
static int start(char *reason, size_t size) {
    const struct setting folder = setting(&state.folder, "io.netty.rdma.embedded.folder", "RDMA_EMBEDDED_FOLDER");
    const struct setting users = setting(&state.users, "io.netty.rdma.embedded.users", "RDMA_EMBEDDED_USERS");
    const struct setting groups = setting(&state.groups, "io.netty.rdma.embedded.groups", "RDMA_EMBEDDED_GROUPS");
    if (*folder.value == 0 && (*users.value != 0 || *groups.value != 0)) {
        snprintf(reason, size, "%s is set and %s is not: processes of other users are met in a folder only, as the "
                 "names without one contain the user's number", *users.value != 0 ? users.name : groups.name,
                 folder.name);
        return EINVAL;
    }
    int err = trust_set(users.name, users.value, groups.name, groups.value, reason, size);
    memory_limit(); /* read here, as arena.c asks on the engine thread, which should read no files */
    return err != 0 || *folder.value == 0 ? err : open_folder(&folder, reason, size);
}

int folder_start(char *reason, size_t reason_size) {
    char unwanted[1];
    if (__atomic_load_n(&state.started, __ATOMIC_ACQUIRE)) {
        return 0;
    }
    UNCANCELLED;
    if (reason == NULL) {
        reason = unwanted;
        reason_size = sizeof(unwanted);
    }
    pthread_mutex_lock(&state.lock);
    int err = 0;
    if (!state.started) {
        *reason = 0;
        err = start(reason, reason_size);
        if (err != 0 && *reason == 0) {
            snprintf(reason, reason_size, "%s", strerror(err));
        }
        __atomic_store_n(&state.started, err == 0, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&state.lock);
    return err;
}

/* Resets the lock, which another thread may have held. The child keeps the folder. */
static void fork_child(void) {
    pthread_mutex_init(&state.lock, NULL);
}

void folder_init(void) {
    pthread_atfork(NULL, NULL, fork_child);
}
