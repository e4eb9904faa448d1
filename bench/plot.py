# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws SVG files with matplotlib: the same numbers and the same version of matplotlib give the same bytes. Text
stays text."""

import matplotlib
from matplotlib.figure import Figure

COLORS = ("#1f5fb4", "#8a8f98", "#c9b26b", "#6fae7f", "#b0647a", "#7d6bb0", "#4d4d4d")
STYLE = {"svg.hashsalt": "attn", "svg.fonttype": "none", "font.family": "sans-serif", "font.size": 9}


def save(figure, file):
    """Writes a figure as SVG, without dates and random ids."""
    with matplotlib.rc_context(STYLE):
        figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})


def bar_chart(title, labels, series, axes=("seqlen", "TFLOP/s")):
    """A figure; `series` is {name: [a number or None for each label]}, `axes` are the
    labels of the axes."""
    if len(series) > len(COLORS):
        raise ValueError(f"expected at most {len(COLORS)} series, got {len(series)}")
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(8, 3.4), layout="constrained")
        plot = figure.add_subplot(title=title, xlabel=axes[0], ylabel=axes[1])
        width = 0.8 / len(series)
        for number, ((name, values), color) in enumerate(zip(series.items(), COLORS)):
            places = [place + (number - (len(series) - 1) / 2) * width for place in range(len(labels))]
            shown = [(place, value) for place, value in zip(places, values) if value is not None]
            bars = plot.bar([place for place, _ in shown], [value for _, value in shown], width, label=name, color=color)
            plot.bar_label(bars, fmt="%.0f", fontsize=6, padding=1)
        plot.set_xticks(range(len(labels)), labels=[str(label) for label in labels])
        plot.grid(axis="y", color="#dddddd")
        plot.set_axisbelow(True)
        plot.spines[["top", "right"]].set_visible(False)
        plot.legend(ncols=len(series), loc="upper center", bbox_to_anchor=(0.5, -0.17), frameon=False)
    return figure
