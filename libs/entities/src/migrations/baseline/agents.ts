/** Agents on hosts. Whatever changes an agent's state is notified in the same commit. */
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

CREATE FUNCTION tell_agent_of_release() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    PERFORM pg_notify('agent_states', NEW.target_key);
    RETURN NULL;
  END $$;
CREATE TRIGGER agents_updated_tell_agent AFTER UPDATE OF pending_release ON agents
  FOR EACH ROW WHEN (OLD.pending_release IS DISTINCT FROM NEW.pending_release)
  EXECUTE FUNCTION tell_agent_of_release();
`;
