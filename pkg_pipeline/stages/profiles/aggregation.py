"""Counts of one relationship as data frames (P20–P22). pandas takes a second to load: import it in functions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date, datetime, timedelta
from itertools import chain
from typing import TYPE_CHECKING, Any, Final
from zoneinfo import ZoneInfo

import numpy as np

from pkg_pipeline.memory.profile import rules
from pkg_pipeline.memory.profile.frequency import frequency_of
from pkg_pipeline.memory.profile.records import Frequency
from pkg_pipeline.stages.profiles.stores import Extent

if TYPE_CHECKING:
    import pandas as pd

MOMENT: Final = "datetime64[us, UTC]"
TALKS: Final = {
    "interaction_id": "object", "day": "object", "started_at": MOMENT, "ended_at": MOMENT, "messages": "int64",
    "language": "object", "summary_id": "object", "tokens": "Int64", "key_points": "object", "is_dirty": "boolean",
}  # fmt: skip
"""An interaction, newest end first; ``messages`` are the person's share of a group (P34). From ``summary_id`` on
missing without a summary; ``key_points`` is a list.
"""

SPOKEN: Final = {"interaction_id": "object", "sent_at": MOMENT, "is_self": "bool"}
"""A message of a direct chat, grouped by interaction, in order."""


def framed(rows: Sequence[Sequence[Any]], columns: dict[str, str]) -> pd.DataFrame:
    """Rows with values in the order of ``columns`` (name → dtype)."""
    import pandas as pd

    values = list(zip(*rows, strict=True)) or [()] * len(columns)
    return pd.DataFrame({
        name: pd.Series(pd.to_datetime(list(given), utc=True) if dtype == MOMENT else list(given), dtype=dtype)
        for (name, dtype), given in zip(columns.items(), values, strict=True)
    })  # fmt: skip


def covered(talks: pd.DataFrame) -> pd.DataFrame:
    return talks[talks["summary_id"].notna()]


def extent(talks: pd.DataFrame, last_meaningful_at: datetime | None, today: date) -> Extent:
    """``talks`` must not be empty; ``today``: the day as of which they are counted."""
    return Extent(
        interactions=len(talks),
        messages=int(talks["messages"].sum()),
        first_started_at=talks["started_at"].min().to_pydatetime(),
        last_started_at=talks["started_at"].max().to_pydatetime(),
        last_ended_at=talks["ended_at"].max().to_pydatetime(),
        last_meaningful_at=last_meaningful_at,
        frequency=_frequency(sorted(set(talks["day"])), today),
    )


def mentions(talks: pd.DataFrame) -> Iterator[tuple[str, datetime]]:
    """(key point, end of its interaction)."""
    points = talks["key_points"].to_numpy()
    ends = np.repeat(talks["ended_at"].dt.to_pydatetime().to_numpy(), [len(one) for one in points])
    return zip(chain.from_iterable(points), ends, strict=True)


def weekly(talks: pd.DataFrame, zone: ZoneInfo) -> pd.DataFrame:
    """Weeks with contact, by Sunday.

    ``interactions``, ``messages``, ``longest_silence_days`` (before one of them), ``mean_gap_days`` between starts of
    interactions up to the week's end, ``frequency``.
    """
    ordered = talks.sort_values(["started_at", "ended_at"], kind="stable")
    days = rules.DAY_SECONDS
    silence = (ordered["started_at"] - ordered["ended_at"].cummax().shift()).dt.total_seconds().clip(lower=0) / days
    weeks = ordered.assign(week=_sundays(ordered["started_at"], zone), silence=silence).groupby("week")
    found = weeks.agg(
        interactions=("messages", "size"),
        messages=("messages", "sum"),
        longest_silence_days=("silence", "max"),
        newest=("started_at", "max"),
    )
    gaps = found["interactions"].cumsum() - 1
    way = (found.pop("newest") - ordered["started_at"].min()).dt.total_seconds() / days
    found["mean_gap_days"] = way / gaps.where(gaps > 0)
    contact = sorted(set(ordered["started_at"].dt.tz_convert(zone).dt.date))
    found["frequency"] = [_frequency(contact, week.date() + timedelta(days=6)) for week in found.index]
    return found


def _frequency(days: Sequence[date], today: date) -> Frequency:
    """As of ``today``; of too few days ``rare``."""
    return frequency_of([day for day in days if day <= today], today) or "rare"


def response_minutes(spoken: pd.DataFrame, zone: ZoneInfo) -> pd.DataFrame:
    """Median minutes until each side answers within one interaction, by week of the answer: ``them``, ``me``; from one
    side's last message to the other's first.
    """
    import pandas as pd

    before = spoken.groupby("interaction_id", sort=False)[["sent_at", "is_self"]].shift()
    answers = before["sent_at"].notna() & (before["is_self"] != spoken["is_self"])
    minutes = (spoken["sent_at"] - before["sent_at"])[answers].dt.total_seconds() / 60
    side = spoken["is_self"][answers].map({True: "me", False: "them"})
    week = _sundays(spoken["sent_at"][answers], zone)
    found: Any = pd.DataFrame({"week": week, "side": side, "minutes": minutes})
    return found.pivot_table("minutes", "week", "side", aggfunc="median").reindex(columns=["them", "me"])


def _sundays(moments: pd.Series, zone: ZoneInfo) -> pd.Series:
    import pandas as pd

    local = moments.dt.tz_convert(zone).dt.tz_localize(None).dt.normalize()
    days = (local.dt.day_of_week + 1) % 7  # of the week that are over
    return local - days * pd.Timedelta(days=1)
