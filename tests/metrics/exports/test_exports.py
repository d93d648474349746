import csv
import io
import re
from datetime import UTC, datetime
from functools import cache
from html.parser import HTMLParser
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextPath
from sklearn.datasets import load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score

from metrics import FORMATS, Consequence, ElicitedMetric, Provenance, Quality, Tally, export
from metrics.drawing import LinearAxis, LogAxis
from metrics.elicited.exchange import ExchangeRate, exchange_rates, headline
from metrics.exports.html_page import page_as_html
from metrics.exports.metric_page import metric_page
from metrics.exports.page import Page as DescribedPage
from metrics.exports.page import Paragraph, Section, difference_numbers, log_numbers, page_as_markdown, rate_mark
from metrics.exports.tools import csv_table
from metrics.exports.typst_page import page_as_typst
from metrics.files import cell_text
from metrics.inputs.labels import label_text
from metrics.text import two_digits

CREATED = datetime(2026, 11, 20, 10, 42, tzinfo=UTC)
COSTS = np.array([[0, 1, 0.91], [0.13, 0, 0.013], [0.11, 0.03, 0]])
INTERVALS = [[[0, 0], [1, 1], [0.52, 1]], [[0.08, 0.2], [0, 0], [0.005, np.inf]], [[0.07, 0.17], [0, 0.03], [0, 0]]]
ODD = ["a \"b' \\", "c, d|e", "é*_`日本 <b>&amp;", "$x$ {y}% #\n1"]
ODD_NAME = 'Odd "names" \'\'\'""" \\ $x$ {y} | <i>\n# %'


def skin(**changes):
    details = {
        "name": "Skin lesions",
        "created": CREATED,
        "intervals": INTERVALS,
        "prevalence": [0.1, 0.7, 0.2],
        "population": 1000,
        "consequences": [
            Consequence("melanoma", "naevus", "Missed melanoma", "missed melanoma", "missed melanomas"),
            Consequence("naevus", "melanoma", "Needless excision", "needless excision", "needless excisions"),
        ],
        "yardstick": ("naevus", "melanoma"),
        "provenance": Provenance("bayes", "0.1.0", {"stop": True}, 7, 14, "ab" * 32, None, "Dr. Ö"),
        "quality": Quality(Tally(2, 3), Tally(12, 14), Tally(5, 5)),
    }
    return ElicitedMetric.from_cost_matrix(["melanoma", "naevus", "keratosis"], COSTS, **(details | changes))


def odd(family="lpm"):
    weights = np.arange(1, 13) if family == "lpm" else [4, 1, 2, 3]
    sign = -1 if family == "lpm" else 1
    return ElicitedMetric.from_weights(ODD, sign * np.array(weights), family, name=ODD_NAME, created=CREATED)


def many():
    costs = np.exp(np.random.default_rng(0).normal(size=(10, 10)))
    np.fill_diagonal(costs, 0)
    names = [f"a rather long class name, number {i}" for i in range(10)]
    return ElicitedMetric.from_cost_matrix(names, costs, name="A long name " * 12, created=CREATED)


def hundred():
    costs = np.random.default_rng(0).uniform(0.1, 1, size=(100, 100))
    np.fill_diagonal(costs, 0)
    return ElicitedMetric.from_cost_matrix(range(100), costs, created=CREATED)


@cache
def odd_page():
    """Return a page of PDF; to embed its fonts takes as long as many tests."""
    return export(odd(), "pdf")


METRICS = {"skin": skin, "odd": odd, "odd dlpm": lambda: odd("dlpm"), "many": many, "hundred": hundred}


@pytest.mark.parametrize("name", [*FORMATS])
def test_the_same_metric_gives_the_same_content(name):
    content = odd_page() if name == "pdf" else export(odd(), name)
    assert content
    assert content == export(odd(), name)
    assert isinstance(content, bytes if name == "pdf" else str)
    assert FORMATS[name].startswith(".")


def test_an_unknown_format_is_refused():
    with pytest.raises(ValueError, match="'xls'; one of sklearn, weka"):
        export(skin(), "xls")


@pytest.mark.parametrize("family", ["lpm", "dlpm"])
def test_the_scikit_learn_code_runs_and_agrees(family):
    metric = odd(family)
    code = {}
    exec(compile(export(metric, "sklearn"), "snippet", "exec"), code)
    assert code["CLASSES"] == ODD
    np.testing.assert_array_equal(code["COST_MATRIX"], metric.cost_matrix)
    rng = np.random.default_rng(0)
    true, predicted, weight = rng.choice(ODD, 50), rng.choice(ODD, 50), rng.uniform(size=50)
    assert code["mean_cost"](true, predicted) == pytest.approx(metric.score(true, predicted))
    assert code["mean_cost"](true, predicted, weight) == pytest.approx(
        metric.score(true, predicted, sample_weight=weight)
    )
    proba, order = rng.dirichlet(np.ones(4), 50), [2, 0, 3, 1]
    columns = [ODD[i] for i in order]
    np.testing.assert_array_equal(code["decide"](proba, columns), metric.decide(proba, labels=columns))
    assert code["class_weight"](ODD) == metric.class_weight


def test_the_scikit_learn_code_does_not_let_rounding_decide():
    metric = ElicitedMetric.from_cost_matrix(["a", "b", "c"], np.array([[0, 0.3, 0.1], [0.7, 0, 0.1], [0.2, 0.1, 0]]))
    code = {}
    exec(compile(export(metric, "sklearn"), "snippet", "exec"), code)
    tenths = np.array([(i, j, 10 - i - j) for i in range(11) for j in range(11 - i)]) / 10
    for order in ([0, 1, 2], [2, 0, 1]):
        columns = np.array(metric.classes)[order]
        np.testing.assert_array_equal(code["decide"](tenths, columns), metric.decide(tenths, labels=columns))


@pytest.mark.parametrize(
    ("classes", "labels"),
    [
        (["0", "1"], [False, True]),
        (["0", "1"], ["false", "TRUE"]),
        (["False", "True"], [0, 1]),
        (["<=50K", ">50K"], [" <=50K", " >50K"]),
        (["2", "10"], ["2.0", "10.0"]),
        (["2", "10"], [np.float32(2), np.float32(10)]),
        (["1.", "a.0"], ["1", "a.0 "]),
    ],
)
def test_the_scikit_learn_code_reads_labels_as_the_metric_does(classes, labels):
    metric = ElicitedMetric.from_cost_matrix(classes, [[0, 1], [4, 0]])
    code = {}
    exec(compile(export(metric, "sklearn"), "snippet", "exec"), code)
    first, second = labels
    assert code["mean_cost"](labels, [second, first]) == metric.score(labels, [second, first]) == 0.625
    assert code["class_weight"](labels) == {first: metric.class_weight[metric.classes[0]], second: 1.6}
    assert code["decide"]([[0.9, 0.1]], labels).tolist() == metric.decide([[0.9, 0.1]], labels=labels).tolist()


def test_the_scikit_learn_code_names_an_unknown_label():
    code = {}
    exec(compile(export(skin(), "sklearn"), "snippet", "exec"), code)
    with pytest.raises(ValueError, match="'wart' is not one of the classes"):
        code["index"](["wart"])


def test_the_scikit_learn_scorer_works_with_integer_labels():
    X, y = load_wine(return_X_y=True)
    metric = ElicitedMetric.from_cost_matrix([2, 0, 1], COSTS)
    code = {}
    exec(compile(export(metric, "sklearn"), "snippet", "exec"), code)
    model = LogisticRegression(C=1e-4, max_iter=2000, class_weight=code["class_weight"](np.unique(y)))
    theirs = cross_val_score(model, X, y, scoring=code["scorer"], cv=3, error_score="raise")
    np.testing.assert_allclose(theirs, cross_val_score(model, X, y, scoring=metric.as_scorer(), cv=3))
    assert (theirs < 0).any()


@pytest.mark.parametrize("make", METRICS.values(), ids=[*METRICS])
def test_weka_reads_rows_of_true_classes(make):
    metric = make()
    lines = [line for line in export(metric, "weka").splitlines() if not line.startswith("%")]
    k = len(metric.classes)
    assert lines[0] == f"{k}\t{k}"
    np.testing.assert_array_equal([[float(x) for x in line.split()] for line in lines[1:]], metric.cost_matrix)


@pytest.mark.parametrize("make", METRICS.values(), ids=[*METRICS])
def test_mlr3_reads_rows_of_predictions(make):
    metric = make()
    code = export(metric, "mlr3")
    assert code.isascii()
    names = re.search(r"^classes = c\((.*)\)$", code, re.M).group(1)
    read = [
        re.sub(r"\\U\{([0-9a-f]+)\}", lambda m: chr(int(m.group(1), 16)), re.sub(r'\\([\\"])', r"\1", name))
        for name in re.findall(r'"((?:[^"\\]|\\.)*)"', names)
    ]
    assert tuple(read) == metric.classes
    rows = re.search(r"  c\(\n(.*?)\n  \),", code, re.S).group(1)
    matrix = np.array([[float(x) for x in row.strip(" ,").split(",")] for row in rows.splitlines()])
    np.testing.assert_array_equal(matrix.T, metric.cost_matrix)
    assert "byrow = TRUE, dimnames = list(response = classes, truth = classes)" in code


@settings(deadline=None)
@given(st.lists(st.text(min_size=1).map(label_text).filter(bool), min_size=2, max_size=3, unique=True))
def test_csv_keeps_any_name(names):
    k = len(names)
    metric = ElicitedMetric.from_weights(names, -np.arange(1.0, k * k - k + 1), "lpm")
    rows = [*csv.DictReader(io.StringIO(csv_table(metric), newline=""))]
    assert len(rows) == k * k
    for row, (i, j) in zip(rows, np.ndindex(k, k), strict=True):
        assert (cell_text(row["true_class"]), cell_text(row["predicted_class"])) == (names[i], names[j])
        assert float(row["cost"]) == metric.cost_matrix[i, j]
        assert float(row["release_factor"]) == metric.release_factors()[i, j]


def test_csv_leaves_empty_what_is_not_known():
    rows = [*csv.DictReader(io.StringIO(csv_table(skin())))]
    assert [rows[5]["cost_low"], rows[5]["cost_high"]] == ["0.005", ""]
    assert rows[1]["mistake"] == "Missed melanoma"
    assert rows[0]["mistake"] == ""
    assert rows[2]["mistake"] == "melanoma called keratosis"


@settings(deadline=None)
@given(
    st.lists(
        st.text(alphabet='ab|\\*_`<&# é日"\n$[]', min_size=1).filter(str.strip),
        min_size=2,
        max_size=3,
        unique_by=str.strip,
    )
)
def test_markdown_tables_keep_their_columns(names):
    metric = ElicitedMetric.from_weights(names, np.ones(len(names)), "dlpm", name=names[0])
    blocks = export(metric, "markdown").split("\n\n")
    tables = [block.splitlines() for block in blocks if block.startswith("|")]
    assert len(tables) == 5
    for table in tables:
        columns = {len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) for line in table}
        assert len(columns) == 1, table
    heads = re.split(r"(?<!\\)(?:\\\\)*\|", tables[1][0])[2:-1]
    shown = [re.sub(r"\\(.)", r"\1", head).strip() for head in heads]
    assert shown == [" ".join(name.split()) for name in names]


class Page(HTMLParser):
    """Collects text and tags, and refuses tags that close in the wrong order."""

    def __init__(self, page):
        super().__init__()
        self.text, self.tags, self.open = [], [], []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag not in ("meta", "line", "circle"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


@pytest.mark.parametrize("make", METRICS.values(), ids=[*METRICS])
def test_the_html_page_stands_alone(make):
    metric = make()
    source = export(metric, "html")
    page = Page(source)
    assert page.open == []
    assert not any(name in ("src", "href", "data") for _, attributes in page.tags for name in attributes)
    assert not {tag for tag, _ in page.tags} & {"script", "link", "img", "iframe", "i"}
    assert "url(" not in source
    assert "@import" not in source
    text = " ".join(" ".join(page.text).split())
    for name in metric.classes:
        assert " ".join(name.split()) in text
    assert " ".join(headline(metric).in_words().split()) in text


def test_the_html_page_tells_costs_intervals_and_provenance():
    page = Page(export(skin(), "html"))
    text = " ".join(" ".join(page.text).split())
    for words in (
        "One missed melanoma counts as much as 7.7 needless excisions (plausible: 5 to 12).",
        "0.13 0.08 to 0.2",
        "≤ 0.03 bounded",
        "≥ 0.005 bounded",
        "the yardstick",
        "14 answers, procedure bayes",
        "Dr. Ö",
        "12 of 14",
        "20 November 2026, 10:42 UTC",
        "Rows: truth. Columns: what the model says.",
    ):
        assert words in text
    spoken = [a["aria-label"] for tag, a in page.tags if tag == "svg" and "aria-label" in a]
    assert spoken[0] == "7.7, 5 to 12"
    dashed = [a for tag, a in page.tags if tag == "line" and "stroke-dasharray" in a]
    assert len(dashed) == 2


HOSTILE = st.text(
    alphabet=st.one_of(st.sampled_from('\\"#$[]{}()_*`@<>/=~-+;,.:'), st.characters(codec="utf-8")),
    min_size=1,
    max_size=70,
)


@settings(deadline=None, max_examples=25)
@given(st.lists(HOSTILE.map(label_text).filter(str.strip), min_size=2, max_size=2, unique=True), HOSTILE)
@example(["0", "00"], "a letter that no font has: 0\N{GURMUKHI SIGN ADAK BINDI}")
def test_no_name_is_read_as_typst(names, title):
    metric = ElicitedMetric.from_cost_matrix(names, [[0, 1], [7, 0]], name=title, created=CREATED)
    assert export(metric, "pdf").startswith(b"%PDF-")


def test_names_cannot_read_files_or_leave_their_string(tmp_path):
    secret = tmp_path / "secret.txt"
    secret.write_text("secret")
    names = [f'" + read("{secret}") + "', f"\\u{{22}} + read(\\u{{22}}{secret}"]
    source = page_as_typst(metric_page(ElicitedMetric.from_cost_matrix(names, [[0, 1], [7, 0]], created=CREATED)))
    code = re.sub(r'"(?:[^"\\]|\\.)*"', '""', source)
    assert "read" not in code
    assert "secret" not in code


def test_the_pdf_is_tagged_and_says_what_it_is():
    content = odd_page()
    assert b"/StructTreeRoot" in content
    assert b"/Lang" in content
    assert len(re.findall(rb"/Type/Page\b", content)) == 1


@pytest.mark.parametrize("make", METRICS.values(), ids=[*METRICS])
def test_pdf_and_html_are_made_of_the_same_texts(make):
    page = metric_page(make())
    source, shown = page_as_typst(page), Page(page_as_html(page))
    strings = [re.sub(r"\\(.)", r"\1", text) for text in re.findall(r'"((?:[^"\\]|\\.)*)"', source)]
    typeset = "".join("".join(strings).split())
    for section in page.sections:
        assert "".join(section.title.split()) in typeset
    text = "".join("".join(shown.text).split())
    for rate in exchange_rates(make())[:3]:
        assert "".join(rate.columns()[1].split()) in typeset
        assert "".join(rate.columns()[1].split()) in text


def test_a_picture_is_drawn_once_for_both():
    page = metric_page(skin())
    source, shown = page_as_typst(page), page_as_html(page)
    drawn = re.findall(r"<svg.*?</svg>", shown)
    assert len(drawn) == 7
    for svg in drawn:
        assert svg.replace("\\", "\\\\").replace('"', '\\"') in source


def test_ranges_of_rates_are_quantiles_of_draws():
    rng = np.random.default_rng(0)
    draws = -np.exp(rng.normal(size=(400, 2)))
    metric = ElicitedMetric.from_weights(["a", "b"], [-8, -1], "lpm", samples=draws)
    worst, unit = exchange_rates(metric)
    assert unit.is_yardstick
    ratios = np.sort(draws[:, 0] / draws[:, 1])
    assert worst.ratio == pytest.approx(np.median(ratios), rel=0.05)
    assert worst.low == pytest.approx(np.quantile(ratios, 0.05), rel=0.05)
    assert worst.high == pytest.approx(np.quantile(ratios, 0.95), rel=0.05)


def test_what_answers_leave_open_stays_open_whatever_the_draws_say():
    draws = -np.exp(np.random.default_rng(0).normal(size=(400, 2)))
    intervals = np.array([[[0, 0], [0.5, np.inf]], [[0.1, 0.2], [0, 0]]])
    metric = ElicitedMetric.from_weights(["a", "b"], [-8, -1], "lpm", samples=draws, intervals=intervals)
    assert exchange_rates(metric)[0].high == np.inf
    assert exchange_rates(metric)[0].in_words().startswith("at least")


def test_rates_without_draws_are_the_widest_the_intervals_allow():
    rates = {(r.true, r.predicted): r for r in exchange_rates(skin())}
    assert rates[0, 1].low == pytest.approx(1 / 0.2)
    assert rates[0, 1].high == pytest.approx(1 / 0.08)
    assert rates[2, 1].in_words() == f"at most {two_digits(0.03 / 0.08)}"
    assert rates[1, 2].in_words() == f"at least {two_digits(0.005 / 0.2)}"
    assert rates[1, 2].range_in_words() == "only bounded"


def test_a_mistake_that_costs_nothing_is_no_yardstick():
    metric = ElicitedMetric.from_cost_matrix(["a", "b"], [[0, 1], [0, 0]], yardstick=("b", "a"))
    rates = exchange_rates(metric)
    assert [r.is_yardstick for r in rates] == [True, False]
    assert rates[1].ratio == 0
    assert headline(metric).number == "nothing beside one case of a called b"
    for name in FORMATS:
        assert export(metric, name)


def test_orders_that_were_stated_are_said_in_words_not_as_settings():
    orders = [
        {"mistake": {"true": "naevus", "predicted": "melanoma"}, "than": {"true": "melanoma", "predicted": "naevus"}},
        {"mistake": {"true": "keratosis"}, "than": {"true": "melanoma"}},
    ]
    page = export(skin(provenance=Provenance("bayes", "0.1.0", {"stop": True, "never_worse": orders})), "markdown")
    said = (
        "naevus as melanoma never worse than melanoma as naevus, keratosis as anything else never worse than melanoma"
    )
    assert f"{said} as anything else" in page
    assert "never\\_worse" not in page
    assert "never_worse" not in page


def test_a_legend_stands_only_where_something_is_drawn():
    section = Section("What", (Paragraph("Text."), Paragraph("Line: 90 % plausible.", "legend")))
    page = DescribedPage("A page", "", (section,))
    assert page_as_markdown(page) == "# A page\n\n## What\n\nText.\n"
    for drawn in (page_as_html(page), page_as_typst(page)):
        assert "90 % plausible." in drawn.replace("\N{NO-BREAK SPACE}", " ")


@pytest.mark.parametrize(
    ("low", "high", "arrows"),
    [(0.5, 2.0, 0), (0.5, 900.0, 1), (0.0, 2.0, 1), (0.5, np.inf, 1), (0.0, np.inf, 2), (0.001, 900.0, 2)],
)
def test_a_range_that_goes_on_beyond_the_axis_ends_in_an_arrow(low, high, arrows):
    rate = ExchangeRate(0, 1, 1.0, low, high, False, Consequence("a", "b", "a called b"))
    assert rate_mark(rate, LogAxis(0.1, 10.0)).svg.count("<polyline") == arrows


@given(st.floats(-3, 7), st.floats(0, 1.5), st.floats(0.5, 6), st.floats(0.5, 6))
def test_numbers_of_an_axis_do_not_touch(exponent, below, lower, upper):
    top = 10.0**exponent
    axes = difference_numbers(LinearAxis(-below * top, top)), log_numbers(LogAxis(10**-lower, 10**upper))
    for picture in axes:
        ends = []
        for x, text in re.findall(r'<text x="([\d.]+)"[^>]*>([^<]+)</text>', picture.svg):
            width = TextPath((0, 0), text, size=11, prop=FontProperties(family="DejaVu Sans")).get_extents().width
            ends.append((float(x) - width / 2, float(x) + width / 2))
        assert len(ends) > 1 or not -1 < exponent < 5  # there may be room for 0 alone
        assert all(after[0] - before[1] > 3 for before, after in pairwise(ends))
        assert ends[0][0] >= 0
        assert ends[-1][1] <= picture.width


def test_a_price_that_is_only_bounded_is_not_said_as_a_number_alone():
    costs = np.array([2.0, 6.0, 1.0]) / 6
    ends = np.repeat(np.stack([costs, costs], axis=-1)[:, None], 3, axis=1)
    ends[2, :, 0] = 0.0
    ends[[0, 1, 2], [0, 1, 2]] = 0.0
    metric = ElicitedMetric.from_weights(
        ("found", "missed", "false"),
        [2, 6, 1],
        "dlpm",
        kind="multilabel",
        intervals=ends,
        yardstick=("found", "missed"),
    )
    said = page_as_markdown(metric_page(metric))
    assert "a false label costs 0.5 (at most 0.5) and a missed one 3." in said


def test_of_very_many_mistakes_that_no_question_covered_some_are_named():
    classes = [f"class {number}" for number in range(6)]
    pairs = tuple((true, predicted) for true in classes for predicted in classes if true != predicted)
    costs = np.ones((6, 6)) - np.eye(6)

    def said(never):
        metric = ElicitedMetric.from_cost_matrix(classes, costs, quality=Quality(never_asked=never))
        page = export(metric, "markdown")
        return next(line for line in page.splitlines() if line.startswith("| Never asked about"))

    assert "class 0 called class 1; class 0 called class 2 |" in said(pairs[:2])
    many = said(pairs[:25])
    assert "25 of 30 mistakes, among them class 0 called class 1;" in many
    assert many.count(" called ") == 10


@pytest.mark.parametrize(
    ("spread", "said"),
    [
        ([0.0, 0.0, 0.7], "within a factor of 1 of the group's (plausible: 1 to 2)"),
        (["a", 0, 1], None),
        ([0.1, 0.2], None),
        ([0.1, 0.0, 1e300], None),
        ("0.1", None),
    ],
)
def test_whatever_a_file_states_of_the_spread_of_experts_makes_a_page(spread, said):
    source = Provenance(procedure="pooled", parameters={"spread_between_experts": spread})
    metric = ElicitedMetric.from_cost_matrix(("a", "b"), [[0, 1], [2, 0]], provenance=source)
    page = page_as_markdown(metric_page(metric))
    assert ("Experts and group" in page) == (said is not None)
    assert said is None or said in page
