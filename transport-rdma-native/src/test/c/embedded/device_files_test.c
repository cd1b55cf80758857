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
/* Tests of the files that programs find that look for the device in the file system: preload/device_files.c. */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <net/if.h>
#include <sys/stat.h>
#include <unistd.h>

#include <infiniband/verbs.h>

#include "check.h"

static char device_file[PATH_MAX];
static char interfaces[PATH_MAX];

/* Names the files of the device that verbs have: the two must not come apart. */
static void name_the_files(void) {
    struct ibv_device **list = ibv_get_device_list(NULL);
    CHECK(list != NULL && list[0] != NULL);
    snprintf(device_file, sizeof(device_file), "/dev/infiniband/%s", list[0]->dev_name);
    snprintf(interfaces, sizeof(interfaces), "/sys/class/infiniband/%s/device/net", list[0]->name);
    ibv_free_device_list(list);
}

static void the_device_file_is_a_character_device(void) {
    struct stat status;
    struct stat64 status64;
    struct statx extended;
    CHECK_EQ(stat(device_file, &status), 0);
    CHECK(S_ISCHR(status.st_mode));
    CHECK_EQ(lstat(device_file, &status), 0);
    CHECK(S_ISCHR(status.st_mode));
    CHECK_EQ(stat64(device_file, &status64), 0);
    CHECK(S_ISCHR(status64.st_mode));
    CHECK_EQ(lstat64(device_file, &status64), 0);
    CHECK(S_ISCHR(status64.st_mode));
    CHECK_EQ(statx(AT_FDCWD, device_file, 0, STATX_TYPE, &extended), 0);
    CHECK(S_ISCHR(extended.stx_mode));
}

static void it_may_be_opened_for_reading_and_writing(void) {
    CHECK_EQ(access(device_file, R_OK | W_OK), 0);
    int fd = open(device_file, O_RDWR | O_CLOEXEC);
    CHECK(fd >= 0);
    CHECK_EQ(close(fd), 0);
    fd = open64(device_file, O_RDWR | O_CLOEXEC);
    CHECK(fd >= 0);
    CHECK_EQ(close(fd), 0);
}

static void its_network_interfaces_are_those_of_the_host(void) {
    DIR *folder = opendir(interfaces);
    CHECK(folder != NULL);
    unsigned int found = 0, all = 0;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        char path[PATH_MAX];
        struct stat status;
        CHECK(snprintf(path, sizeof(path), "%.2000s/%s/ifindex", interfaces, entry->d_name) < PATH_MAX);
        found += entry->d_name[0] != '.' && if_nametoindex(entry->d_name) != 0 && stat(path, &status) == 0;
    }
    CHECK_EQ(closedir(folder), 0);
    struct if_nameindex *names = if_nameindex();
    CHECK(names != NULL);
    while (names[all].if_index != 0) {
        all++;
    }
    if_freenameindex(names);
    CHECK(found > 0);
    CHECK_EQ(found, all);
}

static void other_names_are_what_they_were(void) {
    static const char *const absent[] = { "/dev/infiniband/embedded01", "/dev/infiniband/embedded", "/dev/infiniband" };
    struct stat status;
    for (size_t i = 0; i < sizeof(absent) / sizeof(absent[0]) - (access("/dev/infiniband", F_OK) == 0); i++) {
        CHECK(stat(absent[i], &status) == -1 && errno == ENOENT);
        CHECK(access(absent[i], F_OK) == -1 && errno == ENOENT);
        CHECK(open(absent[i], O_RDONLY) == -1 && errno == ENOENT);
        CHECK(opendir(absent[i]) == NULL && errno == ENOENT);
    }
    char below[PATH_MAX];
    CHECK(snprintf(below, sizeof(below), "%.2000s/port", device_file) < PATH_MAX);
    CHECK(stat(below, &status) == -1 && errno == ENOTDIR);
    CHECK(opendir(device_file) == NULL && errno == ENOTDIR);
}

static void a_file_is_made_with_its_mode(void) {
    char folder[] = "/tmp/device_files_test-XXXXXX", path[PATH_MAX];
    struct stat status;
    CHECK(mkdtemp(folder) != NULL);
    CHECK(snprintf(path, sizeof(path), "%s/file", folder) < PATH_MAX);
    int fd = open(path, O_CREAT | O_EXCL | O_WRONLY, 0400);
    CHECK(fd >= 0);
    CHECK_EQ(close(fd), 0);
    CHECK_EQ(stat(path, &status), 0);
    CHECK_EQ(status.st_mode, S_IFREG | 0400);
    CHECK_EQ(unlink(path), 0);
    CHECK_EQ(rmdir(folder), 0);
}

#ifndef __SANITIZE_ADDRESS__ /* UndefinedBehaviorSanitizer, which runs with it, rightly complains of the calls */
static void no_path_at_all_is_an_error_as_ever(void) {
    const char *volatile none = NULL;
    struct stat64 status;
    CHECK(stat64(none, &status) == -1 && errno == EFAULT);
    CHECK(open(none, O_RDONLY) == -1 && errno == EFAULT);
}
#endif

int main(void) {
    name_the_files();
    RUN(the_device_file_is_a_character_device);
    RUN(it_may_be_opened_for_reading_and_writing);
    RUN(its_network_interfaces_are_those_of_the_host);
    RUN(other_names_are_what_they_were);
    RUN(a_file_is_made_with_its_mode);
#ifndef __SANITIZE_ADDRESS__
    RUN(no_path_at_all_is_an_error_as_ever);
#endif
    return 0;
}
