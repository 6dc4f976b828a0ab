"""Rows that tests show, draw and compare."""

from collections.abc import Iterable
from dataclasses import replace

from experiments.results.rows import Row, Status


def clusters_of_rows() -> list[Row]:
    """Three sizes of A100 by two methods, one of which times out at the largest."""
    row = Row(
        experiment="toy",
        point="p",
        cluster="dgx_a100",
        topology="dgx_a100:boxes=2",
        collective="allgather",
        method="forestcoll",
        parameters={},
        repetition=0,
        status=Status.OK,
        gpus=16,
        generation_s=0.001,
        algbw_gb_s=346.667,
        algbw="1040/3",
        optimum_gb_s=346.667,
        ratio=1.0,
        k=13,
        num_trees=208,
        depth=3,
        verified=True,
        limit_s=60.0,
        limit_memory_gb=4.0,
        time="2026-01-01T00:00:00+00:00",
    )
    sizes = [
        replace(row, topology=f"dgx_a100:boxes={n // 8}", gpus=n, generation_s=n / 10_000)
        for n in (16, 32, 64)
    ]
    ring = [replace(r, method="ring", algbw_gb_s=200.0, ratio=0.6) for r in sizes]
    lost = {"algbw_gb_s": None, "generation_s": None, "reason": "over 60 s", "k": None}
    ring[-1] = replace(ring[-1], status=Status.TIMEOUT, **lost)  # type: ignore[arg-type]
    return [*sizes, *ring]


def rings_of_rows(seconds: Iterable[float] = (1.0,), **changes: object) -> list[Row]:
    """Two methods on two rings, a repetition for each time; the second method is unsupported."""
    rows = []
    for nodes in (3, 4):
        for repetition, time in enumerate(seconds):
            row = Row(
                experiment="toy",
                point=f"ring{nodes}-{repetition}",
                cluster="ring",
                topology=f"ring:nodes={nodes}",
                collective="allgather",
                method="ring",
                parameters={"effort": 2, "fast": True, "share": 0.5, "mode": "a"},
                repetition=repetition,
                status=Status.OK,
                gpus=nodes,
                generation_s=time,
                stages_s={"search": time / 2},
                algbw_gb_s=800 / 3,
                algbw="800/3",
                optimum_gb_s=800 / 3,
                optimum="800/3",
                ratio=1.0,
                depth=nodes - 1,
                k=1,
                verified=True,
                limit_s=60.0,
                limit_memory_gb=4.0,
                host={"name": "here", "processors": 2},
                commit="abc",
                time="2026-01-01T00:00:00+00:00",
            )
            lost = {"generation_s": None, "algbw_gb_s": None, "algbw": None, "ratio": None}
            other = replace(
                row, method="multitree", parameters={}, point=f"tree{nodes}-{repetition}",
                status=Status.UNSUPPORTED, reason="no", depth=None, **lost,  # type: ignore[arg-type]
            )  # fmt: skip
            rows += [replace(row, **changes), other]  # type: ignore[arg-type]
    return rows
