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
package io.netty.example.rdma.pubsub;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.buffer.UnpooledHeapByteBuf;
import io.netty.example.rdma.pubsub.Edition.Check;
import io.netty.example.rdma.pubsub.SubscriberEnd.Copy;
import io.netty.example.rdma.pubsub.SubscriberEnd.ReadSubscriber;
import io.netty.example.rdma.pubsub.SubscriberEnd.WrittenSubscriber;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

class EditionTest {
    private static final int SIZE = 200;
    private static final Edition FORMAT = new Edition(Check.CRC, SIZE);

    @ParameterizedTest
    @EnumSource
    void everyMixtureOfTwoEditionsIsTorn(Check check) {
        Edition format = new Edition(check, SIZE);
        ByteBuf older = edition(format, 7);
        ByteBuf newer = edition(format, 8);
        int same = 0;
        for (int cut = 1; cut < older.capacity(); cut++) {
            ByteBuf torn = older.copy().setBytes(0, newer, 0, cut);
            if (torn.equals(older) || torn.equals(newer)) {
                // The bytes that were not copied happen to be the same.
                same++;
                continue;
            }
            assertThat(format.number(torn)).as("first %d bytes newer", cut).isEqualTo(Edition.TORN);
            torn = newer.copy().setBytes(0, older, 0, cut);
            assertThat(format.number(torn)).as("first %d bytes older", cut).isEqualTo(Edition.TORN);
        }
        for (int i = 0; i < older.capacity(); i++) {
            if (older.getByte(i) != newer.getByte(i)) {
                ByteBuf torn = newer.copy().setByte(i, older.getByte(i));
                assertThat(format.number(torn)).as("byte %d older", i).isEqualTo(Edition.TORN);
            }
        }
        // 7 and 8 differ in the last byte of their number.
        assertThat(same).isBetween(7, 10);
    }

    /** The writer is at the same byte of the first half when the copy begins as of the second half when it ends. */
    @Test
    void copyOfARecordThatIsReplacedMeanwhileIsTorn() {
        Edition format = new Edition(Check.TWICE, SIZE);
        ByteBuf older = edition(format, 7);
        ByteBuf newer = edition(format, 8);
        int half = format.firstPart();
        for (int cut = 1; cut < half; cut++) {
            int written = half + cut;
            ByteBuf memory = new UnpooledHeapByteBuf(UnpooledByteBufAllocator.DEFAULT, 2 * half, 2 * half) {
                @Override
                public ByteBuf getBytes(int index, ByteBuf to, int toIndex, int length) {
                    super.getBytes(index, to, toIndex, length);
                    return setBytes(0, newer, 0, written);
                }
            };
            memory.setBytes(0, older, 0, 2 * half).setBytes(0, newer, 0, cut);
            ByteBuf copy = Unpooled.buffer(2 * half, 2 * half);
            format.copy(memory, copy);
            assertThat(format.number(copy)).as("%d bytes of each half", cut).isEqualTo(Edition.TORN);
            memory.release();
        }
    }

    @Test
    void memoryThatChangesAfterItWasCopiedIsNotJudged() {
        ByteBuf memory = new UnpooledHeapByteBuf(UnpooledByteBufAllocator.DEFAULT, FORMAT.length(), FORMAT.length()) {
            @Override
            public ByteBuf getBytes(int index, ByteBuf to, int toIndex, int length) {
                super.getBytes(index, to, toIndex, length);
                return index == 0 ? setZero(0, capacity()) : this;
            }
        };
        memory.setBytes(0, edition(3), 0, FORMAT.length());
        WrittenSubscriber subscriber = new WrittenSubscriber(new Subscription(Subscription.By.WRITE, FORMAT, 1));
        ByteBuf copy = Unpooled.buffer(FORMAT.length(), FORMAT.length());
        assertThat(subscriber.look(memory, copy)).isEqualTo(Copy.NEWS);
        assertThat(subscriber.wrong()).isZero();
        assertThat(subscriber.look(memory, copy)).isEqualTo(Copy.TORN);
        memory.release();
    }

    @Test
    void memoryWithoutAnEditionIsTorn() {
        assertThat(FORMAT.number(Unpooled.wrappedBuffer(new byte[FORMAT.length()]))).isEqualTo(Edition.TORN);
    }

    @Test
    void onlyNewerEditionsAreNews() {
        SubscriberEnd subscriber = new ReadSubscriber(new Subscription(Subscription.By.READ, FORMAT, 2));
        assertThat(subscriber.look(edition(3))).isEqualTo(Copy.NEWS);
        assertThat(subscriber.look(edition(3))).isEqualTo(Copy.NO_NEWS);
        ByteBuf torn = edition(4);
        torn.setByte(SIZE / 2, torn.getByte(SIZE / 2) ^ 1);
        assertThat(subscriber.look(torn)).isEqualTo(Copy.TORN);
        assertThat(subscriber.torn()).isOne();
        assertThat(subscriber.hasEnough()).isFalse();
        assertThat(subscriber.look(edition(9))).isEqualTo(Copy.NEWS);
        assertThat(subscriber.hasEnough()).isTrue();
        assertThat(subscriber.wrong()).isZero();
    }

    @Test
    void olderEditionAfterANewerOneIsWrong() {
        SubscriberEnd subscriber = new ReadSubscriber(new Subscription(Subscription.By.READ, FORMAT, 2));
        subscriber.look(edition(9));
        subscriber.look(edition(8));
        assertThat(subscriber.wrong()).isOne();
    }

    @Test
    void contentOfAnotherEditionIsWrongAlthoughItsCrcIsRight() {
        ByteBuf edition = edition(9).setLong(0, 10);
        int end = edition.capacity() - Integer.BYTES;
        edition.setInt(end, Edition.crc(edition, end));
        SubscriberEnd subscriber = new ReadSubscriber(new Subscription(Subscription.By.READ, FORMAT, 2));
        assertThat(subscriber.look(edition)).isEqualTo(Copy.NEWS);
        assertThat(subscriber.wrong()).isOne();
    }

    @Test
    void recordThatIsThereTwiceIsWhole() {
        Edition format = new Edition(Check.TWICE, SIZE);
        // A copy has no indexes that tell how much of it is there.
        ByteBuf edition = edition(format, 9).clear();
        assertThat(format.number(edition)).isEqualTo(9);
        assertThat(format.isRight(edition)).isTrue();
        assertThat(format.firstPart()).isEqualTo(format.length() / 2);
    }

    static ByteBuf edition(long number) {
        return edition(FORMAT, number);
    }

    private static ByteBuf edition(Edition format, long number) {
        ByteBuf edition = Unpooled.buffer(format.length(), format.length());
        format.write(edition, number);
        return edition;
    }
}
