"""Studies and predictions: reading, checking, making and storing them."""

from elicit_app.study.making import create_study as create_study
from elicit_app.study.making import save_study as save_study
from elicit_app.study.model import Distribution as Distribution
from elicit_app.study.model import Mistake as Mistake
from elicit_app.study.model import Predictions as Predictions
from elicit_app.study.model import Study as Study
from elicit_app.study.model import Wording as Wording
from elicit_app.study.opening import StudySummary as StudySummary
from elicit_app.study.opening import list_studies as list_studies
from elicit_app.study.opening import open_study as open_study
from elicit_app.study.reading import read_predictions as read_predictions
