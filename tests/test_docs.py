"""What the pages for contributors name exists."""

import re
import shlex
from importlib.util import find_spec
from pathlib import Path
from pkgutil import resolve_name

import pytest
import typer.main

import metrics
from elicit_app.cli.main import app

ROOT = Path(__file__).parents[1]
ROOMS = (ROOT, ROOT / "elicit_app")


@pytest.mark.parametrize("page", ["docs/architecture.md", "docs/glossary.md", "CONTRIBUTING.md"])
def test_files_that_a_page_names_are_there(page: str) -> None:
    named = re.findall(r"`([\w/.-]+\.(?:py|md|toml)|[\w-]+(?:/[\w-]+)+)`", (ROOT / page).read_text(encoding="utf-8"))
    missing = [name for name in named if not any((room / name).exists() for room in ROOMS)]
    assert not missing


def test_names_that_a_page_gives_can_be_imported() -> None:
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    name = re.compile(r"`((?:metrics|elicit_app)(?:\.[A-Za-z_]+)+)`")
    named = {found for page in pages for found in name.findall(page.read_text(encoding="utf-8"))}
    for one in named - {"metrics.py"}:
        if find_spec("torchmetrics") or not one.startswith("metrics.torch"):
            resolve_name(one)


def test_commands_that_a_page_names_have_the_options_it_gives() -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs" / "howto").glob("*.md"), *(ROOT / "docs" / "user").glob("*.md")]
    quoted = re.compile(r"`elicit ([a-z][^`\n]*)`|^(?:\$ )?elicit ([a-z]+ (?:[a-z.]+ |--).*?)(?:  |#|$)", re.MULTILINE)
    named = [(page.name, *found) for page in pages for found in quoted.findall(page.read_text(encoding="utf-8"))]
    assert len(named) > 60
    for page, inline, line in named:
        command, words = typer.main.get_command(app), shlex.split(inline or line)
        while (group := getattr(command, "commands", None)) and words and words[0] in group:
            command = group[words.pop(0)]
        options = {name for parameter in command.params for name in parameter.opts} | {"--help", "--version"}
        unknown = [word for word in words if word.startswith("--") and word.split("=")[0] not in options]
        assert not unknown, f"{page}: elicit {inline or line}"


@pytest.mark.usual_draws
def test_the_command_in_the_readme_recommends_what_the_readme_quotes(elicit, tmp_path) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    command, quoted = re.findall(r"`elicit (ask [^`]+)` questions.*?```\n(.*?)```", text, re.DOTALL)[0]
    assert quoted in elicit(*shlex.split(command), cwd=tmp_path).stdout


def test_decisions_have_the_number_of_their_file() -> None:
    pages = sorted((ROOT / "docs" / "decisions").glob("0*.md"))
    titles = [page.read_text(encoding="utf-8").splitlines()[0] for page in pages]
    assert [title.split(".")[0] for title in titles] == [f"# {int(page.name[:4])}" for page in pages]


def test_the_reference_has_every_public_name_of_the_library() -> None:
    page = (ROOT / "docs" / "api" / "metrics.md").read_text(encoding="utf-8")
    described = set(re.findall(r"auto(?!module)\w+:: metrics\.(\w+)$", page, re.MULTILINE))
    public = {name: getattr(metrics, name) for name in metrics.__all__}
    ours = {name for name, it in public.items() if callable(it) and not it.__module__.startswith("sklearn")}
    assert described == ours
