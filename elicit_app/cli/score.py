"""`elicit score`: models judged by an elicited metric."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
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
    TruthOption,
    models_in,
)
from elicit_app.cli.output import AsJson, Scheduler, repeated
from elicit_app.problem import Problem

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from rich.console import Console

    from elicit_app.study.model import ColumnMap
    from elicit_app.study.scoring import ConcernSettings, ModelRows, RowsTally, Scores, Stated
    from metrics import ElicitedMetric
    from metrics.policies.cases import Policy
    from metrics.policies.judgement import JudgedPolicy, Judgement


_WORSE = 3
_AS_USUAL = (50, "sum", "graded", "local")  # defaults of options that apply only to classes

PrevalenceOption = Annotated[
    str | None,
    typer.Option(
        metavar="CLASS=RATE,...",
        help="How common the true classes are where the models will be used (0.03 or 3%); classes left out share "
        "the rest.",
    ),
]
PracticeOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Present practice: CSV of counts or rates, a row per true class, a column per decision, both named.",
    ),
]


def register(app: typer.Typer) -> None:
    """Add `score`."""
    app.command(short_help="Compare ways to use models.")(score)


@output.without_garbage_collection()
def score(
    metric: Annotated[Path, typer.Argument(metavar="METRIC", help="An elicited metric file (*.metric.json).")],
    predictions: Annotated[
        list[Path],
        typer.Argument(
            metavar="PREDICTIONS...",
            help="One predictions file per model, all of the same cases; a study folder (unless it is about amounts, "
            "of which it keeps only sums), or a bundled study's name, stands for all of its models.",
        ),
    ],
    truth: TruthOption = None,
    columns: ColumnsOption = None,
    model: ModelOption = None,
    predicted: PredictedOption = None,
    logits: LogitsOption = False,
    prevalence: PrevalenceOption = None,
    practice: PracticeOption = None,
    draws: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=1_000_000,
            help="Draws for the uncertainty of answers and cases; 0 for none.",
            show_default="4000, fewer above ten classes",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the draws.")] = 0,
    top_k: Annotated[
        int | None, typer.Option("--top-k", min=1, metavar="K", help="MPCS: top classes used; default all.")
    ] = None,
    intervals: Annotated[int, typer.Option(min=2, max=1_000_000, metavar="T", help="MPCS: confidence intervals.")] = 50,
    true_concern: Annotated[
        Literal["sum", "count"],
        typer.Option(help="MPCS: concern of the true class, the paper's equation (8), or K - 1 as in its programs."),
    ] = "sum",
    release: Annotated[
        Literal["list", "graded"],
        typer.Option(help="MPCS: the metric file's release list with its one factor, or a factor for each mistake."),
    ] = "graded",
    fail_if_worse_than: Annotated[
        str | None,
        typer.Option(
            metavar="POLICY",
            help="Exit with 3 if every other model (with one model, every other use of it) costs more than this: a "
            "policy's name, 'always CLASS', 'practice', or a model, as it decides now.",
        ),
    ] = None,
    engine: Annotated[
        Literal["local", "dask"],
        typer.Option(help="dask: on several processes or machines; a model may then be a folder of Parquet files."),
    ] = "local",
    scheduler: Scheduler = None,
    as_json: AsJson = False,
) -> None:
    """Compare ways to use models by what their mistakes cost; files may be larger than memory."""
    from elicit_app.study.scoring import ConcernSettings

    if scheduler is not None and engine != "dask":
        raise typer.BadParameter("it requires --engine dask.", param_hint="--scheduler")
    if model is not None and engine == "dask":  # whose parts of a file need not hold the same cases of all models
        raise typer.BadParameter("it requires --engine local.", param_hint="--model")
    from metrics.policies.costs import usual_draws

    loaded = load_metric(metric)
    draws = usual_draws(len(loaded.classes)) if draws is None else draws
    options = ColumnOptions(truth, tuple(columns or ()), tuple(predicted or ()), logits=logits, model=model)
    if loaded.kind != "confusion":
        options.refuse("files of several labels, or of contexts, name their columns themselves.")
        about_classes = (prevalence, practice, top_k, fail_if_worse_than, scheduler)
        if any(one is not None for one in about_classes) or (intervals, true_concern, release, engine) != _AS_USUAL:
            raise typer.BadParameter(f"a metric of kind {loaded.kind} is scored with --draws, --seed and --json only.")
        _score_priced(loaded, predictions, draws, seed, as_json)
        return
    if top_k is not None and top_k > len(loaded.classes):
        raise typer.BadParameter(f"the metric has {len(loaded.classes)} classes.", param_hint="--top-k")
    scores = scores_from_files(
        loaded,
        predictions,
        options,
        prevalence=prevalence,
        practice=practice,
        concern=ConcernSettings(top_k, intervals, true_concern, release),
        tally=_tally if engine == "local" else partial(_tally_on_dask, scheduler=scheduler),
        draws=draws,
        seed=seed,
    )
    gate = None if fail_if_worse_than is None else _named(scores.judgement, fail_if_worse_than)
    output.print_json(_as_json(loaded, scores)) if as_json else _print(loaded, scores)
    if gate is not None:
        _require_better(scores.judgement, gate)


def load_metric(path: Path) -> ElicitedMetric:
    """Return the metric of a file that a user named; warn on standard error if it has no digest; see `read_metric`."""
    loaded, protected = read_metric(path)
    if not protected:
        print(f"{path} carries no digest, so a change would not be noticed.", file=sys.stderr)
    return loaded


def read_metric(path: Path) -> tuple[ElicitedMetric, bool]:
    """Return the metric of a file that a user named, and whether a digest protects it.

    Raises Problem if the file is missing, damaged, of a newer version, or inconsistent.
    """
    from metrics import ElicitedMetric
    from metrics.elicited.metric_file import metric_from_text, read_text

    if path.is_dir():
        raise Problem(f"{path} is a folder: name an elicited metric file (*.metric.json).")
    try:
        return metric_from_text(read_text(path), str(path), ElicitedMetric)
    except FileNotFoundError as error:
        raise Problem(f"There is no file {path}: name an elicited metric file (*.metric.json).") from error
    except (OSError, ValueError) as error:
        raise Problem(str(error)) from error


def _score_priced(metric: ElicitedMetric, files: list[Path], draws: int, seed: int, as_json: bool) -> None:
    """Score multi-label models, or suggestions in contexts."""
    from dataclasses import asdict

    from elicit_app.study.amounts import priced_scores
    from elicit_app.study.folder import AMOUNTS_FILE
    from elicit_app.study.making import distinct_names
    from metrics.elicited.exchange import PLAUSIBLE
    from metrics.text import probability

    for path in files:
        if (path / AMOUNTS_FILE).is_file():
            raise Problem(f"{path} keeps sums, no items: name the predictions files, one for each model.")
    scores = priced_scores(metric, files, distinct_names(files), draws=draws, seed=seed)
    if as_json:
        prices = metric.penalties()._asdict() if metric.kind == "multilabel" else {"alpha_share": metric.alpha_share()}
        models = [asdict(one) for one in scores]
        output.print_json({"metric": metric.name, "kind": metric.kind, "prices": prices, "models": models})
        return
    console = output.console()
    _print_heading(console, metric, metric.quality.caveat)
    headings = [f"{name}, per item" for name in scores[0].amounts]
    table = output.table(("Rank", "Model", *headings, "score", PLAUSIBLE.head, "best"), left=(1,))
    for one in sorted(scores, key=lambda score: score.rank):
        amounts = [f"{amount:.3g}" for amount in one.amounts.values()]
        ends = "" if one.interval is None else "{:.3f} to {:.3f}".format(*one.interval)
        best = "" if one.probability_best is None else probability(one.probability_best)
        table.add_row(str(one.rank), one.name, *amounts, f"{one.score:.3f}", ends, best)
    console.print(table)


def scores_from_files(
    metric: ElicitedMetric,
    predictions: list[Path],
    options: ColumnOptions,
    *,
    prevalence: str | None = None,
    practice: Path | None = None,
    concern: ConcernSettings | None = None,
    tally: Callable[[ElicitedMetric, Sequence[ModelRows], ConcernSettings, Stated], RowsTally] | None = None,
    **drawing: int,
) -> Scores:
    """Return the scores of models from predictions files, for options of `score`; `drawing` are `draws` and `seed`."""
    from elicit_app.study.measuring import read_practice
    from elicit_app.study.scoring import AS_USUAL, scores_of

    typed = None if practice is None else read_practice(practice, metric.classes)
    stated = None if prevalence is None else parsed_shares(prevalence, metric.classes)
    models = _models(predictions, options)

    def shares(labels: NDArray[np.int64]) -> list[float] | None:
        return None if stated is None else _completed(stated, [int(number) for number in labels], metric.classes)

    counted_rows = (tally or _tally)(metric, models, concern or AS_USUAL, shares)
    _print_notes(counted_rows)
    prevalence_used = shares(counted_rows.models[0].labels)
    return scores_of(counted_rows, metric, prevalence=prevalence_used, practice=typed, **drawing)


def _models(predictions: Sequence[Path], options: ColumnOptions) -> list[ModelRows]:
    """Return the models in files, and in studies, where they keep their names; each is one whole file."""
    from elicit_app.study.folder import STUDY_FILE, model_files
    from elicit_app.study.making import distinct_names
    from elicit_app.study.opening import BUNDLED, datasets_folder
    from elicit_app.study.scoring import ModelRows, Piece

    given = [datasets_folder() / path if str(path) in BUNDLED and not path.exists() else path for path in predictions]
    studies = [path for path in given if (path / STUDY_FILE).is_file()]
    found: list[tuple[str, Path]] = []
    for path in given:
        found += model_files(path) if path in studies else [(path.stem, path)]
    names, files = [name for name, _ in found], [file for _, file in found]
    _warn_repeated(files)
    column_maps: Sequence[ColumnMap | None]
    each, column_maps = files, [None] * len(files)
    if any(file.is_dir() for file in files):  # of Parquet files, for Dask
        options.refuse("the columns of a folder of Parquet files must have the usual names.")
    else:
        each, column_maps = models_in(files, options, known_classes=True)
    if not (studies and each == files and len(set(names)) == len(names)):
        names = distinct_names(each, column_maps)
    pieces = [Piece(file, columns=one) for file, one in zip(each, column_maps, strict=True)]
    return [ModelRows(name, (piece,)) for name, piece in zip(names, pieces, strict=True)]


def _warn_repeated(files: Sequence[Path]) -> None:
    """Warn about files given more than once: each counts as a separate model, and these split the probabilities."""
    for file, same in repeated(files).items():
        print(f"{file.name} is given {len(same)} times and judged as {len(same)} models.", file=sys.stderr)


def _tally(metric: ElicitedMetric, models: Sequence[ModelRows], concern: ConcernSettings, stated: Stated) -> RowsTally:
    """Tally the predictions in this process."""
    from elicit_app.study.scoring import tally_models

    known = [piece.opened(metric.classes).table.rows for model in models for piece in model.pieces]
    with output.progress("Scoring", None if None in known else sum(rows or 0 for rows in known)) as advance:
        return tally_models(models, metric, advance, concern, stated)


def _tally_on_dask(
    metric: ElicitedMetric,
    models: Sequence[ModelRows],
    concern: ConcernSettings,
    stated: Stated,
    *,
    scheduler: str | None,
) -> RowsTally:
    from elicit_app.study.cluster import parts_of, tally_on_cluster

    found = [(model.name, piece) for model in models for piece in model.pieces]
    files, column_maps = [(name, piece.path) for name, piece in found], [piece.columns for _, piece in found]
    parts = parts_of(files, classes=metric.classes, columns=column_maps)
    with output.progress("Scoring", len(parts)) as advance:
        return tally_on_cluster(metric, parts, scheduler=scheduler, advance=advance, concern=concern, stated=stated)


def _print_notes(tally: RowsTally) -> None:
    from elicit_app.study.reading import people_notes, rescaling_notes

    for model in tally.models:
        output.print_notes((*model.notes, *(note for each in model.rescaled for note in rescaling_notes(*each))))
    people = tally.cases.people
    told = [column for model in tally.models for column in model.person_columns]
    if people is not None and told:
        output.print_notes(people_notes(*told[0], people.total))


def parsed_shares(text: str, classes: Sequence[str]) -> dict[str, float]:
    """Return the shares in an option: "malignant=0.1" or "a=0.2,b=0.3"."""
    from elicit_app.study.measuring import numbers_by_class

    with output.wrong_options_as_usage_errors():
        shares = numbers_by_class(text, classes, "prevalence")
    for rate in shares.values():
        if rate > 1:
            raise typer.BadParameter(f"{rate:g} must lie between 0 and 1.", param_hint="--prevalence")
    return shares


def _completed(shares: dict[str, float], cases: Sequence[int], classes: Sequence[str]) -> list[float]:
    """Return a share for every class; those not stated divide the remainder as in the predictions."""
    from elicit_app.study.measuring import completed_prevalence

    counts = dict(zip(classes, cases, strict=True))
    empty = [name for name, share in shares.items() if share > 0 and not counts[name]]
    with output.wrong_options_as_usage_errors():
        completed = completed_prevalence(shares, counts)
    if empty:
        message = f"there are no cases of {empty[0]!r}, so nothing is known of it."
        raise typer.BadParameter(message, param_hint="--prevalence")
    return completed


def _named(judgement: Judgement, name: str) -> JudgedPolicy:
    """Return the policy named by an option: in full or, if only one goes by it, by a shorter name."""
    wanted = name.strip().casefold()
    in_full = [one for one in judgement.policies if one.name.casefold() == wanted]
    found = in_full or [one for one in judgement.policies if wanted in map(str.casefold, _short_names(one.policy))]
    if len(found) == 1:
        return found[0]
    which = "is not one of the policies" if not found else "may be several of the policies; name one in full"
    known = ", ".join(repr(one.name) for one in found or judgement.policies)
    raise typer.BadParameter(f"{name!r} {which}: {known}.", param_hint="--fail-if-worse-than")


def _short_names(policy: Policy) -> tuple[str, ...]:
    """Return the shorter names of a policy, which a model may share with others."""
    if policy.decides == "practice":
        return ("practice",)
    if policy.model is None or policy.recalibrated or policy.correction is not None:
        return ()
    return (f"{policy.model} {policy.decides}", *((policy.model,) if policy.decides == "as-is" else ()))


def _require_better(judgement: Judgement, gate: JudgedPolicy) -> None:
    """Exit with 3 if every policy of another model (with one model, its every other policy) costs more than `gate`."""
    from metrics.measures.costs import EQUAL_COST
    from metrics.text import total_cost

    others = [one for one in judgement.policies if one.policy.model is not None and one is not gate]
    others = [one for one in others if one.policy.model != gate.policy.model] or others
    best = min(others, key=lambda one: one.cost_per_population, default=None)
    if best is not None and best.cost_per_population <= gate.cost_per_population * (1 + EQUAL_COST):
        return
    cost, found = total_cost(gate.cost_per_population), "no other policy uses a model"
    if best is not None:
        found = f"{best.name}, costs {total_cost(best.cost_per_population - gate.cost_per_population)} more"
    print(f"elicit: worse than {gate.name}, which costs {cost}: {found}.", file=sys.stderr)
    raise typer.Exit(_WORSE)


def _as_json(metric: ElicitedMetric, scores: Scores) -> dict[str, Any]:
    judgement = scores.judgement
    found = judgement.information
    return {
        "metric": metric.name,
        "purpose": metric.quality.purpose,
        "provisional": metric.quality.provisional,
        "models": [_model(one) for one in scores.models],
        "unit": judgement.unit_name,
        "population": judgement.population,
        "prevalence": {name: float(p) for name, p in zip(metric.classes, judgement.prevalence, strict=True)},
        "recommendation": judgement.recommendation.sentence,
        "policies": [_policy(one, metric.classes) for one in judgement.policies],
        "information": None
        if found is None
        else {
            **_fields(found, "expected_loss", "of_values", "of_cases", "of_deciding_anew"),
            "advice": judgement.advice,
        },
        "cases": judgement.n_cases,
        "people": None if judgement.people is None else judgement.people.total,
        "draws": judgement.n_draws,
        "notes": list(judgement.notes),
    }


def _model(one: Any) -> dict[str, Any]:
    costs = ("misclassification_cost", "expected_misclassification_cost", "decided_cost")
    return {
        "name": one.name,
        **_fields(one.judged, "cost_per_population"),
        **_fields(one, *costs, "mpcs", "accuracy", "balanced_error_rate"),
        **_fields(one.judged, "rank", "probability_best"),
        "mpcs_unweighted": one.mpcs_unweighted,
    }


def _policy(one: JudgedPolicy, classes: Sequence[str]) -> dict[str, Any]:
    policy, cut = one.policy, one.threshold
    return {
        **_fields(policy, "name", "model", "decides", "recalibrated"),
        "corrected": policy.correction is not None,
        "class": None if policy.predicted is None else classes[policy.predicted],
        "threshold": None if cut is None else _fields(cut, "value", "low", "high"),
        **_fields(one, "cost_per_population", "interval", "interval_answers", "interval_cases"),
        **_fields(one, "difference_to_best", "difference_interval", "rank", "probability_best"),
    }


def _fields(record: object, *names: str) -> dict[str, Any]:
    return {name: getattr(record, name) for name in names}


def _print_heading(console: Console, metric: ElicitedMetric, reservation: str) -> None:
    console.print(metric.name, style="dim")
    for sentence in filter(None, (metric.quality.source, reservation)):
        console.print(sentence, soft_wrap=True)


def _print(metric: ElicitedMetric, scores: Scores) -> None:
    from elicit_app.cli.result_text import print_judgement
    from metrics.text import accuracy_text, concern, total_cost

    console = output.console()
    _print_heading(console, metric, metric.quality.caveat)
    print_judgement(console, scores.judgement)
    heads = ("Rank", "Model as it decides now", "cost", "MPCS", "MPCS by class weight", "accuracy")
    table = output.table(heads, left=(1,))
    for one in sorted(scores.models, key=lambda model: model.judged.cost_per_population):
        found = (total_cost(one.judged.cost_per_population), concern(one.mpcs_unweighted), concern(one.mpcs))
        table.add_row(str(one.judged.rank), one.name, *found, accuracy_text(one.accuracy))
    console.print(table)
