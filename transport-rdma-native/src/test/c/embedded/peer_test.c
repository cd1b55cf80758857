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
/* @Tag("stalls") */
/*
 * Links over which queue pairs talk: how long they last, and that a doorbell goes over one once.
 */
#include <unistd.h>

#include "check.h"
#include "embedded/device/qp.h"
#include "embedded/link/link.h"
#include "embedded/link/peer.h"
#include "embedded/link/wire.h"
#include "pair.h"
#include "provider.h"
#include "qp_inside.h"
#include "ud_support.h"

#define LINK_FDS 2 /* descriptors of both ends of a link to this process */

static int fds_without_links;

static void queue_pairs_talk(void) {
    struct end a, b;
    pair_open(&a, &b, &defaults);
    pair_talk(&a, &b);
    CHECK(open_fds() >= fds_without_links + LINK_FDS);
    pair_close(&a, &b);
}

static void a_datagram_is_sent(void) {
    struct end a, b;
    ud_open(&a);
    ud_open(&b);
    struct ibv_ah *ah = own_ah(&a);
    CHECK_EQ(post_recv(&b, 1, 0, GRH + 8), 0);
    send_datagram(&a, 2, 0, 8, ah, b.qp->qp_num);
    expect_wc(b.recv_cq, 1, IBV_WC_SUCCESS);
    CHECK(open_fds() >= fds_without_links + LINK_FDS);
    CHECK_EQ(ibv_destroy_ah(ah), 0);
    end_close(&a);
    end_close(&b);
}

static void a_link_goes_some_time_after_the_last_connected_queue_pair(void) {
    queue_pairs_talk();
    CHECK_EVENTUALLY(open_fds() <= fds_without_links);
    queue_pairs_talk();
}

static void a_link_goes_some_time_after_the_last_datagram_queue_pair(void) {
    a_datagram_is_sent();
    CHECK_EVENTUALLY(open_fds() <= fds_without_links);
    a_datagram_is_sent();
}

/* Another link, which is made later and used by nobody, shows that its time would have come. */
static void a_link_stays_as_long_as_a_silent_queue_pair(void) {
    struct end a, b;
    pair_open(&a, &b, &defaults);
    pair_talk(&a, &b);
    CHECK_EVENTUALLY(!is_introducing_itself(qp_of(a.qp)) && !is_introducing_itself(qp_of(b.qp)));
    struct link_port *port;
    struct link *unused;
    int port_space = getpid() << 4; /* port space of this run: no other program has ports there */
    CHECK_EQ(link_bind_port(port_space, 1, &port), 0);
    int before = open_fds();
    CHECK_EQ(link_connect_port(port_space, 1, false, &unused), 0);
    CHECK(link_is_up(unused));
    link_put(unused);
    CHECK_EVENTUALLY(open_fds() <= before);
    CHECK(link_is_up(peer_link(rc_of(qp_of(a.qp))->route)));
    CHECK(link_is_up(peer_link(rc_of(qp_of(a.qp))->attached->peer)));
    pair_talk(&a, &b);
    link_unbind_port(port);
    pair_close(&a, &b);
}

static atomic_int downs;

static void count_down(struct link *link) {
    (void) link;
    downs++;
}

/* A process that makes links and ends them does not have the engine look at the queue pairs of all others. */
static void the_end_of_a_link_waits_for_no_queue_pair_of_others(void) {
    struct end a, b, datagrams;
    struct link_port *port;
    struct link *other;
    int port_space = getpid() << 4;
    pair_open(&a, &b, &defaults);
    pair_talk(&a, &b);
    ud_open(&datagrams);
    CHECK_EQ(link_bind_port(port_space, 2, &port), 0);
    CHECK_EQ(link_connect_port(port_space, 2, true, &other), 0);
    struct peer *peer = peer_of_link(other);
    CHECK(peer != NULL);
    peer_put(peer);
    int before = downs;
    pthread_mutex_lock(&qp_of(a.qp)->control);
    pthread_mutex_lock(&qp_of(datagrams.qp)->control);
    if (stall_forgive != NULL) {
        stall_forgive();
    }
    link_abort(other);
    CHECK_EVENTUALLY(downs == before + 2); /* both ends are here */
    pthread_mutex_unlock(&qp_of(datagrams.qp)->control);
    pthread_mutex_unlock(&qp_of(a.qp)->control);
    link_put(other);
    link_unbind_port(port);
    pair_talk(&a, &b);
    pair_close(&a, &b);
    end_close(&datagrams);
}

/* ---- a process that wants a doorbell, whatever it was sent ---- */

struct heard {
    uint32_t qpn, carries;
};

static int parent;
static _Atomic uint32_t own_qpn;

static bool want_a_doorbell(struct link *link, const struct link_message *incoming) {
    const struct wire_attach *attach = incoming->body;
    const struct heard heard = { attach->src_qpn, attach->carries };
    const struct wire_slots slots = { .src_qpn = own_qpn, .dst_qpn = heard.qpn, .wants = WIRE_RECV_DOORBELL };
    struct peer *peer = peer_of_link(link);
    CHECK(peer != NULL);
    send_all(parent, &heard, sizeof(heard));
    CHECK_EQ(peer_send(peer, WIRE_SLOTS, &slots, sizeof(slots), NULL, 0), 0);
    peer_put(peer);
    return true;
}

static void want(int socket) {
    struct end end;
    char done;
    parent = socket;
    link_set_handler(WIRE_ATTACH, want_a_doorbell);
    end_open(&end, &defaults);
    uint32_t qpn = end.qp->qp_num;
    own_qpn = qpn;
    send_all(socket, &qpn, sizeof(qpn));
    receive_all(socket, &done, 1);
}

static pid_t wanting;
static int to_wanting;

static struct heard hear(uint32_t qpn) {
    struct heard heard;
    do { /* an introduction may be repeated before its answer has come */
        receive_all(to_wanting, &heard, sizeof(heard));
    } while (heard.qpn != qpn);
    return heard;
}

static void a_doorbell_is_sent_once_and_again_to_a_peer_that_has_lost_it(void) {
    struct end shared, ends[2];
    struct options options = defaults;
    uint32_t qpn;
    options.channel = true;
    end_open(&shared, &options);
    receive_all(to_wanting, &qpn, sizeof(qpn));
    for (int i = 0; i < 2; i++) {
        end_open_on(&ends[i], &shared, &options);
        end_to_init(&ends[i]);
        CHECK_EQ(end_to_rtr(&ends[i], qpn), 0);
        uint32_t own = ends[i].qp->qp_num;
        CHECK_EQ(hear(own).carries & WIRE_RECV_DOORBELL, i == 0 ? WIRE_RECV_DOORBELL : 0);
        while ((hear(own).carries & WIRE_RECV_DOORBELL) == 0) {
        }
    }
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(ibv_destroy_qp(ends[i].qp), 0);
    }
    end_close(&shared);
    send_all(to_wanting, "", 1);
    expect_exit(wanting, 0);
}

int main(void) {
    wanting = spawn(want, &to_wanting);
    end_idle_links_soon();
    link_add_down_handler(count_down);
    struct end first;
    /* An object that is there all the time: the end of the last one would end all links, whatever their own time. */
    end_open(&first, &defaults);
    fds_without_links = open_fds();
    RUN(a_link_goes_some_time_after_the_last_connected_queue_pair);
    RUN(a_link_goes_some_time_after_the_last_datagram_queue_pair);
    RUN(a_link_stays_as_long_as_a_silent_queue_pair);
    RUN(the_end_of_a_link_waits_for_no_queue_pair_of_others);
    RUN(a_doorbell_is_sent_once_and_again_to_a_peer_that_has_lost_it);
    end_close(&first);
    return 0;
}
