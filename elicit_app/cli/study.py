"""`elicit study`: make and list studies, send them to experts, collect answers, and classifiers on the sphere."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from elicit_app.cli import output
from elicit_app.cli.columns import (
    ColumnOptions,
    ColumnsOption,
    LogitsOption,
    ModelOption,
    PredictedOption,
    SkipUnreadOption,
    TruthOption,
    models_in,
    notes_on_others,
    require_usual_columns,
)
from elicit_app.cli.output import (
    Commands,
    Force,
    ForceAll,
    Questions,
    TrustedOnly,
    require_all_new,
    require_new,
    study_meant,
)
from elicit_app.cli.score import PracticeOption, PrevalenceOption, parsed_shares
from metrics.text import counted, series, threshold_text

if TYPE_CHECKING:
    from elicit_app.registry import Setting
    from elicit_app.study.model import ColumnMap, Study

StudyRef = Annotated[
    str, typer.Argument(metavar="STUDY", help="Bundled study, study folder or predictions file.", callback=study_meant)
]
AskedStudy = Annotated[
    str, typer.Argument(metavar="STUDY", help="A study folder, or another study with answers.", callback=study_meant)
]
NeverWorseOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="TRUE:PREDICTED<=TRUE:PREDICTED",
        help="For bayes: the first mistake is never worse than the second, for certain. May be given several times; "
        "for the family dlpm TRUE<=TRUE.",
    ),
]
OrderedOption = Annotated[
    str | None,
    typer.Option(
        metavar="CLASS,CLASS,...",
        help="For bayes: these classes are in an order, so that of two mistakes with the same truth, or the same "
        "prediction, the one that is further off is never the lesser, for certain.",
    ),
]
AnyStudy = Annotated[
    str,
    typer.Argument(metavar="STUDY", help="Bundled or synthetic name, folder, or predictions.", callback=study_meant),
]
PopulationOption = Annotated[
    int | None,
    typer.Option(
        min=10, max=1_000_000, help="Show results for this many cases; by default 1,000, more for rare classes."
    ),
]
OneModel = Annotated[str | None, typer.Option(help="Of several models, this one; by default the first.")]


def register(app: typer.Typer) -> None:
    """Add `study` with its commands."""
    group = Commands(no_args_is_help=True, rich_markup_mode=None, help="Make, list, send and collect studies.")
    group.command("new", short_help="Make a study from predictions files.")(new)
    group.command("list")(show_list)
    group.command("change", short_help="Change models, words or the prevalence.")(change)
    group.command("words", short_help="Write the words for mistakes as a table.")(write_words)
    group.command("pack", short_help="Write one file for experts elsewhere.")(pack)
    group.command("collect", short_help="File the answers that came back.")(collect)
    group.command("report", short_help="Compare and pool a study's experts.")(report)
    group.command("radius", short_help="Print the radius of the query sphere.")(radius)
    group.command("classifier", short_help="Write a classifier with a given matrix.")(classifier)
    app.add_typer(group, name="study")


def new(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder to make; it must not exist, or be empty.")],
    predictions: Annotated[
        list[Path] | None,
        typer.Option(
            "--predictions",
            metavar="FILE [FILE...]",
            help="Predictions of one model per file: CSV or Parquet with columns y_true and proba_<class>, "
            "or NPZ with arrays y_true, y_proba and optionally classes; or with columns true_<label> and "
            "pred_<label>; or with y_true, y_pred and context_<feature>.",
        ),
    ] = None,
    more: Annotated[
        list[Path] | None, typer.Argument(metavar="[FILE...]", help="More predictions files, or all of them.")
    ] = None,
    name: Annotated[str | None, typer.Option(help="Title of the study; by default made from the folder.")] = None,
    labels: Annotated[
        str | None,
        typer.Option(help="Classes in the order to show, with commas; their names if the files number them 0..k-1."),
    ] = None,
    population: PopulationOption = None,
    prevalence: PrevalenceOption = None,
    truth: TruthOption = None,
    columns: ColumnsOption = None,
    model: ModelOption = None,
    predicted: PredictedOption = None,
    logits: LogitsOption = False,
    skip_unread: SkipUnreadOption = False,
    noun: Annotated[
        str | None,
        typer.Option(metavar="ONE,MANY", help="For several labels: the word for one, and for many: mood,moods."),
    ] = None,
    purpose: Annotated[
        Literal["choose", "costs", "both"] | None,
        typer.Option(
            help="What answers are for, preselected when they are given: choose between the models, write down what "
            "mistakes cost, or both."
        ),
    ] = None,
) -> None:
    """Make a study folder from predictions files of one or several models of the same cases."""
    from elicit_app.study import create_study
    from elicit_app.study.amounts import is_of_amounts
    from elicit_app.study.reading import open_predictions

    files = [*(predictions or []), *(more or [])]
    if not files:
        raise typer.BadParameter("name at least one predictions file.", param_hint="--predictions")
    options = ColumnOptions(truth, tuple(columns or ()), tuple(predicted or ()), logits, skip_unread, model)
    if skip_unread and not predicted and model is None:
        found = "name the columns of the readers with --predicted, or the one that tells them apart with --model."
        raise typer.BadParameter(found, param_hint="--skip-unread")
    if is_of_amounts(files[0]):
        options.refuse("files of several labels, or of contexts, name their columns themselves.")
        for option, given in (("--labels", labels), ("--prevalence", prevalence), ("--purpose", purpose)):
            if given is not None:
                raise typer.BadParameter("it does not apply to several labels or contexts.", param_hint=option)
        _new_of_amounts(folder, files, name, population, noun)
        return
    if noun is not None:
        raise typer.BadParameter("it applies to files of several labels.", param_hint="--noun")
    each, column_maps = models_in(files, options)
    named, shares = None if labels is None else _split(labels), None
    if prevalence is not None:
        shares = parsed_shares(prevalence, named or open_predictions(each[0], columns=column_maps[0]).classes)
    with output.wrong_options_as_usage_errors(), output.progress("Reading"):
        made = create_study(
            folder,
            each,
            columns=column_maps,
            name=name,
            labels=named,
            population=population,
            prevalence=shares,
            purpose=purpose,
        )
    output.print_notes([*made.notes, *notes_on_others(files, options)])
    print(f"Made the study “{made.title}” in {folder}: {made.description}, shown per {made.population:,} cases.")
    print(f"Next: elicit open {output.quoted(folder)}")


def change(
    study: Annotated[str, typer.Argument(metavar="STUDY", help="A study folder.", callback=study_meant)],
    add: Annotated[
        list[Path] | None,
        typer.Option("--add", metavar="FILE", help="Predictions of another model; may be given several times."),
    ] = None,
    rename: Annotated[
        list[str] | None, typer.Option("--rename", metavar="OLD=NEW", help="Give a model another name.")
    ] = None,
    remove: Annotated[list[str] | None, typer.Option("--remove", metavar="NAME", help="Take a model out.")] = None,
    truth: TruthOption = None,
    columns: ColumnsOption = None,
    model: ModelOption = None,
    predicted: PredictedOption = None,
    logits: LogitsOption = False,
    prevalence: PrevalenceOption = None,
    population: PopulationOption = None,
    name: Annotated[str | None, typer.Option(help="Another title of the study.")] = None,
    case: Annotated[
        str | None, typer.Option(metavar="ONE,MANY", help="What one case is called, and several: patient,patients.")
    ] = None,
    words: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Words for its mistakes: a table as `study words` writes it.")
    ] = None,
    yardstick: Annotated[
        str | None, typer.Option(metavar="TRUE:PREDICTED", help="The mistake with which all others are compared.")
    ] = None,
) -> None:
    """Change the models, the words or the numbers of a study; what was answered before still counts."""
    from elicit_app.elicitation.orders import read_mistake
    from elicit_app.study import open_study
    from elicit_app.study.first_rows import read_first_rows
    from elicit_app.study.making import change_study, own_folder

    opened = open_study(study)
    options = ColumnOptions(truth, tuple(columns or ()), tuple(predicted or ()), logits=logits, model=model)
    own_folder(opened)  # before anything is said about the files
    if not add:
        options.refuse("it is about files to add; name one with --add.")
    renamed = [one.partition("=") for one in rename or ()]
    if not all(old.strip() and new.strip() for old, _, new in renamed):
        raise typer.BadParameter("it takes OLD=NEW, the names of a model.", param_hint="--rename")
    known, files = opened.columns, [*(add or ())]
    column_maps: list[ColumnMap | None]
    if known is None or options != ColumnOptions():
        files, column_maps = models_in(files, options, opened.model_names)
    else:
        column_maps = [
            known if first_rows.suits(known) else require_usual_columns(first_rows.path, first_rows)
            for first_rows in map(read_first_rows, files)
        ]
    with output.wrong_options_as_usage_errors(), output.progress("Reading"):
        changed = change_study(
            opened,
            add=files,
            rename={old.strip(): new.strip() for old, _, new in renamed},
            remove=remove or (),
            columns=column_maps,
            prevalence=None if prevalence is None else parsed_shares(prevalence, opened.classes),
            population=population,
            title=name,
            case=None if case is None else _one_and_many(case, "--case", "patient,patients"),
            words=words,
            yardstick=None if yardstick is None else read_mistake(yardstick, opened.classes),
        )
    output.print_notes([*changed.notes, *notes_on_others(files, options)])
    print(f"“{changed.title}” has {counted(len(changed.models), 'model')}: {', '.join(changed.model_names)}.")
    if prevalence is not None or population is not None:
        shares = zip(changed.prevalence, changed.classes, strict=True)
        common = [f"{threshold_text(share)} {name}" for share, name in shares]
        print(f"Its prevalence is {series(common)}; results are shown for {changed.population:,} cases.")
    if words is not None:
        print(f"The words for its mistakes are those of {words}.")
    if yardstick is not None:
        print(f"Mistakes are compared with “{changed.wording.mistakes[changed.yardstick].name}”.")


def write_words(
    study: Annotated[str, typer.Argument(metavar="STUDY", help="A study folder.", callback=study_meant)],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Where to write it, as CSV.")],
    force: Force = False,
) -> None:
    """Write the words for the mistakes of a study as a table, for a spreadsheet; `study change --words` reads it."""
    from elicit_app.study import open_study, words
    from elicit_app.study.making import own_folder

    opened = open_study(study)
    own_folder(opened)  # others cannot read the words back
    require_new(file, force)
    words.write_words(opened, file)
    count = counted(len(words.keys_of(opened)), "mistake")
    print(f"Wrote {file}: {count}, a row each.")
    print(f"Next, when it is filled in: elicit study change {output.quoted(study)} --words {output.quoted(file)}")


def _new_of_amounts(
    folder: Path, files: list[Path], name: str | None, population: int | None, noun: str | None
) -> None:
    """Make a study of multi-label predictions, or of outcomes in contexts."""
    from elicit_app.study.making import create_amounts_study

    words = None if noun is None else _one_and_many(noun, "--noun", "mood,moods")
    with output.progress("Reading"):
        made = create_amounts_study(folder, files, name=name, noun=words, population=population)
    output.print_notes(made.notes)
    print(f"Made the study “{made.title}” in {folder}: {made.description}.")
    print(f"Next: elicit ask {output.quoted(folder)}")


def _one_and_many(text: str, option: str, example: str) -> tuple[str, str]:
    """Return the two words of an option, for one and for several."""
    from elicit_app.study.mapping import parts_of

    words = parts_of(text)
    if len(words) != 2 or not all(words):
        raise typer.BadParameter(f"two words with a comma were expected, such as {example}.", param_hint=option)
    return words[0], words[1]


def show_list(
    as_json: Annotated[bool, typer.Option("--json", help="One JSON list instead of a table.")] = False,
) -> None:
    """List the bundled and the synthetic studies."""
    from elicit_app.study import list_studies

    summaries = list_studies()
    if as_json:
        from dataclasses import asdict

        output.print_json([asdict(summary) for summary in summaries])
        return
    width = max(len(summary.name) for summary in summaries)
    titles = max(len(summary.title) for summary in summaries)
    for kind, heading in (("bundled", "To answer questions about"), ("synthetic", "For simulations")):
        print(f"{heading}:")
        for summary in summaries:
            if summary.kind == kind:
                time = f", about {summary.minutes} min" if summary.minutes else ""
                print(f"  {summary.name:{width}}  {summary.title:{titles}}  {summary.description}{time}")


def radius(
    study: AnyStudy,
    model: OneModel = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object, with the centre.")] = False,
) -> None:
    """Print lambda, the radius of the largest sphere of feasible confusion matrices (the paper's algorithm 3)."""
    from elicit_app.experiments.measures import feasible_sphere
    from elicit_app.study import open_study

    found = feasible_sphere(open_study(study), model)
    if as_json:
        output.print_json(found.as_json())
        return
    whose = found.study.title if found.model is None else f"{found.model}, {found.study.title}"
    print(f"{whose}: radius {found.sphere.radius:.4g} around every answer equally often.")
    for name, reach in zip(found.study.classes, found.sphere.reaches, strict=True):
        print(f"  errors of true class {name} can move by {reach.length:.4g} along their axis")


def classifier(
    study: AnyStudy,
    matrix: Annotated[
        Path,
        typer.Argument(
            metavar="MATRIX",
            help="CSV of counts or rates: predicted classes in the first line, true classes in the first column.",
        ),
    ],
    out: Annotated[
        Path, typer.Option(metavar="FILE", help="CSV: for each case the probability of answering each class.")
    ],
    model: OneModel = None,
    force: Annotated[bool, typer.Option("--force", help="Replace FILE if it exists.")] = False,
) -> None:
    """Write the randomised classifier that has a confusion matrix on the sphere, such as one that was asked about."""
    from elicit_app.experiments.measures import feasible_sphere, write_probabilities
    from elicit_app.study import open_study
    from elicit_app.study.measuring import read_practice

    opened = open_study(study)
    require_new(out, force)
    sphere = feasible_sphere(opened, model)
    probabilities = sphere.classifier(read_practice(matrix, opened.classes).rates)
    write_probabilities(out, opened.classes, probabilities)
    print(f"Wrote {out}: {len(probabilities):,} cases in the order of the predictions.", file=sys.stderr)


def _split(labels: str) -> list[str]:
    """Return the labels in a line of CSV; a label that contains a comma is quoted."""
    from elicit_app.study.mapping import parts_of

    names = parts_of(labels)
    if len(names) < 2 or not all(names):
        raise typer.BadParameter(f"“{labels}” must name at least two classes, with commas.", param_hint="--labels")
    return names


def pack(
    study: StudyRef,
    out: Annotated[Path, typer.Argument(metavar="OUT.elicit", help="The file to send.")],
    purpose: Annotated[
        Literal["choose", "costs", "both"] | None,
        typer.Option(help="What the answers are for; if neither this nor the study says it, each expert does."),
    ] = None,
    family: Annotated[
        Literal["dlpm", "lpm"] | None,
        typer.Option(help="dlpm: all wrong answers for the same truth are equally bad; default lpm."),
    ] = None,
    questions: Questions = None,
    never_worse: NeverWorseOption = None,
    ordered: OrderedOption = None,
    round: Annotated[
        int,
        typer.Option(
            min=1, max=2, help="2: experts who have answered see the others' opinions, unnamed, and answer again."
        ),
    ] = 1,
    force: Force = False,
) -> None:
    """Write a study for experts elsewhere into one file: the words and what may be asked, without any cases."""
    from elicit_app.cli.asking import answered_without
    from elicit_app.session.packing import opinions_of, pack_path, packed, write_pack
    from elicit_app.study import open_study

    require_new(pack_path(out), force)
    opened = open_study(study)
    asked = {"purpose": purpose or opened.purpose, "family": family or "lpm", "questions": questions}
    setting = _setting(opened, asked, tuple(never_worse or ()), ordered)
    given = {"--family": (family, setting.family), "--purpose": (purpose, setting.purpose)}
    if without := answered_without(given):
        print(without)
    with output.progress("Reading answers") as advance:
        opinions = opinions_of(opened, lambda done, of: advance(1, of)) if round == 2 else ()
    with output.progress("Counting"):
        path = write_pack(packed(opened, setting, opinions), out)
    others = ", and the experts' opinions, without their names" if round == 2 else ""
    print(f"Wrote {path}: the words of “{opened.title}” and counts of decisions, no cases{others}.")
    print("Send it. Each expert opens it with elicit (or: elicit ask), answers, and sends the saved answers back.")
    print(f"Then: elicit study collect {output.quoted(study)} FILE...")


def _setting(study: Study, asked: dict[str, Any], never_worse: tuple[str, ...], ordered: str | None) -> Setting:
    from elicit_app.registry import setting_of
    from elicit_app.registry.entries import as_packed, read_stated, stated_orders

    with output.wrong_options_as_usage_errors():
        setting = setting_of("bayes", **asked, **read_stated(never_worse, ordered, study.classes))
        setting = as_packed(study, setting)
        stated_orders(setting, study.classes)
        return setting


def collect(
    study: AskedStudy,
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="What the experts saved and sent back.")],
) -> None:
    """Check the answers that experts sent back, and file them among the study's sessions."""
    from elicit_app.session.comparing import named
    from elicit_app.session.journal.listing import experts_in_words, finished_experts, sessions_folder, sessions_of
    from elicit_app.session.packing import collect as file_answers
    from elicit_app.study import open_study

    opened = open_study(study)
    for filed in file_answers(opened, files):
        print(f"{filed.source.name}: {filed.sentence}")
    finished = finished_experts(sessions_of(sessions_folder(opened), opened.digests))
    print(f"{experts_in_words(finished)} {'has' if len(finished) == 1 else 'have'} finished “{opened.title}”.")
    few = [named(one) for one in finished if not one.can_export]
    if few:
        print(f"Too few answers to be compared: {', '.join(few)}.")
    if len(finished) - len(few) > 1:
        print(f"Next: elicit study report {output.quoted(study)} --out {output.quoted(opened.name + '.pdf')}")


@output.without_garbage_collection()
def report(
    study: AskedStudy,
    out: Annotated[Path, typer.Option(help="The report: .pdf, .html or .md.")],
    trusted_only: TrustedOnly = False,
    practice: PracticeOption = None,
    metric: Annotated[Path | None, typer.Option(help="Where to write the pooled metric file too.")] = None,
    force: ForceAll = False,
) -> None:
    """Compare all experts who finished a study, pool them, and report what their costs say to do."""
    from elicit_app.study import parquet

    parquet.start()  # most studies are in such files; the child is ready once the imports are done
    from elicit_app.cli.files import require_report_name
    from elicit_app.cli.result_text import print_comparison
    from elicit_app.session.comparing import experts_of
    from elicit_app.session.report import pooled_report, save_report
    from elicit_app.session.result import save_metric
    from elicit_app.study import open_study
    from elicit_app.study.measuring import read_practice

    require_report_name(out)
    require_all_new((out, metric), force)
    opened = open_study(study)
    if practice is not None and not opened.models:
        raise typer.BadParameter("this study has no models to compare practice with.", param_hint="--practice")
    typed = None if practice is None else read_practice(practice, opened.classes)
    with output.progress("Reading answers") as advance:
        experts = experts_of(opened, advance=lambda done, of: advance(1, of), practice=typed)
    view = experts.comparison(trusted_only=trusted_only)
    page = pooled_report(view, "" if metric is None else metric.name)
    # Before anything is printed, whose reader may go away.
    saved = {"Report": save_report(page, view.pooled, out)}
    if metric is not None:
        saved["Metric file"] = save_metric(view.pooled, metric)
    print_comparison(output.console(), view)
    for kind, path in saved.items():
        print(f"{kind}: {path}")
