"""Rows → DataFrames with the dtypes of ``columns.toml``, also for no rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, cast

import pandas as pd

from pkg_pipeline.frames.columns import DTYPES, Column, tables


def typed(table: str, rows: Iterable[Sequence[Any]]) -> pd.DataFrame:
    """The DataFrame of rows in column order; moments may be ISO texts."""
    columns = tables()[table].columns
    values = list(zip(*rows, strict=True)) or [()] * len(columns)
    return pd.DataFrame({one.name: _series(given, one) for one, given in zip(columns, values, strict=True)})


def _series(values: Sequence[Any], column: Column) -> pd.Series:
    given, dtype = pd.Series(list(values), dtype=object), cast(Any, DTYPES.get(column.dtype, column.dtype))
    match column.dtype:
        case "moment":
            is_text = bool(values) and isinstance(next((one for one in values if one is not None), None), str)
            return pd.to_datetime(given, utc=True, format="ISO8601" if is_text else None).astype(dtype)
        case "day":
            return pd.to_datetime(given).astype(dtype)
        case "category":
            unknown = sorted({one for one in values if one is not None} - set(column.categories))
            return given.astype(pd.CategoricalDtype([*column.categories, *unknown]))
        case "list":
            return given
        case _:
            return given.astype(dtype)
