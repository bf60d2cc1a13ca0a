from __future__ import annotations

import asyncio
from contextlib import aclosing

from conftest import RETRY, Proxy, Service
from venturi_client import ApprovalRequested, AsyncVenturiClient, FeedOpened, RunEvent, VenturiClient


def test_a_cut_inside_any_frame(client: VenturiClient, proxy: Proxy) -> None:
    run = client.start("count", "go")
    events = list(run.events())

    async def follow() -> None:
        async with AsyncVenturiClient(proxy.url, retry=RETRY) as shaky:
            for index in range(len(events)):
                proxy.harm({"cutAt": index})
                assert [event async for event in shaky.run(run.id).events()] == events, index
                assert proxy.asked() == ["0", str(index)]

    asyncio.run(follow())


def test_several_runs_at_once_over_a_service_that_is_killed(service: Service, client: VenturiClient) -> None:
    async def main() -> list[list[RunEvent]]:
        async with AsyncVenturiClient(service.url, retry=RETRY) as venturi:
            runs = [await venturi.start("slow", "go") for _ in range(3)]
            restarted: asyncio.Task[None] | None = None

            async def follow(index: int) -> list[RunEvent]:
                nonlocal restarted
                seen = []
                async for event in runs[index].events():
                    seen.append(event)
                    if event.seq == 10 and restarted is None:
                        restarted = asyncio.create_task(asyncio.to_thread(service.restart))
                return seen

            seen = await asyncio.gather(*(follow(index) for index in range(3)))
            assert restarted is not None
            await restarted
            return list(seen)

    for seen in asyncio.run(main()):
        assert [event.seq for event in seen] == list(range(1, len(seen) + 1))
        assert list(client.run(seen[0].run).events()) == seen


def test_questions_feed_and_a_key_that_is_asked_for(service: Service) -> None:
    async def main() -> None:
        async def key() -> str:
            return "not needed here"

        async with AsyncVenturiClient(service.url, key=key) as venturi, aclosing(venturi.feed()) as feed:
            assert isinstance(await anext(feed), FeedOpened)
            run = await venturi.start("asks", "what is 2 + 3?")
            async for event in run.events():
                if isinstance(event, ApprovalRequested):
                    approvals, _ = await venturi.approvals()
                    assert approvals[0].run == run.id
                    await run.approve(event.call)
            assert (await run.result()).output
            assert (await run.get()).status == "finished"
            assert (await run.page(steps=True)).events[0].type == "run.started"

    asyncio.run(main())
