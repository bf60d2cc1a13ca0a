from __future__ import annotations

import inspect

import pytest
from venturi_client import AsyncRun, AsyncVenturiClient, Run, VenturiClient


@pytest.mark.parametrize(("sync", "aio"), [(VenturiClient, AsyncVenturiClient), (Run, AsyncRun)])
def test_the_async_client_has_what_the_sync_one_has(sync: type, aio: type) -> None:
    def methods(kind: type) -> dict[str, list[str]]:
        members = inspect.getmembers(kind, inspect.isfunction)
        return {name: list(inspect.signature(member).parameters) for name, member in members if name[0] != "_"}

    assert methods(sync) == methods(aio)
