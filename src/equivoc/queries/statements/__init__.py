"""From SQL text to questions: which people each statement is about, and its answers.

    schema = schema_of(people, table="people")               # schema.py: the names and kinds that statements may use
    statements = parse(text, schema=schema)                  # parsing.py: a text of statements, or a list of them
    statement = parse_one(text, schema=schema)               # parsing.py: exactly one, without comments (the gateway)
    statement.sql(dialect="postgres")                        # statement.py: written anew; equal questions, equal text
    table = PeopleTable.of(people, schema)                   # people_table.py: opened once; safe to share by threads
    table.members([statement.condition])                     # the record numbers of each condition
    questions = ask(table, statements, answers=None)         # asking.py: one Question per aggregate and group
    table.values.answer("sum", members)                      # exact_aggregates.py: the answer from the data

Import from the modules; this package imports nothing.
"""
