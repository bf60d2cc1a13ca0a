"""A real service, and a proxy that does harm to its event streams; both are those of the TypeScript client's tests."""

from __future__ import annotations

import json
import subprocess
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from venturi_client import Retry, VenturiClient

ROOT = Path(__file__).resolve().parents[3]
NODE = str(ROOT / "node_modules" / ".bin" / "node")

#: Breaks are many here and the waits between them no part of what is tested.
RETRY = Retry(first=0.001, longest=0.02)


class Process:
    def __init__(self, script: str, *words: str) -> None:
        self._child = subprocess.Popen(
            [NODE, "--no-warnings", str(ROOT / "dist" / "test" / "client" / script), *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.url = self.line()

    def line(self) -> str:
        assert self._child.stdout is not None
        return self._child.stdout.readline().strip()

    def say(self, line: str) -> None:
        assert self._child.stdin is not None
        self._child.stdin.write(f"{line}\n")
        self._child.stdin.flush()

    def stop(self) -> None:
        assert self._child.stdin is not None
        self._child.stdin.close()
        self._child.wait(timeout=20)


class Service(Process):
    def __init__(self) -> None:
        super().__init__("restartable-main.js")

    def restart(self) -> None:
        """Kills it with SIGKILL and starts it again, on the same port and journal."""
        self.say("restart")
        assert self.line() == "restarted"


class Proxy(Process):
    def __init__(self, target: str) -> None:
        super().__init__("bad-proxy-main.js", target)

    def harm(self, *harm: dict[str, Any]) -> None:
        request = urllib.request.Request(f"{self.url}/_harm", json.dumps(harm).encode(), method="PUT")
        urllib.request.urlopen(request).read()

    def asked(self) -> list[str]:
        with urllib.request.urlopen(f"{self.url}/_asked") as response:
            asked: list[str] = json.load(response)
            return asked


@pytest.fixture(scope="session")
def service() -> Iterator[Service]:
    service = Service()
    yield service
    service.stop()


@pytest.fixture(scope="session")
def proxy(service: Service) -> Iterator[Proxy]:
    proxy = Proxy(service.url)
    yield proxy
    proxy.stop()


@pytest.fixture
def client(service: Service) -> Iterator[VenturiClient]:
    with VenturiClient(service.url, retry=RETRY) as client:
        yield client


@pytest.fixture
def shaky(proxy: Proxy) -> Iterator[VenturiClient]:
    """Through the proxy."""
    with VenturiClient(proxy.url, retry=RETRY, idle=0.5) as client:
        yield client
