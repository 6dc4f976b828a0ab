"""Add up a certificate of an all-to-all or a demand anew: python check_demand_certificate.py FILE.

What all chunks pay on their cheapest paths, by what the links take in a nanosecond.
"""

import heapq
import json
import sys
from fractions import Fraction

need = lambda true, claim: true or sys.exit(f"false: {claim}")  # noqa: E731
c = json.load(open(sys.argv[1], encoding="utf-8"))  # noqa: SIM115
need((c["format"], c["version"]) == ("forestcoll-certificate", 1), "it is such a certificate")
need(c["collective"] == "all-to-all", "it is of an all-to-all; others: check_certificate.py")
nodes, many = [*c["gpus"], *c["forwarding"]], c["chunks"]
need(len({*nodes}) == len(nodes) and len(c["gpus"]) > 1, "every node is listed once")
price = {(e["from"], e["to"]): e["price"] for e in c["links"]}
need(len(price) == len(c["links"]), "every link is listed once")
need(all(a != b and {a, b} <= {*nodes} for a, b in price), "links join nodes")
limits = [*c["links"], *c.get("shared", [])]
names = {one["name"] for one in c.get("shared", [])}
need(len(names - {*nodes}) == len(c.get("shared", [])), "shared capacities have a name each")
for one in c.get("shared", []):
    held = [(e["from"], e["to"]) for e in one["links"]]
    need(0 < len(held) == len({*held} & price.keys()), "it holds links, each once")
    price.update({pair: price[pair] + one["price"] for pair in held})
need(all(type(one["price"]) is int and one["price"] >= 0 for one in limits), "prices")
need(all(Fraction(one["bandwidth_gb_s"]) > 0 for one in limits), "bandwidths")
room = sum(one["price"] * Fraction(one["bandwidth_gb_s"]) for one in limits if one["price"])
need(room > 0, "the prices say something")
leaving = {node: [] for node in nodes}
for (a, b), cost in price.items():
    leaving[a].append((cost, b))
due = {gpu: [(1, [other]) for other in c["gpus"] if other != gpu] for gpu in c["gpus"]}
if many is not None:
    due = {gpu: [] for gpu in c["gpus"]}
    for one in many:
        fits = {*one["to"]} <= due.keys() - {one["from"]} and one["from"] in due
        need(0 < len({*one["to"]}) == len(one["to"]) and fits, "a chunk is for other GPUs")
        need(type(one["size"]) is int and one["size"] > 0, "sizes")
        due[one["from"]].append((one["size"], one["to"]))
paid = 0
for gpu, chunks in due.items():
    away, heap = {}, [(0, gpu)] if chunks else []
    while heap:  # Dijkstra's algorithm
        spent, node = heapq.heappop(heap)
        if node not in away:
            away[node] = spent
            for cost, then in leaving[node]:
                heapq.heappush(heap, (spent + cost, then))
    need(all({*to} <= away.keys() for _, to in chunks), "paths lead to all targets")
    paid += sum(size * max(away[one] for one in to) for size, to in chunks)
need(paid / room == Fraction(c["least_ns"]) > 0, "the time that the prices prove")
print(f"true: {c['demand']} on {c['network']} takes {paid / room} ns, not less")
