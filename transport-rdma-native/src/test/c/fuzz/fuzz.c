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
/* See fuzz.h. The functions __wrap_NAME take the place of NAME in the provider: ld(1), --wrap. */
#include "fuzz.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "check.h"
#include "engine_by_hand.h"

const char *__ubsan_default_options(void);
__attribute__((used, visibility("default"))) const char *__ubsan_default_options(void) {
    return "halt_on_error=1:print_stacktrace=1";
}

/* ---- input ---- */

static const uint8_t *at, *end;

void input_open(const uint8_t *data, size_t size) {
    at = data;
    end = data + size;
}

bool input_left(void) {
    return at != end;
}

uint8_t input_u8(void) {
    return at == end ? 0 : *at++;
}

uint16_t input_u16(void) {
    uint16_t low = input_u8();
    return (uint16_t) (low | input_u8() << 8);
}

uint32_t input_u32(void) {
    uint32_t low = input_u16();
    return low | (uint32_t) input_u16() << 16;
}

uint64_t input_u64(void) {
    uint64_t low = input_u32();
    return low | (uint64_t) input_u32() << 32;
}

uint32_t input_length(void) {
    uint32_t value = input_u16();
    uint32_t scale = value >> 14, low = value & 0x3fff;
    switch (scale) {
        case 0:
            return low;
        case 1:
            return low << 6;
        case 2: /* near a power of two */
            return (UINT32_C(1) << (low >> 8 & 31)) + (uint32_t) (int8_t) low;
        default:
            return low << 16 | low;
    }
}

static void write_at(uint8_t *bytes, size_t size, size_t offset, const void *value, size_t width) {
    offset %= size;
    memcpy(bytes + offset, value, width <= size - offset ? width : size - offset);
}

void input_patch(void *bytes, size_t size) {
    for (int count = 1 + (input_u8() & 3); count > 0; count--) {
        uint8_t how = input_u8();
        size_t where = input_u8() + ((size_t) how >> 2 << 8);
        uint32_t value = (how & 3) == 0 ? input_u8() : (how & 3) == 1 ? input_u16()
                : (how & 3) == 2 ? input_u32() : input_length();
        size_t width = (how & 3) == 0 ? 1 : (how & 3) == 1 ? 2 : 4;
        write_at(bytes, size, where * width, &value, width); /* aligned, as fields are */
    }
}

/* ---- memory with guards ---- */

#define GUARD (UINT64_C(8) << 30)
#define MAX_GUARDED 4096
#define PAGE ((size_t) 4096)

static struct {
    uint8_t *memory;
    size_t size;
} guarded[MAX_GUARDED];
static unsigned num_guarded;

void *__real_mmap(void *address, size_t length, int protection, int flags, int fd, off_t offset);
void *__wrap_mmap(void *address, size_t length, int protection, int flags, int fd, off_t offset);
int __real_munmap(void *address, size_t length);
int __wrap_munmap(void *address, size_t length);
const void *__real_sealed_map(int fd, size_t size);
const void *__wrap_sealed_map(int fd, size_t size);
int __real_sealed_create(const char *name, size_t size, void **address);
int __wrap_sealed_create(const char *name, size_t size, void **address);

static void *guard(void *memory, size_t size) {
    CHECK(num_guarded < MAX_GUARDED);
    guarded[num_guarded].size = size;
    size = (size + PAGE - 1) & ~(PAGE - 1);
    uint8_t *all = __real_mmap(NULL, size + 2 * GUARD, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(all != MAP_FAILED);
    CHECK(mremap(memory, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, all + GUARD) == all + GUARD);
    guarded[num_guarded++].memory = all + GUARD;
    return all + GUARD;
}

#define RING_FLAGS (MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE)

/* The rings of queue pairs only: files are mapped by sealed_map() and sealed_create(), other memory by libFuzzer. */
void *__wrap_mmap(void *address, size_t length, int protection, int flags, int fd, off_t offset) {
    void *memory = __real_mmap(address, length, protection, flags, fd, offset);
    return memory == MAP_FAILED || flags != RING_FLAGS ? memory : guard(memory, length);
}

int __wrap_munmap(void *address, size_t length) {
    for (unsigned i = 0; i < num_guarded; i++) {
        if (guarded[i].memory == address) {
            CHECK_EQ(length, guarded[i].size);
            guarded[i] = guarded[--num_guarded];
            return __real_munmap((uint8_t *) address - GUARD, ((length + PAGE - 1) & ~(PAGE - 1)) + 2 * GUARD);
        }
    }
    return __real_munmap(address, length); /* sealed_create() gives up on memory that it has just mapped */
}

const void *__wrap_sealed_map(int fd, size_t size) {
    const void *memory = __real_sealed_map(fd, size);
    return memory == NULL ? NULL : guard((void *) memory, size);
}

int __wrap_sealed_create(const char *name, size_t size, void **address) {
    int fd = __real_sealed_create(name, size, address);
    if (fd >= 0) {
        *address = guard(*address, size);
    }
    return fd;
}

unsigned guarded_mappings(void) {
    return num_guarded;
}

/* ---- descriptors ---- */

void set_non_blocking(int fd) {
    CHECK_EQ(fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK), 0);
}

int __real_close(int fd);
int __wrap_close(int fd);

/* Nobody closes a descriptor twice, or one that never was. */
int __wrap_close(int fd) {
    int result = __real_close(fd);
    CHECK(result == 0 || errno != EBADF);
    return result;
}

/* ---- names ---- */

int __real_bind(int fd, const struct sockaddr *address, socklen_t length);
int __wrap_bind(int fd, const struct sockaddr *address, socklen_t length);
int __real_connect(int fd, const struct sockaddr *address, socklen_t length);
int __wrap_connect(int fd, const struct sockaddr *address, socklen_t length);

/* A name that the kernel chooses, or has chosen, is of this process anyway: unix(7), autobind. */
static bool is_renamed(const struct sockaddr *address, socklen_t length) {
    return address->sa_family == AF_UNIX && length > offsetof(struct sockaddr_un, sun_path) + 6;
}

static socklen_t rename_socket(const struct sockaddr *address, socklen_t length, struct sockaddr_un *renamed) {
    memcpy(renamed, address, length);
    int added = snprintf((char *) renamed + length, sizeof(*renamed) - length, "/fuzz/%d", getpid());
    return length + (socklen_t) added;
}

int __wrap_bind(int fd, const struct sockaddr *address, socklen_t length) {
    struct sockaddr_un renamed;
    if (!is_renamed(address, length)) {
        return __real_bind(fd, address, length);
    }
    length = rename_socket(address, length, &renamed);
    return __real_bind(fd, (struct sockaddr *) &renamed, length);
}

int __wrap_connect(int fd, const struct sockaddr *address, socklen_t length) {
    struct sockaddr_un renamed;
    if (!is_renamed(address, length)) {
        return __real_connect(fd, address, length);
    }
    length = rename_socket(address, length, &renamed);
    return __real_connect(fd, (struct sockaddr *) &renamed, length);
}

/* ---- random numbers: xorshift64 (Marsaglia 2003) ---- */

static uint64_t state = 1;

ssize_t __wrap_getrandom(void *buffer, size_t length, unsigned flags);
ssize_t __wrap_getrandom(void *buffer, size_t length, unsigned flags) {
    (void) flags;
    for (size_t i = 0; i < length; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        ((uint8_t *) buffer)[i] = (uint8_t) (state >> 32);
    }
    return (ssize_t) length;
}

/* Replaces the random words, which would depend on an earlier run. */
int __wrap_random_word(uint32_t *word);
int __wrap_random_word(uint32_t *word) {
    __wrap_getrandom(word, sizeof(*word), 0);
    return 0;
}

void run_seed(void) {
    state = UINT64_C(0x9e3779b97f4a7c15);
}

/* ---- what is left ---- */

#define FORGET_NS UINT64_C(15000000000) /* more than any timer of the provider that a run may leave */

/* Counts descriptors of the provider's kinds: the sanitizer's symbolizer comes and stays when it is first needed. */
static int count_fds(bool print) {
    int count = 0;
    for (int fd = 0; fd < 256; fd++) {
        char path[32], target[64] = "";
        snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        if (readlink(path, target, sizeof(target) - 1) > 0) {
            count += strstr(target, "socket:") != NULL || strstr(target, "memfd:") != NULL
                    || strstr(target, "[eventfd]") != NULL;
            if (print) {
                fprintf(stderr, "descriptor %d: %s\n", fd, target);
            }
        }
    }
    return count;
}

/* The lowest free descriptor tells that none leaked, and costs little. */
static void check_fds(void) {
    static int first_free = -1, fds;
    int next = dup(0);
    CHECK(next >= 0);
    close(next);
    if (next != first_free) {
        int now = count_fds(false);
        if (first_free >= 0 && now != fds) {
            count_fds(true);
            CHECK_EQ(now, fds);
        }
        fds = now;
        first_free = next;
    }
}

void run_check(void) {
    static bool measured;
    static unsigned users, mappings;
    engine_run();
    engine_pass(FORGET_NS);
    check_fds();
    if (!measured) {
        measured = true;
        users = engine_users();
        mappings = guarded_mappings();
    }
    CHECK_EQ(engine_users(), users);
    CHECK_EQ(guarded_mappings(), mappings);
}

void run_starved(unsigned left) {
    struct rlimit limit, low;
    int next = dup(0);
    CHECK(next >= 0);
    close(next);
    CHECK_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
    low = limit;
    low.rlim_cur = (rlim_t) next + left % 4;
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
    engine_run();
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
}
