"""The error that names recorded answers which contradict each other."""

from __future__ import annotations

from collections.abc import Sequence

from equivoc.errors import InputError
from equivoc.number_format import exact
from equivoc.queries.answers.question import Question


class ContradictionError(InputError):
    """No values of the people give all of these answers."""

    def __init__(self, questions: Sequence[Question], *, smallest: bool) -> None:
        self.questions = tuple(sorted(questions, key=lambda question: question.statement))
        """The contradicting questions. Without any one of them the others could be true."""
        self.smallest = smallest
        """Whether it is proven that no smaller set of answers contradicts itself."""
        super().__init__(_sentence(self.questions, smallest=smallest))


def _sentence(questions: Sequence[Question], *, smallest: bool) -> str:
    listed = "; ".join(
        f"statement {question.statement + 1}, {question.text}, answer "
        f"{'none' if question.answer is None else exact(question.answer)}"
        for question in questions
    )
    if len(questions) == 1:
        return f"no values of the domain give this answer: {listed}; correct it, or the domain."
    which = (
        "a smallest contradicting set"
        if smallest
        else "none of these can be left out, but there may be a smaller set"
    )
    return f"these answers contradict each other ({which}): {listed}. Correct one of them, or the domain."
