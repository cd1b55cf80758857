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
 * Completion channels with the engine's help taken away, so that a lost wake-up shows: doorbells, and load between two
 * processes. And on a system that can't read a doorbell without the danger to block, Linux before 5.8; and where other
 * users are listed, so that doorbells are sockets.
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "channel_support.h"
#include "embedded/embedded.h"
#include "embedded/device/cq.h"
#include "embedded/device/watch.h"
#include "namespaces.h"
#include "provider.h"
#include "qp_inside.h"

#define WINDOW 256u
#define UNTIL_ASLEEP 1000u /* messages, after which the sender waits until the receiver sleeps */

static atomic_bool old_system, always_rung;
static uint32_t messages;

/* Number of messages that the receiver, another process, had when it last went to sleep. */
static atomic_uint *asleep_after;

/* Replaces the C library's function. */
ssize_t preadv2(int fd, const struct iovec *to, int count, off_t offset, int flags) {
    if (atomic_load(&old_system) && (flags & RWF_NOWAIT) != 0) {
        errno = EOPNOTSUPP;
        return -1;
    }
    if (atomic_load(&always_rung)) {
        *(uint64_t *) to->iov_base = 1;
        return sizeof(uint64_t);
    }
    return syscall(SYS_preadv2, fd, to, (long) count, (long) offset, 0L, (long) flags);
}

/* Replaces the C library's function. Between a look at a doorbell and the next step, others have time to read it. */
int poll(struct pollfd *fds, nfds_t count, int timeout) {
    const struct timespec limit = { .tv_sec = timeout / 1000, .tv_nsec = timeout % 1000 * 1000000L };
    int result = ppoll(fds, count, timeout < 0 ? NULL : &limit, NULL);
    if (atomic_load(&old_system) && timeout == 0 && result == 1 && fds->events == POLLIN) {
        for (int i = 0; i < 10; i++) {
            sched_yield();
        }
    }
    return result;
}

/*
 * Stops the rounds of the engine, which would make good a wake-up that is lost. A round that has begun ends before the
 * engine is held.
 */
static void suspend_insurances(void) {
    atomic_store(&watch_suspended, true);
    atomic_store(&cq_overdue_suspended, true);
    hold_engine();
    release_engine();
}

static void resume_insurances(void) {
    atomic_store(&watch_suspended, false);
    atomic_store(&cq_overdue_suspended, false);
}

/* Each peer holds the descriptor, and may write to it. It blocks, as the application has not said otherwise. */
static void a_full_descriptor_stops_nobody(void) {
    struct end a, b;
    struct options options = with_channel();
    pair_open(&a, &b, &options);
    const uint64_t most = UINT64_MAX - 1;
    await_introductions(&a, &b);
    suspend_insurances(); /* a round of the engine may ring once more, behind the event */
    for (uint64_t i = 0; i < 3; i++) {
        CHECK_EQ(post_recv(&b, i, 0, 8), 0);
        CHECK_EQ(arm(b.recv_cq, 0), 0);
        CHECK_EQ(write(b.channel->fd, &most, sizeof(most)), sizeof(most));
        CHECK_EQ(post_send(&a, i, IBV_WR_SEND, 0, 0, 8), 0);
        expect_wc(b.recv_cq, i, IBV_WC_SUCCESS);
        expect_event(&b, b.recv_cq);
        CHECK(!is_readable(b.channel->fd));
    }
    resume_insurances();
    pair_close(&a, &b);
}

/* The receiver is likely to answer, which rings as well; see cq_defer_doorbell(). */
static void an_acknowledgement_rings_once_the_receiver_has_had_its_chance_to_answer(void) {
    struct end a, b;
    struct options options = with_channel();
    pair_open_nonblocking(&a, &b, &options);
    CHECK_EQ(post_recv(&b, 0, 0, 8), 0);
    await_introductions(&a, &b);
    suspend_insurances();
    poll_until_believed(b.recv_cq);
    CHECK_EQ(arm(a.send_cq, 0), 0);
    CHECK_EQ(post_send(&a, 1, IBV_WR_SEND, 0, 0, 8), 0);
    expect_wc(b.recv_cq, 0, IBV_WC_SUCCESS);
    CHECK(!is_readable(a.channel->fd));
    expect_nothing(b.recv_cq);
    expect_event(&a, a.send_cq);
    expect_wc(a.send_cq, 1, IBV_WC_SUCCESS);
    resume_insurances();
    pair_close(&a, &b);
}

static void the_engine_looks_seldom_where_a_thread_sleeps_between_messages(void) {
    struct end a, b;
    struct options options = with_channel();
    pair_open_nonblocking(&a, &b, &options);
    _Atomic uint64_t *first_round_ns = &cq_of(b.recv_cq)->polling.first_round_ns;
    const uint64_t end = patience_end_ns();
    for (uint64_t i = 0; atomic_load(first_round_ns) < WATCH_MAX_ROUND_NS; i++) {
        CHECK(now_ns() < end);
        CHECK_EQ(post_recv(&b, i, 0, 8), 0);
        CHECK_EQ(arm(b.recv_cq, 0), 0);
        CHECK_EQ(post_send(&a, i, IBV_WR_SEND, 0, 0, 8), 0);
        expect_event(&b, b.recv_cq);
        expect_wc(b.recv_cq, i, IBV_WC_SUCCESS);
        expect_wc(a.send_cq, i, IBV_WC_SUCCESS);
        CHECK_EQ(arm(b.recv_cq, 0), 0);
        settle();
    }
    CHECK_EQ(post_recv(&b, 0, 0, 8), 0);
    CHECK_EQ(post_send(&a, 0, IBV_WR_SEND, 0, 0, 8), 0);
    expect_event(&b, b.recv_cq); /* and nobody polls */
    CHECK_EVENTUALLY(atomic_load(first_round_ns) == WATCH_ROUND_NS);
    expect_wc(b.recv_cq, 0, IBV_WC_SUCCESS);
    pair_close(&a, &b);
}

static void destroying_a_queue_keeps_the_wake_up_of_another(void) {
    struct end a, b, c, d;
    struct options options = defaults;
    options.channel = true;
    pair_open_nonblocking(&a, &b, &options);
    struct end shared = b;
    shared.send_cq = shared.recv_cq = ibv_create_cq(b.context, 16, &b, b.channel, 0);
    CHECK(shared.recv_cq != NULL);
    end_open_on(&c, &shared, &options);
    end_open_on(&d, &a, &options);
    end_connect(&c, d.qp->qp_num);
    end_connect(&d, c.qp->qp_num);
    await_introductions(&a, &b);
    await_introductions(&c, &d);
    suspend_insurances();
    CHECK_EVENTUALLY(NOTIFY_ENGINE_ASLEEP(atomic_load(&own_notify_area->engine.word))
                     && !is_readable(own_doorbell.heard.fd));

    CHECK_EQ(post_recv(&c, 0, 0, 8), 0);
    CHECK_EQ(arm(shared.recv_cq, 0), 0);
    struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
    CHECK_EQ(ibv_modify_qp(c.qp, &attr, IBV_QP_STATE), 0); /* an event that nobody takes */
    CHECK_EQ(post_recv(&b, 1, 0, 8), 0);
    CHECK_EQ(arm(b.recv_cq, 0), 0);
    CHECK_EQ(post_send(&a, 2, IBV_WR_SEND, 0, 0, 8), 0);
    CHECK_EQ(ibv_destroy_qp(c.qp), 0);
    CHECK_EQ(ibv_destroy_cq(shared.recv_cq), 0);
    expect_event(&b, b.recv_cq);
    expect_wc(b.recv_cq, 1, IBV_WC_SUCCESS);

    resume_insurances();
    CHECK_EQ(ibv_destroy_qp(d.qp), 0);
    pair_close(&a, &b);
}

/* ---- a million messages, the receiver asleep in between ---- */

/* Opens an end with all its receives posted, and connects it with the one at the other end of the socket. */
static void open_loaded(int socket, struct end *end, struct address *peer, const struct options *options) {
    suspend_insurances();
    end_open(end, options);
    make_nonblocking(end->channel->fd);
    end_to_init(end);
    for (int i = 0; i < options->recv_wr; i++) {
        CHECK_EQ(post_recv(end, 0, 0, 0), 0);
    }
    struct address own = end_address(end);
    send_all(socket, &own, sizeof(own));
    receive_all(socket, peer, sizeof(*peer));
    CHECK_EQ(end_to_rtr(end, peer->qpn), 0);
    CHECK_EQ(end_to_rts(end), 0);
}

static struct options load_options(void) {
    struct options options = defaults;
    options.channel = true;
    options.send_wr = options.recv_wr = 2 * WINDOW;
    options.cqe = 8 * WINDOW;
    options.sig_all = false;
    return options;
}

/*
 * Receives all messages and sends one back for each WINDOW / 2. Never polls without having armed, always sleeps when
 * empty; only the descriptor wakes it.
 */
static void receive_asleep(int socket) {
    struct end end;
    struct address peer;
    struct options options = load_options();
    open_loaded(socket, &end, &peer, &options);
    uint32_t received = 0, answered = 0;
    while (received < messages) {
        CHECK_EQ(arm(end.recv_cq, 0), 0);
        bool any = false;
        struct ibv_wc wc[16];
        int n;
        while ((n = end.context->ops.poll_cq(end.recv_cq, 16, wc)) > 0) {
            any = true;
            for (int i = 0; i < n; i++) {
                CHECK_EQ(wc[i].status, IBV_WC_SUCCESS);
                if (wc[i].opcode != IBV_WC_RECV_RDMA_WITH_IMM) {
                    continue;
                }
                CHECK_EQ(be32toh(wc[i].imm_data), received);
                received++;
                CHECK_EQ(post_recv(&end, 0, 0, 0), 0);
            }
        }
        for (; answered + WINDOW / 2 <= received; answered += WINDOW / 2) {
            CHECK_EQ(post_rdma(&end, answered, IBV_WR_RDMA_WRITE_WITH_IMM,
                               answered % 1024 == 0 ? IBV_SEND_SIGNALED : 0, 0, 8, &peer, 0), 0);
        }
        if (any || received == messages) {
            continue;
        }
        atomic_store(asleep_after, received);
        wait_readable(end.channel->fd);
        struct ibv_cq *cq;
        void *context;
        while (ibv_get_cq_event(end.channel, &cq, &context) == 0) {
            ibv_ack_cq_events(cq, 1);
        }
        CHECK_EQ(errno, EAGAIN);
    }
    char done;
    receive_all(socket, &done, 1);
    end_close(&end);
}

/* Takes at most `count` completions, and returns how many. Adds what the receiver has made room for to `credit`. */
static int take_credit(struct end *end, int count, uint32_t *credit) {
    struct ibv_wc wc[16];
    int n = end->context->ops.poll_cq(end->send_cq, count, wc);
    for (int i = 0; i < n; i++) {
        CHECK_EQ(wc[i].status, IBV_WC_SUCCESS);
        if (wc[i].opcode == IBV_WC_RECV_RDMA_WITH_IMM) {
            *credit += WINDOW / 2;
            CHECK_EQ(post_recv(end, 0, 0, 0), 0);
        }
    }
    return n;
}

/* Waits until the receiver has all messages and sleeps, or is about to: without this a fast one might never sleep. */
static void let_it_fall_asleep(struct end *end, uint32_t sent, uint32_t *credit) {
    for (uint64_t limit = patience_end_ns(); atomic_load(asleep_after) != sent;) {
        CHECK(now_ns() < limit);
        take_credit(end, 16, credit); /* sends the messages for which there was no room yet */
        sched_yield();
    }
}

static void wake_by_messages(uint32_t count, void (*receiver)(int socket)) {
    messages = count;
    asleep_after = mmap(NULL, sizeof(*asleep_after), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(asleep_after != MAP_FAILED);
    int socket;
    pid_t child = spawn(receiver, &socket);
    struct end end;
    struct address peer;
    struct options options = load_options();
    open_loaded(socket, &end, &peer, &options);
    uint32_t sent = 0, credit = 2 * WINDOW, random = 1;
    while (sent < messages) {
        take_credit(&end, 16, &credit);
        /* Bursts of changing size with gaps, so that the receiver falls asleep at every possible point. */
        random = random * 1664525 + 1013904223;
        for (uint32_t burst = random >> 28; burst > 0 && credit > 0 && sent < messages; burst--, credit--) {
            CHECK_EQ(post_rdma(&end, sent, IBV_WR_RDMA_WRITE_WITH_IMM, sent % 32 == 31 ? IBV_SEND_SIGNALED : 0, 0,
                               sent % 512, &peer, 0), 0);
            if (++sent % UNTIL_ASLEEP == 0 && sent < messages) {
                let_it_fall_asleep(&end, sent, &credit);
            }
        }
        for (volatile uint32_t gap = (random >> 20) % 64; gap > 0; gap--) {
        }
        if (credit == 0) {
            /* Sleep, too, until credit comes. */
            CHECK_EQ(arm(end.send_cq, 0), 0);
            if (take_credit(&end, 1, &credit) == 0) {
                wait_readable(end.channel->fd);
            }
            struct ibv_cq *cq;
            void *context;
            while (ibv_get_cq_event(end.channel, &cq, &context) == 0) {
                ibv_ack_cq_events(cq, 1);
            }
        }
    }
    const char done = 1;
    send_all(socket, &done, 1);
    resume_insurances(); /* nobody polls here any more, and not all may have gone out */
    expect_exit(child, 0);
    end_close(&end);
    CHECK_EQ(munmap(asleep_after, sizeof(*asleep_after)), 0);
}

static void no_wake_up_is_lost_in_a_million_messages(void) {
    wake_by_messages(rounds(1000000, 100000), receive_asleep);
}

/* The receiver is lent no descriptor of a channel, but rings the engine, and so is this process there. */
static void receive_asleep_in_another_namespace(int socket) {
    enter_pid_namespace();
    receive_asleep(socket);
}

static void no_wake_up_is_lost_between_pid_namespaces(void) {
    if (!has_pid_namespaces()) {
        fprintf(stderr, "    skipped: PID namespaces, which this process may not make\n");
        return;
    }
    wake_by_messages(rounds(100000, 10000), receive_asleep_in_another_namespace);
}

/* ---- an old system ---- */

static void without_nowait(void (*test)(void)) {
    atomic_store(&old_system, true);
    test();
    atomic_store(&old_system, false);
}

static void an_old_system_gives_threads_that_block_each_event_once(void) {
    without_nowait(threads_that_block_on_one_channel_take_each_event_once);
}

static void take_one_without_blocking(struct end *a, struct end *b, uint64_t i) {
    CHECK_EQ(post_recv(b, i, 0, 8), 0);
    CHECK_EQ(arm(b->recv_cq, 0), 0);
    CHECK_EQ(post_send(a, i, IBV_WR_SEND, 0, 0, 8), 0);
    expect_event(b, b->recv_cq);
    expect_wc(b->recv_cq, i, IBV_WC_SUCCESS);
    expect_wc(a->send_cq, i, IBV_WC_SUCCESS);
    expect_no_event(b);
}

static void take_without_blocking(void) {
    struct end a, b;
    struct options options = with_channel();
    pair_open_nonblocking(&a, &b, &options);
    expect_no_event(&b);
    for (uint64_t i = 0; i < 100; i++) {
        take_one_without_blocking(&a, &b, i);
    }
    pair_close(&a, &b);
}

static void an_old_system_does_not_block_a_channel_that_must_not(void) {
    without_nowait(take_without_blocking);
}

static void expect_to_take(const struct end *end, uintptr_t contexts) {
    uint64_t taken;
    CHECK_EQ(embedded_ext_take_events(end->channel, &taken), 0);
    CHECK_EQ(taken, contexts);
}

/* The descriptor blocks, as if a peer that has it had changed its flags. */
static void take_from_descriptor_that_blocks(void) {
    struct end a, b;
    struct options options = with_channel();
    const uint64_t one = 1;
    uint64_t taken;
    pair_open(&a, &b, &options);
    b.recv_cq->cq_context = (void *) 4;
    CHECK_EQ(fcntl(b.channel->fd, F_GETFL) & O_NONBLOCK, 0);
    expect_to_take(&b, 0);
    for (uint64_t i = 0; i < 10; i++) {
        CHECK_EQ(write(b.channel->fd, &one, sizeof(one)), sizeof(one)); /* a ring for nothing */
        expect_to_take(&b, 0);
        CHECK_EQ(post_recv(&b, i, 0, 8), 0);
        CHECK_EQ(arm(b.recv_cq, 0), 0);
        CHECK_EQ(post_send(&a, i, IBV_WR_SEND, 0, 0, 8), 0);
        CHECK_EVENTUALLY(is_readable(b.channel->fd) && embedded_ext_take_events(b.channel, &taken) == 0 && taken == 4);
        expect_to_take(&b, 0);
        expect_wc(b.recv_cq, i, IBV_WC_SUCCESS);
        expect_wc(a.send_cq, i, IBV_WC_SUCCESS);
    }
    pair_close(&a, &b);
}

static void events_are_taken_without_blocking_whatever_the_descriptor_says(void) {
    take_from_descriptor_that_blocks();
    without_nowait(take_from_descriptor_that_blocks);
}

static void rings_without_end_do_not_keep_a_thread_that_takes_events(void) {
    struct end a, b;
    struct options options = with_channel();
    pair_open(&a, &b, &options);
    suspend_insurances();
    atomic_store(&always_rung, true);
    expect_to_take(&b, 0);
    atomic_store(&always_rung, false);
    resume_insurances();
    pair_close(&a, &b);
}

/* Returns whether an edge was seen. */
static bool sees_edge(int epoll) {
    struct epoll_event event;
    return epoll_wait(epoll, &event, 1, 0) == 1;
}

/* Nobody reads the descriptor. A peer has filled it before every second ring. */
static void each_ring_is_an_edge_whatever_is_in_the_descriptor(void) {
    struct end a, b;
    struct options options = with_channel();
    pair_open(&a, &b, &options);
    b.recv_cq->cq_context = (void *) 1;
    CHECK(embedded_ext_takes_edges(b.channel));
    const uint64_t most = UINT64_MAX - 1;
    struct epoll_event event = { .events = EPOLLIN | EPOLLET };
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    CHECK(epoll >= 0);
    CHECK_EQ(epoll_ctl(epoll, EPOLL_CTL_ADD, b.channel->fd, &event), 0);
    await_introductions(&a, &b); /* the engine looks at the queue pair once more with an introduction */
    suspend_insurances();
    for (uint64_t i = 0; i < 20; i++) {
        uint64_t count;
        CHECK_EQ(post_recv(&b, i, 0, 8), 0);
        CHECK_EQ(arm(b.recv_cq, 0), 0);
        CHECK(!sees_edge(epoll));
        if (i % 2 == 1) {
            CHECK_EQ(read(b.channel->fd, &count, sizeof(count)), sizeof(count));
            CHECK_EQ(write(b.channel->fd, &most, sizeof(most)), sizeof(most));
            CHECK(sees_edge(epoll));
        }
        CHECK_EQ(post_send(&a, i, IBV_WR_SEND, 0, 0, 8), 0);
        CHECK_EVENTUALLY(sees_edge(epoll));
        expect_to_take(&b, 1);
        expect_wc(b.recv_cq, i, IBV_WC_SUCCESS);
        expect_wc(a.send_cq, i, IBV_WC_SUCCESS);
    }
    resume_insurances();
    close(epoll);
    pair_close(&a, &b);
}

static void *block_on(void *channel) {
    struct ibv_cq *cq;
    void *context;
    ibv_get_cq_event(channel, &cq, &context);
    return NULL;
}

static void cancel_what_blocks(void) {
    struct end a, b;
    struct options options = with_channel();
    pair_open(&a, &b, &options);
    pthread_t thread;
    void *result;
    CHECK_EQ(pthread_create(&thread, NULL, block_on, b.channel), 0);
    CHECK_EQ(pthread_cancel(thread), 0);
    CHECK_EQ(pthread_join(thread, &result), 0);
    CHECK(result == PTHREAD_CANCELED);
    CHECK_EQ(post_recv(&b, 0, 0, 8), 0);
    CHECK_EQ(arm(b.recv_cq, 0), 0);
    CHECK_EQ(post_send(&a, 1, IBV_WR_SEND, 0, 0, 8), 0);
    expect_event(&b, b.recv_cq);
    pair_close(&a, &b);
}

static void an_old_system_lets_a_thread_that_blocks_be_cancelled(void) {
    without_nowait(cancel_what_blocks);
}

/* ---- other users are listed ---- */

static char folder[] = "/tmp/netty-rdma-test-XXXXXX";

static void list_others(bool listed) {
    if (listed) {
        setenv("RDMA_EMBEDDED_USERS", "20001", 1);
    } else {
        unsetenv("RDMA_EMBEDDED_USERS");
    }
}

/* Runs a test in a child, as the folder is settled with the first use of the provider. */
static void in_folder(bool listed, void (*test)(void)) {
    fflush(stdout);
    pid_t child = fork_child();
    if (child == 0) {
        limit_life();
        setenv("RDMA_EMBEDDED_FOLDER", folder, 1);
        list_others(listed);
        test();
        fflush(stdout);
        _exit(0);
    }
    expect_exit(child, 0);
}

#define MESSAGES_BY_SOCKETS rounds(200000, 20000)

static void send_by_sockets(void) {
    wake_by_messages(MESSAGES_BY_SOCKETS, receive_asleep);
}

static void no_wake_up_is_lost_where_both_list_others(void) {
    in_folder(true, send_by_sockets);
}

static void receive_asleep_without_lists(int socket) {
    list_others(false);
    receive_asleep(socket);
}

static void receive_asleep_with_lists(int socket) {
    list_others(true);
    receive_asleep(socket);
}

static void send_to_one_without_lists(void) {
    wake_by_messages(MESSAGES_BY_SOCKETS, receive_asleep_without_lists);
}

static void send_to_one_with_lists(void) {
    wake_by_messages(MESSAGES_BY_SOCKETS, receive_asleep_with_lists);
}

static void no_wake_up_is_lost_where_one_of_them_lists_others(void) {
    in_folder(true, send_to_one_without_lists);
    in_folder(false, send_to_one_with_lists);
}

static void ring_full_socket(void) {
    struct end a, b;
    struct options options = with_channel();
    pair_open(&a, &b, &options);
    const struct link_peer peer = { .uid = geteuid(), .pid = 0 };
    int peers = channel_lend_doorbell(b.channel, &peer);
    CHECK(peers >= 0);
    await_introductions(&a, &b);
    suspend_insurances(); /* a round of the engine may ring once more, behind the event */
    for (uint64_t i = 0; i < 3; i++) {
        CHECK_EQ(post_recv(&b, i, 0, 8), 0);
        CHECK_EQ(arm(b.recv_cq, 0), 0);
        while (send(peers, "", 1, MSG_DONTWAIT) == 1) {
        }
        CHECK_EQ(errno, EAGAIN);
        CHECK_EQ(post_send(&a, i, IBV_WR_SEND, 0, 0, 8), 0);
        expect_wc(b.recv_cq, i, IBV_WC_SUCCESS);
        expect_event(&b, b.recv_cq);
        make_nonblocking(b.channel->fd);
        expect_no_event(&b);
        CHECK(!is_readable(b.channel->fd));
    }
    channel_doorbell_lent(b.channel, peers);
    resume_insurances();
    pair_close(&a, &b);
}

static void a_full_socket_stops_nobody(void) {
    in_folder(true, ring_full_socket);
}

static void sockets_give_threads_that_block_each_event_once(void) {
    in_folder(true, threads_that_block_on_one_channel_take_each_event_once);
}

static void sockets_do_not_block_a_channel_that_must_not(void) {
    in_folder(true, take_without_blocking);
}

static void destroying_a_queue_keeps_the_wake_up_of_another_by_a_socket(void) {
    in_folder(true, destroying_a_queue_keeps_the_wake_up_of_another);
}

static void sockets_let_a_thread_that_blocks_be_cancelled(void) {
    in_folder(true, cancel_what_blocks);
}

int main(void) {
    CHECK(mkdtemp(folder) != NULL);
    RUN(a_full_socket_stops_nobody); /* these first: children of a process that has not used the provider */
    RUN(sockets_give_threads_that_block_each_event_once);
    RUN(sockets_do_not_block_a_channel_that_must_not);
    RUN(destroying_a_queue_keeps_the_wake_up_of_another_by_a_socket);
#ifndef __SANITIZE_ADDRESS__ /* see cancel_test.c */
    RUN(sockets_let_a_thread_that_blocks_be_cancelled);
#endif
    RUN(no_wake_up_is_lost_where_both_list_others);
    RUN(no_wake_up_is_lost_where_one_of_them_lists_others);
    RUN(no_wake_up_is_lost_in_a_million_messages);
    RUN(no_wake_up_is_lost_between_pid_namespaces);
    RUN(a_full_descriptor_stops_nobody);
    RUN(an_acknowledgement_rings_once_the_receiver_has_had_its_chance_to_answer);
    RUN(the_engine_looks_seldom_where_a_thread_sleeps_between_messages);
    RUN(destroying_a_queue_keeps_the_wake_up_of_another);
    RUN(events_are_taken_without_blocking_whatever_the_descriptor_says);
    RUN(rings_without_end_do_not_keep_a_thread_that_takes_events);
    RUN(each_ring_is_an_edge_whatever_is_in_the_descriptor);
    RUN(an_old_system_gives_threads_that_block_each_event_once);
    RUN(an_old_system_does_not_block_a_channel_that_must_not);
#ifndef __SANITIZE_ADDRESS__ /* see cancel_test.c */
    RUN(an_old_system_lets_a_thread_that_blocks_be_cancelled);
#else
    (void) sockets_let_a_thread_that_blocks_be_cancelled;
    (void) an_old_system_lets_a_thread_that_blocks_be_cancelled;
#endif
    char command[96];
    snprintf(command, sizeof(command), "rm -rf %s", folder);
    CHECK_EQ(system(command), 0);
    return 0;
}
