"""The cases of a bundled study."""

import numpy as np
import pytest

from elicit_app.study import open_study


@pytest.fixture
def breast_cancer_cases():
    """True labels of the study of breast cancer, and the probabilities of its models by their names."""
    study = open_study("breast-cancer")
    return np.array(study.classes)[study.models[0].y_true], {model.name: model.y_proba for model in study.models}
