# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random attention with gradients as IR: head dims, element types, layouts, masks, score functions, captures whose gradients are
asked for, dropout, and sums in any order or in one."""

import random

import attention_ir

# Head dims that have kernels of their own; others have those of the next larger one.
NATIVE = ((64, 64), (96, 96), (128, 128), (160, 160), (192, 192), (192, 128), (256, 256))
FLOATS = ("f32", "bf16", "f16")
ANY_ORDER = "any_order"


class Capture:
    """A tensor or number that a score function reads. `gradient`: None, "" for one order, or ANY_ORDER."""

    def __init__(self, name, kind, gradient, option=None):
        self.name, self.kind, self.gradient, self.option = name, kind, gradient, option

    def argument(self):
        mark = {None: "", "": ", attn.gradient", ANY_ORDER: f', attn.gradient = "{ANY_ORDER}"'}[self.gradient]
        return f'%{self.name}: {self.kind} {{attn.name = "{self.name}"{mark}}}'


class Score:
    """A score function: lines from the score %s to the result, and what they capture."""

    def __init__(self, rng=None):
        self.rng, self.lines, self.captures, self.value = rng, [], [], "%s"

    def add(self, *lines):
        """Appends lines; "{x}" is the value so far, "{r}" the next one, "{n}" a number."""
        number = len(self.lines)
        result = f"%r{number}"
        self.lines += [line.format(x=self.value, r=result, n=number) for line in lines]
        self.value = result

    def capture(self, kind, gradient, option=None):
        self.captures.append(Capture(f"w{len(self.captures)}", kind, gradient, option))
        return f"%in_w{len(self.captures) - 1}"

    def wanted(self):
        """Whether a capture's gradient is asked for."""
        return self.rng.choice(("", "", None))

    def curve(self):
        """A function of the score alone."""
        constant = self.rng.choice((2.0, 15.0, 30.0))
        head = f"%c{{n}} = arith.constant {constant} : f32"
        self.add(*self.rng.choice((
            (head, "%q{n} = arith.divf {x}, %c{n} : f32", "%t{n} = math.tanh %q{n} : f32", "{r} = arith.mulf %t{n}, %c{n} : f32"),
            (head, "%m{n} = arith.minnumf {x}, %c{n} : f32", "%k{n} = arith.constant -0.5 : f32", "{r} = arith.maximumf %m{n}, %k{n} : f32"),
            ("{r} = math.absf {x} : f32",),
            ("%k{n} = arith.constant 0.25 : f32", "%y{n} = arith.mulf {x}, {x} : f32", "{r} = arith.mulf %y{n}, %k{n} : f32"),
            ("{r} = math.sin {x} : f32",),
            ("%k{n} = arith.constant 0.0 : f32", "%e{n} = arith.minimumf {x}, %k{n} : f32", "{r} = math.exp %e{n} : f32"),
            ("%o{n} = arith.cmpi sgt, %i, %j : i32", "%y{n} = arith.negf {x} : f32", "{r} = arith.select %o{n}, {x}, %y{n} : f32"),
        )))

    def number(self, gradient=None):
        """A softcap that is captured."""
        name = self.capture("f32", self.wanted() if gradient is None else gradient, f"--scalar=w{len(self.captures)}={self.rng.choice((0.75, 4.0, 20.0))}")
        self.add(f"%q{{n}} = arith.divf {{x}}, {name} : f32", "%t{n} = math.tanh %q{n} : f32", f"{{r}} = arith.mulf %t{{n}}, {name} : f32")

    def slope(self):
        """ALiBi's, of each head, or of each batch and head."""
        places = self.rng.choice(("h", "bh"))
        name = self.read(places, "f32", self.wanted())
        self.add("%d{n} = arith.subi %j, %i : i32", "%f{n} = arith.sitofp %d{n} : i32 to f32", "%k{n} = arith.constant 0.03125 : f32",
                 "%g{n} = arith.mulf %f{n}, %k{n} : f32", f"%y{{n}} = arith.mulf {name}, %g{{n}} : f32", "{r} = arith.addf {x}, %y{n} : f32")

    def bias(self, places=None, element=None, gradient=None):
        """A bias of each query, of each key or of each pair, and perhaps of each batch and head."""
        places = places or self.rng.choice(("i", "hi", "bi", "bhi", "j", "bj", "ij", "hij", "bhij"))
        name = self.read(places, element or self.rng.choice(FLOATS), self.wanted() if gradient is None else gradient)
        self.add(f"{{r}} = arith.addf {{x}}, {name} : f32")

    def relative(self, gradient=None):
        """Of 32 distances, those beyond together."""
        gradient = gradient or self.rng.choice((ANY_ORDER, ANY_ORDER, None))
        number = len(self.lines)
        self.lines += [line.replace("{n}", str(number)) for line in (
            "%d{n} = arith.subi %i, %j : i32", "%c{n} = arith.constant 16 : i32", "%e{n} = arith.addi %d{n}, %c{n} : i32",
            "%z{n} = arith.constant 0 : i32", "%t{n} = arith.constant 31 : i32", "%f{n} = arith.maxsi %e{n}, %z{n} : i32",
            "%g{n} = arith.minsi %f{n}, %t{n} : i32", "%p{n} = arith.index_cast %g{n} : i32 to index")]
        name = self.read("h", "f32", gradient, f", %p{number}")
        self.add(f"{{r}} = arith.addf {{x}}, {name} : f32")

    def read(self, places, element, gradient, more=""):
        """Captures a tensor and reads the element at some of b, h, i, j; returns its name, of f32."""
        rank = len(places) + bool(more)
        kind = f"tensor<{'?x' * rank}{element}>"
        tensor, number = self.capture(kind, gradient), len(self.lines)
        self.lines += [f"%at{number}{place} = arith.index_cast %{place} : i32 to index" for place in places]
        indices = ", ".join(f"%at{number}{place}" for place in places) + more
        self.lines.append(f"%v{number} = tensor.extract {tensor}[{indices}] : {kind}")
        if element != "f32":
            self.lines.append(f"%x{number} = arith.extf %v{number} : {element} to f32")
            return f"%x{number}"
        return f"%v{number}"


class Kernel:
    """A problem: `ir`, and `options` of attn-run. `needs`: which of q, k, v, the scale and the sinks have gradients."""

    def __init__(self, dims, dtype="bf16", layout="bshd", mask="none", bounds=(), region=None, score=None, dropout=False,
                 any_order=False, needs=("q", "k", "v"), sinks=False):
        self.dims, self.dtype, self.layout, self.mask, self.bounds = dims, dtype, layout, mask, list(bounds)
        self.region, self.score, self.dropout, self.any_order, self.needs = region, score or Score(), dropout, any_order, needs
        self.sinks = sinks

    def __str__(self):
        score = " ".join(f"{c.name}:{c.kind}{'' if c.gradient is None else '*'}" for c in self.score.captures)
        return (f"d {self.dims} {self.dtype} {self.layout} {self.mask} {self.bounds} region {self.region} score {len(self.score.lines)} lines {score}"
                f"{' dropout' if self.dropout else ''}{' sinks' if self.sinks else ''}{' any order' if self.any_order else ''} gradients of {','.join(self.needs)}")

    @property
    def options(self):
        """Those of attn-run for what the functions capture."""
        return [c.option for c in self.score.captures if c.option] + attention_ir.CAPTURES.get(self.region, [])

    @property
    def ir(self):
        qk, v = (f"tensor<?x?x?x{d}x{self.dtype}>" for d in self.dims)
        mark = lambda name: " {attn.gradient}" if name in self.needs else ""
        arguments = [f"%{name}: {kind}{mark(name)}" for name, kind in (("q", qk), ("k", qk), ("v", v), ("scale", "f32"))]
        arguments += [f"%{name}: i32" for name in self.bounds]
        arguments += ["%rate: f32", "%state: tensor<2xi64>"] * self.dropout + [f"%sinks: tensor<?xf32>{mark('sinks')}"] * self.sinks
        captures = [(c.name, f"in_{c.name}", c.kind, c.argument()) for c in self.score.captures]
        text = ""
        if self.region:
            found, text = attention_ir.MASKS[self.region]
            if found:
                name, inside, kind = found[0], found[1], found[2].format(ids="i32")
                captures.append((name, inside, kind, f'%{name}: {kind} {{attn.name = "{name}"}}'))
        arguments += [argument for *_, argument in captures]
        formals = "".join(f", %{inside}: {kind}" for _, inside, kind, _ in captures)
        clauses = [f"{name}(%{name})" for name in self.bounds] + ["dropout(%rate, %state)"] * self.dropout
        clauses += ["sinks(%sinks : tensor<?xf32>)"] * self.sinks
        if captures:
            clauses.append(f"captures({', '.join('%' + c[0] for c in captures)} : {', '.join(c[2] for c in captures)})")
        if self.score.lines:
            body = "\n        ".join(self.score.lines)
            clauses.append(f"""
      score_region {{
      ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32{formals}):
        {body}
        attn.yield {self.score.value} : f32
      }}""")
        clauses.append(text.replace("{formals}", formals).replace("{ids}", "i32"))
        results = f"{v}, tensor<?x?x?xf32>"
        attributes = " attributes {attn.any_order}" if self.any_order else ""
        return f"""func.func @attention({', '.join(arguments)})
    -> ({results}){attributes} {{
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask({self.mask}) layout({self.layout})
      {' '.join(clauses)}
      : ({qk}, {qk}, {v}) -> ({results})
  return %o, %lse : {results}
}}
"""


def draw(seed):
    """The kernel of a seed."""
    rng = random.Random(seed)
    dims = draw_dims(rng)
    dtype, layout = rng.choice(("bf16", "f16")), rng.choice(("bshd", "bhsd"))
    mask = rng.choice(("none", "causal_top_left", "causal_bottom_right", "window_top_left", "window_bottom_right"))
    bounds = rng.choice((["window_left"], ["window_left", "window_right"])) if mask.startswith("window") else []
    region = rng.choice(sorted(attention_ir.MASKS)) if rng.random() < 0.3 else None
    score = draw_score(rng) if rng.random() < 0.6 else Score()
    dropout, any_order, needs = rng.random() < 0.25, rng.random() < 0.5, draw_needs(rng, score)
    sinks = rng.random() < 0.2
    needs += ["sinks"] * (sinks and rng.random() < 0.7)
    return Kernel(dims, dtype, layout, mask, bounds, region, score, dropout, any_order, needs, sinks)


def draw_dims(rng):
    if rng.random() < 0.4:
        return rng.choice(NATIVE)
    d = 8 * rng.randint(1, 32)
    return (d, d) if rng.random() < 0.7 else (d, 8 * rng.randint(1, 32))


def draw_score(rng):
    score = Score(rng)
    kinds = ["curve", "number", "slope", "bias"] + ["relative"] * (rng.random() < 0.6)
    for _ in range(rng.choice((1, 1, 2))):
        getattr(score, rng.choice(kinds))()
    return score


def draw_needs(rng, score):
    """Often q, k and v; sometimes captures alone. No kernel makes the gradient of k alone."""
    if rng.random() < 0.7:
        return ["q", "k", "v"]
    needs = [name for name in ("q", "k", "v", "scale") if rng.random() < 0.5]
    needs += ["v"] * ("k" in needs and "v" not in needs)
    return needs if needs or any(capture.gradient is not None for capture in score.captures) else ["k", "v"]


def of_capture(capture, dims, needs=("q", "k", "v")):
    """The gradients of q, k, v (or those that it `needs`) and of a bias that is indexed by some of b, h, i and j; of "" a number,
    of "difference" a table of distances."""
    score = Score(random.Random(0))
    if not capture:
        score.number("")
    elif capture == "difference":
        score.relative(ANY_ORDER)
    else:
        score.bias(capture, "f32", "")
    return Kernel(dims, score=score, mask="causal_bottom_right", needs=needs)


def from_description(description):
    """{"dims": [head dim, that of V], "mask", "any_order", "dropout", "needs"}; "capture" takes the place of the three in the middle."""
    dims = tuple(description["dims"])
    if "capture" in description:
        return of_capture(dims=dims, **{name: value for name, value in description.items() if name != "dims"})
    return Kernel(dims, **{name: value for name, value in description.items() if name != "dims"})
