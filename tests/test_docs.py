"""What the pages for contributors name exists."""

import re
from pathlib import Path

import pytest

import metrics

ROOT = Path(__file__).parents[1]
ROOMS = (ROOT, ROOT / "elicit_app")


@pytest.mark.parametrize("page", ["docs/architecture.md", "docs/glossary.md", "CONTRIBUTING.md"])
def test_files_that_a_page_names_are_there(page: str) -> None:
    named = re.findall(r"`([\w/.-]+\.(?:py|md|toml)|[\w-]+(?:/[\w-]+)+)`", (ROOT / page).read_text(encoding="utf-8"))
    missing = [name for name in named if not any((room / name).exists() for room in ROOMS)]
    assert not missing


def test_the_reference_has_every_public_name_of_the_library() -> None:
    page = (ROOT / "docs" / "api" / "metrics.md").read_text(encoding="utf-8")
    described = set(re.findall(r"auto(?!module)\w+:: metrics\.(\w+)$", page, re.MULTILINE))
    public = {name: getattr(metrics, name) for name in metrics.__all__}
    ours = {name for name, it in public.items() if callable(it) and not it.__module__.startswith("sklearn")}
    assert described == ours
