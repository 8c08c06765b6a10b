import type { MigrationInterface, QueryRunner } from 'typeorm';

/** They run with the rights of the tables' owner, so they look for tables in no schema a caller may choose. */
const AS_OWNER = 'SECURITY DEFINER SET search_path = public, pg_temp';

const UTC_NOW = `(now() AT TIME ZONE 'UTC')`;

/**
 * What the worker does to the ledger's partitions, as functions of their owner: a role that may not alter or drop any
 * table can still create months, and drop those that are older than the retention period.
 */
const UP = [
  // the owner's lower bound of the retention period: whoever may only call the functions cannot go below it
  `CREATE TABLE retention_floor (name text PRIMARY KEY, months integer NOT NULL CHECK (months >= 1))`,
  `INSERT INTO retention_floor VALUES ('rule_events', 1)`,
  `ALTER FUNCTION create_rule_events_table(date) ${AS_OWNER}`,
  `ALTER FUNCTION create_rule_events_partition(date) ${AS_OWNER}`,
  `CREATE FUNCTION months_in_default_rule_events() RETURNS SETOF date LANGUAGE sql ${AS_OWNER} AS $$
    SELECT DISTINCT date_trunc('month', at AT TIME ZONE 'UTC')::date FROM rule_events_default
  $$`,
  `CREATE FUNCTION is_default_rule_events_used() RETURNS boolean LANGUAGE sql ${AS_OWNER} AS $$
    SELECT EXISTS (SELECT FROM rule_events_default)
  $$`,
  // a batch of a month, into its table, which is attached later; the last key, null when nothing was left
  `CREATE FUNCTION copy_default_rule_events(month date, after_at timestamptz, after_id bigint, batch integer,
      OUT at text, OUT id text) LANGUAGE plpgsql ${AS_OWNER} AS $$
    DECLARE
      name text := create_rule_events_table(month);
    BEGIN
      EXECUTE format('WITH copied AS (
          INSERT INTO %I SELECT * FROM rule_events_default
          WHERE at >= $1 AND at < $2 AND (at, id) > ($3, $4) ORDER BY at, id LIMIT $5 RETURNING at, id
        )
        SELECT at::text, id::text FROM copied ORDER BY copied.at DESC, copied.id DESC LIMIT 1', name)
      INTO at, id
      USING month::timestamp AT TIME ZONE 'UTC', (month + interval '1 month')::timestamp AT TIME ZONE 'UTC',
        after_at, after_id, batch;
    END
  $$`,
  // dropping the default partition deletes no event: the ledger is append-only
  `CREATE FUNCTION replace_default_rule_events() RETURNS void LANGUAGE plpgsql ${AS_OWNER} AS $$
    DECLARE
      months date[];
      month date;
    BEGIN
      LOCK TABLE ONLY rule_events IN ACCESS EXCLUSIVE MODE;
      LOCK TABLE rule_events_default IN ACCESS EXCLUSIVE MODE;
      months := ARRAY(SELECT months_in_default_rule_events());
      FOREACH month IN ARRAY months LOOP
        EXECUTE format('INSERT INTO %I SELECT * FROM rule_events_default d WHERE d.at >= $1 AND d.at < $2
          AND NOT EXISTS (SELECT FROM %1$I copied WHERE copied.at = d.at AND copied.id = d.id)',
          create_rule_events_table(month))
        USING month::timestamp AT TIME ZONE 'UTC', (month + interval '1 month')::timestamp AT TIME ZONE 'UTC';
      END LOOP;
      ALTER TABLE rule_events DETACH PARTITION rule_events_default;
      DROP TABLE rule_events_default;
      FOREACH month IN ARRAY months LOOP
        PERFORM create_rule_events_partition(month);
      END LOOP;
      CREATE TABLE rule_events_default PARTITION OF rule_events DEFAULT;
    END
  $$`,
  // the events of a rule follow its observation, by a day at the very most
  `CREATE FUNCTION expired_rule_events(retention_months integer) RETURNS SETOF text LANGUAGE sql ${AS_OWNER} AS $$
    SELECT name FROM (
      SELECT c.relname::text AS name, to_date(right(c.relname, 7), 'YYYY_MM') AS month
      FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
      WHERE i.inhparent = 'rule_events'::regclass AND c.relname ~ '^rule_events_\\d{4}_\\d{2}$'
    ) m
    WHERE month + interval '1 month' <= ${UTC_NOW} - make_interval(months => greatest(retention_months,
        (SELECT months FROM retention_floor f WHERE f.name = 'rule_events')))
      AND NOT EXISTS (
        SELECT FROM rules CROSS JOIN LATERAL (VALUES (present_since), (possible_since)) AS began(at)
        WHERE began.at AT TIME ZONE 'UTC' >= month - interval '1 day'
          AND began.at AT TIME ZONE 'UTC' < month + interval '1 month')
    ORDER BY month
  $$`,
  `CREATE FUNCTION drop_expired_rule_events(partition text, retention_months integer) RETURNS void
    LANGUAGE plpgsql ${AS_OWNER} AS $$
    BEGIN
      IF partition IN (SELECT expired_rule_events(retention_months)) THEN
        EXECUTE format('DROP TABLE %I', partition);
      END IF;
    END
  $$`,
];

const DOWN = [
  'DROP FUNCTION drop_expired_rule_events, expired_rule_events, replace_default_rule_events, copy_default_rule_events',
  'DROP FUNCTION is_default_rule_events_used, months_in_default_rule_events',
  'ALTER FUNCTION create_rule_events_partition(date) SECURITY INVOKER RESET search_path',
  'ALTER FUNCTION create_rule_events_table(date) SECURITY INVOKER RESET search_path',
  'DROP TABLE retention_floor',
];

export class LedgerUpkeepFunctions1790300000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of UP) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const statement of DOWN) await runner.query(statement);
  }
}
