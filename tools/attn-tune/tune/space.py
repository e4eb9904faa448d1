# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Spaces of schedules, declared as data: a JSON object with

  "head_dims"   those of Q and K, and of V
  "common"      parameters of all products
  "products"    a list of objects of parameters

A parameter has one value or a list of them. Each product stands for all
combinations of its values; a parameter that is not named has its default. The
space is the union of the products, in their order.
"""

import itertools
import json

from schedules.parameters import PARAMETERS, Numbers, canonical
from schedules.schedule import Schedule


class SpaceError(ValueError):
    """A space that is not as it should be: where, what is expected, what it has."""


class Space:
    """A space that was read and found right."""

    def __init__(self, declared, origin):
        self.declared, self.origin = declared, origin
        self.expect(isinstance(declared, dict), "", "an object", declared)
        for key in declared:
            self.expect(key in ("head_dims", "common", "products"), "", '"head_dims", "common" or "products"', key)
        dims = declared.get("head_dims")
        self.expect(isinstance(dims, list) and len(dims) == 2 and all(Numbers(8, 256, 8).allows(d) for d in dims),
                    "head_dims", f"two numbers, each {Numbers(8, 256, 8)}", dims)
        self.head_dims = tuple(dims)
        products = declared.get("products")
        self.expect(isinstance(products, list) and products, "products", "a list of objects", products)
        common = self.values("common", declared.get("common", {}))
        self.products = []
        for number, product in enumerate(products):
            own = self.values(f"products[{number}]", product)
            for name in own:
                self.expect(name not in common, f"products[{number}]", 'no parameter of "common"', name)
            self.products.append({**common, **own})

    def expect(self, right, where, wanted, got):
        if not right:
            raise SpaceError(f"{self.origin}: {where + ': ' if where else ''}expected {wanted}, got {json.dumps(got)}")

    def values(self, where, declared):
        """Lists of values by parameter."""
        self.expect(isinstance(declared, dict), where, "an object", declared)
        found = {}
        for name, value in declared.items():
            self.expect(name in PARAMETERS, where, f"a parameter ({', '.join(PARAMETERS)})", name)
            values = value if isinstance(value, list) else [value]
            self.expect(values, f"{where}.{name}", "at least one value", value)
            for each in values:
                self.expect(PARAMETERS[name].domain.allows(each), f"{where}.{name}", PARAMETERS[name].domain, each)
            found[name] = values
        return found

    def points(self):
        """The points of the space, each once, as {parameter: value}."""
        found = {}
        for product in self.products:
            axes = [product.get(name, [parameter.default]) for name, parameter in PARAMETERS.items()]
            for values in itertools.product(*axes):
                point = canonical(zip(PARAMETERS, values))
                found.setdefault(tuple(point.values()), point)
        return list(found.values())


def no_duplicates(pairs):
    """Objects that name a key twice are refused, which JSON allows."""
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"\"{next(n for n in names if names.count(n) > 1)}\" stands twice in one object")
    return found


def read(path):
    try:
        with open(path, encoding="utf-8") as file:
            return Space(json.load(file, object_pairs_hook=no_duplicates), path)
    except OSError as error:
        raise SpaceError(f"{path}: {error.strerror}") from error
    except SpaceError:
        raise
    except ValueError as error:
        raise SpaceError(f"{path}: expected a space as JSON: {error}") from error


def enumerate_candidates(space, target, machine):
    """The candidates of a space, and the points for which the machine's registers
    do not suffice; points that share their registers alike are one candidate."""
    found, without = {}, []
    for point in space.points():
        registers = machine.share(point["consumers"], point["load_registers"])
        if not registers:
            without.append(point)
            continue
        candidate = Schedule(point, space.head_dims, target, registers)
        found.setdefault(candidate.entry("x"), candidate)
    return list(found.values()), without
