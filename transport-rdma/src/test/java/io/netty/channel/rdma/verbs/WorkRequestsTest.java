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
package io.netty.channel.rdma.verbs;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

@Tag("quick")
class WorkRequestsTest {
    @Test
    void aChainHasRoomForWhatWasAskedFor() {
        SendWorkRequests sends = new SendWorkRequests(2, 3);
        assertThat(sends.isEmpty()).isTrue();
        assertThatThrownBy(() -> sends.addSge(0, 1, 0)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> sends.addFlags(SendFlags.FENCE)).isInstanceOf(IllegalStateException.class);
        sends.send(10, 0).addSge(0, 1, 0).addSge(0, 1, 0);
        sends.write(11, 0, 0, 0).addSge(0, 1, 0);
        assertThat(sends.size()).isEqualTo(2);
        assertThat(sends.remaining()).isZero();
        assertThat(sends.remainingSges()).isZero();
        assertThat(sends.workRequestId(0)).isEqualTo(10);
        assertThat(sends.workRequestId(1)).isEqualTo(11);
        assertThatThrownBy(() -> sends.addSge(0, 1, 0)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> sends.send(12, 0)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> sends.workRequestId(2)).isInstanceOf(IndexOutOfBoundsException.class);
        sends.clear();
        assertThat(sends.remaining()).isEqualTo(2);
        assertThat(sends.remainingSges()).isEqualTo(3);
        assertThatThrownBy(() -> sends.workRequestId(0)).isInstanceOf(IndexOutOfBoundsException.class);
    }

    @Test
    void aReceiveChainHasRoomForWhatWasAskedFor() {
        ReceiveWorkRequests receives = new ReceiveWorkRequests(1, 1);
        assertThatThrownBy(() -> receives.addSge(0, 1, 0)).isInstanceOf(IllegalStateException.class);
        receives.receive(1);
        assertThatThrownBy(() -> receives.addSge(0, -1, 0)).isInstanceOf(IllegalArgumentException.class);
        receives.addSge(0, 1, 0);
        assertThatThrownBy(() -> receives.addSge(0, 1, 0)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> receives.receive(2)).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void completionsBeyondTheBatchCannotBeRead() {
        WorkCompletions batch = new WorkCompletions(4);
        assertThat(batch.size()).isZero();
        assertThatThrownBy(() -> batch.status(0)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> batch.workRequestId(-1)).isInstanceOf(IndexOutOfBoundsException.class);
    }

    @Test
    void statusAndOpcodesHaveNames() {
        assertThat(WorkCompletionStatus.describe(WorkCompletionStatus.SUCCESS)).isEqualTo("success");
        assertThat(WorkCompletionStatus.describe(WorkCompletionStatus.GENERAL_ERROR)).isEqualTo("general error");
        assertThat(WorkCompletionStatus.describe(WorkCompletionStatus.REMOTE_ACCESS_ERROR)).contains("peer refused");
        assertThat(WorkCompletionStatus.describe(99)).isEqualTo("unknown status 99");
        assertThat(WorkCompletionOpcode.describe(WorkCompletionOpcode.RECEIVE_RDMA_WITH_IMMEDIATE))
                .isEqualTo("receive of RDMA write with immediate");
    }
}
