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
 * fork(2). The child has copies of its parent's objects, but they do not work there. The engine is a thread of the
 * parent, the links are closed (link.c), and shared memory is not mapped (sealed.c). So peers notice the parent's death
 * while the child lives, and the child sends nothing in the parent's name. A call on an inherited object fails with
 * EIO, as on a device that has gone. The calls of ibv_context_ops are replaced by such that fail (device.c); other
 * calls check context_is_inherited() or cm_is_inherited() first. Destroying an inherited object releases the child's
 * copy, as close(2) does for a descriptor. Objects that the child makes are its own, with a new engine.
 *
 * Each module forgets the parent's state in a handler of pthread_atfork(3). Another thread of the parent may have been
 * using locks and lists of objects during the fork. So the child neither takes these locks nor walks these lists, and
 * memory that is reachable only by them is leaked. _Fork(3) and clone(2) run no handlers: after them a child may only
 * exec or exit.
 */
#ifndef NETTY_RDMA_EMBEDDED_FORK_H
#define NETTY_RDMA_EMBEDDED_FORK_H

/* Number of forks between the first process and this one. Handlers and all that comes after them see the new value. */
extern unsigned fork_generation;

/* Called before all other init functions (init.c). */
void fork_init(void);

#endif
