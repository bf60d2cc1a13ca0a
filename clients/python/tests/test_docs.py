from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest
from conftest import ROOT, Service

PAGES = ("docs/clients.md", "clients/python/README.md")
BLOCKS = [
    pytest.param(text, id=f"{page}:{index}")
    for page in PAGES
    for index, text in enumerate(re.findall(r"^```python\n(.*?)^```$", (ROOT / page).read_text(), re.DOTALL | re.MULTILINE))
]


@pytest.mark.parametrize("text", BLOCKS)
def test_a_block_of_a_page_runs_and_says_something(text: str, service: Service) -> None:
    code = text.replace("http://127.0.0.1:7070", service.url)
    source = str(ROOT / "clients" / "python" / "src")
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": source}, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
