"""The command `elicit`: starts it, or says in one sentence what is missing.

It is outside `elicit_app`, which cannot be imported if another module called `metrics` shadows the library.
"""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command; if a package is missing or shadowed, print one sentence to standard error and exit with 1."""
    try:
        from elicit_app.cli.main import run

        run()
    except ImportError as error:
        sentence = _sentence(error)
        if not sentence:
            raise
        print(f"elicit: {sentence}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:  # while packages load; later `run` handles it
        sys.exit(130)


def _sentence(error: ImportError) -> str:
    """Return what to do about a failed import; empty if it is a fault of the program."""
    if error.name == "metrics":
        return str(error)
    from metrics.errors import MissingPackage, as_missing_package

    found = as_missing_package(error) if isinstance(error, ModuleNotFoundError) else error
    return str(found) if isinstance(found, MissingPackage) else ""
