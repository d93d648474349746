"""The program that asks an expert which mistakes matter more."""

from importlib.util import find_spec
from pathlib import Path

_library = find_spec("metrics")
if _library is None:
    raise ImportError(
        "elicit's library is not installed: pip install --force-reinstall elicit-metrics.", name="metrics"
    )
if _library.origin is None or Path(_library.origin).parent.parent != Path(__file__).parent.parent:
    _other = _library.origin or next(iter(_library.submodule_search_locations or []), "")
    raise ImportError(
        f"{_other} hides elicit's own library, which is called metrics too: rename that file or folder, or start from "
        "another folder and take its folder out of PYTHONPATH.",
        name="metrics",
    )

from metrics import __version__ as __version__  # noqa: E402  only where it is known to be ours
