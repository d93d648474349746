"""Foreign Parquet files are read by a child process, also after an interrupt."""

import json
import threading

import polars as pl
import pytest

from elicit_app.study import parquet


@pytest.mark.parametrize("when", ["as the watch starts", "amid the answer"])
def test_an_interrupt_leaves_neither_a_watch_nor_half_an_answer(tmp_path, monkeypatch, when):
    for name in ("one", "two"):
        pl.DataFrame({name: [1, 2, 3]}).write_parquet(tmp_path / f"{name}.parquet")
    start = threading.Timer.start

    def started(timer):
        start(timer)
        if when == "as the watch starts":
            raise KeyboardInterrupt

    def half_answered(child, question):
        child._process.stdin.write(json.dumps(question).encode() + b"\n")
        child._process.stdin.flush()
        child._process.stdout.read(1)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(threading.Timer, "start", started)
        patch.setattr(parquet._Child, "_asked", half_answered)
        with pytest.raises(KeyboardInterrupt):
            parquet.head(tmp_path / "one.parquet")
    for watch in threading.enumerate():
        if isinstance(watch, threading.Timer):
            watch.join(5)
            assert not watch.is_alive(), "the program could not end before it does"
    assert parquet.head(tmp_path / "two.parquet").columns == ("two",)
