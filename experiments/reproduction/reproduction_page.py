"""Tables of docs/papers/reproduction*.md, written from stored rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from experiments.measures.docs import piped, with_tables
from experiments.measures.measure import duration
from experiments.reproduction.capabilities import Capability, capabilities
from experiments.reproduction.coverage import Coverage, Shown
from experiments.reproduction.difference import Difference, come_out
from experiments.reproduction.inventory import PAPERS
from experiments.reproduction.training import Saving, savings
from experiments.reproduction.training_gap import Gap, gaps
from experiments.reproduction.two_measures import BothMeasures, both_measures

__all__ = ["page_tables", "updated", "verdict"]

_STANDING = {
    "done": "reproduced",
    "part": "in part",
    "waiting": "waiting",
    "hardware": "hardware",
    "proprietary": "not public",
    "none": "-",
}
"""Verdict of each status."""

_COUNTED = (
    "measures-allgather", "bfb-figure10", "forestcoll-figure14", "own-meshes", "others-tori",
)  # fmt: skip
"""Experiments that show the capabilities of methods; of the last two the allreduces count."""


_OF = {"theory": "", "search": ", searches", "simulated": ", simulated"}
"""Words for the kind of a difference."""


def page_tables(coverage: Coverage) -> dict[str, list[str]]:
    """Return the tables of the page, by the names of their marks."""
    found = coverage.differences
    rows = [row for name in _COUNTED for row in coverage.rows.get(name, ())]
    return {
        "summary": _summary(coverage),
        "items": _items(coverage),
        "theory": _differences(coverage.otherwise),
        "simulated": _differences([one for one in found if one.kind == "simulated"]),
        "searches": _differences([one for one in found if one.kind == "search"]),
        "training": _training(savings(coverage.rows)),
        "training-gap": _training_gaps(gaps(coverage.rows)),
        "times": _times([one for one in found if one.kind == "time"]),
        "methods": _methods(capabilities(rows)),
        "measures": _measures(both_measures(coverage.rows.get("forestcoll-figure14", ()))),
    }


def verdict(one: Shown) -> str:
    """Return an item's status in one or two words."""
    if one.faults:
        return "incomplete"
    if one.item.status == "part" and one.item.to_the_limit:
        return "without the machine" if "machine" in one.item.lacks else "public part"
    return _STANDING[one.item.status]


def _summary(coverage: Coverage) -> list[str]:
    items = [_share(coverage, by_theory=True), _share(coverage, by_theory=False)]
    waits = [
        f"{one.item.item} ({one.item.paper}, {one.item.of})"
        for one in coverage.shown
        if one.item.status == "waiting"
    ]
    if waits:
        items.append(f"{len(waits)} items wait for a part of the toolkit: {', '.join(waits)}.")
    (exact, printed), (derived, following) = (
        come_out(one for one in coverage.differences if one.kind == kind)
        for kind in ("theory", "derived")
    )
    return [
        f"The papers have {len(coverage.shown)} items. {' '.join(items)}",
        "",
        f"The papers print {printed} numbers of theory, and {exact} of them come out to the last "
        f"digit. {following} more numbers follow from printed ones, and {derived} of them come "
        f"out. A number that several tables print counts once here, and in each of their lines "
        f"below.",
    ]


def _share(coverage: Coverage, *, by_theory: bool) -> str:
    share = coverage.share(by_theory=by_theory)
    private = share.of - share.public
    return (
        f"{'Theory' if by_theory else 'Only software'} gives {share.of}: "
        f"{share.whole} are reproduced, "
        f"{share.to_the_limit - share.whole} lack only the machine or unpublished inputs, "
        f"{share.at_all - share.to_the_limit} are reproduced in part."
        f"{f' {private} of these {share.of} need inputs that are not public.' if private else ''}"
    )


def _items(coverage: Coverage) -> list[str]:
    lines = []
    for letters, paper in PAPERS.items():
        lines += [f"### {paper}", ""]
        its = [one for one in coverage.shown if one.item.item.startswith(letters)]
        lines += _table(
            ["item", "where", "what", "remark", "how", "takes", "printed numbers", "verdict"],
            map(_line, its),
        )
        notes = [f"- **{one.item.item}**: {one.item.note}" for one in its if one.item.note]
        lines += ["", *notes, ""] if notes else [""]
    return lines[:-1]


def _line(one: Shown) -> list[str]:
    item = one.item
    how = [f"`forestcoll run {'/'.join(file.parts[-3:])}`" for file in one.files]
    how += [f"`pytest {test}`" for test in item.tests]
    how += [_other(other) for other in item.others]
    takes = duration(one.seconds) if one.seconds else ""
    parts = [item.item, item.of, item.what, item.why]
    return [*parts, "<br>".join(how), takes, _numbers(one), verdict(one)]


def _other(other: str) -> str:
    return f"[{other}](../../{other})" if other.startswith("results/") else other


def _numbers(one: Shown) -> str:
    """Return the number of printed numbers that agree, and the largest difference."""
    if not one.differences:
        return ""
    parts = []
    for kind, words in (("theory", "as printed"), ("derived", "as derived")):
        its = [d for d in one.differences if d.kind == kind]
        parts += [f"{sum(d.equal for d in its)} of {len(its)} {words}"] if its else []
    for kind in ("theory", "search", "simulated", "time"):
        off = [d for d in one.differences if d.kind == kind and not d.equal]
        if off and kind == "time":
            parts.append(f"{len(off)} times")
        elif off:
            worst = max(off, key=lambda d: abs(d.share))
            parts.append(f"largest difference{_OF[kind]} {worst.share:+.1%}")
    return "; ".join(parts)


def _differences(found: Sequence[Difference]) -> list[str]:
    return _table(
        ["item", "what", "printed", "ours", "unit", "difference"],
        (
            [one.item, one.what, one.printed, f"{one.ours:.6g}", one.unit, f"{one.share:+.1%}"]
            for one in sorted(found, key=lambda one: -abs(one.share))
        ),
    )


def _training(found: Sequence[Saving]) -> list[str]:
    return _table(
        ["model", "layer size", "computation, printed", "ours / NCCL's", "saved here", "printed"],
        (
            [
                one.model, f"{one.layer_bytes / 1e9:.2f} GB",
                f"{'at least ' * (one.printed_is != 'exactly')}{one.compute_share:.0%}",
                f"{one.ratio:.2f}", f"{one.least:.1%} to {one.most:.1%}",
                f"{'at most ' * (one.printed_is != 'exactly')}{float(one.printed):.0%}",
            ]
            for one in found
        ),
    )  # fmt: skip


def _training_gaps(found: Sequence[Gap]) -> list[str]:
    return _table(
        [
            "model", "visible, printed", "utilisation needed, 2 bytes", "4 bytes",
            "slower rings needed, at 40 %", "at 60 %", "then saved", "printed",
        ],
        (
            [
                one.model, f"{one.visible:.0%}",
                *(f"{one.utilisation[each]:.0%}" for each in (2, 4)),
                *(f"{one.slowdown[used]:.1f} times" for used in (0.4, 0.6)),
                f"{one.saved:.0%}", f"{one.printed_saving:.0%}",
            ]
            for one in found
        ),
    )  # fmt: skip


def _times(found: Sequence[Difference]) -> list[str]:
    """Return times on different machines and solvers, the greatest speedup first."""
    return _table(
        ["item", "what", "printed", "ours", "printed / ours"],
        (
            [
                one.item,
                one.what,
                f"{one.printed} s",
                duration(one.ours),
                f"{'<' * one.printed.startswith('<')}{1 / (1 + one.share):.3g}",
            ]
            for one in sorted(found, key=lambda one: one.share)
        ),
    )


def _methods(found: Sequence[Capability]) -> list[str]:
    return _table(
        [
            "method", "optimality", "generality", "scalability",
            "slides (switches, optimal, scalable)",
            "collective here", "switches here", "at the optimum here", "least share",
            "largest here", "limit hit at",
        ],
        (
            [
                one.method, one.optimality, one.generality, one.scalability, one.slides,
                one.collective, {True: "yes", False: "no", None: ""}[one.switches],
                f"{one.optimal} of {one.networks} networks" if one.networks else "none made",
                "" if one.worst is None else f"{one.worst:.1%}",
                "" if one.largest is None else f"{one.largest} GPUs",
                "" if one.beyond is None else f"{one.beyond} GPUs",
            ]
            for one in found
        ),
    )  # fmt: skip


def _measures(found: Sequence[BothMeasures]) -> list[str]:
    """Return a line for each network, with both shares of each method that made a schedule."""
    methods = list(dict.fromkeys(one.method for one in found))
    shares = {(one.cluster, one.gpus, one.method): one for one in found}
    return _table(
        ["network", "GPUs", "optimum, GB/s", *(f"{m}: pipelined, at its end" for m in methods)],
        (
            [
                cluster, str(gpus), f"{optimum:.1f}",
                *(
                    f"{one.pipelined:.0%}, {one.at_end:.0%}"
                    if (one := shares.get((cluster, gpus, method))) else ""
                    for method in methods
                ),
            ]
            for cluster, gpus, optimum in dict.fromkeys(
                (one.cluster, one.gpus, one.optimum_gb_s) for one in found
            )
        ),
    )  # fmt: skip


def _table(heads: Sequence[str], lines: Iterable[Sequence[str]]) -> list[str]:
    return [_piped(heads), _piped(["---"] * len(heads)), *(_piped(line) for line in lines)]


def _piped(cells: Iterable[str]) -> str:
    return piped(cell.replace("|", "\\|") for cell in cells)


def updated(page: str, tables: Mapping[str, Sequence[str]]) -> str:
    """Return the page with these tables between its marks."""
    texts = {name: "\n".join(lines) for name, lines in tables.items()}
    return with_tables(page, texts, "forestcoll reproduction page")
