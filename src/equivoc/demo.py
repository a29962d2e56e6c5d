"""``make demo``: the paper's examples, then an assessment of the shipped people with a report to open."""

from __future__ import annotations

from pathlib import Path

from equivoc.datasets import people as shipped
from equivoc.measure.chart import curve_chart
from equivoc.measure.curve import curve
from equivoc.study.assess import assess
from equivoc.techniques.sampling import Sampling


def main() -> None:
    out = Path("out")
    out.mkdir(exist_ok=True)
    _examples(out)
    _assessment(out)


def _examples(out: Path) -> None:
    worked = curve([1, 3, 8, 9], [0.15, 0.1, 0.7, 0.05])
    print("The paper's worked example: values 1, 3, 8, 9 with probabilities .15, .1, .7, .05")
    for eps, bits in zip(worked.epsilons, worked.entropies, strict=True):
        print(f"  from ε = {eps:g}: H = {bits:.3f} bits")
    print(f"  area {worked.area:.3f}, ε_max {worked.eps_max:g}\n")
    close, far = curve([77, 80], [0.5, 0.5]), curve([50, 107], [0.5, 0.5])
    print(
        "Two salaries left, in thousands, equally likely. Shannon's entropy sees no difference; the area does:"
    )
    print(f"  {{77K, 80K}}:  H0 = {close.h0:g} bit, area = {close.area:g}K bits")
    print(f"  {{50K, 107K}}: H0 = {far.h0:g} bit, area = {far.area:g}K bits\n")
    picture = out / "two_salaries.png"
    names = {"salary is 77K or 80K": close, "salary is 50K or 107K": far}
    curve_chart(names, unit="thousand").save(str(picture), scale_factor=2)
    print(f"Their curves are drawn in {picture.resolve()}\n")


def _assessment(out: Path) -> None:
    people = shipped("cps_hourly_workers")
    known = ["age", "sex", "education"]
    result = assess(people, Sampling(fraction=0.1), known=known, seed=0, eps=[0, 200])
    record, prior = result.summary["per_record"], result.summary["prior"]
    print(f"{len(people):,} hourly workers, a 10 % sample published; an intruder knows {', '.join(known)}:")
    print(f"  H0 {record['h0']['mean']:.2f} bits on average ({prior['h0']:.2f} without the release)")
    print(f"  area {record['area']['mean']:,.0f} bits × cents ({prior['area']:,.0f} without)")
    hit, true_hit = record["hit"][200.0]["mean"], record["true_hit"][200.0]
    print(
        f"  within ±100 cents of a random person's wage with probability {hit:.2f} (in truth {true_hit:.2f})\n"
    )
    page = result.report(out / "report.html", unit="cents")
    print(f"The report is in {page.resolve()}: open it in a browser.")


if __name__ == "__main__":
    main()
