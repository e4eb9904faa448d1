# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bar charts as SVG text: the same numbers give the same bytes."""

import math
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 760, 300
LEFT, RIGHT, TOP, BOTTOM = 52, 12, 52, 28
COLORS = ("#1f5fb4", "#8a8f98", "#c9b26b", "#6fae7f", "#b0647a", "#7d6bb0", "#4d4d4d")


def round_up(value):
    """The end of an axis: 1, 2, 3, 4, 5, 6 or 8 times a power of ten."""
    power = 10 ** math.floor(math.log10(value)) if value > 0 else 1
    return next(step * power for step in (1, 2, 3, 4, 5, 6, 8, 10) if step * power >= value)


def text(x, y, words, anchor="middle", size=11):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}">{escape(words)}</text>'


def draw_axis(end, unit):
    """Four lines across, with their values."""
    parts = []
    for i in range(5):
        y = HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * i / 4
        parts.append(f'<line x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}" stroke="#dddddd"/>')
        parts.append(text(LEFT - 6, y + 4, f"{end * i / 4:g}", "end"))
    return parts + [text(LEFT - 6, TOP - 12, unit, "end")]


def draw_legend(names):
    parts, x = [], LEFT
    for name, color in zip(names, COLORS):
        parts.append(f'<rect x="{x:.1f}" y="26" width="10" height="10" fill="{color}"/>')
        parts.append(text(x + 14, 35, name, "start"))
        x += 34 + 7 * len(name)
    return parts


def bar_chart(title, unit, labels, series):
    """`series` is {name: [a number or None for each label]}."""
    if len(series) > len(COLORS):
        raise ValueError(f"expected at most {len(COLORS)} series, got {len(series)}")
    end = round_up(max((v for values in series.values() for v in values if v is not None), default=1))
    slot = (WIDTH - LEFT - RIGHT) / len(labels)
    width = 0.8 * slot / len(series)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" font-family="sans-serif">',
             f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>', text(LEFT, 16, title, "start", 13)]
    parts += draw_axis(end, unit) + draw_legend(series)
    for i, label in enumerate(labels):
        left = LEFT + slot * (i + 0.1)
        parts.append(text(left + 0.4 * slot, HEIGHT - 10, str(label)))
        for j, (values, color) in enumerate(zip(series.values(), COLORS)):
            if values[i] is None:
                continue
            tall = (HEIGHT - TOP - BOTTOM) * values[i] / end
            x, y = left + j * width, HEIGHT - BOTTOM - tall
            parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{tall:.1f}" fill="{color}"/>')
            parts.append(text(x + width / 2, y - 3, f"{values[i]:.0f}", size=min(9, width / 2)))
    return "\n".join(parts + ["</svg>", ""])
