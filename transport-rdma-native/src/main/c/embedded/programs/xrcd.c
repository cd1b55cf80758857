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
/* Domains of XRC: see xrcd.h. */
#include "xrcd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "embedded/base/cancel.h"
#include "embedded/base/iwarp.h"

#define BUCKETS 64u

struct xrc_domain {
    struct xrc_domain *next;
    unsigned opened; /* number of openings */
    int fd; /* keeps the inode, so that no other file gets its number; or -1 */
    dev_t device;
    ino_t inode;
    pthread_mutex_t names;
    struct xrc_srq *srqs[BUCKETS]; /* shared receive queues by number */
    pthread_mutex_t targets_lock;
    struct xrc_target *targets;
};

struct xrcd {
    struct ibv_xrcd ibv;
    struct xrc_domain *domain;
    atomic_int objects;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the list, and `opened` */
static struct xrc_domain *domains;

static struct xrcd *xrcd_of(struct ibv_xrcd *xrcd) {
    return container_of(xrcd, struct xrcd, ibv);
}

struct xrc_domain *xrcd_domain(struct ibv_xrcd *xrcd) {
    return xrcd_of(xrcd)->domain;
}

void xrcd_add_objects(struct ibv_xrcd *xrcd, int number) {
    atomic_fetch_add(&xrcd_of(xrcd)->objects, number);
}

/* ---- opening: errors as in the kernel's ib_uverbs_open_xrcd() ---- */

static void free_domain(struct xrc_domain *domain) {
    if (domain->fd >= 0) {
        close(domain->fd);
    }
    pthread_mutex_destroy(&domain->names);
    pthread_mutex_destroy(&domain->targets_lock);
    free(domain);
}

/* Makes a domain. Returns 0 or errno. Called with `lock` held. */
static int make_domain(int fd, const struct stat *file, struct xrc_domain **made) {
    struct xrc_domain *domain = calloc(1, sizeof(*domain));
    if (domain == NULL) {
        return ENOMEM;
    }
    domain->fd = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (fd >= 0 && domain->fd < 0) {
        int error = errno;
        free(domain);
        return error;
    }
    domain->device = file->st_dev;
    domain->inode = file->st_ino;
    pthread_mutex_init(&domain->names, NULL);
    pthread_mutex_init(&domain->targets_lock, NULL);
    domain->next = domains;
    domains = domain;
    *made = domain;
    return 0;
}

/* Called with `lock` held. */
static struct xrc_domain *find_domain(const struct stat *file) {
    struct xrc_domain *domain = domains;
    while (domain != NULL
            && (domain->fd < 0 || domain->device != file->st_dev || domain->inode != file->st_ino)) {
        domain = domain->next;
    }
    return domain;
}

/* Opens a domain. Returns 0 or errno. Called with `lock` held. */
static int open_domain(int fd, int oflags, struct xrc_domain **domain) {
    struct stat file = { 0 };
    if (fd != -1 && fstat(fd, &file) != 0) {
        return EBADF;
    }
    *domain = fd == -1 ? NULL : find_domain(&file);
    if (fd != -1 && *domain == NULL && (oflags & O_CREAT) == 0) {
        return EAGAIN;
    }
    if (*domain != NULL && (oflags & O_EXCL) != 0) {
        return EINVAL;
    }
    return *domain != NULL ? 0 : make_domain(fd, &file, domain);
}

static int check(struct ibv_context *context, const struct ibv_xrcd_init_attr *attr) {
    uint32_t needed = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS;
    if (context_is_inherited(context)) {
        return EIO;
    }
    if (iwarp_is_on() || (attr->comp_mask & ~needed) != 0) {
        return EOPNOTSUPP;
    }
    return attr->comp_mask == needed ? 0 : EINVAL;
}

struct ibv_xrcd *xrcd_open(struct ibv_context *context, struct ibv_xrcd_init_attr *attr) {
    UNCANCELLED;
    int error = check(context, attr);
    struct xrcd *xrcd = error != 0 ? NULL : calloc(1, sizeof(*xrcd));
    if (xrcd == NULL) {
        errno = error != 0 ? error : ENOMEM;
        return NULL;
    }
    xrcd->ibv.context = context;
    pthread_mutex_lock(&lock);
    error = open_domain(attr->fd, attr->oflags, &xrcd->domain);
    if (error == 0) {
        xrcd->domain->opened++;
    }
    pthread_mutex_unlock(&lock);
    if (error != 0) {
        free(xrcd);
        errno = error;
        return NULL;
    }
    atomic_fetch_add(&context_of(context)->objects, 1);
    return &xrcd->ibv;
}

static void leave_domain(struct xrc_domain *domain) {
    pthread_mutex_lock(&lock);
    if (--domain->opened == 0) {
        struct xrc_domain **link = &domains;
        while (*link != domain) {
            link = &(*link)->next;
        }
        *link = domain->next;
        free_domain(domain);
    }
    pthread_mutex_unlock(&lock);
}

int xrcd_close(struct ibv_xrcd *ibv) {
    UNCANCELLED;
    struct xrcd *xrcd = xrcd_of(ibv);
    if (atomic_load(&xrcd->objects) != 0) {
        return EBUSY;
    }
    if (!context_is_inherited(ibv->context)) { /* an inherited domain is the parent's, and not looked at here: fork.h */
        leave_domain(xrcd->domain);
    }
    atomic_fetch_sub(&context_of(ibv->context)->objects, 1);
    free(xrcd);
    return 0;
}

/* ---- shared receive queues ---- */

void xrcd_lock_names(struct xrc_domain *domain) {
    pthread_mutex_lock(&domain->names);
}

void xrcd_unlock_names(struct xrc_domain *domain) {
    pthread_mutex_unlock(&domain->names);
}

static struct xrc_srq **bucket_of(struct xrc_domain *domain, uint32_t number) {
    return &domain->srqs[number % BUCKETS];
}

void xrcd_add_srq(struct xrc_domain *domain, struct xrc_srq *srq) {
    pthread_mutex_lock(&domain->names);
    srq->next = *bucket_of(domain, srq->number);
    *bucket_of(domain, srq->number) = srq;
    pthread_mutex_unlock(&domain->names);
}

void xrcd_remove_srq(struct xrc_domain *domain, struct xrc_srq *srq) {
    pthread_mutex_lock(&domain->names);
    struct xrc_srq **link = bucket_of(domain, srq->number);
    while (*link != srq) {
        link = &(*link)->next;
    }
    *link = srq->next;
    pthread_mutex_unlock(&domain->names);
}

struct xrc_srq *xrcd_find_srq(struct xrc_domain *domain, uint32_t number) {
    pthread_mutex_lock(&domain->names);
    struct xrc_srq *srq = *bucket_of(domain, number);
    while (srq != NULL && srq->number != number) {
        srq = srq->next;
    }
    pthread_mutex_unlock(&domain->names);
    return srq;
}

void xrcd_visit_srqs(void (*visit)(struct xrc_srq *srq, void *argument), void *argument) {
    pthread_mutex_lock(&lock);
    for (struct xrc_domain *domain = domains; domain != NULL; domain = domain->next) {
        pthread_mutex_lock(&domain->names);
        for (unsigned i = 0; i < BUCKETS; i++) {
            for (struct xrc_srq *srq = domain->srqs[i]; srq != NULL; srq = srq->next) {
                visit(srq, argument);
            }
        }
        pthread_mutex_unlock(&domain->names);
    }
    pthread_mutex_unlock(&lock);
}

/* ---- target queue pairs ---- */

void xrcd_lock_targets(struct xrc_domain *domain) {
    pthread_mutex_lock(&domain->targets_lock);
}

void xrcd_unlock_targets(struct xrc_domain *domain) {
    pthread_mutex_unlock(&domain->targets_lock);
}

void xrcd_add_target(struct xrc_domain *domain, struct xrc_target *target) {
    target->next = domain->targets;
    domain->targets = target;
}

void xrcd_remove_target(struct xrc_domain *domain, struct xrc_target *target) {
    struct xrc_target **link = &domain->targets;
    while (*link != target) {
        link = &(*link)->next;
    }
    *link = target->next;
}

struct xrc_target *xrcd_find_target(struct xrc_domain *domain, uint32_t qpn) {
    struct xrc_target *target = domain->targets;
    while (target != NULL && target->rc.qp.ibv.qp_num != qpn) {
        target = target->next;
    }
    return target;
}

void xrcd_visit_targets(struct xrc_domain *domain, void (*visit)(struct qp *qp, void *argument), void *argument) {
    pthread_mutex_lock(&domain->targets_lock);
    for (struct xrc_target *target = domain->targets; target != NULL; target = target->next) {
        visit(&target->rc.qp, argument);
    }
    pthread_mutex_unlock(&domain->targets_lock);
}

/* Leaks the parent's domains in the child, as other threads may have had their locks. */
static void fork_child(void) {
    pthread_mutex_init(&lock, NULL);
    domains = NULL;
}

void xrcd_init(void) {
    pthread_atfork(NULL, NULL, fork_child);
}
