"""A small file of each format, written by hand: what tests read, truncate and spoil."""

from collections.abc import Mapping

__all__ = [
    "ASTRA_SIM",
    "DOT",
    "FABRICS",
    "GRAPHML",
    "GRAPHS",
    "HWLOC",
    "HWLOC_PCIE",
    "IB",
    "IB_PORTS",
    "LOG",
    "NVLINKS",
    "NVLINK_MATRIX",
    "ROCM",
    "ROCM_WIDTHS",
    "SIMAI",
    "SLURM_CONF",
    "SLURM_YAML",
    "SMALL_FILES",
    "SONIC",
    "TOPOGRAPH",
    "TOPOGRAPH_OLD",
    "TOPO_DIRECT",
    "TOPO_SWITCHED",
    "hwloc",
    "matrix",
]


def matrix(links: str, count: int, nics: int = 0) -> str:
    """Return a matrix of ``nvidia-smi topo -m`` with one kind of link between all GPUs."""
    names = [f"GPU{i}" for i in range(count)] + [f"NIC{i}" for i in range(nics)]
    rows = ["\t" + "\t".join([*names, "CPU Affinity", "NUMA Affinity"])]
    for here, name in enumerate(names):
        cells = []
        for there in range(len(names)):
            both_gpus = here < count and there < count
            near = "PIX" if here - count == there or there - count == here else "SYS"
            cells.append(" X " if here == there else links if both_gpus else near)
        rows.append("\t".join([name, *cells, *(["0-31", "0"] if here < count else [])]))
    legend = "".join(f"  NIC{i}: mlx5_{i}\n" for i in range(nics))
    return (
        "\n".join(rows)
        + "\n\nLegend:\n\n  X    = Self\n"
        + (f"\nNIC Legend:\n\n{legend}" if nics else "")
    )


TOPO_DIRECT = """\
\x1b[4mGPU0    GPU1    GPU2    GPU3    mlx5_0  mlx5_1  CPU Affinity\x1b[0m
GPU0     X      NV2     NV1     SYS     PIX     SYS     0-7
GPU1    NV2      X      SYS     NV1     PIX     SYS     0-7
GPU2    NV1     SYS      X      NV2     SYS     PHB     8-15
GPU3    SYS     NV1     NV2      X      SYS     PHB     8-15
mlx5_0  PIX     PIX     SYS     SYS      X      SYS
mlx5_1  SYS     SYS     PHB     PHB     SYS      X
"""

TOPO_SWITCHED = matrix("NV18", 4, nics=4)

NVLINKS = "".join(
    f"GPU {gpu}: NVIDIA H100 80GB HBM3 (UUID: GPU-0000000{gpu}-aaaa)\n"
    + "".join(f"\t Link {link}: 26.562 GB/s\n" for link in range(18))
    for gpu in range(4)
)


def _rocm_table(title: str, rows: list[str]) -> str:
    head = "       GPU0         GPU1         GPU2"
    lines = [f"GPU{i}   {row}" for i, row in enumerate(rows)]
    return "\n".join([f"{'=' * 20} {title} {'=' * 20}", head, *lines]) + "\n\n"


ROCM = (
    "======== ROCm System Management Interface ========\n"
    + _rocm_table("Weight between two GPUs", ["0  15  30", "15  0  15", "30  15  0"])
    + _rocm_table("Hops between two GPUs", ["0  1  2", "1  0  1", "2  1  0"])
    + _rocm_table("Link Type between two GPUs", ["0 XGMI XGMI", "XGMI 0 XGMI", "XGMI XGMI 0"])
    + "======== Numa Nodes ========\nGPU[0]\t\t: (Topology) Numa Node: 0\n"
    + "======== End of ROCm SMI Log ========\n"
)

ROCM_WIDTHS = ROCM + _rocm_table(
    "Bandwidth", ["N/A 50000-200000 0-0", "50000-200000 N/A 50000-50000", "0-0 50000-50000 N/A"]
)


def _hwloc_gpu(number: int) -> str:
    return (
        f'<object type="Bridge" gp_index="{10 + number}" bridge_type="1-1" '
        f'pci_busid="0000:0{number}:00.0" pci_link_speed="15.753846">'
        f'<object type="PCIDev" gp_index="{20 + number}" pci_busid="0000:1{number}:00.0" '
        f'pci_link_speed="31.507692">'
        f'<object type="OSDev" gp_index="{30 + number}" name="cuda{number}" osdev_type="5"/>'
        f'<object type="OSDev" gp_index="{40 + number}" name="nvml{number}" osdev_type="1">'
        f'<info name="GPUModel" value="Tesla V100-SXM2"/></object></object>'
        f'<object type="PCIDev" pci_busid="0000:2{number}:00.0" pci_link_speed="7.876923">'
        f'<object type="OSDev" name="eth{number}" osdev_type="2"/>'
        f'<object type="OSDev" name="mlx5_{number}" osdev_type="3">'
        f'<info name="NodeGUID" value="0002:c903:0000:000{number}"/></object></object></object>'
    )


def hwloc(gpus: int, matrix: str = "") -> str:
    """Return hwloc's XML of a machine with a GPU and a NIC on each socket."""
    sockets = "".join(
        f'<object type="Package" gp_index="{2 + i}"><info name="CPUVendor" value="AuthenticAMD"/>'
        f'<object type="Bridge" bridge_type="0-1">{_hwloc_gpu(i)}</object></object>\n'
        for i in range(gpus)
    )
    return (
        '<?xml version="1.0"?>\n<!DOCTYPE topology SYSTEM "hwloc2.dtd">\n'
        f'<topology version="2.0">\n<object type="Machine" gp_index="1">\n{sockets}</object>\n'
        f"{matrix}</topology>\n"
    )


HWLOC_PCIE = hwloc(2)

NVLINK_MATRIX = (
    '<distances2hetero nbobjs="3" kind="25" name="NVLinkBandwidth">\n'
    '<indexes length="30">OSDev:40 OSDev:41 </indexes><indexes length="9">Package:2 </indexes>\n'
    '<u64values length="30">1000000 50000 25000 50000 1000000 </u64values>\n'
    '<u64values length="20">0 25000 0 1000000 </u64values></distances2hetero>\n'
)

HWLOC = hwloc(2, NVLINK_MATRIX)

IB = """\
#
# Topology file: generated on Mon Jan  1 00:00:00 2024
#
# Initiated from node 00000000000000a0 port 00000000000000a0

vendid=0x2c9
devid=0xd2f2
sysimgguid=0x51
switchguid=0x51(51)
Switch\t65 "S-0000000000000051"\t\t# "MF0;leaf-1:MQM9700/U1" enhanced port 0 lid 1 lmc 0
[1]\t"H-00000000000000a0"[1](a0) \t\t# "node0 mlx5_0" lid 3 4xNDR
[2]\t"H-00000000000000a1"[1](a1) \t\t# "node1 HCA-1" lid 4 4xNDR
[3]\t"H-00000000000000a2"[1](a2) \t\t# "MT4129 ConnectX7   Mellanox Technologies" lid 5 2xNDR
[4]\t"H-00000000000000af"[1](af) \t\t# "Mellanox Technologies Aggregation Node" lid 6 4xHDR
[9]\t"S-0000000000000052"[1]\t\t# "MF0;spine-1:MQM9700/U1" lid 2 4xNDR
[10]\t"S-0000000000000052"[2]\t\t# "MF0;spine-1:MQM9700/U1" lid 2 4xNDR

vendid=0x2c9
devid=0xd2f2
sysimgguid=0x52
switchguid=0x52(52)
Switch\t65 "S-0000000000000052"\t\t# "MF0;spine-1:MQM9700/U1" enhanced port 0 lid 2 lmc 0
[1]\t"S-0000000000000051"[9]\t\t# "MF0;leaf-1:MQM9700/U1" lid 1 4xNDR
[2]\t"S-0000000000000051"[10]\t\t# "MF0;leaf-1:MQM9700/U1" lid 1 4xNDR

vendid=0x2c9
devid=0x1021
sysimgguid=0xa2f
caguid=0xa2
Ca\t1 "H-00000000000000a2"\t\t# "MT4129 ConnectX7   Mellanox Technologies"
[1](a2) \t"S-0000000000000051"[3]\t\t# lid 5 lmc 0 "MF0;leaf-1:MQM9700/U1" lid 1 2xNDR
"""

IB_PORTS = """\
CA   134  1 0x00000000000000a0 4x EDR - SW  1719 10 0x0000000000000051 ( 'node0 HCA-1' - 'leaf1' )
SW  1719 10 0x0000000000000051 4x EDR - CA   134  1 0x00000000000000a0 ( 'leaf1' - 'node0 HCA-1' )
SW  1719  1 0x0000000000000051 4x HDR - SW  1516  1 0x0000000000000052 ( 'leaf1' - 'spine1' )
SW  1719 37 0x0000000000000051 4x ???                                    'leaf1'
"""

SLURM_CONF = """\
# two leaves
SwitchName=leaf0 Nodes=node[00-01] LinkSpeed=100
SwitchName=leaf1 Nodes=node[02-03],login
switchname=core \\
  switches=leaf[0-1]
"""

SLURM_YAML = """\
- topology: flat
  cluster_default: false
  flat: true
- topology: tree
  cluster_default: true
  tree:
    switches:
      - switch: core
        children: leaf[0-1]
      - switch: leaf0
        nodes: node[00-01]
      - switch: leaf1
        nodes: node[02-03],login
"""

TOPOGRAPH = """\
switches:
  core:
    switches: [leaf0, leaf1]
blocks:
- switch: leaf0
  nodes: ["node[00-01]"]
  labels:
    accelerated.topology.nvidia.com/level-0: nvl0
- switch: leaf1
  nodes: ["node[02-03]", login]
"""

TOPOGRAPH_OLD = """\
switches:
- name: core
  switches: [leaf0, leaf1]
- name: leaf0
  capacity_blocks: [cb0]
- name: leaf1
  capacity_blocks: [cb1]
capacity_blocks:
- name: cb0
  nvlink: nvl0
  nodes: [node00, node01]
- name: cb1
  nodes: [node02, node03, login]
"""

SONIC = """\
StartDevice,StartPort,EndDevice,EndPort,BandWidth,VlanID,VlanMode
leaf0,Ethernet0,spine0,Ethernet1,400000,1,Access
leaf0,Ethernet4,spine0,Ethernet5,400G,2,Access
leaf0,Ethernet8,node0,mlx5_0,200000,,Trunk
leaf0,Ethernet12,node1,mlx5_0,200000,,Trunk
"""

ASTRA_SIM = """\
topology: [ Ring, FullyConnected, Switch ]  # three dimensions
npus_count: [ 3, 4, 2 ]
bandwidth: [ 200.0, 100.0, 12.5 ]  # GB/s
latency: [ 50.0, 500.0, 936.25 ]  # ns
"""

SIMAI = """\
7 2 2 1 8 H100
4 5 6
0 4 2880Gbps 0.000025ms 0
1 4 2880Gbps 0.000025ms 0
2 5 2880Gbps 0.000025ms 0
3 5 2880Gbps 0.000025ms 0
0 6 400Gbps 0.0005ms 0
1 6 400Gbps 500ns 0
2 6 400Gbps 0.0005ms 0
3 6 400Gbps 0.0005ms 0
"""

GRAPHML = """\
<?xml version='1.0' encoding='utf-8'?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="d0" for="edge" attr.name="bandwidth" attr.type="string"/>
  <key id="d1" for="node" attr.name="kind" attr.type="string"><default>gpu</default></key>
  <graph edgedefault="undirected">
    <node id="a"/>
    <node id="b"/>
    <node id="s"><data key="d1">switch</data></node>
    <edge source="a" target="s"><data key="d0">400 Gb/s</data></edge>
    <edge source="s" target="b"><data key="d0">50</data></edge>
  </graph>
</graphml>
"""

DOT = """\
// a switch
graph "two GPUs" {
  rankdir=LR; node [shape=box]; edge [bandwidth="400 Gb/s"]
  s [kind=switch, multicast=true];
  a -- s -- b;
  a -- b [bandwidth_gb_s=12.5 latency="500 ns"];
}
"""

GRAPHS = """\
<graphs version="1">
  <graph id="0" pattern="4" crossnic="0" nchannels="2" speedintra="20" speedinter="20">
    <channel><net dev="0"/><gpu dev="0"/><gpu dev="1"/><gpu dev="2"/><net dev="1"/></channel>
    <channel><net dev="1"/><gpu dev="2"/><gpu dev="1"/><gpu dev="0"/><net dev="1"/></channel>
  </graph>
  <graph id="1" pattern="3" nchannels="1">
    <channel><net dev="0"/><gpu dev="1"/><gpu dev="0"/><gpu dev="2"/></channel>
  </graph>
  <graph id="3" pattern="5" nchannels="2"><channel><gpu dev="0"/></channel>
    <channel><gpu dev="1"/></channel></graph>
</graphs>
"""

LOG = """\
node0:1:2 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB [RO]; OOB eth0:10.0.0.1<0>
node0:1:2 [0] NCCL INFO Channel 00/02 :    0   1   2
node0:1:2 [0] NCCL INFO Channel 01/02 : 0 2 1
node0:1:2 [0] NCCL INFO Trees [0] 1/-1/-1->0->-1 [1] -1/-1/-1->0->2
node0:1:2 [1] NCCL INFO Trees [0] 2/-1/-1->1->0 [1] 2/-1/-1->1->-1
node0:1:2 [2] NCCL INFO Trees [0] -1/-1/-1->2->1 [1] 0/-1/-1->2->1
node0:1:2 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM
node0:1:2 [0] NCCL INFO 2 coll channels, 0 collnet channels, 16 nvls channels, 2 p2p channels
"""

SMALL_FILES: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "topo-direct": (TOPO_DIRECT, ("--gpu", "V100", "--rates", "nominal")),
    "topo-switched": (TOPO_SWITCHED, ("--gpu", "sm_90", "--rates", "nominal")),
    "rocm": (ROCM, ("--gpu", "gfx942", "--rates", "nominal")),
    "rocm-widths": (ROCM_WIDTHS, ()),
    "hwloc": (HWLOC, ()),
    "hwloc-pcie": (HWLOC_PCIE, ("--rates", "runtime")),
    "astra-sim": (ASTRA_SIM, ()),
    "simai": (SIMAI, ()),
    "graphml": (GRAPHML, ()),
    "dot": (DOT, ()),
}
"""Machines and networks by their formats, with the options that they need."""

FABRICS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "ibnetdiscover": (IB, ()),
    "ibnetdiscover-p": (IB_PORTS, ()),
    "slurm-conf": (SLURM_CONF, ("--uplink", "400 Gb/s")),
    "slurm-yaml": (SLURM_YAML, ("--uplink", "400 Gb/s")),
    "topograph": (TOPOGRAPH, ("--uplink", "400 Gb/s")),
    "topograph-old": (TOPOGRAPH_OLD, ("--uplink", "400 Gb/s")),
    "sonic": (SONIC, ()),
}
"""The same of networks between machines."""
