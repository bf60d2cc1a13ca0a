from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

RETRYABLE = frozenset(
    {
        "stream_error",
        "rate_limited",
        "unavailable",
        "timeout",
        "idle_timeout",
        "tool_timeout",
        "journal_failed",
        "shutting_down",
    }
)


class VenturiError(Exception):
    """What every call raises: ``op`` names the operation that failed, ``code`` the kind of failure."""

    def __init__(
        self,
        op: str,
        code: str,
        message: str,
        *,
        status: int = 0,
        retry_after: float | None = None,
        details: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.op = op
        self.code = code
        self.message = message
        #: HTTP status; 0 when no response arrived, or the failure is an event of a run.
        self.status = status
        #: Seconds that the service asked to wait.
        self.retry_after = retry_after
        self.details = details

    @property
    def retryable(self) -> bool:
        """Whether repeating the same call may succeed."""
        return self.code in RETRYABLE

    def __str__(self) -> str:
        return f"{self.op}: {self.code}: {self.message}"


_CODES = {401: "unauthorized", 403: "forbidden", 404: "not_found", 413: "too_large", 429: "rate_limited"}


def error_of(op: str, status: int, body: bytes, retry_after: str | None) -> VenturiError:
    """The error of a response. A proxy's own page has no body of ours; its status then decides."""
    wait = float(retry_after) if retry_after is not None and retry_after.replace(".", "", 1).isdigit() else None
    try:
        error = json.loads(body)["error"]
        return VenturiError(
            error["op"], error["code"], error["err"], status=status, retry_after=wait, details=error.get("details")
        )
    except (ValueError, KeyError, TypeError):
        code = _CODES.get(status, "unavailable" if status >= 500 else "invalid_input")
        return VenturiError(op, code, f"the service answered {status}", status=status, retry_after=wait)
