import json
import re
import shlex
from dataclasses import replace

import numpy as np
import pytest

from elicit_app.registry.procedures import BayesSetting, DlpmSetting, LpmSetting
from elicit_app.session.journal.events import Guess
from elicit_app.session.report import report_of, report_page, save_report
from elicit_app.session.result import result_view, scenarios_of
from elicit_app.session.sentences import preference_of
from elicit_app.session.session import Session
from elicit_app.session.view_builders import question_view, sitting_over_view
from elicit_app.study import open_study
from elicit_app.study.opening import datasets_folder
from metrics.exports.html_page import page_as_html
from metrics.exports.metric_page import metric_page
from metrics.exports.page import Table, page_as_markdown
from metrics.exports.typst_page import page_as_pdf, page_as_typst
from metrics.policies.cases import Practice

DATASETS = datasets_folder() / "breast-cancer"


@pytest.fixture(scope="module")
def answered(tmp_path_factory):
    study = open_study("breast-cancer")
    path = tmp_path_factory.mktemp("report") / "s.session.jsonl"
    setting = BayesSetting(seed=2, questions=8, purpose="choose")
    miss, alarm = 4, 1
    with Session.create(
        study, setting, path, expert="Clinic <1>", guesses=(Guess(true=0, predicted=1, ratio=5),)
    ) as one:
        while (view := question_view(one, 0)) is not None:
            more = view.left - view.right
            one.answer("left" if miss * more[0, 1] + alarm * more[1, 0] < 0 else "right", seconds=2.0)
        yield one, result_view(one)


def plain(text):
    return "".join(re.sub(r"\\(.)", r"\1", text).split())


def said(page):
    """Return the texts of a page in each format, without spaces."""
    html = re.sub(r"<svg.*?</svg>|<[^>]+>", "", page_as_html(page)).replace("&lt;", "<").replace("&gt;", ">")
    source = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', page_as_typst(page)))
    return {"html": plain(html), "pdf": plain(source), "markdown": plain(page_as_markdown(page).replace("**", ""))}


def test_the_report_says_what_the_window_and_the_terminal_say(answered):
    session, view = answered
    best, answer = view.judgement.recommendation, session.state.entries[0]
    assert answer
    for shown in said(report_of(session, view)).values():
        for sentence in (best.sentence, best.spares, best.sureness, view.headline.in_words(), view.trust_sentence):
            assert plain(sentence) in shown
        for finding in view.trust:
            assert plain(finding.headline) in shown
        for one in view.judgement.policies:
            assert plain(f"{one.cost_per_population:,.0f}") in shown
        assert "Firstguess,beforethequestions:5." in shown
        assert "Clinic<1>" in shown
        assert "cancercalledharmless" in shown
        assert "malignantcalledbenign" not in shown


def test_what_limits_the_result_is_said_in_the_report_too(answered):
    session, view = answered
    notes = ("Stated as certain before the questions.", "Two lines of the session were lost.")
    for shown in said(report_of(session, replace(view, notes=notes))).values():
        for note in notes:
            assert plain(note) in shown


def test_the_command_that_does_it_again_is_given_what_the_judgement_rests_on(answered):
    session, view = answered
    practice = Practice.of([[30, 5], [20, 45]], session.study.classes)
    judgement = scenarios_of(session.study, view.metric, practice).judgement()
    for shown in said(report_of(session, replace(view, judgement=judgement))).values():
        assert plain("--practice PRACTICE, with the predictions of") in shown
    doubted = replace(view.metric, quality=replace(view.metric.quality, provisional="they rest on 6 answers only"))
    for metric, name in (
        (doubted, "'breast-lumps-clinic-1 (provisional).metric.json'"),
        (view.metric, "breast-lumps-clinic-1.metric.json"),
    ):
        assert plain(f"elicit score {name} PREDICTIONS") in said(report_page(metric, judgement))["html"].replace(
            "&#x27;", "'"
        )
    assert "--practice" not in said(report_of(session, view))["html"]


@pytest.mark.parametrize("stated", [None, (0.1, 0.9)])
def test_the_command_that_does_it_again_gives_the_same_numbers(answered, elicit, tmp_path, stated):
    session, view = answered
    study = replace(session.study, stated_prevalence=stated)
    judgement = scenarios_of(study, view.metric).judgement()
    report = page_as_markdown(report_page(view.metric, judgement))
    (command,) = re.findall(r"\| Command \| elicit (.*?), with the predictions of (.*), in this order \|", report)
    arguments, models = shlex.split(command[0]), command[1].split(", ")
    view.metric.save(tmp_path / arguments[1])
    files = [str(DATASETS / f"{name.lower().replace(' ', '-')}.parquet") for name in models]
    at = arguments.index("PREDICTIONS")
    ran = elicit(*arguments[:at], *files, *arguments[at + 1 :], "--json", cwd=tmp_path)
    again = [one["probability_best"] for one in json.loads(ran.stdout)["policies"]]
    assert again == [one.probability_best for one in judgement.policies]
    assert models == list(study.model_names)


def test_what_was_stated_before_the_questions_or_seen_is_told(study, tmp_path):
    piles = [
        {"name": "mild", "mistakes": [{"true": "benign", "predicted": "malignant"}]},
        {"name": "no", "mistakes": []},
    ]
    with Session.create(study, BayesSetting(seed=4, piles=piles), tmp_path / "s.session.jsonl") as one:
        one.answer("left")
        view = result_view(one)
        assert ["(mild)" in note for note in view.notes] == [True]
        page = page_as_markdown(metric_page(view.metric))
        assert "| Sorted beforehand | mild: benign as malignant; no: |" in page
        assert len(re.findall(r"\bseed\b", page, re.IGNORECASE)) == 1
        begun = one.state.begun
        begun = begun.model_copy(update={"study": begun.study.model_copy(update={"round": 2})})
        one.state = replace(one.state, begun=begun)
        assert "in a second round, after the opinions of the other experts" in result_view(one).notes[-1]


def test_what_became_of_answers_is_told(study, tmp_path):
    with Session.create(study, BayesSetting(seed=4), tmp_path / "s.session.jsonl") as one:
        for reply in ("left", "unsure", "right", "unsure", "left", "left"):
            one.answer(reply)
        one.take_out(1)
        one.change(3, "equal")
        view = result_view(one)
        report = said(report_of(one, view))["markdown"]
    assert view.answers == 5  # as the report says
    assert plain("5 answers") in report
    assert plain("Of these, 1 was taken out afterwards and 2 were answered “cannot say”.") in report
    assert report.count(plain("| changed later |")) == 1
    assert report.count(plain("| taken out |")) == 1


def test_one_answer_is_spoken_of_as_one(study, tmp_path):
    with Session.create(study, BayesSetting(seed=4), tmp_path / "s.session.jsonl") as one:
        one.answer("left")
        report = said(report_of(one, result_view(one)))["markdown"]
        assert sitting_over_view(one).sentence == "1 answer, all kept."
    for sentence in ("1 answer leaves ", "1 pair of results for 1,000 patients was compared", "1 of 1 answer fits"):
        assert plain(sentence) in report


def test_only_what_the_procedure_and_the_models_did_is_told(tmp_path):
    study = open_study("breast-cancer")
    certain = [replace(one, y_proba=np.eye(2)[one.y_proba.argmax(axis=1)]) for one in study.models]
    for models, setting, told in ((study.models, DlpmSetting(), True), (certain, BayesSetting(seed=1), False)):
        path = tmp_path / f"{told}.session.jsonl"
        with Session.create(replace(study, models=tuple(models)), setting, path) as one:
            for _ in range(6):
                one.answer("left")
            reports = said(report_of(one, result_view(one)))
        report = reports["markdown"]
        assert (plain("do not include this doubt") in report) is told
        assert (plain("dark bar above") in reports["html"]) is not told
        assert (plain("calls a case positive where") in report) is told
        assert plain("Nearly every value in it") not in report
        assert (plain("leave open if every answer is right") in report) is told
        assert (plain("start of each moved number") in report) is not told


def test_every_answer_is_in_it_in_words(answered):
    from elicit_app.session.view_builders import review_view

    session, view = answered
    page, study = report_of(session, view), session.study
    (table,) = [block for block in page.sections[-1].blocks if isinstance(block, Table)]
    answers = review_view(session).answers
    assert [row[0].text for row in table.rows] == [str(answer.number) for answer in answers]
    for row, answer in zip(table.rows, answers, strict=True):
        assert preference_of(answer, study.wording, "lpm").preferred in row[1].text


def test_no_setting_is_named(answered):
    session, view = answered
    for shown in said(report_of(session, view)).values():
        for name in BayesSetting.model_fields:
            if "_" in name:
                assert name not in shown


@pytest.mark.parametrize(
    ("study", "setting", "method"),
    [
        ("breast-cancer", BayesSetting(), "elliptical slice sampling"),
        ("digits", BayesSetting(), "expectation propagation"),
        ("traffic-light", LpmSetting(), "The questions halve intervals"),
    ],
)
def test_it_names_the_method_behind_the_numbers(study, setting, method, tmp_path):
    with Session.create(open_study(study), setting, tmp_path / "s.session.jsonl") as one:
        one.answer("left", seconds=2.0)
        report = said(report_of(one, result_view(one)))["markdown"]
    methods = ("elliptical slice sampling", "expectation propagation", "The questions halve intervals")
    assert [name for name in methods if plain(name) in report] == [method]


@pytest.mark.parametrize("ending", [".pdf", ".html", ".md"])
def test_it_is_saved_by_the_ending_and_the_same_twice(answered, tmp_path, ending):
    session, view = answered
    page = report_of(session, view)
    first, second = (save_report(page, view.metric, tmp_path / f"{name}{ending}").read_bytes() for name in "ab")
    assert first == second
    if ending == ".pdf":
        assert len(re.findall(rb"/Type/Page\b", first)) == 3
        assert "90\N{NO-BREAK SPACE}%" in page_as_typst(page)
        assert b"/StructTreeRoot" in first


def test_what_is_signed_is_on_one_sheet_and_what_the_answers_say_begins_the_next(tmp_path):
    study = open_study("wine")
    with Session.create(study, BayesSetting(seed=5, questions=6), tmp_path / "s.session.jsonl", simulated=True) as one:
        while (view := question_view(one, 0)) is not None:
            one.answer("left" if view.left[0, 1] < view.right[0, 1] else "right")
        result = result_view(one)
        page = report_of(one, result)
    assert page.subtitle.startswith("What the answers of a simulated expert say about")
    starts = [place for place, section in enumerate(page.sections) if section.new_sheet]
    assert [page.sections[place].title for place in starts] == ["What the answers say", "Every answer, in words"]
    signed = page_as_pdf(replace(page, sections=page.sections[: starts[0]]), result.metric.created)
    assert len(result.judgement.policies) == 8
    assert len(re.findall(rb"/Type/Page\b", signed)) == 1


def test_without_a_session_it_still_concludes(answered):
    _, view = answered
    shown = said(report_page(view.metric, view.judgement))["html"]
    assert plain(view.judgement.recommendation.sentence) in shown
    assert "Everyanswer" not in shown
    assert plain(view.headline.in_words()) in said(report_page(view.metric, None))["html"]
