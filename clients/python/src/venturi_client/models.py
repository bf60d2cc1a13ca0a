# Generated from the service's OpenAPI document by `npm run generate`. Do not edit.
from __future__ import annotations

from typing import Annotated, Any, Literal, Union

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag


class Model(BaseModel):
    """Keeps fields that a newer service has added."""

    model_config = ConfigDict(extra="allow", populate_by_name=True, protected_namespaces=())


class AgentChangedWaited(Model):
    for_: Literal["queue", "providerWait", "providerStream", "providerStall", "failedAttempt", "backoff", "tool", "approval", "hook", "client", "journal", "blocked", "gc", "down", "paused", "runtime"] | str = Field(alias="for")
    name: str | None = None
    from_: float = Field(alias="from")
    ms: float


class AgentChangedSkills(Model):
    name: str
    description: str
    hash: str


class AgentChanged(Model):
    type: Literal["agent.changed"] = "agent.changed"
    run: str
    seq: int
    at: float
    waited: list[AgentChangedWaited] | None = None
    round: int
    call: str
    agent: str
    instructions: str | None = None
    skills: list[AgentChangedSkills] | None = None


class AgentRevisedWaited(Model):
    for_: Literal["queue", "providerWait", "providerStream", "providerStall", "failedAttempt", "backoff", "tool", "approval", "hook", "client", "journal", "blocked", "gc", "down", "paused", "runtime"] | str = Field(alias="for")
    name: str | None = None
    from_: float = Field(alias="from")
    ms: float


class AgentRevised(Model):
    type: Literal["agent.revised"] = "agent.revised"
    run: str
    seq: int
    at: float
    waited: list[AgentRevisedWaited] | None = None
    agent: str
    revision: str


class AgentViewTools(Model):
    name: str
    description: str
    parameters: Any


class AgentViewPaused(Model):
    """its runs wait, since then"""

    since: float
    by: str | None = None
    reason: str | None = None


class AgentView(Model):
    name: str
    description: str | None = None
    model: str
    models: list[str]
    tools: list[AgentViewTools]
    inputs: Any = None
    paused: AgentViewPaused | None = None


class ApprovalShow(Model):
    name: str
    value: str


class ApprovalOrigin(Model):
    """the called run whose question this is"""

    run: str
    call: str
    agent: str


class ApprovalParent(Model):
    """the run that called this one"""

    run: str
    call: str


class Approval(Model):
    kind: Literal["approve", "input", "elicit"] | str
    call: str
    name: str
    arguments: dict[str, Any]
    reason: str | None = None
    show: list[ApprovalShow] | None = None
    message: str | None = None
    schema_: dict[str, Any] | None = Field(default=None, alias="schema")
    choices: list[str] | None = None
    url: str | None = None
    fallback: Any = None
    since: float
    until: float | None = None
    origin: ApprovalOrigin | None = None
    run: str
    tenant: str | None = None
    agent: str
    session: str | None = None
    parent: ApprovalParent | None = None


class ApprovalRequestedWaited(Model):
    for_: Literal["queue", "providerWait", "providerStream", "providerStall", "failedAttempt", "backoff", "tool", "approval", "hook", "client", "journal", "blocked", "gc", "down", "paused", "runtime"] | str = Field(alias="for")
    name: str | None = None
    from_: float = Field(alias="from")
    ms: float


class ApprovalRequestedShow(Model):
    name: str
    value: str


class ApprovalRequestedOrigin(Model):
    run: str
    call: str
    agent: str


class ApprovalRequested(Model):
    type: Literal["approval.requested"] = "approval.requested"
    run: str
    seq: int
    at: float
    waited: list[ApprovalRequestedWaited] | None = None
    round: int
    call: str
    name: str
    arguments: dict[str, Any]
    reason: str | None = None
    show: list[ApprovalRequestedShow] | None = None
    until: float | None = None
    origin: ApprovalRequestedOrigin | None = None


class ApprovalResolvedWaited(Model):
    for_: Literal["queue", "providerWait", "providerStream", "providerStall", "failedAttempt", "backoff", "tool", "approval", "hook", "client", "journal", "blocked", "gc", "down", "paused", "runtime"] | str = Field(alias="for")
    name: str | None = None
    from_: float = Field(alias="from")
    ms: float


class ApprovalResolved(Model):
    type: Literal["approval.resolved"] = "approval.resolved"
    run: str
    seq: int
    at: float
    waited: list[ApprovalResolvedWaited] | None = None
    round: int
    call: str
    approved: bool
    reason: str | None = None
    by: str | None = None
    arguments: dict[str, Any] | None = None
    for_: Literal["run"] | None = Field(default=None, alias="for")
    signal: int | None = None


class BudgetExceededWaited(Model):
    for_: Literal["queue", "providerWait", "providerStream", "providerStall", "failedAttempt", "backoff", "tool", "approval", "hook", "client", "journal", "blocked", "gc", "down", "paused", "runtime"] | str = Field(alias="for")
    name: str | None = None
    from_: float = Field(alias="from")
    ms: float


class BudgetExceededLimit(Model):
    usd: float | None = None
    tokens: float | None = None


class BudgetExceededSpent(Model):
    usd: float
    tokens: float


class BudgetExceeded(Model):
    type: Literal["budget.exceeded"] = "budget.exceeded"
    run: str
    seq: int
    at: float
    waited: list[BudgetExceededWaited] | None = None
    budget: str
    of: str
    whose: str
    per: str
    on_exceed: Literal["refuse", "finish", "cheaper"] | str = Field(alias="onExceed")
    limit: BudgetExceededLimit
    spent: BudgetExceededSpent


class BudgetWarnedWaited(Model):
    for_: Literal["queue", "providerWait", "providerStream", "providerStall", "failedAttempt", "backoff", "tool", "approval", "hook", "client", "journal", "blocked", "gc", "down", "paused", "runtime"] | str = Field(alias="for")
    name: str | None = None
    from_: float = Field(alias="from")
    ms: float


class BudgetWarnedLimit(Model):
    usd: float | None = None
    tokens: float | None = None


class BudgetWarnedSpent(Model):
    usd: float
    tokens: float


class BudgetWarned(Model):
    type: Literal["budget.warned"] = "budget.warned"
    run: str
    seq: int
    at: float
    waited: list[BudgetWarnedWaited] | None = None
    budget: str
    of: str
    whose: str
    per: str
    on_exceed: Literal["refuse", "finish", "cheaper"] | str = Field(alias="onExceed")
    limit: BudgetWarnedLimit
    spent: BudgetWarnedSpent


class Usage(Model):
    input_tokens: float | None = Field(default=None, alias="inputTokens")
    output_tokens: float | None = Field(default=None, alias="outputTokens")
    cache_read_tokens: float | None = Field(default=None, alias="cacheReadTokens")
    cache_write_tokens: float | None = Field(default=None, alias="cacheWriteTokens")
    cache_write1h_tokens: float | None = Field(default=None, alias="cacheWrite1hTokens")
    reasoning_tokens: float | None = Field(default=None, alias="reasoningTokens")
    image_input_tokens: float | None = Field(default=None, alias="imageInputTokens")
    audio_input_tokens: float | None = Field(default=None, alias="audioInputTokens")
    audio_output_tokens: float | None = Field(default=None, alias="audioOutputTokens")
    source: Literal["reported", "partial", "estimated"] | str | None = None


class ErrorBody(Model):
    op: str
    code: Literal["streaming_not_supported", "invalid_input", "stream_interrupted", "stream_error", "llm_error", "rate_limited", "unavailable", "unauthorized", "forbidden", "not_found", "conflict", "too_large", "timeout", "idle_timeout", "max_rounds_exceeded", "budget_exceeded", "tool_not_found", "tool_invalid_arguments", "tool_failed", "tool_timeout", "tool_denied", "content_blocked", "config_invalid", "plugin_failed", "record_invalid", "journal_failed", "worker_crashed", "shutting_down", "internal"] | str
    err: str
    details: dict[str, Any] | None = None


class ContextCompactedWaited(Model):
    for_: Literal["queue", "providerWait", "providerStream", "providerStall", "failedAttempt", "backoff", "tool", "approval", "hook", "client", "journal", "blocked", "gc", "down", "paused", "runtime"] | str = Field(alias="for")
    name: str | None = None
    from_: float = Field(alias="from")
    ms: float


class ContextCompactedRange(Model):
    messages: int
    session: int


class ContextCompacted(Model):
    type: Literal["context.compacted"] = "context.compacted"
    run: str
    seq: int
    at: float
    waited: list[ContextCompactedWaited] | None = None
    dropped: int
    summary: str | None = None
    range: ContextCompactedRange | None = None
    results: list[str] | None = None
    model: str | None = None
    usage: Usage | None = None
    cost: float | None = None
    error: ErrorBody | None = None


class Timing(Model):
    queue: float | None = None
    provider_wait: float = Field(alias="providerWait")
    provider_stream: float = Field(alias="providerStream")
    provider_stall: float | None = Field(default=None, alias="providerStall")
    failed_attempt: float | None = Field(default=None, alias="failedAttempt")
    retry_wait: float | None = Field(default=None, alias="retryWait")
    tool: float
    approval: float
    hook: float | None = None
    client: float
    journal: float | None = None
    stalled: float | None = None
    gc: float | None = None
    down: float | None = None
    paused: float | None = None
    runtime: float


class DigestInherited(Model):
    usage: Usage
    cost: float | None = None


class DigestFork(Model):
    run: str
    after: int


class Digest(Model):
    run: str
    agent: str
    session: str | None = None
    status: Literal["finished", "failed", "cancelled"] | str
    finish: str | None = None
    code: str | None = None
    cancelled_by: str | None = Field(default=None, alias="cancelledBy")
    started_at: float = Field(alias="startedAt")
    ended_at: float = Field(alias="endedAt")
    ms: float
    timing: Timing
    usage: Usage
    own_usage: Usage | None = Field(default=None, alias="ownUsage")
    inherited: DigestInherited | None = None
    cost: float | None = None
    total_cost: float | None = Field(default=None, alias="totalCost")
    rounds: int
    calls: int
    tools: list[str]
    models: list[str]
    config: str | None = None
    by: str | None = None
    parent: str | None = None
    fork: DigestFork | None = None
    input: str
    output: str


class TextPartNative(Model):
    wire: str
    fields: dict[str, Any]
    translated: list[str] | None = None
    unsent: list[str] | None = None
    within: Literal[True] | None = None


class TextPart(Model):
    type: Literal["text"] = "text"
    text: str
    hash: str | None = None
    size: int | None = None
    signature: str | None = None
    native: TextPartNative | None = None


class ImagePartNative(Model):
    wire: str
    fields: dict[str, Any]
    translated: list[str] | None = None
    unsent: list[str] | None = None
    within: Literal[True] | None = None


class ImagePart(Model):
    type: Literal["image"] = "image"
    media_type: str = Field(alias="mediaType")
    data: str | None = None
    url: str | None = None
    hash: str | None = None
    size: int | None = None
    native: ImagePartNative | None = None


class FilePartNative(Model):
    wire: str
    fields: dict[str, Any]
    translated: list[str] | None = None
    unsent: list[str] | None = None
    within: Literal[True] | None = None


class FilePart(Model):
    type: Literal["file"] = "file"
    media_type: str = Field(alias="mediaType")
    data: str | None = None
    url: str | None = None
    hash: str | None = None
    size: int | None = None
    native: FilePartNative | None = None
    name: str | None = None


class ReasoningPart(Model):
    type: Literal["reasoning"] = "reasoning"
    text: str
    signature: str | None = None
    encrypted: str | None = None
    id: str | None = None


class ToolCallPartNative(Model):
    wire: str
    fields: dict[str, Any]
    translated: list[str] | None = None
    unsent: list[str] | None = None
    within: Literal[True] | None = None


class ToolCallPart(Model):
    type: Literal["tool_call"] = "tool_call"
    call: str
    name: str
    arguments: dict[str, Any]
    raw: str | None = None
    text: str | None = None
    signature: str | None = None
    native: ToolCallPartNative | None = None


class ToolResultPartNative(Model):
    wire: str
    fields: dict[str, Any]
    translated: list[str] | None = None
    unsent: list[str] | None = None
    within: Literal[True] | None = None


class ToolResultPart(Model):
    type: Literal["tool_result"] = "tool_result"
    call: str
    name: str
    ok: bool
    output: str
    hash: str | None = None
    size: int | None = None
    images: list[ImagePart] | None = None
    files: list[FilePart] | None = None
    native: ToolResultPartNative | None = None


class OpaquePart(Model):
    type: Literal["opaque"] = "opaque"
    wire: str
    data: Any


class UnknownPart(Model):
    """Of a type that this version does not know; its fields are in `model_extra`."""

    type: str


_Part_types = frozenset({"text", "image", "file", "reasoning", "tool_call", "tool_result", "opaque"})


def _Part_tag(value: Any) -> str:
    kind = value.get("type") if isinstance(value, dict) else getattr(value, "type", None)
    return kind if kind in _Part_types else "unknown"


Part = Annotated[
    Union[
        Annotated[TextPart, Tag("text")],
        Annotated[ImagePart, Tag("image")],
        Annotated[FilePart, Tag("file")],
        Annotated[ReasoningPart, Tag("reasoning")],
        Annotated[ToolCallPart, Tag("tool_call")],
        Annotated[ToolResultPart, Tag("tool_result")],
        Annotated[OpaquePart, Tag("opaque")],
        Annotated[UnknownPart, Tag("unknown")],
    ],
    Discriminator(_Part_tag),
]


class MessageNative(Model):
    wire: str
    fields: dict[str, Any]
    translated: list[str] | None = None
    unsent: list[str] | None = None
    within: Literal[True] | None = None


class Message(Model):
    role: Literal["system", "user", "assistant", "tool"] | str
    parts: list[Part]
    provider: str | None = None
    native: MessageNative | None = None


class RunInput(Model):
    text: str | None = None
    messages: list[Message] | None = None
    variables: dict[str, Any] | None = None


class RunStartedWaited(Model):
    for_: Literal["queue", "providerWait", "providerStream", "providerStall", "failedAttempt", "backoff", "tool", "approval", "hook", "client", "journal", "blocked", "gc", "down", "paused", "runtime"] | str = Field(alias="for")
    name: str | None = None
    from_: float = Field(alias="from")
    ms: float


class RunStartedSkills(Model):
    name: str
    description: str
    hash: str


class RunStartedParent(Model):
    run: str
    call: str
    depth: float


class RunStartedFork(Model):
    run: str
    after: int


class RunStarted(Model):
    type: Literal["run.started"] = "run.started"
    run: str
    seq: int
    at: float
    waited: list[RunStartedWaited] | None = None
    agent: str
    session: str | None = None
    input: RunInput
    config: str | None = None
    instructions: str | None = None
    skills: list[RunStartedSkills] | None = None
    trace: str | None = None
    parent: RunStartedParent | None = None
    fork: RunStartedFork | None = None
    by: str | None = None
    metadata: dict[str, Any] | None = None


class RoundStartedWaited(Model):
    for_: Literal["queue", "providerWait", "providerStream", "providerStall", "failedAttempt", "backoff", "tool", "approval", "hook", "client", "journal", "blocked", "gc", "down", "paused", "runtime"] | str = Field(alias="for")
    name: str | None = None
    from_: float = Field(alias="from")
    ms: float


class RoundStartedSplit(Model):
    of: str
    chose: str


class RoundStarted(Model):
    type: Literal["round.started"] = "round.started"
    run: str
    seq: int
    at: float
    waited: list[RoundStartedWaited] | None = None
    round: int
    model: str
    provider: str | None = None
    attempt: int
    warnings: list[str] | None = None
    skipped: list[str] | None = None
    reason: str | None = None
    split: RoundStartedSplit | None = None


class TextDeltaWaited(Model):
    for_: Literal["queue", "providerWait", "providerStream", "providerStall", "failedAttempt", "backoff", "tool", "approval", "hook", "client", "journal", "blocked", "gc", "down", "paused", "runtime"] | str = Field(alias="for")
    name: str | None = None
    from_: float = Field(alias="from")
    ms: float


class TextDeltaNative(Model):
    wire: str
    fields: dict[str, Any]
    omitted: list[str] | None = None


class TextDelta(Model):
    type: Literal["text.delta"] = "text.delta"
    run: str
    seq: int
    at: float
    waited: list[TextDeltaWaited] | None = None
    round: int
    text: str
    signature: str | None = None
    native: TextDeltaNative | None = None


class RefusalDeltaWaited(Model):
    for_: Literal["queue", "providerWait", "providerStream", "providerStall", "failedAttempt", "backoff", "tool", "approval", "hook", "client", "journal", "blocked", "gc", "down", "paused", "runtime"] | str = Field(alias="for")
    name: str | None = None
    from_: float = Field(alias="from")
    ms: float


class RefusalDeltaNative(Model):
    wire: str
    fields: dict[str, Any]
    omitted: list[str] | None = None


class RefusalDelta(Model):
    type: Literal["refusal.delta"] = "refusal.delta"
    run: str
    seq: int
    at: float
    waited: list[RefusalDeltaWaited] | None = None
    round: int
    text: str
    native: RefusalDeltaNative | None = None


class ReasoningDeltaWaited(Model):
    for_: Literal["queue", "providerWait", "providerStream", "providerStall", "failedAttempt", "backoff", "tool", "approval", "hook", "client", "journal", "blocked", "gc", "down", "paused", "runtime"] | str = Field(alias="for")
    name: str | None = None
    from_: float = Field(alias="from")
    ms: float


class ReasoningDeltaNative(Model):
    wire: str
    fields: dict[str, Any]
    omitted: list[str] | None = None


class ReasoningDelta(Model):
    type: Literal["reasoning.delta"] = "reasoning.delta"
    run: str
    seq: int
    at: float
    waited: list[ReasoningDeltaWaited] | None = None
    round: int
    text: str
    part: int | None = None
    signature: str | None = None
    encrypted: str | None = None
    id: str | None = None
    native: ReasoningDeltaNative | None = None


class ProviderActivityWaited(Model):
    for_: Literal["queue", "providerWait", "providerStream", "providerStall", "failedAttempt", "backoff", "tool", "approval", "hook", "client", "journal", "blocked", "gc", "down", "paused", "runtime"] | str = Field(alias="for")
    name: str | None = None
    from_: float = Field(alias="from")
    ms: float


class ProviderActivity(Model):
    type: Literal["provider.activity"] = "provider.activity"
    run: str
    seq: int
    at: float
    waited: list[ProviderActivityWaited] | None = None
    round: int
    kind: Literal["server_tool", "citation", "part", "response", "fields"] | str
    wire: str
    data: Any
    keep: bool | None = None
    omitted: list[str] | None = None


class ToolCallStartedWaited(Model):
    for_: Literal["queue", "providerWait", "providerStream", "providerStall", "failedAttempt", "backoff", "tool", "approval", "hook", "client", "journal", "blocked", "gc", "down", "paused", "runtime"] | str = Field(alias="for")
    name: str | None = None
    from_: float = Field(alias="from")
    ms: float


class ToolCallStartedNative(Model):
    wire: str
    fields: dict[str, Any]
    omitted: list[str] | None = None


class ToolCallStarted(Model):
    type: Literal["tool_call.started"] = "tool_call.started"
    run: str
    seq: int
    at: float
    waited: list[ToolCallStartedWaited] | None = None
    round: int
    call: str
    name: str
    index: int
    client: Literal[True] | None = None
    native: ToolCallStartedNative | None = None


class ToolCallDeltaWaited(Model):
    for_: Literal["queue", "providerWait", "providerStream", "providerStall", "failedAttempt", "backoff", "tool", "approval", "hook", "client", "journal", "blocked", "gc", "down", "paused", "runtime"] | str = Field(alias="for")
    name: str | None = None
    from_: float = Field(alias="from")
    ms: float


class ToolCallDelta(Model):
    type: Literal["tool_call.delta"] = "tool_call.delta"
    run: str
    seq: int
    at: float
    waited: list[ToolCallDeltaWaited] | None = None
    round: int
    call: str
    arguments: str


class ToolCallReadyWaited(Model):
    for_: Literal["queue", "providerWait", "providerStream", "providerStall", "failedAttempt", "backoff", "tool", "approval", "hook", "client", "journal", "blocked", "gc", "down", "paused", "runtime"] | str = Field(alias="for")
    name: str | None = None
    from_: float = Field(alias="from")
    ms: float


class ToolCallReady(Model):
    type: Literal["tool_call.ready"] = "tool_call.ready"
    run: str
    seq: int
    at: float
    waited: list[ToolCallReadyWaited] | None = None
    round: int
    call: str
    name: str
    arguments: dict[str, Any]
    text: str | None = None
    signature: str | None = None


class ToolCallRejectedWaited(Model):
    for_: Literal["queue", "providerWait", "providerStream", "providerStall", "failedAttempt", "backoff", "tool", "approval", "hook", "client", "journal", "blocked", "gc", "down", "paused", "runtime"] | str = Field(alias="for")
    name: str | None = None
    from_: float = Field(alias="from")
    ms: float


class ToolCallRejected(Model):
    type: Literal["tool_call.rejected"] = "tool_call.rejected"
    run: str
    seq: int
    at: float
    waited: list[ToolCallRejectedWaited] | None = None
    round: int
    call: str
    name: str
    arguments: str
    error: ErrorBody
    signature: str | None = None


class ToolStartedWaited(Model):
    for_: Literal["queue", "providerWait", "providerStream", "providerStall", "failedAttempt", "backoff", "tool", "approval", "hook", "client", "journal", "blocked", "gc", "down", "paused", "runtime"] | str = Field(alias="for")
    name: str | None = None
    from_: float = Field(alias="from")
    ms: float


class ToolStarted(Model):
    type: Literal["tool.started"] = "tool.started"
    run: str
    seq: int
    at: float
    waited: list[ToolStartedWaited] | None = None
    round: int
    call: str
    name: str
    attempt: int
    idempotency_key: str = Field(alias="idempotencyKey")


class ToolOutputWaited(Model):
    for_: Literal["queue", "providerWait", "providerStream", "providerStall", "failedAttempt", "backoff", "tool", "approval", "hook", "client", "journal", "blocked", "gc", "down", "paused", "runtime"] | str = Field(alias="for")
    name: str | None = None
    from_: float = Field(alias="from")
    ms: float


class ToolOutput(Model):
    type: Literal["tool.output"] = "tool.output"
    run: str
    seq: int
    at: float
    waited: list[ToolOutputWaited] | None = None
    round: int
    call: str
    text: str


class ToolFinishedWaited(Model):
    for_: Literal["queue", "providerWait", "providerStream", "providerStall", "failedAttempt", "backoff", "tool", "approval", "hook", "client", "journal", "blocked", "gc", "down", "paused", "runtime"] | str = Field(alias="for")
    name: str | None = None
    from_: float = Field(alias="from")
    ms: float


class ToolFinishedImages(Model):
    media_type: str = Field(alias="mediaType")
    data: str | None = None
    hash: str | None = None
    size: int | None = None


class ToolFinishedFiles(Model):
    media_type: str = Field(alias="mediaType")
    data: str | None = None
    hash: str | None = None
    size: int | None = None
    name: str | None = None


class ToolFinished(Model):
    type: Literal["tool.finished"] = "tool.finished"
    run: str
    seq: int
    at: float
    waited: list[ToolFinishedWaited] | None = None
    round: int
    call: str
    name: str
    ok: bool
    output: str | None = None
    shown: int | None = None
    hash: str | None = None
    size: int | None = None
    length: int | None = None
    images: list[ToolFinishedImages] | None = None
    files: list[ToolFinishedFiles] | None = None
    error: ErrorBody | None = None
    ms: float
    saved_ms: float | None = Field(default=None, alias="savedMs")
    usage: Usage | None = None
    cost: float | None = None


class QuestionAskedWaited(Model):
    for_: Literal["queue", "providerWait", "providerStream", "providerStall", "failedAttempt", "backoff", "tool", "approval", "hook", "client", "journal", "blocked", "gc", "down", "paused", "runtime"] | str = Field(alias="for")
    name: str | None = None
    from_: float = Field(alias="from")
    ms: float


class QuestionAskedOrigin(Model):
    run: str
    call: str
    agent: str


class QuestionAsked(Model):
    type: Literal["question.asked"] = "question.asked"
    run: str
    seq: int
    at: float
    waited: list[QuestionAskedWaited] | None = None
    round: int
    call: str
    kind: Literal["input", "elicit"] | str
    name: str
    message: str
    schema_: dict[str, Any] | None = Field(default=None, alias="schema")
    choices: list[str] | None = None
    url: str | None = None
    fallback: Any = None
    until: float | None = None
    origin: QuestionAskedOrigin | None = None


class QuestionAnsweredWaited(Model):
    for_: Literal["queue", "providerWait", "providerStream", "providerStall", "failedAttempt", "backoff", "tool", "approval", "hook", "client", "journal", "blocked", "gc", "down", "paused", "runtime"] | str = Field(alias="for")
    name: str | None = None
    from_: float = Field(alias="from")
    ms: float


class QuestionAnswered(Model):
    type: Literal["question.answered"] = "question.answered"
    run: str
    seq: int
    at: float
    waited: list[QuestionAnsweredWaited] | None = None
    round: int
    call: str
    answered: bool
    answer: Any = None
    reason: str | None = None
    by: str | None = None
    signal: int | None = None


class ToolsFoundWaited(Model):
    for_: Literal["queue", "providerWait", "providerStream", "providerStall", "failedAttempt", "backoff", "tool", "approval", "hook", "client", "journal", "blocked", "gc", "down", "paused", "runtime"] | str = Field(alias="for")
    name: str | None = None
    from_: float = Field(alias="from")
    ms: float


class ToolsFound(Model):
    type: Literal["tools.found"] = "tools.found"
    run: str
    seq: int
    at: float
    waited: list[ToolsFoundWaited] | None = None
    round: int
    call: str
    names: list[str]


class GuardDecidedWaited(Model):
    for_: Literal["queue", "providerWait", "providerStream", "providerStall", "failedAttempt", "backoff", "tool", "approval", "hook", "client", "journal", "blocked", "gc", "down", "paused", "runtime"] | str = Field(alias="for")
    name: str | None = None
    from_: float = Field(alias="from")
    ms: float


class GuardDecided(Model):
    type: Literal["guard.decided"] = "guard.decided"
    run: str
    seq: int
    at: float
    waited: list[GuardDecidedWaited] | None = None
    round: int | None = None
    call: str | None = None
    guard: str
    direction: Literal["input", "arguments", "results", "output"] | str
    action: Literal["block", "redact", "ask", "log", "pass"] | str
    rule: str | None = None
    count: int | None = None
    reason: str | None = None


class MessageAddedWaited(Model):
    for_: Literal["queue", "providerWait", "providerStream", "providerStall", "failedAttempt", "backoff", "tool", "approval", "hook", "client", "journal", "blocked", "gc", "down", "paused", "runtime"] | str = Field(alias="for")
    name: str | None = None
    from_: float = Field(alias="from")
    ms: float


class MessageAdded(Model):
    type: Literal["message.added"] = "message.added"
    run: str
    seq: int
    at: float
    waited: list[MessageAddedWaited] | None = None
    message: Message
    by: str | None = None
    signal: int | None = None


class MemoryChangedWaited(Model):
    for_: Literal["queue", "providerWait", "providerStream", "providerStall", "failedAttempt", "backoff", "tool", "approval", "hook", "client", "journal", "blocked", "gc", "down", "paused", "runtime"] | str = Field(alias="for")
    name: str | None = None
    from_: float = Field(alias="from")
    ms: float


class MemoryChangedPatch(Model):
    op: Literal["add", "remove", "replace", "move", "copy", "test"] | str
    path: str
    from_: str | None = Field(default=None, alias="from")
    value: Any = None


class MemoryChanged(Model):
    type: Literal["memory.changed"] = "memory.changed"
    run: str
    seq: int
    at: float
    waited: list[MemoryChangedWaited] | None = None
    round: int
    call: str
    document: str
    scope: Literal["session", "user", "agent"] | str
    owner: str
    version: int
    patch: list[MemoryChangedPatch]
    why: str | None = None
    by: str | None = None


class MemoryRecalledWaited(Model):
    for_: Literal["queue", "providerWait", "providerStream", "providerStall", "failedAttempt", "backoff", "tool", "approval", "hook", "client", "journal", "blocked", "gc", "down", "paused", "runtime"] | str = Field(alias="for")
    name: str | None = None
    from_: float = Field(alias="from")
    ms: float


class MemoryRecalledNotes(Model):
    id: str
    scope: Literal["session", "user", "agent"] | str
    owner: str
    text: str | None = None
    at: float
    score: float


class MemoryRecalled(Model):
    type: Literal["memory.recalled"] = "memory.recalled"
    run: str
    seq: int
    at: float
    waited: list[MemoryRecalledWaited] | None = None
    round: int | None = None
    call: str | None = None
    store: str
    query: str
    notes: list[MemoryRecalledNotes]
    model: str | None = None
    usage: Usage | None = None
    cost: float | None = None
    error: ErrorBody | None = None


class RunPausedWaited(Model):
    for_: Literal["queue", "providerWait", "providerStream", "providerStall", "failedAttempt", "backoff", "tool", "approval", "hook", "client", "journal", "blocked", "gc", "down", "paused", "runtime"] | str = Field(alias="for")
    name: str | None = None
    from_: float = Field(alias="from")
    ms: float


class RunPaused(Model):
    type: Literal["run.paused"] = "run.paused"
    run: str
    seq: int
    at: float
    waited: list[RunPausedWaited] | None = None
    by: str | None = None
    signal: int | None = None
    agent: str | None = None
    reason: str | None = None


class RunContinuedWaited(Model):
    for_: Literal["queue", "providerWait", "providerStream", "providerStall", "failedAttempt", "backoff", "tool", "approval", "hook", "client", "journal", "blocked", "gc", "down", "paused", "runtime"] | str = Field(alias="for")
    name: str | None = None
    from_: float = Field(alias="from")
    ms: float


class RunContinued(Model):
    type: Literal["run.continued"] = "run.continued"
    run: str
    seq: int
    at: float
    waited: list[RunContinuedWaited] | None = None
    by: str | None = None
    signal: int | None = None
    agent: str | None = None


class RunResumedWaited(Model):
    for_: Literal["queue", "providerWait", "providerStream", "providerStall", "failedAttempt", "backoff", "tool", "approval", "hook", "client", "journal", "blocked", "gc", "down", "paused", "runtime"] | str = Field(alias="for")
    name: str | None = None
    from_: float = Field(alias="from")
    ms: float


class RunResumed(Model):
    type: Literal["run.resumed"] = "run.resumed"
    run: str
    seq: int
    at: float
    waited: list[RunResumedWaited] | None = None
    epoch: int
    trace: str | None = None


class GenerationFailedWaited(Model):
    for_: Literal["queue", "providerWait", "providerStream", "providerStall", "failedAttempt", "backoff", "tool", "approval", "hook", "client", "journal", "blocked", "gc", "down", "paused", "runtime"] | str = Field(alias="for")
    name: str | None = None
    from_: float = Field(alias="from")
    ms: float


class GenerationFailedHedged(Model):
    model: str
    attempt: int
    error: ErrorBody | None = None
    usage: Usage | None = None
    cost: float | None = None


class GenerationFailed(Model):
    type: Literal["generation.failed"] = "generation.failed"
    run: str
    seq: int
    at: float
    waited: list[GenerationFailedWaited] | None = None
    round: int
    attempt: int
    model: str
    error: ErrorBody
    usage: Usage | None = None
    cost: float | None = None
    retry_ms: float | None = Field(default=None, alias="retryMs")
    hedged: GenerationFailedHedged | None = None


class RoundRetractedWaited(Model):
    for_: Literal["queue", "providerWait", "providerStream", "providerStall", "failedAttempt", "backoff", "tool", "approval", "hook", "client", "journal", "blocked", "gc", "down", "paused", "runtime"] | str = Field(alias="for")
    name: str | None = None
    from_: float = Field(alias="from")
    ms: float


class RoundRetracted(Model):
    type: Literal["round.retracted"] = "round.retracted"
    run: str
    seq: int
    at: float
    waited: list[RoundRetractedWaited] | None = None
    round: int
    attempt: int
    reason: str


class GenerationFinishedWaited(Model):
    for_: Literal["queue", "providerWait", "providerStream", "providerStall", "failedAttempt", "backoff", "tool", "approval", "hook", "client", "journal", "blocked", "gc", "down", "paused", "runtime"] | str = Field(alias="for")
    name: str | None = None
    from_: float = Field(alias="from")
    ms: float


class GenerationFinishedHedged(Model):
    model: str
    attempt: int
    error: ErrorBody | None = None
    usage: Usage | None = None
    cost: float | None = None


class GenerationFinishedNative(Model):
    wire: str
    fields: dict[str, Any]
    omitted: list[str] | None = None


class GenerationFinished(Model):
    type: Literal["generation.finished"] = "generation.finished"
    run: str
    seq: int
    at: float
    waited: list[GenerationFinishedWaited] | None = None
    round: int
    attempt: int
    finish: str
    raw: str | None = None
    usage: Usage
    cost: float | None = None
    hedged: GenerationFinishedHedged | None = None
    cached: Literal[True] | None = None
    response_id: str | None = Field(default=None, alias="responseId")
    response_model: str | None = Field(default=None, alias="responseModel")
    native: GenerationFinishedNative | None = None


class RoundFinishedWaited(Model):
    for_: Literal["queue", "providerWait", "providerStream", "providerStall", "failedAttempt", "backoff", "tool", "approval", "hook", "client", "journal", "blocked", "gc", "down", "paused", "runtime"] | str = Field(alias="for")
    name: str | None = None
    from_: float = Field(alias="from")
    ms: float


class RoundFinished(Model):
    type: Literal["round.finished"] = "round.finished"
    run: str
    seq: int
    at: float
    waited: list[RoundFinishedWaited] | None = None
    round: int
    finish: str
    usage: Usage


class PendingCall(Model):
    call: str
    name: str
    arguments: dict[str, Any]
    raw: str | None = None
    text: str | None = None


class SpentItem(Model):
    by: Literal["generation", "failed", "tool", "compaction", "recall"] | str
    name: str
    count: int
    usage: Usage
    cost: float | None = None


Spent = list[SpentItem]


class RunFinishedWaited(Model):
    for_: Literal["queue", "providerWait", "providerStream", "providerStall", "failedAttempt", "backoff", "tool", "approval", "hook", "client", "journal", "blocked", "gc", "down", "paused", "runtime"] | str = Field(alias="for")
    name: str | None = None
    from_: float = Field(alias="from")
    ms: float


class RunFinishedInherited(Model):
    usage: Usage
    spent: Spent
    cost: float | None = None
    total_cost: float | None = Field(default=None, alias="totalCost")


class RunFinished(Model):
    type: Literal["run.finished"] = "run.finished"
    run: str
    seq: int
    at: float
    waited: list[RunFinishedWaited] | None = None
    finish: str
    output: str
    object: Any = None
    calls: list[PendingCall] | None = None
    usage: Usage
    cost: float | None = None
    total_cost: float | None = Field(default=None, alias="totalCost")
    spent: Spent | None = None
    inherited: RunFinishedInherited | None = None
    rounds: int
    timing: Timing


class RunFailedWaited(Model):
    for_: Literal["queue", "providerWait", "providerStream", "providerStall", "failedAttempt", "backoff", "tool", "approval", "hook", "client", "journal", "blocked", "gc", "down", "paused", "runtime"] | str = Field(alias="for")
    name: str | None = None
    from_: float = Field(alias="from")
    ms: float


class RunFailedInherited(Model):
    usage: Usage
    spent: Spent
    cost: float | None = None
    total_cost: float | None = Field(default=None, alias="totalCost")


class RunFailed(Model):
    type: Literal["run.failed"] = "run.failed"
    run: str
    seq: int
    at: float
    waited: list[RunFailedWaited] | None = None
    error: ErrorBody
    output: str
    usage: Usage
    cost: float | None = None
    total_cost: float | None = Field(default=None, alias="totalCost")
    spent: Spent | None = None
    inherited: RunFailedInherited | None = None
    rounds: int
    timing: Timing


class UnknownEvent(Model):
    """Of a type that this version does not know; its fields are in `model_extra`."""

    type: str
    run: str
    seq: int
    at: float


_RunEvent_types = frozenset({"run.started", "round.started", "text.delta", "refusal.delta", "reasoning.delta", "provider.activity", "tool_call.started", "tool_call.delta", "tool_call.ready", "tool_call.rejected", "tool.started", "tool.output", "tool.finished", "approval.requested", "approval.resolved", "question.asked", "question.answered", "tools.found", "agent.changed", "budget.warned", "budget.exceeded", "guard.decided", "agent.revised", "message.added", "context.compacted", "memory.changed", "memory.recalled", "run.paused", "run.continued", "run.resumed", "generation.failed", "round.retracted", "generation.finished", "round.finished", "run.finished", "run.failed"})


def _RunEvent_tag(value: Any) -> str:
    kind = value.get("type") if isinstance(value, dict) else getattr(value, "type", None)
    return kind if kind in _RunEvent_types else "unknown"


RunEvent = Annotated[
    Union[
        Annotated[RunStarted, Tag("run.started")],
        Annotated[RoundStarted, Tag("round.started")],
        Annotated[TextDelta, Tag("text.delta")],
        Annotated[RefusalDelta, Tag("refusal.delta")],
        Annotated[ReasoningDelta, Tag("reasoning.delta")],
        Annotated[ProviderActivity, Tag("provider.activity")],
        Annotated[ToolCallStarted, Tag("tool_call.started")],
        Annotated[ToolCallDelta, Tag("tool_call.delta")],
        Annotated[ToolCallReady, Tag("tool_call.ready")],
        Annotated[ToolCallRejected, Tag("tool_call.rejected")],
        Annotated[ToolStarted, Tag("tool.started")],
        Annotated[ToolOutput, Tag("tool.output")],
        Annotated[ToolFinished, Tag("tool.finished")],
        Annotated[ApprovalRequested, Tag("approval.requested")],
        Annotated[ApprovalResolved, Tag("approval.resolved")],
        Annotated[QuestionAsked, Tag("question.asked")],
        Annotated[QuestionAnswered, Tag("question.answered")],
        Annotated[ToolsFound, Tag("tools.found")],
        Annotated[AgentChanged, Tag("agent.changed")],
        Annotated[BudgetWarned, Tag("budget.warned")],
        Annotated[BudgetExceeded, Tag("budget.exceeded")],
        Annotated[GuardDecided, Tag("guard.decided")],
        Annotated[AgentRevised, Tag("agent.revised")],
        Annotated[MessageAdded, Tag("message.added")],
        Annotated[ContextCompacted, Tag("context.compacted")],
        Annotated[MemoryChanged, Tag("memory.changed")],
        Annotated[MemoryRecalled, Tag("memory.recalled")],
        Annotated[RunPaused, Tag("run.paused")],
        Annotated[RunContinued, Tag("run.continued")],
        Annotated[RunResumed, Tag("run.resumed")],
        Annotated[GenerationFailed, Tag("generation.failed")],
        Annotated[RoundRetracted, Tag("round.retracted")],
        Annotated[GenerationFinished, Tag("generation.finished")],
        Annotated[RoundFinished, Tag("round.finished")],
        Annotated[RunFinished, Tag("run.finished")],
        Annotated[RunFailed, Tag("run.failed")],
        Annotated[UnknownEvent, Tag("unknown")],
    ],
    Discriminator(_RunEvent_tag),
]


class EventPage(Model):
    run: str
    status: Literal["ready", "running", "waiting", "stranded", "finished", "failed", "cancelled"] | str
    head: int
    events: list[RunEvent]
    next: int | None = None


class Failure(Model):
    error: ErrorBody


class FeedApprovalRequested(Model):
    type: Literal["approval.requested"] = "approval.requested"
    run: str
    agent: str
    at: float
    call: str
    name: str
    until: float | None = None


class FeedApprovalResolved(Model):
    type: Literal["approval.resolved"] = "approval.resolved"
    run: str
    agent: str
    at: float
    call: str
    approved: bool | None = None


class FeedGap(Model):
    type: Literal["feed.gap"] = "feed.gap"
    at: float


class FeedOpened(Model):
    type: Literal["feed.opened"] = "feed.opened"
    at: float


class FeedRunStarted(Model):
    type: Literal["run.started"] = "run.started"
    run: str
    agent: str
    at: float
    session: str | None = None
    parent: str | None = None
    by: str | None = None
    input: str


class FeedRoundStarted(Model):
    type: Literal["round.started"] = "round.started"
    run: str
    agent: str
    at: float
    round: int
    model: str
    attempt: int


class FeedQuestionAsked(Model):
    type: Literal["question.asked"] = "question.asked"
    run: str
    agent: str
    at: float
    call: str
    name: str
    until: float | None = None


class FeedQuestionAnswered(Model):
    type: Literal["question.answered"] = "question.answered"
    run: str
    agent: str
    at: float
    call: str
    answered: bool | None = None


class FeedRunFinished(Model):
    type: Literal["run.finished"] = "run.finished"
    run: str
    agent: str
    at: float
    digest: Digest


class FeedRunFailed(Model):
    type: Literal["run.failed"] = "run.failed"
    run: str
    agent: str
    at: float
    digest: Digest


class FeedTickRuns(Model):
    run: str
    tokens: int
    part: Literal["providerWait", "providerStream", "retryWait", "tool", "approval", "runtime"] | str


class FeedTick(Model):
    type: Literal["tick"] = "tick"
    at: float
    runs: list[FeedTickRuns]


class UnknownFeedItem(Model):
    """Of a type that this version does not know; its fields are in `model_extra`."""

    type: str
    at: float


_FeedItem_types = frozenset({"feed.opened", "feed.gap", "run.started", "round.started", "approval.requested", "approval.resolved", "question.asked", "question.answered", "run.finished", "run.failed", "tick"})


def _FeedItem_tag(value: Any) -> str:
    kind = value.get("type") if isinstance(value, dict) else getattr(value, "type", None)
    return kind if kind in _FeedItem_types else "unknown"


FeedItem = Annotated[
    Union[
        Annotated[FeedOpened, Tag("feed.opened")],
        Annotated[FeedGap, Tag("feed.gap")],
        Annotated[FeedRunStarted, Tag("run.started")],
        Annotated[FeedRoundStarted, Tag("round.started")],
        Annotated[FeedApprovalRequested, Tag("approval.requested")],
        Annotated[FeedApprovalResolved, Tag("approval.resolved")],
        Annotated[FeedQuestionAsked, Tag("question.asked")],
        Annotated[FeedQuestionAnswered, Tag("question.answered")],
        Annotated[FeedRunFinished, Tag("run.finished")],
        Annotated[FeedRunFailed, Tag("run.failed")],
        Annotated[FeedTick, Tag("tick")],
        Annotated[UnknownFeedItem, Tag("unknown")],
    ],
    Discriminator(_FeedItem_tag),
]


class Feedback(Model):
    score: float | None = None
    label: str | None = None
    comment: str | None = None
    by: str
    seq: int | None = None
    at: float
    key: str | None = None


class ForkRequestEdit(Model):
    call: str
    output: str
    ok: bool | None = None


class ForkRequestOptionsReasoning(Model):
    """Reasoning before the answer, if the model supports it."""

    effort: Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"] | str | None = None
    budget: int | None = None


class ForkRequestOptions(Model):
    temperature: float | None = None
    top_p: float | None = Field(default=None, alias="topP")
    max_tokens: int | None = Field(default=None, alias="maxTokens")
    stop: list[str] | None = None
    seed: int | None = None
    reasoning: ForkRequestOptionsReasoning | None = None


class ForkRequestUnansweredAgent(Model):
    agent: str


class ForkRequestUnansweredModule(Model):
    module: str


class ForkRequest(Model):
    after: int
    input: str | RunInput | None = None
    agent: str | None = None
    edit: list[ForkRequestEdit] | None = None
    model: str | None = None
    instructions: str | None = None
    options: ForkRequestOptions | None = None
    tools: Literal["recorded", "run", "ask"] | str | None = None
    unanswered: Literal["ask", "fail", "run"] | str | ForkRequestUnansweredAgent | ForkRequestUnansweredModule | None = None
    session: str | None = None


class GivenFeedback(Model):
    score: float | None = None
    label: str | None = None
    comment: str | None = None
    by: str | None = None
    seq: int | None = None


class MeView(Model):
    id: str
    tenant: str
    tenants: Literal["all"] | None = None
    act: Literal["all"] | None = None
    agents: list[str] | None = None
    may: list[Literal["start", "see", "steer", "inspect", "approve", "metrics", "schedule"] | str]


class PromptTools(Model):
    name: str
    description: str
    parameters: dict[str, Any]


class Prompt(Model):
    round: int
    attempt: int
    seq: int
    model: str
    exact: bool
    notes: list[str]
    messages: list[Message]
    tools: list[PromptTools]
    options: dict[str, Any]
    tool_choice: Any = Field(default=None, alias="toolChoice")
    output: Any = None


class QuestionShow(Model):
    name: str
    value: str


class QuestionOrigin(Model):
    """the called run whose question this is"""

    run: str
    call: str
    agent: str


class Question(Model):
    kind: Literal["approve", "input", "elicit"] | str
    call: str
    name: str
    arguments: dict[str, Any]
    reason: str | None = None
    show: list[QuestionShow] | None = None
    message: str | None = None
    schema_: dict[str, Any] | None = Field(default=None, alias="schema")
    choices: list[str] | None = None
    url: str | None = None
    fallback: Any = None
    since: float
    until: float | None = None
    origin: QuestionOrigin | None = None


class RunView(Model):
    run: str
    status: Literal["ready", "running", "waiting", "stranded", "finished", "failed", "cancelled"] | str
    tenant: str | None = None
    agent: str | None = None
    session: str | None = None
    created_at: float | None = Field(default=None, alias="createdAt")
    updated_at: float | None = Field(default=None, alias="updatedAt")
    head: int | None = None
    metadata: dict[str, Any] | None = None
    finish: str | None = None
    output: str | None = None
    object: Any = None
    calls: list[PendingCall] | None = None
    usage: Usage | None = None
    cost: float | None = None
    total_cost: float | None = Field(default=None, alias="totalCost")
    rounds: int | None = None
    timing: Timing | None = None
    error: ErrorBody | None = None
    asked: str | None = None
    digest: Digest | None = None
    pending: list[Question] | None = None


class ServiceViewRevision(Model):
    hash: str
    file: str | None = None
    runs: int
    runs_on_old: int = Field(alias="runsOnOld")


class ServiceViewJournal(Model):
    type: str
    digests: bool
    ping_ms: float | None = Field(default=None, alias="pingMs")


class ServiceViewEventLoop(Model):
    blocked_ms: float = Field(alias="blockedMs")
    longest_ms: float = Field(alias="longestMs")


class ServiceViewRuns(Model):
    active: int
    followers: int


class ServiceViewBacklogUnexecutable(Model):
    agent: str
    runs: int


class ServiceViewBacklog(Model):
    ready: int
    running: int
    waiting: int
    unexecutable: list[ServiceViewBacklogUnexecutable]


class ServiceViewProcesses(Model):
    number: int
    pid: int
    status: str
    started_at: float = Field(alias="startedAt")
    restarts: int
    runs: int | None = None


class ServiceViewReplicasWorkers(Model):
    name: str
    pid: int | None = None
    silent_ms: float = Field(alias="silentMs")
    runs: int
    own: bool
    alive: bool


class ServiceViewReplicas(Model):
    known: bool
    workers: list[ServiceViewReplicasWorkers]


class ServiceViewProvidersOpen(Model):
    model: str | None = None
    state: Literal["closed", "open", "half-open"] | str
    left_ms: float = Field(alias="leftMs")
    tenants: int | None = None


class ServiceViewProvidersLastError(Model):
    at: float
    code: str
    err: str


class ServiceViewProviders(Model):
    name: str
    type: str
    breaker: Literal["closed", "open", "half-open"] | str
    left_ms: float = Field(alias="leftMs")
    open: list[ServiceViewProvidersOpen] | None = None
    last_error: ServiceViewProvidersLastError | None = Field(default=None, alias="lastError")


class ServiceViewModels(Model):
    name: str
    chain: list[str]


class ServiceViewTools(Model):
    name: str
    description: str
    effect: Literal["pure", "idempotent", "effectful"] | str
    approval: str
    agents: list[str]


class ServiceViewChannels(Model):
    name: str
    type: str


class ServiceView(Model):
    version: str
    node: str
    process: int
    started_at: float = Field(alias="startedAt")
    uptime_ms: float = Field(alias="uptimeMs")
    ready: bool
    reason: str | None = None
    revision: ServiceViewRevision
    journal: ServiceViewJournal
    event_loop: ServiceViewEventLoop = Field(alias="eventLoop")
    runs: ServiceViewRuns
    backlog: ServiceViewBacklog | None = None
    processes: list[ServiceViewProcesses]
    replicas: ServiceViewReplicas
    agents: list[str]
    providers: list[ServiceViewProviders]
    models: list[ServiceViewModels]
    tools: list[ServiceViewTools]
    channels: list[ServiceViewChannels]
    plugins: list[str]
    config: str | None = None


class SessionView(Model):
    session: str
    tenant: str
    updated_at: float = Field(alias="updatedAt")
    last: RunView


class StartRequestNotify(Model):
    """webhook to notify about this run, at another URL if its configuration allows that host"""

    webhook: str
    url: str | None = None


class StartRequestOptionsReasoning(Model):
    """Reasoning before the answer, if the model supports it."""

    effort: Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"] | str | None = None
    budget: int | None = None


class StartRequestOptions(Model):
    """generation options, merged over the agent's; null takes one back"""

    temperature: float | None = None
    top_p: float | None = Field(default=None, alias="topP")
    max_tokens: int | None = Field(default=None, alias="maxTokens")
    stop: list[str] | None = None
    seed: int | None = None
    reasoning: StartRequestOptionsReasoning | None = None


class StartRequestTools(Model):
    name: str
    description: str | None = None
    parameters: dict[str, Any] | None = None


class StartRequestToolChoice(Model):
    name: str


class StartRequest(Model):
    agent: str
    input: str | RunInput
    session: str | None = None
    metadata: dict[str, Any] | None = None
    limits: dict[str, Any] | None = None
    notify: StartRequestNotify | None = None
    model: str | None = None
    options: StartRequestOptions | None = None
    tools: list[StartRequestTools] | None = None
    tool_choice: Literal["auto", "none", "required"] | str | StartRequestToolChoice | None = Field(default=None, alias="toolChoice")
    debug: bool | None = None


class TotalsViewAll(Model):
    runs: int
    failed: int
    cancelled: int
    p50: float
    p95: float
    input_tokens: float = Field(alias="inputTokens")
    output_tokens: float = Field(alias="outputTokens")
    cost: float | None = None


class TotalsViewGroups(Model):
    name: str
    runs: int
    failed: int
    cancelled: int
    p50: float
    p95: float
    input_tokens: float = Field(alias="inputTokens")
    output_tokens: float = Field(alias="outputTokens")
    cost: float | None = None


class TotalsViewTimes(Model):
    at: float
    runs: int
    failed: int


class TotalsView(Model):
    all: TotalsViewAll
    groups: list[TotalsViewGroups]
    times: list[TotalsViewTimes]
    complete: bool


class TurnView(Model):
    run: str
    status: Literal["ready", "running", "waiting", "stranded", "finished", "failed", "cancelled"] | str
    tenant: str | None = None
    agent: str | None = None
    session: str | None = None
    created_at: float | None = Field(default=None, alias="createdAt")
    updated_at: float | None = Field(default=None, alias="updatedAt")
    head: int | None = None
    metadata: dict[str, Any] | None = None
    finish: str | None = None
    output: str | None = None
    object: Any = None
    calls: list[PendingCall] | None = None
    usage: Usage | None = None
    cost: float | None = None
    total_cost: float | None = Field(default=None, alias="totalCost")
    rounds: int | None = None
    timing: Timing | None = None
    error: ErrorBody | None = None
    asked: str | None = None
    digest: Digest | None = None
    pending: list[Question] | None = None
    input: RunInput


class UsageReportRows(Model):
    day: str | None = None
    tenant: str | None = None
    agent: str | None = None
    model: str | None = None
    key: str | None = None
    user: str | None = None
    generations: int
    failed: int
    unpriced: int
    cost: float | None = None
    input_tokens: float = Field(alias="inputTokens")
    output_tokens: float = Field(alias="outputTokens")
    cache_read_tokens: float = Field(alias="cacheReadTokens")
    cache_write_tokens: float = Field(alias="cacheWriteTokens")
    reasoning_tokens: float = Field(alias="reasoningTokens")


class UsageReportTotal(Model):
    generations: int
    failed: int
    unpriced: int
    cost: float | None = None
    input_tokens: float = Field(alias="inputTokens")
    output_tokens: float = Field(alias="outputTokens")
    cache_read_tokens: float = Field(alias="cacheReadTokens")
    cache_write_tokens: float = Field(alias="cacheWriteTokens")
    reasoning_tokens: float = Field(alias="reasoningTokens")


class UsageReport(Model):
    by: list[Literal["day", "tenant", "agent", "model", "key", "user"] | str]
    since: str | None = None
    until: str | None = None
    rows: list[UsageReportRows]
    total: UsageReportTotal
