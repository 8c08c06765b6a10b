import type { Client } from 'pg';

/** SQL: the beginning of the month so many months from now. */
export const month = (ahead: number): string =>
  `(date_trunc('month', now() AT TIME ZONE 'UTC') + interval '${ahead} months')`;

/** The partition of a month, of the past too, as if this release had run then. @param at SQL: its beginning */
export async function monthPartition(
  owner: Pick<Client, 'query'>,
  table: 'audit_records' | 'rule_events',
  at: string,
): Promise<void> {
  await owner.query(
    `DO $$ DECLARE
       first timestamptz := ${at} AT TIME ZONE 'UTC';
       next timestamptz := (${at} + interval '1 month') AT TIME ZONE 'UTC';
       name text := to_char(first AT TIME ZONE 'UTC', '"${table}_"YYYY_MM');
     BEGIN
       EXECUTE format('CREATE TABLE %I PARTITION OF ${table} FOR VALUES FROM (%L) TO (%L)', name, first, next);
       EXECUTE format('CREATE TRIGGER ${table}_never_truncated BEFORE TRUNCATE ON %I
         FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()', name);
     END $$`,
  );
}

/** The partitions of the audit records as if this release had run for so many months. */
export async function auditMonths(owner: Pick<Client, 'query'>, months: number): Promise<void> {
  for (let ahead = -months; ahead < 0; ahead += 1) await monthPartition(owner, 'audit_records', month(ahead));
}
