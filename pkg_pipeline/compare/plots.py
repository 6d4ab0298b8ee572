"""Plots of a comparison by matplotlib. Latin text only: the font has no other letters."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COMPRESSED, UNCOMPRESSED, FOLDS = "#1f6f8b", "#b5541c", "#7a7a7a"
SIZE_INCHES = (9.0, 6.4)
DOTS_PER_INCH = 120
MARKED_TURNS = 60
"""Longer lines are drawn without markers."""


@dataclass(frozen=True, slots=True)
class ComparisonFigure:
    """Tokens per prompt and cumulative USD, one value per turn.

    ``fold_turns`` were folded; compression is cheaper from ``pays_from``; from ``overflows_from`` the uncompressed
    prompt exceeds ``available_tokens``.
    """

    turns: Sequence[int]
    prompt_tokens: Sequence[int]
    hypothetical_tokens: Sequence[int]
    usd: Sequence[float]
    hypothetical_usd: Sequence[float]
    fold_turns: Sequence[int] = ()
    pays_from: int | None = None
    overflows_from: int | None = None
    available_tokens: int | None = None
    model: str = ""


def png(plotted: ComparisonFigure) -> bytes:
    return _saved(plotted, "png", dpi=DOTS_PER_INCH)


def svg(plotted: ComparisonFigure) -> str:
    """One self-contained ``<svg>`` element, the same for equal figures."""
    import matplotlib

    with matplotlib.rc_context({"svg.hashsalt": "comparison", "svg.fonttype": "none"}):
        text = _saved(plotted, "svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None}).decode()
    return text[text.index("<svg") :]  # without the prologue of a file of its own


def _saved(plotted: ComparisonFigure, form: str, **options: Any) -> bytes:
    stream = io.BytesIO()
    _figure(plotted).savefig(stream, format=form, **options)
    return stream.getvalue()


def _figure(plotted: ComparisonFigure) -> Figure:
    from matplotlib.figure import Figure  # takes half a second to load; and no global state of pyplot

    figure = Figure(figsize=SIZE_INCHES, layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True)
    _tokens(above, plotted)
    _money(below, plotted)
    for axes in (above, below):
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(axis="y", alpha=0.3)
        axes.set_ylim(bottom=0)
        axes.legend(framealpha=1, edgecolor="none", loc="upper left", fontsize=9)
    below.xaxis.get_major_locator().set_params(integer=True)
    below.set_xlabel("turn")
    return figure


def _tokens(axes: Axes, plotted: ComparisonFigure) -> None:
    dot = "o" if len(plotted.turns) <= MARKED_TURNS else None
    axes.plot(plotted.turns, plotted.hypothetical_tokens, marker=dot, ms=3, color=UNCOMPRESSED, label="uncompressed")
    axes.plot(plotted.turns, plotted.prompt_tokens, marker=dot, ms=3, color=COMPRESSED, label="compressed")
    if plotted.available_tokens is not None and plotted.overflows_from is not None:
        axes.axhline(plotted.available_tokens, color=FOLDS, lw=1, ls="--", label="room in the model's window")
    if plotted.fold_turns:
        height = [0.015] * len(plotted.fold_turns)
        lying = axes.get_xaxis_transform()
        axes.plot(plotted.fold_turns, height, "|", color=FOLDS, ms=8, transform=lying, label="fold", clip_on=False)
    axes.set_ylabel("tokens of the prompt")
    axes.set_title("What each turn's prompt holds", loc="left", fontsize=11)
    axes.yaxis.set_major_formatter("{x:,.0f}")


def _money(axes: Axes, plotted: ComparisonFigure) -> None:
    priced = f" ({plotted.model})" if plotted.model else ""
    axes.plot(plotted.turns, plotted.hypothetical_usd, color=UNCOMPRESSED, label="uncompressed")
    axes.plot(plotted.turns, plotted.usd, color=COMPRESSED, label="compressed, with its folds")
    if plotted.pays_from is not None and plotted.pays_from in plotted.turns:
        place = list(plotted.turns).index(plotted.pays_from)
        axes.axvline(plotted.pays_from, ymax=0.65, color=FOLDS, lw=1, ls=":")
        axes.plot([plotted.pays_from], [plotted.usd[place]], "o", color=COMPRESSED, ms=6)
        said = f" pays from turn {plotted.pays_from:,}"
        is_late = place > 0.7 * len(plotted.turns)
        axes.annotate(
            said + (" " if is_late else ""),
            (plotted.pays_from, 0.55),
            xycoords=axes.get_xaxis_transform(),
            ha="right" if is_late else "left",
            fontsize=9,
        )
    axes.set_ylabel("USD so far")
    axes.set_title(f"What it cost{priced}", loc="left", fontsize=11)
