# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Problems: the attention that a search is for, the shapes at which it measures, and the other problems that the
resulting entry has to serve."""

from racing import contenders, points

# The word of a race for a mask; the masks that it means, and what else an entry tuned for
# it can serve.
MEASURED = contenders.PLAN_MASKS
SERVED = {word: (*masks, "window") for word, masks in MEASURED.items()}
SOFTCAP = """
      score_region {
      ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32, %cap: f32):
        %x = arith.divf %s, %cap : f32
        %t = math.tanh %x : f32
        %r = arith.mulf %t, %cap : f32
        attn.yield %r : f32
      }"""
SOURCE = """\
func.func @served(%q: {qk}, %k: {qk}, %v: {v}, %scale: f32{arguments}) -> ({v}, tensor<?x?x?xf32>) {{
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask({mask}) layout(bshd) {clauses}
      : ({qk}, {qk}, {v}) -> ({v}, tensor<?x?x?xf32>)
  return %o, %lse : {v}, tensor<?x?x?xf32>
}}
"""
# The roles of a plan's arguments without bounds and captures.
OWN_ROLES = {"query", "key", "value", "scale", "output", "lse"}
WINDOW = (", %left: i32, %right: i32", "window_left(%left) window_right(%right)")
CAP = (', %softcap: f32 {attn.name = "softcap"}', "captures(%softcap : f32)" + SOFTCAP)


class ProblemError(ValueError):
    """A problem or a shape that tuning does not support."""


def point_of(plan):
    """The point of a race, at any length, of a launch plan."""
    problem, roles = plan["problem"], [arg["role"] for arg in plan["args"]]
    words = {mask: word for word, masks in contenders.PLAN_MASKS.items() for mask in masks}
    dtypes = {element: dtype for dtype, element in contenders.ELEMENT_TYPES.items()}
    for key, wanted in (("kind", "fwd"), ("layout", "bshd"), ("score_region", "none"), ("mask_region", "none")):
        if problem[key] != wanted:
            raise ProblemError(f"expected a problem whose {key} is {wanted}, got {problem[key]}")
    if problem["mask"] not in words or set(roles) != OWN_ROLES:
        raise ProblemError("expected a problem without windows and other inputs, which can be measured, "
                           f"got mask {problem['mask']} and arguments of the roles {', '.join(roles)}")
    return points.Point(words[problem["mask"]], problem["head_dim"], points.TOKENS, problem["head_dim_v"], dtypes[problem["dtype"]])


def name_of(point):
    return contenders.bundle_name(point).removesuffix(".attn")


def parse_shapes(text):
    """[(batch, seqlen, heads, kv heads)] from "4x4096x16,1x16384x32/8"; a name of a
    grid stands for its lengths, at heads that the head dim decides (None)."""
    if text in points.GRIDS:
        return [(max(1, points.TOKENS // seqlen), seqlen, None, None) for seqlen in points.GRIDS[text]]
    shapes = []
    for part in text.split(","):
        try:
            batch, seqlen, heads = part.split("x")
            group = points.pair(heads)
            shape = int(batch), int(seqlen), *group
        except ValueError:
            shape = (0,)
        if min(shape) <= 0 or shape[2] % shape[3]:
            raise ProblemError(f"expected {' or '.join(points.GRIDS)}, or BATCHxSEQLENxHEADS[/KV_HEADS],..., got '{part}'")
        shapes.append(shape)
    return shapes


def at_shape(problem, shape):
    """The point of a problem, as the log has it, at a shape."""
    batch, seqlen, heads, kv_heads = shape
    return points.Point(problem["mask"], problem["d"], seqlen, problem["dv"], problem["dtype"],
                        (heads, kv_heads) if heads else None, batch)


def shape_name(point):
    heads = f"{point.heads}/{point.kv_heads}" if point.grouped else str(point.heads)
    return f"{point.batch}x{point.seqlen}x{heads}"


def served_sources(problem):
    """{name: IR} of the problems that an entry tuned for this one has to serve."""
    d, dv = problem["d"], problem["dv"]
    sources = {}
    for mask in SERVED[problem["mask"]]:
        word, bounds = ("window_bottom_right", WINDOW) if mask == "window" else (mask, ("", ""))
        for element in contenders.ELEMENT_TYPES.values():
            for score, region in (("", ("", "")), ("_softcap", CAP)):
                qk, v = (f"tensor<?x?x?x{dim}x{element}>" for dim in (d, dv))
                sources[f"{element}_{mask}{score}"] = SOURCE.format(
                    qk=qk, v=v, mask=word, arguments=bounds[0] + region[0], clauses=f"{bounds[1]} {region[1]}")
    return sources
