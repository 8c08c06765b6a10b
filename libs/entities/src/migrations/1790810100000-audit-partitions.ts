import type { MigrationInterface, QueryRunner } from 'typeorm';
import { changeLocked } from '../table-locks';

/** They run with the rights of the tables' owner, so they look for tables in no schema a caller may choose. */
const AS_OWNER = 'SECURITY DEFINER SET search_path = public, pg_temp';

/** Requests queue behind a lock that is waited for. */
const LOCK_TIMEOUT_MS = 40;

/** The indexes of `audit_records`, each with what follows its table's name. Partitions have the same. */
const INDEXES = {
  audit_records_organization_id_idx: '(organization_id, timestamp, sequence)',
  audit_records_transaction_id_idx: '(transaction_id, sequence)',
  audit_records_event_type_idx: '(organization_id, event_type, timestamp)',
  audit_records_actor_email_idx: '(organization_id, actor_email, timestamp) WHERE actor_email IS NOT NULL',
  audit_records_actor_id_idx: '(organization_id, actor_id, timestamp) WHERE actor_id IS NOT NULL',
  audit_records_resource_id_idx: '(organization_id, resource_id, timestamp)',
  audit_records_user_id_idx: `(organization_id, (details->>'userId'), timestamp)
    WHERE details->>'userId' IS NOT NULL`,
  audit_records_denied_idx: `(organization_id, timestamp) WHERE result = 'FAILURE' AND actor_type <> 'SYSTEM'`,
} as const;

const FUNCTIONS = [
  // false: records of the month are in the default partition. A table of its own first: attaching locks no other month
  `CREATE OR REPLACE FUNCTION create_audit_records_partition(month date) RETURNS boolean LANGUAGE plpgsql ${AS_OWNER} AS $$
    DECLARE
      name text := 'audit_records_' || to_char(month, 'YYYY_MM');
      first timestamptz := month::timestamp AT TIME ZONE 'UTC';
      next timestamptz := (month + interval '1 month')::timestamp AT TIME ZONE 'UTC';
    BEGIN
      IF month <> date_trunc('month', month) OR next < now() OR first > now() + interval '1 year' THEN
        RAISE EXCEPTION '% is no month to come', month;
      END IF;
      IF to_regclass(name) IS NOT NULL OR EXISTS (
        SELECT FROM audit_records_default d WHERE d.timestamp >= first AND d.timestamp < next)
      THEN
        RETURN false;
      END IF;
      EXECUTE format('CREATE TABLE %I (LIKE audit_records INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING INDEXES,
        CONSTRAINT within_month CHECK (timestamp >= %L AND timestamp < %L))', name, first, next);
      EXECUTE format('CREATE TRIGGER audit_records_never_truncated BEFORE TRUNCATE ON %I
        FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change()', name);
      EXECUTE format('ALTER TABLE audit_records ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', name, first, next);
      EXECUTE format('ALTER TABLE %I DROP CONSTRAINT within_month', name);
      RETURN true;
    END
  $$`,
  // what the default partition holds becomes the partition of its months: nothing is copied
  `CREATE OR REPLACE FUNCTION attach_default_audit_records() RETURNS void LANGUAGE plpgsql ${AS_OWNER} AS $$
    DECLARE
      first date;
      last date;
    BEGIN
      IF NOT EXISTS (SELECT FROM audit_records_default) THEN
        RETURN;
      END IF;
      LOCK TABLE ONLY audit_records IN ACCESS EXCLUSIVE MODE;
      LOCK TABLE audit_records_default IN ACCESS EXCLUSIVE MODE;
      SELECT date_trunc('month', min(timestamp AT TIME ZONE 'UTC')), date_trunc('month', max(timestamp AT TIME ZONE 'UTC'))
      INTO first, last FROM audit_records_default;
      IF to_regclass('audit_records_' || to_char(last, 'YYYY_MM')) IS NOT NULL THEN
        RETURN;
      END IF;
      ALTER TABLE audit_records DETACH PARTITION audit_records_default;
      EXECUTE format('ALTER TABLE audit_records_default RENAME TO %I', 'audit_records_' || to_char(last, 'YYYY_MM'));
      EXECUTE format('ALTER TABLE audit_records ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
        'audit_records_' || to_char(last, 'YYYY_MM'),
        first::timestamp AT TIME ZONE 'UTC', (last + interval '1 month')::timestamp AT TIME ZONE 'UTC');
      PERFORM create_default_audit_records();
    EXCEPTION
      -- another month lies between them: they stay where they are
      WHEN invalid_object_definition THEN
        NULL;
    END
  $$`,
  `CREATE OR REPLACE FUNCTION is_default_audit_records_used() RETURNS boolean LANGUAGE plpgsql ${AS_OWNER} AS $$
    BEGIN
      RETURN EXISTS (SELECT FROM audit_records_default);
    END
  $$`,
  // records of a month whose partition was not made in time are kept, and no action fails
  `CREATE OR REPLACE FUNCTION create_default_audit_records() RETURNS void LANGUAGE plpgsql AS $$
    BEGIN
      CREATE TABLE audit_records_default PARTITION OF audit_records DEFAULT;
      CREATE TRIGGER audit_records_never_truncated BEFORE TRUNCATE ON audit_records_default
        FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();
    END
  $$`,
];

/**
 * Makes the table the first partition of a new `audit_records`, without reading a row.
 * @param first its name from now on
 */
const swap = (first: string, bound: string): string[] => [
  // a foreign key cannot refer to a partitioned table by the id alone; verify-audit reports a seal without its record
  'ALTER TABLE audit_seals DROP CONSTRAINT audit_seals_record_id_fkey',
  // finds the record's partition; null: sealed by the release before, in whichever partition
  'ALTER TABLE audit_seals ADD COLUMN recorded_at timestamptz',
  'DROP TRIGGER audit_records_append_only ON audit_records',
  'ALTER TABLE audit_records DROP CONSTRAINT audit_records_pkey',
  `ALTER TABLE audit_records RENAME TO ${first}`,
  ...Object.keys(INDEXES).map(
    (name) => `ALTER INDEX ${name} RENAME TO ${name.replace('audit_records', first)}`,
  ),
  `ALTER TABLE ${first} ADD CONSTRAINT ${first}_pkey PRIMARY KEY USING INDEX audit_records_id_timestamp_idx`,
  `CREATE TABLE audit_records (LIKE ${first} INCLUDING DEFAULTS INCLUDING CONSTRAINTS,
    CONSTRAINT audit_records_pkey PRIMARY KEY (id, timestamp)) PARTITION BY RANGE (timestamp)`,
  'ALTER TABLE audit_records DROP CONSTRAINT within_first',
  ...Object.entries(INDEXES).map(([name, on]) => `CREATE INDEX ${name} ON audit_records ${on}`),
  `ALTER TABLE audit_records ATTACH PARTITION ${first} FOR VALUES FROM (MINVALUE) TO ('${bound}')`,
  `ALTER TABLE ${first} DROP CONSTRAINT within_first`,
  'ALTER SEQUENCE audit_records_sequence_seq OWNED BY audit_records.sequence',
  `CREATE TRIGGER audit_records_append_only BEFORE UPDATE OR DELETE ON audit_records
    FOR EACH ROW EXECUTE FUNCTION refuse_audit_change()`,
  `CREATE TRIGGER audit_records_never_truncated BEFORE TRUNCATE ON audit_records
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change()`,
  // the release before goes on with the rights it has
  `DO $$
    DECLARE
      granted record;
    BEGIN
      FOR granted IN SELECT acl.grantee::regrole AS role, string_agg(acl.privilege_type, ', ') AS rights
        FROM pg_class c CROSS JOIN LATERAL aclexplode(c.relacl) acl
        WHERE c.oid = '${first}'::regclass AND acl.grantee <> 0 AND acl.grantee <> c.relowner GROUP BY 1
      LOOP
        EXECUTE format('GRANT %s ON audit_records TO %s', granted.rights, granted.role);
        EXECUTE format('REVOKE ALL ON ${first} FROM %s', granted.role);
      END LOOP;
    END
  $$`,
  'SELECT create_default_audit_records()',
];

/**
 * Partitions the audit records by month while the release before goes on. What takes long, an index and the proof that the
 * table fits its partition, locks out no one; the exchange changes the catalogue only.
 */
export class AuditPartitions1790810100000 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of FUNCTIONS) await runner.query(statement);
    const [table] = (await runner.query(
      `SELECT relkind = 'p' AS "isPartitioned" FROM pg_class WHERE oid = 'audit_records'::regclass`,
    )) as [{ isPartitioned: boolean }];
    if (!table.isPartitioned) await partition(runner);
    await runner.query(`SELECT create_audit_records_partition(month::date)
      FROM generate_series(date_trunc('month', now() AT TIME ZONE 'UTC') + interval '2 months',
        now() AT TIME ZONE 'UTC' + interval '3 months', interval '1 month') month`);
  }

  down(): Promise<void> {
    return Promise.reject(
      new Error('The audit records stay partitioned: undoing it would copy all of them. Restore a backup.'),
    );
  }
}

async function partition(runner: QueryRunner): Promise<void> {
  // one that was interrupted leaves an index that is not valid
  await runner.query('DROP INDEX IF EXISTS audit_records_id_timestamp_idx');
  await runner.query(
    'CREATE UNIQUE INDEX CONCURRENTLY audit_records_id_timestamp_idx ON audit_records (id, timestamp)',
  );
  // The end of next month. Until the exchange, the constraint would refuse records after it: it must be far, and it goes
  // when this fails.
  const [{ first, bound }] = (await runner.query(`SELECT to_char(month, '"audit_records_"YYYY_MM') AS first,
      to_char(month + interval '1 month', 'YYYY-MM-DD"T00:00:00Z"') AS bound
    FROM (SELECT date_trunc('month', now() AT TIME ZONE 'UTC') + interval '1 month' AS month) next`)) as [
    { first: string; bound: string },
  ];
  const unbound = 'ALTER TABLE audit_records DROP CONSTRAINT IF EXISTS within_first';
  await changeLocked(
    runner,
    ['audit_records'],
    [
      unbound,
      `ALTER TABLE audit_records ADD CONSTRAINT within_first CHECK (timestamp < '${bound}') NOT VALID`,
    ],
    LOCK_TIMEOUT_MS,
  );
  try {
    await runner.query('ALTER TABLE audit_records VALIDATE CONSTRAINT within_first');
    await changeLocked(runner, ['audit_records', 'audit_seals'], swap(first, bound), LOCK_TIMEOUT_MS);
  } catch (error) {
    await changeLocked(runner, ['audit_records'], [unbound], LOCK_TIMEOUT_MS);
    throw error;
  }
}
