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
/* Two processes: data both ways, the death of either, a peer that hangs, senders and targets that do not poll. */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "pair.h"
#include "provider.h"

static void connect_over(int socket, struct end *end, struct address *peer, int receives) {
    end_to_init(end);
    for (int i = 0; i < receives; i++) {
        CHECK_EQ(post_recv(end, (uint64_t) i, 0, 0), 0);
    }
    struct address own = end_address(end);
    send_all(socket, &own, sizeof(own));
    receive_all(socket, peer, sizeof(*peer));
    CHECK_EQ(end_to_rtr(end, peer->qpn), 0);
    CHECK_EQ(end_to_rts(end), 0);
    /* Messages before the peer is ready are lost on a network, and sent again when they have timed out. */
    char ready = 1;
    send_all(socket, &ready, 1);
    receive_all(socket, &ready, 1);
}

/* Options to find out within seconds that the peer has died. */
static struct options mortal(void) {
    struct options options = defaults;
    options.timeout = 17; /* 0.54 s */
    options.retry_cnt = 3;
    options.separate_cqs = true;
    return options;
}

static void wait_for_go(int socket) {
    char go;
    receive_all(socket, &go, 1);
}

static void go(int socket) {
    char go = 1;
    send_all(socket, &go, 1);
}

static uint32_t pattern(uint32_t seed) {
    return seed * 2654435761u;
}

static void fill(char *at, uint32_t length, uint32_t seed) {
    for (uint32_t i = 0; i + 4 <= length; i += 4) {
        uint32_t word = pattern(seed + i);
        memcpy(at + i, &word, 4);
    }
}

static void check(const char *at, uint32_t length, uint32_t seed) {
    for (uint32_t i = 0; i + 4 <= length; i += 4) {
        uint32_t word = pattern(seed + i);
        CHECK_EQ(memcmp(at + i, &word, 4), 0);
    }
}

/* ---- data ---- */

#define ECHOES (is_embedded() ? rounds(3000, 300) : 300) /* a device may be software in an emulator */
#define HALF (PAIR_BUFFER / 2)

static uint32_t echo_length(uint32_t i) {
    return i % 100 == 0 ? HALF : i % 10 == 0 ? 65536 + i : i * 7 % 5000;
}

static void echo(int socket) {
    struct end end;
    struct address peer;
    struct options options = defaults;
    options.separate_cqs = true; /* the answer may be here before the acknowledgement */
    end_open(&end, &options);
    connect_over(socket, &end, &peer, 8);
    for (uint32_t i = 0; i < ECHOES; i++) {
        struct ibv_wc wc = next_wc(end.recv_cq);
        CHECK_EQ(wc.status, IBV_WC_SUCCESS);
        CHECK_EQ(wc.opcode, IBV_WC_RECV_RDMA_WITH_IMM);
        CHECK_EQ(wc.byte_len, echo_length(i));
        check(end.buffer, wc.byte_len, i);
        CHECK_EQ(post_recv(&end, 0, 0, 0), 0);
        CHECK_EQ(post_rdma(&end, i, IBV_WR_RDMA_WRITE_WITH_IMM, 0, 0, wc.byte_len, &peer, HALF), 0);
        wc = next_wc(end.send_cq);
        CHECK_EQ(wc.status, IBV_WC_SUCCESS);
        CHECK_EQ(wc.opcode, IBV_WC_RDMA_WRITE);
    }
    wait_for_go(socket);
    end_close(&end);
}

static void data_goes_both_ways(void) {
    int socket;
    pid_t child = spawn(echo, &socket);
    struct end end;
    struct address peer;
    end_open(&end, &defaults);
    connect_over(socket, &end, &peer, 8);
    for (uint32_t i = 0; i < ECHOES; i++) {
        uint32_t length = echo_length(i);
        fill(end.buffer, length, i);
        CHECK_EQ(post_rdma(&end, i, IBV_WR_RDMA_WRITE_WITH_IMM, 0, 0, length, &peer, 0), 0);
        for (int n = 0; n < 2; n++) {
            struct ibv_wc wc = next_wc(end.send_cq);
            CHECK_EQ(wc.status, IBV_WC_SUCCESS);
            if ((wc.opcode & IBV_WC_RECV) != 0) {
                CHECK_EQ(wc.byte_len, length);
                check(end.buffer + HALF, length, i);
                CHECK_EQ(post_recv(&end, 0, 0, 0), 0);
            }
        }
    }
    go(socket);
    expect_exit(child, 0);
    end_close(&end);
}

/* ---- death ---- */

static void stay(int socket) {
    struct end end;
    struct address peer;
    end_open(&end, &defaults);
    connect_over(socket, &end, &peer, 4);
    go(socket);
    for (;;) {
        pause();
    }
}

static void kill_now(pid_t child) {
    CHECK_EQ(kill(child, SIGKILL), 0);
    int status;
    CHECK_EQ(waitpid(child, &status, 0), child);
}

static void death_of_the_peer_fails_what_is_outstanding(void) {
    int socket;
    pid_t child = spawn(stay, &socket);
    struct end end;
    struct address peer;
    struct options options = mortal();
    end_open(&end, &options);
    connect_over(socket, &end, &peer, 2);
    wait_for_go(socket);
    for (uint64_t i = 0; i < 4; i++) {
        CHECK_EQ(post_rdma(&end, 10 + i, IBV_WR_RDMA_WRITE_WITH_IMM, 0, 0, 8, &peer, 0), 0);
        expect_wc(end.send_cq, 10 + i, IBV_WC_SUCCESS); /* although nobody polls there */
    }
    for (uint64_t i = 0; i < 4; i++) {
        CHECK_EQ(post_rdma(&end, 20 + i, IBV_WR_RDMA_WRITE_WITH_IMM, 0, 0, 8, &peer, 0), 0); /* no receive left */
    }
    kill_now(child);
    expect_wc(end.send_cq, 20, IBV_WC_RETRY_EXC_ERR);
    for (uint64_t i = 1; i < 4; i++) {
        expect_wc(end.send_cq, 20 + i, IBV_WC_WR_FLUSH_ERR);
    }
    expect_wc(end.recv_cq, 0, IBV_WC_WR_FLUSH_ERR);
    expect_wc(end.recv_cq, 1, IBV_WC_WR_FLUSH_ERR);
    expect_state(end.qp, IBV_QPS_ERR);
    end_close(&end);
    close(socket);
}

static void death_of_the_peer_wakes_a_sleeper(void) {
    int socket;
    pid_t child = spawn(stay, &socket);
    struct end end;
    struct address peer;
    struct options options = mortal();
    options.channel = true;
    end_open(&end, &options);
    connect_over(socket, &end, &peer, 1);
    wait_for_go(socket);
    /* The peer has four receives: the fifth request waits until it dies. */
    CHECK_EQ(end.context->ops.req_notify_cq(end.recv_cq, 1), 0); /* solicited only: errors wake nevertheless */
    for (uint64_t i = 0; i < 5; i++) {
        CHECK_EQ(post_rdma(&end, 10 + i, IBV_WR_RDMA_WRITE_WITH_IMM, 0, 0, 0, &peer, 0), 0);
    }
    kill_now(child);
    struct ibv_cq *cq;
    void *context;
    CHECK_EQ(ibv_get_cq_event(end.channel, &cq, &context), 0);
    ibv_ack_cq_events(cq, 1);
    CHECK(cq == end.recv_cq);
    expect_wc(end.recv_cq, 0, IBV_WC_WR_FLUSH_ERR);
    struct ibv_wc wc;
    do {
        wc = next_wc(end.send_cq);
    } while (wc.status == IBV_WC_SUCCESS);
    CHECK_EQ(wc.status, IBV_WC_RETRY_EXC_ERR);
    end_close(&end);
    close(socket);
}

/* Nothing tells, as with a device. The CM does: DISCONNECTED. */
static void death_of_the_peer_leaves_an_idle_queue_pair_until_it_sends(void) {
    int socket;
    pid_t child = spawn(stay, &socket);
    struct end end;
    struct address peer;
    struct options options = mortal();
    end_open(&end, &options);
    connect_over(socket, &end, &peer, 2);
    wait_for_go(socket);
    kill_now(child);
    CHECK_EQ(post_rdma(&end, 10, IBV_WR_RDMA_WRITE_WITH_IMM, 0, 0, 0, &peer, 0), 0);
    expect_wc(end.send_cq, 10, IBV_WC_RETRY_EXC_ERR);
    expect_wc(end.recv_cq, 0, IBV_WC_WR_FLUSH_ERR);
    expect_wc(end.recv_cq, 1, IBV_WC_WR_FLUSH_ERR);
    end_close(&end);
    close(socket);
}

static void die_in_the_middle(int socket) {
    struct end end;
    struct address peer;
    end_open(&end, &defaults);
    connect_over(socket, &end, &peer, 0);
    for (uint64_t i = 0;; i++) {
        if (post_rdma(&end, i, IBV_WR_RDMA_WRITE, 0, 0, is_embedded() ? HALF : 65536, &peer, 0) != 0) {
            struct ibv_wc wc;
            end.context->ops.poll_cq(end.send_cq, 1, &wc);
        }
        if (i == 200) {
            go(socket);
        }
    }
}

static void death_in_the_middle_of_a_message_leaves_the_rest_alive(void) {
    struct end other_a, other_b;
    for (int round = 0; round < (is_embedded() ? 5 : 2); round++) {
        int socket;
        pid_t child = spawn(die_in_the_middle, &socket);
        struct end end;
        struct address peer;
        end_open(&end, &defaults);
        connect_over(socket, &end, &peer, 3);
        struct ibv_wc wc;
        struct pollfd p = { .fd = socket, .events = POLLIN };
        while (poll(&p, 1, 0) == 0) {
            CHECK_EQ(end.context->ops.poll_cq(end.recv_cq, 1, &wc), 0);
        }
        kill_now(child);
        struct ibv_qp_attr error = { .qp_state = IBV_QPS_ERR };
        CHECK_EQ(ibv_modify_qp(end.qp, &error, IBV_QP_STATE), 0);
        for (uint64_t i = 0; i < 3; i++) {
            expect_wc(end.recv_cq, i, IBV_WC_WR_FLUSH_ERR);
        }
        end_close(&end);
        close(socket);
        pair_open(&other_a, &other_b, &defaults);
        CHECK_EQ(post_recv(&other_b, 1, 0, 8), 0);
        CHECK_EQ(post_send(&other_a, 2, IBV_WR_SEND, 0, 0, 8), 0);
        expect_wc(other_b.recv_cq, 1, IBV_WC_SUCCESS);
        expect_wc(other_a.send_cq, 2, IBV_WC_SUCCESS);
        pair_close(&other_a, &other_b);
    }
}

/* Writes first: when that is complete, both ends have met. */
static void write_and_stay(int socket) {
    struct end end;
    struct address peer;
    end_open(&end, &defaults);
    connect_over(socket, &end, &peer, 0);
    CHECK_EQ(post_rdma(&end, 1, IBV_WR_RDMA_WRITE, 0, 0, 8, &peer, 0), 0);
    expect_wc(end.send_cq, 1, IBV_WC_SUCCESS);
    go(socket);
    for (;;) {
        pause();
    }
}

/* Expects the timeout of a request to a number that nobody has, after at least so many milliseconds. */
static void expect_time_out(unsigned ms) {
    struct end end;
    struct options options = defaults;
    for (options.timeout = 1; 4 * 4096ull << options.timeout < ms * 1000000ull; options.timeout++) { }
    options.retry_cnt = 0;
    end_open(&end, &options);
    end_connect(&end, 0xfffffe);
    CHECK_EQ(post_send(&end, 1, IBV_WR_SEND, 0, 0, 8), 0);
    expect_wc(end.send_cq, 1, IBV_WC_RETRY_EXC_ERR);
    end_close(&end);
}

/*
 * A device goes on when its process is stopped. With the embedded provider the process is the device: it answers when
 * it runs again, and no retry is counted before.
 */
static void a_stopped_peer_is_not_a_dead_one(void) {
    int socket;
    pid_t child = spawn(write_and_stay, &socket);
    struct end end;
    struct address peer;
    struct options options = defaults;
    options.timeout = is_embedded() ? 1 : 14; /* 8 us: used up at the first look; 67 ms */
    options.retry_cnt = is_embedded() ? 0 : 2;
    end_open(&end, &options);
    connect_over(socket, &end, &peer, 0);
    wait_for_go(socket);
    CHECK_EQ(kill(child, SIGSTOP), 0);
    int status;
    CHECK_EQ(waitpid(child, &status, WUNTRACED), child);
    CHECK_EQ(post_rdma(&end, 2, IBV_WR_RDMA_WRITE, 0, 0, 8, &peer, 0), 0);
    if (is_embedded()) {
        expect_time_out(200);
        expect_nothing(end.send_cq);
        CHECK_EQ(kill(child, SIGCONT), 0);
    }
    expect_wc(end.send_cq, 2, IBV_WC_SUCCESS);
    CHECK_EQ(post_rdma(&end, 3, IBV_WR_RDMA_WRITE, 0, 0, 8, &peer, 0), 0);
    expect_wc(end.send_cq, 3, IBV_WC_SUCCESS);
    kill_now(child);
    end_close(&end);
    close(socket);
}

/* ---- who does not poll ---- */

static void serve_without_polling(int socket) {
    struct end end;
    struct address peer;
    end_open(&end, &defaults);
    memset(end.buffer + HALF, 0x77, 4096);
    connect_over(socket, &end, &peer, 0);
    wait_for_go(socket);
    check(end.buffer, HALF, 99);
    end_close(&end);
}

static void a_target_need_not_poll(void) {
    int socket;
    pid_t child = spawn(serve_without_polling, &socket);
    struct end end;
    struct address peer;
    end_open(&end, &defaults);
    connect_over(socket, &end, &peer, 0);
    fill(end.buffer, HALF, 99);
    for (uint64_t i = 0; i < 200; i++) {
        CHECK_EQ(post_rdma(&end, i, IBV_WR_RDMA_WRITE, 0, 0, i == 0 ? HALF : 64, &peer, 0), 0);
        expect_wc(end.send_cq, i, IBV_WC_SUCCESS);
        CHECK_EQ(post_rdma(&end, i, IBV_WR_RDMA_READ, 0, HALF, 4096, &peer, HALF), 0);
        expect_wc(end.send_cq, i, IBV_WC_SUCCESS);
        CHECK_EQ(end.buffer[HALF + 4095], 0x77);
    }
    go(socket);
    expect_exit(child, 0);
    end_close(&end);
}

/* Looks for completions all the time for a while, then does something else, until it is told to end. */
static void poll_now_and_then(int socket) {
    enum { RECEIVES = 8 };
    struct end end;
    struct address peer;
    end_open(&end, &defaults);
    connect_over(socket, &end, &peer, RECEIVES);
    struct pollfd told = { .fd = socket, .events = POLLIN };
    do {
        for (int i = 0; i < 3000; i++) {
            struct ibv_wc wc;
            if (end.context->ops.poll_cq(end.recv_cq, 1, &wc) == 1) {
                CHECK_EQ(wc.status, IBV_WC_SUCCESS);
                CHECK_EQ(post_recv(&end, 0, 0, 0), 0);
            }
        }
    } while (poll(&told, 1, 5) == 0);
    wait_for_go(socket);
    end_close(&end);
}

static void a_target_may_poll_now_and_then(void) {
    int socket;
    pid_t child = spawn(poll_now_and_then, &socket);
    struct end end;
    struct address peer;
    end_open(&end, &defaults);
    connect_over(socket, &end, &peer, 0);
    for (uint32_t i = 0; i < 200; i++) {
        fill(end.buffer, 4096, i);
        CHECK_EQ(post_rdma(&end, 1, IBV_WR_RDMA_WRITE, 0, 0, 4096, &peer, 4096), 0);
        CHECK_EQ(post_rdma(&end, 2, IBV_WR_RDMA_READ, 0, 8192, 4096, &peer, 4096), 0);
        CHECK_EQ(post_atomic(&end, 3, IBV_WR_ATOMIC_FETCH_AND_ADD, HALF, &peer, HALF, 1, 0), 0);
        CHECK_EQ(post_send(&end, 4, IBV_WR_SEND, 0, 0, 0), 0);
        for (uint64_t n = 1; n <= 4; n++) {
            expect_wc(end.send_cq, n, IBV_WC_SUCCESS);
        }
        uint64_t before;
        memcpy(&before, end.buffer + HALF, sizeof(before));
        CHECK_EQ(before, i);
        check(end.buffer + 8192, 4096, i);
    }
    go(socket);
    expect_exit(child, 0);
    end_close(&end);
}

/* Posts more than the shared memory holds, and then only waits on the descriptor. */
static void a_sleeping_sender_is_continued(void) {
    int socket;
    pid_t child = spawn(serve_without_polling, &socket);
    struct end end;
    struct address peer;
    struct options options = defaults;
    options.channel = true;
    options.sig_all = false;
    end_open(&end, &options);
    CHECK_EQ(fcntl(end.channel->fd, F_SETFL, O_NONBLOCK), 0);
    connect_over(socket, &end, &peer, 0);
    fill(end.buffer, HALF, 99);
    for (int round = 0; round < 10; round++) {
        CHECK_EQ(end.context->ops.req_notify_cq(end.send_cq, 0), 0);
        CHECK_EQ(post_rdma(&end, 0, IBV_WR_RDMA_WRITE, 0, 0, HALF, &peer, 0), 0);
        CHECK_EQ(post_rdma(&end, 1, IBV_WR_RDMA_WRITE, IBV_SEND_SIGNALED, 0, HALF, &peer, 0), 0);
        struct ibv_cq *cq;
        void *context;
        struct pollfd p = { .fd = end.channel->fd, .events = POLLIN };
        do {
            CHECK_EQ(poll(&p, 1, patience_ms()), 1);
        } while (ibv_get_cq_event(end.channel, &cq, &context) != 0);
        ibv_ack_cq_events(cq, 1);
        struct ibv_wc wc;
        CHECK_EQ(end.context->ops.poll_cq(end.send_cq, 1, &wc), 1); /* the event came with it */
        CHECK_EQ(wc.wr_id, 1);
        CHECK_EQ(wc.status, IBV_WC_SUCCESS);
    }
    go(socket);
    expect_exit(child, 0);
    end_close(&end);
}

int main(void) {
    RUN(data_goes_both_ways);
    RUN(death_of_the_peer_fails_what_is_outstanding);
    RUN(death_of_the_peer_wakes_a_sleeper);
    RUN(death_of_the_peer_leaves_an_idle_queue_pair_until_it_sends);
    RUN(death_in_the_middle_of_a_message_leaves_the_rest_alive);
    RUN(a_stopped_peer_is_not_a_dead_one);
    RUN(a_target_need_not_poll);
    RUN(a_target_may_poll_now_and_then);
    RUN(a_sleeping_sender_is_continued);
    return 0;
}
