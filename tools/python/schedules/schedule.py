# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From a point of a space to a schedule, as an entry of the table."""

from schedules.parameters import PARAMETERS

MASKS = ("none", "causal_top_left", "causal_bottom_right", "window")
# Parts of a candidate's name that it has only where they are not the default.
SHORT = {"rings": "ring_", "loaders": "loaders", "stage_o": "o_", "storer": "storer_", "stage_p": "p_", "cluster": "cluster", "pack_gqa": "pack",
         "last_wave_parts": "parts", "launch": "", "overlap": "overlap_", "rescale": "rescale_", "rescale_threshold": "threshold",
         "exp2_soft": "soft", "exp2_degree": "degree", "peel": "peel_", "skip": "skip_", "work_depth": "items",
         "load_registers": "load"}
# Of Q, that a warpgroup has.
ROWS = 64


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


class Schedule:
    """One schedule, the registers of its loader and of its consumers, and its rung."""

    def __init__(self, point, head_dims, target, registers, rung=0):
        self.point, self.head_dims, self.target, self.registers, self.rung = point, head_dims, target, registers, rung
        self.name = name_of(point)

    def entry(self, symbol, masks=MASKS, condition=None):
        """The table entry called `symbol`, for these masks, under a condition on lengths."""
        d, dv = self.head_dims
        quoted = ", ".join(f'"{mask}"' for mask in masks)
        return (f"attn.table_entry fwd @{symbol} head_dim {d}, {dv}\n    masks [{quoted}]\n"
                + (f"    when <{condition}>\n" if condition else "") + f"    config <{self.config()}>\n"
                f'    schedule <"{symbol}" machine "{self.target}" {{\n' + "\n".join(self.places() + self.bodies()) + "\n}>\n")

    def config(self):
        p = self.point
        fields = {"tile_m": p["consumers"] * ROWS, "tile_n": p["tile_n"], "work": p["work"], "order": p["order"]}
        optional = {"section_mib": 0, "rescale_threshold": None, "row_max": "running", "exp2_degree": 3, "cluster": 1, "pack_gqa": 1,
                    "last_wave_parts": 1}
        fields.update((key, p[key]) for key, absent in optional.items() if p[key] != absent)
        fields.update({"rung": self.rung} if self.rung else {})
        return ", ".join(f"{key} = {value}" for key, value in fields.items())

    @property
    def waits_for_o(self):
        """Whether O lies where the loader has to wait before it loads again."""
        return self.point["stage_o"] != "own"

    @property
    def store_warp(self):
        """Whether a role of its own stores O."""
        return self.point["storer"] == "warp"

    def places(self):
        """Who there is, and where values lie."""
        p, (loader, each) = self.point, self.registers
        several = f"[{p['consumers']}]" if p["consumers"] > 1 else ""
        shared = " scope cluster" if p["cluster"] > 1 else ""
        lines = [
            several and f"split M {p['consumers']} whole(q)",
            p["work"] != "dynamic" and "remat(next)",
            f"role load warps 1 regs {loader}",
            p["loaders"] > 1 and f"role load_v warps 1 regs {loader}",
            self.store_warp and f"role store warps 1 regs {loader}",
            f"role wg{several} warps 4 regs {each}",
            p["work"] == "dynamic" and f"chan work = w in smem depth {p['work_depth']}",
            f"chan q = q in smem depth {p['q_depth']}" + (" free_implied" if p["stage_o"] == "over_q" else ""),
            *self.rings(shared),
            f"hold p = p in {p['stage_p']} depth 1",
            "hold s = s in reg depth 1",
            "hold o = o in reg",
            "hold oe = oe in smem " + ("depth 1" if p["stage_o"] == "own" else p["stage_o"].replace("_", " ")),
            p["turn"] and "turn tc ring wg",
            self.waits_for_o and "sync drain ring wg",
            self.store_warp and "edge o_ready",
            (self.waits_for_o or self.store_warp) and "edge o_free credits 1" + (shared if p["stage_o"] == "over_v" else ""),
            f"knob exp2_soft {p['exp2_soft'].replace('/', ' of ')}",
            f"knob peel {p['peel']}",
            p["skip"] != "none" and f"knob skip {p['skip']}",
            p["launch"] != "alone" and f"knob launch {p['launch']}",
        ]
        return ["  " + line for line in lines if line]

    def rings(self, scope):
        """The channels of K and V."""
        p = self.point
        if p["rings"] == "one":
            return [f"chan kv = k | v in smem depth {p['k_depth'] + p['v_depth']}{scope}"]
        return [f"chan {name} = {name} in smem depth {p[name + '_depth']}{scope}" for name in "kv"]

    def loads(self):
        """{role: its loads}, in the order in which the products take them."""
        p = self.point
        wait = {p["stage_o"]: "once : wait(o_free) "}
        q = wait.get("over_q", "") + "once : ld_q"
        # A loader of its own runs as far ahead as there is room.
        v = wait.get("over_v", "") + ("ld_v" if p["overlap"] == "none" or p["loaders"] > 1 else "ld_v + 1")
        if p["loaders"] > 1:
            return {"load": f"ld_k {q}", "load_v": v}
        return {"load": f"{q} {v} ld_k" if p["overlap"] == "pv_first" else f"ld_k {q} {v}"}

    def step(self):
        """What a consumer does with a block of keys."""
        p = self.point
        if p["overlap"] == "none":
            return "qk score mask stat exp sum cvt rescale pv"
        take, give = ("take(tc) + 1 ", "give(tc) + 1 ") if p["turn"] else ("", "")
        early, late = ("rescale + 1 ", "") if p["rescale"] == "before_pv" else ("", " rescale")
        products = (f"get(k) {take}qk get(v) + 1 {early}pv + 1" if p["overlap"] == "qk_first"
                    else f"get(v) + 1 {take}{early}pv + 1 get(k) qk")
        return f"{products} {give}score mask stat exp sum await(pv) + 1 cvt{late}"

    def stored(self):
        """How a consumer's O leaves its registers."""
        if self.store_warp:
            return ("sync(drain)" if self.waits_for_o else "wait(o_free)") + " cvt_o sig(o_ready) st_lse"
        return "sync(drain) cvt_o st_o st_lse await(st_o) sig(o_free)" if self.waits_for_o else "await(st_o) + 1 cvt_o st_o st_lse"

    def bodies(self):
        """Who does what, in which order."""
        p = self.point
        join = "join " if p["last_wave_parts"] > 1 else ""
        check = "check " if p["row_max"] != "running" else ""
        lines = []
        for role, loads in self.loads().items():
            first = p["work"] == "dynamic" and role == "load"
            lines += [f"body {role} {{", first and "  before { next }", f"  kv {{ {loads} }}", "}"]
        if self.store_warp:
            tiles = [f"[{i}]" for i in range(p["consumers"])] if p["consumers"] > 1 else [""]
            stores = " ".join([f"st_o{i}" for i in tiles] + [f"await(st_o{i})" for i in tiles])
            lines += ["body store {", f"  after {{ wait(o_ready) {stores} sig(o_free) }}", "}"]
        lines += ["body wg {", f"  kv {{ {self.step()} }}", f"  after {{ {join}fin {check}norm {self.stored()} }}", "}"]
        return ["  " + line for line in lines if line]
