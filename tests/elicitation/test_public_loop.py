"""A researcher's loop needs one import."""

import elicit_app.elicitation


def test_every_public_name_is_there():
    for name in elicit_app.elicitation.__all__:
        assert getattr(elicit_app.elicitation, name) is not None
