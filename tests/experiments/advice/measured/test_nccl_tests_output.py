"""The output of nccl-tests: what it is read as, and how faulty files are refused."""

import json
import random
import re
from contextlib import suppress
from pathlib import Path

import pytest

from experiments.advice.measured.nccl_tests_output import MeasuredRun, read_nccl_tests
from forestcoll.errors import InvalidParameterError
from tests.experiments.advice.measured.runs import HEADER, output, row

MB = 1 << 20
TEXT = output([(MB, 35.0), (1024 * MB, 4000.0)], 8, 1.75)
JSON = {
    "test_name": "all_reduce_perf",
    "config": {"devices": [{"rank": rank} for rank in range(8)]},
    "results": [
        {
            "size": size,
            "out_of_place": {"time": us, "alg_bw": size / us / 1e3, "bus_bw": size / us * 1.75e-3},
            "in_place": {"time": 2 * us, "alg_bw": 1, "bus_bw": 1.75},
        }
        for size, us in ((MB, 35.0), (1024 * MB, 4000.0))
    ],
}  # fmt: skip


def read(tmp_path: Path, text: str) -> MeasuredRun:
    path = tmp_path / "run.txt"
    path.write_text(text, encoding="utf-8")
    return read_nccl_tests(path)


@pytest.mark.parametrize("text", [TEXT, json.dumps(JSON)], ids=["text", "json"])
def test_a_run_is_its_sizes_its_gpus_and_its_collective(text: str, tmp_path: Path) -> None:
    run = read(tmp_path, text)
    assert (run.collective, run.gpus) == ("allreduce", 8)
    assert [(one.size_bytes, one.time_us) for one in run.sizes] == [(MB, 35), (1024 * MB, 4000)]
    assert run.factor == pytest.approx(1.75, rel=1e-3)
    assert run.fastest.size_bytes == 1024 * MB
    assert run.fastest.algbw_gb_s == pytest.approx(268.435456)
    run.expect("allreduce", 8, "run.txt")


@pytest.mark.parametrize(
    ("program", "collective"),
    [("all_gather_perf", "allgather"), ("reduce_scatter_perf", "reduce-scatter"),
     ("alltoall_perf", "all-to-all"), ("broadcast_perf", "broadcast"), ("reduce_perf", "reduce")],
)  # fmt: skip
def test_the_program_names_the_collective(program: str, collective: str, tmp_path: Path) -> None:
    assert read(tmp_path, output([(MB, 35.0)], 8, 1, program)).collective == collective


def test_the_faster_of_both_halves_counts_and_na_is_none(tmp_path: Path) -> None:
    text = (
        HEADER + row(MB, 50, 1.75, "40.00 26.21 45.88 0") + row(4 * MB, 90, 1.75, "N/A N/A N/A N/A")
    )
    run = read(tmp_path, text)
    assert [one.time_us for one in run.sizes] == [40, 90]
    assert (run.collective, run.gpus) == (None, None)


def test_a_launcher_s_marks_before_rows_are_passed_over(tmp_path: Path) -> None:
    text = HEADER + "[1,0]<stdout>:" + row(MB, 50, 1.75).lstrip()
    assert read(tmp_path, text).sizes[0].size_bytes == MB


def test_sizes_of_nothing_are_left_out(tmp_path: Path) -> None:
    run = read(tmp_path, HEADER + row(MB, 50, 1.75) + row(0, 20, 1.75))
    assert [one.size_bytes for one in run.sizes] == [MB]


@pytest.mark.parametrize(
    ("collective", "gpus", "message"),
    [
        ("allgather", 8, "run.txt: is of allreduce; give --collective allreduce"),
        ("allreduce", 16, "run.txt: is of 8 GPUs, as it lists its ranks, and the network has 16;"),
    ],
)
def test_another_collective_or_network_is_refused(
    collective: str, gpus: int, message: str, tmp_path: Path
) -> None:
    with pytest.raises(InvalidParameterError, match=re.escape(message)):
        read(tmp_path, TEXT).expect(collective, gpus, "run.txt")


def test_the_ratio_of_both_bandwidths_shows_another_collective(tmp_path: Path) -> None:
    run = read(tmp_path, HEADER + row(1024 * MB, 4000, 0.875))
    run.expect("allgather", 8, "run.txt")
    with pytest.raises(InvalidParameterError, match=r"busbw is 0.875 times algbw, and 1.75 times"):
        run.expect("allreduce", 8, "run.txt")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "run.txt: has no table of nccl-tests"),
        (HEADER, "run.txt: has no table of nccl-tests"),
        (TEXT + "all_gather_perf", "has runs of several programs (all_gather, all_reduce); give"),
        (HEADER + f"{MB} {MB} float sum -1 5", "line 4: has 6 values for 13 columns; the file may"),
        (TEXT.replace("35.00", "fast"), "time is 'fast'; it must be a number"),
        (HEADER + row(0, 20, 1.75), "run.txt: has no size with a time above 0"),
        ("# size count type redop root time", "line 1: the header has the columns time; it must"),
        (HEADER.replace("algbw   busbw", "busbw"), "line 2: the header has the columns time busbw"),
        ("{}", "run.txt: results must be a list of measured sizes"),
        ('{"results": [{}]}', "results[0].size must be a number of bytes"),
        ('{"results": [{"size": true}]}', "results[0].size must be a number of bytes"),
        ('{"results": [{"size": 8, "in_place": {}}]}', "results[0].in_place.time must be a number"),
        ('{"results": [{"size": 8}]}', "has no size with a time above 0"),
        ("{", "run.txt, line 1: not valid JSON"),
    ],
)
def test_faulty_files_are_refused_in_one_line(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidParameterError, match=re.escape(message)) as refused:
        read(tmp_path, text)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("seed", range(40))
def test_a_damaged_file_is_read_or_refused(seed: int, tmp_path: Path) -> None:
    """Cut off, and a few characters exchanged."""
    rng = random.Random(seed)
    letters = list(rng.choice([TEXT, json.dumps(JSON)]))
    for _ in range(rng.randrange(6)):
        letters[rng.randrange(len(letters))] = rng.choice('0e-.NA{}"\n\t#')
    text = "".join(letters)[: rng.randrange(1, len(letters))]
    with suppress(InvalidParameterError):
        assert read(tmp_path, text).sizes
