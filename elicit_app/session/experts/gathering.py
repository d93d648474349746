"""The experts who have finished a study: their sessions found, read and compared."""

from __future__ import annotations

from pathlib import Path

from elicit_app.problem import Problem
from elicit_app.session.experts.compared import ComparisonView, Expert
from elicit_app.session.experts.comparing import compare
from elicit_app.session.experts.pooling import Source, pool
from elicit_app.session.header import study_of
from elicit_app.session.journal.listing import SessionSummary, finished_experts, sessions_of
from elicit_app.session.journal.reading import read
from elicit_app.session.results.judging import scenarios_of
from elicit_app.session.results.result import result_view
from elicit_app.session.session import Session
from elicit_app.study.model import Study


def compare_experts(path: Path, study: Study | None = None) -> ComparisonView:
    """Compare all experts who have finished the study of a session.

    Parameters
    ----------
    path : Path
        A session; the others lie beside it and are about the same predictions.
    study : Study, optional
        The study, where it is open already; else it is found as the session was begun.

    Raises
    ------
    Problem
        Where fewer than two experts have a result.
    """
    mark = read(path).begun.study
    found = finished_experts(sessions_of(path.parent, mark.digest))
    if len(found) < 2:
        raise Problem(
            f"Comparing needs two experts who have finished “{mark.title}”; there is {'one' if found else 'none'}. "
            "Let another person answer, then compare."
        )
    study = study or study_of(mark, path)
    experts, notes = [], []
    for one in found:
        try:
            experts.append(_expert(one, study))
        except Problem as problem:
            notes.append(f"Left out: {problem.sentence}")
    if len(experts) < 2:
        raise Problem(" ".join(["Fewer than two of these experts can be compared.", *notes]))
    return _compared(experts, study, tuple(notes))


def _expert(one: SessionSummary, study: Study) -> Expert:
    view = result_view(Session.look(one.path, study))
    if not view.can_export:
        raise Problem(f"{named(one)} has too few answers.")
    return Expert(named(one), Source(one.path.name, view.metric), view.models)


def named(one: SessionSummary) -> str:
    """Return who answered, or when, where no name was given."""
    if one.expert:
        return one.expert
    assert one.last is not None
    return f"{one.last.astimezone():%d %b, %H:%M}".lstrip("0")


def _compared(experts: list[Expert], study: Study, notes: tuple[str, ...]) -> ComparisonView:
    names = [expert.name for expert in experts]
    together = f"{', '.join(names[:-1])} and {names[-1]}" if len(names) <= 4 else f"{len(names)} experts"
    pooled = pool([expert.source for expert in experts], f"{study.title}, {together} pooled")
    scenarios = scenarios_of(study, pooled)
    models = () if scenarios is None else scenarios.at()
    return compare(experts, study.title, wording=study.wording, pooled_models=models, pooled=pooled, notes=notes)
