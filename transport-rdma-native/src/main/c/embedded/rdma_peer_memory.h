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
 * A client tells the embedded provider which memory belongs to its device, and copies from and to that memory. The
 * kernel's RDMA core has an interface of the same name for adapters (ib_register_peer_memory_client() of MLNX_OFED), by
 * which an adapter finds the bus addresses of the memory. Here the process that owns the memory executes the operations
 * of its peers, so a client only has to copy.
 *
 * The provider asks the clients in the order of their registration, when ibv_reg_mr() gets an address that is not host
 * memory, and when ibv_reg_dmabuf_mr() gets a descriptor that is not a memfd. It asks its own clients for graphics
 * processors first. Clients are never asked about host memory.
 *
 * Threads of the application and the provider's own thread call the functions of a client, several at the same time. A
 * client's functions must not call verbs or functions of this header. They must return normally, and soon, because
 * other connections of the process wait meanwhile. They are not called in a forked child, which has only the provider's
 * own clients until it registers others.
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

/* The provider's handle of acquired memory. It is valid from the call of acquire() to the call of release(). */
struct rdma_peer_memory;

/* Result of acquire() for memory of another owner. 0: the memory is acquired. A positive number: an error. */
#define RDMA_PEER_MEMORY_NOT_MINE (-1)

/* Allocation of a device that other processes can open, and the place of acquired memory in it. */
struct rdma_peer_memory_export {
    uint64_t allocation; /* number that no other allocation of the client ever gets */
    uint64_t length;     /* bytes of the allocation */
    uint64_t offset;     /* offset of the acquired range in it */
    uint8_t handle[RDMA_PEER_MEMORY_HANDLE];
};

struct rdma_peer_memory_client {
    uint32_t version; /* RDMA_PEER_MEMORY_VERSION */
    const char *name; /* for messages to people; not NULL */
    void *context;    /* private to the client; the provider passes it to the client's functions */

    /*
     * Acquires a range of `length` bytes from `address` on, which must stay valid until release(), or until it is
     * invalidated. `access` has the flags IBV_ACCESS_*; without IBV_ACCESS_LOCAL_WRITE the provider does not write to
     * the memory. Sets *memory, which the other functions get. If the result is an error, the registration fails with
     * it, and no other client is asked.
     */
    int (*acquire)(void *context, uint64_t address, size_t length, int access, struct rdma_peer_memory *acquired,
                   void **memory);

    /*
     * Does the same for a range of a dma-buf. The descriptor still belongs to the caller. `iova` is the argument of
     * ibv_reg_dmabuf_mr(3), by convention the application's address of the range. NULL: the client has no such memory.
     */
    int (*acquire_dmabuf)(void *context, int fd, uint64_t offset, size_t length, uint64_t iova, int access,
                          struct rdma_peer_memory *acquired, void **memory);

    /*
     * Copy to the memory, and from it. The provider has checked that the range lies within the acquired one. At the
     * return the copy must be done, and the device must see the bytes. A result other than 0 means that the memory, or
     * a part of it, is gone. Some of the bytes may have been copied. The operation then fails at both ends, and its
     * connection ends.
     */
    int (*copy_in)(void *memory, uint64_t offset, const void *from, size_t length);
    int (*copy_out)(void *memory, uint64_t offset, void *to, size_t length);

    /*
     * Copy asynchronously: several copies may run at the same time, and beside other work. Both functions are NULL, or
     * none is. begin_copy() copies to the memory if `to` is NULL, else from it. It sets *copy to the client's handle of
     * the copy. Unless begin_copy() has failed, end_copy() is called once for it, on the same thread. The copy is done
     * when end_copy() returns 0. After an error, too, the copy no longer uses host memory.
     */
    int (*begin_copy)(void *memory, uint64_t offset, const void *from, void *to, size_t length, void **copy);
    int (*end_copy)(void *copy);

    /* Gives the memory back. Called once for each acquired range, after all its copies have ended. */
    void (*release)(void *memory);

    /*
     * The next three functions are for direct copies between devices of two processes, if both processes ask for that.
     * All three are NULL, or none is. The process that owns the target then copies once, from device to device.
     *
     * Exports the allocation that contains the memory. Called before each use by a peer. The result must be the same as
     * long as the memory exists, and an error if it is gone, or if no other process can open it.
     */
    int (*export_memory)(void *memory, struct rdma_peer_memory_export *exported);

    /*
     * Opens an allocation that the client of the same name has exported in another process of the same user. `exported`
     * comes from that process, so the client must not trust any of it. The client must check that the allocation has
     * `length` bytes, or return an error. *memory becomes the whole allocation; copy_out, copy_from and release get it
     * like acquired memory.
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
 * Invalidates acquired memory, which its device is about to take away. When the function returns, no copy is running or
 * will begin, and the memory may be reused. Operations on it fail as on host memory that is gone: IBV_WC_LOC_PROT_ERR
 * with `vendor_err` EFAULT in this process, IBV_WC_REM_OP_ERR at the peer. release() is still called when the
 * application deregisters the region. The caller must not hold a lock that the client's functions for copies or exports
 * need, and must make sure that release() has not returned for this memory. Peers that have imported the memory are
 * told to close it. The function waits until they have closed it, for a second at most.
 */
void rdma_peer_memory_invalidate(struct rdma_peer_memory *acquired);

/* The functions above, for a library that cannot link to them: a JVM does not export the symbols of its libraries. */
struct rdma_peer_memory_functions {
    int (*register_client)(const struct rdma_peer_memory_client *client);
    int (*unregister_client)(const struct rdma_peer_memory_client *client);
    void (*invalidate)(struct rdma_peer_memory *acquired);
};

/*
 * Registers the clients of a library, which defines this function. RDMA_EMBEDDED_PEER_MEMORY in the environment names
 * the library, as for dlopen(3). The provider loads it at the first registration of memory that is not host memory, and
 * calls the function once; and once more in each forked child that makes such a registration. If the function returns
 * an error, the provider prints it.
 */
int rdma_peer_memory_start(const struct rdma_peer_memory_functions *functions);

#ifdef __cplusplus
}
#endif

#endif
