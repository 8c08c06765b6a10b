import type { Client } from 'pg';

/** SQL: the beginning of the month so many months from now. */
export const month = (ahead: number): string =>
  `(date_trunc('month', now() AT TIME ZONE 'UTC') + interval '${ahead} months')`;

/** The partitions of the audit records as if this release had run for so many months. */
export async function auditMonths(owner: Pick<Client, 'query'>, months: number): Promise<void> {
  for (let ahead = -months; ahead < 0; ahead += 1) {
    await owner.query(
      `DO $$ DECLARE
         first timestamptz := ${month(ahead)} AT TIME ZONE 'UTC';
         next timestamptz := ${month(ahead + 1)} AT TIME ZONE 'UTC';
         name text := to_char(first AT TIME ZONE 'UTC', '"audit_records_"YYYY_MM');
       BEGIN
         EXECUTE format('CREATE TABLE %I PARTITION OF audit_records FOR VALUES FROM (%L) TO (%L)', name, first, next);
         EXECUTE format('CREATE TRIGGER audit_records_never_truncated BEFORE TRUNCATE ON %I
           FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change()', name);
       END $$`,
    );
  }
}
