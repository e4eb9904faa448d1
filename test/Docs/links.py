# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The links between the pages resolve, and the index names every page.

usage: links.py ROOT"""

import glob
import os
import re
import sys


def anchors(path):
    """The headings of a page, as a link spells them."""
    with open(path, encoding="utf-8") as file:
        text = re.sub(r"^```.*?^```", "", file.read(), flags=re.M | re.S)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in re.findall(r"^#+ +(.*?) *$", text, re.M)}


def problems(root, pages):
    for page in pages:
        with open(page, encoding="utf-8") as file:
            text = re.sub(r"^```.*?^```", "", file.read(), flags=re.M | re.S)
        for target, anchor in re.findall(r"\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]*))?\)", text):
            path = os.path.normpath(os.path.join(os.path.dirname(page), target)) if target else page
            if not os.path.exists(path):
                yield f"{os.path.relpath(page, root)}: {target} is not there"
            elif anchor and path.endswith(".md") and anchor not in anchors(path):
                yield f"{os.path.relpath(page, root)}: {target} has no heading #{anchor}"
    with open(os.path.join(root, "docs", "README.md"), encoding="utf-8") as file:
        index = file.read()
    for page in glob.glob(os.path.join(root, "docs", "*.md")):
        name = os.path.basename(page)
        if name != "README.md" and f"]({name})" not in index:
            yield f"docs/README.md: does not name {name}"


def main():
    root = sys.argv[1]
    pages = [os.path.join(root, name) for name in ("README.md", "CONTRIBUTING.md")] + sorted(glob.glob(os.path.join(root, "docs", "**", "*.md"), recursive=True))
    found = list(problems(root, pages))
    print("\n".join(found + [f"{len(pages)} pages, {len(found)} problems"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
