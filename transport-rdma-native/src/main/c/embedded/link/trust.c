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
/* Possible peers: see trust.h. */
#include "trust.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "embedded/base/fork.h"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77 /* Linux 6.5 */
#endif

#define MAX_LISTED 64
#define MAX_GROUPS 1024 /* limit of a process's groups; a member of more is known by its first one alone */
#define ENTRY_SIZE 4096 /* size of an entry of the user database */

struct list {
    unsigned count;
    uint32_t ids[MAX_LISTED];
};

static struct list users, groups; /* written before any link is made */

static bool contains(const struct list *list, uint32_t id) {
    for (unsigned i = 0; i < list->count; i++) {
        if (list->ids[i] == id) {
            return true;
        }
    }
    return false;
}

/* Finds a user. Returns 0 or errno; ENOENT: there is none of this name. */
static int user_of(const char *name, uint32_t *id) {
    char memory[ENTRY_SIZE];
    struct passwd entry, *found;
    int err = getpwnam_r(name, &entry, memory, sizeof(memory), &found);
    if (err != 0 || found == NULL) {
        return err != 0 ? err : ENOENT;
    }
    *id = entry.pw_uid;
    return 0;
}

static int group_of(const char *name, uint32_t *id) {
    char memory[ENTRY_SIZE];
    struct group entry, *found;
    int err = getgrnam_r(name, &entry, memory, sizeof(memory), &found);
    if (err != 0 || found == NULL) {
        return err != 0 ? err : ENOENT;
    }
    *id = entry.gr_gid;
    return 0;
}

static int read_id(const char *item, int (*by_name)(const char *name, uint32_t *id), uint32_t *id) {
    char *end;
    if (item[0] < '0' || item[0] > '9') {
        return by_name(item, id);
    }
    errno = 0;
    unsigned long long number = strtoull(item, &end, 10);
    if (errno != 0 || *end != 0 || number >= UINT32_MAX) { /* UINT32_MAX stands for "none" in chown(2) */
        return EINVAL;
    }
    *id = (uint32_t) number;
    return 0;
}

static int read_list(const char *name, const char *what, const char *text,
                     int (*by_name)(const char *name, uint32_t *id), struct list *list, char *reason, size_t size) {
    list->count = 0;
    while (text != NULL && *text != 0) {
        text += strspn(text, " ");
        size_t length = strcspn(text, ","), kept = length;
        char item[256];
        while (kept > 0 && text[kept - 1] == ' ') {
            kept--;
        }
        if (kept == 0 || kept >= sizeof(item) || list->count == MAX_LISTED) {
            snprintf(reason, size, kept == 0 ? "%s: a %s is missing between the commas"
                                             : "%s: too long, it may have 64 items", name, what);
            return EINVAL;
        }
        memcpy(item, text, kept);
        item[kept] = 0;
        int err = read_id(item, by_name, &list->ids[list->count]);
        if (err != 0) {
            snprintf(reason, size, "%s: there is no %s %s (%s): give the number, or a name that this system knows",
                     name, what, item, strerror(err));
            return err == ENOENT ? EINVAL : err;
        }
        list->count++;
        text += length;
        if (*text == ',') {
            text++;
        }
    }
    return 0;
}

int trust_set(const char *users_name, const char *users_text, const char *groups_name, const char *groups_text,
              char *reason, size_t reason_size) {
    int err = read_list(users_name, "user", users_text, user_of, &users, reason, reason_size);
    if (err == 0) {
        err = read_list(groups_name, "group", groups_text, group_of, &groups, reason, reason_size);
    }
    return err;
}

bool trust_has_lists(void) {
    return users.count > 0 || groups.count > 0;
}

bool trust_may_own(uid_t uid) {
    return uid == geteuid() || groups.count > 0 || contains(&users, uid);
}

bool trust_owns(uid_t uid, gid_t gid) {
    return uid == 0 || uid == geteuid() || contains(&users, uid) || contains(&groups, gid);
}

/* Returns whether the peer is in a listed group, beside the one that SO_PEERCRED has. */
static bool is_in_listed_group(int fd) {
    gid_t ids[MAX_GROUPS];
    socklen_t size = sizeof(ids);
    if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, ids, &size) != 0) {
        return false;
    }
    for (size_t i = 0; i < size / sizeof(*ids); i++) {
        if (contains(&groups, ids[i])) {
            return true;
        }
    }
    return false;
}

static bool is_shortage(int err) {
    return err == EMFILE || err == ENFILE || err == ENOMEM;
}

/*
 * Returns a descriptor of the process that was at the other end at its connect or listen; -1 with errno. Before Linux
 * 6.5 only the process's number is known, which may belong to another process by now. A process that connects and ends
 * could pass for a later process with its number, if the engine of this process is delayed for so long.
 */
static int open_process(int fd, pid_t pid) {
    int process = -1;
    socklen_t size = sizeof(process);
    if (getsockopt(fd, SOL_SOCKET, SO_PEERPIDFD, &process, &size) == 0) {
        return process;
    }
    return errno != ENOPROTOOPT || pid == 0 ? -1 : (int) syscall(SYS_pidfd_open, pid, 0);
}

/*
 * Counts the PID namespaces of a process, from that of the mounted /proc on: proc_pid_fdinfo(5), "NSpid". Unlike files
 * of the process itself, this can be read by everybody who has the descriptor. Returns 0 or errno; *depth is 0 if the
 * process is not in that namespace or has ended, or there is no /proc.
 */
static int find_depth(int process, unsigned *depth) {
    char path[48], text[1024];
    snprintf(path, sizeof(path), "/proc/thread-self/fdinfo/%d", process);
    *depth = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return is_shortage(errno) ? errno : 0;
    }
    ssize_t length = read(fd, text, sizeof(text) - 1);
    close(fd);
    text[length < 0 ? 0 : length] = 0;
    const char *at = strstr(text, "NSpid:");
    at = at == NULL ? "" : at + strlen("NSpid:");
    for (unsigned long long number = 1; number > 0 && *at == '\t';) {
        char *end;
        number = strtoull(at + 1, &end, 10); /* -1 of a process that has ended: before a digit there is a sign */
        *depth += number > 0 && at[1] != '-';
        at = end;
    }
    return 0;
}

/* Finds the depth of this process, which never changes. Returns 0 or errno. */
static int find_own_depth(unsigned *depth) {
    static _Atomic uint64_t known; /* depth; above it fork_generation (fork.h) */
    uint64_t word = atomic_load(&known);
    if (word >> 32 == fork_generation + 1u) {
        *depth = (uint32_t) word;
        return 0;
    }
    int process = (int) syscall(SYS_pidfd_open, getpid(), 0);
    if (process < 0) {
        *depth = 0; /* before Linux 5.3 */
        return is_shortage(errno) ? errno : 0;
    }
    int err = find_depth(process, depth);
    close(process);
    if (err == 0) {
        atomic_store(&known, (uint64_t) (fork_generation + 1u) << 32 | *depth);
    }
    return err;
}

/*
 * Finds whether a visible process of this user is in this PID namespace. A process in a namespace below has a number
 * here as well, so the number does not tell. Without /proc a process with a number counts as being in this namespace.
 */
static int find_whether_near(int process, bool *near) {
    unsigned own, other;
    int err = find_own_depth(&own);
    if (err == 0) {
        err = find_depth(process, &other);
    }
    *near = err == 0 && (own == 0 || own == other);
    return err;
}

/*
 * Fills in the identity of the process except user and number. Fails with EMFILE or similar if no descriptor is free
 * for the check, because the result must be the same for each link of a process. Processes whose number is not visible
 * here can be told apart since Linux 6.9. Before, their pidfds all have the same inode.
 */
static int identify(int fd, struct link_peer *peer) {
    bool is_own_user = peer->uid == geteuid();
    if (peer->pid == getpid()) {
        peer->may_signal = is_own_user;
        return 0;
    }
    if (peer->pid != 0 && !is_own_user) {
        return 0;
    }
    int process = open_process(fd, peer->pid), err = 0;
    if (process < 0) {
        return is_shortage(errno) ? errno : 0;
    }
    struct stat status;
    if (peer->pid != 0) {
        err = find_whether_near(process, &peer->may_signal);
    } else {
        peer->process = fstat(process, &status) == 0 ? status.st_ino : 0;
    }
    close(process);
    return err;
}

int trust_peer(int fd, struct link_peer *peer) {
    struct ucred credentials;
    socklen_t size = sizeof(credentials);
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) {
        return ECONNREFUSED;
    }
    if (credentials.uid != geteuid() && !contains(&users, credentials.uid)
            && (groups.count == 0 || !(contains(&groups, credentials.gid) || is_in_listed_group(fd)))) {
        return ECONNREFUSED;
    }
    *peer = (struct link_peer) { .uid = credentials.uid, .pid = credentials.pid };
    return identify(fd, peer);
}

static void add_list(char *text, size_t size, const char *name, const struct list *list) {
    for (unsigned i = 0; i < list->count; i++) {
        size_t used = strlen(text);
        snprintf(text + used, size - used, "%s%u", i == 0 ? name : ", ", list->ids[i]);
    }
}

void trust_describe(char *text, size_t size) {
    snprintf(text, size, "user %u", geteuid());
    add_list(text, size, ", users ", &users);
    add_list(text, size, ", groups ", &groups);
}
