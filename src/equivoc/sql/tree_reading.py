"""Reads sqlglot's tree of one statement into our own: node types and arguments that are not expected are refused."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, NoReturn

from equivoc.errors import InputError
from equivoc.sql.schema import Schema, Value, read_literal
from equivoc.sql.statement import (
    MIRRORED,
    Asked,
    Between,
    Comparison,
    Condition,
    IsNull,
    Like,
    Operator,
    Statement,
    conjunction,
    disjunction,
    negation,
    one_of,
)
from equivoc.sql.word_check import FUNCTIONS, StatementWords, shown, word_kind

MOST_WILDCARDS = 20
"""Signs % in a LIKE pattern: some engines try all ways to place them."""
_COMMA = "comma"
_OPERATORS: dict[str, Operator] = {"EQ": "=", "NEQ": "<>", "LT": "<", "LTE": "<=", "GT": ">", "GTE": ">="}
_AGGREGATES = {
    "Sum": "sum", "Avg": "avg", "Count": "count", "Min": "min", "Max": "max", "Median": "median",
    "Variance": "var_samp", "VariancePop": "var_pop",
    "Stddev": "stddev_samp", "StddevSamp": "stddev_samp", "StddevPop": "stddev_pop",
}  # fmt: skip
_CONSTRUCTS = {
    "Alias": "aliases are not allowed",
    "alias": "aliases are not allowed",
    "Subquery": "subqueries are not allowed",
    "Select": "subqueries are not allowed",
    "Cast": "casts are not allowed",
    "TryCast": "casts are not allowed",
    **dict.fromkeys(
        ("And", "Or", "Not", "EQ", "NEQ", "LT", "LTE", "GT", "GTE", "Between", "In", "Like", "Is"),
        "a condition stands where a key or a literal is expected",
    ),
    "Neg": "arithmetic is not allowed",
    "Tuple": "a list of values is allowed behind IN only",
    "Concat": "two strings stand side by side",
    "joins": "several tables are not allowed: one table, people, is known",
    "table": "name columns without their table",
    "db": "name the table without a schema",
    "Star": "a star is allowed in COUNT(*) only",
    "Escape": "LIKE with ESCAPE is not allowed",
    "sample": "sampling is not allowed",
    "all": "GROUP BY ALL is not allowed: name the keys",
    "Window": "window functions are not allowed",
    "Distinct": "DISTINCT is not allowed",
    "Filter": "FILTER is not allowed",
    "Any": "ANY is not allowed",
    "field": "a list of literals must follow IN",
}  # fmt: skip


@dataclass(eq=False)
class TreeReader:
    """Reads one statement's tree, and counts the nodes that it has read."""

    words: StatementWords
    schema: Schema
    read: Counter[str] = field(default_factory=Counter, init=False)

    def statement(self, tree: Any) -> Statement:
        """The statement; InputError if it contains anything that is not allowed."""
        parts = self.parts(tree, "Select", {"expressions", "from", "where", "group"})
        if "from" not in parts:
            raise self.words.refusal(
                self.words.words[-1].start, f"FROM {self.schema.tables[0]} is missing behind this"
            )
        self.table(parts["from"])
        groups: tuple[str, ...] = ()
        if "group" in parts:
            listed = self.parts(parts["group"], "Group", {"expressions"}).get("expressions", [])
            self.read[_COMMA] += len(listed) - 1
            groups = tuple(dict.fromkeys(self.key(each) for each in listed))
        asked: list[Asked] = []
        self.read[_COMMA] += len(parts.get("expressions", [])) - 1
        for each in parts.get("expressions", []):
            if type(each).__name__ == "Column":
                if each.name.casefold() == self.schema.attribute.casefold():
                    self.refuse(
                        each, f"single values are not answered: ask an aggregate, such as SUM({each.name})"
                    )
                if self.key(each) not in groups:
                    self.refuse(each, "a key in the select list must stand in GROUP BY too")
            else:
                asked.append(self.aggregate(each))
        if not asked:
            self.refuse(tree, f"nothing is asked: write an aggregate, such as SUM({self.schema.attribute})")
        condition = None
        if "where" in parts:
            condition = self.condition(self.parts(parts["where"], "Where", {"this"})["this"])
        self.check_everything_was_read()
        return Statement(self.words.number, tuple(asked), condition, groups, self.words.answer)

    def table(self, node: Any) -> None:
        """Check that one known table is named."""
        source = self.parts(node, "From", {"this"})["this"]
        named = self.parts(source, "Table", {"this"})["this"]
        name = self.parts(named, "Identifier", {"this", "quoted"})["this"]
        if not self.schema.is_table(name):
            known = " or ".join(self.schema.tables)
            self.refuse(named, f"there is no table {shown(name)}: the table's name is {known}")

    def aggregate(self, node: Any) -> Asked:
        """An aggregate of the select list."""
        schema, kind = self.schema, type(node).__name__
        if kind not in _AGGREGATES:
            self.refuse(node)
        inner = self.parts(node, kind, {"this", "big_int"}).get("this")
        word = next(w for w, a in FUNCTIONS.items() if a == _AGGREGATES[kind])
        if inner is None:
            self.refuse(node, f"{word} has no column")
        if kind == "Count" and type(inner).__name__ == "Star":
            self.parts(inner, "Star", set())
            return Asked("count", None)
        column = self.column(inner)
        if kind == "Count":
            return Asked("count", column if column in dict(schema.keys) else None)
        if column != schema.attribute:
            other = "another confidential attribute" if column in schema.confidential else "a key"
            self.refuse(
                inner,
                f"{word} is answered of the confidential attribute {schema.attribute!r} only; {column!r} is {other}",
            )
        if schema.attribute_kind != "number":
            self.refuse(
                inner,
                f"{column!r} holds categories, not numbers: {word} has no meaning for them, only COUNT is answered",
            )
        return Asked(FUNCTIONS[word], column)

    def condition(self, node: Any) -> Condition:
        """A condition of WHERE. Only parentheses and NOT recurse, and the words' check limits both."""
        kind = type(node).__name__
        if kind == "Paren":
            return self.condition(self.parts(node, "Paren", {"this"})["this"])
        if kind in ("And", "Or"):
            operands = []
            while type(node).__name__ == kind:
                parts = self.parts(node, kind, {"this", "expression"})
                operands.append(self.condition(parts["expression"]))
                node = parts["this"]
            operands.append(self.condition(node))
            return conjunction(operands) if kind == "And" else disjunction(operands)
        if kind == "Not":
            return negation(self.condition(self.parts(node, "Not", {"this"})["this"]))
        if kind in _OPERATORS:
            return self.comparison(node)
        if kind == "Between":
            parts = self.parts(node, kind, {"this", "low", "high"})
            key = self.key(parts["this"])
            return Between(key, self.literal(key, parts["low"]), self.literal(key, parts["high"]))
        if kind == "In":
            parts = self.parts(node, kind, {"this", "expressions"})
            key = self.key(parts["this"])
            if not parts.get("expressions"):
                self.refuse(node, "a list of literals must follow IN")
            self.read[_COMMA] += len(parts["expressions"]) - 1
            return one_of(key, [self.literal(key, each) for each in parts["expressions"]])
        if kind == "Like":
            return self.like(node)
        if kind == "Is":
            parts = self.parts(node, kind, {"this", "expression"})
            key = self.key(parts["this"])
            if type(parts["expression"]).__name__ != "Null":
                self.refuse(node, "IS stands before NULL or NOT NULL only: write = TRUE or = FALSE")
            return IsNull(key)
        if kind in ("Column", "Boolean", "Literal"):
            self.refuse(node, "this is not a condition: compare a key with a literal")
        self.refuse(node)

    def comparison(self, node: Any) -> Condition:
        parts = self.parts(node, type(node).__name__, {"this", "expression"})
        left, right = self.bare(parts["this"]), self.bare(parts["expression"])
        operator = _OPERATORS[type(node).__name__]
        if type(left).__name__ != "Column":
            left, right, operator = right, left, MIRRORED[operator]
        if type(left).__name__ != "Column":
            simple = {type(each).__name__ for each in (left, right)} <= {"Literal", "Boolean", "Neg"}
            unusual = right if type(left).__name__ in ("Literal", "Boolean") else left
            self.refuse(unusual, "a comparison needs a key on one side" if simple else None)
        if type(right).__name__ == "Column":
            self.key(left)
            self.key(right)
            self.refuse(right, "two columns are compared: compare a key with a literal")
        key = self.key(left)
        return Comparison(key, operator, self.literal(key, right))

    def like(self, node: Any) -> Condition:
        parts = self.parts(node, "Like", {"this", "expression", "negate"})
        key = self.key(parts["this"])
        if self.schema.kind(key) != "text":
            self.refuse(parts["this"], f"LIKE applies to text, and the key {key!r} holds no text")
        pattern = self.literal(key, parts["expression"])
        assert isinstance(pattern, str)
        if pattern.count("%") > MOST_WILDCARDS:
            self.refuse(parts["expression"], f"the pattern has more than {MOST_WILDCARDS} signs %")
        like = Like(key, pattern)
        self.read["Not"] += bool(parts.get("negate"))
        return negation(like) if parts.get("negate") else like

    def key(self, node: Any) -> str:
        """A column that must be a key."""
        node = self.bare(node)
        if type(node).__name__ == "Literal":
            self.refuse(node, "a key's name must stand here, not a literal")
        column = self.column(node)
        if column not in dict(self.schema.keys):
            self.refuse(
                node,
                f"{column!r} is confidential, so a condition or a group on it would ask about the value itself: "
                "use keys only",
            )
        return column

    def column(self, node: Any) -> str:
        """A column's name as the data has it."""
        named = self.parts(self.bare(node), "Column", {"this"})["this"]
        parts = self.parts(named, "Identifier", {"this", "quoted"})
        try:
            return self.schema.column(parts["this"], quoted=bool(parts.get("quoted")))
        except InputError as unknown:
            self.refuse(named, str(unknown))

    def literal(self, key: str, node: Any) -> Value:
        """A literal's value, as the key's kind has it."""
        node = outer = self.bare(node)
        sign = ""
        if type(node).__name__ == "Neg":
            node, sign = self.parts(node, "Neg", {"this"})["this"], "-"
        kind = type(node).__name__
        if kind == "Column":
            self.column(node)
            self.refuse(node, "a literal must stand here, not a column")
        if kind not in ("Literal", "Boolean") or (sign and (kind == "Boolean" or node.args.get("is_string"))):
            self.refuse(outer)
        parts = self.parts(node, kind, {"this", "is_string"})
        string = bool(parts.get("is_string"))
        try:
            written = str(node.this) if string else str(node.this).replace("_", "")
            given = bool(node.this) if kind == "Boolean" else sign + written
            return read_literal(key, self.schema.kind(key), given, string=string)
        except InputError as unsuitable:
            self.refuse(outer, str(unsuitable))

    def bare(self, node: Any) -> Any:
        """Without parentheses around it."""
        while type(node).__name__ == "Paren":
            node = self.parts(node, "Paren", {"this"})["this"]
        return node

    def parts(self, node: Any, kind: str, allowed: set[str]) -> dict[str, Any]:
        """The arguments that a node has; refused unless it is of this kind and has no other arguments."""
        if type(node).__name__ != kind:
            self.refuse(node)
        self.read[kind] += 1
        # Newer versions of sqlglot write from_ for from.
        given = {
            name.rstrip("_"): value
            for name, value in node.args.items()
            if value is not None and value is not False and value != []
        }
        for name, value in given.items():
            if name not in allowed:
                inner = value[0] if isinstance(value, list) else value
                self.refuse(inner if hasattr(inner, "walk") else node, _CONSTRUCTS.get(name), name)
        return given

    def refuse(self, node: Any, sentence: str | None = None, construct: str | None = None) -> NoReturn:
        """Raise InputError at the first word of the node."""
        kind = type(node).__name__
        if kind == "Alias":
            node, sentence = node.args["alias"], _CONSTRUCTS["Alias"]
        if sentence is None:
            sentence = _CONSTRUCTS.get(kind, f"{construct or _spaced(kind)} is not allowed")
        raise self.words.refusal(self.offset(node), sentence)

    def offset(self, node: Any) -> int:
        """Where a node's first word begins, as far as sqlglot tells; else where the statement begins."""
        words = self.words.words
        metas = (part.meta for part in node.walk()) if hasattr(node, "walk") else ()
        starts = [meta["start"] for meta in metas if "start" in meta]
        kind = type(node).__name__
        if kind == "Boolean":
            starts = [word.start for word in words if word.token_type.name in ("TRUE", "FALSE")]
        if kind == "Neg" and starts:  # sqlglot knows where the number is, not its sign
            signs = [
                word.start for word in words if word.token_type.name == "DASH" and word.start < min(starts)
            ]
            starts = signs[-1:] or starts
        return min(starts, default=words[0].start)

    def check_everything_was_read(self) -> None:
        """Refuse a statement of which the parser dropped or added a word: each must belong to a node that was read."""
        read, schema = self.read, self.schema
        aggregates = sum(read[kind] for kind in _AGGREGATES)
        expected = Counter(
            {
                "name": read["Identifier"] + aggregates,
                "literal": read["Literal"],
                "comparison": sum(read[kind] for kind in _OPERATORS),
                "AND": read["And"] + read["Between"],
                "OR": read["Or"],
                "NOT": read["Not"],
                "BETWEEN": read["Between"],
                "IN": read["In"],
                "LIKE": read["Like"],
                "IS": read["Is"],
                "NULL": read["Is"],
                "truth": read["Boolean"],
                "DASH": read["Neg"],
                "STAR": read["Star"],
                "L_PAREN": read["Paren"] + read["In"] + aggregates,
                "R_PAREN": read["Paren"] + read["In"] + aggregates,
                "COMMA": read[_COMMA],
                "SELECT": 1,
                "FROM": 1,
                "WHERE": read["Where"],
                "GROUP_BY": read["Group"],
            }
        )
        found: Counter[str] = Counter()
        for word in self.words.words:
            kind = word_kind(word, schema)
            found[kind] += 1
            if found[kind] > expected[kind]:
                raise self.words.refusal(word.start, f"the meaning of {shown(word.text)} here is unclear")
        if found != expected:
            missing = next(iter(expected - found))
            raise self.words.refusal(self.words.words[0].start, f"the statement lacks a word ({missing})")


def _spaced(kind: str) -> str:
    """A node's type as words.

    >>> _spaced("NullSafeEQ")
    'null safe EQ'
    """
    out = ""
    for at, letter in enumerate(kind):
        starts = letter.isupper() and (at == 0 or not kind[at - 1].isupper())
        out += (" " if starts and at else "") + letter
    return " ".join(word if word.isupper() and len(word) > 1 else word.lower() for word in out.split())
