"""The command `elicit`: starts it, or says in one sentence what is missing.

It lies outside of `elicit_app`, which cannot be imported where another module called `metrics` hides the library.
"""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command; where a package is missing or hidden, one sentence on standard error and exit code 1."""
    try:
        from elicit_app.cli.main import run

        run()
    except ImportError as error:
        sentence = _sentence(error)
        if not sentence:
            raise
        print(f"elicit: {sentence}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:  # while packages are still being loaded; from there on `run` ends so itself
        sys.exit(130)


def _sentence(error: ImportError) -> str:
    """Return what to do about an import that failed, or nothing where the fault is the program's own."""
    if error.name == "metrics":
        return str(error)
    from metrics.errors import MissingPackage, explained

    found = explained(error) if isinstance(error, ModuleNotFoundError) else error
    return str(found) if isinstance(found, MissingPackage) else ""
