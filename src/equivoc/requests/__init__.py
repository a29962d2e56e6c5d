"""What is asked, as plain data: people, questions and tasks that Python, command, plan and page share."""

from equivoc.requests.people import PeopleRequest
from equivoc.requests.reading import read
from equivoc.requests.tables import Table
from equivoc.requests.tasks import Assess, Audit, Choose, Compare, Protect, Report, Task

__all__ = [
    "Assess",
    "Audit",
    "Choose",
    "Compare",
    "PeopleRequest",
    "Protect",
    "Report",
    "Table",
    "Task",
    "read",
]
