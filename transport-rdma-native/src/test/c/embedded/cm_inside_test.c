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
 * Tests of properties that only the inside of the embedded connection manager shows or allows: its times set shorter,
 * ids looked into, ids that a fork() copied.
 */
#include "cm_processes.h"

#include "cm_inside.h"
#include "embedded/device/presence.h"
#include "embedded/device/qp.h"
#include "namespaces.h"
#include "raw_link.h"

#include <linux/capability.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#define MS 1000000ull

static int bind_result(struct rdma_cm_id *id, const char *text, uint16_t port) {
    struct address address = address_of(text, port);
    return rdma_bind_addr(id, sockaddr_of(&address)) == 0 ? 0 : errno;
}

static void give_up_capabilities(void) {
    struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
    const struct __user_cap_data_struct none[2] = { { 0 }, { 0 } };
    CHECK_EQ(syscall(SYS_capset, &header, none), 0);
}

/* In a network namespace, as far as the system lets its limit be changed. */
static void bind_at_the_limit(const void *first) {
    const unsigned number = *(const unsigned *) first;
    if (geteuid() != 0) {
        enter_user_namespace();
    }
    CHECK_EQ(unshare(CLONE_NEWNET), 0);
    FILE *file = fopen("/proc/sys/net/ipv4/ip_unprivileged_port_start", "we");
    if (file == NULL) {
        fprintf(stderr, "    skipped: the limit of ports, which this system lets this user not change\n");
        return;
    }
    fprintf(file, "%u\n", number);
    CHECK_EQ(fclose(file), 0);
    give_up_capabilities();
    struct rdma_event_channel *channel = new_channel();
    struct rdma_cm_id *below = new_id(channel), *at = new_id(channel);
    CHECK_EQ(bind_result(below, "0.0.0.0", (uint16_t) (number - 1)), EACCES);
    CHECK_EQ(bind_result(at, "0.0.0.0", (uint16_t) number), 0);
    CHECK_EQ(rdma_destroy_id(below), 0);
    CHECK_EQ(rdma_destroy_id(at), 0);
    rdma_destroy_event_channel(channel);
}

static void ports_from_the_namespaces_limit_on_need_no_capability(void) {
    static const unsigned firsts[] = { 80, 1500 };
    if (!has_namespaces()) {
        fprintf(stderr, "    skipped: other namespaces, which this system lets this user not make\n");
        return;
    }
    for (size_t i = 0; i < sizeof(firsts) / sizeof(*firsts); i++) {
        struct child child = begin_child(bind_at_the_limit, &firsts[i]);
        end_child(&child);
    }
}

static bool is_destroyed(struct rdma_cm_id *id) {
    pthread_mutex_lock(&cm_lock);
    bool destroyed = cm_of(id)->destroyed;
    pthread_mutex_unlock(&cm_lock);
    return destroyed;
}

static void *destroy(void *id) {
    CHECK_EQ(rdma_destroy_id(id), 0);
    return NULL;
}

static void destroy_waits_for_the_acks(void) {
    struct rdma_event_channel *channel = new_channel();
    struct rdma_cm_id *id = new_id(channel);
    struct address address = address_of(test_address(), 9);
    CHECK_EQ(rdma_resolve_addr(id, NULL, sockaddr_of(&address), 1000), 0);
    struct rdma_cm_event *event = expect(channel, RDMA_CM_EVENT_ADDR_RESOLVED);
    pthread_t thread;
    CHECK_EQ(pthread_create(&thread, NULL, destroy, id), 0);
    CHECK_EVENTUALLY(is_destroyed(id));
    CHECK_EQ(pthread_tryjoin_np(thread, NULL), EBUSY);
    rdma_ack_cm_event(event);
    CHECK_EQ(pthread_join(thread, NULL), 0);
    rdma_destroy_event_channel(channel);
}

static bool is_readable(const struct rdma_event_channel *channel) {
    struct pollfd fd = { .fd = channel->fd, .events = POLLIN };
    return poll(&fd, 1, 0) == 1;
}

static void start_resolving(struct rdma_cm_id *id) {
    struct address address = address_of(test_address(), 9);
    CHECK_EQ(rdma_resolve_addr(id, NULL, sockaddr_of(&address), 1000), 0);
}

static void a_channel_is_readable_while_it_has_events(void) {
    struct rdma_event_channel *channel = new_channel(), *other = new_channel();
    struct rdma_cm_id *ids[4];
    for (int i = 0; i < 4; i++) {
        ids[i] = new_id(channel);
        CHECK(!is_readable(channel));
    }
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 4; i++) {
            if (round == 0) {
                start_resolving(ids[i]);
            } else {
                CHECK_EQ(rdma_resolve_route(ids[i], 1000), 0);
            }
            CHECK(is_readable(channel));
        }
        CHECK_EQ(rdma_migrate_id(ids[3], other), 0); /* with its event */
        CHECK(is_readable(other));
        expect_and_ack(other, round == 0 ? RDMA_CM_EVENT_ADDR_RESOLVED : RDMA_CM_EVENT_ROUTE_RESOLVED, 0);
        CHECK(!is_readable(other));
        CHECK_EQ(rdma_migrate_id(ids[3], channel), 0);
        for (int i = 0; i < 3; i++) {
            CHECK(is_readable(channel));
            expect_and_ack(channel, round == 0 ? RDMA_CM_EVENT_ADDR_RESOLVED : RDMA_CM_EVENT_ROUTE_RESOLVED, 0);
        }
        CHECK(!is_readable(channel));
    }
    for (int i = 0; i < 4; i++) {
        CHECK_EQ(rdma_destroy_id(ids[i]), 0);
    }
    rdma_destroy_event_channel(channel);
    rdma_destroy_event_channel(other);
}

/* Runs in a process of its own, which has few descriptors. */
static bool resolves_twice_with_one_look_at_the_host(struct rdma_event_channel *channel) {
    struct rdma_cm_id *first = new_id(channel), *second = new_id(channel);
    struct address address = address_of(test_address(), 9);
    struct rlimit before, none = { 0, 0 };
    CHECK_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
    none.rlim_max = before.rlim_max;
    start_resolving(first);
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
    bool resolved = rdma_resolve_addr(second, NULL, sockaddr_of(&address), 1000) == 0;
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
    CHECK(resolved || errno == EMFILE);
    expect_and_ack(channel, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
    if (resolved) {
        struct rdma_cm_event *event = next_event(channel);
        resolved = event->event == RDMA_CM_EVENT_ADDR_RESOLVED;
        rdma_ack_cm_event(event);
    }
    CHECK_EQ(rdma_destroy_id(first), 0);
    CHECK_EQ(rdma_destroy_id(second), 0);
    return resolved;
}

static void an_address_that_was_just_resolved_needs_no_descriptor(void) {
    struct rdma_event_channel *channel = new_channel();
    CHECK_EVENTUALLY(resolves_twice_with_one_look_at_the_host(channel));
    rdma_destroy_event_channel(channel);
}

static void a_connection_leads_to_one_host(void) {
    static const char *const addresses[] = { "224.0.0.1", "239.1.2.3", "255.255.255.255", "ff02::1", "ff0e::1" };
    struct rdma_event_channel *server = new_channel(), *client = new_channel();
    struct rdma_cm_id *listener = new_listener(server, "::", 4); /* a listener that would be reached */
    for (size_t i = 0; i < sizeof(addresses) / sizeof(*addresses); i++) {
        struct rdma_cm_id *id = new_id(client);
        struct address address = address_of(addresses[i], port_of(listener));
        CHECK_EQ(rdma_resolve_addr(id, NULL, sockaddr_of(&address), 1000), 0);
        expect_and_ack(client, RDMA_CM_EVENT_ADDR_ERROR, -ENODEV);
        CHECK_EQ(rdma_destroy_id(id), 0);
    }
    CHECK_EQ(rdma_destroy_id(listener), 0);
    rdma_destroy_event_channel(server);
    rdma_destroy_event_channel(client);
}

static uint32_t scope_of(const struct sockaddr_storage *address) {
    CHECK_EQ(address->ss_family, AF_INET6);
    return ((const struct sockaddr_in6 *) address)->sin6_scope_id;
}

/*
 * A scope belongs to a link-local address only, as in the kernel. Java's network interfaces give one with each address.
 */
static void a_scope_is_kept_of_no_other_address(void) {
    struct rdma_event_channel *server = new_channel(), *client = new_channel();
    struct rdma_cm_id *listener = new_id(server), *id = new_id(client);
    struct address address = address_of("::1", 0);
    ((struct sockaddr_in6 *) &address.storage)->sin6_scope_id = 1;
    CHECK_EQ(rdma_bind_addr(listener, sockaddr_of(&address)), 0);
    CHECK_EQ(rdma_listen(listener, 4), 0);
    CHECK_EQ(scope_of(&listener->route.addr.src_storage), 0);
    ((struct sockaddr_in6 *) &address.storage)->sin6_port = rdma_get_src_port(listener);
    CHECK_EQ(rdma_resolve_addr(id, NULL, sockaddr_of(&address), 1000), 0);
    expect_and_ack(client, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
    CHECK_EQ(scope_of(&id->route.addr.src_storage), 0);
    CHECK_EQ(scope_of(&id->route.addr.dst_storage), 0);
    CHECK_EQ(rdma_destroy_id(id), 0);
    CHECK_EQ(rdma_destroy_id(listener), 0);
    rdma_destroy_event_channel(server);
    rdma_destroy_event_channel(client);
}

static void a_listener_that_appears_a_moment_later_is_found(void) {
    set_time(&cm_grace_ns, 600000 * MS);
    struct rdma_event_channel *server = new_channel(), *client = new_channel();
    struct rdma_cm_id *listener = new_listener(server, test_address(), 4);
    uint16_t port = port_of(listener);
    struct rdma_cm_id *first = connecting(client, test_address(), port);
    struct rdma_cm_id *passive = accept_next(server); /* there is a link for this port now */
    expect_and_ack(client, RDMA_CM_EVENT_CONNECT_RESPONSE, 0);
    rdma_destroy_id(listener);
    struct rdma_cm_id *second = connecting(client, test_address(), port);
    listener = new_id(server);
    CHECK_EQ(bind_result(listener, test_address(), port), 0);
    CHECK_EQ(rdma_listen(listener, 4), 0);
    struct rdma_cm_id *late = accept_next(server);
    set_time(&cm_grace_ns, 10 * MS);
    rdma_destroy_id(first);
    rdma_destroy_id(second);
    rdma_destroy_id(passive);
    rdma_destroy_id(late);
    rdma_destroy_id(listener);
    rdma_destroy_event_channel(server);
    rdma_destroy_event_channel(client);
}

static void a_stopped_peer_is_unreachable(void) {
    struct rdma_event_channel *channel = new_channel();
    uint16_t port = 0;
    pid_t server = fork_server(&port);
    struct rdma_cm_id *established = connected(channel, port);
    kill(server, SIGSTOP);
    CHECK_EQ(waitpid(server, NULL, WUNTRACED), server);
    set_time(&cm_response_timeout_ns, 200 * MS);
    struct rdma_cm_id *id = connecting(channel, test_address(), port);
    expect_and_ack(channel, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT);
    CHECK_EQ(rdma_disconnect(established), 0);
    expect_and_ack(channel, RDMA_CM_EVENT_DISCONNECTED, -ETIMEDOUT);
    set_time(&cm_response_timeout_ns, 60000 * MS);
    rdma_destroy_id(id);
    rdma_destroy_id(established);
    end_server(server);
    rdma_destroy_event_channel(channel);
}

struct alarm {
    struct engine_timer timer;
    atomic_bool fired;
};

static void on_alarm(struct engine_timer *timer) {
    atomic_store(&((struct alarm *) timer)->fired, true);
}

/* Waits until the engine's other timers that are due by then have fired. */
static void wait_for_timers(uint64_t within_ns) {
    struct alarm alarm = { .timer = { .fire = on_alarm } };
    engine_timer_set(&alarm.timer, engine_now_ns() + within_ns);
    CHECK_EVENTUALLY(atomic_load(&alarm.fired));
    engine_timer_cancel(&alarm.timer);
}

/* Nobody has refused: the listener is there, and answers when it runs again. */
static void a_listener_that_is_stopped_refuses_nobody(void) {
    struct rdma_event_channel *channel = new_channel();
    uint16_t port = 0;
    pid_t server = fork_server(&port);
    link_hello_timeout_ns = 5 * MS;
    kill(server, SIGSTOP);
    CHECK_EQ(waitpid(server, NULL, WUNTRACED), server);
    struct rdma_cm_id *id = connecting(channel, test_address(), port);
    wait_for_timers(200 * MS);
    expect_nothing(channel);
    kill(server, SIGCONT);
    expect_and_ack(channel, RDMA_CM_EVENT_CONNECT_RESPONSE, 0);
    link_hello_timeout_ns = 5000 * MS;
    rdma_destroy_id(id);
    end_server(server);
    rdma_destroy_event_channel(channel);
}

static void an_unanswered_request_times_out_on_both_sides(void) {
    struct rdma_event_channel *server = new_channel(), *client = new_channel();
    struct rdma_cm_id *listener = new_listener(server, test_address(), 4);
    set_time(&cm_response_timeout_ns, 100 * MS);
    struct rdma_cm_id *id = connecting(client, test_address(), port_of(listener));
    struct rdma_cm_event *event = expect(server, RDMA_CM_EVENT_CONNECT_REQUEST);
    struct rdma_cm_id *passive = event->id;
    rdma_ack_cm_event(event);
    expect_and_ack(client, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT);
    set_time(&cm_response_timeout_ns, 60000 * MS);
    struct rdma_conn_param param = { .qp_num = 9 };
    CHECK_EVENTUALLY(rdma_accept(passive, &param) == -1 && errno == EINVAL);
    rdma_destroy_id(id);
    rdma_destroy_id(passive);
    rdma_destroy_id(listener);
    rdma_destroy_event_channel(server);
    rdma_destroy_event_channel(client);
}

#define CROWD 640 /* more than the links that a process accepts from one */

/* Each client asks again every 20 ms, so that the last ones wait long on a loaded machine. */
static void a_crowd_before_a_full_backlog_gets_its_turn_over_one_link(void) {
    struct rdma_event_channel *server = new_channel(), *client = new_channel();
    struct rdma_cm_id *listener = new_listener(server, test_address(), 32), *clients[CROWD], *accepted[CROWD];
    int before = open_fds();
    set_time(&cm_response_timeout_ns, 600000 * MS);
    for (int i = 0; i < CROWD; i++) {
        clients[i] = connecting(client, test_address(), port_of(listener));
    }
    for (int count = 0, established = 0; established < CROWD;) {
        struct rdma_cm_event *event = next_event(server);
        if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST) {
            struct rdma_conn_param param = { .qp_num = fresh_qpn() };
            accepted[count++] = event->id;
            CHECK_EQ(rdma_accept(event->id, &param), 0);
            struct rdma_cm_event *response = expect(client, RDMA_CM_EVENT_CONNECT_RESPONSE);
            CHECK_EQ(rdma_establish(response->id), 0);
            rdma_ack_cm_event(response);
        } else {
            CHECK_EQ(event->event, RDMA_CM_EVENT_ESTABLISHED);
            established++;
        }
        rdma_ack_cm_event(event);
    }
    CHECK_EVENTUALLY(open_fds() <= before + 2); /* two ends of the link */
    set_time(&cm_response_timeout_ns, 60000 * MS);
    for (int i = 0; i < CROWD; i++) {
        CHECK_EQ(rdma_destroy_id(clients[i]), 0);
        CHECK_EQ(rdma_destroy_id(accepted[i]), 0);
    }
    CHECK_EQ(rdma_destroy_id(listener), 0);
    rdma_destroy_event_channel(server);
    rdma_destroy_event_channel(client);
}

/* A connect that is given up: one thread destroys the queue pair which another one moves, as it fetches the answer. */
struct given_up {
    struct rdma_event_channel *server, *client;
    struct rdma_cm_id *listener, *passive, *active;
    struct qp *qp; /* queue pair whose control is held: a thread that modifies or destroys it waits */
    uint32_t qpn;
};

static struct given_up give_up(bool rejected) {
    struct given_up g = { .server = new_channel(), .client = new_channel() };
    g.listener = new_listener(g.server, test_address(), 8);
    g.active = new_id(g.client);
    resolve(g.active, test_address(), port_of(g.listener));
    struct ibv_qp_init_attr attr = { .qp_type = IBV_QPT_RC };
    attr.cap.max_send_wr = attr.cap.max_recv_wr = attr.cap.max_send_sge = attr.cap.max_recv_sge = 1;
    CHECK_EQ(rdma_create_qp(g.active, NULL, &attr), 0);
    g.qpn = g.active->qp->qp_num;
    g.qp = qp_table_find(g.qpn);
    struct rdma_conn_param param = { .retry_count = 7 };
    CHECK_EQ(rdma_connect(g.active, &param), 0);
    if (rejected) {
        struct rdma_cm_event *request = expect(g.server, RDMA_CM_EVENT_CONNECT_REQUEST);
        g.passive = request->id;
        CHECK_EQ(rdma_reject(g.passive, NULL, 0), 0);
        CHECK_EQ(rdma_ack_cm_event(request), 0);
    } else {
        g.passive = accept_next(g.server);
    }
    CHECK_EVENTUALLY(is_readable(g.client));
    pthread_mutex_lock(&g.qp->control);
    return g;
}

static void let_go(struct given_up *g) {
    pthread_mutex_unlock(&g->qp->control);
    qp_put(g->qp);
}

static void free_given_up(struct given_up *g) {
    rdma_destroy_id(g->active);
    rdma_destroy_id(g->passive);
    rdma_destroy_id(g->listener);
    rdma_destroy_event_channel(g->server);
    rdma_destroy_event_channel(g->client);
}

static void *fetch_and_ack(void *channel) {
    CHECK_EQ(rdma_ack_cm_event(next_event(channel)), 0);
    return NULL;
}

static void *destroy_qp(void *id) {
    rdma_destroy_qp(id);
    return NULL;
}

static int qp_users(struct rdma_cm_id *id) {
    pthread_mutex_lock(&cm_lock);
    int users = cm_of(id)->qp_users;
    pthread_mutex_unlock(&cm_lock);
    return users;
}

static bool has_qp(struct rdma_cm_id *id) {
    pthread_mutex_lock(&cm_lock);
    bool has = id->qp != NULL;
    pthread_mutex_unlock(&cm_lock);
    return has;
}

static bool is_in_table(uint32_t qpn) {
    struct qp *qp = qp_table_find(qpn);
    if (qp != NULL) {
        qp_put(qp);
    }
    return qp != NULL;
}

static bool has_ended(pthread_t thread) {
    return pthread_tryjoin_np(thread, NULL) == 0;
}

static void a_queue_pair_stays_while_it_is_used(void) {
    struct given_up g = give_up(true);
    let_go(&g);
    struct ibv_qp *qp = cm_use_qp(cm_of(g.active));
    CHECK(qp == g.active->qp);
    pthread_t destroyer;
    CHECK_EQ(pthread_create(&destroyer, NULL, destroy_qp, g.active), 0);
    CHECK_EVENTUALLY(!has_qp(g.active));
    CHECK(cm_use_qp(cm_of(g.active)) == NULL);
    settle();
    CHECK(is_in_table(g.qpn));
    cm_release_qp(cm_of(g.active), qp);
    CHECK_EVENTUALLY(has_ended(destroyer));
    CHECK(!is_in_table(g.qpn));
    free_given_up(&g);
}

static void an_event_uses_the_queue_pair_that_it_moves(void) {
    for (int rejected = 0; rejected < 2; rejected++) {
        struct given_up g = give_up(rejected != 0);
        pthread_t fetcher, destroyer;
        CHECK_EQ(pthread_create(&fetcher, NULL, fetch_and_ack, g.client), 0);
        CHECK_EVENTUALLY(qp_users(g.active) == 1);
        CHECK_EQ(pthread_create(&destroyer, NULL, destroy_qp, g.active), 0);
        CHECK_EVENTUALLY(!has_qp(g.active));
        let_go(&g);
        CHECK_EVENTUALLY(has_ended(fetcher));
        CHECK_EVENTUALLY(has_ended(destroyer));
        free_given_up(&g);
    }
}

static void an_event_leaves_a_queue_pair_alone_that_is_being_destroyed(void) {
    for (int rejected = 0; rejected < 2; rejected++) {
        struct given_up g = give_up(rejected != 0);
        pthread_t fetcher, destroyer;
        CHECK_EQ(pthread_create(&destroyer, NULL, destroy_qp, g.active), 0);
        CHECK_EVENTUALLY(!has_qp(g.active));
        CHECK_EQ(pthread_create(&fetcher, NULL, fetch_and_ack, g.client), 0);
        CHECK_EVENTUALLY(has_ended(fetcher)); /* the fetcher does not wait for the other thread */
        let_go(&g);
        CHECK_EVENTUALLY(has_ended(destroyer));
        free_given_up(&g);
    }
}

static void a_forked_child_can_connect_and_its_parent_notices_nothing(void) {
    struct rdma_event_channel *channel = new_channel();
    uint16_t port = 0;
    pid_t server = fork_server(&port);
    struct rdma_cm_id *id = connected(channel, port);
    pid_t child = fork_child();
    if (child == 0) {
        limit_life();
        rdma_destroy_id(id); /* child's copy: the connection is the parent's */
        struct rdma_event_channel *own = new_channel();
        struct rdma_cm_id *second = connected(own, port);
        CHECK_EQ(rdma_disconnect(second), 0);
        expect_and_ack(own, RDMA_CM_EVENT_DISCONNECTED, 0);
        rdma_destroy_id(second);
        _exit(0);
    }
    int status;
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK_EQ(status, 0);
    expect_nothing(channel);
    CHECK_EQ(rdma_disconnect(id), 0);
    expect_and_ack(channel, RDMA_CM_EVENT_DISCONNECTED, 0);
    rdma_destroy_id(id);
    end_server(server);
    rdma_destroy_event_channel(channel);
}

/* ---- names that others hold: any user may bind them, as many as it has descriptors for ---- */

#define NAMES_OF_PROCESS 8000

struct squatter {
    pid_t pid;
    int channel;
};

static bool hold_name(uint16_t port, bool listening) {
    char name[64];
    snprintf(name, sizeof(name), "netty-rdma/%u/cm/%x/%u", geteuid(), RDMA_PS_TCP, port);
    int fd = raw_squat(name);
    return fd >= 0 && (!listening || listen(fd, 1) == 0);
}

static unsigned count_readable(int from, int to) {
    unsigned count = 0;
    for (int fd = from; fd < to; fd++) {
        struct pollfd input = { .fd = fd, .events = POLLIN };
        count += poll(&input, 1, 0) == 1 && (input.revents & POLLIN) != 0;
    }
    return count;
}

/* Answers a byte with the number of its sockets that somebody has connected to. */
static struct squatter squat(unsigned from, unsigned to, bool listening) {
    int ends[2];
    CHECK_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    pid_t pid = fork_child();
    if (pid == 0) {
        struct rlimit limit;
        unsigned touched = 0;
        char byte;
        limit_life();
        CHECK_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
        limit.rlim_cur = NAMES_OF_PROCESS + 1000;
        CHECK_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
        int first = dup(ends[1]);
        for (unsigned port = from; port < to; port++) {
            hold_name((uint16_t) port, listening);
        }
        do {
            CHECK_EQ(send(ends[1], &touched, sizeof(touched), 0), sizeof(touched));
            CHECK_EQ(recv(ends[1], &byte, 1, 0), 1);
            touched = count_readable(first + 1, first + 1 + (int) (to - from));
        } while (byte != 0);
        _exit(0);
    }
    close(ends[1]);
    unsigned none;
    limit_receives(ends[0], patience_ms());
    CHECK_EQ(recv(ends[0], &none, sizeof(none), 0), sizeof(none));
    return (struct squatter) { .pid = pid, .channel = ends[0] };
}

static unsigned ask_squatter(const struct squatter *squatter) {
    unsigned touched;
    CHECK_EQ(send(squatter->channel, "?", 1, 0), 1);
    CHECK_EQ(recv(squatter->channel, &touched, sizeof(touched), 0), sizeof(touched));
    return touched;
}

static void end_squatter(const struct squatter *squatter) {
    CHECK_EQ(send(squatter->channel, "", 1, 0), 1);
    CHECK_EQ(waitpid(squatter->pid, NULL, 0), squatter->pid);
    close(squatter->channel);
}

static void read_ports(unsigned *from, unsigned *to) {
    FILE *file = fopen("/proc/sys/net/ipv4/ip_local_port_range", "re");
    CHECK(file != NULL);
    CHECK_EQ(fscanf(file, "%u %u", from, to), 2);
    fclose(file);
    ++*to;
}

static void a_port_of_the_systems_choice_is_one_that_nobody_else_holds(void) {
    struct rdma_event_channel *channel = new_channel();
    unsigned from, to;
    read_ports(&from, &to);
    /* Nobody listens, so that they count as another user's. */
    const struct squatter squatter = squat(from, from + NAMES_OF_PROCESS, false);
    struct rdma_cm_id *ids[20];
    for (int i = 0; i < 20; i++) {
        ids[i] = new_id(channel);
        CHECK_EQ(bind_result(ids[i], "0.0.0.0", 0), 0);
    }
    for (int i = 0; i < 20; i++) {
        CHECK_EQ(rdma_destroy_id(ids[i]), 0);
    }
    end_squatter(&squatter);
    rdma_destroy_event_channel(channel);
}

static void a_port_is_not_looked_for_among_all_that_others_hold(void) {
    struct rdma_event_channel *channel = new_channel();
    struct rdma_cm_id *id = new_id(channel);
    struct squatter squatters[9];
    unsigned from, to, count = 0, touched = 0;
    read_ports(&from, &to);
    for (; from < to; count++) {
        unsigned end = from + NAMES_OF_PROCESS < to ? from + NAMES_OF_PROCESS : to;
        squatters[count] = squat(from, end, true);
        from = end;
    }
    CHECK_EQ(bind_result(id, "0.0.0.0", 0), EADDRNOTAVAIL);
    for (unsigned i = 0; i < count; i++) {
        touched += ask_squatter(&squatters[i]);
        end_squatter(&squatters[i]);
    }
    CHECK(touched > 0 && touched < 1000);
    rdma_destroy_id(id);
    rdma_destroy_event_channel(channel);
}

/* Counts descriptors when nothing is left to close beside the engine's. */
static int settled_fds(void) {
    CHECK_EVENTUALLY(threads("rdma-closer") == 0);
    return open_fds();
}

/* The context that ids share stays, as librdmacm's does: rdma_get_devices(3). It has one descriptor. */
static void the_last_id_takes_all_but_the_shared_context_along(void) {
    int fds = 0;
    for (int i = 0; i < 5; i++) {
        struct pair p = new_pair();
        struct ibv_context *context = p.active->verbs;
        free_pair(&p);
        CHECK_EVENTUALLY(threads("rdma-engine") == 0);
        fds = i == 0 ? settled_fds() : fds;
        CHECK_EVENTUALLY(open_fds() == fds);
        CHECK(fcntl(context->async_fd, F_GETFL) >= 0);
        struct ibv_cq *cq = ibv_create_cq(context, 1, NULL, NULL, 0); /* a user of its own */
        CHECK(cq != NULL);
        CHECK_EVENTUALLY(threads("rdma-engine") == 1);
        CHECK_EQ(ibv_destroy_cq(cq), 0);
        CHECK_EVENTUALLY(threads("rdma-engine") == 0 && open_fds() == fds);
        struct ibv_pd *pd = ibv_alloc_pd(context);
        CHECK(pd != NULL);
        struct ibv_mr *mr = ibv_reg_mr(pd, &p, sizeof(p), 0); /* no user */
        CHECK(mr != NULL);
        CHECK_EQ(threads("rdma-engine"), 0);
        CHECK_EQ(open_fds(), fds);
        CHECK_EQ(ibv_dereg_mr(mr), 0);
        CHECK_EQ(ibv_dealloc_pd(pd), 0);
    }
}

static bool has_server(const char *text, uint16_t port) {
    struct rdma_event_channel *channel = new_channel();
    struct rdma_cm_id *id = connecting(channel, text, port);
    struct rdma_cm_event *event = next_event(channel);
    bool answered = event->event == RDMA_CM_EVENT_CONNECT_RESPONSE;
    CHECK(answered || event->event == RDMA_CM_EVENT_REJECTED || event->event == RDMA_CM_EVENT_UNREACHABLE);
    rdma_ack_cm_event(event);
    CHECK_EQ(rdma_destroy_id(id), 0);
    rdma_destroy_event_channel(channel);
    return answered;
}

/* A server that listens, accepts one and goes, over and over, with no time between. */
static void come_and_go(uint16_t port) {
    struct address address = address_of(test_address(), port);
    presence_rest_ns = 0;
    for (;;) {
        struct rdma_event_channel *channel = new_channel();
        struct rdma_cm_id *listener = new_id(channel);
        CHECK_EVENTUALLY(rdma_bind_addr(listener, sockaddr_of(&address)) == 0);
        CHECK_EQ(rdma_listen(listener, 4), 0);
        struct rdma_cm_id *accepted = accept_next(channel);
        CHECK_EQ(rdma_destroy_id(accepted), 0);
        CHECK_EQ(rdma_destroy_id(listener), 0);
        rdma_destroy_event_channel(channel);
    }
}

static void who_connects_to_one_that_comes_and_goes_is_answered_or_refused(void) {
    uint16_t port = (uint16_t) (20000 + getpid() % 10000);
    uint32_t answered = 0;
    pid_t server = fork_child();
    if (server == 0) {
        limit_life();
        come_and_go(port);
    }
    CHECK_EVENTUALLY(has_server(test_address(), port));
    for (uint32_t i = 0; i < rounds(200, 40); i++) {
        answered += has_server(test_address(), port);
    }
    CHECK(answered > 0);
    kill(server, SIGKILL);
    CHECK_EQ(waitpid(server, NULL, 0), server);
}

int main(void) {
    presence_rest_ns = MS;
    /* The first ones, which fork: nothing is known yet. */
    RUN(ports_from_the_namespaces_limit_on_need_no_capability);
    RUN(who_connects_to_one_that_comes_and_goes_is_answered_or_refused);
    RUN(the_last_id_takes_all_but_the_shared_context_along);
    presence_rest_ns = 1000 * MS;
    RUN(destroy_waits_for_the_acks);
    RUN(a_channel_is_readable_while_it_has_events);
    RUN(an_address_that_was_just_resolved_needs_no_descriptor);
    RUN(a_connection_leads_to_one_host);
    RUN(a_scope_is_kept_of_no_other_address);
    RUN(a_listener_that_appears_a_moment_later_is_found);
    RUN(a_stopped_peer_is_unreachable);
    RUN(a_listener_that_is_stopped_refuses_nobody);
    RUN(an_unanswered_request_times_out_on_both_sides);
    RUN(a_crowd_before_a_full_backlog_gets_its_turn_over_one_link);
    RUN(a_queue_pair_stays_while_it_is_used);
    RUN(an_event_uses_the_queue_pair_that_it_moves);
    RUN(an_event_leaves_a_queue_pair_alone_that_is_being_destroyed);
    RUN(a_forked_child_can_connect_and_its_parent_notices_nothing);
    RUN(a_port_of_the_systems_choice_is_one_that_nobody_else_holds);
    RUN(a_port_is_not_looked_for_among_all_that_others_hold);
    return 0;
}
