"""Every construct that is not allowed is refused with its position, in one sentence."""

from __future__ import annotations

import pytest

from equivoc.errors import InputError
from equivoc.sql.parsing import parse, parse_one
from equivoc.sql.schema import LONGEST_STRING, Schema
from equivoc.sql.word_check import DEEPEST, LONGEST_STATEMENT, MOST_LITERALS

SCHEMA = Schema(
    (("age", "integer"), ("zip", "text"), ("member", "boolean"), ("hired", "date"), ("order", "integer")),
    "salary",
    confidential=("salary", "bonus"),
    tables=("people", "Staff"),
)
ASKED = "SELECT SUM(salary) FROM people"
WHERE = f"{ASKED} WHERE "


# ▸ marks the position that the message must name.
@pytest.mark.parametrize(
    ("marked", "said"),
    [
        ("▸WITH x AS (SELECT 1) SELECT SUM(salary) FROM x", "begin with SELECT, not with WITH"),
        ("▸PRAGMA database_list", "begin with SELECT"),
        ("▸COPY people TO 'x'", "begin with SELECT"),
        ("▸ATTACH 'x.db'", "begin with SELECT"),
        ("▸EXPLAIN SELECT COUNT(*) FROM people", "begin with SELECT"),
        ("▸FROM people SELECT SUM(salary)", "begin with SELECT"),
        ("▸(SELECT SUM(salary) FROM people)", "begin with SELECT"),
        ("SELECT ▸salary FROM people", "single values are not answered"),
        ("SELECT ▸* FROM people", "a star is allowed in COUNT(*) only"),
        ("SELECT SUM(▸*) FROM people", "a star is allowed in COUNT(*) only"),
        ("SELECT SUM(salary) ▸AS total FROM people", "aliases"),
        ("SELECT SUM(salary) ▸total FROM people", "aliases"),
        ('SELECT SUM(salary) ▸"total" FROM people', "aliases"),
        (f"{ASKED} ▸p", "aliases"),
        (f"{ASKED}, ▸people", "several tables"),
        (f"{ASKED} ▸JOIN people ON TRUE", "joins"),
        (f"{ASKED} ▸CROSS JOIN people", "CROSS is not allowed"),
        ("SELECT SUM(salary) FROM (▸SELECT * FROM people)", "subqueries"),
        ("SELECT SUM(salary) FROM (▸people)", "subqueries"),
        (f"{WHERE}age IN (▸SELECT 1)", "subqueries"),
        (f"{WHERE}▸EXISTS (SELECT 1)", "subqueries"),
        ("SELECT SUM(▸DISTINCT salary) FROM people", "DISTINCT"),
        ("SELECT ▸DISTINCT SUM(salary) FROM people", "DISTINCT"),
        ("SELECT ▸ALL SUM(salary) FROM people", "ALL is not allowed"),
        ("SELECT SUM(salary) ▸FILTER (WHERE age = 1) FROM people", "FILTER"),
        ("SELECT SUM(salary) ▸OVER () FROM people", "window functions"),
        ("SELECT SUM(salary ▸ORDER BY age) FROM people", "ORDER BY"),
        (f"{ASKED} GROUP BY age ▸HAVING COUNT(*) > 1", "HAVING"),
        (f"{ASKED} ▸ORDER BY age", "ORDER BY"),
        (f"{ASKED} ▸LIMIT 1", "LIMIT"),
        (f"{ASKED} ▸OFFSET 1", "OFFSET"),
        (f"{ASKED} ▸FETCH FIRST 1 ROW ONLY", "FETCH"),
        (f"{ASKED} ▸QUALIFY TRUE", "QUALIFY"),
        (f"{ASKED} ▸UNION SELECT 1", "UNION"),
        (f"{ASKED} ▸EXCEPT SELECT 1", "EXCEPT"),
        (f"{ASKED} ▸TABLESAMPLE 10%", "TABLESAMPLE"),
        (f"{ASKED} ▸USING SAMPLE 3", "USING"),
        ("SELECT SUM(salary) ▸INTO x FROM people", "INTO"),
        ("SELECT SUM(salary) FROM ▸read_csv('/etc/passwd')", "the function read_csv"),
        ("SELECT SUM(salary) FROM ▸'people.csv'", "a file cannot be named"),
        ("SELECT SUM(salary) FROM ▸'people'", "a file cannot be named"),
        ("SELECT SUM(salary) FROM ▸men", "there is no table men: the table's name is people or Staff"),
        ("SELECT SUM(salary) FROM main▸.people", "a point outside a number"),
        (f"{WHERE}people▸.age = 1", "a point outside a number"),
        (f"{WHERE}age = ▸.5", "write 0.5 for .5"),
        (f"{WHERE}age = ▸?", "parameters"),
        (f"{WHERE}age = ▸$1", "parameters"),
        (f"{WHERE}age = ▸:age", "parameters"),
        (f"{WHERE}▸salary > 5", "'salary' is confidential"),
        (f"{WHERE}5 < ▸Salary", "would ask about the value itself"),
        (f"{WHERE}▸bonus > 5", "'bonus' is confidential"),
        (f"{WHERE}▸salary IS NULL", "'salary' is confidential"),
        (f"{ASKED} GROUP BY ▸salary", "'salary' is confidential"),
        ("SELECT SUM(▸bonus) FROM people", "another confidential attribute"),
        ("SELECT SUM(▸age) FROM people", "'age' is a key"),
        ("SELECT MIN(▸age) FROM people", "'age' is a key"),
        (f"{WHERE}▸aeg > 5", "there is no column 'aeg': did you mean 'age'?"),
        ("SELECT SUM(▸wage) FROM people", "there is no column 'wage'"),
        (f'{WHERE}▸"ages" > 5', "did you mean 'age'?"),
        (f"{WHERE}▸аge = 1", "there is no column"),  # a Cyrillic letter
        (f"{WHERE}▸lower(zip) = 'a'", "the function lower"),
        (f"{WHERE}zip = ▸getenv('HOME')", "the function getenv"),
        (f"{WHERE}zip = ▸current_setting('x')", "the function current_setting"),
        (f"{WHERE}hired = ▸now()", "the function now"),
        ('SELECT ▸"sum"(salary) FROM people', "the function sum"),
        ("SELECT ▸quantile(salary, 0.5) FROM people", "the function quantile"),
        ("SELECT ▸list(salary) FROM people", "the function list"),
        (f"{WHERE}▸CAST(age AS INT) = 1", "casts"),
        (f"{WHERE}age▸::INT = 1", "casts"),
        (f"{WHERE}hired = ▸DATE '2020-01-01'", "DATE is not allowed"),
        (f"{WHERE}age ▸+ 1 = 2", "arithmetic"),
        (f"{WHERE}age ▸- 1 = 2", "arithmetic"),
        (f"{WHERE}age = ▸+1", "arithmetic"),
        (f"{WHERE}age = 1 ▸* 2", "arithmetic"),
        (f"{WHERE}zip ▸|| 'a' = 'b'", "arithmetic"),
        ("SELECT SUM(salary ▸+ 1) FROM people", "arithmetic"),
        ("SELECT SUM(salary) ▸/ 2 FROM people", "arithmetic"),
        (f"{WHERE}age = ▸NULL", "IS NULL"),
        (f"{WHERE}age IN (1, ▸NULL)", "IS NULL"),
        (f"{WHERE}age NOT ▸NULL", "IS NOT NULL"),
        (f"{WHERE}age ▸ISNULL", "write IS NULL"),
        (f"{WHERE}age ▸== 1", "write ="),
        (f"{WHERE}zip ▸~~ 'a'", "write LIKE"),
        (f"{WHERE}zip ▸ILIKE 'a'", "write LIKE"),
        (f"{WHERE}zip LIKE 'a' ▸ESCAPE 'b'", "ESCAPE"),
        (f"{WHERE}zip ▸SIMILAR TO 'a'", "SIMILAR TO"),
        (f"{WHERE}zip = 'a' ▸COLLATE nocase", "COLLATE"),
        (f"{WHERE}age IS ▸DISTINCT FROM 3", "DISTINCT"),
        (f"{WHERE}▸member IS TRUE", "write = TRUE"),
        (f"{WHERE}▸member", "not a condition"),
        (f"{WHERE}▸TRUE", "not a condition"),
        (f"{WHERE}▸1 = 1", "needs a key"),
        (f"{WHERE}age = ▸order", None),
        (f"{WHERE}age = ▸zip", "two columns are compared"),
        (f"{WHERE}age BETWEEN 1 AND ▸order", None),
        (f"{WHERE}▸age = 1 = TRUE", "a condition stands where"),
        (f"{WHERE}▸CASE WHEN age = 1 THEN TRUE END", "CASE"),
        (f"{WHERE}age IN ▸age", None),
        (f"{WHERE}▸age IN ()", "a list of literals"),
        (f"{WHERE}age IN (1▸,)", "a comma must stand between"),
        ("SELECT ▸, SUM(salary) FROM people", "a comma must stand between"),
        ("SELECT SUM(salary)▸, FROM people", "a comma must stand between"),
        ("SELECT SUM(salary ▸FROM people", "a closing parenthesis is missing"),
        (f"{WHERE}(age = ▸1", "a closing parenthesis is missing"),
        (f"{WHERE}age = 1▸)", "closes none"),
        (f"{WHERE}age BETWEEN 1 2", "lacks a word (AND)"),
        (f"{WHERE}age = 1 ▸AND", "not valid SQL"),
        (f"{WHERE}age = ▸'30'", "holds whole numbers: write a number without quotes"),
        (f"{WHERE}zip = ▸2139", "holds text: write it in single quotes"),
        (f"{WHERE}zip = ▸-2139", "-2139 does not suit"),
        (f"{WHERE}member = ▸1", "write TRUE or FALSE"),
        (f"{WHERE}hired = ▸'2020-02-30'", "holds dates"),
        (f"{WHERE}▸age LIKE '3%'", "LIKE applies to text"),
        (f"{WHERE}zip LIKE ▸3", "holds text"),
        (f"{WHERE}zip = ▸'a' 'b'", "side by side"),
        (f"{WHERE}age = ▸1e400", "more than 20 digits"),
        (f"{WHERE}age = ▸0.1234567890123456789", "more than 18 digits"),
        (f"{WHERE}age = ▸{'9' * 500}", "too long"),
        (f"{WHERE}zip = ▸'{'a' * (LONGEST_STRING + 1)}'", f"at most {LONGEST_STRING}"),
        (f"{WHERE}zip LIKE ▸'{'%a' * 21}'", "more than 20 signs %"),
        (f"{WHERE}zip = ▸'abc", "the ' that opens here is never closed"),
        (f'{WHERE}▸"zip = 1', 'the " that opens here is never closed'),
        (f"{WHERE}age = 1 ▸/* abc", "the /* that opens here is never closed"),
        (f"{WHERE}zip = 'a▸\0'", "not allowed in SQL"),
        ("SELECT ▸zip, SUM(salary) FROM people", "must stand in GROUP BY"),
        ("SELECT ▸zip FROM people GROUP BY zip", "nothing is asked"),
        (f"{ASKED} GROUP BY ▸1", "not a literal"),
        (f"{ASKED} GROUP BY ▸ALL", "ALL"),
        (f"{ASKED} GROUP BY ▸ROLLUP (age)", "ROLLUP"),
        (f"{ASKED} GROUP BY (▸age, zip)", "behind IN only"),
        ("SELECT SUM(salary▸)", "FROM people is missing"),
        ("SELECT SUM(▸) FROM people", "not valid SQL"),
    ],
)  # fmt: skip
def test_refused_with_its_position(marked: str, said: str | None) -> None:
    """The same position whether the statement stands alone, or third on the third line."""
    text = marked.replace("▸", "")
    offset = marked.find("▸")
    with pytest.raises(InputError) as alone:
        parse_one(text, schema=SCHEMA)
    assert said is None or said in str(alone.value)
    assert "\n" not in str(alone.value)
    if said is not None and offset >= 0:
        assert str(alone.value).startswith(f"statement 1, line 1, character {offset + 1}: ")
    before = "SELECT COUNT(*) FROM people; SELECT COUNT(*) FROM people\n;\n  "
    with pytest.raises(InputError) as third:
        parse(before + text, schema=SCHEMA)
    if said is not None and offset >= 0:
        assert str(third.value).startswith(f"statement 3, line 3, character {offset + 3}: ")


def test_limits() -> None:
    deep = f"{WHERE}{'(' * DEEPEST}age = 1{')' * DEEPEST}"
    assert parse_one(deep, schema=SCHEMA).sql() == parse_one(f"{WHERE}age = 1", schema=SCHEMA).sql()
    with pytest.raises(InputError, match="nesting is deeper"):
        parse(f"{WHERE}{'(' * 1500}age = 1{')' * 1500}", schema=SCHEMA)
    with pytest.raises(InputError, match="nesting is deeper"):
        parse(f"{WHERE}{'NOT ' * 3000}age = 1", schema=SCHEMA)
    many = ", ".join(map(str, range(MOST_LITERALS)))
    assert parse_one(f"{WHERE}age IN ({many})", schema=SCHEMA)
    with pytest.raises(InputError, match="more than 1,000 literals"):
        parse(f"{WHERE}age IN ({many}, 1)", schema=SCHEMA)
    chain = parse_one(f"{WHERE}{' AND '.join(f'age <> {at}' for at in range(900))}", schema=SCHEMA)
    assert parse_one(chain.sql(), schema=SCHEMA) == chain
    with pytest.raises(InputError, match="more than 4,000 words"):
        parse(f"{WHERE}{' OR '.join(['age IS NULL'] * 1200)}", schema=SCHEMA)
    with pytest.raises(InputError, match="longer than"):
        parse(f"{WHERE}zip IN ({', '.join([repr('a' * 900)] * 40)})", schema=SCHEMA)
    with pytest.raises(InputError, match="longer than"):
        parse_one(ASKED + " " * LONGEST_STATEMENT, schema=SCHEMA)


def test_one_statement_has_no_comments_and_no_second_statement() -> None:
    assert parse_one(f"{ASKED};", schema=SCHEMA) == parse_one(ASKED, schema=SCHEMA)
    for comment in ("-- x", "/* x */", "/* x */ ; ", "-- answer: 5", "{# x #}"):
        with pytest.raises(InputError, match=r"line 1, character 32: comments are not allowed"):
            parse_one(f"{ASKED} {comment}", schema=SCHEMA)
    with pytest.raises(InputError, match=r"statement 2, line 1, character 33: only one statement"):
        parse_one(f"{ASKED}; {ASKED}", schema=SCHEMA)
    for nothing in ("", " ; ;; ", "\n"):
        with pytest.raises(InputError, match="no statement"):
            parse_one(nothing, schema=SCHEMA)
        with pytest.raises(InputError, match="no statement"):
            parse(nothing, schema=SCHEMA)


def test_a_list_has_one_statement_in_each_entry() -> None:
    assert [each.number for each in parse([ASKED, f"{ASKED};"], schema=SCHEMA)] == [0, 1]
    with pytest.raises(InputError, match=r"statement 2: this entry of the list has 2 statements"):
        parse([ASKED, f"{ASKED};{ASKED}"], schema=SCHEMA)
    with pytest.raises(InputError, match=r"statement 2, line 1, character 8: a star"):
        parse([ASKED, "SELECT * FROM people"], schema=SCHEMA)
    for wrong in (5, [5], None):
        with pytest.raises(InputError):
            parse(wrong, schema=SCHEMA)  # type: ignore[arg-type]


@pytest.mark.parametrize(("kind", "word"), [("ordered", "MAX"), ("categories", "SUM"), ("tree", "MEDIAN")])
def test_categories_are_only_counted(kind: str, word: str) -> None:
    schema = Schema((("age", "integer"),), "disease", kind)
    assert parse_one("SELECT COUNT(disease) FROM people WHERE age = 1", schema=schema)
    with pytest.raises(
        InputError, match=f"character {8 + len(word) + 1}: 'disease' holds categories, not numbers: {word}"
    ):
        parse_one(f"SELECT {word}(disease) FROM people", schema=schema)


def test_names_that_differ_in_case_only_need_quotes() -> None:
    schema = Schema((("Age", "integer"), ("age", "integer")), "salary")
    assert (
        parse_one(f'{WHERE}"Age" = 1', schema=schema).sql()
        == 'SELECT SUM("salary") FROM "people" WHERE "Age" = 1'
    )
    for name in ("age", "AGE", '"AGE"'):
        with pytest.raises(
            InputError, match=r'character 38: .* can be several columns: write "Age" or "age"'
        ):
            parse_one(f"{WHERE}{name} = 1", schema=schema)
