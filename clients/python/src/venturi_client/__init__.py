"""Starts, follows and steers runs of a Venturi service."""

from ._aio import AsyncRun, AsyncVenturiClient
from ._errors import VenturiError
from ._protocol import Retry
from ._sync import Run, VenturiClient
from .models import *  # noqa: F403
from .models import Model, RunEvent

__all__ = ["AsyncRun", "AsyncVenturiClient", "Model", "Retry", "Run", "RunEvent", "VenturiClient", "VenturiError"]
