"""The facts of a protected file: where it is, whether it meets the requirements, and its certificate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from equivoc.decide.protection.protect import Protected


def protection_facts(done: Protected) -> dict[str, Any]:
    """The facts, ready for JSON."""
    return {
        "written": done.written,
        "files": {"protected": str(done.path), "certificate": str(done.certificate_path)},
        "meets": done.meets,
        "requirements": [each.outcome.facts for each in done.judged],
        "warnings": list(done.warnings),
        "certificate": done.certificate,
    }
