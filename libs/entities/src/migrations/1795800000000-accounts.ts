import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Rows that are changed in one commit. */
const BATCH = 1000;

/** Each statement is a commit of its own, and can be repeated: the migration may be started again. */
const TABLES = `
ALTER TABLE credentials ADD COLUMN IF NOT EXISTS parent_id uuid, ADD COLUMN IF NOT EXISTS account text,
  ADD COLUMN IF NOT EXISTS accounts_due_at timestamptz, ADD COLUMN IF NOT EXISTS accounts_asked_at timestamptz,
  ADD COLUMN IF NOT EXISTS accounts_error text;
ALTER TABLE resources ADD COLUMN IF NOT EXISTS account text;
DO $$ BEGIN
  ALTER TABLE credentials ADD CONSTRAINT credentials_parent_fkey FOREIGN KEY (organization_id, parent_id)
    REFERENCES credentials (organization_id, id);
EXCEPTION WHEN duplicate_object THEN NULL; END $$;

-- An account that a credential reaches: its name, and what the provider's list says of it. It goes with the credential, or
-- when it has no label, no resource is in it, and the provider has not listed it for 30 days.
CREATE TABLE IF NOT EXISTS cloud_accounts (
  organization_id uuid NOT NULL,
  credential_id uuid NOT NULL,
  account text NOT NULL,
  label text,
  listed_label text,
  state text,
  listed_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (credential_id, account),
  CONSTRAINT cloud_accounts_credential_fkey FOREIGN KEY (organization_id, credential_id)
    REFERENCES credentials (organization_id, id) ON DELETE CASCADE
);

CREATE OR REPLACE FUNCTION label_resource() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    NEW.labels := coalesce((SELECT jsonb_object_agg(key, value) FROM jsonb_each(NEW.labels)
        WHERE key NOT LIKE 'drawbridge/%'), '{}')
      || jsonb_strip_nulls(jsonb_build_object('drawbridge/all', 'yes', 'drawbridge/provider', NEW.provider,
        'drawbridge/region', NEW.region, 'drawbridge/account', NEW.account));
    RETURN NEW;
  END $$;
CREATE OR REPLACE TRIGGER resources_are_labelled BEFORE INSERT OR UPDATE OF labels, provider, region, account ON resources
  FOR EACH ROW EXECUTE FUNCTION label_resource();
`;

/** SQL: the account that a resource's target is in, as far as its credential or its name says. */
const ACCOUNT = `CASE r.provider
  WHEN 'AWS' THEN substring(c.hints->>'roleArn' FROM '^arn:[^:]+:iam::([0-9]{12}):')
  WHEN 'AZURE' THEN substring(t.identifier FROM '^/subscriptions/([^/]+)/')
  WHEN 'GCP' THEN substring(t.identifier FROM '^projects/([^/]+)/') END`;

const INDEXES = [
  'credentials_parent_id_account_key ON credentials (parent_id, account)',
  'credentials_accounts_due_idx ON credentials (accounts_due_at) WHERE accounts_due_at IS NOT NULL',
];

export class Accounts1795800000000 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(TABLES);
    for (;;) {
      const [, changed] = (await runner.query(
        `UPDATE resources known SET account = found.account FROM (
           SELECT r.id, ${ACCOUNT} AS account FROM resources r JOIN credentials c ON c.id = r.credential_id
           JOIN targets t ON t.id = r.target_id WHERE r.account IS NULL AND ${ACCOUNT} IS NOT NULL LIMIT ${BATCH}
         ) found WHERE known.id = found.id`,
      )) as [unknown, number];
      if (changed === 0) break;
    }
    await runner.query(
      `INSERT INTO cloud_accounts (organization_id, credential_id, account)
       SELECT DISTINCT organization_id, credential_id, account FROM resources
       WHERE account IS NOT NULL AND deleted_at IS NULL ON CONFLICT DO NOTHING`,
    );
    const [parent, due] = INDEXES;
    await runner.query(`CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS ${parent}`);
    await runner.query(`CREATE INDEX CONCURRENTLY IF NOT EXISTS ${due}`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE OR REPLACE TRIGGER resources_are_labelled BEFORE INSERT OR UPDATE OF labels, provider, region ON resources
        FOR EACH ROW EXECUTE FUNCTION label_resource();
      CREATE OR REPLACE FUNCTION label_resource() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          NEW.labels := coalesce((SELECT jsonb_object_agg(key, value) FROM jsonb_each(NEW.labels)
              WHERE key NOT LIKE 'drawbridge/%'), '{}')
            || jsonb_strip_nulls(jsonb_build_object('drawbridge/all', 'yes', 'drawbridge/provider', NEW.provider,
              'drawbridge/region', NEW.region));
          RETURN NEW;
        END $$;
      DROP TABLE cloud_accounts;
      ALTER TABLE resources DROP COLUMN account;
      ALTER TABLE credentials DROP COLUMN parent_id, DROP COLUMN account, DROP COLUMN accounts_due_at,
        DROP COLUMN accounts_asked_at, DROP COLUMN accounts_error;
    `);
  }
}
