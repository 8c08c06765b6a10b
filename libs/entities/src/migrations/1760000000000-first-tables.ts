import type { MigrationInterface, QueryRunner } from 'typeorm';

const TABLES = [
  `CREATE TABLE audit_records (
      id uuid NOT NULL DEFAULT gen_random_uuid(),
      organization_id uuid NOT NULL,
      sequence bigserial NOT NULL,
      event_type text NOT NULL,
      timestamp timestamptz NOT NULL DEFAULT now(),
      actor_type text NOT NULL,
      actor_id uuid,
      actor_email text,
      resource_type text,
      resource_id uuid,
      resource_name text,
      result text NOT NULL DEFAULT 'SUCCESS',
      ip_address text,
      error_message text,
      details jsonb NOT NULL DEFAULT '{}',
      CONSTRAINT audit_records_result_check CHECK (result IN ('SUCCESS', 'FAILURE')),
      CONSTRAINT audit_records_actor_type_check CHECK (actor_type IN ('USER', 'API_KEY', 'SYSTEM', 'AGENT')),
      PRIMARY KEY (id)
    )`,
  `CREATE UNIQUE INDEX audit_records_organization_id_idx ON audit_records (organization_id, sequence)`,
  `CREATE TABLE organizations (
      id uuid NOT NULL DEFAULT gen_random_uuid(),
      slug text NOT NULL,
      name text NOT NULL,
      subscription_tier text NOT NULL DEFAULT 'FREE',
      external_id uuid NOT NULL DEFAULT gen_random_uuid(),
      suspended_at timestamptz,
      created_at timestamptz NOT NULL DEFAULT now(),
      updated_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT organizations_external_id_key UNIQUE (external_id),
      CONSTRAINT organizations_slug_key UNIQUE (slug),
      CONSTRAINT organizations_tier_check CHECK (subscription_tier IN ('FREE', 'PAID')),
      PRIMARY KEY (id)
    )`,
  `CREATE TABLE data_keys (
      organization_id uuid NOT NULL,
      version integer NOT NULL,
      master_key_version integer NOT NULL,
      wrapped_key text NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (organization_id, version)
    )`,
  `CREATE TABLE targets (
      id uuid NOT NULL DEFAULT gen_random_uuid(),
      provider text NOT NULL,
      key text NOT NULL,
      resource_type text NOT NULL,
      identifier text NOT NULL,
      lease_until timestamptz,
      lease_generation bigint NOT NULL DEFAULT 0,
      last_write_at timestamptz,
      last_write_size integer NOT NULL DEFAULT 0,
      created_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT targets_key_key UNIQUE (key),
      PRIMARY KEY (id)
    )`,
  `CREATE TABLE rules (
      id uuid NOT NULL DEFAULT gen_random_uuid(),
      target_id uuid NOT NULL,
      key text NOT NULL,
      address text NOT NULL,
      protocol text NOT NULL,
      ports text NOT NULL,
      state text NOT NULL DEFAULT 'absent',
      is_foreign boolean NOT NULL DEFAULT false,
      provider_rule_id text,
      credential_id uuid,
      region text,
      due_at timestamptz,
      revision integer NOT NULL DEFAULT 0,
      attempts integer NOT NULL DEFAULT 0,
      in_flight_until timestamptz,
      last_error text,
      created_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT rules_target_id_key_key UNIQUE (target_id, key),
      CONSTRAINT rules_state_check CHECK (state IN ('absent', 'unknown', 'present')),
      PRIMARY KEY (id)
    )`,
  `CREATE INDEX rules_due_idx ON rules (due_at) WHERE due_at IS NOT NULL`,
  `CREATE TABLE write_budgets (
      account_key text NOT NULL,
      tokens double precision NOT NULL,
      refilled_at timestamptz NOT NULL,
      PRIMARY KEY (account_key)
    )`,
  `CREATE TABLE credentials (
      id uuid NOT NULL DEFAULT gen_random_uuid(),
      organization_id uuid NOT NULL,
      name text NOT NULL,
      provider text NOT NULL,
      credential_type text NOT NULL,
      hints jsonb NOT NULL DEFAULT '{}',
      sealed_data jsonb NOT NULL,
      is_valid boolean,
      last_verified_at timestamptz,
      verification_error text,
      created_at timestamptz NOT NULL DEFAULT now(),
      updated_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT credentials_organization_id_id_key UNIQUE (organization_id, id),
      PRIMARY KEY (id)
    )`,
  `CREATE TABLE resources (
      id uuid NOT NULL DEFAULT gen_random_uuid(),
      organization_id uuid NOT NULL,
      name text NOT NULL,
      credential_id uuid NOT NULL,
      provider text NOT NULL,
      resource_type text NOT NULL,
      resource_identifier text NOT NULL,
      region text,
      config jsonb NOT NULL DEFAULT '{}',
      is_active boolean NOT NULL DEFAULT false,
      last_verified_at timestamptz,
      target_id uuid NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      updated_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT resources_organization_id_id_key UNIQUE (organization_id, id),
      PRIMARY KEY (id)
    )`,
  `CREATE INDEX resources_target_id_idx ON resources (target_id)`,
  `CREATE TABLE resource_health_events (
      id uuid NOT NULL DEFAULT gen_random_uuid(),
      organization_id uuid NOT NULL,
      resource_id uuid NOT NULL,
      event_type text NOT NULL,
      message text,
      created_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (id)
    )`,
  `CREATE INDEX resource_health_events_organization_id_idx ON resource_health_events (organization_id, created_at)`,
  `CREATE TABLE users (
      id uuid NOT NULL DEFAULT gen_random_uuid(),
      organization_id uuid NOT NULL,
      email text NOT NULL,
      name text NOT NULL,
      password_hash text,
      is_org_admin boolean NOT NULL DEFAULT false,
      platform_role text NOT NULL DEFAULT 'CUSTOMER',
      is_active boolean NOT NULL DEFAULT true,
      last_login_at timestamptz,
      created_at timestamptz NOT NULL DEFAULT now(),
      updated_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT users_organization_id_email_key UNIQUE (organization_id, email),
      CONSTRAINT users_organization_id_id_key UNIQUE (organization_id, id),
      CONSTRAINT users_platform_role_check CHECK (platform_role IN ('CUSTOMER', 'SUPPORT', 'SUPER_ADMIN')),
      PRIMARY KEY (id)
    )`,
  `CREATE INDEX users_email_idx ON users (email)`,
  `CREATE TABLE refresh_tokens (
      id uuid NOT NULL DEFAULT gen_random_uuid(),
      organization_id uuid NOT NULL,
      user_id uuid NOT NULL,
      family_id uuid NOT NULL,
      token_hash text NOT NULL,
      expires_at timestamptz NOT NULL,
      used_at timestamptz,
      revoked_at timestamptz,
      created_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT refresh_tokens_token_hash_key UNIQUE (token_hash),
      PRIMARY KEY (id)
    )`,
  `CREATE INDEX refresh_tokens_family_id_idx ON refresh_tokens (family_id)`,
  `CREATE TABLE api_keys (
      id uuid NOT NULL DEFAULT gen_random_uuid(),
      organization_id uuid NOT NULL,
      user_id uuid NOT NULL,
      name text NOT NULL,
      description text,
      key_prefix text NOT NULL,
      key_hash text NOT NULL,
      scopes text[] NOT NULL,
      expires_at timestamptz,
      revoked_at timestamptz,
      last_used_at timestamptz,
      last_used_ip text,
      created_by_email text NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT api_keys_key_hash_key UNIQUE (key_hash),
      PRIMARY KEY (id)
    )`,
  `CREATE INDEX api_keys_organization_id_idx ON api_keys (organization_id, created_at)`,
  `CREATE TABLE roles (
      id uuid NOT NULL DEFAULT gen_random_uuid(),
      organization_id uuid NOT NULL,
      name text NOT NULL,
      description text,
      max_session_duration_hours integer,
      created_at timestamptz NOT NULL DEFAULT now(),
      updated_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT roles_organization_id_name_key UNIQUE (organization_id, name),
      CONSTRAINT roles_organization_id_id_key UNIQUE (organization_id, id),
      CONSTRAINT roles_max_session_duration_hours_check CHECK (max_session_duration_hours BETWEEN 1 AND 24),
      PRIMARY KEY (id)
    )`,
  `CREATE TABLE role_resources (
      role_id uuid NOT NULL,
      resource_id uuid NOT NULL,
      organization_id uuid NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (role_id, resource_id)
    )`,
  `CREATE TABLE role_users (
      user_id uuid NOT NULL,
      role_id uuid NOT NULL,
      organization_id uuid NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (user_id, role_id)
    )`,
  `CREATE TABLE sessions (
      id uuid NOT NULL DEFAULT gen_random_uuid(),
      organization_id uuid NOT NULL,
      user_id uuid NOT NULL,
      holder text NOT NULL DEFAULT '',
      ipv4_address text,
      ipv6_address text,
      status text NOT NULL DEFAULT 'PENDING',
      started_at timestamptz NOT NULL DEFAULT now(),
      expires_at timestamptz NOT NULL,
      ended_at timestamptz,
      ended_reason text,
      created_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT sessions_organization_id_id_key UNIQUE (organization_id, id),
      CONSTRAINT sessions_address_check CHECK (ipv4_address IS NOT NULL OR ipv6_address IS NOT NULL),
      CONSTRAINT sessions_status_check CHECK (status IN ('PENDING', 'ACTIVE', 'PARTIAL', 'FAILED', 'EXPIRING', 'EXPIRED', 'CANCELLED')),
      PRIMARY KEY (id)
    )`,
  `CREATE INDEX sessions_user_id_idx ON sessions (user_id, created_at)`,
  `CREATE INDEX sessions_organization_id_idx ON sessions (organization_id, created_at)`,
  `CREATE INDEX sessions_expiry_idx ON sessions (expires_at) WHERE status IN ('PENDING', 'ACTIVE', 'PARTIAL')`,
  `CREATE UNIQUE INDEX sessions_one_live_per_ipv6 ON sessions (user_id, ipv6_address, holder) WHERE ipv6_address IS NOT NULL AND status IN ('PENDING', 'ACTIVE', 'PARTIAL')`,
  `CREATE UNIQUE INDEX sessions_one_live_per_ipv4 ON sessions (user_id, ipv4_address, holder) WHERE ipv4_address IS NOT NULL AND status IN ('PENDING', 'ACTIVE', 'PARTIAL')`,
  `CREATE TABLE resource_ips (
      id uuid NOT NULL DEFAULT gen_random_uuid(),
      organization_id uuid NOT NULL,
      session_id uuid NOT NULL,
      resource_id uuid NOT NULL,
      ip_version integer NOT NULL,
      ip_address text NOT NULL,
      status text NOT NULL DEFAULT 'PENDING',
      provider_rule_id text,
      applied_at timestamptz,
      removed_at timestamptz,
      error_message text,
      created_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT resource_ips_organization_id_id_key UNIQUE (organization_id, id),
      CONSTRAINT resource_ips_status_check CHECK (status IN ('PENDING', 'APPLIED', 'FAILED', 'REMOVING', 'REMOVED')),
      PRIMARY KEY (id)
    )`,
  `CREATE INDEX resource_ips_resource_id_idx ON resource_ips (resource_id)`,
  `CREATE INDEX resource_ips_session_id_idx ON resource_ips (session_id)`,
  `CREATE TABLE rule_holders (
      rule_id uuid NOT NULL,
      resource_ip_id uuid NOT NULL,
      PRIMARY KEY (rule_id, resource_ip_id)
    )`,
  `CREATE INDEX rule_holders_resource_ip_id_idx ON rule_holders (resource_ip_id)`,
  `ALTER TABLE rules
      ADD CONSTRAINT rules_target_id_fkey FOREIGN KEY (target_id)
      REFERENCES targets(id)`,
  `ALTER TABLE credentials
      ADD CONSTRAINT credentials_organization_id_fkey FOREIGN KEY (organization_id)
      REFERENCES organizations(id)`,
  `ALTER TABLE resources
      ADD CONSTRAINT resources_organization_id_fkey FOREIGN KEY (organization_id)
      REFERENCES organizations(id)`,
  `ALTER TABLE resources
      ADD CONSTRAINT resources_target_id_fkey FOREIGN KEY (target_id)
      REFERENCES targets(id)`,
  `ALTER TABLE resources
      ADD CONSTRAINT resources_credential_fkey FOREIGN KEY (organization_id, credential_id)
      REFERENCES credentials(organization_id,id)`,
  `ALTER TABLE resource_health_events
      ADD CONSTRAINT resource_health_events_resource_fkey FOREIGN KEY (organization_id, resource_id)
      REFERENCES resources(organization_id,id)`,
  `ALTER TABLE users
      ADD CONSTRAINT users_organization_id_fkey FOREIGN KEY (organization_id)
      REFERENCES organizations(id)`,
  `ALTER TABLE refresh_tokens
      ADD CONSTRAINT refresh_tokens_user_fkey FOREIGN KEY (organization_id, user_id)
      REFERENCES users(organization_id,id) ON DELETE CASCADE`,
  `ALTER TABLE api_keys
      ADD CONSTRAINT api_keys_user_fkey FOREIGN KEY (organization_id, user_id)
      REFERENCES users(organization_id,id) ON DELETE CASCADE`,
  `ALTER TABLE roles
      ADD CONSTRAINT roles_organization_id_fkey FOREIGN KEY (organization_id)
      REFERENCES organizations(id)`,
  `ALTER TABLE role_resources
      ADD CONSTRAINT role_resources_resource_fkey FOREIGN KEY (organization_id, resource_id)
      REFERENCES resources(organization_id,id) ON DELETE CASCADE`,
  `ALTER TABLE role_resources
      ADD CONSTRAINT role_resources_role_fkey FOREIGN KEY (organization_id, role_id)
      REFERENCES roles(organization_id,id) ON DELETE CASCADE`,
  `ALTER TABLE role_users
      ADD CONSTRAINT role_users_user_fkey FOREIGN KEY (organization_id, user_id)
      REFERENCES users(organization_id,id) ON DELETE CASCADE`,
  `ALTER TABLE role_users
      ADD CONSTRAINT role_users_role_fkey FOREIGN KEY (organization_id, role_id)
      REFERENCES roles(organization_id,id) ON DELETE CASCADE`,
  `ALTER TABLE sessions
      ADD CONSTRAINT sessions_user_fkey FOREIGN KEY (organization_id, user_id)
      REFERENCES users(organization_id,id)`,
  `ALTER TABLE resource_ips
      ADD CONSTRAINT resource_ips_resource_fkey FOREIGN KEY (organization_id, resource_id)
      REFERENCES resources(organization_id,id)`,
  `ALTER TABLE resource_ips
      ADD CONSTRAINT resource_ips_session_fkey FOREIGN KEY (organization_id, session_id)
      REFERENCES sessions(organization_id,id) ON DELETE CASCADE`,
  `ALTER TABLE rule_holders
      ADD CONSTRAINT rule_holders_rule_id_fkey FOREIGN KEY (rule_id)
      REFERENCES rules(id)`,
  `ALTER TABLE rule_holders
      ADD CONSTRAINT rule_holders_resource_ip_id_fkey FOREIGN KEY (resource_ip_id)
      REFERENCES resource_ips(id) ON DELETE CASCADE`,
];

const APPEND_ONLY_AUDIT = [
  `CREATE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      RAISE EXCEPTION 'audit records are append-only';
    END
  $$`,
  `CREATE TRIGGER audit_records_append_only BEFORE UPDATE OR DELETE ON audit_records
    FOR EACH ROW EXECUTE FUNCTION refuse_audit_change()`,
];

export class FirstTables1760000000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [...TABLES, ...APPEND_ONLY_AUDIT]) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    const names = TABLES.map((statement) => /^CREATE TABLE (\w+)/.exec(statement)?.[1]).filter(Boolean);
    await runner.query(`DROP TABLE ${names.join(', ')} CASCADE`);
    await runner.query('DROP FUNCTION refuse_audit_change');
  }
}
