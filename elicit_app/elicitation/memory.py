"""A small memory of what follows from a history of answers, so that undo and looking ahead are cheap."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import Generic, TypeVar

import numpy as np

from elicit_app.elicitation.questions import Asked

Value = TypeVar("Value")


class Recent(Generic[Value]):
    """Values by key, of which the least recently used are forgotten; may be used from several threads."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: OrderedDict[bytes, Value] = OrderedDict()
        self._lock = threading.Lock()

    def recall(self, key: bytes) -> Value | None:
        """Return the value of a key, or None where it is not (or no longer) known."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
            return self._values.get(key)

    def keep(self, key: bytes, value: Value) -> None:
        """Remember a value."""
        with self._lock:
            self._values[key] = value
            self._values.move_to_end(key)
            while len(self._values) > self._most:
                self._values.popitem(last=False)


def beginnings(history: Sequence[Asked]) -> list[bytes]:
    """Return one digest for every beginning of a history, the empty one first; times taken do not count."""
    digests = [b""]
    for question, answer in history:
        shown = b"".join(np.ascontiguousarray(side).tobytes() for side in question.rates)
        told = f"{answer.choice}/{answer.strength}/{question.purpose}/{question.repeat_of}/".encode()
        digests.append(hashlib.sha256(digests[-1] + told + shown).digest())
    return digests
