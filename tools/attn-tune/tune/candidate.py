# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From a point of a space to a schedule, as an entry of the table."""

from tune.space import PARAMETERS

MASKS = ("none", "causal_top_left", "causal_bottom_right", "window", "pointwise_region")
# Parts of a candidate's name that it has only where they are not the default.
SHORT = {"stage_o": "o_", "rescale_threshold": "rescale", "exp2_soft": "soft", "skip": "skip_", "work_depth": "items",
         "load_registers": "load", "rows": "rows"}


def name_of(point):
    """A name that tells the point from all others, and can be a symbol's."""
    rings = f"q{point['q_depth']}k{point['k_depth']}v{point['v_depth']}"
    order = {"linear": "linear", "longest_first": "longest"}[point["order"]] + (str(point["section_mib"]) if point["section_mib"] else "")
    parts = [f"w{point['consumers']}", f"n{point['tile_n']}", rings, point["work"], order,
             {"first_block": "first"}.get(point["row_max"], point["row_max"])]
    if not point["turn"]:
        parts.append("free")
    parts += [short + str(point[name]).replace("/", "of") for name, short in SHORT.items() if point[name] != PARAMETERS[name].default]
    return "_".join(parts)


class Candidate:
    """One schedule of the space."""

    def __init__(self, point, head_dims, target, registers):
        self.point, self.head_dims, self.target, self.registers = point, head_dims, target, registers
        self.name = name_of(point)

    def entry(self, symbol, masks=MASKS):
        """The table entry called `symbol`, for these masks."""
        d, dv = self.head_dims
        quoted = ", ".join(f'"{mask}"' for mask in masks)
        return (f"attn.table_entry fwd @{symbol} head_dim {d}, {dv}\n    masks [{quoted}]\n"
                f"    config <{self.config()}>\n"
                f'    schedule <"{symbol}" machine "{self.target}" {{\n' + "\n".join(self.places() + self.bodies()) + "\n}>\n")

    def config(self):
        p = self.point
        fields = {"tile_m": p["consumers"] * p["rows"], "tile_n": p["tile_n"], "work": p["work"], "order": p["order"]}
        if p["section_mib"]:
            fields["section_mib"] = p["section_mib"]
        fields["rescale_threshold"] = p["rescale_threshold"]
        if p["row_max"] != "running":
            fields["row_max"] = p["row_max"]
        return ", ".join(f"{key} = {value}" for key, value in fields.items())

    def places(self):
        """Who there is, and where values lie."""
        p, (loader, each) = self.point, self.registers
        over_q, dynamic = p["stage_o"] == "over_q", p["work"] == "dynamic"
        several = f"[{p['consumers']}]" if p["consumers"] > 1 else ""
        lines = [
            several and f"split M {p['consumers']} whole(q)",
            not dynamic and "remat(next)",
            f"role load warps 1 regs {loader}",
            f"role wg{several} warps 4 regs {each}",
            dynamic and f"chan work = w in smem depth {p['work_depth']}",
            f"chan q = q in smem depth {p['q_depth']}" + (" free_implied" if over_q else ""),
            f"chan k = k in smem depth {p['k_depth']}",
            f"chan v = v in smem depth {p['v_depth']}",
            "hold p = p in reg depth 1",
            "hold s = s in reg depth 1",
            "hold o = o in reg",
            "hold oe = oe in smem " + ("over q" if over_q else "depth 1"),
            p["turn"] and "turn tc ring wg",
            over_q and "sync drain ring wg",
            over_q and "edge o_free credits 1",
            f"knob exp2_soft {p['exp2_soft'].replace('/', ' of ')}",
            "knob peel first_masked",
            p["skip"] != "none" and f"knob skip {p['skip']}",
        ]
        return ["  " + line for line in lines if line]

    def bodies(self):
        """Who does what, in which order."""
        p = self.point
        over_q, checked = p["stage_o"] == "over_q", p["row_max"] != "running"
        take, give = ("take(tc) + 1 ", "give(tc) + 1 ") if p["turn"] else ("", "")
        stored = "sync(drain) cvt_o st_o st_lse await(st_o) sig(o_free)" if over_q else "await(st_o) + 1 cvt_o st_o st_lse"
        lines = [
            "body load {",
            p["work"] == "dynamic" and "  before { next }",
            f"  kv {{ ld_k {'once : wait(o_free) ' if over_q else ''}once : ld_q ld_v + 1 }}",
            "}",
            "body wg {",
            f"  kv {{ get(k) {take}qk get(v) + 1 pv + 1 {give}score mask stat exp sum await(pv) + 1 cvt rescale }}",
            f"  after {{ fin norm {'check ' if checked else ''}{stored} }}",
            "}",
        ]
        return ["  " + line for line in lines if line]


def enumerate_space(space, target, machine):
    """The candidates of a space, and the points for which the machine's registers
    do not suffice; points that share their registers alike are one candidate."""
    found, without = {}, []
    for point in space.points():
        registers = machine.share(point["consumers"], point["load_registers"])
        if not registers:
            without.append(point)
            continue
        candidate = Candidate(point, space.head_dims, target, registers)
        found.setdefault(candidate.entry("x"), candidate)
    return list(found.values()), without
