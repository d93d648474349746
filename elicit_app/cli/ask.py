"""`elicit ask`: the same session in the terminal."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from elicit_app.cli.output import flag

NeverWorseOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="TRUE:PREDICTED<=TRUE:PREDICTED",
        help="For bayes: the first mistake is never worse than the second, for certain. May be given several times; "
        "for the family dlpm TRUE<=TRUE.",
    ),
]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("ask", short_help="Answer the questions in the terminal.")(ask)


def ask(
    context: typer.Context,
    study: Annotated[str, typer.Argument(metavar="STUDY", help="Bundled study, study folder or predictions file.")],
    procedure: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="What chooses the questions: bayes, dlpm or lpm; bayes where not stated."),
    ] = None,
    family: Annotated[
        Literal["dlpm", "lpm", "dlfpm", "lfpm"] | None,
        typer.Option(
            help="dlpm: all wrong answers for the same truth are equally bad; lpm: some hurt more than others. dlfpm "
            "and lfpm, with bayes: and they may count differently where results are bad and where they are good."
        ),
    ] = None,
    purpose: Annotated[
        Literal["choose", "costs", "both"] | None,
        typer.Option(
            help="What the answers are for: choose between the models, write down what mistakes cost, or both; the "
            "questions end when that is known."
        ),
    ] = None,
    questions: Annotated[
        int | None, typer.Option(min=1, help="Ask this many informative questions instead of a sitting.")
    ] = None,
    never_worse: NeverWorseOption = None,
    expert: Annotated[str | None, typer.Option(help="Whose answers these are; kept in the metric file.")] = None,
    session: Annotated[
        Path | None, typer.Option(help="Session file: go on with it where it exists, else begin it there.")
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Seed of the questions; by default a new one.")] = None,
    simulate: Annotated[
        str | None,
        typer.Option(metavar="WEIGHTS", help="Answers come from these weights (W1,W2,...), or from random ones."),
    ] = None,
    denominator: Annotated[
        str | None,
        typer.Option(
            metavar="Q1,Q2,...[,Q0]|random",
            help="With --simulate: the expert's metric is a fraction, the weights over these, plus a constant (1).",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Where to write the metric file, or the answers to a packed study; by default beside the session."
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file where it exists.")] = False,
) -> None:
    """Answer questions in the terminal: type a line per question, or pipe them in.

    Keys: 1 A, 2 B (1+ clearly, 1- slightly), 0 about equal, =40 makes both equal, s cannot say,
    u undo, q stop and see the result.
    """
    from elicit_app.cli.asking import AskOptions, ask_in_terminal
    from elicit_app.problem import WrongOption

    options = AskOptions(**(context.params | {"never_worse": tuple(never_worse or ())}))
    try:
        ask_in_terminal(options)
    except WrongOption as wrong:
        raise typer.BadParameter(wrong.worded(flag)) from wrong
