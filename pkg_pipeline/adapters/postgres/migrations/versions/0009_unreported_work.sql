-- Imports that happened outside of Dagster's runs, until a run shows them among its own.

CREATE TABLE unreported_work (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    asset text NOT NULL,                         -- whose materialisation it is
    counts jsonb NOT NULL,                       -- the asset's numbers: {"rows": 12, …}
    done_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX unreported_work_asset ON unreported_work (asset, id);
