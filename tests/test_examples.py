"""The examples in docstrings do what they say."""

import doctest
import importlib
import linecache
import pkgutil
from pathlib import Path

import pytest

import elicit_app
import metrics

# PyTorch is an extra.
LIBRARY = [
    name
    for _, name, _ in pkgutil.walk_packages(metrics.__path__, "metrics.")
    if not name.startswith(("metrics.models.torch", "metrics.torch"))
]
APP = Path(elicit_app.__file__).parent
OF_THE_APP = [
    ".".join(path.relative_to(APP.parent).with_suffix("").parts)
    for path in sorted(APP.rglob("*.py"))
    if ">>> " in path.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("name", LIBRARY + OF_THE_APP)
def test_examples(name):
    linecache.clearcache()  # doctest asks the disk about every file in it at every example
    found = doctest.testmod(importlib.import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE)
    assert found.failed == 0
