"""The question page: `QuestionPage().begin(study, family)`, then `show_question(view)` for every view."""

from elicit_app.gui.question.page import QuestionPage

__all__ = ["QuestionPage"]
