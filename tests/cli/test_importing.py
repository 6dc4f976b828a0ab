"""``forestcoll topology import`` and ``rates``."""

from pathlib import Path

import pytest

from forestcoll.runtimes.scoring.threadblock_rates import THREADBLOCK_RATES
from forestcoll.topology import load_topology
from forestcoll.topology.importers.link_rates import RATES
from tests.command_line import assert_refused, document, invoke
from tests.topology.importers.nccl_dumps import bridge, cpu, gpu, nic, system
from tests.topology.importers.small_files import DOT, SLURM_CONF, TOPO_SWITCHED

PAIR = ({"gpu1": 1}, {"gpu0": 1})
DUMP = system(cpu(0, *(bridge(f"b{i}", gpu(i, PAIR[i]), nic(i)) for i in range(2))))


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    path = tmp_path / "dump.xml"
    path.write_text(DUMP, encoding="utf-8")
    return path


def test_a_dump_becomes_a_cluster(dump: Path, tmp_path: Path) -> None:
    made = tmp_path / "cluster.yaml"
    options = ["--machines", 2, "--fabric", "rails", "--rates", "nominal", "-o", made]
    facts = document("topology", "import", dump, *options)
    assert (facts["gpus"], facts["boxes"], facts["links"]) == (4, 2, 12)
    assert facts["notes"] == []
    assert load_topology(str(made)).num_compute == 4
    named = tmp_path / "named.yaml"
    again = document(
        "topology", "import", f"node={dump}", *options[:-1], named, "--name", "cluster"
    )
    assert again["gpus"] == 4
    assert named.read_bytes() == made.read_bytes()


def test_networks_are_named_after_their_file_or_by_an_option(dump: Path, tmp_path: Path) -> None:
    """A whole network keeps the name that its file has, unless another is given."""
    made, dot = tmp_path / "my cluster.v2.yaml", tmp_path / "a.dot"
    machine = ("topology", "import", dump, "--rates", "nominal", "-o", made)
    assert document(*machine)["topology"] == "my cluster.v2"
    assert document(*machine, "--name", "mine")["topology"] == "mine"
    assert load_topology(str(made)).name == "mine"
    dot.write_text(DOT, encoding="utf-8")
    whole = ("topology", "import", dot, "-o", made)
    assert document(*whole)["topology"] == "two GPUs"
    assert document(*whole, "--name", "mine")["topology"] == "mine"
    assert load_topology(str(made)).name == "mine"
    assert_refused("has an empty name", *whole, "--name", "")


@pytest.mark.parametrize(
    ("option", "value", "why"),
    [
        ("--gpu", "H100", "no file lacks the kind of its GPUs"),
        ("--uplink", "1 Tb/s", "no file has a tree of switches without bandwidths"),
        ("--nic-speed", "400 Gb/s", "no file lacks the speeds of its NICs"),
        ("--nics", "mlx5_*", "there is no network between machines to choose NICs for"),
    ],
)
def test_an_option_without_effect_is_noted(
    option: str, value: str, why: str, dump: Path, tmp_path: Path
) -> None:
    """Of NCCL's file, which has kinds and speeds; one line on stderr, and the import goes on."""
    options = ("--rates", "nominal", option, value, "-o", tmp_path / "a.yaml")
    result = invoke("topology", "import", dump, *options)
    assert (result.exit_code, result.stderr) == (0, f"note: {option} has no effect: {why}\n")
    assert load_topology(str(tmp_path / "a.yaml")).num_compute == 2


def test_notes_are_printed(dump: Path, tmp_path: Path) -> None:
    result = invoke("topology", "import", dump, "--rates", "runtime", "-o", tmp_path / "a.yaml")
    assert result.exit_code == 0
    assert "Without a network between machines, NICs are left out." in result.stdout


@pytest.mark.parametrize(
    ("speed", "notes"),
    [
        (
            "100",
            ["--nic-speed 100 counts as 100 GB/s, which are 800 Gb/s; write 100 Gb/s for bits."],
        ),
        ("100 Gb/s", []),
    ],
)
def test_a_speed_without_a_unit_is_noted(
    dump: Path, tmp_path: Path, speed: str, notes: list[str]
) -> None:
    options = ["--machines", 2, "--fabric", "rails", "--rates", "nominal", "--nic-speed", speed]
    facts = document("topology", "import", dump, *options, "-o", tmp_path / "a.yaml")
    assert facts["notes"] == notes


def test_invalid_imports_are_refused(dump: Path, tmp_path: Path) -> None:
    out = ("-o", tmp_path / "a.yaml")
    assert_refused("counts links", "topology", "import", dump, *out)
    both = ("--network", dump, "--fabric", "rails")
    assert_refused("--network and --fabric both", "topology", "import", dump, *both, *out)
    assert_refused("cannot be read", "topology", "import", f"a={tmp_path}/no.xml", *out)
    assert_refused("suffix '.txt'", "topology", "import", dump, "--rates", "nominal",
                   "-o", tmp_path / "a.txt")  # fmt: skip
    assert not (tmp_path / "a.yaml").exists()


def test_every_rate_is_printed_with_its_source() -> None:
    listed = document("topology", "rates")
    blocks = [f"threadblock.{machine}" for machine in THREADBLOCK_RATES]
    assert [rate["link"] for rate in listed] == [*RATES, *blocks]
    assert {"link": "nvlink.sm_90", "per": "link", "nominal_gb_s": "25"}.items() <= next(
        rate for rate in listed if rate["link"] == "nvlink.sm_90"
    ).items()
    text = invoke("topology", "rates").stdout
    assert "nvlink.sm_90 (GB/s a link, per direction)\n  nominal  25: H100 data sheet" in text
    assert "  runtime  20.6: NVIDIA/nccl src/graph/topo.h, SM90_NVLINK_BW" in text
    assert "  nominal  none: depends on how many links the board has" in text
    assert "threadblock.mi300x (GB/s a threadblock, per direction)" in text
    assert "  runtime  12: ROCm/rccl src/graph/paths.cc: 4 channels" in text


def test_options_supply_values_missing_in_files(tmp_path: Path) -> None:
    """Four H100s on NVSwitches, on two leaves of Slurm's."""
    topo, tree, made = tmp_path / "topo.txt", tmp_path / "topology.conf", tmp_path / "a.yaml"
    topo.write_text(TOPO_SWITCHED, encoding="utf-8")
    tree.write_text(SLURM_CONF, encoding="utf-8")
    machines = [f"node00={topo}", f"node02={topo}"]
    options = ["--gpu", "h100", "--rates", "nominal", "--network", tree, "-o", made]
    speeds = ["--nic-speed", "400 Gb/s", "--uplink", "1.6 Tb/s"]
    assert invoke("topology", "import", *machines, *options, *speeds, "--nics", "*_*").stderr == ""
    facts = document("topology", "import", *machines, *options, *speeds)
    assert (facts["gpus"], facts["switches"]) == (8, 5)
    widths = {link.bandwidth_gb_s for link in load_topology(str(made)).links}
    assert widths == {450, 50, 200}
    import_ = ("topology", "import", *machines, *options)
    assert_refused("--uplink", *import_)
    assert_refused(
        "--nic-speed is '400 Gbps', which may be bits", *import_, "--nic-speed", "400 Gbps"
    )
    assert_refused("--uplink is 0; it must be above 0", *import_, "--uplink", "0")
    assert_refused("is not a kind of GPU", "topology", "import", topo, "--gpu", "x", "-o", made)
