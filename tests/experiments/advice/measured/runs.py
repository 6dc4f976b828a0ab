"""Output of nccl-tests, made from sizes and times."""

from collections.abc import Iterable

HEADER = """\
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
"""  # noqa: E501


def row(size: int, time_us: float, factor: float, in_place: str = "") -> str:
    algbw = size / time_us / 1000
    half = f"{time_us:.2f} {algbw:.2f} {algbw * factor:.2f} 0"
    return f"{size:12} {size // 4:12} float sum -1 {half} {in_place or half}\n"


def output(
    times_us: Iterable[tuple[int, float]],
    gpus: int,
    factor: float,
    program: str = "all_reduce_perf",
) -> str:
    """Return the text of a run, with what a launcher prints before it."""
    devices = "".join(
        f"#  Rank {rank:2} Group  0 Pid   91 on  host device {rank % 8:2} [0x07] NVIDIA H100\n"
        for rank in range(gpus)
    )
    return (
        f"+ mpirun -np {gpus} {program} -b 1M\n# nThread 1 nGpus 1 minBytes 8\n#\n# Using devices\n"
        f"{devices}#\n{HEADER}{''.join(row(*one, factor) for one in times_us)}"
        "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 320.0\n#\n"
    )
