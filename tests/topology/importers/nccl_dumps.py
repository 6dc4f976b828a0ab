"""NCCL topology files of small machines, written element by element."""

from collections.abc import Iterable, Mapping

NVSWITCH = "0x068000"


def system(*parts: str) -> str:
    return f'<system version="1">{"".join(parts)}</system>\n'


def cpu(number: int, *parts: str, vendor: str = "GenuineIntel", model: int = 143) -> str:
    attributes = f'numaid="{number}" arch="x86_64" vendor="{vendor}" modelid="{model}"'
    return f"<cpu {attributes}>{''.join(parts)}</cpu>\n"


def bridge(bus: str, *parts: str, speed: str = "32.0 GT/s PCIe", width: int = 16) -> str:
    return (
        f'<pci busid="{bus}" class="0x060400" link_speed="{speed}" link_width="{width}">'
        f"{''.join(parts)}</pci>"
    )


def gpu(
    number: int,
    links: Mapping[str, int] | None = None,
    switches: Iterable[tuple[str, int]] = (),
    kind: str = 'sm="90"',
    speed: str = "32.0 GT/s PCIe",
) -> str:
    """Return a GPU on bus ``gpu<number>`` with links to buses and to NVSwitches."""
    tag = "xgmi" if "gcn" in kind else "nvlink"
    inside = [
        f'<{tag} target="{bus}" count="{count}" tclass="0x030200"/>'
        for bus, count in (links or {}).items()
    ]
    inside += [
        f'<nvlink target="{bus}" count="{count}" tclass="{NVSWITCH}"/>' for bus, count in switches
    ]
    return (
        f'<pci busid="GPU{number}" class="0x030200" link_speed="{speed}" link_width="16">'
        f'<gpu dev="{number}" {kind} rank="{number}" gdr="1">{"".join(inside)}</gpu></pci>'
    )


def nic(
    number: int,
    mbits: int | None = 400_000,
    ports: int = 1,
    guid: str = "",
    speed: str = "32.0 GT/s PCIe",
) -> str:
    """Return an adapter whose ports are ``mlx5_<number>`` and on."""
    rate = "" if mbits is None else f'speed="{mbits}"'
    nets = [
        f'<net name="mlx5_{number + i}" dev="{number + i}" {rate} port="{i + 1}" '
        f'guid="{guid or hex(0xABC0 + number)}"/>'
        for i in range(ports)
    ]
    return (
        f'<pci busid="nic{number}" class="0x020700" link_speed="{speed}" link_width="16">'
        f"<nic>{''.join(nets)}</nic></pci>"
    )
