"""Add up a certificate of ForestColl anew: python check_certificate.py FILE."""

import json
import sys
from collections import Counter
from fractions import Fraction
from math import ceil, gcd

need = lambda true, claim: true or sys.exit(f"false: {claim}")  # noqa: E731
c = json.load(open(sys.argv[1], encoding="utf-8"))  # noqa: SIM115
need((c["format"], c["version"]) == ("forestcoll-certificate", 1), "it is such a certificate")
names = ["allgather", "broadcast", "reduce-scatter", "reduce"]
inward, single = divmod(names.index(c["collective"]), 2)  # data runs to the roots; one root
k, u, weight = c["k"], Fraction(c["congestion"]), {g["name"]: g["weight"] for g in c["gpus"]}
ends = [(e["to"], e["from"]) if inward else (e["from"], e["to"]) for e in c["links"]]
load = dict(zip(ends, (e["trees"] for e in c["links"]), strict=True))
width = dict(zip(ends, (Fraction(e["bandwidth_gb_s"]) for e in c["links"]), strict=True))
nodes, whole = {*weight, *c["forwarding"]}, [k, *weight.values(), *load.values()]
need(len(nodes) == len(c["gpus"]) + len(c["forwarding"]), "every node is listed once")
need(len(load) == len(ends) == sum(a != b and {a, b} <= nodes for a, b in ends), "links join nodes")
need(all(type(n) is int and n >= 0 for n in whole) and k > 0 < min(width.values()), "numbers")
need(gcd(*weight.values()) == 1 and single == (sum(map(bool, weight.values())) == 1), "weights")
need(all(g["trees"] == k * g["weight"] for g in c["gpus"]), "a GPU roots k times its weight")
limit, total = c["fixed_k"], sum(weight.values())
for cut in filter(None, (c["optimum"], limit)):
    inside, gpus = set(cut["cut"]), [g for g in weight if g in cut["cut"]]
    need(gpus == cut["gpus"] != list(weight) and len(inside & nodes) == len(cut["cut"]), "the cut")
    need(cut["weight"] == sum(weight[g] for g in gpus), "weight of the cut")
    over = [b for (near, far), b in width.items() if near in inside and far not in inside]
    if cut is not limit:
        need(sum(over) == Fraction(cut["bandwidth_gb_s"]) > 0, "bandwidth of the cut")
        ratio = cut["weight"] / sum(over)
        need(ratio == Fraction(cut["inverse_rate"]), "ratio of the cut, 1/x*")
    else:
        room = sum(ceil(Fraction(cut["congestion"]) * b) - 1 for b in over)
        need(cut["trees_lacking"] == k * cut["weight"] - room > 0, "trees lacking in the cut")
need(max(load[e] / width[e] for e in ends) == u, "no link has more than U b trees, one as many")
need(k * ratio < u >= Fraction(limit["congestion"]) if limit else u == k * ratio, "U, the bound")
need(Fraction(c["time_s_per_gb"]) == u / (total * k), "time = U / (W k)")
beside = {n: {a if b == n else b for a, b in ends if n in (a, b)} for n in nodes}
came = {n: sum(load.get((near, n), 0) for near in beside[n]) for n in nodes}
went = {n: sum(load.get((n, far), 0) for far in beside[n]) for n in nodes}
need(all(came[g] == k * (total - w) for g, w in weight.items()), "each GPU is in every tree once")
need(all(came[s] == went[s] for s in c["forwarding"]), "what only forwards sends what it gets")
for done, gpu in enumerate(weight):  # flows to it from the roots, or from a GPU that got them all
    left = Counter({g: k * (total if i < done else weight[g]) for i, g in enumerate(weight)})
    missing, free = k * total - left.pop(gpu), Counter(load)
    while missing:
        ways = {gpu: []}
        for node in (queue := [gpu]):
            if left[node] > 0:
                break
            new = [n for n in beside[node] if n not in ways and free[n, node] > 0]
            ways |= {n: [(n, node), *ways[node]] for n in new}
            queue += new
        need(left[node] > 0, f"the trees of all roots can flow to {gpu}")
        amount = min(missing, left[node], *(free[hop] for hop in ways[node]))
        missing, left[node] = missing - amount, left[node] - amount
        free.update(dict.fromkeys(ways[node], -amount) | {e[::-1]: amount for e in ways[node]})
print(f"true: {c['collective']} on {c['network']} takes {c['time_s_per_gb']} s per GB with k = {k}")
