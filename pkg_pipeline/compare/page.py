"""A comparison as one self-contained HTML file."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

STYLE = """
:root { color-scheme: light; }
body { font: 15px/1.5 system-ui, sans-serif; color: #222; max-width: 74rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.3rem; margin-bottom: 0; overflow-wrap: anywhere; }
.said { font-size: 1.05rem; }
.dim { color: #666; }
figure { margin: 1.5rem 0; }
figure svg { width: 100%; height: auto; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { text-align: right; padding: .15rem .45rem; font-size: .87rem; white-space: nowrap; }
th { border-bottom: 1px solid #bbb; font-weight: 600; }
tr.pays td { background: #e4f1f5; }
tbody tr:hover td { background: #f5f3ef; }
"""

COLUMNS = (
    ("turn", "turn", "{:,}"),
    ("prompt", "prompt_tokens", "{:,}"),
    ("uncompressed", "hypothetical_tokens", "{:,}"),
    ("answer", "completion_tokens", "{:,}"),
    ("folds", "folds", "{:,}"),
    ("of folds, tokens", "fold_tokens", "{:,}"),
    ("USD", "usd", "{:.6f}"),
    ("of folds, USD", "fold_usd", "{:.6f}"),
    ("uncompressed, USD", "hypothetical_usd", "{:.6f}"),
    ("USD so far", "cumulative_usd", "{:.6f}"),
    ("uncompressed so far", "cumulative_hypothetical_usd", "{:.6f}"),
)
"""(heading, field of a turn, format); same table as on the command line."""


def page(document: Mapping[str, Any], *, svg: str, said: str) -> str:
    """The page of the JSON ``document``; ``said`` is its outcome in words."""
    title = document["title"] or document["conversation"]
    heads = "".join(f"<th>{escape(name)}</th>" for name, _, _ in COLUMNS)
    rows = "\n".join(_row(turn, pays_from=document["pays_from"]) for turn in document["turns"])
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{escape(title)}: compressed and uncompressed</title>
<style>{STYLE}</style>
</head>
<body>
<h1>{escape(title)}</h1>
<p class="dim">{escape(document["conversation"])} · {escape(setup(document))}</p>
<p class="said">{escape(said)}</p>
<figure>{svg}</figure>
{_notes(document)}
<div class="wide"><table>
<thead><tr>{heads}</tr></thead>
<tbody>
{rows}
</tbody>
</table></div>
</body>
</html>
"""


def setup(document: Mapping[str, Any]) -> str:
    budget = document["budget"]
    return (
        f"{document['messages']:,} messages; {document['strategy']}, folds by {document['policy']};"
        f" {document['model']} with a window of {budget['window']:,} tokens, room for {budget['available']:,};"
        f" prices of {document['prices']}; folds by {document['fold_model']}"
        f" at the price of {document['fold_priced_as']}"
    )


def _row(turn: Mapping[str, Any], *, pays_from: int | None) -> str:
    marked = ' class="pays"' if turn["turn"] == pays_from else ""
    cells = "".join(f"<td>{form.format(turn[name])}</td>" for _, name, form in COLUMNS)
    return f"<tr{marked}>{cells}</tr>"


def _notes(document: Mapping[str, Any]) -> str:
    notes = "".join(f"<li>{escape(note)}</li>" for note in document["warnings"])
    return f"<ul>{notes}</ul>" if notes else ""
