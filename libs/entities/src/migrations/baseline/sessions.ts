/** Sessions and static IP rules, the addresses they open, and their claims on rules. */
export const SESSIONS = `
-- One user's access for a limited time. Ended sessions go SESSION_RETENTION_DAYS after their end; by default they stay.
CREATE TABLE sessions (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  organization_id uuid NOT NULL,
  user_id uuid NOT NULL,
  holder text NOT NULL DEFAULT '',
  ipv4_address text,
  ipv6_address text,
  status text NOT NULL DEFAULT 'PENDING'
    CHECK (status IN ('PENDING', 'ACTIVE', 'PARTIAL', 'FAILED', 'EXPIRING', 'EXPIRED', 'CANCELLED')),
  started_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  lease_seconds integer,
  lease_until timestamptz,
  heard_from text[] NOT NULL DEFAULT '{}',
  token_hash text,
  api_key_id uuid,
  told_end timestamptz,
  reason text,
  ticket text,
  access_request_id uuid,
  approver_ids uuid[] NOT NULL DEFAULT '{}',
  break_glass boolean NOT NULL DEFAULT false,
  ended_at timestamptz,
  ended_reason text,
  ended_cause text,
  created_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (organization_id, id),
  CONSTRAINT sessions_address_check CHECK (ipv4_address IS NOT NULL OR ipv6_address IS NOT NULL),
  CONSTRAINT sessions_user_fkey FOREIGN KEY (organization_id, user_id) REFERENCES users (organization_id, id)
);
CREATE UNIQUE INDEX sessions_one_live_per_ipv4 ON sessions (user_id, ipv4_address, holder)
  WHERE ipv4_address IS NOT NULL AND status IN ('PENDING', 'ACTIVE', 'PARTIAL');
CREATE UNIQUE INDEX sessions_one_live_per_ipv6 ON sessions (user_id, ipv6_address, holder)
  WHERE ipv6_address IS NOT NULL AND status IN ('PENDING', 'ACTIVE', 'PARTIAL');
CREATE UNIQUE INDEX sessions_token_hash_key ON sessions (token_hash) WHERE token_hash IS NOT NULL;
CREATE INDEX sessions_ends_idx ON sessions (least(expires_at, lease_until))
  WHERE status IN ('PENDING', 'ACTIVE', 'PARTIAL');
-- lists are counted by these alone
CREATE INDEX sessions_list_idx ON sessions (organization_id, status, created_at, id);
CREATE INDEX sessions_list_of_user_idx ON sessions (user_id, status, created_at, id);
-- which sessions overlap a time that is longer ago than the longest session lasts
CREATE INDEX sessions_long_idx ON sessions (organization_id, created_at)
  WHERE coalesce(ended_at, expires_at) - created_at > interval '25 hours';

-- One user's starts go one after the other from here to the commit: each counts what those before it have committed,
-- because every statement of a volatile function has a snapshot of its own. For the same reason a start that waited for a
-- lockdown, which locks its users, sees it. It counts live sessions only, through the
-- partial indexes that keep one live session for each address, and no further than the limit. 0 is no limit: then nothing
-- is counted, and starts do not wait for each other.
CREATE FUNCTION limit_live_sessions(owner uuid, per_user integer, per_service_user integer)
  RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
  DECLARE
    for_service boolean;
    organization uuid;
    most integer;
    locked_down boolean;
    live bigint;
  BEGIN
    SELECT u.is_service, u.organization_id INTO for_service, organization FROM users u WHERE u.id = owner;
    most := CASE WHEN for_service THEN per_service_user ELSE per_user END;
    IF most = 0 THEN
      PERFORM FROM users u WHERE u.id = owner AND u.is_active AND u.sso_refused_at IS NULL FOR SHARE;
    ELSE
      PERFORM FROM users u WHERE u.id = owner AND u.is_active AND u.sso_refused_at IS NULL FOR NO KEY UPDATE;
    END IF;
    IF NOT FOUND THEN
      RETURN false;
    END IF;
    SELECT EXISTS (SELECT FROM lockdowns WHERE subject_id IN (owner, organization)),
      CASE WHEN most > 0 THEN (SELECT count(*) FROM (
        (SELECT 1 FROM sessions s WHERE s.user_id = owner AND s.ipv4_address IS NOT NULL
           AND s.status IN ('PENDING', 'ACTIVE', 'PARTIAL'))
        UNION ALL
        (SELECT 1 FROM sessions s WHERE s.user_id = owner AND s.ipv6_address IS NOT NULL AND s.ipv4_address IS NULL
           AND s.status IN ('PENDING', 'ACTIVE', 'PARTIAL'))
        LIMIT most
      ) counted) END
      INTO locked_down, live;
    IF locked_down THEN
      RETURN false;
    END IF;
    IF live >= most THEN
      RAISE EXCEPTION 'The user has % live sessions', live
        USING ERRCODE = 'check_violation', CONSTRAINT = 'sessions_live_limit', DETAIL = CASE WHEN for_service THEN 'service user' ELSE 'user' END;
    END IF;
    RETURN true;
  END $$;

-- One address or range that is allowed on some resources until it is deleted, or its end. A deleted one goes with its last
-- address, one that has ended 90 days later.
CREATE TABLE static_ip_rules (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  organization_id uuid NOT NULL REFERENCES organizations,
  label text NOT NULL,
  ip_address text NOT NULL,
  created_by_email text NOT NULL,
  expires_at timestamptz,
  told_end timestamptz,
  closed_on uuid[],
  closed_by text CHECK (closed_by IN ('LOCKDOWN', 'EXPIRY')),
  deleted_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (organization_id, id),
  CONSTRAINT static_ip_rules_closed_check CHECK ((closed_on IS NULL) = (closed_by IS NULL))
);
CREATE INDEX static_ip_rules_organization_id_idx ON static_ip_rules (organization_id, created_at);
CREATE INDEX static_ip_rules_deleted_idx ON static_ip_rules (id) WHERE deleted_at IS NOT NULL;
CREATE INDEX static_ip_rules_ends_idx ON static_ip_rules (expires_at)
  WHERE expires_at IS NOT NULL AND deleted_at IS NULL AND closed_by IS DISTINCT FROM 'EXPIRY';
CREATE INDEX static_ip_rules_expired_idx ON static_ip_rules (expires_at) WHERE closed_by = 'EXPIRY';

-- One address on one resource, desired by a session or a static IP rule. Those of sessions go with the session, those of
-- static IP rules when they are removed. Resources go before ended sessions: there is no foreign key to them.
CREATE TABLE resource_ips (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  organization_id uuid NOT NULL,
  session_id uuid,
  static_ip_rule_id uuid,
  resource_id uuid NOT NULL,
  resource_name text NOT NULL DEFAULT '',
  ip_version integer NOT NULL,
  ip_address text NOT NULL,
  status text NOT NULL DEFAULT 'PENDING'
    CHECK (status IN ('PENDING', 'APPLIED', 'FAILED', 'REMOVING', 'REMOVED')),
  pending_since timestamptz NOT NULL DEFAULT now(),
  provider_rule_id text,
  applied_at timestamptz,
  released_at timestamptz,
  removed_at timestamptz,
  error_message text,
  wrong_family boolean NOT NULL DEFAULT false,
  given_up text,
  still_allowed_by text,
  created_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT resource_ips_owner_check CHECK ((session_id IS NULL) <> (static_ip_rule_id IS NULL)),
  CONSTRAINT resource_ips_session_fkey FOREIGN KEY (organization_id, session_id)
    REFERENCES sessions (organization_id, id) ON DELETE CASCADE,
  CONSTRAINT resource_ips_static_ip_rule_fkey FOREIGN KEY (organization_id, static_ip_rule_id)
    REFERENCES static_ip_rules (organization_id, id) ON DELETE CASCADE
);
CREATE INDEX resource_ips_session_id_idx ON resource_ips (session_id);
CREATE INDEX resource_ips_static_ip_rule_id_idx ON resource_ips (static_ip_rule_id) WHERE static_ip_rule_id IS NOT NULL;
CREATE INDEX resource_ips_removed_entries_idx ON resource_ips (id)
  WHERE static_ip_rule_id IS NOT NULL AND status = 'REMOVED';
CREATE INDEX resource_ips_removing_idx ON resource_ips (released_at) WHERE status = 'REMOVING';
CREATE INDEX resource_ips_sessions_idx ON resource_ips (resource_id, created_at, session_id);
-- what an organization holds now, without reading what has ended
CREATE INDEX resource_ips_held_idx ON resource_ips (organization_id, resource_id)
  WHERE status IN ('PENDING', 'APPLIED', 'REMOVING');

-- A ResourceIp's claim on a rule. It goes when its ResourceIp is REMOVED or FAILED, or the rule was observed absent.
CREATE TABLE rule_holders (
  rule_id uuid NOT NULL REFERENCES rules,
  resource_ip_id uuid NOT NULL REFERENCES resource_ips ON DELETE CASCADE,
  cause text,
  released_at timestamptz,
  release_cause text,
  PRIMARY KEY (rule_id, resource_ip_id)
);
CREATE INDEX rule_holders_resource_ip_id_idx ON rule_holders (resource_ip_id);

-- A session is history once nothing of it can be open. An earlier deletion, by whatever statement, is refused.
CREATE FUNCTION refuse_open_session_deletion() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF OLD.status IN ('FAILED', 'EXPIRED', 'CANCELLED') AND NOT EXISTS (
      SELECT FROM resource_ips ip WHERE ip.session_id = OLD.id AND (ip.status IN ('PENDING', 'APPLIED', 'REMOVING')
        OR EXISTS (SELECT FROM rule_holders h WHERE h.resource_ip_id = ip.id)))
    THEN
      RETURN OLD;
    END IF;
    RAISE EXCEPTION 'session % may still hold an open rule', OLD.id USING ERRCODE = 'restrict_violation';
  END
  $$;
CREATE TRIGGER sessions_kept_while_open BEFORE DELETE ON sessions
  FOR EACH ROW EXECUTE FUNCTION refuse_open_session_deletion();

-- Releasing is one statement for the caller. The rules are locked first: in a function, the statements after the lock see
-- what a concurrent release has committed. cause and unwanted_since of a rule that already was unwanted stay. What a session
-- or a static IP rule holds is released when it ends, at the latest: a sweep that comes late does not hide how late it is.
-- Returns [{provider, targetIds}].
CREATE FUNCTION release_claims(why text, claimed_rules uuid[], claimed_ips uuid[]) RETURNS jsonb
  LANGUAGE plpgsql AS $$
  DECLARE
    left_rules uuid[];
    left_by uuid[];
    woken jsonb;
  BEGIN
    PERFORM 1 FROM rules WHERE id = ANY (claimed_rules) ORDER BY id FOR NO KEY UPDATE;
    WITH gone AS (
      UPDATE rule_holders h SET released_at = least(now(), s.expires_at, s.lease_until, fixed.expires_at),
        release_cause = why
      FROM unnest(claimed_rules, claimed_ips) AS claim(rule_id, resource_ip_id)
      JOIN resource_ips ip ON ip.id = claim.resource_ip_id LEFT JOIN sessions s ON s.id = ip.session_id
      LEFT JOIN static_ip_rules fixed ON fixed.id = ip.static_ip_rule_id
      WHERE h.rule_id = claim.rule_id AND h.resource_ip_id = claim.resource_ip_id AND h.released_at IS NULL
      RETURNING h.rule_id, h.resource_ip_id
    )
    SELECT array_agg(gone.rule_id), array_agg(ip.organization_id) INTO left_rules, left_by
    FROM gone JOIN resource_ips ip ON ip.id = gone.resource_ip_id;
    WITH due AS (
      UPDATE rules r SET due_at = now(), revision = revision + 1, attempts = 0, closing = true,
        accounted_to = held.organization_id,
        unwanted_since = CASE WHEN held.kept THEN r.unwanted_since ELSE coalesce(r.unwanted_since, held.until) END,
        cause = CASE WHEN held.kept THEN r.cause ELSE coalesce(r.cause, why) END
      FROM (
        SELECT DISTINCT ON (g.rule_id) g.rule_id, g.organization_id, EXISTS (
          SELECT FROM rule_holders other WHERE other.rule_id = g.rule_id AND other.released_at IS NULL) AS kept,
          (SELECT max(other.released_at) FROM rule_holders other WHERE other.rule_id = g.rule_id) AS until
        FROM unnest(left_rules, left_by) AS g(rule_id, organization_id) ORDER BY g.rule_id
      ) held
      WHERE r.id = held.rule_id RETURNING r.target_id
    )
    SELECT coalesce(jsonb_agg(to_jsonb(woken_targets)), '[]') INTO woken
    FROM (
      SELECT t.provider, jsonb_agg(t.id) AS "targetIds"
      FROM targets t WHERE t.id IN (SELECT target_id FROM due) GROUP BY t.provider
    ) woken_targets;
    RETURN woken;
  END $$;

CREATE FUNCTION release_ips(why text, ids uuid[]) RETURNS jsonb LANGUAGE plpgsql AS $$
  DECLARE
    released uuid[];
    claimed_rules uuid[];
    claimed_ips uuid[];
  BEGIN
    PERFORM 1 FROM rules WHERE id IN (SELECT h.rule_id FROM rule_holders h WHERE h.resource_ip_id = ANY (ids))
    ORDER BY id FOR NO KEY UPDATE;
    WITH removing AS (
      UPDATE resource_ips ip SET status = 'REMOVING', released_at = least(
        now(), (SELECT least(s.expires_at, s.lease_until) FROM sessions s WHERE s.id = ip.session_id),
        (SELECT fixed.expires_at FROM static_ip_rules fixed WHERE fixed.id = ip.static_ip_rule_id))
      WHERE id = ANY (ids) AND status IN ('PENDING', 'APPLIED') RETURNING id
    )
    SELECT array_agg(id) INTO released FROM removing;
    SELECT array_agg(h.rule_id), array_agg(h.resource_ip_id) INTO claimed_rules, claimed_ips
    FROM rule_holders h WHERE h.resource_ip_id = ANY (released) AND h.released_at IS NULL;
    RETURN release_claims(why, claimed_rules, claimed_ips);
  END $$;

-- The first answer to a start that named an Idempotency-Key. It goes a day after the request.
CREATE TABLE idempotency_keys (
  user_id uuid NOT NULL,
  key text NOT NULL,
  organization_id uuid NOT NULL,
  request_hash text NOT NULL,
  answer jsonb,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (user_id, key),
  CONSTRAINT idempotency_keys_user_fkey FOREIGN KEY (organization_id, user_id)
    REFERENCES users (organization_id, id) ON DELETE CASCADE
);
CREATE INDEX idempotency_keys_created_at_idx ON idempotency_keys (created_at);
`;
