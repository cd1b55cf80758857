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
 * Peer memory: memory of another device, for example a graphics processor, that RDMA operations use like host memory.
 *
 * A client tells the embedded provider which memory is its device's, and copies from and to it. The kernel's RDMA core
 * has an interface of the same name for adapters (ib_register_peer_memory_client() of MLNX_OFED), by which an adapter
 * finds the addresses of the memory on the bus. Here the process that owns the memory executes the operations of its
 * peers, so that copies are all it takes.
 *
 * The provider asks the clients in the order of their registration, by ibv_reg_mr() of an address that is no host
 * memory, and by ibv_reg_dmabuf_mr() of a descriptor that is no memfd. Its own clients for graphics processors are
 * asked first. Host memory never reaches a client.
 *
 * Any thread may call the functions of a client, several at a time: those of the application, and the provider's own
 * one. A client's functions call neither verbs nor functions of this header. They return in the ordinary way, and soon:
 * other connections of the process wait meanwhile. They are not called in a forked child, which has none but the
 * provider's own clients before it registers some.
 *
 * Errors are errno values.
 */
#ifndef RDMA_PEER_MEMORY_H
#define RDMA_PEER_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RDMA_PEER_MEMORY_VERSION 3
#define RDMA_PEER_MEMORY_HANDLE 128 /* bytes of a handle */

/* Acquired memory: the provider's name for it. It is valid from the call of acquire() to the call of release(). */
struct rdma_peer_memory;

/* Answer of acquire() about memory of another owner. 0: the memory is acquired. A positive number: an error. */
#define RDMA_PEER_MEMORY_NOT_MINE (-1)

/* Allocation of a device as other processes open it, and where in it acquired memory is. */
struct rdma_peer_memory_export {
    uint64_t allocation; /* number that no other allocation of the client ever has */
    uint64_t length;     /* bytes of the allocation */
    uint64_t offset;     /* offset of the acquired range in it */
    uint8_t handle[RDMA_PEER_MEMORY_HANDLE];
};

struct rdma_peer_memory_client {
    uint32_t version; /* RDMA_PEER_MEMORY_VERSION */
    const char *name; /* for messages to people; not NULL */
    void *context;    /* client's own; the provider hands it on */

    /*
     * Acquires a range of `length` bytes from `address` on, which stays the device's until release(), or until it is
     * invalidated. `access` has the flags IBV_ACCESS_*; without IBV_ACCESS_LOCAL_WRITE nothing is written. Sets
     * *memory, which the other functions get. After an error the registration fails with it, and no other client is
     * asked.
     */
    int (*acquire)(void *context, uint64_t address, size_t length, int access, struct rdma_peer_memory *acquired,
                   void **memory);

    /*
     * The same for a range of a dma-buf, whose descriptor is the caller's. `iova` is the argument of
     * ibv_reg_dmabuf_mr(3), by convention the address that the range has for the application. NULL: the client has no
     * such memory.
     */
    int (*acquire_dmabuf)(void *context, int fd, uint64_t offset, size_t length, uint64_t iova, int access,
                          struct rdma_peer_memory *acquired, void **memory);

    /*
     * Copy to the memory, and from it. The provider has checked that the range lies within the acquired one. The copy
     * is done at the return: then the device sees the bytes. A number other than 0 says that the memory is gone, in
     * part or in whole; some of the bytes may be copied. The operation then fails at both ends, and its connection
     * ends.
     */
    int (*copy_in)(void *memory, uint64_t offset, const void *from, size_t length);
    int (*copy_out)(void *memory, uint64_t offset, void *to, size_t length);

    /*
     * The same copies, of which several run at a time and beside other work. Both are NULL, or none. begin_copy()
     * copies to the memory if `to` is NULL, else from it. *copy is the client's name for what it has begun; end_copy()
     * comes once for it, on the same thread, unless there was an error. The copy is done when end_copy() returns 0;
     * after an error nothing of the memory of the host is used any more, either.
     */
    int (*begin_copy)(void *memory, uint64_t offset, const void *from, void *to, size_t length, void **copy);
    int (*end_copy)(void *copy);

    /* Gives the memory back. It comes once for each acquired range, after all copies have ended. */
    void (*release)(void *memory);

    /*
     * The direct way between the devices of two processes, which is used if both ask for it. All three are NULL, or
     * none. Memory of devices then goes by one copy of the process that owns the target.
     *
     * Exports the allocation that has the memory. Called before each use by a peer: the answer is the same as long as
     * the memory is there, and an error if it is gone, or if the device lets no other process open it.
     */
    int (*export_memory)(void *memory, struct rdma_peer_memory_export *exported);

    /*
     * Opens what the client of the same name has exported in another process of the same user. `exported` comes from
     * that process: nothing of it may be trusted. The client makes sure that the allocation has `length` bytes, or
     * gives an error. *memory is all of the allocation; copy_out, copy_from and release get it like acquired memory.
     */
    int (*import_memory)(void *context, const struct rdma_peer_memory_export *exported, void **memory);

    /*
     * Copies from imported memory to acquired memory. The provider has checked both ranges. Returns 0 when the copy is
     * done, EFAULT if the acquired memory is gone, ENOTSUP if the bytes have to go by host memory, and any other error
     * if the imported memory is gone: its owner may free it at any time.
     */
    int (*copy_from)(void *memory, uint64_t offset, void *imported, uint64_t from, size_t length);
};

/*
 * Registers a client, whose table and functions must stay until rdma_peer_memory_unregister_client() has returned.
 * Returns 0, EINVAL if the table is incomplete or has another version, EEXIST, or ENOMEM.
 */
int rdma_peer_memory_register_client(const struct rdma_peer_memory_client *client);

/*
 * Removes a client. Its memory is invalidated and released first. When the function returns, no function of the client
 * runs or will run. Regions of such memory stay, and operations on them fail, until the application deregisters them.
 * Returns 0, or ENOENT if the client is not registered.
 */
int rdma_peer_memory_unregister_client(const struct rdma_peer_memory_client *client);

/*
 * Invalidates acquired memory, which its device is about to take away. When the function returns, no copy runs or will
 * begin, and the memory may be reused. Operations on it fail as on host memory that is gone: IBV_WC_LOC_PROT_ERR with
 * `vendor_err` EFAULT in this process, IBV_WC_REM_OP_ERR at the peer. release() still follows, when the application
 * deregisters the region. The caller may not hold a lock that a function which copies or exports needs; it makes sure
 * that release() has not returned for this memory. Peers that have imported the memory are told to close it, and
 * waited for until they have, but for no more than a second.
 */
void rdma_peer_memory_invalidate(struct rdma_peer_memory *acquired);

/* The functions above, for a library that finds no symbols of the provider: a JVM keeps those of its libraries. */
struct rdma_peer_memory_functions {
    int (*register_client)(const struct rdma_peer_memory_client *client);
    int (*unregister_client)(const struct rdma_peer_memory_client *client);
    void (*invalidate)(struct rdma_peer_memory *acquired);
};

/*
 * Function of a library with clients, which registers them. The provider loads the library that the environment names
 * in RDMA_EMBEDDED_PEER_MEMORY, as for dlopen(3), when memory is first registered that is no host memory. It calls the
 * function once, and once in each forked child that comes to this. An errno value is printed.
 */
int rdma_peer_memory_start(const struct rdma_peer_memory_functions *functions);

#ifdef __cplusplus
}
#endif

#endif
