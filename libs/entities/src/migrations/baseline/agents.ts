/** Agents on hosts. Whatever changes an agent's state, or ends its right to ask, is told in the same commit. */
export const AGENTS = `
-- An agent that manages one host's firewall, by the host's name in the organization. One that was not seen for 30 days and
-- whose host no resource points at goes when its organization gets another one.
CREATE TABLE agents (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  organization_id uuid NOT NULL REFERENCES organizations,
  name text NOT NULL,
  target_key text NOT NULL UNIQUE,
  key_id uuid REFERENCES api_keys ON DELETE SET NULL,
  released_until timestamptz,
  instance text NOT NULL,
  address text,
  software text,
  seen_at timestamptz NOT NULL,
  told_away boolean NOT NULL DEFAULT false,
  served_version text,
  rival_instance text,
  rival_address text,
  rival_seen_at timestamptz,
  rival_told_at timestamptz,
  guard jsonb,
  guard_reported_at timestamptz,
  pending_release jsonb NOT NULL DEFAULT '[]',
  created_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (organization_id, name)
);

-- Who writes rules cannot forget to tell.
CREATE FUNCTION tell_agents_of_rules() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    PERFORM pg_notify('agent_states', t.key) FROM targets t
    WHERE t.provider = 'AGENT' AND t.id IN (SELECT target_id FROM changed);
    RETURN NULL;
  END $$;
CREATE TRIGGER rules_inserted_tell_agents AFTER INSERT ON rules
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION tell_agents_of_rules();
CREATE TRIGGER rules_updated_tell_agents AFTER UPDATE ON rules
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION tell_agents_of_rules();

CREATE FUNCTION tell_agents_of_resource() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    PERFORM pg_notify('agent_states', t.key) FROM targets t WHERE t.id = NEW.target_id
      OR (TG_OP = 'UPDATE' AND t.id = OLD.target_id);
    RETURN NULL;
  END $$;
CREATE TRIGGER resources_inserted_tell_agents AFTER INSERT ON resources
  FOR EACH ROW WHEN (NEW.provider = 'AGENT') EXECUTE FUNCTION tell_agents_of_resource();
-- a verification and a confirmation change what a host is to guard, too
CREATE TRIGGER resources_updated_tell_agents
  AFTER UPDATE OF target_id, config, deleted_at, target_verified_at, guard_confirmed_at ON resources
  FOR EACH ROW WHEN (NEW.provider = 'AGENT' AND
    (OLD.target_id, OLD.config, OLD.deleted_at, OLD.target_verified_at, OLD.guard_confirmed_at) IS DISTINCT FROM
    (NEW.target_id, NEW.config, NEW.deleted_at, NEW.target_verified_at, NEW.guard_confirmed_at))
  EXECUTE FUNCTION tell_agents_of_resource();

-- From here on: a process answers an agent that has the current state from memory, until it is told.
-- The row may be gone or have another host by now.
CREATE FUNCTION tell_agents_of_agent() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    PERFORM pg_notify('agent_states', OLD.target_key);
    RETURN NULL;
  END $$;
CREATE TRIGGER agents_changed_tell_agents
  AFTER UPDATE OF name, target_key, key_id, instance, pending_release ON agents
  FOR EACH ROW WHEN ((OLD.name, OLD.target_key, OLD.key_id, OLD.instance, OLD.pending_release) IS DISTINCT FROM
    (NEW.name, NEW.target_key, NEW.key_id, NEW.instance, NEW.pending_release))
  EXECUTE FUNCTION tell_agents_of_agent();
CREATE TRIGGER agents_deleted_tell_agents AFTER DELETE ON agents
  FOR EACH ROW EXECUTE FUNCTION tell_agents_of_agent();

CREATE FUNCTION tell_agents_of_key() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    PERFORM pg_notify('agent_states', a.target_key) FROM agents a WHERE a.organization_id = NEW.organization_id
      AND (a.key_id = NEW.id OR a.name = ANY (OLD.agents || NEW.agents));
    RETURN NULL;
  END $$;
CREATE TRIGGER api_keys_changed_tell_agents AFTER UPDATE OF revoked_at, expires_at, scopes, agents, user_id ON api_keys
  FOR EACH ROW WHEN ((OLD.revoked_at, OLD.expires_at, OLD.scopes, OLD.agents, OLD.user_id) IS DISTINCT FROM
    (NEW.revoked_at, NEW.expires_at, NEW.scopes, NEW.agents, NEW.user_id))
  EXECUTE FUNCTION tell_agents_of_key();

CREATE FUNCTION tell_agents_of_user() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    PERFORM pg_notify('agent_states', a.target_key) FROM agents a
    WHERE a.key_id IN (SELECT k.id FROM api_keys k WHERE k.organization_id = NEW.organization_id AND k.user_id = NEW.id);
    RETURN NULL;
  END $$;
CREATE TRIGGER users_changed_tell_agents AFTER UPDATE OF is_active ON users
  FOR EACH ROW WHEN (OLD.is_active IS DISTINCT FROM NEW.is_active) EXECUTE FUNCTION tell_agents_of_user();

CREATE FUNCTION tell_agents_of_organization() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    PERFORM pg_notify('agent_states', a.target_key) FROM agents a WHERE a.organization_id = NEW.id;
    RETURN NULL;
  END $$;
CREATE TRIGGER organizations_changed_tell_agents AFTER UPDATE OF suspended_at ON organizations
  FOR EACH ROW WHEN (OLD.suspended_at IS DISTINCT FROM NEW.suspended_at) EXECUTE FUNCTION tell_agents_of_organization();
`;
