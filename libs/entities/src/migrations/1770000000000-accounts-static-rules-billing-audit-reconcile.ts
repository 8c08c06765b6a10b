import type { MigrationInterface, QueryRunner } from 'typeorm';

const UP = [
  `CREATE FUNCTION current_transaction() RETURNS bigint LANGUAGE sql VOLATILE
    AS 'SELECT pg_current_xact_id()::text::bigint'`,
  `ALTER TABLE resource_health_events DROP CONSTRAINT resource_health_events_resource_fkey`,
  `ALTER TABLE resource_ips DROP CONSTRAINT resource_ips_resource_fkey`,
  `ALTER TABLE users DROP CONSTRAINT users_organization_id_email_key`,
  `CREATE TABLE audit_seals (
      organization_id uuid NOT NULL,
      position bigint NOT NULL,
      record_id uuid NOT NULL,
      hash text NOT NULL,
      CONSTRAINT audit_seals_record_id_key UNIQUE (record_id),
      PRIMARY KEY (organization_id, position)
    )`,
  `CREATE TABLE audit_seal_cursor (
      id integer NOT NULL,
      transaction_id bigint NOT NULL,
      sequence bigint NOT NULL,
      CONSTRAINT audit_seal_cursor_one_row CHECK (id = 1),
      PRIMARY KEY (id)
    )`,
  `CREATE TABLE billing_details (
      organization_id uuid NOT NULL,
      company_name text,
      billing_contact_name text,
      billing_email text,
      billing_address_line1 text,
      billing_address_line2 text,
      billing_city text,
      billing_postal_code text,
      billing_state text,
      billing_country text,
      vat_number text,
      updated_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (organization_id)
    )`,
  `CREATE TABLE subscriptions (
      id uuid NOT NULL DEFAULT gen_random_uuid(),
      organization_id uuid NOT NULL,
      plan_id uuid NOT NULL,
      status text NOT NULL DEFAULT 'PENDING',
      price_cents integer NOT NULL,
      currency text NOT NULL,
      current_period_start timestamptz,
      current_period_end timestamptz,
      grace_period_end timestamptz,
      cancel_at_period_end boolean NOT NULL DEFAULT false,
      adapter text NOT NULL,
      checkout_reference text,
      adapter_reference text,
      created_at timestamptz NOT NULL DEFAULT now(),
      updated_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT subscriptions_organization_id_id_key UNIQUE (organization_id, id),
      CONSTRAINT subscriptions_status_check CHECK (status IN ('PENDING', 'ACTIVE', 'PAST_DUE', 'CANCELLED', 'EXPIRED')),
      PRIMARY KEY (id)
    )`,
  `CREATE INDEX subscriptions_adapter_reference_idx ON subscriptions (adapter, adapter_reference)`,
  `CREATE INDEX subscriptions_checkout_reference_idx ON subscriptions (adapter, checkout_reference)`,
  `CREATE UNIQUE INDEX subscriptions_one_current ON subscriptions (organization_id) WHERE status <> 'EXPIRED'`,
  `CREATE TABLE payments (
      id uuid NOT NULL DEFAULT gen_random_uuid(),
      organization_id uuid NOT NULL,
      subscription_id uuid NOT NULL,
      amount_cents integer NOT NULL,
      currency text NOT NULL,
      status text NOT NULL,
      adapter_reference text,
      created_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT payments_status_check CHECK (status IN ('SUCCEEDED', 'FAILED')),
      PRIMARY KEY (id)
    )`,
  `CREATE INDEX payments_organization_id_idx ON payments (organization_id, created_at)`,
  `CREATE TABLE payment_events (
      adapter text NOT NULL,
      event_id text NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (adapter, event_id)
    )`,
  `CREATE TABLE static_ip_rules (
      id uuid NOT NULL DEFAULT gen_random_uuid(),
      organization_id uuid NOT NULL,
      label text NOT NULL,
      ip_address text NOT NULL,
      created_by_email text NOT NULL,
      deleted_at timestamptz,
      created_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT static_ip_rules_organization_id_id_key UNIQUE (organization_id, id),
      PRIMARY KEY (id)
    )`,
  `CREATE INDEX static_ip_rules_organization_id_idx ON static_ip_rules (organization_id, created_at)`,
  `CREATE TABLE idempotency_keys (
      user_id uuid NOT NULL,
      key text NOT NULL,
      organization_id uuid NOT NULL,
      request_hash text NOT NULL,
      answer jsonb,
      created_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (user_id, key)
    )`,
  `CREATE INDEX idempotency_keys_created_at_idx ON idempotency_keys (created_at)`,
  `CREATE TABLE sign_in_failures (
      account_key text NOT NULL,
      failures integer NOT NULL,
      last_failed_at timestamptz NOT NULL,
      locked_until timestamptz,
      PRIMARY KEY (account_key)
    )`,
  `CREATE TABLE mfa_challenges (
      id uuid NOT NULL DEFAULT gen_random_uuid(),
      organization_id uuid NOT NULL,
      user_id uuid NOT NULL,
      tries integer NOT NULL DEFAULT 0,
      expires_at timestamptz NOT NULL,
      used_at timestamptz,
      PRIMARY KEY (id)
    )`,
  `CREATE TABLE recovery_codes (
      user_id uuid NOT NULL,
      code_hash text NOT NULL,
      organization_id uuid NOT NULL,
      used_at timestamptz,
      PRIMARY KEY (user_id, code_hash)
    )`,
  `CREATE TABLE account_tokens (
      id uuid NOT NULL DEFAULT gen_random_uuid(),
      organization_id uuid NOT NULL,
      user_id uuid NOT NULL,
      purpose text NOT NULL,
      token_hash text NOT NULL,
      expires_at timestamptz NOT NULL,
      used_at timestamptz,
      created_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT account_tokens_token_hash_key UNIQUE (token_hash),
      CONSTRAINT account_tokens_purpose_check CHECK (purpose IN ('RESET', 'INVITE', 'PASSWORD_CHANGE')),
      PRIMARY KEY (id)
    )`,
  `CREATE INDEX account_tokens_user_id_idx ON account_tokens (user_id)`,
  `ALTER TABLE audit_records ADD transaction_id bigint NOT NULL DEFAULT current_transaction()`,
  `ALTER TABLE organizations ADD suspended_reason text`,
  `ALTER TABLE organizations ADD mfa_required boolean NOT NULL DEFAULT false`,
  `ALTER TABLE organizations ADD password_min_length integer NOT NULL DEFAULT 8`,
  `ALTER TABLE organizations ADD password_require_uppercase boolean NOT NULL DEFAULT true`,
  `ALTER TABLE organizations ADD password_require_lowercase boolean NOT NULL DEFAULT true`,
  `ALTER TABLE organizations ADD password_require_digit boolean NOT NULL DEFAULT true`,
  `ALTER TABLE organizations ADD password_require_special_char boolean NOT NULL DEFAULT false`,
  `ALTER TABLE organizations ADD password_expiration_days integer`,
  `ALTER TABLE credentials ADD check_due_at timestamptz DEFAULT now()`,
  `ALTER TABLE credentials ADD check_attempts integer NOT NULL DEFAULT 0`,
  `ALTER TABLE resources ADD verify_due_at timestamptz`,
  `ALTER TABLE resources ADD suspended_by_check boolean NOT NULL DEFAULT false`,
  `ALTER TABLE resources ADD deleted_at timestamptz`,
  `ALTER TABLE resources ADD revision integer NOT NULL DEFAULT 0`,
  `ALTER TABLE resource_ips ADD pending_since timestamptz NOT NULL DEFAULT now()`,
  `ALTER TABLE users ADD password_changed_at timestamptz NOT NULL DEFAULT now()`,
  `ALTER TABLE users ADD mfa_enabled boolean NOT NULL DEFAULT false`,
  `ALTER TABLE users ADD mfa_sealed_secret text`,
  `ALTER TABLE users ADD mfa_last_step bigint`,
  `ALTER TABLE users ADD deleted_at timestamptz`,
  `ALTER TABLE refresh_tokens ADD mfa_setup_only boolean NOT NULL DEFAULT false`,
  `ALTER TABLE resource_ips ADD static_ip_rule_id uuid`,
  `ALTER TABLE resource_ips ADD resource_name text NOT NULL DEFAULT ''`,
  `ALTER TABLE resource_ips ADD overdue_at timestamptz`,
  `ALTER TABLE resource_ips ALTER COLUMN session_id DROP NOT NULL`,
  `CREATE INDEX audit_records_transaction_id_idx ON audit_records (transaction_id, sequence)`,
  `DROP INDEX audit_records_organization_id_idx`,
  `CREATE INDEX audit_records_organization_id_idx ON audit_records (organization_id, timestamp, sequence)`,
  `CREATE INDEX resource_health_events_resource_id_idx ON resource_health_events (resource_id, created_at)`,
  `CREATE INDEX credentials_check_due_idx ON credentials (check_due_at) WHERE check_due_at IS NOT NULL`,
  `CREATE INDEX resources_deleted_idx ON resources (id) WHERE deleted_at IS NOT NULL`,
  `CREATE INDEX static_ip_rules_deleted_idx ON static_ip_rules (id) WHERE deleted_at IS NOT NULL`,
  `CREATE INDEX resource_ips_removed_entries_idx ON resource_ips (id)
    WHERE static_ip_rule_id IS NOT NULL AND status = 'REMOVED'`,
  `CREATE INDEX resources_verify_due_idx ON resources (verify_due_at) WHERE deleted_at IS NULL`,
  `CREATE UNIQUE INDEX users_one_per_email ON users (organization_id, email) WHERE deleted_at IS NULL`,
  `CREATE INDEX resource_ips_static_ip_rule_id_idx ON resource_ips (static_ip_rule_id) WHERE static_ip_rule_id IS NOT NULL`,
  `ALTER TABLE organizations ADD CONSTRAINT organizations_password_expiration_days_check CHECK (password_expiration_days BETWEEN 1 AND 365)`,
  `ALTER TABLE organizations ADD CONSTRAINT organizations_password_min_length_check CHECK (password_min_length BETWEEN 8 AND 128)`,
  `ALTER TABLE resource_ips ADD CONSTRAINT resource_ips_owner_check CHECK ((session_id IS NULL) <> (static_ip_rule_id IS NULL))`,
  `ALTER TABLE audit_seals
      ADD CONSTRAINT audit_seals_record_id_fkey FOREIGN KEY (record_id)
      REFERENCES audit_records(id)`,
  `ALTER TABLE billing_details
      ADD CONSTRAINT billing_details_organization_id_fkey FOREIGN KEY (organization_id)
      REFERENCES organizations(id)`,
  `ALTER TABLE subscriptions
      ADD CONSTRAINT subscriptions_organization_id_fkey FOREIGN KEY (organization_id)
      REFERENCES organizations(id)`,
  `ALTER TABLE payments
      ADD CONSTRAINT payments_subscription_fkey FOREIGN KEY (organization_id, subscription_id)
      REFERENCES subscriptions(organization_id,id)`,
  `ALTER TABLE resource_health_events
      ADD CONSTRAINT resource_health_events_resource_fkey FOREIGN KEY (organization_id, resource_id)
      REFERENCES resources(organization_id,id) ON DELETE CASCADE`,
  `ALTER TABLE static_ip_rules
      ADD CONSTRAINT static_ip_rules_organization_id_fkey FOREIGN KEY (organization_id)
      REFERENCES organizations(id)`,
  `ALTER TABLE resource_ips
      ADD CONSTRAINT resource_ips_static_ip_rule_fkey FOREIGN KEY (organization_id, static_ip_rule_id)
      REFERENCES static_ip_rules(organization_id,id) ON DELETE CASCADE`,
  `ALTER TABLE idempotency_keys
      ADD CONSTRAINT idempotency_keys_user_fkey FOREIGN KEY (organization_id, user_id)
      REFERENCES users(organization_id,id) ON DELETE CASCADE`,
  `ALTER TABLE mfa_challenges
      ADD CONSTRAINT mfa_challenges_user_fkey FOREIGN KEY (organization_id, user_id)
      REFERENCES users(organization_id,id) ON DELETE CASCADE`,
  `ALTER TABLE recovery_codes
      ADD CONSTRAINT recovery_codes_user_fkey FOREIGN KEY (organization_id, user_id)
      REFERENCES users(organization_id,id) ON DELETE CASCADE`,
  `ALTER TABLE account_tokens
      ADD CONSTRAINT account_tokens_user_fkey FOREIGN KEY (organization_id, user_id)
      REFERENCES users(organization_id,id) ON DELETE CASCADE`,
  `ALTER TABLE targets ADD reconcile_due_at timestamptz NOT NULL DEFAULT now()`,
  `ALTER TABLE targets ADD reconcile_requested boolean NOT NULL DEFAULT false`,
  `CREATE INDEX targets_reconcile_due_idx ON targets (reconcile_due_at)`,
  `ALTER TABLE rules ADD lost_count integer NOT NULL DEFAULT 0`,
  `ALTER TABLE rules ADD lost_at timestamptz`,
  `ALTER TABLE rules ADD target_missing_since timestamptz`,
  `ALTER TABLE rules ADD closing boolean NOT NULL DEFAULT false`,
  `CREATE INDEX resources_credential_id_idx ON resources (credential_id)`,
  `CREATE INDEX rules_target_due_idx ON rules (target_id, due_at) WHERE due_at IS NOT NULL`,
  `ALTER TABLE resource_ips ADD released_at timestamptz`,
  `CREATE INDEX resource_ips_removing_idx ON resource_ips (released_at) WHERE status = 'REMOVING'`,
  `UPDATE resource_ips SET released_at = now() WHERE status = 'REMOVING'`,
  `UPDATE resource_ips ip SET resource_name = r.name FROM resources r WHERE r.id = ip.resource_id`,
  `CREATE OR REPLACE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      RAISE EXCEPTION '% are append-only', replace(TG_TABLE_NAME, '_', ' ');
    END
  $$`,
  `CREATE TRIGGER audit_seals_append_only BEFORE UPDATE OR DELETE ON audit_seals
    FOR EACH ROW EXECUTE FUNCTION refuse_audit_change()`,
  `CREATE TRIGGER audit_seals_never_truncated BEFORE TRUNCATE ON audit_seals
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change()`,
  `CREATE TRIGGER audit_records_never_truncated BEFORE TRUNCATE ON audit_records
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change()`,
];

const DOWN = [
  `DROP TRIGGER audit_records_never_truncated ON audit_records`,
  `DELETE FROM resource_ips WHERE session_id IS NULL`,
  `ALTER TABLE resource_ips DROP CONSTRAINT resource_ips_owner_check`,
  `ALTER TABLE resource_ips DROP COLUMN static_ip_rule_id, DROP COLUMN resource_name, DROP COLUMN pending_since, DROP COLUMN overdue_at, DROP COLUMN released_at`,
  `ALTER TABLE resource_ips ALTER COLUMN session_id SET NOT NULL`,
  `DELETE FROM resource_ips ip WHERE NOT EXISTS (SELECT FROM resources r WHERE r.id = ip.resource_id)`,
  `ALTER TABLE resource_ips ADD CONSTRAINT resource_ips_resource_fkey FOREIGN KEY (organization_id, resource_id)
      REFERENCES resources(organization_id, id)`,
  `ALTER TABLE resource_health_events DROP CONSTRAINT resource_health_events_resource_fkey`,
  `ALTER TABLE resource_health_events ADD CONSTRAINT resource_health_events_resource_fkey
      FOREIGN KEY (organization_id, resource_id) REFERENCES resources(organization_id, id)`,
  `DROP INDEX users_one_per_email`,
  `ALTER TABLE users ADD CONSTRAINT users_organization_id_email_key UNIQUE (organization_id, email)`,
  `ALTER TABLE audit_records DROP COLUMN transaction_id`,
  `DROP INDEX audit_records_organization_id_idx`,
  `CREATE UNIQUE INDEX audit_records_organization_id_idx ON audit_records (organization_id, sequence)`,
  `DROP INDEX resource_health_events_resource_id_idx`,
  `ALTER TABLE organizations DROP COLUMN suspended_reason, DROP COLUMN mfa_required, DROP COLUMN password_min_length, DROP COLUMN password_require_uppercase, DROP COLUMN password_require_lowercase, DROP COLUMN password_require_digit, DROP COLUMN password_require_special_char, DROP COLUMN password_expiration_days`,
  `ALTER TABLE credentials DROP COLUMN check_due_at, DROP COLUMN check_attempts`,
  `ALTER TABLE resources DROP COLUMN verify_due_at, DROP COLUMN suspended_by_check, DROP COLUMN deleted_at, DROP COLUMN revision`,
  `ALTER TABLE users DROP COLUMN password_changed_at, DROP COLUMN mfa_enabled, DROP COLUMN mfa_sealed_secret, DROP COLUMN mfa_last_step, DROP COLUMN deleted_at`,
  `ALTER TABLE refresh_tokens DROP COLUMN mfa_setup_only`,
  `DROP INDEX resources_credential_id_idx`,
  `DROP INDEX rules_target_due_idx`,
  `ALTER TABLE rules DROP COLUMN lost_count, DROP COLUMN lost_at, DROP COLUMN target_missing_since, DROP COLUMN closing`,
  `ALTER TABLE targets DROP COLUMN reconcile_due_at, DROP COLUMN reconcile_requested`,
  `DROP TABLE audit_seals, audit_seal_cursor, billing_details, subscriptions, payments, payment_events, static_ip_rules, idempotency_keys, sign_in_failures, mfa_challenges, recovery_codes, account_tokens CASCADE`,
  `DROP FUNCTION current_transaction`,
];

export class AccountsStaticRulesBillingAuditReconcile1770000000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of UP) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const statement of DOWN) await runner.query(statement);
  }
}
