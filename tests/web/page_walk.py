"""What a person does on the page with a mouse, step by step: for tests, and for the pictures of the documentation."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

VIEWS = ("data", "explore", "techniques", "compare", "queries", "tables", "take-away")


def named(page: Any, name: str) -> Any:
    """The control of this name."""
    return page.locator(f'[data-name="{name}"]').first


def show(page: Any, view: str) -> None:
    """Open a view by its tab."""
    page.click(f"#tab-{view}")
    shown(page, view)


def shown(page: Any, view: str) -> None:
    """Wait until a view is on the screen."""
    page.wait_for_function("view => document.documentElement.dataset.ready === view", arg=view)


def upload(page: Any, file: Path) -> None:
    """Choose a file with the button; it returns when the columns are shown."""
    show(page, "data")
    with page.expect_file_chooser() as chooser:
        named(page, "open-file").click()
    chooser.value.set_files(file)
    page.wait_for_function(
        "name => document.querySelector('#about').textContent.includes(name)"
        " && document.querySelector('[data-name=\"use-roles\"]')",
        arg=file.name,
    )


def choose_roles(
    page: Any, *, confidential: str, keys: Iterable[str], round_to: float | None = None, unit: str = ""
) -> None:
    """Click the role of every column, say how the values are read, and use the roles."""
    names = page.locator(".column-name").all_inner_texts()
    for name in names:
        role = "confidential" if name == confidential else "key" if name in keys else "leave_out"
        control = named(page, f"role-{name}-{role}")
        if not control.is_checked():
            control.click()
    if round_to is not None:
        named(page, "round-to").fill(f"{round_to:g}")
        named(page, "round-to").blur()
    if unit:
        named(page, "unit").fill(unit)
        named(page, "unit").blur()
    named(page, "use-roles").click()
    page.wait_for_selector("text=In use.")


def figures_are(page: Any, whose: str = "strongest") -> None:
    """Wait until the verdict shows what is asked for, and figures of this intruder."""
    page.wait_for_function(
        "whose => { const fine = document.querySelector('#whose');"
        " return fine && !fine.querySelector('.busy') && !fine.textContent.includes('being computed')"
        " && fine.textContent.includes(`Figures of the ${whose}`); }",
        arg=whose,
    )


def choose_technique(page: Any, name: str, **parameters: float) -> None:
    """Choose a technique, and type its parameters into the fields beside their sliders."""
    show(page, "techniques")
    named(page, f"technique-{name}").click()
    for parameter, value in parameters.items():
        field = named(page, f"{name}-{parameter}-number")
        field.fill(f"{value:g}")
        field.blur()


def press(page: Any, name: str) -> None:
    """Press a button."""
    named(page, name).click()


def run(page: Any, kind: str) -> None:
    """Press the button that starts a job of this kind, and wait until it is done."""
    before = page.query_selector(f'[data-kind="{kind}"]')
    named(page, kind).click()
    if before is not None:
        before.wait_for_element_state("hidden")
    ended(page, kind)


def ended(page: Any, kind: str) -> None:
    """Wait until the job of this kind is done."""
    page.wait_for_selector(f'[data-kind="{kind}"]:is([data-job="done"], [data-job="failed"])')
    failed = page.locator(f'[data-kind="{kind}"][data-job="failed"]')
    assert not failed.count(), failed.inner_text()
