from __future__ import annotations

import time

import pytest
from conftest import Proxy, Service
from venturi_client import RunEvent, RunFinished, TextDelta, VenturiClient, VenturiError


def ended(client: VenturiClient, agent: str = "count") -> tuple[str, list[RunEvent]]:
    run = client.start(agent, "go")
    return run.id, list(run.events())


def test_events_come_in_order_and_the_result_is_the_last(client: VenturiClient) -> None:
    run = client.start("count", "go")
    events = list(run.events())
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    last = events[-1]
    assert isinstance(last, RunFinished)
    assert last.output == "".join(event.text for event in events if isinstance(event, TextDelta))
    assert run.result() == last
    assert last.timing.provider_stream > 0


def test_a_cut_inside_any_frame(client: VenturiClient, shaky: VenturiClient, proxy: Proxy) -> None:
    id, events = ended(client)
    assert len(events) > 5
    for index in range(len(events)):
        proxy.harm({"cutAt": index})
        assert list(shaky.run(id).events()) == events, index
        assert proxy.asked() == ["0", str(index)]


def test_a_proper_end_before_any_frame(client: VenturiClient, shaky: VenturiClient, proxy: Proxy) -> None:
    id, events = ended(client)
    for index in range(len(events)):
        proxy.harm({"endAt": index})
        assert list(shaky.run(id).events()) == events, index


def test_frames_that_come_twice_late_or_not(client: VenturiClient, shaky: VenturiClient, proxy: Proxy) -> None:
    id, events = ended(client)
    for index in range(0, len(events), 3):
        for harm in ({"repeat": index}, {"omit": index}):
            proxy.harm(harm)
            assert list(shaky.run(id).events()) == events, harm


def test_bytes_one_by_one(client: VenturiClient, shaky: VenturiClient, proxy: Proxy) -> None:
    run = client.start("assistant", "hello, what is 17 * 23? — naïve 🙂")
    events = list(run.events())
    proxy.harm({"drip": True})
    assert list(shaky.run(run.id).events()) == events


def test_a_service_that_leaves_out_an_event_each_time(
    client: VenturiClient, shaky: VenturiClient, proxy: Proxy
) -> None:
    id, _ = ended(client)
    proxy.harm(*({"omit": 4 if index == 0 else 0} for index in range(20)))
    with pytest.raises(VenturiError) as raised:
        list(shaky.run(id).events())
    assert (raised.value.op, raised.value.code) == ("run.follow", "record_invalid")


def test_refusals_are_waited_out(client: VenturiClient, shaky: VenturiClient, proxy: Proxy) -> None:
    id, events = ended(client)
    proxy.harm({"status": 503, "retryAfter": "1"}, {"status": 429, "retryAfter": "0"}, {"status": 502})
    begun = time.monotonic()
    assert list(shaky.run(id).events()) == events
    assert 0.99 <= time.monotonic() - begun < 4
    proxy.harm(*({"status": 503} for _ in range(9)))
    with pytest.raises(VenturiError) as raised:
        list(shaky.run(id).events(attempts=3))
    assert (raised.value.code, raised.value.status, len(proxy.asked())) == ("unavailable", 503, 3)


def test_a_silent_connection_is_replaced(client: VenturiClient, shaky: VenturiClient, proxy: Proxy) -> None:
    id, events = ended(client)
    proxy.harm({"hangAt": 5})
    assert list(shaky.run(id).events()) == events
    assert proxy.asked() == ["0", "5"]


def test_from_where_the_caller_was(client: VenturiClient) -> None:
    id, events = ended(client)
    for after in (1, 7, len(events) - 1, len(events)):
        assert list(client.run(id).events(after=after)) == events[after:]


def test_a_slow_reader_gets_everything(client: VenturiClient) -> None:
    run = client.start("long", "go")
    seqs = []
    for event in run.events():
        seqs.append(event.seq)
        if event.seq % 100 == 0:
            time.sleep(0.05)
    assert seqs == list(range(1, (run.get().head or 0) + 1))


def test_over_a_service_that_is_killed(client: VenturiClient, service: Service) -> None:
    run = client.start("slow", "go")
    seen = []
    for event in run.events():
        seen.append(event)
        if event.seq == 12:
            service.restart()
    assert [event.seq for event in seen] == list(range(1, len(seen) + 1))
    assert any(event.type == "run.resumed" for event in seen)
    assert list(run.events()) == seen
