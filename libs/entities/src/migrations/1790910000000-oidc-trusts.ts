import type { MigrationInterface, QueryRunner } from 'typeorm';

export class OidcTrusts1790910000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`CREATE TABLE oidc_trusts (
      id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
      organization_id uuid NOT NULL,
      name text NOT NULL,
      preset text NOT NULL CONSTRAINT oidc_trusts_preset_check CHECK (preset IN ('GITHUB', 'GITLAB', 'BUILDKITE', 'CUSTOM')),
      issuer text NOT NULL,
      service_user_id uuid NOT NULL,
      scopes text[] NOT NULL,
      conditions jsonb NOT NULL,
      is_enabled boolean NOT NULL DEFAULT true,
      revision integer NOT NULL DEFAULT 1,
      last_used_at timestamptz,
      created_by_email text NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      updated_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT oidc_trusts_organization_id_name_key UNIQUE (organization_id, name),
      CONSTRAINT oidc_trusts_service_user_fkey FOREIGN KEY (organization_id, service_user_id)
        REFERENCES users (organization_id, id) ON DELETE CASCADE
    )`);
    await runner.query('CREATE INDEX oidc_trusts_service_user_id_idx ON oidc_trusts (service_user_id)');
    await runner.query(`CREATE TABLE oidc_used_tokens (
      organization_id uuid NOT NULL,
      token_hash text NOT NULL,
      expires_at timestamptz NOT NULL,
      PRIMARY KEY (organization_id, token_hash)
    )`);
    await runner.query('CREATE INDEX oidc_used_tokens_expires_at_idx ON oidc_used_tokens (expires_at)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE oidc_used_tokens');
    await runner.query('DROP TABLE oidc_trusts');
  }
}
