import type { MigrationInterface, QueryRunner } from 'typeorm';
import { lockTables } from '../table-locks';

const COLUMNS = [
  `ALTER TABLE rules
    ADD cause text,
    ADD unwanted_since timestamptz,
    ADD overdue_at timestamptz,
    ADD possible_since timestamptz,
    ADD present_since timestamptz,
    ADD observed_at timestamptz,
    ADD removal_sent_at timestamptz,
    ADD is_missing boolean NOT NULL DEFAULT false,
    ADD is_unmarked boolean NOT NULL DEFAULT false,
    ADD is_suspended boolean NOT NULL DEFAULT false,
    ADD offered_until timestamptz,
    ADD accounted_to uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000'`,
  `ALTER TABLE rule_holders ADD cause text, ADD released_at timestamptz, ADD release_cause text`,
  `ALTER TABLE targets
    ADD compared_at timestamptz,
    ADD unmanaged_digest text,
    ADD accounted_to uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000'`,
  `ALTER TABLE resources ADD write_verified boolean NOT NULL DEFAULT false`,
  `ALTER TABLE credentials ADD denied_until timestamptz, ADD denials integer NOT NULL DEFAULT 0`,
];

const TABLES = [
  `CREATE TABLE unmanaged_rules (
    target_id uuid NOT NULL,
    key text NOT NULL,
    provider_rule_id text NOT NULL,
    possible_since timestamptz,
    present_since timestamptz NOT NULL,
    CONSTRAINT unmanaged_rules_target_id_fkey FOREIGN KEY (target_id) REFERENCES targets (id) ON DELETE CASCADE,
    PRIMARY KEY (target_id, key, provider_rule_id)
  )`,
  // one row: which worker sweeps, and until when
  `CREATE TABLE sweeper_lease (
    id integer NOT NULL,
    worker_id text NOT NULL,
    lease_until timestamptz NOT NULL,
    others_seen_at timestamptz,
    CONSTRAINT sweeper_lease_one_row CHECK (id = 1),
    PRIMARY KEY (id)
  )`,
  // one row, written by readiness checks: a database that only reads is not ready
  `CREATE TABLE write_probe (
    id integer NOT NULL,
    written_at timestamptz NOT NULL,
    CONSTRAINT write_probe_one_row CHECK (id = 1),
    PRIMARY KEY (id)
  )`,
  `CREATE SEQUENCE rule_events_id_seq`,
  // one row for each holder of the rule, one without a holder where it has none
  `CREATE TABLE rule_events (
    at timestamptz NOT NULL DEFAULT now(),
    id bigint NOT NULL DEFAULT nextval('rule_events_id_seq'),
    kind text NOT NULL,
    target_id uuid NOT NULL,
    provider text NOT NULL,
    target text NOT NULL,
    rule_id uuid,
    address text NOT NULL,
    protocol text NOT NULL,
    ports text NOT NULL,
    provider_rule_id text,
    cause text,
    message text,
    possible_from timestamptz,
    certain_from timestamptz,
    certain_until timestamptz,
    possible_until timestamptz,
    holder_kind text NOT NULL,
    organization_id uuid,
    resource_id uuid,
    resource_name text,
    session_id uuid,
    static_ip_rule_id uuid,
    user_id uuid,
    user_email text,
    credential_id uuid,
    worker_id text,
    pass_id uuid,
    PRIMARY KEY (at, id)
  ) PARTITION BY RANGE (at)`,
  `CREATE INDEX rule_events_target_idx ON rule_events (target_id, at)`,
  `CREATE INDEX rule_events_resource_idx ON rule_events (organization_id, resource_id, at) WHERE organization_id IS NOT NULL`,
  `CREATE INDEX rule_events_session_idx ON rule_events (session_id, at) WHERE session_id IS NOT NULL`,
  `CREATE INDEX rule_events_user_idx ON rule_events (organization_id, user_id, at) WHERE user_id IS NOT NULL`,
  `CREATE INDEX rule_events_address_idx ON rule_events (organization_id, address, at) WHERE organization_id IS NOT NULL`,
  `CREATE FUNCTION refuse_ledger_change() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      RAISE EXCEPTION 'rule events are append-only';
    END
  $$`,
  `CREATE TRIGGER rule_events_append_only BEFORE UPDATE OR DELETE ON rule_events
    FOR EACH ROW EXECUTE FUNCTION refuse_ledger_change()`,
  // a table of its own first: attaching it locks the ledger for readers and writers of no other partition
  `CREATE FUNCTION create_rule_events_table(month date) RETURNS text LANGUAGE plpgsql AS $$
    DECLARE
      name text := 'rule_events_' || to_char(month, 'YYYY_MM');
    BEGIN
      IF to_regclass(name) IS NULL THEN
        EXECUTE format('CREATE TABLE %I (LIKE rule_events INCLUDING DEFAULTS INCLUDING INDEXES,
          CONSTRAINT within_month CHECK (at >= %L AND at < %L))', name,
          month::timestamp AT TIME ZONE 'UTC', (month + interval '1 month')::timestamp AT TIME ZONE 'UTC');
      END IF;
      RETURN name;
    END
  $$`,
  `CREATE FUNCTION create_rule_events_partition(month date) RETURNS void LANGUAGE plpgsql AS $$
    DECLARE
      name text := create_rule_events_table(month);
    BEGIN
      IF NOT EXISTS (SELECT FROM pg_inherits WHERE inhrelid = name::regclass) THEN
        EXECUTE format('ALTER TABLE rule_events ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', name,
          month::timestamp AT TIME ZONE 'UTC', (month + interval '1 month')::timestamp AT TIME ZONE 'UTC');
        EXECUTE format('ALTER TABLE %I DROP CONSTRAINT within_month', name);
      END IF;
    END
  $$`,
  `SELECT create_rule_events_partition((date_trunc('month', now() AT TIME ZONE 'UTC') + make_interval(months => m))::date)
    FROM generate_series(0, 2) AS m`,
  // events of a month whose partition was not made in time are kept, not lost
  `CREATE TABLE rule_events_default PARTITION OF rule_events DEFAULT`,
  `CREATE TABLE unwritten_rule_events (
    id bigint GENERATED BY DEFAULT AS IDENTITY,
    kept_at timestamptz NOT NULL DEFAULT now(),
    event jsonb NOT NULL,
    PRIMARY KEY (id)
  )`,
];

const INDEXES = [
  `CREATE INDEX rules_work_idx ON rules (accounted_to, ((NOT closing)::int * 2 + (attempts > 0)::int), due_at)
    WHERE due_at IS NOT NULL`,
  `CREATE INDEX rules_unwanted_idx ON rules (overdue_at, unwanted_since) WHERE unwanted_since IS NOT NULL`,
  `CREATE INDEX rules_over_idx ON rules (id) WHERE state = 'absent' AND due_at IS NULL`,
];

/**
 * While processes of the release before still run: they release and settle holders without knowing the columns above.
 * A connection of this release says so (`drawbridge.live_state`). Dropped by `UnfollowedResourceIps`.
 */
export const ROLLOUT = [
  `CREATE FUNCTION follow_resource_ip() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF NEW.status = 'REMOVING' THEN
        UPDATE rule_holders SET released_at = coalesce(NEW.released_at, now()), release_cause = 'UNRECORDED'
        WHERE resource_ip_id = NEW.id AND released_at IS NULL;
      ELSE
        DELETE FROM rule_holders WHERE resource_ip_id = NEW.id;
      END IF;
      RETURN NULL;
    END
  $$`,
  `CREATE TRIGGER resource_ips_followed AFTER UPDATE OF status ON resource_ips FOR EACH ROW
    WHEN (NEW.status IN ('REMOVING', 'REMOVED', 'FAILED') AND OLD.status <> NEW.status
      AND current_setting('drawbridge.live_state', true) IS NULL)
    EXECUTE FUNCTION follow_resource_ip()`,
];

const DOWN = [
  `DROP TRIGGER resource_ips_followed ON resource_ips`,
  `DROP FUNCTION follow_resource_ip`,
  `DROP TABLE unwritten_rule_events, rule_events, write_probe, sweeper_lease, unmanaged_rules`,
  `DROP FUNCTION create_rule_events_partition`,
  `DROP FUNCTION create_rule_events_table`,
  `DROP FUNCTION refuse_ledger_change`,
  `DROP SEQUENCE rule_events_id_seq`,
  `DROP INDEX rules_over_idx, rules_unwanted_idx, rules_work_idx`,
  `ALTER TABLE credentials DROP denials, DROP denied_until`,
  `ALTER TABLE resources DROP write_verified`,
  `ALTER TABLE targets DROP accounted_to, DROP unmanaged_digest, DROP compared_at`,
  `ALTER TABLE rule_holders DROP release_cause, DROP released_at, DROP cause`,
  `ALTER TABLE rules DROP accounted_to, DROP offered_until, DROP is_suspended, DROP is_unmarked, DROP is_missing,
    DROP removal_sent_at, DROP observed_at, DROP present_since, DROP possible_since, DROP overdue_at,
    DROP unwanted_since, DROP cause`,
];

const LOCKED = ['rules', 'rule_holders', 'targets', 'resources', 'credentials', 'resource_ips'];
/** What the ledger and the live state need; fast, as it locks the tables that everything else works on. */
export class LiveStateAndLedger1790000000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await lockTables(runner, LOCKED);
    for (const statement of [...COLUMNS, ...TABLES, ...INDEXES, ...ROLLOUT]) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const statement of DOWN) await runner.query(statement);
  }
}
