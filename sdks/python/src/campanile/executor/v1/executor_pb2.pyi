from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class HeldState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    HELD_STATE_UNSPECIFIED: _ClassVar[HeldState]
    HELD_STATE_QUEUED: _ClassVar[HeldState]
    HELD_STATE_RUNNING: _ClassVar[HeldState]
    HELD_STATE_ENDED: _ClassVar[HeldState]

class ProcessorKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    PROCESSOR_KIND_UNSPECIFIED: _ClassVar[ProcessorKind]
    PROCESSOR_KIND_UNICAST: _ClassVar[ProcessorKind]
    PROCESSOR_KIND_SHARDING: _ClassVar[ProcessorKind]

class Method(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    METHOD_UNSPECIFIED: _ClassVar[Method]
    METHOD_PROCESS: _ClassVar[Method]
    METHOD_PRE_PROCESS: _ClassVar[Method]
    METHOD_SHARDING_PROCESS: _ClassVar[Method]
    METHOD_NOTIFY: _ClassVar[Method]
    METHOD_POST_PROCESS: _ClassVar[Method]

class OverrunPolicy(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    OVERRUN_POLICY_UNSPECIFIED: _ClassVar[OverrunPolicy]
    OVERRUN_POLICY_NOTE: _ClassVar[OverrunPolicy]
    OVERRUN_POLICY_KILL: _ClassVar[OverrunPolicy]

class CancelAsk(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CANCEL_ASK_UNSPECIFIED: _ClassVar[CancelAsk]
    CANCEL_ASK_ASK: _ClassVar[CancelAsk]
    CANCEL_ASK_TERMINATE: _ClassVar[CancelAsk]
    CANCEL_ASK_KILL: _ClassVar[CancelAsk]

class HandBackReason(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    HAND_BACK_REASON_UNSPECIFIED: _ClassVar[HandBackReason]
    HAND_BACK_REASON_NO_ROOM: _ClassVar[HandBackReason]
    HAND_BACK_REASON_DRAINING: _ClassVar[HandBackReason]
    HAND_BACK_REASON_UNKNOWN_PROCESSOR: _ClassVar[HandBackReason]
    HAND_BACK_REASON_WITHDRAWN: _ClassVar[HandBackReason]
    HAND_BACK_REASON_INCOMPLETE: _ClassVar[HandBackReason]
    HAND_BACK_REASON_UNKNOWN: _ClassVar[HandBackReason]
    HAND_BACK_REASON_ALREADY_ENDED: _ClassVar[HandBackReason]

class LogStream(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    LOG_STREAM_UNSPECIFIED: _ClassVar[LogStream]
    LOG_STREAM_STDOUT: _ClassVar[LogStream]
    LOG_STREAM_STDERR: _ClassVar[LogStream]
    LOG_STREAM_LOG: _ClassVar[LogStream]

class FailureClass(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    FAILURE_CLASS_UNSPECIFIED: _ClassVar[FailureClass]
    FAILURE_CLASS_TRANSIENT: _ClassVar[FailureClass]
    FAILURE_CLASS_BUSINESS: _ClassVar[FailureClass]
    FAILURE_CLASS_SYSTEM: _ClassVar[FailureClass]

class CancelReached(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CANCEL_REACHED_UNSPECIFIED: _ClassVar[CancelReached]
    CANCEL_REACHED_ACKNOWLEDGED: _ClassVar[CancelReached]
    CANCEL_REACHED_TERMINATED: _ClassVar[CancelReached]
    CANCEL_REACHED_KILLED: _ClassVar[CancelReached]
    CANCEL_REACHED_GONE: _ClassVar[CancelReached]
HELD_STATE_UNSPECIFIED: HeldState
HELD_STATE_QUEUED: HeldState
HELD_STATE_RUNNING: HeldState
HELD_STATE_ENDED: HeldState
PROCESSOR_KIND_UNSPECIFIED: ProcessorKind
PROCESSOR_KIND_UNICAST: ProcessorKind
PROCESSOR_KIND_SHARDING: ProcessorKind
METHOD_UNSPECIFIED: Method
METHOD_PROCESS: Method
METHOD_PRE_PROCESS: Method
METHOD_SHARDING_PROCESS: Method
METHOD_NOTIFY: Method
METHOD_POST_PROCESS: Method
OVERRUN_POLICY_UNSPECIFIED: OverrunPolicy
OVERRUN_POLICY_NOTE: OverrunPolicy
OVERRUN_POLICY_KILL: OverrunPolicy
CANCEL_ASK_UNSPECIFIED: CancelAsk
CANCEL_ASK_ASK: CancelAsk
CANCEL_ASK_TERMINATE: CancelAsk
CANCEL_ASK_KILL: CancelAsk
HAND_BACK_REASON_UNSPECIFIED: HandBackReason
HAND_BACK_REASON_NO_ROOM: HandBackReason
HAND_BACK_REASON_DRAINING: HandBackReason
HAND_BACK_REASON_UNKNOWN_PROCESSOR: HandBackReason
HAND_BACK_REASON_WITHDRAWN: HandBackReason
HAND_BACK_REASON_INCOMPLETE: HandBackReason
HAND_BACK_REASON_UNKNOWN: HandBackReason
HAND_BACK_REASON_ALREADY_ENDED: HandBackReason
LOG_STREAM_UNSPECIFIED: LogStream
LOG_STREAM_STDOUT: LogStream
LOG_STREAM_STDERR: LogStream
LOG_STREAM_LOG: LogStream
FAILURE_CLASS_UNSPECIFIED: FailureClass
FAILURE_CLASS_TRANSIENT: FailureClass
FAILURE_CLASS_BUSINESS: FailureClass
FAILURE_CLASS_SYSTEM: FailureClass
CANCEL_REACHED_UNSPECIFIED: CancelReached
CANCEL_REACHED_ACKNOWLEDGED: CancelReached
CANCEL_REACHED_TERMINATED: CancelReached
CANCEL_REACHED_KILLED: CancelReached
CANCEL_REACHED_GONE: CancelReached

class FromExecutor(_message.Message):
    __slots__ = ("register", "heartbeat", "report", "capacity", "draining", "goodbye", "still_needed_answer", "ask_locks", "leave_locks")
    REGISTER_FIELD_NUMBER: _ClassVar[int]
    HEARTBEAT_FIELD_NUMBER: _ClassVar[int]
    REPORT_FIELD_NUMBER: _ClassVar[int]
    CAPACITY_FIELD_NUMBER: _ClassVar[int]
    DRAINING_FIELD_NUMBER: _ClassVar[int]
    GOODBYE_FIELD_NUMBER: _ClassVar[int]
    STILL_NEEDED_ANSWER_FIELD_NUMBER: _ClassVar[int]
    ASK_LOCKS_FIELD_NUMBER: _ClassVar[int]
    LEAVE_LOCKS_FIELD_NUMBER: _ClassVar[int]
    register: Register
    heartbeat: Heartbeat
    report: Report
    capacity: Capacity
    draining: Draining
    goodbye: Goodbye
    still_needed_answer: StillNeededAnswer
    ask_locks: AskLocks
    leave_locks: LeaveLocks
    def __init__(self, register: _Optional[_Union[Register, _Mapping]] = ..., heartbeat: _Optional[_Union[Heartbeat, _Mapping]] = ..., report: _Optional[_Union[Report, _Mapping]] = ..., capacity: _Optional[_Union[Capacity, _Mapping]] = ..., draining: _Optional[_Union[Draining, _Mapping]] = ..., goodbye: _Optional[_Union[Goodbye, _Mapping]] = ..., still_needed_answer: _Optional[_Union[StillNeededAnswer, _Mapping]] = ..., ask_locks: _Optional[_Union[AskLocks, _Mapping]] = ..., leave_locks: _Optional[_Union[LeaveLocks, _Mapping]] = ...) -> None: ...

class ToExecutor(_message.Message):
    __slots__ = ("welcome", "refused", "heartbeat_ack", "push", "shard_data", "shard_ends", "withdraw", "cancel", "ack", "forget", "drain", "resume", "still_needed", "nodes", "locks_granted", "locks_refused", "locks_lost", "locks_left")
    WELCOME_FIELD_NUMBER: _ClassVar[int]
    REFUSED_FIELD_NUMBER: _ClassVar[int]
    HEARTBEAT_ACK_FIELD_NUMBER: _ClassVar[int]
    PUSH_FIELD_NUMBER: _ClassVar[int]
    SHARD_DATA_FIELD_NUMBER: _ClassVar[int]
    SHARD_ENDS_FIELD_NUMBER: _ClassVar[int]
    WITHDRAW_FIELD_NUMBER: _ClassVar[int]
    CANCEL_FIELD_NUMBER: _ClassVar[int]
    ACK_FIELD_NUMBER: _ClassVar[int]
    FORGET_FIELD_NUMBER: _ClassVar[int]
    DRAIN_FIELD_NUMBER: _ClassVar[int]
    RESUME_FIELD_NUMBER: _ClassVar[int]
    STILL_NEEDED_FIELD_NUMBER: _ClassVar[int]
    NODES_FIELD_NUMBER: _ClassVar[int]
    LOCKS_GRANTED_FIELD_NUMBER: _ClassVar[int]
    LOCKS_REFUSED_FIELD_NUMBER: _ClassVar[int]
    LOCKS_LOST_FIELD_NUMBER: _ClassVar[int]
    LOCKS_LEFT_FIELD_NUMBER: _ClassVar[int]
    welcome: Welcome
    refused: Refused
    heartbeat_ack: HeartbeatAck
    push: Push
    shard_data: ShardData
    shard_ends: ShardEnds
    withdraw: Withdraw
    cancel: Cancel
    ack: Ack
    forget: Forget
    drain: Drain
    resume: Resume
    still_needed: StillNeeded
    nodes: Nodes
    locks_granted: LocksGranted
    locks_refused: LocksRefused
    locks_lost: LocksLost
    locks_left: LocksLeft
    def __init__(self, welcome: _Optional[_Union[Welcome, _Mapping]] = ..., refused: _Optional[_Union[Refused, _Mapping]] = ..., heartbeat_ack: _Optional[_Union[HeartbeatAck, _Mapping]] = ..., push: _Optional[_Union[Push, _Mapping]] = ..., shard_data: _Optional[_Union[ShardData, _Mapping]] = ..., shard_ends: _Optional[_Union[ShardEnds, _Mapping]] = ..., withdraw: _Optional[_Union[Withdraw, _Mapping]] = ..., cancel: _Optional[_Union[Cancel, _Mapping]] = ..., ack: _Optional[_Union[Ack, _Mapping]] = ..., forget: _Optional[_Union[Forget, _Mapping]] = ..., drain: _Optional[_Union[Drain, _Mapping]] = ..., resume: _Optional[_Union[Resume, _Mapping]] = ..., still_needed: _Optional[_Union[StillNeeded, _Mapping]] = ..., nodes: _Optional[_Union[Nodes, _Mapping]] = ..., locks_granted: _Optional[_Union[LocksGranted, _Mapping]] = ..., locks_refused: _Optional[_Union[LocksRefused, _Mapping]] = ..., locks_lost: _Optional[_Union[LocksLost, _Mapping]] = ..., locks_left: _Optional[_Union[LocksLeft, _Mapping]] = ...) -> None: ...

class AttemptRef(_message.Message):
    __slots__ = ("task_id", "attempt")
    TASK_ID_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    task_id: str
    attempt: int
    def __init__(self, task_id: _Optional[str] = ..., attempt: _Optional[int] = ...) -> None: ...

class Register(_message.Message):
    __slots__ = ("protocol_version", "group", "name", "boot_id", "processors", "labels", "capacity", "sdk_version", "token", "public_key", "still_held")
    class LabelsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    PROTOCOL_VERSION_FIELD_NUMBER: _ClassVar[int]
    GROUP_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    BOOT_ID_FIELD_NUMBER: _ClassVar[int]
    PROCESSORS_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    CAPACITY_FIELD_NUMBER: _ClassVar[int]
    SDK_VERSION_FIELD_NUMBER: _ClassVar[int]
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    PUBLIC_KEY_FIELD_NUMBER: _ClassVar[int]
    STILL_HELD_FIELD_NUMBER: _ClassVar[int]
    protocol_version: int
    group: str
    name: str
    boot_id: str
    processors: _containers.RepeatedCompositeFieldContainer[Processor]
    labels: _containers.ScalarMap[str, str]
    capacity: Capacity
    sdk_version: str
    token: str
    public_key: bytes
    still_held: _containers.RepeatedCompositeFieldContainer[HeldAttempt]
    def __init__(self, protocol_version: _Optional[int] = ..., group: _Optional[str] = ..., name: _Optional[str] = ..., boot_id: _Optional[str] = ..., processors: _Optional[_Iterable[_Union[Processor, _Mapping]]] = ..., labels: _Optional[_Mapping[str, str]] = ..., capacity: _Optional[_Union[Capacity, _Mapping]] = ..., sdk_version: _Optional[str] = ..., token: _Optional[str] = ..., public_key: _Optional[bytes] = ..., still_held: _Optional[_Iterable[_Union[HeldAttempt, _Mapping]]] = ...) -> None: ...

class HeldAttempt(_message.Message):
    __slots__ = ("attempt", "state", "last_sequence")
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    LAST_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    attempt: AttemptRef
    state: HeldState
    last_sequence: int
    def __init__(self, attempt: _Optional[_Union[AttemptRef, _Mapping]] = ..., state: _Optional[_Union[HeldState, str]] = ..., last_sequence: _Optional[int] = ...) -> None: ...

class Processor(_message.Message):
    __slots__ = ("name", "title_en", "title_zh", "description_en", "description_zh", "parameter_schema_json", "kind", "methods", "stop_without_lease", "answers_still_needed")
    NAME_FIELD_NUMBER: _ClassVar[int]
    TITLE_EN_FIELD_NUMBER: _ClassVar[int]
    TITLE_ZH_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_EN_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_ZH_FIELD_NUMBER: _ClassVar[int]
    PARAMETER_SCHEMA_JSON_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    METHODS_FIELD_NUMBER: _ClassVar[int]
    STOP_WITHOUT_LEASE_FIELD_NUMBER: _ClassVar[int]
    ANSWERS_STILL_NEEDED_FIELD_NUMBER: _ClassVar[int]
    name: str
    title_en: str
    title_zh: str
    description_en: str
    description_zh: str
    parameter_schema_json: str
    kind: ProcessorKind
    methods: _containers.RepeatedScalarFieldContainer[Method]
    stop_without_lease: bool
    answers_still_needed: bool
    def __init__(self, name: _Optional[str] = ..., title_en: _Optional[str] = ..., title_zh: _Optional[str] = ..., description_en: _Optional[str] = ..., description_zh: _Optional[str] = ..., parameter_schema_json: _Optional[str] = ..., kind: _Optional[_Union[ProcessorKind, str]] = ..., methods: _Optional[_Iterable[_Union[Method, str]]] = ..., stop_without_lease: bool = ..., answers_still_needed: bool = ...) -> None: ...

class Capacity(_message.Message):
    __slots__ = ("running", "queued")
    RUNNING_FIELD_NUMBER: _ClassVar[int]
    QUEUED_FIELD_NUMBER: _ClassVar[int]
    running: int
    queued: int
    def __init__(self, running: _Optional[int] = ..., queued: _Optional[int] = ...) -> None: ...

class Welcome(_message.Message):
    __slots__ = ("protocol_version", "node", "heartbeat_ms", "lease_ms", "nodes", "still_yours", "draining")
    PROTOCOL_VERSION_FIELD_NUMBER: _ClassVar[int]
    NODE_FIELD_NUMBER: _ClassVar[int]
    HEARTBEAT_MS_FIELD_NUMBER: _ClassVar[int]
    LEASE_MS_FIELD_NUMBER: _ClassVar[int]
    NODES_FIELD_NUMBER: _ClassVar[int]
    STILL_YOURS_FIELD_NUMBER: _ClassVar[int]
    DRAINING_FIELD_NUMBER: _ClassVar[int]
    protocol_version: int
    node: str
    heartbeat_ms: int
    lease_ms: int
    nodes: _containers.RepeatedCompositeFieldContainer[NodeAddress]
    still_yours: _containers.RepeatedCompositeFieldContainer[StillYours]
    draining: bool
    def __init__(self, protocol_version: _Optional[int] = ..., node: _Optional[str] = ..., heartbeat_ms: _Optional[int] = ..., lease_ms: _Optional[int] = ..., nodes: _Optional[_Iterable[_Union[NodeAddress, _Mapping]]] = ..., still_yours: _Optional[_Iterable[_Union[StillYours, _Mapping]]] = ..., draining: bool = ...) -> None: ...

class StillYours(_message.Message):
    __slots__ = ("attempt", "stored_sequence")
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    STORED_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    attempt: AttemptRef
    stored_sequence: int
    def __init__(self, attempt: _Optional[_Union[AttemptRef, _Mapping]] = ..., stored_sequence: _Optional[int] = ...) -> None: ...

class NodeAddress(_message.Message):
    __slots__ = ("name", "address")
    NAME_FIELD_NUMBER: _ClassVar[int]
    ADDRESS_FIELD_NUMBER: _ClassVar[int]
    name: str
    address: str
    def __init__(self, name: _Optional[str] = ..., address: _Optional[str] = ...) -> None: ...

class Nodes(_message.Message):
    __slots__ = ("nodes",)
    NODES_FIELD_NUMBER: _ClassVar[int]
    nodes: _containers.RepeatedCompositeFieldContainer[NodeAddress]
    def __init__(self, nodes: _Optional[_Iterable[_Union[NodeAddress, _Mapping]]] = ...) -> None: ...

class Refused(_message.Message):
    __slots__ = ("code", "message_en", "message_zh", "retry_after_ms")
    CODE_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_EN_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_ZH_FIELD_NUMBER: _ClassVar[int]
    RETRY_AFTER_MS_FIELD_NUMBER: _ClassVar[int]
    code: str
    message_en: str
    message_zh: str
    retry_after_ms: int
    def __init__(self, code: _Optional[str] = ..., message_en: _Optional[str] = ..., message_zh: _Optional[str] = ..., retry_after_ms: _Optional[int] = ...) -> None: ...

class Heartbeat(_message.Message):
    __slots__ = ("number", "machine")
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    MACHINE_FIELD_NUMBER: _ClassVar[int]
    number: int
    machine: Machine
    def __init__(self, number: _Optional[int] = ..., machine: _Optional[_Union[Machine, _Mapping]] = ...) -> None: ...

class HeartbeatAck(_message.Message):
    __slots__ = ("number", "lease_ms")
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    LEASE_MS_FIELD_NUMBER: _ClassVar[int]
    number: int
    lease_ms: int
    def __init__(self, number: _Optional[int] = ..., lease_ms: _Optional[int] = ...) -> None: ...

class Machine(_message.Message):
    __slots__ = ("cpu_percent", "memory_percent", "disk_queue", "cores")
    CPU_PERCENT_FIELD_NUMBER: _ClassVar[int]
    MEMORY_PERCENT_FIELD_NUMBER: _ClassVar[int]
    DISK_QUEUE_FIELD_NUMBER: _ClassVar[int]
    CORES_FIELD_NUMBER: _ClassVar[int]
    cpu_percent: float
    memory_percent: float
    disk_queue: float
    cores: int
    def __init__(self, cpu_percent: _Optional[float] = ..., memory_percent: _Optional[float] = ..., disk_queue: _Optional[float] = ..., cores: _Optional[int] = ...) -> None: ...

class Push(_message.Message):
    __slots__ = ("attempt", "idempotency_key", "processor", "method", "parameters_json", "context", "sequence_after", "secrets", "shard", "notice", "more_follows")
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    PROCESSOR_FIELD_NUMBER: _ClassVar[int]
    METHOD_FIELD_NUMBER: _ClassVar[int]
    PARAMETERS_JSON_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_AFTER_FIELD_NUMBER: _ClassVar[int]
    SECRETS_FIELD_NUMBER: _ClassVar[int]
    SHARD_FIELD_NUMBER: _ClassVar[int]
    NOTICE_FIELD_NUMBER: _ClassVar[int]
    MORE_FOLLOWS_FIELD_NUMBER: _ClassVar[int]
    attempt: AttemptRef
    idempotency_key: str
    processor: str
    method: Method
    parameters_json: str
    context: Context
    sequence_after: int
    secrets: _containers.RepeatedCompositeFieldContainer[SealedSecret]
    shard: Shard
    notice: Notice
    more_follows: bool
    def __init__(self, attempt: _Optional[_Union[AttemptRef, _Mapping]] = ..., idempotency_key: _Optional[str] = ..., processor: _Optional[str] = ..., method: _Optional[_Union[Method, str]] = ..., parameters_json: _Optional[str] = ..., context: _Optional[_Union[Context, _Mapping]] = ..., sequence_after: _Optional[int] = ..., secrets: _Optional[_Iterable[_Union[SealedSecret, _Mapping]]] = ..., shard: _Optional[_Union[Shard, _Mapping]] = ..., notice: _Optional[_Union[Notice, _Mapping]] = ..., more_follows: bool = ...) -> None: ...

class Context(_message.Message):
    __slots__ = ("job", "job_version", "instance_id", "origin", "planned_ms", "due_ms", "deadline_ms", "overrun", "tenant", "upstream")
    JOB_FIELD_NUMBER: _ClassVar[int]
    JOB_VERSION_FIELD_NUMBER: _ClassVar[int]
    INSTANCE_ID_FIELD_NUMBER: _ClassVar[int]
    ORIGIN_FIELD_NUMBER: _ClassVar[int]
    PLANNED_MS_FIELD_NUMBER: _ClassVar[int]
    DUE_MS_FIELD_NUMBER: _ClassVar[int]
    DEADLINE_MS_FIELD_NUMBER: _ClassVar[int]
    OVERRUN_FIELD_NUMBER: _ClassVar[int]
    TENANT_FIELD_NUMBER: _ClassVar[int]
    UPSTREAM_FIELD_NUMBER: _ClassVar[int]
    job: str
    job_version: int
    instance_id: str
    origin: str
    planned_ms: int
    due_ms: int
    deadline_ms: int
    overrun: OverrunPolicy
    tenant: str
    upstream: _containers.RepeatedCompositeFieldContainer[Upstream]
    def __init__(self, job: _Optional[str] = ..., job_version: _Optional[int] = ..., instance_id: _Optional[str] = ..., origin: _Optional[str] = ..., planned_ms: _Optional[int] = ..., due_ms: _Optional[int] = ..., deadline_ms: _Optional[int] = ..., overrun: _Optional[_Union[OverrunPolicy, str]] = ..., tenant: _Optional[str] = ..., upstream: _Optional[_Iterable[_Union[Upstream, _Mapping]]] = ...) -> None: ...

class Upstream(_message.Message):
    __slots__ = ("job", "instance_id", "result_json")
    JOB_FIELD_NUMBER: _ClassVar[int]
    INSTANCE_ID_FIELD_NUMBER: _ClassVar[int]
    RESULT_JSON_FIELD_NUMBER: _ClassVar[int]
    job: str
    instance_id: str
    result_json: str
    def __init__(self, job: _Optional[str] = ..., instance_id: _Optional[str] = ..., result_json: _Optional[str] = ...) -> None: ...

class SealedSecret(_message.Message):
    __slots__ = ("name", "ciphertext")
    NAME_FIELD_NUMBER: _ClassVar[int]
    CIPHERTEXT_FIELD_NUMBER: _ClassVar[int]
    name: str
    ciphertext: bytes
    def __init__(self, name: _Optional[str] = ..., ciphertext: _Optional[bytes] = ...) -> None: ...

class Shard(_message.Message):
    __slots__ = ("level", "level_count", "index", "count", "round", "item_count")
    LEVEL_FIELD_NUMBER: _ClassVar[int]
    LEVEL_COUNT_FIELD_NUMBER: _ClassVar[int]
    INDEX_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    ROUND_FIELD_NUMBER: _ClassVar[int]
    ITEM_COUNT_FIELD_NUMBER: _ClassVar[int]
    level: int
    level_count: int
    index: int
    count: int
    round: int
    item_count: int
    def __init__(self, level: _Optional[int] = ..., level_count: _Optional[int] = ..., index: _Optional[int] = ..., count: _Optional[int] = ..., round: _Optional[int] = ..., item_count: _Optional[int] = ...) -> None: ...

class Notice(_message.Message):
    __slots__ = ("items_done", "items_total", "percent")
    ITEMS_DONE_FIELD_NUMBER: _ClassVar[int]
    ITEMS_TOTAL_FIELD_NUMBER: _ClassVar[int]
    PERCENT_FIELD_NUMBER: _ClassVar[int]
    items_done: int
    items_total: int
    percent: float
    def __init__(self, items_done: _Optional[int] = ..., items_total: _Optional[int] = ..., percent: _Optional[float] = ...) -> None: ...

class ShardData(_message.Message):
    __slots__ = ("attempt", "level", "items", "last")
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    LEVEL_FIELD_NUMBER: _ClassVar[int]
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    LAST_FIELD_NUMBER: _ClassVar[int]
    attempt: AttemptRef
    level: int
    items: _containers.RepeatedCompositeFieldContainer[DataItem]
    last: bool
    def __init__(self, attempt: _Optional[_Union[AttemptRef, _Mapping]] = ..., level: _Optional[int] = ..., items: _Optional[_Iterable[_Union[DataItem, _Mapping]]] = ..., last: bool = ...) -> None: ...

class DataItem(_message.Message):
    __slots__ = ("index", "value_json")
    INDEX_FIELD_NUMBER: _ClassVar[int]
    VALUE_JSON_FIELD_NUMBER: _ClassVar[int]
    index: int
    value_json: str
    def __init__(self, index: _Optional[int] = ..., value_json: _Optional[str] = ...) -> None: ...

class ShardEnds(_message.Message):
    __slots__ = ("attempt", "ends", "last")
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    ENDS_FIELD_NUMBER: _ClassVar[int]
    LAST_FIELD_NUMBER: _ClassVar[int]
    attempt: AttemptRef
    ends: _containers.RepeatedCompositeFieldContainer[ShardEnd]
    last: bool
    def __init__(self, attempt: _Optional[_Union[AttemptRef, _Mapping]] = ..., ends: _Optional[_Iterable[_Union[ShardEnd, _Mapping]]] = ..., last: bool = ...) -> None: ...

class ShardEnd(_message.Message):
    __slots__ = ("level", "shard", "code", "result_json", "error")
    LEVEL_FIELD_NUMBER: _ClassVar[int]
    SHARD_FIELD_NUMBER: _ClassVar[int]
    CODE_FIELD_NUMBER: _ClassVar[int]
    RESULT_JSON_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    level: int
    shard: int
    code: int
    result_json: str
    error: Failure
    def __init__(self, level: _Optional[int] = ..., shard: _Optional[int] = ..., code: _Optional[int] = ..., result_json: _Optional[str] = ..., error: _Optional[_Union[Failure, _Mapping]] = ...) -> None: ...

class Withdraw(_message.Message):
    __slots__ = ("attempt",)
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    attempt: AttemptRef
    def __init__(self, attempt: _Optional[_Union[AttemptRef, _Mapping]] = ...) -> None: ...

class Cancel(_message.Message):
    __slots__ = ("attempt", "ask", "reason")
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    ASK_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    attempt: AttemptRef
    ask: CancelAsk
    reason: str
    def __init__(self, attempt: _Optional[_Union[AttemptRef, _Mapping]] = ..., ask: _Optional[_Union[CancelAsk, str]] = ..., reason: _Optional[str] = ...) -> None: ...

class Report(_message.Message):
    __slots__ = ("attempt", "sequence", "at_ms", "accepted", "handed_back", "started", "progress", "items", "log_lines", "finished", "cancel_stage", "new_data")
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    AT_MS_FIELD_NUMBER: _ClassVar[int]
    ACCEPTED_FIELD_NUMBER: _ClassVar[int]
    HANDED_BACK_FIELD_NUMBER: _ClassVar[int]
    STARTED_FIELD_NUMBER: _ClassVar[int]
    PROGRESS_FIELD_NUMBER: _ClassVar[int]
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    LOG_LINES_FIELD_NUMBER: _ClassVar[int]
    FINISHED_FIELD_NUMBER: _ClassVar[int]
    CANCEL_STAGE_FIELD_NUMBER: _ClassVar[int]
    NEW_DATA_FIELD_NUMBER: _ClassVar[int]
    attempt: AttemptRef
    sequence: int
    at_ms: int
    accepted: Accepted
    handed_back: HandedBack
    started: Started
    progress: Progress
    items: Items
    log_lines: LogLines
    finished: Finished
    cancel_stage: CancelStage
    new_data: NewData
    def __init__(self, attempt: _Optional[_Union[AttemptRef, _Mapping]] = ..., sequence: _Optional[int] = ..., at_ms: _Optional[int] = ..., accepted: _Optional[_Union[Accepted, _Mapping]] = ..., handed_back: _Optional[_Union[HandedBack, _Mapping]] = ..., started: _Optional[_Union[Started, _Mapping]] = ..., progress: _Optional[_Union[Progress, _Mapping]] = ..., items: _Optional[_Union[Items, _Mapping]] = ..., log_lines: _Optional[_Union[LogLines, _Mapping]] = ..., finished: _Optional[_Union[Finished, _Mapping]] = ..., cancel_stage: _Optional[_Union[CancelStage, _Mapping]] = ..., new_data: _Optional[_Union[NewData, _Mapping]] = ...) -> None: ...

class Accepted(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class HandedBack(_message.Message):
    __slots__ = ("reason", "message")
    REASON_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    reason: HandBackReason
    message: str
    def __init__(self, reason: _Optional[_Union[HandBackReason, str]] = ..., message: _Optional[str] = ...) -> None: ...

class Started(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class Progress(_message.Message):
    __slots__ = ("percent", "message")
    PERCENT_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    percent: float
    message: str
    def __init__(self, percent: _Optional[float] = ..., message: _Optional[str] = ...) -> None: ...

class Items(_message.Message):
    __slots__ = ("outcomes",)
    OUTCOMES_FIELD_NUMBER: _ClassVar[int]
    outcomes: _containers.RepeatedCompositeFieldContainer[ItemOutcome]
    def __init__(self, outcomes: _Optional[_Iterable[_Union[ItemOutcome, _Mapping]]] = ...) -> None: ...

class ItemOutcome(_message.Message):
    __slots__ = ("index", "succeeded", "message")
    INDEX_FIELD_NUMBER: _ClassVar[int]
    SUCCEEDED_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    index: int
    succeeded: bool
    message: str
    def __init__(self, index: _Optional[int] = ..., succeeded: bool = ..., message: _Optional[str] = ...) -> None: ...

class LogLines(_message.Message):
    __slots__ = ("lines", "dropped")
    LINES_FIELD_NUMBER: _ClassVar[int]
    DROPPED_FIELD_NUMBER: _ClassVar[int]
    lines: _containers.RepeatedCompositeFieldContainer[LogLine]
    dropped: int
    def __init__(self, lines: _Optional[_Iterable[_Union[LogLine, _Mapping]]] = ..., dropped: _Optional[int] = ...) -> None: ...

class LogLine(_message.Message):
    __slots__ = ("at_ms", "stream", "text", "cut_bytes")
    AT_MS_FIELD_NUMBER: _ClassVar[int]
    STREAM_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    CUT_BYTES_FIELD_NUMBER: _ClassVar[int]
    at_ms: int
    stream: LogStream
    text: str
    cut_bytes: int
    def __init__(self, at_ms: _Optional[int] = ..., stream: _Optional[_Union[LogStream, str]] = ..., text: _Optional[str] = ..., cut_bytes: _Optional[int] = ...) -> None: ...

class Finished(_message.Message):
    __slots__ = ("succeeded", "failed", "cancelled")
    SUCCEEDED_FIELD_NUMBER: _ClassVar[int]
    FAILED_FIELD_NUMBER: _ClassVar[int]
    CANCELLED_FIELD_NUMBER: _ClassVar[int]
    succeeded: Succeeded
    failed: Failure
    cancelled: Cancelled
    def __init__(self, succeeded: _Optional[_Union[Succeeded, _Mapping]] = ..., failed: _Optional[_Union[Failure, _Mapping]] = ..., cancelled: _Optional[_Union[Cancelled, _Mapping]] = ...) -> None: ...

class Succeeded(_message.Message):
    __slots__ = ("result_json",)
    RESULT_JSON_FIELD_NUMBER: _ClassVar[int]
    result_json: str
    def __init__(self, result_json: _Optional[str] = ...) -> None: ...

class Cancelled(_message.Message):
    __slots__ = ("message",)
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    message: str
    def __init__(self, message: _Optional[str] = ...) -> None: ...

class Failure(_message.Message):
    __slots__ = ("code", "message_en", "message_zh")
    CLASS_FIELD_NUMBER: _ClassVar[int]
    CODE_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_EN_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_ZH_FIELD_NUMBER: _ClassVar[int]
    code: str
    message_en: str
    message_zh: str
    def __init__(self, code: _Optional[str] = ..., message_en: _Optional[str] = ..., message_zh: _Optional[str] = ..., **kwargs) -> None: ...

class CancelStage(_message.Message):
    __slots__ = ("reached",)
    REACHED_FIELD_NUMBER: _ClassVar[int]
    reached: CancelReached
    def __init__(self, reached: _Optional[_Union[CancelReached, str]] = ...) -> None: ...

class NewData(_message.Message):
    __slots__ = ("level", "items_json", "last")
    LEVEL_FIELD_NUMBER: _ClassVar[int]
    ITEMS_JSON_FIELD_NUMBER: _ClassVar[int]
    LAST_FIELD_NUMBER: _ClassVar[int]
    level: int
    items_json: _containers.RepeatedScalarFieldContainer[str]
    last: bool
    def __init__(self, level: _Optional[int] = ..., items_json: _Optional[_Iterable[str]] = ..., last: bool = ...) -> None: ...

class Ack(_message.Message):
    __slots__ = ("attempt", "sequence")
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    attempt: AttemptRef
    sequence: int
    def __init__(self, attempt: _Optional[_Union[AttemptRef, _Mapping]] = ..., sequence: _Optional[int] = ...) -> None: ...

class Forget(_message.Message):
    __slots__ = ("attempt",)
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    attempt: AttemptRef
    def __init__(self, attempt: _Optional[_Union[AttemptRef, _Mapping]] = ...) -> None: ...

class Drain(_message.Message):
    __slots__ = ("reason",)
    REASON_FIELD_NUMBER: _ClassVar[int]
    reason: str
    def __init__(self, reason: _Optional[str] = ...) -> None: ...

class Resume(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class Draining(_message.Message):
    __slots__ = ("leaving",)
    LEAVING_FIELD_NUMBER: _ClassVar[int]
    leaving: bool
    def __init__(self, leaving: bool = ...) -> None: ...

class Goodbye(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class StillNeeded(_message.Message):
    __slots__ = ("question_id", "processor", "parameters_json", "context")
    QUESTION_ID_FIELD_NUMBER: _ClassVar[int]
    PROCESSOR_FIELD_NUMBER: _ClassVar[int]
    PARAMETERS_JSON_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_FIELD_NUMBER: _ClassVar[int]
    question_id: str
    processor: str
    parameters_json: str
    context: Context
    def __init__(self, question_id: _Optional[str] = ..., processor: _Optional[str] = ..., parameters_json: _Optional[str] = ..., context: _Optional[_Union[Context, _Mapping]] = ...) -> None: ...

class StillNeededAnswer(_message.Message):
    __slots__ = ("question_id", "needed", "message")
    QUESTION_ID_FIELD_NUMBER: _ClassVar[int]
    NEEDED_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    question_id: str
    needed: bool
    message: str
    def __init__(self, question_id: _Optional[str] = ..., needed: bool = ..., message: _Optional[str] = ...) -> None: ...

class AskLocks(_message.Message):
    __slots__ = ("attempt", "ask", "names", "wait_ms", "lease_ms", "held")
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    ASK_FIELD_NUMBER: _ClassVar[int]
    NAMES_FIELD_NUMBER: _ClassVar[int]
    WAIT_MS_FIELD_NUMBER: _ClassVar[int]
    LEASE_MS_FIELD_NUMBER: _ClassVar[int]
    HELD_FIELD_NUMBER: _ClassVar[int]
    attempt: AttemptRef
    ask: int
    names: _containers.RepeatedScalarFieldContainer[str]
    wait_ms: int
    lease_ms: int
    held: _containers.RepeatedCompositeFieldContainer[HeldLock]
    def __init__(self, attempt: _Optional[_Union[AttemptRef, _Mapping]] = ..., ask: _Optional[int] = ..., names: _Optional[_Iterable[str]] = ..., wait_ms: _Optional[int] = ..., lease_ms: _Optional[int] = ..., held: _Optional[_Iterable[_Union[HeldLock, _Mapping]]] = ...) -> None: ...

class HeldLock(_message.Message):
    __slots__ = ("name", "token")
    NAME_FIELD_NUMBER: _ClassVar[int]
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    name: str
    token: int
    def __init__(self, name: _Optional[str] = ..., token: _Optional[int] = ...) -> None: ...

class LocksGranted(_message.Message):
    __slots__ = ("attempt", "ask", "locks", "left_ms")
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    ASK_FIELD_NUMBER: _ClassVar[int]
    LOCKS_FIELD_NUMBER: _ClassVar[int]
    LEFT_MS_FIELD_NUMBER: _ClassVar[int]
    attempt: AttemptRef
    ask: int
    locks: _containers.RepeatedCompositeFieldContainer[HeldLock]
    left_ms: int
    def __init__(self, attempt: _Optional[_Union[AttemptRef, _Mapping]] = ..., ask: _Optional[int] = ..., locks: _Optional[_Iterable[_Union[HeldLock, _Mapping]]] = ..., left_ms: _Optional[int] = ...) -> None: ...

class LocksRefused(_message.Message):
    __slots__ = ("attempt", "ask", "why")
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    ASK_FIELD_NUMBER: _ClassVar[int]
    WHY_FIELD_NUMBER: _ClassVar[int]
    attempt: AttemptRef
    ask: int
    why: Failure
    def __init__(self, attempt: _Optional[_Union[AttemptRef, _Mapping]] = ..., ask: _Optional[int] = ..., why: _Optional[_Union[Failure, _Mapping]] = ...) -> None: ...

class LocksLost(_message.Message):
    __slots__ = ("attempt", "ask", "names")
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    ASK_FIELD_NUMBER: _ClassVar[int]
    NAMES_FIELD_NUMBER: _ClassVar[int]
    attempt: AttemptRef
    ask: int
    names: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, attempt: _Optional[_Union[AttemptRef, _Mapping]] = ..., ask: _Optional[int] = ..., names: _Optional[_Iterable[str]] = ...) -> None: ...

class LeaveLocks(_message.Message):
    __slots__ = ("attempt", "ask")
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    ASK_FIELD_NUMBER: _ClassVar[int]
    attempt: AttemptRef
    ask: int
    def __init__(self, attempt: _Optional[_Union[AttemptRef, _Mapping]] = ..., ask: _Optional[int] = ...) -> None: ...

class LocksLeft(_message.Message):
    __slots__ = ("attempt", "ask")
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    ASK_FIELD_NUMBER: _ClassVar[int]
    attempt: AttemptRef
    ask: int
    def __init__(self, attempt: _Optional[_Union[AttemptRef, _Mapping]] = ..., ask: _Optional[int] = ...) -> None: ...
