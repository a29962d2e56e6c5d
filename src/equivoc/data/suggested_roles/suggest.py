"""Suggests a role for each column, with its reason in one sentence."""

from __future__ import annotations

import os
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from equivoc.data.suggested_roles import names as names_of
from equivoc.data.suggested_roles.direct_identifiers import form_of
from equivoc.data.suggested_roles.evidence import Evidence, Sample, draw, evidence_of, separation, together
from equivoc.data.suggested_roles.names import Concept, concept_of, words_of
from equivoc.data.tables import Table, open_table
from equivoc.errors import InputError
from equivoc.reading.reading import GUESS, Reading
from equivoc.text import counted, figure, percent

if TYPE_CHECKING:
    import pandas as pd

Role = Literal["confidential", "key", "weights", "group", "identifier", "replicate weights", "other"]

FEW = 100
"""A column whose name says nothing can be a key if it has at most so many values."""
ENOUGH_KEYS = 3
"""With at least so many keys known by their names, columns whose names say nothing are no keys."""
FILLED_KEYS = 6
"""Otherwise keys are filled up to so many, those first that tell most people apart."""
SELDOM = 0.95
"""A column that is missing for more than this share of the people is no key."""
NEARLY_ALL = 0.8
"""Texts of which this share of the people have one of their own identify people."""
LEAST_ROWS = 20
"""With fewer rows nearly every column looks like an identifier."""
LEAST_REPLICATES = 4
MOST_IN_A_HOUSEHOLD = 12


@dataclass(frozen=True)
class Suggestion:
    """What a column is likely to be."""

    column: str
    role: Role
    reason: str
    likeliness: float
    """Which of several of one role comes first: the larger."""


@dataclass(frozen=True)
class Suggestions:
    """A suggestion for each column, in the table's order."""

    columns: tuple[Suggestion, ...]
    rows: int
    """How many rows were read."""
    looked_at: str
    """Which rows were looked at, in words; "" if all."""

    def of(self, role: Role) -> tuple[str, ...]:
        """The columns of a role, the likeliest first."""
        found = [each for each in self.columns if each.role == role]
        return tuple(each.column for each in sorted(found, key=lambda each: -each.likeliness))

    @property
    def frame(self) -> pd.DataFrame:
        import pandas as pd

        rows = [(each.column, each.role, each.reason) for each in self.columns]
        return pd.DataFrame(rows, columns=["column", "role", "reason"])


def suggest_roles(frame_or_path: object) -> pd.DataFrame:
    """A role for each column of a file or frame, guessed from its name and its values: column, role, reason.

    Roles are confidential, key, weights, group (the household), identifier, replicate weights and other. They are
    proposals: read the reasons, then give `Microdata` or `read` the roles that you decide on. A column without a role
    is never released, unless ``protect(…, keep=[…])`` names it.

    Of a large table, 50,000 rows are looked at, drawn at random from the first million; the reasons then say so.

    >>> import pandas as pd, equivoc as eq
    >>> ages, pays = [23, 31, 31, 45] * 6, [2100, 2500, 2650, 9800] * 6
    >>> mails = [f"p{n}@x.org" for n in range(24)]
    >>> found = eq.suggest_roles(pd.DataFrame({"Alter": ages, "Gehalt": pays, "Mail": mails}))
    >>> found[["column", "role"]].values.tolist()
    [['Alter', 'key'], ['Gehalt', 'confidential'], ['Mail', 'identifier']]
    >>> found.reason[2]
    'Its values are e-mail addresses, which identify people directly.'
    """
    return suggestions(frame_or_path).frame


def suggestions(frame_or_path: object, *, given: Reading = GUESS) -> Suggestions:
    """The suggestions, with what they are based on; a file is read as ``given`` says."""
    table = open_table(frame_or_path, given=given)
    where = os.fspath(frame_or_path) if isinstance(frame_or_path, (str, os.PathLike)) else "the table"
    names = _checked(table, str(where))
    sample = draw(table, names)
    if not sample.rows.num_rows:
        raise InputError(f"{where} has no records, only column names: give at least one record.")
    columns = [
        evidence_of(name, sample.rows.column(place), sample.head.column(place), read=sample.read)
        for place, name in enumerate(names)
    ]
    by_name = {each.column: each for each in _suggested(columns, sample)}
    nameless = Suggestion("", "other", "It has no name, and only a column with a name can have a role.", 0)
    found = tuple(by_name[name] if name else nameless for name in table.names)
    return Suggestions(found, sample.read, sample.sentence)


def _checked(table: Table, where: str) -> list[str]:
    """The names of the columns that have one."""
    names = table.names
    for name in names:
        if not isinstance(name, str):
            raise InputError(
                f"column {name!r} has a name that is not text: rename the table's columns to text"
            )
    repeated = [name for name, many in Counter(names).items() if many > 1 and name]
    if repeated:
        raise InputError(f"the table has more than one column named {repeated[0]!r}: rename all but one")
    named = [name for name in names if name]
    if not named:
        raise InputError(f"{where} has no columns with a name: give a table with at least one.")
    return named


def _suggested(columns: Sequence[Evidence], sample: Sample) -> list[Suggestion]:
    concepts = {column.name: concept_of(column.name) for column in columns}
    body = any(concept is names_of.BODY for concept in concepts.values())
    found = {column.name: _alone(column, concepts[column.name], body=body) for column in columns}
    found |= _replicates(columns, found)
    found |= _told_by_others(columns, concepts, found)
    found |= _more_keys(columns, concepts, found)
    found |= _confidential_number(columns, found)
    found |= _with_others(columns, found)
    if not sample.sentence:
        return list(found.values())
    return [
        replace(each, reason=f"{each.reason[:-1]} ({sample.sentence}).")
        if any(map(str.isdigit, each.reason))
        else each
        for each in found.values()
    ]


def _alone(column: Evidence, concept: Concept | None, *, body: bool) -> Suggestion:
    """What a column says by itself."""
    name, meaning = column.name, None if concept is None else concept.meaning

    def said(role: Role, reason: str, likeliness: float = 0.0) -> Suggestion:
        return Suggestion(name, role, reason, likeliness)

    if column.kind == "nested":
        return said("other", "Its values are lists or records, which cannot have a role.")
    form = form_of(column.texts(500)) if column.kind in ("text", "number") and _may_be_own(column) else None
    if form is not None and meaning not in ("confidential", "weights"):
        return said("identifier", f"Its values are {form}, which identify people directly.")
    if column.kind == "empty":
        return said("other", "It is empty.")
    if column.distinct == 1 and not column.missing and column.there > 1:
        return said("other", "Everybody has the same value, so it tells nothing.")
    if meaning == "identifier" and concept is not None and _identifies(column, concept):
        return said(
            "identifier", f"Its name says that it holds {concept.said}, which identifies people directly."
        )
    if concept is names_of.GROUP or (concept is names_of.RECORD_NUMBER and column.unique < NEARLY_ALL):
        if column.unique == 1 and column.there > 1:
            return said(
                "identifier", "Its name says that it is a household's number, and each row has another one."
            )
        if column.kind in ("number", "text") and column.people_each > 1:
            return said(
                "group",
                f"Its name is that of a number, and rows that share one stand together, {figure(column.people_each)} "
                "on average, as the members of a household do.",
                2,
            )
        if concept is names_of.GROUP and column.unique > 1 / MOST_IN_A_HOUSEHOLD:
            return said("group", f"Its name says that it is {concept.said}.", 1)
        return said("other", "Its name is that of a number, but many people share one.")
    if meaning == "weights":
        if column.kind == "number" and not (body and _is_plain_weight(name)):
            return said("weights", "Its name says that it holds survey weights.", _weight_likeliness(column))
        return said("other", "Its name says weight, but it does not seem to hold survey weights.")
    if concept is not None and meaning == "confidential":
        surest = 2.0 if concept is names_of.MONEY else 1.5
        return said(
            "confidential",
            f"Its name says that it is about {concept.said}.",
            surest + _money_likeliness(column),
        )
    if concept is not None and meaning == "aside":
        return said("other", f"Its name says that it is about {concept.said}.")
    if concept is not None and meaning == "key":
        if column.missing > SELDOM:
            return said(
                "other",
                f"Its name says that it is {concept.said}, but {percent(column.missing)} of people lack it.",
            )
        place = names_of.LIKELIEST_KEYS.index(concept)
        tells = column.separation * (1 - column.missing)
        return said("key", f"Its name says that it is {concept.said}", 100 - place + 0.9 * tells)
    if concept is None and _are_sexes(column):
        likeliness = 100.0 - names_of.LIKELIEST_KEYS.index(names_of.SEX)
        return said("key", "Its values are those of the sex, which acquaintances know", likeliness)
    return _unnamed(column, said)


_SEXES = (
    "m f w h v k d x man woman male female mann frau maennlich weiblich homme femme masculin feminin hombre mujer "
    "varon masculino feminino femenino maschio femmina uomo donna vrouw vrouwelijk mannelijk homem mulher mezczyzna "
    "kobieta divers other"
)


def _are_sexes(column: Evidence) -> bool:
    if column.kind != "text" or not 2 <= column.distinct <= 4:
        return False
    words = {"".join(words_of(text)) for text in column.texts(4)}
    return words <= set(_SEXES.split()) and len(words) == column.distinct


def _unnamed(column: Evidence, said: Any) -> Suggestion:
    """A column whose name says nothing."""
    enough = column.there >= LEAST_ROWS
    if column.running and enough:
        found: Suggestion = said("identifier", "Its numbers count the rows, so each stands for one person.")
    elif column.kind == "text" and enough and column.unique > NEARLY_ALL:
        found = said(
            "identifier",
            f"{percent(column.unique)} of people have a text of their own here: it names people, or is free text.",
        )
    elif column.whole and enough and column.unique > 0.99 and _same_width(column):
        found = said(
            "identifier", "Nearly everybody has a number of their own of the same length, as in a code."
        )
    elif column.distinct == 1:
        found = said("other", f"It has one value only, missing for {percent(column.missing)} of people.")
    else:
        found = said(
            "other", f"Its name says nothing that is known, and it has {counted(column.distinct, 'value')}."
        )
    return found


def _may_be_own(column: Evidence) -> bool:
    return column.unique > 0.3 and column.distinct >= LEAST_ROWS


def _identifies(column: Evidence, concept: Concept) -> bool:
    """A column called id whose values many people share is none of one person's."""
    if concept is names_of.RECORD_NUMBER:
        return column.there < LEAST_ROWS or column.unique >= NEARLY_ALL
    return concept is not names_of.PERSON_NAME or column.kind == "text"


def _same_width(column: Evidence) -> bool:
    """True if all are whole numbers of the same length of 6 digits or more."""
    low, high = float(column.numbers.min()), float(column.numbers.max())
    return low >= 1e5 and len(f"{low:.0f}") == len(f"{high:.0f}") and column.there >= 100


def _is_plain_weight(name: str) -> bool:
    """True if the name may be that of a body's weight."""
    return "".join(words_of(name)).rstrip("0123456789") in (
        "weight",
        "wt",
        "gewicht",
        "poids",
        "peso",
        "waga",
    )


def _weight_likeliness(column: Evidence) -> float:
    """A person's final weight comes before those of designs and households."""
    name = "".join(words_of(column.name))
    return (
        1.0
        - ("design" in name or name in ("dweight", "db090", "db080"))
        - 0.5 * name.startswith(("h", "pweight"))
    )


def _money_likeliness(column: Evidence) -> float:
    """Wages come before other incomes, and these before debts; one's own before the household's."""
    name = "".join(words_of(column.name))
    surer = 0.4 * bool(
        re.search(r"wag|salar|lohn|gehalt|sueldo|stipend|wynagr|earn|income|ink|reven|diagn", name)
    )
    surer += 0.2 * bool(re.search(r"wag|salar|lohn|gehalt|sueldo|stipend|wynagr|diagn", name))
    return surer - 0.3 * bool(re.search(r"house|hh|haush|family|tax|other", name)) - 0.5 * column.missing


def _replicates(columns: Sequence[Evidence], found: Mapping[str, Suggestion]) -> dict[str, Suggestion]:
    """Replicate weights: many columns of one stem with running numbers, beside weights."""
    stems: dict[str, list[Evidence]] = defaultdict(list)
    for column in columns:
        ends = re.fullmatch(r"(.*?[^\d])[_.\- ]?0*(\d{1,4})", column.name.casefold())
        if ends and column.kind == "number":
            stems[ends[1].rstrip("_.- ")].append(column)
    weights = [column for column in columns if found[column.name].role == "weights"]
    named = {column.name.casefold() for column in weights}
    means = [each.mean for each in weights]
    result = {}
    for stem, members in stems.items():
        if len(members) < LEAST_REPLICATES:
            continue
        says = stem in named or re.search(
            r"repw|rep_?wt|wtrep|repl|brr|jk[n12]?$|jackknife|bootstrap|bsw|wgt|weight|gewicht|ponder|poids",
            stem,
        )
        own = {each.name for each in members}
        if says and any(each.name not in own for each in weights):
            why = f"one of {len(members)} columns called {stem} with a number"
        elif len(members) >= 20 and means and all(_like_weights(each, means) for each in members):
            why = f"one of {len(members)} numbered columns whose means are those of the weights"
        else:
            continue
        for each in members:
            result[each.name] = Suggestion(
                each.name, "replicate weights", f"It is {why}: replicates of the weights, never keys.", 0
            )
    return result


def _like_weights(column: Evidence, means: Sequence[float]) -> bool:
    if not column.numbers.size or column.numbers.min() < 0:
        return False
    return any(abs(column.mean - mean) <= 0.2 * abs(mean) for mean in means)


def _told_by_others(
    columns: Sequence[Evidence], concepts: Mapping[str, Concept | None], found: Mapping[str, Suggestion]
) -> dict[str, Suggestion]:
    """Keys that another key of the same concept already tells: a coarser code, or the same one in other words."""
    groups: dict[int, list[Evidence]] = defaultdict(list)
    for column in columns:
        if found[column.name].role == "key":
            groups[id(concepts[column.name])].append(column)
    result = {}
    for members in groups.values():
        finest_first = sorted(members, key=lambda each: -each.distinct)
        for at, coarse in enumerate(finest_first):
            for fine in finest_first[:at]:
                if fine.name in result or fine.there < 3 * fine.distinct:
                    continue
                both = together(fine.codes.astype(np.int64), coarse.codes)
                if int(both.max()) + 1 == np.unique(fine.codes).size:
                    result[coarse.name] = Suggestion(
                        coarse.name,
                        "other",
                        f"It tells nothing more than {fine.name}: each value there has one value here.",
                        0,
                    )
                    break
    return result


def _more_keys(
    columns: Sequence[Evidence], concepts: Mapping[str, Concept | None], found: Mapping[str, Suggestion]
) -> dict[str, Suggestion]:
    """Where few names are those of usual keys: the columns of few values that tell most people apart."""
    keys = sum(each.role == "key" for each in found.values())
    if keys >= ENOUGH_KEYS:
        return {}
    fitting = [
        column
        for column in columns
        if found[column.name].role == "other"
        and concepts[column.name] is None
        and column.kind in ("number", "text", "bool", "date")
        and 2 <= column.distinct <= FEW
        and column.missing <= 0.5
    ]
    ranked = sorted(fitting, key=lambda each: -each.separation * (1 - each.missing))
    return {
        each.name: Suggestion(
            each.name,
            "key",
            f"Its name says nothing, but it has only {counted(each.distinct, 'value')}, which others may know",
            each.separation * (1 - each.missing),
        )
        for each in ranked[: FILLED_KEYS - keys]
    }


def _confidential_number(
    columns: Sequence[Evidence], found: Mapping[str, Suggestion]
) -> dict[str, Suggestion]:
    """Where no name says that it is confidential: the number that looks most like money."""
    if any(each.role == "confidential" for each in found.values()):
        return {}
    fitting = [
        column
        for column in columns
        if found[column.name].role == "other" and column.kind == "number" and column.distinct >= LEAST_ROWS
    ]
    if not fitting:
        return {}
    best = max(fitting, key=lambda each: (each.skewed, each.distinct))
    most = "with a few large ones, as incomes have" if best.skewed else "the most of such columns"
    reason = f"No name says what is confidential; this one has {best.distinct:,} different numbers, {most}."
    return {best.name: Suggestion(best.name, "confidential", reason, 0)}


def _with_others(columns: Sequence[Evidence], found: Mapping[str, Suggestion]) -> dict[str, Suggestion]:
    """The reasons of keys, with how much each tells people apart alone and with the likelier ones (as in ARX)."""
    by_name = {column.name: column for column in columns}
    keys = sorted((each for each in found.values() if each.role == "key"), key=lambda each: -each.likeliness)
    result = {}
    joint = np.zeros(len(columns[0].codes), np.int64)
    for place, each in enumerate(keys):
        column = by_name[each.column]
        joint = together(joint, column.codes)
        alone = f"alone it tells {percent(separation(column.codes))} of pairs apart"
        unique = float(np.count_nonzero(np.bincount(joint) == 1)) / max(joint.size, 1)
        others = "likelier key" if place == 1 else f"{place} likelier keys"
        with_others = f", with the {others} {percent(unique)} of people are unique" if place else ""
        lacking = f", {percent(column.missing)} lack it" if column.missing else ""
        result[each.column] = replace(each, reason=f"{each.reason}; {alone}{with_others}{lacking}.")
    return result
