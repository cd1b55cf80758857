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
/* fork(2) in a process that has objects: what the child and the peer of its parent see on any device. */
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rdma/rdma_cma.h>

#include "check.h"
#include "pair.h"
#include "provider.h"

static pid_t fork_body(void (*body)(void)) {
    pid_t child = fork_child();
    if (child == 0) {
        limit_life();
        body();
        _exit(0);
    }
    return child;
}

static void do_nothing(void) {
}

static void live_anew(void) {
    struct end a, b;
    pair_open(&a, &b, &defaults);
    pair_talk(&a, &b);
    pair_talk(&b, &a);
    pair_close(&a, &b);
}

static void connections_survive_the_exit_of_a_child(void) {
    struct end a, b;
    pair_open(&a, &b, &defaults);
    expect_exit(fork_body(do_nothing), 0);
    pair_talk(&a, &b);
    pid_t child = fork_body(do_nothing);
    pair_talk(&b, &a);
    expect_exit(child, 0);
    pair_talk(&a, &b);
    pair_close(&a, &b);
}

static void a_child_opens_the_device_anew(void) {
    struct end a, b;
    pair_open(&a, &b, &defaults);
    pid_t child = fork_body(live_anew);
    pair_talk(&a, &b);
    expect_exit(child, 0);
    pair_talk(&b, &a);
    pair_close(&a, &b);
}

static struct ibv_qp *inherited;

static void destroy_inherited(void) {
    CHECK_EQ(ibv_destroy_qp(inherited), 0);
}

/* A device's objects belong to the descriptor, which belongs to both processes. */
static void what_a_child_destroys_is_its_own_unless_a_device_has_it(void) {
    struct end a, b;
    pair_open(&a, &b, &defaults);
    inherited = a.qp;
    expect_exit(fork_body(destroy_inherited), 0);
    if (is_embedded()) {
        pair_talk(&a, &b);
        pair_talk(&b, &a);
    } else {
        CHECK(ibv_destroy_qp(a.qp) != 0);
        a.qp = NULL;
    }
    pair_close(&a, &b);
}

/* ---- descriptors ---- */

static bool was_open[1024];

/* Origins of the descriptors of a process. */
struct descriptors {
    struct end a, b;
    struct rdma_event_channel *events;
};

static void descriptors_open(struct descriptors *all) {
    for (int fd = 0; fd < 1024; fd++) {
        was_open[fd] = fcntl(fd, F_GETFD) >= 0;
    }
    struct options options = defaults;
    options.channel = true;
    pair_open(&all->a, &all->b, &options);
    pair_talk(&all->a, &all->b);
    all->events = rdma_create_event_channel();
    CHECK(all->events != NULL);
}

static void descriptors_close(struct descriptors *all) {
    rdma_destroy_event_channel(all->events);
    pair_close(&all->a, &all->b);
}

/*
 * A descriptor that stays open beyond an exec keeps objects, and here links to peers, for a program that does not know
 * them.
 */
static void no_descriptor_outlives_an_exec(void) {
    struct descriptors all;
    descriptors_open(&all);
    for (int fd = 0; fd < 1024; fd++) {
        int flags = fcntl(fd, F_GETFD);
        CHECK(was_open[fd] || flags < 0 || (flags & FD_CLOEXEC) != 0);
    }
    descriptors_close(&all);
}

static int visible[8];

static void look_at_descriptors(void) {
    for (int fd = 0; fd < 1024; fd++) {
        bool expected = was_open[fd];
        for (size_t i = 0; i < sizeof(visible) / sizeof(*visible); i++) {
            expected |= fd == visible[i];
        }
        CHECK(expected || fcntl(fd, F_GETFD) < 0);
    }
}

/* Only descriptors that an application may know live on in the child. */
static void a_child_keeps_no_descriptor_that_the_application_does_not_see(void) {
    if (!is_embedded()) {
        fprintf(stderr, "    skipped: the library keeps the device's descriptors\n");
        return;
    }
    struct descriptors all;
    descriptors_open(&all);
    const int fds[] = {
        all.a.context->async_fd, all.a.channel->fd, all.b.context->async_fd, all.b.channel->fd, all.events->fd,
    };
    memcpy(visible, fds, sizeof(fds));
    settle(); /* descriptors that are being closed are open in the child as well */
    expect_exit(fork_body(look_at_descriptors), 0);
    descriptors_close(&all);
}

/* ---- the death of a parent whose child lives on ---- */

static void wait_for_end(int socket) {
    char nothing;
    CHECK_EQ(read(socket, &nothing, 1), 0);
}

static void stay_with_a_child(int socket) {
    struct end end;
    end_open(&end, &defaults);
    end_to_init(&end);
    struct address own = end_address(&end), peer;
    send_all(socket, &own, sizeof(own));
    receive_all(socket, &peer, sizeof(peer));
    CHECK_EQ(end_to_rtr(&end, peer.qpn), 0);
    CHECK_EQ(end_to_rts(&end), 0);
    pid_t child = fork_child();
    if (child == 0) {
        wait_for_end(socket);
        _exit(0);
    }
    send_all(socket, &child, sizeof(child));
    for (;;) {
        pause();
    }
}

/* A device's objects stay until the child ends as well: they belong to the descriptor. */
static void the_parents_death_is_noticed_while_its_child_lives(void) {
    if (!is_embedded()) {
        fprintf(stderr, "    skipped: a device's objects, which stay until the child ends\n");
        return;
    }
    int socket;
    pid_t parent = spawn(stay_with_a_child, &socket);
    struct end end;
    struct address own, peer;
    end_open(&end, &defaults); /* nothing times out: the end of the link tells */
    end_to_init(&end);
    own = end_address(&end);
    receive_all(socket, &peer, sizeof(peer));
    send_all(socket, &own, sizeof(own));
    CHECK_EQ(end_to_rtr(&end, peer.qpn), 0);
    CHECK_EQ(end_to_rts(&end), 0);
    pid_t child;
    receive_all(socket, &child, sizeof(child));
    CHECK_EQ(post_rdma(&end, 1, IBV_WR_RDMA_WRITE, 0, 0, 64, &peer, 0), 0);
    expect_wc(end.send_cq, 1, IBV_WC_SUCCESS);
    CHECK_EQ(post_rdma(&end, 2, IBV_WR_SEND, 0, 0, 64, &peer, 0), 0); /* waits for a receive */
    CHECK_EQ(kill(parent, SIGKILL), 0);
    int status;
    CHECK_EQ(waitpid(parent, &status, 0), parent);
    expect_wc(end.send_cq, 2, IBV_WC_RETRY_EXC_ERR);
    CHECK_EQ(kill(child, 0), 0);
    close(socket); /* ends the child */
    end_close(&end);
}

int main(void) {
    RUN(the_parents_death_is_noticed_while_its_child_lives);
    RUN(a_child_keeps_no_descriptor_that_the_application_does_not_see);
    RUN(connections_survive_the_exit_of_a_child);
    RUN(what_a_child_destroys_is_its_own_unless_a_device_has_it);
    RUN(a_child_opens_the_device_anew);
    RUN(no_descriptor_outlives_an_exec);
    return 0;
}
