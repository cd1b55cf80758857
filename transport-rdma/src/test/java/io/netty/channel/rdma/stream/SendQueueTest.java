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
package io.netty.channel.rdma.stream;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

@Tag("platforms")
@Tag("quick")
class SendQueueTest {
    private final StreamWorkRequest request = new StreamWorkRequest();

    @Test
    void theLastSlotsAreForControlOnlyAndAlwaysSignalled() {
        SendQueue queue = new SendQueue(new StreamConfig(1, 5, 2, 2, 5));
        assertThat(post(queue)).isFalse();
        assertThat(post(queue)).isFalse();
        assertThat(queue.hasDataSlot()).isTrue();
        assertThat(post(queue)).isTrue();
        assertThat(queue.hasDataSlot()).isFalse();
        assertThat(queue.hasControlSlot()).isTrue();
        assertThat(post(queue)).isTrue();
        assertThat(post(queue)).isTrue();
        assertThat(queue.hasControlSlot()).isFalse();

        queue.completed(3);

        assertThat(queue.hasDataSlot()).isTrue();
        assertThat(queue.isCompleted(3)).isTrue();
        assertThat(queue.isCompleted(4)).isFalse();
    }

    @Test
    void oneOfEveryIntervalIsSignalled() {
        SendQueue queue = new SendQueue(new StreamConfig(1, 100, 2, 2, 3));
        assertThat(new boolean[] {post(queue), post(queue), post(queue), post(queue)})
                .containsExactly(false, false, true, false);
        queue.signal();
        assertThat(new boolean[] {post(queue), post(queue), post(queue)}).containsExactly(false, false, true);
    }

    @Test
    void drainedOnceAllThatAskForACompletionHaveComeBack() {
        SendQueue queue = new SendQueue(new StreamConfig(1, 100, 2, 2, 3));
        assertThat(queue.isDrained()).isTrue();
        post(queue);
        assertThat(queue.isDrained()).isTrue();
        post(queue);
        queue.signal();
        post(queue);
        assertThat(queue.isSignalled()).isFalse();
        assertThat(queue.isDrained()).isFalse();
        queue.completed(1);
        assertThat(queue.isDrained()).isTrue();
        queue.signal();
        assertThat(queue.isSignalled()).isTrue();
        assertThat(queue.isDrained()).isFalse();
        queue.failed(2);
        assertThat(queue.isDrained()).isTrue();
        assertThat(queue.doneUntil()).isEqualTo(3);
        assertThat(queue.oldest()).isEqualTo(2);
    }

    @Test
    void completionsThatCannotBeAreRefused() {
        SendQueue queue = new SendQueue(new StreamConfig(1, 5, 2, 2, 5));
        assertThatThrownBy(() -> queue.completed(0)).isInstanceOf(IllegalArgumentException.class);
        post(queue);
        queue.completed(0);
        assertThatThrownBy(() -> queue.completed(0)).isInstanceOf(IllegalArgumentException.class);
    }

    private boolean post(SendQueue queue) {
        queue.post(request, false);
        return request.signalled();
    }
}
