"""The command ``forestcoll expected``."""

import pytest

from tests.command_line import assert_refused, document, invoke


def test_rates_are_a_table_with_binding_cuts_and_times_of_sizes() -> None:
    shown = invoke("expected", "dgx_a100:boxes=1", "--sizes", "1MB").stdout
    assert shown == (
        "dgx_a100:boxes=1, allreduce of 8 GPUs; GB/s are 1e9 bytes/s, in each direction\n"
        "\n"
        "                                   algbw     busbw  of bound\n"
        "bound, switches forward          171.429       300  by a partition or cut\n"
        "ForestColl                       171.429       300  100.0 %\n"
        "NCCL ring                        171.429       300  100.0 %\n"
        "NCCL tree                        171.429       300  100.0 %\n"
        "NCCL NVLS                              -         -  unsupported: NVLS needs a switch "
        "marked multicast that joins all GPUs of a box; none joins those from b0.gpu0 to b0.gpu7\n"
        "NCCL NVLS tree                         -         -  unsupported: NVLS needs a switch "
        "marked multicast that joins all GPUs of a box; none joins those from b0.gpu0 to b0.gpu7\n"
        "\n"
        "The bottleneck cuts of its two phases\n"
        "  everything but GPU 0 of box 0: 7 sums must leave it over 1 link, 300 GB/s in all\n"
        "    1 x 300 GB/s from GPU 0 of box 0 to switch b0.nvswitch\n"
        "  everything but GPU 0 of box 0: 7 shards must enter it over 1 link, 300 GB/s in all\n"
        "    1 x 300 GB/s from switch b0.nvswitch to GPU 0 of box 0\n"
        "\n"
        "      size           us     algbw     busbw  at best\n"
        "       1MB      6.11669   171.429       300\n"
        "  (the links of this network have no latencies: small data takes longer; see --alpha)\n"
    )


@pytest.mark.parametrize(
    ("network", "notes"),
    [
        ("dgx_a100:boxes=1", []),
        (
            "mi250:boxes=1",
            [
                "  NCCL ring: direct links (xGMI): rings are searched for, not RCCL's "
                "hand-made ones",
                "  NCCL tree: direct links (xGMI): chains are searched for",
            ],
        ),
    ],
)
def test_notes_on_direct_links_are_of_networks_that_have_some(
    network: str, notes: list[str]
) -> None:
    lines = invoke("expected", network).stdout.splitlines()
    assert [line for line in lines if "xGMI" in line] == notes
    assert ("Differences from their source" in lines) == bool(notes)


def test_machines_get_the_same_in_json() -> None:
    options = ["--collective", "allgather", "--group", "0-1/*", "--without", "b1.gpu2 - ib"]
    text = document("expected", "dgx_a100:boxes=4", *options, "--sizes", "1KB..4KB")
    assert text["gpus"] == 16
    assert text["topology"] == "dgx_a100:boxes=4 without b1.gpu2 - ib"
    assert [one["size_bytes"] for one in text["least_us"]] == [1024, 2048, 4096]
    assert text["bounds"][0]["note"] == "by the bottleneck cut"
    assert text["binding_cuts"][0]["gpus"] > 0
    none = {one["what"]: one["note"] for one in text["rates"] if one["algbw_gb_s"] is None}
    assert none["NCCL tree"] == "has no allgather"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--sizes", "1XB"], "--sizes has '1XB'; write bytes, or a size"),
        (["--collective", "gossip"], "it must be one of allgather"),
        (["--collective", "all"], "all-to-all, or nccl-tests for a row of each of its programs"),
        (["--without", "gpu9"], "'gpu9' is not a node"),
        (["--root", "gpu1"], "allreduce takes no root here"),
        (["--group", "gpu1"], "a collective needs at least 2"),
        (["--time-limit", "-1"], "seconds is -1.0; it must be from 0 to 10000000"),
    ],
)
def test_bad_questions_are_reported_in_one_line(options: list[str], message: str) -> None:
    assert_refused(message, "expected", "ring:nodes=4", *options)
