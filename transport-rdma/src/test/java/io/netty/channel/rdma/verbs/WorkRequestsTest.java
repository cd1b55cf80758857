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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

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

    @ParameterizedTest
    @CsvSource({
            "SUCCESS, SUCCESS, success", "LOCAL_LENGTH_ERROR, LOC_LEN_ERR, local length",
            "LOCAL_QP_OPERATION_ERROR, LOC_QP_OP_ERR, local queue pair operation",
            "LOCAL_EE_CONTEXT_OPERATION_ERROR, LOC_EEC_OP_ERR, local EE context operation",
            "LOCAL_PROTECTION_ERROR, LOC_PROT_ERR, local protection", "WORK_REQUEST_FLUSHED, WR_FLUSH_ERR, flushed",
            "MEMORY_WINDOW_BIND_ERROR, MW_BIND_ERR, memory window bind",
            "BAD_RESPONSE_ERROR, BAD_RESP_ERR, bad response", "LOCAL_ACCESS_ERROR, LOC_ACCESS_ERR, local access",
            "REMOTE_INVALID_REQUEST_ERROR, REM_INV_REQ_ERR, request as invalid",
            "REMOTE_ACCESS_ERROR, REM_ACCESS_ERR, peer refused access",
            "REMOTE_OPERATION_ERROR, REM_OP_ERR, peer failed to execute",
            "RETRY_EXCEEDED_ERROR, RETRY_EXC_ERR, does not answer",
            "RNR_RETRY_EXCEEDED_ERROR, RNR_RETRY_EXC_ERR, no receive posted",
            "LOCAL_RDD_VIOLATION_ERROR, LOC_RDD_VIOL_ERR, local RDD",
            "REMOTE_INVALID_RD_REQUEST, REM_INV_RD_REQ_ERR, remote invalid RD",
            "REMOTE_ABORTED_ERROR, REM_ABORT_ERR, aborted", "INVALID_EE_CONTEXT_NUMBER, INV_EECN_ERR, context number",
            "INVALID_EE_CONTEXT_STATE, INV_EEC_STATE_ERR, context state", "FATAL_ERROR, FATAL_ERR, fatal",
            "RESPONSE_TIMEOUT_ERROR, RESP_TIMEOUT_ERR, response timeout", "GENERAL_ERROR, GENERAL_ERR, general"
    })
    void statusHasTheNameOfVerbsAndAMeaning(String constant, String name, String meaning) throws Exception {
        int status = WorkCompletionStatus.class.getField(constant).getInt(null);
        assertThat(WorkCompletionStatus.name(status)).isEqualTo(name);
        assertThat(WorkCompletionStatus.describe(status)).contains(meaning);
    }

    @Test
    void unknownStatusAndOpcodeAreTold() {
        assertThat(WorkCompletionStatus.name(99)).isEqualTo("STATUS_99");
        assertThat(WorkCompletionStatus.describe(99)).isEqualTo("unknown status 99");
        assertThat(WorkCompletionOpcode.describe(99)).isEqualTo("opcode 99");
        assertThat(WorkCompletionOpcode.describe(WorkCompletionOpcode.RECEIVE_RDMA_WITH_IMMEDIATE))
                .isEqualTo("receive of RDMA write with immediate");
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "REJECTED")
    void eventIsToldWithItsReason(ConnectionEventType type) {
        assertThat(described(type, 0)).isEqualTo(type.toString());
        assertThat(described(type, -Errno.ENOMEM))
                .isEqualTo(type + ": " + NativeMemory.errorText(Errno.ENOMEM) + " (errno 12)");
        assertThat(described(type, 99)).isEqualTo(type + ", status 99");
    }

    @Test
    void rejectionIsToldWithItsNumber() {
        assertThat(described(ConnectionEventType.REJECTED, 10)).isEqualTo("rejected: stale connection");
        assertThat(described(ConnectionEventType.REJECTED, 99)).isEqualTo("rejected, reason 99");
    }

    private static String described(ConnectionEventType type, int status) {
        return new ConnectionEvent(type, null, null, status, new byte[0], 0, 0, 0, 0, null).describe();
    }
}
