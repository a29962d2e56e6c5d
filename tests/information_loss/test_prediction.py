"""The loss of a model trained on the release."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import equivoc as eq
from equivoc.information_loss.model_losses import HELD_OUT, held_out_people, prediction_loss
from equivoc.information_loss.shown_table import original_table, released_table


def people(records: int = 600, **changed: object) -> eq.Microdata:
    rng = np.random.default_rng(1)
    age = rng.integers(20, 60, records)
    table = pd.DataFrame({"age": age, "sex": rng.choice(list("FM"), records), "pay": age * 10.0})
    return eq.Microdata(table.assign(**changed), confidential="pay", keys=["age", "sex"])


def loss(data: eq.Microdata, release: object, seed: int = 0) -> float | None:
    return prediction_loss(original_table(data), released_table(release), confidential="pay", seed=seed)


def test_a_useless_release_loses_a_standard_deviation() -> None:
    """Pay follows from age. A release with constant pay predicts the mean: its error is one standard deviation."""
    data = people()
    useless = data.frame.assign(pay=data.frame["pay"].mean())
    assert loss(data, eq.ReleasedFile(useless).release(data)) == pytest.approx(1.0, abs=0.06)


def test_a_useless_release_of_categories_loses_the_share_of_the_others() -> None:
    """Half of the people are "low"; a release in which all are "low" is wrong about the others."""
    data = people(pay=np.where(people().frame["age"] < 40, "low", "high"))
    share = (data.frame["pay"] == "high").to_numpy()[held_out_people(600, 0)].mean()
    assert loss(data, eq.ReleasedFile(data.frame.assign(pay="low")).release(data)) == pytest.approx(
        share, abs=0.01
    )


def test_the_split_is_a_seeded_share() -> None:
    held = held_out_people(1000, 3)
    assert held.sum() == HELD_OUT * 1000
    assert np.array_equal(held, held_out_people(1000, 3))
    assert not np.array_equal(held, held_out_people(1000, 4))


def test_the_models_do_not_see_the_people_held_out() -> None:
    """Only the records of the people held out are damaged: a model that is not trained on them does not notice."""
    data = people()
    damaged = data.frame["pay"].where(~held_out_people(600, 0), -5000.0)
    release = eq.ReleasedFile(data.frame.assign(pay=damaged)).release(data)
    table = released_table(release)
    known = type(table)(table.columns, table.weights, np.arange(600))
    assert prediction_loss(original_table(data), known, confidential="pay", seed=0) == 0
    assert prediction_loss(original_table(data), table, confidential="pay", seed=0) > 1


def test_not_measured_without_keys_or_with_few_people() -> None:
    few = people(15)
    assert loss(few, eq.Unprotected().release(few)) is None
    alone = eq.Microdata(people().frame, confidential="pay")
    assert loss(alone, eq.Unprotected().release(alone)) is None
    data = people()
    assert loss(data, eq.ReleasedFile(data.frame.iloc[:3]).release(data)) is None


def test_noise_that_only_adds_error_is_never_a_gain() -> None:
    data = people()
    assert loss(data, eq.Sampling(0.5).release(data, 0)) >= 0
