"""A process that asks a gateway questions without end and prints each reply once it is given; to be killed."""

from __future__ import annotations

import json
import sys

import numpy as np

from equivoc.gateway.gateway import Gateway
from tests.gateway.conftest import made_people

POLICY = {"least_h0": 0.3, "share": 0.2}


def questions(seed: int, people: int = 60):  # type: ignore[no-untyped-def]
    """Endless: ranges, some of them impossible."""
    rng = np.random.default_rng(seed)
    while True:
        low, high = sorted(rng.integers(0, people, 2).tolist())
        aggregate = rng.choice(["SUM", "SUM", "AVG", "MAX", "COUNT"])
        yield f"SELECT {aggregate}(pay) FROM people WHERE id BETWEEN {low} AND {high}"


def people_of_process():  # type: ignore[no-untyped-def]
    return made_people(np.random.default_rng(8).integers(0, 10, 60))


if __name__ == "__main__":
    store, seed = sys.argv[1], int(sys.argv[2])
    gate = Gateway(people_of_process(), store=store, policy=POLICY)
    print("ready", flush=True)
    for sql in questions(seed):
        try:
            reply = gate.ask(sql, analyst="a")
        except ValueError:  # COUNT(pay) may be no question
            continue
        print(json.dumps([reply.number, reply.answered, reply.value, reply.reason]), flush=True)
