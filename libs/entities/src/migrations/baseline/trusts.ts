/** Trust without shared secrets: of this deployment in CI systems, and of clouds in this deployment. */
export const TRUSTS = `
-- Lets jobs with fitting ID tokens of an issuer act as a service user. Trusts stay until they are deleted.
CREATE TABLE oidc_trusts (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  organization_id uuid NOT NULL,
  name text NOT NULL,
  preset text NOT NULL CHECK (preset IN ('GITHUB', 'GITLAB', 'BUILDKITE', 'HCP_TERRAFORM', 'CUSTOM')),
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
  UNIQUE (organization_id, name),
  CONSTRAINT oidc_trusts_service_user_fkey FOREIGN KEY (organization_id, service_user_id)
    REFERENCES users (organization_id, id) ON DELETE CASCADE
);
CREATE INDEX oidc_trusts_service_user_id_idx ON oidc_trusts (service_user_id);

-- ID tokens that were exchanged: the key refuses a second exchange. They go a day after they would be refused anyway.
CREATE TABLE oidc_used_tokens (
  organization_id uuid NOT NULL,
  token_hash text NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (organization_id, token_hash)
);
CREATE INDEX oidc_used_tokens_expires_at_idx ON oidc_used_tokens (expires_at);

-- Keys that sign tokens about credentials, for clouds that trust this deployment; the private half is sealed. A few rows:
-- one key a year, and what is left of the one before.
CREATE TABLE identity_keys (
  kid text PRIMARY KEY,
  generation integer NOT NULL UNIQUE,
  public_key jsonb NOT NULL,
  master_key_version integer NOT NULL,
  sealed_key text NOT NULL,
  signs_from timestamptz NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);
`;
