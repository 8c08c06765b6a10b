import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Rows that are changed in one commit. */
const BATCH = 1000;

/** Each statement is a commit of its own, and can be repeated: the migration may be started again. */
const TABLES = `
ALTER TABLE resources ADD COLUMN IF NOT EXISTS labels jsonb NOT NULL DEFAULT '{}';
ALTER TABLE roles ADD COLUMN IF NOT EXISTS resource_selector jsonb;
ALTER TABLE role_users ADD COLUMN IF NOT EXISTS given_by_provider_id uuid;
ALTER TABLE identity_providers ADD COLUMN IF NOT EXISTS group_pattern text;

-- One set of labels of which a resource needs all for a role to reach it. The sets of a role stand for its resource_selector,
-- and go with it.
CREATE TABLE IF NOT EXISTS role_selectors (
  role_id uuid NOT NULL,
  labels jsonb NOT NULL,
  organization_id uuid NOT NULL,
  PRIMARY KEY (role_id, labels),
  CONSTRAINT role_selectors_role_fkey FOREIGN KEY (organization_id, role_id)
    REFERENCES roles (organization_id, id) ON DELETE CASCADE
);

-- A process that writes a resource, of this release or the one before, cannot forget the labels that every resource has.
CREATE OR REPLACE FUNCTION label_resource() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    NEW.labels := coalesce((SELECT jsonb_object_agg(key, value) FROM jsonb_each(NEW.labels)
        WHERE key NOT LIKE 'drawbridge/%'), '{}')
      || jsonb_strip_nulls(jsonb_build_object('drawbridge/all', 'yes', 'drawbridge/provider', NEW.provider,
        'drawbridge/region', NEW.region));
    RETURN NEW;
  END $$;
CREATE OR REPLACE TRIGGER resources_are_labelled BEFORE INSERT OR UPDATE OF labels, provider, region ON resources
  FOR EACH ROW EXECUTE FUNCTION label_resource();
`;

export class Labels1795700000000 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(TABLES);
    for (;;) {
      const [, changed] = (await runner.query(
        `UPDATE resources SET labels = labels WHERE id IN (
           SELECT id FROM resources WHERE NOT labels @> '{"drawbridge/all": "yes"}' LIMIT ${BATCH})`,
      )) as [unknown, number];
      if (changed === 0) break;
    }
    await runner.query(
      'CREATE INDEX CONCURRENTLY IF NOT EXISTS resources_labels_idx ON resources USING gin (labels jsonb_path_ops)',
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP TRIGGER resources_are_labelled ON resources;
      DROP FUNCTION label_resource();
      DROP TABLE role_selectors;
      ALTER TABLE identity_providers DROP COLUMN group_pattern;
      ALTER TABLE role_users DROP COLUMN given_by_provider_id;
      ALTER TABLE roles DROP COLUMN resource_selector;
      ALTER TABLE resources DROP COLUMN labels;
    `);
  }
}
