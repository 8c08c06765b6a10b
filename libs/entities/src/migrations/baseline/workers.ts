/** What the processes share about themselves. Nothing of it grows with use. */
export const WORKERS = `
-- One row: which worker sweeps, until when, and when it last did; and which database this is, to notice a restored one.
CREATE TABLE sweeper_lease (
  id integer PRIMARY KEY,
  worker_id text NOT NULL,
  lease_until timestamptz NOT NULL,
  others_seen_at timestamptz,
  swept_at timestamptz,
  database_identity text,
  restored_at timestamptz,
  CONSTRAINT sweeper_lease_one_row CHECK (id = 1)
);

-- One row, written by readiness checks: a database that only reads is not ready.
CREATE TABLE write_probe (
  id integer PRIMARY KEY,
  written_at timestamptz NOT NULL,
  CONSTRAINT write_probe_one_row CHECK (id = 1)
);

-- Write budget of each cloud account: when its bucket of calls is full again. One row for each account, and two for the
-- passes of a crowded one, which stay.
CREATE TABLE write_budgets (
  account_key text PRIMARY KEY,
  full_at timestamptz NOT NULL
);
`;
