/** Company sign-in: issuers, who their subjects are, and sign-ins that they vouch for. */
export const SSO = `
-- Issuers that an organization's people sign in with. sealed_data holds the client secret.
CREATE TABLE identity_providers (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  organization_id uuid NOT NULL REFERENCES organizations,
  name text NOT NULL,
  issuer text NOT NULL,
  client_id text NOT NULL,
  sealed_data jsonb NOT NULL,
  groups_claim text,
  email_domains text[] NOT NULL DEFAULT '{}',
  create_users boolean NOT NULL DEFAULT false,
  trusts_second_factor boolean NOT NULL DEFAULT false,
  is_enabled boolean NOT NULL DEFAULT true,
  last_error text,
  created_by_email text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (organization_id, id),
  UNIQUE (organization_id, name),
  -- a user who may create users decides whose mail addresses are people of the organization
  CONSTRAINT identity_providers_domains_check CHECK (NOT create_users OR cardinality(email_domains) > 0)
);
CREATE TRIGGER identity_providers_of_deleted_organization BEFORE INSERT ON identity_providers
  FOR EACH ROW EXECUTE FUNCTION refuse_in_deleted_organization();

-- What a group of the issuer makes of its members: role_id NULL means administrators.
CREATE TABLE group_mappings (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  organization_id uuid NOT NULL,
  provider_id uuid NOT NULL,
  group_name text NOT NULL,
  role_id uuid,
  UNIQUE NULLS NOT DISTINCT (provider_id, group_name, role_id),
  CONSTRAINT group_mappings_provider_fkey FOREIGN KEY (organization_id, provider_id)
    REFERENCES identity_providers (organization_id, id) ON DELETE CASCADE,
  CONSTRAINT group_mappings_role_fkey FOREIGN KEY (organization_id, role_id)
    REFERENCES roles (organization_id, id) ON DELETE CASCADE
);
CREATE INDEX group_mappings_role_id_idx ON group_mappings (role_id);

-- Who a subject of an issuer is. user_id NULL: waits for an administrator to link it, and goes after 30 days. linked_by: who did.
-- needs_second_factor: of a user who had signed in before, and has not confirmed it yet with the own second factor.
CREATE TABLE user_identities (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  organization_id uuid NOT NULL,
  provider_id uuid NOT NULL,
  subject text NOT NULL,
  user_id uuid,
  linked_by uuid,
  needs_second_factor boolean NOT NULL DEFAULT false,
  email text,
  name text,
  username text,
  claims_error text,
  last_seen_at timestamptz NOT NULL DEFAULT now(),
  created_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (provider_id, subject),
  CONSTRAINT user_identities_provider_fkey FOREIGN KEY (organization_id, provider_id)
    REFERENCES identity_providers (organization_id, id) ON DELETE CASCADE,
  CONSTRAINT user_identities_user_fkey FOREIGN KEY (organization_id, user_id)
    REFERENCES users (organization_id, id) ON DELETE CASCADE
);
CREATE INDEX user_identities_user_id_idx ON user_identities (user_id);
CREATE INDEX user_identities_unlinked_idx ON user_identities (last_seen_at) WHERE user_id IS NULL;

-- Sign-ins under way: from the redirect to the issuer (state) to the code of the client (code), and then to the second factor.
-- Each is NULL before and after its time, so that it is used once. They go with the sign-in, and ten minutes after they began.
CREATE TABLE sso_attempts (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  organization_id uuid NOT NULL,
  provider_id uuid NOT NULL,
  state_hash text UNIQUE,
  client_challenge text NOT NULL,
  returns_to text NOT NULL,
  code_hash text UNIQUE,
  identity_id uuid,
  second_factor_proven boolean NOT NULL DEFAULT false,
  sealed_data jsonb,
  expires_at timestamptz NOT NULL,
  CONSTRAINT sso_attempts_provider_fkey FOREIGN KEY (organization_id, provider_id)
    REFERENCES identity_providers (organization_id, id) ON DELETE CASCADE
);
CREATE INDEX sso_attempts_expires_at_idx ON sso_attempts (expires_at);

-- Sign-ins (families of refresh tokens) that an issuer vouches for, and when it is asked again. sealed_data holds the
-- issuer's refresh token; NULL: it gave none, and the sign-in ends after eight hours. asked_at is set before each request with
-- that token, and NULL once it was answered. They go with their refresh tokens.
CREATE TABLE sso_sign_ins (
  family_id uuid PRIMARY KEY,
  organization_id uuid NOT NULL,
  identity_id uuid NOT NULL REFERENCES user_identities ON DELETE CASCADE,
  user_id uuid NOT NULL,
  sealed_data jsonb,
  check_due_at timestamptz,
  checked_at timestamptz NOT NULL DEFAULT now(),
  asked_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT sso_sign_ins_user_fkey FOREIGN KEY (organization_id, user_id)
    REFERENCES users (organization_id, id) ON DELETE CASCADE
);
CREATE INDEX sso_sign_ins_check_due_at_idx ON sso_sign_ins (check_due_at);
CREATE INDEX sso_sign_ins_organization_id_idx ON sso_sign_ins (organization_id, check_due_at);
CREATE INDEX sso_sign_ins_user_id_idx ON sso_sign_ins (user_id);
CREATE INDEX sso_sign_ins_identity_id_idx ON sso_sign_ins (identity_id);

-- A recovery administrator exists while the organization asks for company sign-in.
ALTER TABLE organizations
  ADD CONSTRAINT organizations_recovery_administrator_fkey FOREIGN KEY (id, recovery_administrator_id)
    REFERENCES users (organization_id, id),
  ADD CONSTRAINT organizations_sso_check CHECK (NOT sso_required OR recovery_administrator_id IS NOT NULL);
`;
