"""aider, asked once from the command line, whole and streamed."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

aider = Path(sys.executable).parent / "aider"
with tempfile.TemporaryDirectory() as folder:
    for more in [[], ["--no-stream"]]:
        options = ["--model", f"openai/{os.environ['MODEL']}", "--message", "say hello", "--yes", "--no-git"]
        quiet = ["--no-check-update", "--no-show-model-warnings", "--no-analytics"]
        env = {**os.environ, "OPENAI_API_BASE": os.environ["OPENAI_BASE_URL"]}
        done = subprocess.run([aider, *options, *quiet, *more], cwd=folder, env=env, capture_output=True, text=True)
        assert done.returncode == 0 and "received" in done.stdout, done.stdout + done.stderr
