"""What the sync and the async client share. Does no I/O."""

from __future__ import annotations

import codecs
import json
import random
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from pydantic import BaseModel, TypeAdapter

from ._errors import VenturiError
from .models import FeedItem, ForkRequest, RunEvent, RunFailed, RunFinished, RunInput, StartRequest

EVENT: TypeAdapter[RunEvent] = TypeAdapter(RunEvent)
FEED_ITEM: TypeAdapter[FeedItem] = TypeAdapter(FeedItem)


@dataclass(frozen=True)
class Retry:
    """Tries of one request, and the waits between them in seconds: the first doubles up to the longest."""

    attempts: int = 4
    first: float = 0.25
    longest: float = 10.0

    def wait(self, failures: int, retry_after: float | None) -> float:
        # Shortened at random by up to a half, so that the clients of a restarted service do not return all at once.
        wait = min(self.longest, self.first * 2.0 ** min(failures - 1, 30)) * (1 - random.random() / 2)
        return max(wait, retry_after or 0.0)


@dataclass(frozen=True)
class Call:
    """One request."""

    op: str
    path: str
    method: str = "GET"
    params: Mapping[str, Any] = field(default_factory=dict)
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    #: Whether doing it twice is the same as once. If not, it is repeated only when the service refused it.
    repeatable: bool = True

    def may_repeat(self, error: VenturiError) -> bool:
        refused = error.status > 0 and error.code in ("rate_limited", "unavailable", "shutting_down")
        return refused or (self.repeatable and error.retryable)


def start_call(request: StartRequest, key: str | None) -> Call:
    # With a key of its own the request can be repeated: the service starts it once.
    headers = {"prefer": "respond-async", "idempotency-key": key or str(uuid.uuid4())}
    return Call("run.start", "/v1/runs", "POST", body=dump(request), headers=headers)


def session_path(session: str) -> str:
    return f"/v1/sessions/{quote(session, safe='')}"


def run_path(run: str, rest: str = "") -> str:
    return f"/v1/runs/{quote(run, safe='')}{rest}"


def events_call(run: str, after: int) -> Call:
    return Call("run.follow", run_path(run, "/events"), headers={"last-event-id": str(after)})


def page_call(run: str, after: int, limit: int | None, steps: bool) -> Call:
    params = given(after=after, limit=limit, steps=1 if steps else None)
    return Call("run.events", run_path(run, "/events"), params=params, headers={"accept": "application/json"})


def answer_call(run: str, call: str, body: Mapping[str, Any]) -> Call:
    op = "run.approve" if body["approved"] else "run.deny"
    return Call(op, run_path(run, f"/approvals/{quote(call, safe='')}"), "POST", body=body, repeatable=False)


def question_call(run: str, call: str, body: Mapping[str, Any]) -> Call:
    op = "run.decline" if body.get("decline") else "run.answer"
    return Call(op, run_path(run, f"/questions/{quote(call, safe='')}"), "POST", body=body, repeatable=False)


def steer_call(run: str, text: str) -> Call:
    return Call("run.steer", run_path(run, "/messages"), "POST", body={"text": text}, repeatable=False)


def pause_call(run: str, reason: str | None) -> Call:
    return Call("run.pause", run_path(run, "/pause"), "POST", body=given(reason=reason))


def resume_call(run: str) -> Call:
    return Call("run.resume", run_path(run, "/resume"), "POST", body={})


def agent_call(agent: str, action: str, body: Mapping[str, Any]) -> Call:
    return Call(f"agent.{action}", f"/v1/agents/{quote(agent, safe='')}/{action}", "POST", body=body)


def cancel_call(run: str, reason: str | None) -> Call:
    return Call("run.cancel", run_path(run, "/cancel"), "POST", body=given(reason=reason))


def fork_call(run: str, request: ForkRequest) -> Call:
    return Call("run.fork", run_path(run, "/fork"), "POST", body=dump(request), repeatable=False)


def feedback_call(run: str, body: Mapping[str, Any] | None = None) -> Call:
    return Call("run.feedback", run_path(run, "/feedback"), "GET" if body is None else "POST", body=body)


def request_of(agent: str, input: str | RunInput, settings: Mapping[str, Any]) -> StartRequest:
    return StartRequest(agent=agent, input=input, **given(**settings))


def dump(model: BaseModel) -> dict[str, Any]:
    # Unset fields stay away; a None that was set is sent, since it takes an option back.
    return model.model_dump(mode="json", by_alias=True, exclude_unset=True)


def given(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


class Frames:
    """Reads an event stream, however the network cut it."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        # Of an unfinished frame. Kept apart, so that a large one takes linear time.
        self._pieces: list[str] = []
        self._last = ""

    def feed(self, data: bytes) -> list[Any]:
        text = self._decoder.decode(data)
        self._pieces.append(text)
        is_end = "\n\n" in self._last + text
        self._last = text[-1:] or self._last
        if not is_end:
            return []
        *frames, rest = "".join(self._pieces).split("\n\n")
        self._pieces = [rest]
        self._last = rest[-1:]
        items = []
        for frame in frames:
            lines = frame.split("\n")
            text = "".join(line[5:] for line in lines if line.startswith("data:"))
            if text and "event: heartbeat" not in lines:
                items.append(json.loads(text))
        return items


#: Wrong answers at one position after which more of them are not expected to help.
MOST_FAULTS = 5


class Position:
    """Where a reader of a run is: lets each event pass once, in order."""

    def __init__(self, after: int) -> None:
        self.seq = after
        self.ended = False
        self._faults = 0

    def fresh(self, items: Sequence[Any]) -> list[RunEvent]:
        """Events that are new. Stops before a gap; ``check`` then raises."""
        events: list[RunEvent] = []
        for item in items:
            seq = item["seq"]
            if seq <= self.seq or self.ended:
                continue
            if seq != self.seq + 1:
                self._missing = True
                break
            event = EVENT.validate_python(item)
            self.seq = seq
            self._faults = 0
            self.ended = isinstance(event, (RunFinished, RunFailed))
            events.append(event)
        return events

    _missing = False

    def check(self) -> None:
        if not self._missing:
            return
        self._missing = False
        self._faults += 1
        code = "stream_error" if self._faults < MOST_FAULTS else "record_invalid"
        raise VenturiError("run.follow", code, f"the service did not send event {self.seq + 1}")


class Failures:
    """Counts failed tries of following; raises what will not pass."""

    def __init__(self, retry: Retry, attempts: int | None) -> None:
        self._retry = retry
        self._attempts = attempts
        self._count = 0

    def progress(self) -> None:
        self._count = 0

    def wait(self, error: VenturiError) -> float:
        self._count += 1
        if not error.retryable or (self._attempts is not None and self._count >= self._attempts):
            raise error
        return self._retry.wait(self._count, error.retry_after)


def cut(op: str) -> VenturiError:
    return VenturiError(op, "stream_error", "the stream ended before the run")


def result_of(event: RunEvent | None) -> RunFinished:
    if isinstance(event, RunFinished):
        return event
    if isinstance(event, RunFailed):
        error = event.error
        raise VenturiError(error.op, error.code, error.err, details=error.details)
    raise VenturiError("run.follow", "not_found", "the run had ended before the event given as after")
