"""``make demo``: the paper's examples, then an assessment of the shipped people with a report to open."""

from __future__ import annotations

from pathlib import Path

from equivoc.assessment.assess import assess
from equivoc.charts.curves import curve_chart
from equivoc.charts.drawing import save_chart
from equivoc.cli.process import prepare_streams
from equivoc.datasets import people as shipped
from equivoc.files import new_folder
from equivoc.measure.curve import curve
from equivoc.techniques.sampling import Sampling
from equivoc.text import bits, exact, figure, probability


def main() -> None:
    prepare_streams()
    out = Path("out")
    new_folder(out)
    _examples(out)
    _assessment(out)


def _examples(out: Path) -> None:
    worked = curve([1, 3, 8, 9], [0.15, 0.1, 0.7, 0.05])
    print("The paper's worked example: values 1, 3, 8, 9 with probabilities .15, .1, .7, .05")
    for eps, entropy in zip(worked.epsilons, worked.entropies, strict=True):
        print(f"  from ε = {exact(eps)}: H = {bits(entropy)}")
    print(f"  area {figure(worked.area)}, ε_max {exact(worked.eps_max)}\n")
    close, far = curve([77, 80], [0.5, 0.5]), curve([50, 107], [0.5, 0.5])
    print("Two equally likely salaries, in thousands. Shannon's entropy is equal; the area differs:")
    print(f"  {{77K, 80K}}:  H0 = {bits(close.h0)}, area = {figure(close.area)}K bits")
    print(f"  {{50K, 107K}}: H0 = {bits(far.h0)}, area = {figure(far.area)}K bits\n")
    picture = out / "two_salaries.png"
    names = {"salary is 77K or 80K": close, "salary is 50K or 107K": far}
    save_chart(curve_chart(names, unit="thousand"), picture)
    print(f"Their curves are drawn in {picture.resolve()}\n")


def _assessment(out: Path) -> None:
    people = shipped("cps_hourly_workers")
    known = ["age", "sex", "education"]
    result = assess(people, Sampling(fraction=0.1), known=known, seed=0, eps=[0, 200])
    record, prior = result.summary["per_record"], result.summary["prior"]
    print(f"{len(people):,} hourly workers, a 10 % sample published; an intruder knows {', '.join(known)}:")
    print(f"  H0 {bits(record['h0']['mean'])} on average ({figure(prior['h0'])} without the release)")
    print(f"  area {figure(record['area']['mean'])} bits × cents ({figure(prior['area'])} without)")
    hit, true_hit = record["hit"][200.0]["mean"], record["true_hit"][200.0]
    print(
        f"  within ±100 cents of a random person's wage with probability {probability(hit)} "
        f"(actual share {probability(true_hit)})\n"
    )
    page = result.report(out / "report.html", unit="cents")
    print(f"The report is in {page.resolve()}: open it in a browser.")


if __name__ == "__main__":
    main()
