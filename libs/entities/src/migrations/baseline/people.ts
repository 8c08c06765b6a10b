/** Organizations, their people and programs, and how those sign in. */
export const PEOPLE = `
-- A tenant: its plan and its rules for passwords and sign-ins. A deleted one loses secrets and personal data with its last
-- rule, and goes with its last session and audit record.
CREATE TABLE organizations (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  slug text NOT NULL UNIQUE,
  name text NOT NULL,
  subscription_tier text NOT NULL DEFAULT 'FREE',
  external_id uuid NOT NULL UNIQUE DEFAULT gen_random_uuid(),
  suspended_at timestamptz,
  suspended_reason text,
  mfa_required boolean NOT NULL DEFAULT false,
  password_min_length integer NOT NULL DEFAULT 8 CHECK (password_min_length BETWEEN 8 AND 128),
  password_require_uppercase boolean NOT NULL DEFAULT true,
  password_require_lowercase boolean NOT NULL DEFAULT true,
  password_require_digit boolean NOT NULL DEFAULT true,
  password_require_special_char boolean NOT NULL DEFAULT false,
  password_expiration_days integer CHECK (password_expiration_days BETWEEN 1 AND 365),
  require_detected_address boolean NOT NULL DEFAULT false,
  sso_required boolean NOT NULL DEFAULT false,
  recovery_administrator_id uuid,
  re_sign_in_grace_hours integer NOT NULL DEFAULT 24 CHECK (re_sign_in_grace_hours BETWEEN 0 AND 72),
  deleted_at timestamptz,
  closed_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT organizations_tier_check CHECK (subscription_tier IN ('FREE', 'PAID'))
);
CREATE INDEX organizations_deleted_idx ON organizations (closed_at) WHERE deleted_at IS NOT NULL;

-- What can be opened, and who can open it, begins with a row of users, credentials or resources. The insert waits for a
-- deletion that has locked the organization. 40001: the request is tried again, and then refused.
CREATE FUNCTION refuse_in_deleted_organization() RETURNS trigger LANGUAGE plpgsql AS $$
  DECLARE
    gone timestamptz;
  BEGIN
    SELECT deleted_at INTO gone FROM organizations WHERE id = NEW.organization_id FOR KEY SHARE;
    IF gone IS NOT NULL THEN
      RAISE EXCEPTION 'the organization is deleted' USING ERRCODE = '40001';
    END IF;
    RETURN NEW;
  END $$;

-- An organization's data keys, each wrapped by a version of the master key. They go when a deleted organization is closed.
CREATE TABLE data_keys (
  organization_id uuid NOT NULL,
  version integer NOT NULL,
  master_key_version integer NOT NULL,
  wrapped_key text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (organization_id, version)
);

-- People, and service users for programs. They stay: deleted ones give old sessions their names.
CREATE TABLE users (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  organization_id uuid NOT NULL REFERENCES organizations,
  email text NOT NULL,
  name text NOT NULL,
  password_hash text,
  is_service boolean NOT NULL DEFAULT false,
  is_org_admin boolean NOT NULL DEFAULT false,
  platform_role text NOT NULL DEFAULT 'CUSTOMER' CHECK (platform_role IN ('CUSTOMER', 'SUPPORT', 'SUPER_ADMIN')),
  is_active boolean NOT NULL DEFAULT true,
  last_login_at timestamptz,
  invited_at timestamptz,
  password_changed_at timestamptz NOT NULL DEFAULT now(),
  -- the administrator who has passed on the link by which the password was set, and so may know it
  password_link_by uuid,
  mfa_enabled boolean NOT NULL DEFAULT false,
  mfa_sealed_secret text,
  mfa_last_step bigint,
  notices_off text[] NOT NULL DEFAULT '{}',
  -- the issuer no longer vouches for the user: until the next company sign-in no API key is accepted, and no session started
  sso_refused_at timestamptz,
  -- the issuer's own session is over, and no other sign-in is left: access ends re_sign_in_grace_hours later
  sso_session_over_at timestamptz,
  deleted_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (organization_id, id),
  -- a service user has nothing to sign in with, and administers nothing, whatever a program asks
  CONSTRAINT users_service_check CHECK (NOT is_service OR (NOT is_org_admin AND platform_role = 'CUSTOMER'
    AND password_hash IS NULL AND mfa_sealed_secret IS NULL AND NOT mfa_enabled))
);
CREATE UNIQUE INDEX users_one_per_email ON users (organization_id, email) WHERE deleted_at IS NULL;
CREATE INDEX users_email_idx ON users (email);
CREATE INDEX users_sso_session_over_at_idx ON users (sso_session_over_at) WHERE sso_session_over_at IS NOT NULL;
CREATE TRIGGER users_of_deleted_organization BEFORE INSERT ON users
  FOR EACH ROW EXECUTE FUNCTION refuse_in_deleted_organization();

-- What is locked down: an organization or one of its users, whose id is the subject. Nothing of it is started meanwhile. It
-- goes when it is lifted, or when a deleted organization is closed.
CREATE TABLE lockdowns (
  subject_id uuid PRIMARY KEY,
  organization_id uuid NOT NULL REFERENCES organizations ON DELETE CASCADE,
  declared_by uuid NOT NULL,
  reason text NOT NULL,
  static_rules boolean NOT NULL DEFAULT false,
  administrator_ids uuid[] NOT NULL,
  declared_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX lockdowns_organization_id_idx ON lockdowns (organization_id);

-- Hashes of refresh tokens; the tokens of one sign-in are a family. They go a day after they expired.
CREATE TABLE refresh_tokens (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  organization_id uuid NOT NULL,
  user_id uuid NOT NULL,
  family_id uuid NOT NULL,
  token_hash text NOT NULL UNIQUE,
  mfa_setup_only boolean NOT NULL DEFAULT false,
  signed_in_at timestamptz NOT NULL,
  stepped_up_at timestamptz,
  ip_address text,
  user_agent text,
  expires_at timestamptz NOT NULL,
  used_at timestamptz,
  superseded_at timestamptz,
  revoked_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT refresh_tokens_user_fkey FOREIGN KEY (organization_id, user_id)
    REFERENCES users (organization_id, id) ON DELETE CASCADE
);
CREATE INDEX refresh_tokens_family_id_idx ON refresh_tokens (family_id);
CREATE INDEX refresh_tokens_user_id_idx ON refresh_tokens (user_id);
CREATE INDEX refresh_tokens_expires_at_idx ON refresh_tokens (expires_at);

-- Hashes of API keys and what each may do. They stay, revoked ones too.
CREATE TABLE api_keys (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  organization_id uuid NOT NULL,
  user_id uuid NOT NULL,
  name text NOT NULL,
  description text,
  key_prefix text NOT NULL,
  key_hash text NOT NULL UNIQUE,
  scopes text[] NOT NULL,
  agents text[] NOT NULL DEFAULT '{}',
  expires_at timestamptz,
  told_end timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz,
  last_used_ip text,
  created_by_email text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT api_keys_user_fkey FOREIGN KEY (organization_id, user_id)
    REFERENCES users (organization_id, id) ON DELETE CASCADE
);
CREATE INDEX api_keys_organization_id_idx ON api_keys (organization_id, created_at);
CREATE INDEX api_keys_ends_idx ON api_keys (expires_at) WHERE revoked_at IS NULL AND told_end IS NULL;

-- Failed attempts at one secret, from any address, of unknown accounts too. They go a day after the last failure.
CREATE TABLE sign_in_failures (
  account_key text PRIMARY KEY,
  failures integer NOT NULL,
  last_failed_at timestamptz NOT NULL,
  locked_until timestamptz
);
CREATE INDEX sign_in_failures_last_failed_at_idx ON sign_in_failures (last_failed_at);

-- Devices that have signed in to an account: their attempts are counted separately. They go a day after they expired.
CREATE TABLE known_devices (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  organization_id uuid NOT NULL,
  user_id uuid NOT NULL,
  token_hash text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  UNIQUE (token_hash, user_id),
  CONSTRAINT known_devices_user_fkey FOREIGN KEY (organization_id, user_id)
    REFERENCES users (organization_id, id) ON DELETE CASCADE
);
CREATE INDEX known_devices_user_id_idx ON known_devices (user_id, expires_at);
CREATE INDEX known_devices_expires_at_idx ON known_devices (expires_at);

-- The second step of a sign-in. It goes a day after it expired.
CREATE TABLE mfa_challenges (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  organization_id uuid NOT NULL,
  user_id uuid NOT NULL,
  tries integer NOT NULL DEFAULT 0,
  expires_at timestamptz NOT NULL,
  used_at timestamptz,
  CONSTRAINT mfa_challenges_user_fkey FOREIGN KEY (organization_id, user_id)
    REFERENCES users (organization_id, id) ON DELETE CASCADE
);
CREATE INDEX mfa_challenges_expires_at_idx ON mfa_challenges (expires_at);

-- Hashes of one-time codes that replace a lost authenticator. They stay until others replace them.
CREATE TABLE recovery_codes (
  user_id uuid NOT NULL,
  code_hash text NOT NULL,
  organization_id uuid NOT NULL,
  used_at timestamptz,
  PRIMARY KEY (user_id, code_hash),
  CONSTRAINT recovery_codes_user_fkey FOREIGN KEY (organization_id, user_id)
    REFERENCES users (organization_id, id) ON DELETE CASCADE
);

-- Hashes of single-use tokens to set a password. They go a day after they expired.
CREATE TABLE account_tokens (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  organization_id uuid NOT NULL,
  user_id uuid NOT NULL,
  purpose text NOT NULL CHECK (purpose IN ('RESET', 'INVITE', 'PASSWORD_CHANGE')),
  token_hash text NOT NULL UNIQUE,
  expires_at timestamptz NOT NULL,
  used_at timestamptz,
  -- the administrator who passes it on; NULL: it was mailed to the user, or is no link for a new password
  passed_on_by uuid,
  created_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT account_tokens_user_fkey FOREIGN KEY (organization_id, user_id)
    REFERENCES users (organization_id, id) ON DELETE CASCADE
);
CREATE INDEX account_tokens_user_id_idx ON account_tokens (user_id);
CREATE INDEX account_tokens_expires_at_idx ON account_tokens (expires_at);

-- What a group of users may open, for how long, and what is asked of them. approver_role_ids empty: administrators decide.
-- Roles stay until they are deleted.
CREATE TABLE roles (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  organization_id uuid NOT NULL REFERENCES organizations,
  name text NOT NULL,
  description text,
  max_session_duration_hours integer CHECK (max_session_duration_hours BETWEEN 1 AND 24),
  require_reason boolean NOT NULL DEFAULT false,
  reason_pattern text,
  approvals integer NOT NULL DEFAULT 0 CHECK (approvals BETWEEN 0 AND 2),
  approver_role_ids uuid[] NOT NULL DEFAULT '{}',
  may_break_glass boolean NOT NULL DEFAULT false,
  ipv6_prefix_length integer NOT NULL DEFAULT 128 CHECK (ipv6_prefix_length BETWEEN 64 AND 128),
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (organization_id, id),
  UNIQUE (organization_id, name)
);

-- Which users have a role. The user is first in the key: each session start looks up a user's roles.
CREATE TABLE role_users (
  user_id uuid NOT NULL,
  role_id uuid NOT NULL,
  organization_id uuid NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (user_id, role_id),
  CONSTRAINT role_users_user_fkey FOREIGN KEY (organization_id, user_id)
    REFERENCES users (organization_id, id) ON DELETE CASCADE,
  CONSTRAINT role_users_role_fkey FOREIGN KEY (organization_id, role_id)
    REFERENCES roles (organization_id, id) ON DELETE CASCADE
);
`;
