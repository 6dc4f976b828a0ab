"""Add up a certificate of ForestColl anew: python check_certificate.py FILE."""

import heapq
import json
import sys
from collections import Counter
from fractions import Fraction
from itertools import pairwise
from math import ceil, gcd

need = lambda true, claim: true or sys.exit(f"false: {claim}")  # noqa: E731
c = json.load(open(sys.argv[1], encoding="utf-8"))  # noqa: SIM115
need((c["format"], c["version"]) == ("forestcoll-certificate", 1), "it is such a certificate")
names = ["allgather", "broadcast", "reduce-scatter", "reduce", "allreduce", "all-to-all"]
timed = "size_bytes" in c  # the least time of a size, and no trees
need(timed or c["collective"] != names[5], "all-to-alls: check_demand_certificate.py")
inward, single = divmod(names.index(c["collective"]), 2)  # data runs to the roots; one root
both, weight = inward == 2, {g["name"]: g["weight"] for g in c["gpus"]}
ends, total = [(e["from"], e["to"]) for e in c["links"]], sum(weight.values())
width = dict(zip(ends, (Fraction(e["bandwidth_gb_s"]) for e in c["links"]), strict=True))
phases = {} if timed else {"reduce": True, "gather": False} if both else {"trees": inward == 1}
k = {p: c[f"k_{p}"] if both else c["k"] for p in phases}
load = {p: dict(zip(ends, (e[p] for e in c["links"]), strict=True)) for p in phases}
nodes = {*weight, *c["forwarding"]}
whole = [*k.values(), *weight.values(), *(n for one in load.values() for n in one.values())]
need(len(nodes) == len(c["gpus"]) + len(c["forwarding"]), "every node is listed once")
need(len(width) == len(ends) == sum(a != b and {a, b} <= nodes for a, b in ends), "links join")
need(all(type(n) is int and n >= 0 for n in whole) and min(k.values(), default=1) > 0, "numbers")
need(min(width.values()) > 0 and len(weight) > 1, "numbers")
need((timed and total > 0) or gcd(*weight.values()) == 1, "weights")
need(both or single == (sum(map(bool, weight.values())) == 1), "weights")
shared = {one["name"]: one for one in c.get("shared", [])}
held = {name: [(e["from"], e["to"]) for e in one["links"]] for name, one in shared.items()}
around = {}  # GPUs by their latency from a node, or to it
limit_of = {name: Fraction(one["bandwidth_gb_s"]) for name, one in shared.items()}
for name, pairs in held.items():
    need(0 < len(pairs) == len({*pairs} & width.keys()), f"{name} holds links, each once")
    need(limit_of[name] > 0 and name not in nodes, f"{name} has a limit and a name of its own")
    need(both or timed or sum(load["trees"][e] for e in pairs) == shared[name]["trees"], name)
need(len(shared) == len(c.get("shared", [])), "shared capacities have a name each")


def priced(claim, carries):
    """What prices take of a schedule for a unit of rate, and the room that links leave for it."""
    level = {one["switch"]: Fraction(one["price"]) for one in claim["switches"]}
    charge = {one["name"]: Fraction(one["price"]) for one in claim["shared"]}
    cuts = [({*one["nodes"]}, Fraction(one["price"]), one["nodes"]) for one in claim["cuts"]]
    need(len(level) == len(claim["switches"]) and {*level} <= {*c["forwarding"]}, "switch prices")
    need(len(charge) == len(claim["shared"]) and charge.keys() <= shared.keys(), "shared prices")
    need(min([*level.values(), *charge.values(), *(one for _, one, _ in cuts)]) >= 0, "prices")
    for inside, _, names_ in cuts:
        need(len(inside & nodes) == len(names_) and not weight.keys() <= inside, "priced cuts")
    takes = sum(price * sum(weight.get(n, 0) for n in inside) for inside, price, _ in cuts)
    room = sum(price * carries(limit_of[name]) for name, price in charge.items())
    for pair, b in width.items():
        near, far = pair[:: -1 if inward else 1]
        wants = sum(price for inside, price, _ in cuts if near in inside and far not in inside)
        wants += level.get(far, 0) - level.get(near, 0)
        wants -= sum(price for name, price in charge.items() if pair in held[name])
        room += max(0, wants) * carries(b)
    need(takes > 0 and room >= 0, "the prices say something")
    return takes, room


def one_way():
    """The bounds of a single phase: cuts, and the loads that attain them."""
    need(all(g["trees"] == c["k"] * g["weight"] for g in c["gpus"]), "roots: k times the weight")
    u, limit = Fraction(c["congestion"]), c["fixed_k"]
    for claim in filter(lambda one: one and "cuts" in one, (c["optimum"], limit)):
        least = Fraction(claim["congestion"]) if claim is limit else None
        takes, room = priced(claim, (lambda b, u=least: ceil(u * b) - 1) if least else Fraction)
        if least:
            need(c["k"] * takes - room == Fraction(claim["lacking"]) > 0, "lacking below U")
        else:
            need((ratio := takes / room) == Fraction(claim["inverse_rate"]), "1/x* by prices")
    for cut in filter(lambda one: one and "cut" in one, (c["optimum"], limit)):
        inside, gpus = set(cut["cut"]), [g for g in weight if g in cut["cut"]]
        need(len(inside & nodes) == len(cut["cut"]) and gpus == cut["gpus"], "the cut")
        need(gpus != list(weight) and cut["weight"] == sum(weight[g] for g in gpus), "its weight")
        over = [b for e, b in width.items() if (e[inward] in inside) > (e[1 - inward] in inside)]
        if cut is not limit:
            need(sum(over) == Fraction(cut["bandwidth_gb_s"]) > 0, "bandwidth of the cut")
            need((ratio := cut["weight"] / sum(over)) == Fraction(cut["inverse_rate"]), "its 1/x*")
        else:
            room = sum(ceil(Fraction(cut["congestion"]) * b) - 1 for b in over)
            need(cut["trees_lacking"] == c["k"] * cut["weight"] - room > 0, "trees lacking")
    used = [shared[name]["trees"] / most for name, most in limit_of.items()]
    used += [load["trees"][e] / width[e] for e in ends]
    need(max(used) == u, "U is what the busiest link, or shared capacity, has")
    bound = c["k"] * ratio
    need(bound < u >= Fraction(limit["congestion"]) if limit else u == bound, "U, the bound")
    return u / (total * c["k"]), "with k = " + str(c["k"])


def summed(limit, roots):
    """The rate of two phases that prices prove: of sets, and potentials of what forwards."""
    rise, fall = dict.fromkeys(ends, 0), dict.fromkeys(ends, 0)
    cover = dict.fromkeys(roots, Fraction(0))
    for one in limit["sets"]:
        inside, y, z = set(one["nodes"]), Fraction(one["gather"]), Fraction(one["reduce"])
        need(inside <= nodes and inside & weight.keys() and min(y, z) >= 0, "a set, a price")
        need(len(inside) == len(one["nodes"]), "a set names a node once")
        cover = {g: sum_ + (y + z) * (g not in inside) for g, sum_ in cover.items()}
        for a, b in ends:
            rise[a, b] += y * (a not in inside and b in inside)
            fall[a, b] += z * (a in inside and b not in inside)
    switches = [one["switch"] for one in limit["potentials"]]
    need(len({*switches} & {*c["forwarding"]}) == len(switches), "what forwards has one potential")
    for one in limit["potentials"]:
        s, t = Fraction(one["gather"]), Fraction(one["reduce"])
        need(min(s, t) >= 0, "a potential is not below 0")
        for a, b in ends:
            way = (b == one["switch"]) - (a == one["switch"])
            rise[a, b], fall[a, b] = rise[a, b] + way * s, fall[a, b] - way * t
    least = sum(cover[g] * w for g, w in weight.items()) / total
    least = least if limit.get("proportions") else min(cover.values())
    need(least > 0, "every GPU is outside of some set")
    charge = {one["name"]: Fraction(one["price"]) for one in limit.get("shared", [])}
    need(len(charge) == len(limit.get("shared", [])), "a shared capacity has one price")
    need(charge.keys() <= held.keys() and min(charge.values(), default=0) >= 0, "shared prices")
    paid = {e: sum(g for name, g in charge.items() if e in held[name]) for e in ends}
    room = sum(b * max(rise[e] - paid[e], fall[e] - paid[e], 0) for e, b in width.items())
    return (room + sum(g * limit_of[name] for name, g in charge.items())) / least


def allreduce():
    """The bound of two phases, and the time of their loads."""
    need((rate := summed(c["bound"], weight)) == Fraction(c["bound"]["algbw_gb_s"]), "the rate")
    parts = {e: sum(Fraction(load[p][e], total * k[p]) for p in phases) for e in ends}
    over = {name: sum(parts[e] for e in pairs) for name, pairs in held.items()}
    took = max(*(parts[e] / width[e] for e in ends), *(over[n] / limit_of[n] for n in over))
    need(took * rate >= 1, "the time is not below the bound")
    return took, "and none less" if took * rate == 1 else f"and none less than {1 / rate}"


def paired(prices):
    """The rate of an all-to-all that prices of links prove."""
    price = dict.fromkeys(ends, 0) | {(e["from"], e["to"]): e["price"] for e in prices["links"]}
    charge = {one["name"]: one["price"] for one in prices["shared"]}
    need(len(price) == len(ends) and charge.keys() <= shared.keys(), "prices of links")
    listed = [one["price"] for one in (*prices["links"], *prices["shared"])]
    need(len(listed) == len({(e["from"], e["to"]) for e in prices["links"]}) + len(charge), "once")
    need(all(type(one) is int and one >= 0 for one in listed), "a price is not below 0")
    room = sum(width[e] * one for e, one in price.items())
    room += sum(limit_of[name] * one for name, one in charge.items())
    cost = {e: one + sum(g for n, g in charge.items() if e in held[n]) for e, one in price.items()}
    paid = sum(nearest([gpu], cost)[to] for gpu in weight for to in weight)
    need(paid > 0 and room > 0, "the prices say something")
    return len(weight) * room / paid


def nearest(starts, cost, back=False):
    """The least cost from some nodes to each, or from each to them; 0 to what is out of reach."""
    leaving = {node: [] for node in nodes}
    for pair, one in cost.items():
        leaving[pair[back]].append((pair[not back], one))
    away, heap = dict.fromkeys(starts, Fraction(0)), [(Fraction(0), node) for node in starts]
    while heap:  # Dijkstra's algorithm
        spent, node = heapq.heappop(heap)
        for then, one in leaving[node] if spent == away[node] else ():
            if then not in away or spent + one < away[then]:
                away[then] = spent + one
                heapq.heappush(heap, (away[then], then))
    return away


def rising(found):
    """The largest of some values up to each moment."""
    most = 0
    return list({when: (most := max(most, value)) for when, value in sorted(found)}.items())


def steps(ends, late, sets, back, full=1):
    """The largest part of the GPUs that an end hears of, or reaches, from some moments on."""
    part = {g: Fraction(1, sum(one in weight for one in x)) for x in sets for g in x if g in weight}
    seen = []
    for end in ends:
        if (end, back) not in around:
            away = nearest([end], late, back)
            around[end, back] = sorted((away[g], g) for g in weight if g in away)
        heard, mine = 0, {}
        for when, gpu in around[end, back]:
            mine[when] = heard = min(full, heard + part.get(gpu, 0))
        seen += mine.items()
    return rising(seen)


def area(held, end):
    """The integral of the most that any of some links carries that counts."""
    at = lambda rises, x: next((n for when, n in reversed(rises) if when <= x), 0)  # noqa: E731
    turns = {0, end} | {x for uses in held for known, _, _ in uses for x, _ in known}
    turns |= {end - late - x for uses in held for _, late, reached in uses for x, _ in reached}
    carried = 0
    for x, y in pairwise(sorted(x for x in turns if 0 <= x <= end)):
        s = (x + y) / 2
        use = [sum(at(a, s) * at(b, end - late - s) for a, late, b in uses) for uses in held]
        carried += (y - x) * max(use)
    return carried


def gossip(proof, late, copying, end):
    """What links carry between the sets by the end; little if it is sent early, or arrives late."""
    sets, back = [{*one} for one in proof["sets"]], -1 if inward == 1 else 1  # a reduce: reversed
    late, wide = ({e[::back]: one for e, one in each.items()} for each in (late, width))
    inside, passes = {n for one in sets for n in one}, "reach_us" in proof
    acts, count = {*weight, *(copying & inside if passes else copying)}, len(sets) - 1
    need(both != single and both >= passes and count > 0, "sets of an allreduce, or of one root")
    need(len(inside) == sum(map(len, proof["sets"])) and inside <= nodes, "disjoint sets of nodes")
    need(acts <= inside and all(weight.keys() & one for one in sets), "all that act, GPUs")
    passing = {e: one for e, one in late.items() if e[1] not in acts}  # into what only forwards
    leaving = {e: one for e, one in late.items() if e[0] not in acts}

    def between(here, there):
        """Links of transfers, with latencies up to them, and on; where transfers begin and end."""
        before, after = nearest(here, passing), nearest(there, leaving, back=True)
        on = [e for e in late if e[0] in before and e[1] in after]
        on = {e: (before[e[0]], late[e] + after[e[1]]) for e in on}
        goes, comes = {a for a, b in late if b in after}, {b for a, b in late if a in before}
        return on, (goes | weight.keys()) & here, (comes | weight.keys()) & there

    since, late_us = (Fraction(proof.get(x, 0)) for x in ("since_us", "reach_us"))
    uses = {e: [] for e in late}  # of each link: when it counts, the latency on, who is reached
    if single:
        away = nearest([next(g for g, w in weight.items() if w)], late)
        (home,) = (one for one in sets if any(w and g in one for g, w in weight.items()))
        needy, hops = [one for one in sets if one is not home], []
        for one in needy:
            on, _, comes = between(acts - one, acts & one)
            reach = steps(comes, late, [one], False)
            for (a, b), (_, rest) in on.items():
                if a not in one and b in one and a in away:
                    uses[a, b].append(([(max(away[a], since - rest), 1)], rest, reach))
            hops += map(sum, between(acts - one - home, acts & one)[0].values())
        on, _, comes = between(acts & home, acts - home)
        reach = rising(step for one in needy for step in steps(comes & one, late, [one], False))
        spread = steps(comes, late, needy, False, len(needy))
        for (a, b), (_, rest) in on.items():
            if a in home and b not in home and a in away:  # for all sets, until a hop is too long
                past = max(away[a], since - rest - min(hops)) if hops else away[a]
                uses[a, b].append(([(away[a], 1), (past, 0)], rest, spread))
                uses[a, b].append(([(past, 1), (since - rest, 0)], rest, reach))
    behind = nearest(copying - inside, passing)
    most = len(acts) - min(len(acts & one) for one in sets)  # ends of a pass on one side
    for here in sets if passes else []:  # out of each set, and then into it
        for out, (a_, b_) in enumerate([(inside - here, here), (here, inside - here)]):
            on, goes, comes = between(acts & a_, acts & b_)
            known = rising(x for one in sets for x in steps(goes & one, late, [one], True))
            reach = steps(comes, late, sets, False, count)
            for (a, b), (began, rest) in on.items():
                if (a in here, b in here) == (out, not out) and (out or a in behind):
                    part = 1 if out and b not in copying - inside else Fraction(most, most + 1)
                    near = [*((x, part * n) for x, n in reach), (late_us, out * count)]
                    uses[a, b].append(([(began + x, n) for x, n in known], rest, near))
    for i, one in enumerate(sets if both and not passes else []):
        on, goes, comes = between(acts & one, acts - one)
        known, reach = steps(goes, late, sets, True), steps(comes, late, sets, False)
        side = nodes - sets[0] if len(sets) == 2 and i else one
        for (a, b), (began, rest) in on.items():
            if a in side and b not in side:
                uses[a, b].append(([(began + x, part) for x, part in known], rest, reach))
    carried, free = 0, {e: one for e, one in uses.items() if one}
    for name in proof.get("shared", []):
        held_ = [free.pop(e[::back]) for e in held[name] if e[::back] in free]
        carried += 1000 * limit_of[name] * area(held_, end) if held_ else 0
    return carried + sum(1000 * wide[e] * area([one], end) for e, one in free.items())


def least_time():
    """No schedule of the size ends before, by labels, a rate and a delay, or gossip of sets."""
    size, alpha, proof = c["size_bytes"], Fraction(c["alpha_us"]), c["proof"]
    end, relays, copying = Fraction(c["time_us"]), {*c["relays"]}, {*c["multicast"]}
    need(type(size) is int and size > 0 and alpha >= 0, "the size, and alpha")
    need(relays | copying <= {*c["forwarding"]} and not relays & copying, "relays and multicast")
    late = {(e["from"], e["to"]): Fraction(e["latency_us"]) for e in c["links"]}
    need(min(late.values()) >= 0 and (not both or {*weight.values()} == {1}), "latencies, weights")
    late = {e: one + alpha * (e[0] in weight or e[0] in relays) for e, one in late.items()}
    if "labels" in proof:
        label = {one["node"]: Fraction(one["us"]) for one in proof["labels"]}
        need(label.keys() == nodes and len(proof["labels"]) == len(nodes), "a label of each node")
        need(0 == min(label.values()) < max(label.values()) == end, "labels from 0 to the time")
        first, last = ([g for g in weight if label[g] == x] for x in (0, end))
        due = Fraction(size * sum(weight[g] for g in first), total)
        if both:  # of a pair of GPUs all data in an allreduce, an Nth in an all-to-all
            due = Fraction(size * len(first) * len(last), len(weight)) if single else Fraction(size)
        need(due > 0 and last, "data that must cross")
        rise = {(u, v): (label[v] - label[u]) * (-1 if inward == 1 else 1) for u, v in ends}
        need(sum(1000 * b * max(0, rise[e] - late[e]) for e, b in width.items()) <= due, "crossing")
        return end
    if "sets" in proof:
        due = (m := len(proof["sets"])) * (m - 1) * size
        due = due if "reach_us" in proof else due * (2 - single) / m
        need(end > 0 and gossip(proof, late, copying, end) <= due, "no more goes than must")
        return end
    prices, delay = proof["prices"], Fraction(proof["delay_us"])
    kind = "sets" if both and not single else "links" if both else "cuts"
    need(kind in prices, "the prices are of this collective")
    if kind == "cuts":
        need(not copying & {one["switch"] for one in prices["switches"]}, "switches that forward")
        takes, room = priced(prices, Fraction)
        need((rate := total * room / takes) > 0, "the links have a price")
    elif kind == "sets":
        need(not copying & {one["switch"] for one in prices["potentials"]}, "what only forwards")
        rate = summed(prices, [*weight, *copying])
    else:
        rate = paired(prices)
    need(rate == Fraction(proof["algbw_gb_s"]), "the rate that the prices prove")
    before, after = nearest(weight, late), nearest(weight, late, back=True)
    of_use = {e for e in ends if e[0] in before and e[1] in after}
    idle = [before[e[0]] + late[e] + after[e[1]] for e in of_use]
    for pairs in held.values():
        if known := of_use.intersection(pairs):
            rest = min(late[e] + after[e[1]] for e in known)
            idle.append(min(before[a] for a, _ in known) + rest)
    need(0 <= delay <= min(idle), "links are of no use for that long")
    need(delay + size / (1000 * rate) == end, "the time is that of the rate after the delay")
    return end


if timed:
    took = least_time()
    print(f"true: {c['collective']} on {c['network']} takes {took} us or more", end="")
    sys.exit(print(f" for {c['size_bytes']} bytes"))
took, more = allreduce() if both else one_way()
need(Fraction(c["time_s_per_gb"]) == took, "the time is that of the loads")
for phase, inwards in phases.items():  # there are trees that load the links so
    trees = {pair[::-1] if inwards else pair: n for pair, n in load[phase].items()}
    beside = {n: {a if b == n else b for a, b in trees if n in (a, b)} for n in nodes}
    came = {n: sum(trees.get((near, n), 0) for near in beside[n]) for n in nodes}
    went = {n: sum(trees.get((n, far), 0) for far in beside[n]) for n in nodes}
    need(all(came[g] == k[phase] * (total - w) for g, w in weight.items()), "each GPU once")
    need(all(came[s] == went[s] for s in c["forwarding"]), "what only forwards sends what it gets")
    for done, gpu in enumerate(weight):  # flows to it from the roots, or a GPU that got them all
        left = Counter(
            {g: k[phase] * (total if i < done else weight[g]) for i, g in enumerate(weight)}
        )
        missing, free = k[phase] * total - left.pop(gpu), Counter(trees)
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
            free.update(dict.fromkeys(ways[node], -amount))
            free.update({hop[::-1]: amount for hop in ways[node]})
print(f"true: {c['collective']} on {c['network']} takes {took} s per GB {more}")
