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
 * Children of a test in network namespaces of their own, and of other users, as containers are: where the system lets
 * this process make them.
 */
#ifndef NETTY_RDMA_TEST_NAMESPACES_H
#define NETTY_RDMA_TEST_NAMESPACES_H

#include "check.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <grp.h>
#include <net/if.h>
#include <net/route.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* Returns whether this process may make network namespaces, with a user namespace or without; asked in a child. */
static inline bool has_namespaces(void) {
    pid_t child = fork_child();
    if (child == 0) {
        _exit(unshare(CLONE_NEWNET | (geteuid() == 0 ? 0 : CLONE_NEWUSER)) == 0 ? 0 : 1);
    }
    int status;
    CHECK_EQ(waitpid(child, &status, 0), child);
    return status == 0;
}

static inline void write_file(const char *path, const char *text) {
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    CHECK(fd >= 0);
    CHECK_EQ(write(fd, text, strlen(text)), (ssize_t) strlen(text));
    close(fd);
}

/* A user namespace in which this user is who it was. */
static inline void enter_user_namespace(void) {
    char map[64];
    uid_t uid = geteuid();
    gid_t gid = getegid();
    CHECK_EQ(unshare(CLONE_NEWUSER), 0);
    write_file("/proc/self/setgroups", "deny");
    snprintf(map, sizeof(map), "%u %u 1", uid, uid);
    write_file("/proc/self/uid_map", map);
    snprintf(map, sizeof(map), "%u %u 1", gid, gid);
    write_file("/proc/self/gid_map", map);
}

/* Returns whether it could: root of the machine can, and who is root by a user namespace has no other users there. */
static inline bool become_user(uid_t user) {
    return setgroups(0, NULL) == 0 && setresgid(user, user, user) == 0 && setresuid(user, user, user) == 0;
}

static inline struct sockaddr set_in(const char *address) {
    struct sockaddr_in in = { .sin_family = AF_INET };
    struct sockaddr generic;
    CHECK_EQ(inet_pton(AF_INET, address, &in.sin_addr), 1);
    memcpy(&generic, &in, sizeof(generic));
    return generic;
}

static inline void bring_up_loopback(int fd) {
    struct ifreq request;
    memset(&request, 0, sizeof(request));
    strcpy(request.ifr_name, "lo");
    request.ifr_flags = IFF_UP | IFF_RUNNING;
    CHECK_EQ(ioctl(fd, SIOCSIFFLAGS, &request), 0);
}

static inline void add_address(int fd, const char *address) {
    struct ifreq alias;
    memset(&alias, 0, sizeof(alias));
    strcpy(alias.ifr_name, "lo:1");
    alias.ifr_addr = set_in(address);
    CHECK_EQ(ioctl(fd, SIOCSIFADDR, &alias), 0);
    /* Mask of one address: with a wider one all of the network would be local on lo. */
    alias.ifr_netmask = set_in("255.255.255.255");
    CHECK_EQ(ioctl(fd, SIOCSIFNETMASK, &alias), 0);
}

/* A network namespace with lo, and the address, from which a route leads everywhere: to nobody. */
static inline void fill_network(const char *address) {
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    CHECK(fd >= 0);
    bring_up_loopback(fd);
    add_address(fd, address);
    struct rtentry route;
    memset(&route, 0, sizeof(route));
    route.rt_dst = set_in("0.0.0.0");
    route.rt_genmask = set_in("0.0.0.0");
    route.rt_flags = RTF_UP;
    route.rt_dev = (char *) "lo";
    CHECK_EQ(ioctl(fd, SIOCADDRT, &route), 0);
    close(fd);
}

static inline void enter_network(const char *address) {
    if (geteuid() != 0) {
        enter_user_namespace();
    }
    CHECK_EQ(unshare(CLONE_NEWNET), 0);
    fill_network(address);
}

/* ---- children that say when they are ready, and end when they are told to ---- */

struct child {
    pid_t pid;
    int said, tell; /* pipes from the child, and to it */
};

/* Says something to the parent, in the child, and waits to be told, or for the end of the parent. */
static int child_said = -1, child_told = -1;

static inline void say(int value) {
    CHECK_EQ(write(child_said, &value, sizeof(value)), sizeof(value));
}

static inline bool is_told(void) {
    char byte;
    return read(child_told, &byte, 1) == 1;
}

static inline struct child begin_child(void (*run)(const void *argument), const void *argument) {
    int said[2], told[2];
    CHECK_EQ(pipe(said), 0);
    CHECK_EQ(pipe(told), 0);
    pid_t pid = fork_child();
    if (pid == 0) {
        limit_life();
        close(said[0]);
        close(told[1]);
        child_said = said[1];
        child_told = told[0];
        run(argument);
        _exit(0);
    }
    close(said[1]);
    close(told[0]);
    return (struct child) { pid, said[0], told[1] };
}

/* Returns what the child says next. */
static inline int hear(const struct child *child) {
    int value;
    CHECK_EQ(read(child->said, &value, sizeof(value)), sizeof(value));
    return value;
}

static inline void tell(const struct child *child) {
    CHECK_EQ(write(child->tell, "", 1), 1);
}

static inline void forget_child(struct child *child) {
    close(child->said);
    close(child->tell);
}

/*
 * Waits until the child ends by itself, without a failure: if it waits to be told, no child may have been begun after
 * it.
 */
static inline void end_child(struct child *child) {
    int status;
    close(child->tell);
    CHECK_EQ(waitpid(child->pid, &status, 0), child->pid);
    CHECK_EQ(status, 0);
    close(child->said);
}

static inline void kill_child(struct child *child) {
    CHECK_EQ(kill(child->pid, SIGKILL), 0);
    CHECK_EQ(waitpid(child->pid, NULL, 0), child->pid);
    forget_child(child);
}

/* ---- PID namespaces ---- */

/* Returns whether this process may make PID namespaces; asked in a child. */
static inline bool has_pid_namespaces(void) {
    pid_t child = fork_child();
    if (child == 0) {
        _exit(unshare(CLONE_NEWPID | (geteuid() == 0 ? 0 : CLONE_NEWUSER)) == 0 ? 0 : 1);
    }
    int status;
    CHECK_EQ(waitpid(child, &status, 0), child);
    return status == 0;
}

/* Goes on, in a child, as the first process of a PID namespace, which ends with that child. */
static inline void enter_pid_namespace(void) {
    if (geteuid() != 0) {
        enter_user_namespace();
    }
    CHECK_EQ(unshare(CLONE_NEWPID), 0);
    pid_t inside = fork_child();
    if (inside > 0) {
        int status;
        CHECK_EQ(waitpid(inside, &status, 0), inside);
        _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
    }
    CHECK_EQ(prctl(PR_SET_PDEATHSIG, SIGKILL), 0);
    limit_life();
}

#endif
