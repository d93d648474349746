"""A researcher's loop needs one import, and its example runs."""

import doctest

import elicit_app.elicitation


def test_every_public_name_is_there():
    for name in elicit_app.elicitation.__all__:
        assert getattr(elicit_app.elicitation, name) is not None


def test_the_example_runs():
    found = doctest.testmod(elicit_app.elicitation)
    assert found.attempted > 5
    assert found.failed == 0
