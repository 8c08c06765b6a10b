import type { Client } from 'pg';

/** SQL: the beginning of the month so many months from now. */
export const month = (ahead: number): string =>
  `(date_trunc('month', now() AT TIME ZONE 'UTC') + interval '${ahead} months')`;

/** Splits the first partition of the audit records as if this release had run for so many months. */
export async function auditMonths(owner: Pick<Client, 'query'>, months: number): Promise<void> {
  const { rows } = await owner.query<{ name: string }>(
    `SELECT c.relname AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
     WHERE i.inhparent = 'audit_records'::regclass AND pg_get_expr(c.relpartbound, c.oid) LIKE '%MINVALUE%'`,
  );
  const { name } = rows[0]!;
  await owner.query(`ALTER TABLE audit_records DETACH PARTITION ${name}`);
  await owner.query(`ALTER TABLE ${name} RENAME TO audit_records_before`);
  for (let ahead = -months; ahead <= 1; ahead += 1) {
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
  await owner.query('INSERT INTO audit_records SELECT * FROM audit_records_before');
  await owner.query('DROP TABLE audit_records_before');
}
