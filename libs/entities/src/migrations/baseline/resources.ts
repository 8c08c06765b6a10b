/** Targets in clouds and on hosts, the rules on them, and the credentials and resources that lead to them. */
export const RESOURCES = `
-- One security group, firewall or host by its name in the cloud. Belongs to no organization: resources of several may point
-- at it. Targets stay.
CREATE TABLE targets (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  provider text NOT NULL,
  key text NOT NULL UNIQUE,
  resource_type text NOT NULL,
  identifier text NOT NULL,
  lease_until timestamptz,
  lease_generation bigint NOT NULL DEFAULT 0,
  last_write_at timestamptz,
  last_write_size integer NOT NULL DEFAULT 0,
  was_short boolean NOT NULL DEFAULT false,
  in_flight_until timestamptz,
  reconcile_due_at timestamptz NOT NULL DEFAULT now(),
  reconcile_requested boolean NOT NULL DEFAULT false,
  compared_at timestamptz,
  unmanaged_digest text,
  unissued_removed_at timestamptz,
  accounted_to uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000',
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX targets_reconcile_due_idx ON targets (reconcile_due_at);

-- One rule that is desired, observed present, in doubt or due. It goes when it is observed absent, has no holder and no
-- write in flight.
CREATE TABLE rules (
  id uuid PRIMARY KEY DEFAULT issue_rule_id(),
  target_id uuid NOT NULL REFERENCES targets,
  key text NOT NULL,
  address text NOT NULL,
  protocol text NOT NULL,
  ports text NOT NULL,
  state text NOT NULL DEFAULT 'absent' CHECK (state IN ('absent', 'unknown', 'present')),
  is_unmanaged boolean NOT NULL DEFAULT false,
  provider_rule_id text,
  credential_id uuid,
  region text,
  due_at timestamptz,
  closing boolean NOT NULL DEFAULT false,
  revision integer NOT NULL DEFAULT 0,
  offered_revision integer,
  attempts integer NOT NULL DEFAULT 0,
  in_flight_until timestamptz,
  last_error text,
  lost_count integer NOT NULL DEFAULT 0,
  lost_at timestamptz,
  target_missing_since timestamptz,
  cause text,
  unwanted_since timestamptz,
  overdue_at timestamptz,
  possible_since timestamptz,
  present_since timestamptz,
  observed_at timestamptz,
  removal_sent_at timestamptz,
  is_missing boolean NOT NULL DEFAULT false,
  is_suspended boolean NOT NULL DEFAULT false,
  offered_until timestamptz,
  native_end_at timestamptz,
  accounted_to uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000',
  created_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (target_id, key)
);
CREATE INDEX rules_due_idx ON rules (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX rules_target_due_idx ON rules (target_id, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX rules_work_idx ON rules (accounted_to, ((NOT closing)::int * 2 + (attempts > 0)::int), due_at)
  WHERE due_at IS NOT NULL;
CREATE INDEX rules_unwanted_idx ON rules (overdue_at, unwanted_since) WHERE unwanted_since IS NOT NULL;
CREATE INDEX rules_native_end_idx ON rules (native_end_at) WHERE native_end_at IS NOT NULL;
CREATE INDEX rules_over_idx ON rules (id) WHERE state = 'absent' AND due_at IS NULL;

-- Rules of others that the last comparison of a target observed; the next one replaces them.
CREATE TABLE unmanaged_rules (
  target_id uuid NOT NULL REFERENCES targets ON DELETE CASCADE,
  key text NOT NULL,
  provider_rule_id text NOT NULL,
  possible_since timestamptz,
  present_since timestamptz NOT NULL,
  PRIMARY KEY (target_id, key, provider_rule_id)
);

-- Access to a cloud, its secrets sealed. A deleted credential goes with the last rule that was written with it.
CREATE TABLE credentials (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  organization_id uuid NOT NULL REFERENCES organizations,
  name text NOT NULL,
  provider text NOT NULL,
  credential_type text NOT NULL,
  hints jsonb NOT NULL DEFAULT '{}',
  sealed_data jsonb NOT NULL,
  is_valid boolean,
  last_verified_at timestamptz,
  verification_error text,
  check_due_at timestamptz DEFAULT now(),
  check_attempts integer NOT NULL DEFAULT 0,
  deleted_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (organization_id, id)
);
CREATE INDEX credentials_check_due_idx ON credentials (check_due_at) WHERE check_due_at IS NOT NULL;
CREATE INDEX credentials_deleted_idx ON credentials (check_due_at) WHERE deleted_at IS NOT NULL;
CREATE TRIGGER credentials_of_deleted_organization BEFORE INSERT ON credentials
  FOR EACH ROW EXECUTE FUNCTION refuse_in_deleted_organization();

-- What an organization opens: a target with a protocol and ports. A deleted resource goes with its last rule.
CREATE TABLE resources (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  organization_id uuid NOT NULL REFERENCES organizations,
  name text NOT NULL,
  credential_id uuid NOT NULL,
  provider text NOT NULL,
  resource_type text NOT NULL,
  resource_identifier text NOT NULL,
  region text,
  endpoint text,
  config jsonb NOT NULL DEFAULT '{}',
  is_active boolean NOT NULL DEFAULT false,
  last_verified_at timestamptz,
  verification_error text,
  target_verified_at timestamptz,
  guard_confirmed_at timestamptz,
  revision integer NOT NULL DEFAULT 0,
  verify_due_at timestamptz,
  suspended_by_check boolean NOT NULL DEFAULT false,
  write_verified boolean NOT NULL DEFAULT false,
  abandoned_at timestamptz,
  abandon_reason text,
  deleted_at timestamptz,
  target_id uuid NOT NULL REFERENCES targets,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (organization_id, id),
  CONSTRAINT resources_credential_fkey FOREIGN KEY (organization_id, credential_id)
    REFERENCES credentials (organization_id, id)
);
CREATE INDEX resources_target_id_idx ON resources (target_id);
CREATE INDEX resources_credential_id_idx ON resources (credential_id);
CREATE INDEX resources_deleted_idx ON resources (id) WHERE deleted_at IS NOT NULL;
CREATE INDEX resources_verify_due_idx ON resources (verify_due_at) WHERE deleted_at IS NULL;
CREATE TRIGGER resources_of_deleted_organization BEFORE INSERT ON resources
  FOR EACH ROW EXECUTE FUNCTION refuse_in_deleted_organization();

-- Which resources a role may open.
CREATE TABLE role_resources (
  role_id uuid NOT NULL,
  resource_id uuid NOT NULL,
  organization_id uuid NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (role_id, resource_id),
  CONSTRAINT role_resources_role_fkey FOREIGN KEY (organization_id, role_id)
    REFERENCES roles (organization_id, id) ON DELETE CASCADE,
  CONSTRAINT role_resources_resource_fkey FOREIGN KEY (organization_id, resource_id)
    REFERENCES resources (organization_id, id) ON DELETE CASCADE
);

-- Outcomes of verifications and reconciliations. They go after HEALTH_EVENT_RETENTION_DAYS, but for each resource's newest.
CREATE TABLE resource_health_events (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  organization_id uuid NOT NULL,
  resource_id uuid NOT NULL,
  event_type text NOT NULL,
  message text,
  created_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT resource_health_events_resource_fkey FOREIGN KEY (organization_id, resource_id)
    REFERENCES resources (organization_id, id) ON DELETE CASCADE
);
CREATE INDEX resource_health_events_organization_id_idx ON resource_health_events (organization_id, created_at);
CREATE INDEX resource_health_events_resource_id_idx ON resource_health_events (resource_id, created_at);
CREATE INDEX resource_health_events_created_at_idx ON resource_health_events (created_at, id);
-- which of a resource's verifications, and which of its reconciliations, is the newest
CREATE INDEX resource_health_events_kind_idx ON resource_health_events
  (resource_id, (event_type IN ('VERIFY_OK', 'VERIFY_FAILED')), created_at, id);
`;
