/** They run with the rights of the tables' owner, so they look for tables in no schema a caller may choose. */
const AS_OWNER = 'SECURITY DEFINER SET search_path = public, pg_temp';

/** The audit trail in monthly partitions, its chain of seals, and what was exported of it. */
export const AUDIT = `
CREATE FUNCTION current_transaction() RETURNS bigint LANGUAGE sql VOLATILE
  AS 'SELECT pg_current_xact_id()::text::bigint';

CREATE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    RAISE EXCEPTION '% are append-only', replace(TG_TABLE_NAME, '_', ' ');
  END
  $$;

-- One audited action each. Append-only. A month goes when the operator exports and drops it; by default all stay.
CREATE TABLE audit_records (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  organization_id uuid NOT NULL,
  sequence bigserial NOT NULL,
  transaction_id bigint NOT NULL DEFAULT current_transaction(),
  event_type text NOT NULL,
  timestamp timestamptz NOT NULL DEFAULT now(),
  actor_type text NOT NULL CHECK (actor_type IN ('USER', 'API_KEY', 'SYSTEM', 'AGENT', 'SESSION')),
  actor_id uuid,
  actor_email text,
  resource_type text,
  resource_id uuid,
  resource_name text,
  result text NOT NULL DEFAULT 'SUCCESS' CHECK (result IN ('SUCCESS', 'FAILURE')),
  ip_address text,
  error_message text,
  details jsonb NOT NULL DEFAULT '{}',
  PRIMARY KEY (id, timestamp)
) PARTITION BY RANGE (timestamp);
CREATE INDEX audit_records_organization_id_idx ON audit_records (organization_id, timestamp, sequence);
CREATE INDEX audit_records_transaction_id_idx ON audit_records (transaction_id, sequence);
CREATE INDEX audit_records_event_type_idx ON audit_records (organization_id, event_type, timestamp);
CREATE INDEX audit_records_actor_email_idx ON audit_records (organization_id, actor_email, timestamp)
  WHERE actor_email IS NOT NULL;
CREATE INDEX audit_records_actor_id_idx ON audit_records (organization_id, actor_id, timestamp)
  WHERE actor_id IS NOT NULL;
CREATE INDEX audit_records_resource_id_idx ON audit_records (organization_id, resource_id, timestamp);
CREATE INDEX audit_records_user_id_idx ON audit_records (organization_id, (details->>'userId'), timestamp)
  WHERE details->>'userId' IS NOT NULL;
CREATE INDEX audit_records_denied_idx ON audit_records (organization_id, timestamp)
  WHERE result = 'FAILURE' AND actor_type <> 'SYSTEM';
CREATE TRIGGER audit_records_append_only BEFORE UPDATE OR DELETE ON audit_records
  FOR EACH ROW EXECUTE FUNCTION refuse_audit_change();
-- no partition inherits this one
CREATE TRIGGER audit_records_never_truncated BEFORE TRUNCATE ON audit_records
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();

-- Records of a month whose partition was not made in time are kept, and no action fails.
CREATE FUNCTION create_default_audit_records() RETURNS void LANGUAGE plpgsql AS $$
  BEGIN
    CREATE TABLE audit_records_default PARTITION OF audit_records DEFAULT;
    CREATE TRIGGER audit_records_never_truncated BEFORE TRUNCATE ON audit_records_default
      FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();
  END
  $$;

CREATE FUNCTION is_default_audit_records_used() RETURNS boolean LANGUAGE plpgsql ${AS_OWNER} AS $$
  BEGIN
    RETURN EXISTS (SELECT FROM audit_records_default);
  END
  $$;

-- What the default partition holds becomes the partition of its months: nothing is copied.
CREATE FUNCTION attach_default_audit_records() RETURNS void LANGUAGE plpgsql ${AS_OWNER} AS $$
  DECLARE
    first date;
    last date;
  BEGIN
    IF NOT EXISTS (SELECT FROM audit_records_default) THEN
      RETURN;
    END IF;
    LOCK TABLE ONLY audit_records IN ACCESS EXCLUSIVE MODE;
    LOCK TABLE audit_records_default IN ACCESS EXCLUSIVE MODE;
    SELECT date_trunc('month', min(timestamp AT TIME ZONE 'UTC')), date_trunc('month', max(timestamp AT TIME ZONE 'UTC'))
    INTO first, last FROM audit_records_default;
    IF to_regclass('audit_records_' || to_char(last, 'YYYY_MM')) IS NOT NULL THEN
      RETURN;
    END IF;
    ALTER TABLE audit_records DETACH PARTITION audit_records_default;
    EXECUTE format('ALTER TABLE audit_records_default RENAME TO %I', 'audit_records_' || to_char(last, 'YYYY_MM'));
    EXECUTE format('ALTER TABLE audit_records ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
      'audit_records_' || to_char(last, 'YYYY_MM'),
      first::timestamp AT TIME ZONE 'UTC', (last + interval '1 month')::timestamp AT TIME ZONE 'UTC');
    PERFORM create_default_audit_records();
  EXCEPTION
    -- another month lies between them: they stay where they are
    WHEN invalid_object_definition THEN
      NULL;
  END
  $$;

-- False: records of the month are in the default partition. A table of its own first: attaching locks no other month.
CREATE FUNCTION create_audit_records_partition(month date) RETURNS boolean LANGUAGE plpgsql ${AS_OWNER} AS $$
  DECLARE
    name text := 'audit_records_' || to_char(month, 'YYYY_MM');
    first timestamptz := month::timestamp AT TIME ZONE 'UTC';
    next timestamptz := (month + interval '1 month')::timestamp AT TIME ZONE 'UTC';
  BEGIN
    IF month <> date_trunc('month', month) OR next < now() OR first > now() + interval '1 year' THEN
      RAISE EXCEPTION '% is no month to come', month;
    END IF;
    IF to_regclass(name) IS NOT NULL OR EXISTS (
      SELECT FROM audit_records_default d WHERE d.timestamp >= first AND d.timestamp < next)
    THEN
      RETURN false;
    END IF;
    EXECUTE format('CREATE TABLE %I (LIKE audit_records INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING INDEXES,
      CONSTRAINT within_month CHECK (timestamp >= %L AND timestamp < %L))', name, first, next);
    EXECUTE format('CREATE TRIGGER audit_records_never_truncated BEFORE TRUNCATE ON %I
      FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change()', name);
    EXECUTE format('ALTER TABLE audit_records ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', name, first, next);
    EXECUTE format('ALTER TABLE %I DROP CONSTRAINT within_month', name);
    RETURN true;
  END
  $$;

SELECT create_default_audit_records();
SELECT create_audit_records_partition((date_trunc('month', now() AT TIME ZONE 'UTC') + make_interval(months => m))::date)
  FROM generate_series(0, 3) AS m;

-- Records of revocations that the trail refused. The worker writes them into it.
CREATE TABLE unwritten_audit_records (
  id bigserial PRIMARY KEY,
  organization_id uuid NOT NULL,
  entry jsonb NOT NULL,
  kept_at timestamptz NOT NULL DEFAULT now()
);

-- The ranges of each chain whose records are not in the database any more. Append-only; they stay.
CREATE TABLE audit_exports (
  organization_id uuid NOT NULL,
  first_position bigint NOT NULL,
  last_position bigint NOT NULL,
  hash_before text NOT NULL,
  hash text NOT NULL,
  month text NOT NULL,
  dropped_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (organization_id, first_position),
  CONSTRAINT audit_exports_range_check CHECK (first_position >= 1 AND last_position >= first_position)
);
CREATE TRIGGER audit_exports_append_only BEFORE UPDATE OR DELETE ON audit_exports
  FOR EACH ROW EXECUTE FUNCTION refuse_audit_change();
CREATE TRIGGER audit_exports_never_truncated BEFORE TRUNCATE ON audit_exports
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();

-- The links of each organization's chain: a hash over the record and the link before it. They go with their records. There
-- is no foreign key to the record: it cannot refer to a partitioned table by the id alone, and audit verify reports a seal
-- without its record.
CREATE TABLE audit_seals (
  organization_id uuid NOT NULL,
  position bigint NOT NULL,
  record_id uuid NOT NULL UNIQUE,
  recorded_at timestamptz NOT NULL,
  hash text NOT NULL,
  PRIMARY KEY (organization_id, position)
);
-- A seal may go only after its record has gone into an export.
CREATE FUNCTION refuse_seal_deletion() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF OLD.position <= (
      SELECT e.last_position FROM audit_exports e
      WHERE e.organization_id = OLD.organization_id AND e.first_position <= OLD.position
      ORDER BY e.first_position DESC LIMIT 1)
    THEN
      RETURN OLD;
    END IF;
    RAISE EXCEPTION 'audit seals are append-only';
  END
  $$;
CREATE TRIGGER audit_seals_append_only BEFORE UPDATE ON audit_seals
  FOR EACH ROW EXECUTE FUNCTION refuse_audit_change();
CREATE TRIGGER audit_seals_kept_until_exported BEFORE DELETE ON audit_seals
  FOR EACH ROW EXECUTE FUNCTION refuse_seal_deletion();
CREATE TRIGGER audit_seals_never_truncated BEFORE TRUNCATE ON audit_seals
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();

-- One row: how far the worker has sealed.
CREATE TABLE audit_seal_cursor (
  id integer PRIMARY KEY,
  transaction_id bigint NOT NULL,
  sequence bigint NOT NULL,
  CONSTRAINT audit_seal_cursor_one_row CHECK (id = 1)
);

-- Ends of chains, signed with a key that is not in the database. After 90 days all but the newest of each day and
-- organization go.
CREATE TABLE audit_checkpoints (
  organization_id uuid NOT NULL,
  position bigint NOT NULL,
  hash text NOT NULL,
  signed_at timestamptz NOT NULL,
  key_id text NOT NULL,
  signature text NOT NULL,
  PRIMARY KEY (organization_id, position)
);
CREATE INDEX audit_checkpoints_signed_at_idx ON audit_checkpoints (signed_at);
CREATE TRIGGER audit_checkpoints_never_changed BEFORE UPDATE ON audit_checkpoints
  FOR EACH ROW EXECUTE FUNCTION refuse_audit_change();
CREATE TRIGGER audit_checkpoints_never_truncated BEFORE TRUNCATE ON audit_checkpoints
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();
CREATE FUNCTION delete_superseded_audit_checkpoints(batch integer) RETURNS integer LANGUAGE sql ${AS_OWNER} AS $$
  WITH superseded AS (
    SELECT c.organization_id, c.position FROM audit_checkpoints c
    WHERE c.signed_at < now() - interval '90 days' AND EXISTS (
      SELECT FROM audit_checkpoints later
      WHERE later.organization_id = c.organization_id AND later.position > c.position
        AND date_trunc('day', later.signed_at AT TIME ZONE 'UTC') = date_trunc('day', c.signed_at AT TIME ZONE 'UTC'))
    ORDER BY c.signed_at LIMIT batch
  ), deleted AS (
    DELETE FROM audit_checkpoints c USING superseded s
    WHERE c.organization_id = s.organization_id AND c.position = s.position RETURNING 1
  )
  SELECT count(*)::integer FROM deleted
  $$;
`;
