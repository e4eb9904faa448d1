# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Spaces of schedules, declared as data: a JSON object with

  "head_dims"   those of Q and K, and of V
  "common"      parameters of all products
  "products"    a list of objects of parameters

A parameter has one value or a list of them. Each product stands for all
combinations of its values; a parameter that is not named has its default. The
space is the union of the products, in their order.
"""

import collections
import itertools
import json

import schedules


class SpaceError(ValueError):
    """An invalid space: where, what is expected, and what it has."""


class Space:
    """A space that was read and checked against the generator, a schedules.Schedules."""

    def __init__(self, declared, origin, generator):
        self.declared, self.origin, self.generator = declared, origin, generator
        self.expect(isinstance(declared, dict), "", "an object", declared)
        for key in declared:
            self.expect(key in ("head_dims", "common", "products"), "", '"head_dims", "common" or "products"', key)
        self.check("", head_dims=declared.get("head_dims"))
        self.head_dims = tuple(declared["head_dims"])
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

    def check(self, where, **fields):
        """Asks the generator whether a point may have these values."""
        try:
            self.generator.ask("point", **fields)
        except schedules.ScheduleError as error:
            raise SpaceError(f"{self.origin}: {where + ': ' if where else ''}{error}") from error

    def values(self, where, declared):
        """Lists of values by parameter."""
        self.expect(isinstance(declared, dict), where, "an object", declared)
        found = {}
        for name, value in declared.items():
            values = value if isinstance(value, list) else [value]
            self.expect(values, f"{where}.{name}", "at least one value", value)
            for each in values:
                self.check(where, parameters={name: each})
            found[name] = values
        return found

    def points(self):
        """The points of the space, each once, as {parameter: value}."""
        found = {}
        parameters = self.generator.parameters
        for product in self.products:
            axes = [product.get(name, [parameter.default]) for name, parameter in parameters.items()]
            for values in itertools.product(*axes):
                point = self.generator.canonical(dict(zip(parameters, values)))
                found.setdefault(tuple(point.values()), point)
        return list(found.values())


def no_duplicates(pairs):
    """Refuses objects with a duplicate key, which JSON allows."""
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"\"{next(n for n in names if names.count(n) > 1)}\" stands twice in one object")
    return found


def read(path, generator):
    try:
        with open(path, encoding="utf-8") as file:
            return Space(json.load(file, object_pairs_hook=no_duplicates), path, generator)
    except OSError as error:
        raise SpaceError(f"{path}: {error.strerror}") from error
    except SpaceError:
        raise
    except ValueError as error:
        raise SpaceError(f"{path}: expected a space as JSON: {error}") from error


# A schedule of the space: its name, {parameter: value}, and the text of its entry.
Candidate = collections.namedtuple("Candidate", "name point entry")


def enumerate_candidates(space, machine):
    """The candidates of a space, and what the generator says of the points for which the
    machine's registers do not suffice. Points whose roles get the same registers are one
    candidate."""
    found, refused = {}, []
    for point in space.points():
        made = space.generator.schedule(machine, space.head_dims, point)
        if "refused" in made:
            refused.append(made)
            continue
        alike = tuple(made["registers"]), tuple(value for name, value in point.items() if name != "load_registers")
        found.setdefault(alike, Candidate(made["name"], point, made["entry"]))
    return list(found.values()), refused
