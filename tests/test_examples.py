"""The examples in the docstrings of the library do what they say."""

import doctest
import importlib
import linecache
import pkgutil

import pytest

import metrics

NAMES = [name for _, name, _ in pkgutil.walk_packages(metrics.__path__, "metrics.")]
# PyTorch is an extra.
MODULES = [name for name in NAMES if not name.startswith(("metrics.models.torch", "metrics.torch"))]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    linecache.clearcache()  # doctest asks the disk about every file in it at every example
    found = doctest.testmod(importlib.import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE)
    assert found.failed == 0
