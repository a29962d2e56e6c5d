"""``make demo``: the paper's examples, measured and drawn into ``out/``."""

from __future__ import annotations

from pathlib import Path

from equivoc.measure.chart import curve_chart
from equivoc.measure.curve import curve


def main() -> None:
    out = Path("out")
    out.mkdir(exist_ok=True)
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
    print(f"Their curves are drawn in {picture.resolve()}")


if __name__ == "__main__":
    main()
