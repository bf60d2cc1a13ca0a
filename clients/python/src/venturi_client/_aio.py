from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from types import TracebackType
from typing import Any, Literal

import httpx

from . import _protocol as protocol
from ._errors import VenturiError, error_of
from ._protocol import Call, Retry
from ._sync import _told
from .models import (
    AgentView,
    Approval,
    EventPage,
    Feedback,
    FeedItem,
    ForkRequest,
    MeView,
    RunEvent,
    RunFinished,
    RunInput,
    RunView,
    SessionView,
    TurnView,
)

Key = str | Callable[[], str | Awaitable[str]]


class AsyncVenturiClient:
    """Starts, follows and steers runs. ``http`` takes an httpx client of yours, with its own limits, proxies and certificates."""

    def __init__(
        self,
        url: str = "http://127.0.0.1:7070",
        *,
        key: Key | None = None,
        retry: Retry | None = None,
        idle: float = 45.0,
        http: httpx.AsyncClient | None = None,
    ) -> None:
        self._url = url.rstrip("/")
        self._key = key
        self._retry = retry or Retry()
        self._idle = idle
        self._owned = http is None
        self._http = http or httpx.AsyncClient()

    async def __aenter__(self) -> AsyncVenturiClient:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        if self._owned:
            await self._http.aclose()

    async def start(
        self,
        agent: str,
        input: str | RunInput,
        *,
        session: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        limits: Mapping[str, Any] | None = None,
        model: str | None = None,
        options: Mapping[str, Any] | None = None,
        tools: Sequence[Mapping[str, Any]] | None = None,
        tool_choice: str | Mapping[str, Any] | None = None,
        key: str | None = None,
    ) -> AsyncRun:
        """Starts a run once, however often the request has to be repeated."""
        settings = {
            "session": session,
            "metadata": metadata,
            "limits": limits,
            "model": model,
            "options": options,
            "tools": tools,
            "tool_choice": tool_choice,
        }
        answer = await self.request(protocol.start_call(protocol.request_of(agent, input, settings), key))
        return self.run(answer["run"])

    def run(self, id: str) -> AsyncRun:
        """A run that exists. Asks nothing."""
        return AsyncRun(self, id)

    async def runs(
        self,
        *,
        agent: str | None = None,
        session: str | None = None,
        status: str | None = None,
        q: str | None = None,
        since: float | str | None = None,
        until: float | str | None = None,
        cursor: str | None = None,
        limit: int | None = None,
        **filters: str | float,
    ) -> tuple[list[RunView], str | None]:
        """One page, newest first, and the cursor of the next. ``filters``: tool, model, code, min, key, label, minScore."""
        params = protocol.given(
            agent=agent, session=session, status=status, q=q, since=since, until=until, cursor=cursor, limit=limit
        )
        params.update(filters)
        answer = await self.request(Call("run.list", "/v1/runs", params=params))
        return [RunView.model_validate(row) for row in answer["runs"]], answer.get("cursor")

    async def sessions(
        self,
        *,
        q: str | None = None,
        agent: str | None = None,
        cursor: str | None = None,
        limit: int | None = None,
    ) -> tuple[list[SessionView], str | None]:
        """Conversations, the one with the newest run first, and the cursor of the next page."""
        params = protocol.given(q=q, agent=agent, cursor=cursor, limit=limit)
        answer = await self.request(Call("session.list", "/v1/sessions", params=params))
        return [SessionView.model_validate(row) for row in answer["sessions"]], answer.get("cursor")

    async def remove_session(self, id: str) -> list[str]:
        """Erases an ended conversation: all its runs, which it names."""
        call = Call("session.remove", protocol.session_path(id), "DELETE", repeatable=False)
        removed: list[str] = (await self.request(call))["removed"]
        return removed

    async def me(self) -> MeView:
        """Whose key this is, and what it may do."""
        return MeView.model_validate(await self.request(Call("key.get", "/v1/me")))

    async def session(
        self, id: str, *, cursor: str | None = None, limit: int | None = None
    ) -> tuple[list[TurnView], str | None]:
        """The session's turns, oldest first, and the cursor of the next page."""
        params = protocol.given(cursor=cursor, limit=limit)
        answer = await self.request(Call("session.get", protocol.session_path(id), params=params))
        return [TurnView.model_validate(row) for row in answer["runs"]], answer.get("cursor")

    async def approvals(
        self, *, agent: str | None = None, cursor: str | None = None, limit: int | None = None
    ) -> tuple[list[Approval], str | None]:
        """Questions that wait for a person, oldest run first, and the cursor of the next page."""
        params = protocol.given(agent=agent, cursor=cursor, limit=limit)
        answer = await self.request(Call("approval.list", "/v1/approvals", params=params))
        return [Approval.model_validate(row) for row in answer["approvals"]], answer.get("cursor")

    async def agents(self) -> list[AgentView]:
        answer = await self.request(Call("agent.list", "/v1/agents"))
        return [AgentView.model_validate(row) for row in answer["agents"]]

    async def pause_agent(self, agent: str, *, reason: str | None = None) -> bool:
        """All runs of the agent, also later ones, finish their round and wait. False when it is paused already."""
        call = protocol.agent_call(agent, "pause", protocol.given(reason=reason))
        return bool((await self.request(call))["changed"])

    async def resume_agent(self, agent: str) -> bool:
        """False when it is not paused."""
        return bool((await self.request(protocol.agent_call(agent, "resume", {})))["changed"])

    async def feed(self, *, agent: str | None = None, attempts: int | None = None) -> AsyncGenerator[FeedItem, None]:
        """What happens in all runs. After a break nothing is repeated: list the runs when ``feed.opened`` comes."""
        call = Call("run.feed", "/v1/feed", params=protocol.given(agent=agent))
        failures = protocol.Failures(self._retry, attempts)
        while True:
            try:
                async for items in self.stream(call):
                    failures.progress()
                    for item in items:
                        yield protocol.FEED_ITEM.validate_python(item)
                error = VenturiError(call.op, "stream_error", "the feed ended")
            except VenturiError as thrown:
                error = thrown
            await asyncio.sleep(failures.wait(error))

    async def request(self, call: Call) -> Any:
        """Any JSON endpoint, with this client's key, retries and errors."""
        failures = 0
        while True:
            try:
                return await self._once(call)
            except VenturiError as error:
                failures += 1
                if failures >= self._retry.attempts or not call.may_repeat(error):
                    raise
                await asyncio.sleep(self._retry.wait(failures, error.retry_after))

    async def stream(self, call: Call) -> AsyncGenerator[list[Any], None]:
        """One connection to an event stream; not repeated."""
        frames = protocol.Frames()
        with _told(call.op, "stream_error"):
            async with self._http.stream(
                call.method,
                self._url + call.path,
                params=dict(call.params),
                headers={"accept": "text/event-stream", **(await self._headers()), **call.headers},
                timeout=httpx.Timeout(self._idle, connect=10.0),
            ) as response:
                if response.is_error:
                    await response.aread()
                    raise error_of(
                        call.op, response.status_code, response.content, response.headers.get("retry-after")
                    )
                async for data in response.aiter_bytes():
                    items = frames.feed(data)
                    if items:
                        yield items

    async def _once(self, call: Call) -> Any:
        with _told(call.op, "unavailable"):
            response = await self._http.request(
                call.method,
                self._url + call.path,
                params=dict(call.params),
                headers={**(await self._headers()), **call.headers},
                json=call.body,
                timeout=httpx.Timeout(60.0, connect=10.0),
            )
        if response.is_error:
            raise error_of(call.op, response.status_code, response.content, response.headers.get("retry-after"))
        return response.json()

    async def _headers(self) -> dict[str, str]:
        key = self._key() if callable(self._key) else self._key
        if key is not None and not isinstance(key, str):
            key = await key
        return {} if key is None else {"authorization": f"Bearer {key}"}


class AsyncRun:
    """A run of the service, by its id."""

    def __init__(self, client: AsyncVenturiClient, id: str) -> None:
        self._client = client
        self.id = id

    async def get(self) -> RunView:
        """Its state, and how it ended."""
        return RunView.model_validate(await self._client.request(Call("run.get", protocol.run_path(self.id))))

    async def events(self, *, after: int = 0, attempts: int | None = None) -> AsyncGenerator[RunEvent, None]:
        """Every event after ``after``, exactly once, whatever happens to the connection; ends with the run."""
        client = self._client
        position = protocol.Position(after)
        failures = protocol.Failures(client._retry, attempts)
        while not position.ended:
            try:
                async for items in client.stream(protocol.events_call(self.id, position.seq)):
                    for event in position.fresh(items):
                        failures.progress()
                        yield event
                    position.check()
                    if position.ended:
                        return
                # A complete response without the last event: either the caller knew it, or something cut the stream.
                view = await self.get()
                if view.status in ("finished", "failed", "cancelled") and (view.head or 0) <= position.seq:
                    return
                error = protocol.cut("run.follow")
            except VenturiError as thrown:
                error = thrown
            await asyncio.sleep(failures.wait(error))

    async def page(self, *, after: int = 0, limit: int | None = None, steps: bool = False) -> EventPage:
        """One page of what is committed, without waiting; ``next`` is the ``after`` of the next one."""
        return EventPage.model_validate(await self._client.request(protocol.page_call(self.id, after, limit, steps)))

    async def result(self, *, after: int = 0) -> RunFinished:
        """Waits for the end. Raises the error of a failed run."""
        last: RunEvent | None = None
        async for last in self.events(after=after):
            pass
        return protocol.result_of(last)

    async def approve(
        self,
        call: str,
        *,
        arguments: Mapping[str, Any] | None = None,
        reason: str | None = None,
        for_: Literal["run"] | None = None,
        since: float | None = None,
    ) -> None:
        """Allows a tool call, with these arguments instead of the model's where given; ``for_="run"`` allows its later calls too.

        With the question's ``since``, one that was asked again after a crash is not allowed by an answer to the first.
        """
        given = protocol.given(arguments=arguments, reason=reason, since=since)
        body = {"approved": True, **given, **protocol.given(**{"for": for_})}
        await self._client.request(protocol.answer_call(self.id, call, body))

    async def deny(self, call: str, *, reason: str | None = None, since: float | None = None) -> None:
        await self._client.request(
            protocol.answer_call(self.id, call, {"approved": False, **protocol.given(reason=reason, since=since)})
        )

    async def answer(self, call: str, answer: Any) -> None:
        """Answers what a tool asks; the answer has to fit the question's schema and choices."""
        await self._client.request(protocol.question_call(self.id, call, {"answer": answer}))

    async def decline(self, call: str, *, reason: str | None = None) -> None:
        await self._client.request(
            protocol.question_call(self.id, call, {"decline": True, **protocol.given(reason=reason)})
        )

    async def steer(self, text: str) -> None:
        """Sends a message into the run; its next round sees it."""
        await self._client.request(protocol.steer_call(self.id, text))

    async def pause(self, *, reason: str | None = None) -> None:
        """The run finishes its round and waits, over restarts, until ``resume``."""
        await self._client.request(protocol.pause_call(self.id, reason))

    async def resume(self) -> None:
        await self._client.request(protocol.resume_call(self.id))

    async def cancel(self, *, reason: str | None = None) -> RunView:
        """Answers when the run's last event is written."""
        return RunView.model_validate(await self._client.request(protocol.cancel_call(self.id, reason)))

    async def give_feedback(
        self,
        *,
        score: float | None = None,
        label: str | None = None,
        comment: str | None = None,
        by: str | None = None,
        seq: int | None = None,
    ) -> Feedback:
        """Says what somebody thinks of the run. A second one, by the same person and about the same event, replaces the first."""
        body = protocol.given(score=score, label=label, comment=comment, by=by, seq=seq)
        return Feedback.model_validate(await self._client.request(protocol.feedback_call(self.id, body)))

    async def feedback(self) -> list[Feedback]:
        """Oldest first."""
        answer = await self._client.request(protocol.feedback_call(self.id))
        return [Feedback.model_validate(row) for row in answer["feedback"]]

    async def remove(self) -> None:
        """Erases the ended run and everything stored of it."""
        await self._client.request(Call("run.remove", protocol.run_path(self.id), "DELETE", repeatable=False))

    async def fork(self, request: ForkRequest) -> AsyncRun:
        """A new run that takes over this one's events up to a step, with edits, and goes on from there."""
        return AsyncRun(self._client, (await self._client.request(protocol.fork_call(self.id, request)))["run"])

