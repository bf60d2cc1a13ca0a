from __future__ import annotations

import uuid

import pytest
from conftest import RETRY, Proxy, Service
from pydantic import TypeAdapter
from venturi_client import (
    ApprovalRequested,
    ApprovalResolved,
    FeedOpened,
    FeedRunFinished,
    ForkRequest,
    RoundFinished,
    RunEvent,
    ToolFinished,
    UnknownEvent,
    VenturiClient,
    VenturiError,
)


@pytest.mark.parametrize(("answer", "ok"), [("approve", True), ("deny", False)])
def test_questions_are_answered(client: VenturiClient, answer: str, ok: bool) -> None:
    run = client.start("asks", "what is 2 + 3?")
    for event in run.events():
        if isinstance(event, ApprovalRequested):
            approvals, _ = client.approvals(agent="asks")
            assert [(entry.run, entry.call) for entry in approvals] == [(run.id, event.call)]
            give = run.approve if answer == "approve" else run.deny
            with pytest.raises(VenturiError) as late:
                give(event.call, since=event.at - 1)
            assert late.value.code == "conflict"
            give(event.call, reason="because", since=event.at)
            with pytest.raises(VenturiError) as raised:
                give(event.call)
            assert (raised.value.code, raised.value.status, raised.value.retryable) == ("conflict", 409, False)
    assert [event.ok for event in run.events() if isinstance(event, ToolFinished)] == [ok]


def test_approval_with_other_arguments(client: VenturiClient) -> None:
    run = client.start("asks", "what is 2 + 3?")
    for event in run.events():
        if isinstance(event, ApprovalRequested):
            run.approve(event.call, arguments={"expression": "40 + 2"})
        if isinstance(event, ToolFinished):
            assert "42" in (event.output or "")


def test_approval_for_the_whole_run(client: VenturiClient) -> None:
    run = client.start("asks", "what is 2 + 3?")
    for event in run.events():
        if isinstance(event, ApprovalRequested):
            run.approve(event.call, for_="run")
    assert [event.for_ for event in run.events() if isinstance(event, ApprovalResolved)] == ["run"]


def test_steer_cancel_and_the_error_of_a_run(client: VenturiClient) -> None:
    run = client.start("slow", "go")
    run.steer("in German, please")
    view = run.cancel(reason="enough")
    assert view.status == "cancelled"
    with pytest.raises(VenturiError) as raised:
        run.result()
    assert str(raised.value) == "agent.run: stream_interrupted: enough"


def test_a_paused_run_goes_on_when_it_is_resumed(client: VenturiClient) -> None:
    run = client.start("slow", "go")
    run.pause(reason="until the morning")
    run.resume()
    run.cancel()
    with pytest.raises(VenturiError) as raised:
        run.pause()
    assert raised.value.code == "conflict"


def test_lists(client: VenturiClient) -> None:
    session = str(uuid.uuid4())
    for text in ("one", "two", "three"):
        client.start("assistant", text, session=session, metadata={"n": 1}).result()
    first, cursor = client.runs(session=session, limit=2)
    second, end = client.runs(session=session, limit=2, cursor=cursor)
    assert (len(first), len(second), end) == (2, 1, None)
    turns, _ = client.session(session)
    assert [turn.input.text for turn in turns] == ["one", "two", "three"]
    sessions, _ = client.sessions(agent="assistant")
    assert session in {entry.session for entry in sessions}
    assert len(client.runs(session=session, since="2020-01-01", min=0)[0]) == 3
    client.run(turns[0].run).remove()
    assert sorted(client.remove_session(session)) == sorted(turn.run for turn in turns[1:])
    with pytest.raises(VenturiError):
        client.session(session)
    assert "start" in client.me().may
    assert {"assistant", "asks"} <= {agent.name for agent in client.agents()}


def test_settings_of_a_call(client: VenturiClient) -> None:
    tool = {"name": "show_map", "parameters": {"type": "object", "properties": {}}}
    choice = {"name": "show_map"}
    result = client.start("assistant", "hi", tools=[tool], tool_choice=choice, options={"temperature": None}).result()
    assert [call.name for call in result.calls or []] == ["show_map"]


def test_pages_and_fork(client: VenturiClient) -> None:
    run = client.start("assistant", "what is 17 * 23?")
    events = list(run.events())
    paged: list[RunEvent] = []
    after: int | None = 0
    while after is not None:
        page = run.page(after=after, limit=4)
        paged += page.events
        after = page.next
    assert paged == events
    step = next(event.seq for event in events if isinstance(event, RoundFinished))
    forked = run.fork(ForkRequest(after=step))
    assert forked.id != run.id
    assert forked.result().output


def test_the_feed(client: VenturiClient) -> None:
    feed = client.feed(agent="count")
    assert isinstance(next(feed), FeedOpened)
    run = client.start("count", "go")
    ends = (item for item in feed if isinstance(item, FeedRunFinished))
    assert next(ends).digest.run == run.id


def test_a_run_is_started_once(proxy: Proxy, client: VenturiClient) -> None:
    session = str(uuid.uuid4())
    proxy.harm({"status": 503, "retryAfter": "0"}, {"status": 429, "retryAfter": "0"})
    with VenturiClient(proxy.url, retry=RETRY) as shaky:
        run = shaky.start("count", "go", session=session, key="order-17")
        assert shaky.start("count", "go", session=session, key="order-17").id == run.id
    rows, _ = client.runs(session=session)
    assert [row.run for row in rows] == [run.id]


def test_bad_requests_are_told_at_once(client: VenturiClient) -> None:
    with pytest.raises(VenturiError) as raised:
        client.start("nobody", "go")
    assert (raised.value.code, raised.value.status) == ("not_found", 404)
    with pytest.raises(VenturiError) as raised:
        client.run("run_0").result()
    assert raised.value.code == "not_found"


def test_no_service() -> None:
    with VenturiClient("http://127.0.0.1:9", retry=RETRY) as nowhere, pytest.raises(VenturiError) as raised:
        nowhere.agents()
    assert (raised.value.op, raised.value.code, raised.value.status) == ("agent.list", "unavailable", 0)


def test_what_a_newer_service_says_is_kept() -> None:
    adapter: TypeAdapter[RunEvent] = TypeAdapter(RunEvent)
    new = adapter.validate_python({"type": "moon.rose", "run": "r", "seq": 3, "at": 1, "phase": "full"})
    assert isinstance(new, UnknownEvent)
    assert new.model_extra == {"phase": "full"}
    known = {"type": "text.delta", "run": "r", "seq": 3, "at": 1, "round": 1, "text": "hi", "language": "en"}
    assert adapter.validate_python(known).model_dump(exclude_unset=True) == known


def test_codes_that_may_pass_are_those_of_the_service(service: Service) -> None:
    import re

    from conftest import ROOT
    from venturi_client._errors import RETRYABLE

    table = (ROOT / "docs" / "errors.md").read_text()
    rows = re.findall(r"^\| `(\w+)` +\| \d+ +\| \d+ +\| (yes|no)", table, re.MULTILINE)
    assert {code for code, retry in rows if retry == "yes"} == RETRYABLE
