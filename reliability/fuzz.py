"""Damaged files for every reader: each must be read, or refused in one sentence, quickly and in little memory.

python reliability/fuzz.py [--minutes M] [--engine all|mutators|atheris] [--seed N] [--keep DIR] [READER ...]

There are two engines. The mutators flip bits, and cut, duplicate and swap parts of bytes, lines, numbers and JSON
values; an input that makes a reader say something new is mutated further. atheris (https://github.com/google/atheris,
not a dependency: `uv run --with atheris python reliability/fuzz.py`) is guided by the branches of our code that are
reached. Every reader runs in its own process, which may take 1 GiB more than at its start. Anything that takes more
than 5 s of processor time, or 60 s, is a hang. Findings are kept in DIR; once fixed they belong in tests/corpus.
"""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import importlib.util
import json
import os
import random
import re
import resource
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import Any

LONGEST = 5.0
MEMORY = 2**30
_MOST_BYTES = 200_000
_NUMBERS = ("0", "-1", "1e999", "NaN", "1e-320", "4294967296", "9" * 30, "0.5", "null", "true", '""', "[]", "{}")
_SIGNS = tuple(
    map(bytes.fromhex, ["00", "ff", "efbbbf", "22", "2c", "0a", "0d", "5c7564383030", "5b", "7b", "e280ae", "1b"])
)


def flip(data: bytearray, rng: random.Random) -> None:
    for _ in range(rng.choice((1, 1, 1, 4, 16))):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)


def cut(data: bytearray, rng: random.Random) -> None:
    start = rng.randrange(len(data))
    del data[start : start + rng.choice((1, 4, 64, len(data)))]


def double(data: bytearray, rng: random.Random) -> None:
    start = rng.randrange(len(data))
    part = data[start : start + rng.choice((1, 8, 64, 512))]
    data[start:start] = part * rng.choice((1, 1, 3, 50))


def exchange(data: bytearray, rng: random.Random) -> None:
    lines = data.split(b"\n")
    one, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[one], lines[other] = lines[other], lines[one]
    data[:] = b"\n".join(lines)


def overwrite(data: bytearray, rng: random.Random) -> None:
    start = rng.randrange(len(data))
    size = rng.choice((1, 2, 4, 8))
    number = rng.choice((0, 1, 2**31 - 1, 2**63 - 1, 2**64 - 1, rng.getrandbits(64)))
    data[start : start + size] = number.to_bytes(8, "little")[:size]


def insert(data: bytearray, rng: random.Random) -> None:
    start = rng.randrange(len(data))
    data[start:start] = rng.choice(_SIGNS) * rng.choice((1, 1, 1, 2, 3_000))


def renumber(data: bytearray, rng: random.Random) -> None:
    found = [*re.finditer(rb"-?\d+(\.\d+)?|true|false|null", data)]
    if found:
        one = rng.choice(found)
        data[one.start() : one.end()] = rng.choice(_NUMBERS).encode()


def reshape(data: bytearray, rng: random.Random) -> None:
    """Swap two values somewhere in JSON, or delete one."""
    lines = data.split(b"\n") if data.count(b"\n{") else [data]
    place = rng.randrange(len(lines))
    try:
        tree = json.loads(lines[place])
    except (ValueError, RecursionError):
        return
    spots: list[tuple[Any, Any]] = []
    todo = [tree]
    while todo:
        one = todo.pop()
        keys = [*one] if isinstance(one, dict) else range(len(one)) if isinstance(one, list) else ()
        spots += [(one, key) for key in keys]
        todo += [one[key] for key in keys]
    if not spots:
        return
    (one, key), (other, name) = rng.choice(spots), rng.choice(spots)
    if rng.random() < 0.2:
        del one[key]
    else:
        with contextlib.suppress(KeyError, IndexError):
            one[key], other[name] = json.loads(json.dumps(other[name])), json.loads(json.dumps(one[key]))
    lines[place] = bytearray(json.dumps(tree).encode())
    data[:] = b"\n".join(lines)


MUTATORS = (flip, flip, cut, double, exchange, overwrite, insert, renumber, reshape)


def mutated(corpus: list[bytes], rng: random.Random) -> bytes:
    """Return a new input made from one of the corpus, sometimes with the end of another."""
    data = bytearray(rng.choice(corpus))
    if rng.random() < 0.05:
        other = rng.choice(corpus)
        data[rng.randrange(len(data) + 1) :] = other[rng.randrange(len(other) + 1) :]
    for _ in range(rng.choice((1, 1, 2, 4))):
        if data:
            rng.choice(MUTATORS)(data, rng)
    return bytes(data[:_MOST_BYTES])


class Attempts:
    """Inputs given to one reader, and the results."""

    def __init__(self, name: str, folder: Path, place: Path) -> None:
        from readers import READERS, REFUSALS

        self._reader, self._refusals, self._name = READERS[name], REFUSALS, name
        self._place, self._reported = place, 0.0
        self._path = folder / f"input{self._reader.ending}"
        self.seeds = self._reader.seeds(folder)
        self.tried = self.uncaught = 0
        self.longest = 0.0
        self.said: set[str] = set()
        self._kept: set[str] = set()

    def give(self, data: bytes) -> bool:
        """Read one input; return whether the reader said something new."""
        self._path.write_bytes(self._reader.dressed(data))
        began = time.process_time()
        faulthandler.dump_traceback_later(12 * LONGEST, exit=True)
        try:
            self._reader.read(self._path)
            said = "read"
        except self._refusals as problem:
            said = re.sub(r"“[^”]*”|'[^']*'|/\S+|[\d.,]+", "#", str(problem))[:200]
        except BaseException as error:
            self._note(error, data)
            said = "uncaught"
        finally:
            faulthandler.cancel_dump_traceback_later()
        took = time.process_time() - began
        self.longest = max(self.longest, took)
        if took > LONGEST:
            self._save(f"slow-{self.tried}")
        self.tried += 1
        new = said not in self.said
        self.said.add(said)
        return new

    def _note(self, error: BaseException, data: bytes) -> None:
        self.uncaught += 1
        ours = [frame for frame in traceback.extract_tb(error.__traceback__) if "reliability" not in frame.filename]
        where = f"{type(error).__name__}-{Path(ours[-1].filename).stem}-{ours[-1].lineno}" if ours else "here"
        if where not in self._kept:
            self._kept.add(where)
            self._save(where)
            traceback.print_exception(error)

    def _save(self, why: str) -> None:
        (self._place.parent / f"{self._name}-{why}{self._reader.ending}").write_bytes(self._path.read_bytes())

    def report(self, every: float = 0.0) -> None:
        """Write the results so far, at most once every `every` seconds."""
        if time.monotonic() - self._reported < every:
            return
        self._reported = time.monotonic()
        peak = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)) / 1024
        counts = {"tried": self.tried, "sentences": len(self.said), "uncaught": self.uncaught}
        found = counts | {"longest": round(self.longest, 2), "peak": round(peak)}
        self._place.write_text(json.dumps(found))


def limit_memory() -> None:
    """Allow this process 1 GiB more than it uses now."""
    status = Path("/proc/self/status").read_text().splitlines()
    taken = next(int(line.split()[1]) for line in status if line.startswith("VmData"))
    resource.setrlimit(resource.RLIMIT_DATA, (taken * 1024 + MEMORY, resource.RLIM_INFINITY))


def run_mutators(attempts: Attempts, seconds: float, seed: int) -> None:
    rng = random.Random(seed)
    corpus = [*attempts.seeds]
    for data in corpus:
        attempts.give(data)
    limit_memory()
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        data = mutated(corpus, rng)
        if attempts.give(data):
            corpus.append(data)


def run_atheris(attempts: Attempts, seconds: float, seed: int, folder: Path) -> None:
    import atheris

    corpus = folder / "corpus"
    corpus.mkdir()
    for number, data in enumerate(attempts.seeds):
        (corpus / str(number)).write_bytes(data)

    def give(data: bytes) -> None:
        attempts.give(data)
        attempts.report(every=1.0)

    limits = [f"-max_total_time={int(seconds)}", "-timeout=60", "-rss_limit_mb=2048", f"-max_len={_MOST_BYTES}"]
    atheris.Setup([sys.argv[0], *limits, f"-seed={seed + 1}", "-verbosity=0", str(corpus)], give)
    atheris.Fuzz()


def one_reader(name: str, engine: str, seconds: float, seed: int, keep: Path) -> None:
    """Fuzz one reader in this process, and write the results beside the kept inputs."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if engine == "atheris":
        import atheris

        with atheris.instrument_imports(include=["elicit_app", "metrics"], enable_loader_override=False):
            import readers  # noqa: F401
    with tempfile.TemporaryDirectory(prefix="fuzz-") as place:
        attempts = Attempts(name, Path(place), keep / f"{name}-{engine}.json")
        if engine == "atheris":
            # libFuzzer ends the process by itself
            run_atheris(attempts, seconds, seed, Path(place))
        else:
            run_mutators(attempts, seconds, seed)
            attempts.report()


def fuzz(name: str, engine: str, seconds: float, seed: int, keep: Path) -> dict[str, Any]:
    """Fuzz one reader in its own process."""
    command = [sys.executable, __file__, "--one", engine, "--minutes", str(seconds / 60), "--seed", str(seed)]
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "POLARS_MAX_THREADS": "1", "QT_QPA_PLATFORM": "offscreen"}
    keep.mkdir(parents=True, exist_ok=True)
    log, report = (keep / f"{name}-{engine}.{ending}" for ending in ("log", "json"))
    report.unlink(missing_ok=True)
    with log.open("w") as errors:
        command += ["--keep", str(keep), name]
        done = subprocess.run(command, stdout=errors, stderr=errors, env=environment, check=False)
    if done.returncode or not report.exists():
        return {"ended": done.returncode, "log": str(log)}
    found: dict[str, Any] = json.loads(report.read_text())
    return found


def main() -> int:
    sys.path.insert(0, str(Path(__file__).parent))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("reader", nargs="*", help="by default all of them")
    parser.add_argument("--minutes", type=float, default=30, help="all readers together (default 30)")
    parser.add_argument("--engine", choices=("all", "mutators", "atheris"), default="all")
    parser.add_argument("--seed", type=int, default=random.randrange(10**6), help="default: another every time")
    parser.add_argument("--keep", type=Path, default=Path(tempfile.gettempdir()) / "elicit-fuzz")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        one_reader(given.reader[0], given.one, 60 * given.minutes, given.seed, given.keep)
        return 0
    from readers import READERS

    there = importlib.util.find_spec("atheris") is not None
    engines = [engine for engine in ("mutators", "atheris") if given.engine in ("all", engine)]
    if not there and "atheris" in engines:
        print("atheris is not installed: the mutators alone.", file=sys.stderr)
        engines = ["mutators"]
    names = given.reader or [*READERS]
    seconds = 60 * given.minutes / len(names) / len(engines)
    print(f"Seed {given.seed}")
    print(f"{'reader':22}{'engine':10}{'tried':>9}{'sentences':>11}{'uncaught':>10}{'longest s':>11}{'peak MiB':>10}")
    bad = 0
    for name in names:
        for engine in engines:
            found = fuzz(name, engine, seconds, given.seed, given.keep)
            ended = "ended" in found
            cells = [f"ended with {found['ended']}, see {found['log']}"] if ended else [*found.values()]
            widths = (0,) if ended else (9, 11, 10, 11, 10)
            shown = "".join(f"{cell!s:>{width}}" for cell, width in zip(cells, widths, strict=True))
            print(f"{name:22}{engine:10}{shown}", flush=True)
            bad += ended or found["uncaught"] != 0 or found["longest"] > LONGEST
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
