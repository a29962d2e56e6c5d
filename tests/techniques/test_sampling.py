"""Sampling against direct counting in the published table."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

from equivoc.data.microdata import Microdata
from equivoc.techniques.sampling import Sampling
from equivoc.techniques.unprotected import Unprotected

SUBSETS = [[], ["age"], ["sex"], ["sex", "age"], ["job", "age", "sex"]]


def counted(records, sample, classes, known, domain, prior):
    """The formula, from the original's class sizes and the table that was published."""
    found = {}
    for key, members in classes.items():
        seen = [r["pay"] for r in sample if tuple(r[name] for name in sorted(known)) == key]
        unseen = (len(members) - len(seen)) / len(members)
        row = []
        for value in domain:
            share = sum(r["pay"] == value for r in sample) / len(sample)
            row.append(
                seen.count(value) / len(members) + unseen * (1 / len(domain) if prior == "uniform" else share)
            )
        found[key] = row
    return found


@pytest.mark.parametrize("known", SUBSETS, ids=str)
@pytest.mark.parametrize("prior", ["uniform", "marginal"])
@pytest.mark.parametrize("fraction", [0.1, 0.5])
def test_posterior_is_the_count(
    people, records, domain, beliefs, classes_of, assert_same, known, prior, fraction
):
    release = Sampling(fraction=fraction, prior=prior).release(people, 4)
    expected = counted(records, release.table.to_pylist(), classes_of(records, known), known, domain, prior)
    assert_same(beliefs(release.posteriors(known, intruder="paper")), expected)


def test_who_is_not_sampled_counts_by_the_prior(people, beliefs):
    """Nobody earns 70, so that value has the unsampled mass alone: 30 of 40 records, over 7 values."""
    (uniform,) = beliefs(Sampling(fraction=0.25).release(people, 1).posteriors([], intruder="paper")).values()
    assert uniform[-1] == pytest.approx(30 / 40 / 7, rel=1e-12)
    (marginal,) = beliefs(
        Sampling(fraction=0.25, prior="marginal").release(people, 1).posteriors([], intruder="paper")
    ).values()
    assert marginal[-1] == 0


@pytest.mark.parametrize(
    ("fraction", "size"), [(0.01, None), (0.02, 1), (0.1, 4), (0.49, 20), (0.51, 20), (0.52, 21), (1, 40)]
)
def test_sample_size_is_the_nearest_whole_number(people, fraction, size):
    if size is None:
        with pytest.raises(ValueError, match="half a record"):
            Sampling(fraction=fraction).release(people, 0)
    else:
        assert len(Sampling(fraction=fraction).release(people, 0).table) == size


def test_the_table_is_the_drawn_records(people, records):
    release = Sampling(fraction=0.3).release(people, 8)
    assert len(set(release.drawn.tolist())) == 12
    assert sorted(release.table.column_names) == ["age", "job", "pay", "sex"]
    drawn = [records[number] for number in release.drawn]
    assert [{name: row[name] for name in records[0]} for row in release.table.to_pylist()] == drawn
    as_tuples = Counter(tuple(record.values()) for record in drawn)
    assert as_tuples <= Counter(tuple(record.values()) for record in records)


def test_values_are_published_as_rounded(records):
    """Rounded at reading, the file itself is the rounded one."""
    people = Microdata(pa.Table.from_pylist(records), confidential="pay", keys=["age"], round_to=50)
    release = Sampling(fraction=0.5).release(people, 2)
    assert set(release.table.column("pay").to_pylist()) <= {0, 50, 100}
    assert release.table.column("pay").type == pa.int64()


def test_every_record_is_drawn_as_often(people):
    """Chi-square over 600 samples of 10 from 40; a draw that favours the first half of the file fails."""
    times = np.zeros(len(people))
    for seed in range(600):
        times[Sampling(fraction=0.25).release(people, seed).drawn] += 1
    assert times.sum() == 6000
    # Without replacement the counts vary less than a multinomial's, by the factor (n − m)/(n − 1).
    statistic = ((times - 150) ** 2 / 150).sum() / (30 / 39)
    assert 1e-3 < stats.chi2.sf(statistic, 39) < 1 - 1e-3


@pytest.mark.parametrize("prior", ["uniform", "marginal"])
def test_all_records_drawn_is_the_file_itself(people, beliefs, prior):
    whole, file = Sampling(fraction=1, prior=prior).release(people, 3), Unprotected().release(people)
    for known in SUBSETS:
        assert beliefs(whole.posteriors(known, intruder="paper")) == beliefs(
            file.posteriors(known, intruder="paper")
        )
    assert whole.table.equals(file.table)
