"""Reading what is typed, a line at a time."""

from __future__ import annotations

import signal
import sys


def read_line() -> str:
    """Return the next line of standard input, empty at its end; Ctrl+C is heard while it waits."""
    if sys.platform != "win32":
        # polars takes over the signal and lets the reading go on, so that Ctrl+C would have to wait for Enter.
        signal.siginterrupt(signal.SIGINT, True)
    return sys.stdin.readline()
