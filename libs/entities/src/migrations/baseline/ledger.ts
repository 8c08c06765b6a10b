/** They run with the rights of the tables' owner, so they look for tables in no schema a caller may choose. */
const AS_OWNER = 'SECURITY DEFINER SET search_path = public, pg_temp';

/** Ends of intervals that an end's own time does not find: they lasted long, or their beginning or end is not known. */
const LONG = `kind IN ('CLOSED', 'RELEASED', 'MISSING', 'CHANGED', 'ABANDONED')
    AND (possible_from IS NULL OR possible_until IS NULL OR at - possible_from > interval '48 hours')`;

/** The ledger of what was observed of each rule, in monthly partitions, and their upkeep. */
export const LEDGER = `
CREATE SEQUENCE rule_events_id_seq;

-- What was observed of a rule: one row for each of its holders, one without a holder where it has none. Append-only. A month
-- goes LEDGER_RETENTION_MONTHS after its end, unless a rule that is still present was opened in it.
CREATE TABLE rule_events (
  at timestamptz NOT NULL DEFAULT now(),
  id bigint NOT NULL DEFAULT nextval('rule_events_id_seq'),
  kind text NOT NULL,
  target_id uuid NOT NULL,
  provider text NOT NULL,
  target text NOT NULL,
  rule_id uuid,
  address text NOT NULL,
  protocol text NOT NULL,
  ports text NOT NULL,
  provider_rule_id text,
  cause text,
  message text,
  possible_from timestamptz,
  certain_from timestamptz,
  certain_until timestamptz,
  possible_until timestamptz,
  holder_kind text NOT NULL,
  organization_id uuid,
  resource_id uuid,
  resource_name text,
  session_id uuid,
  static_ip_rule_id uuid,
  user_id uuid,
  user_email text,
  credential_id uuid,
  worker_id text,
  pass_id uuid,
  PRIMARY KEY (at, id)
) PARTITION BY RANGE (at);
-- Reports cost what their window and what is live cost, not what all history does.
CREATE INDEX rule_events_target_idx ON rule_events (target_id, at);
CREATE INDEX rule_events_resource_idx ON rule_events (organization_id, resource_id, at) WHERE organization_id IS NOT NULL;
CREATE INDEX rule_events_session_idx ON rule_events (session_id, at) WHERE session_id IS NOT NULL;
CREATE INDEX rule_events_user_idx ON rule_events (organization_id, user_id, at) WHERE user_id IS NOT NULL;
CREATE INDEX rule_events_address_idx ON rule_events (organization_id, address, at) WHERE organization_id IS NOT NULL;
-- of an address on one of several targets, whoever held it
CREATE INDEX rule_events_any_address_idx ON rule_events (address, at);
CREATE INDEX rule_events_holderless_idx ON rule_events (target_id, at) WHERE organization_id IS NULL;
CREATE INDEX rule_events_long_idx ON rule_events (organization_id, at) WHERE organization_id IS NOT NULL AND ${LONG};
CREATE INDEX rule_events_long_target_idx ON rule_events (target_id, at) WHERE ${LONG};

CREATE FUNCTION refuse_ledger_change() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    RAISE EXCEPTION 'rule events are append-only';
  END
  $$;
CREATE TRIGGER rule_events_append_only BEFORE UPDATE OR DELETE ON rule_events
  FOR EACH ROW EXECUTE FUNCTION refuse_ledger_change();

-- A table of its own first: attaching it locks the ledger for readers and writers of no other partition.
CREATE FUNCTION create_rule_events_table(month date) RETURNS text LANGUAGE plpgsql ${AS_OWNER} AS $$
  DECLARE
    name text := 'rule_events_' || to_char(month, 'YYYY_MM');
  BEGIN
    IF to_regclass(name) IS NULL THEN
      EXECUTE format('CREATE TABLE %I (LIKE rule_events INCLUDING DEFAULTS INCLUDING INDEXES,
        CONSTRAINT within_month CHECK (at >= %L AND at < %L))', name,
        month::timestamp AT TIME ZONE 'UTC', (month + interval '1 month')::timestamp AT TIME ZONE 'UTC');
    END IF;
    RETURN name;
  END
  $$;

CREATE FUNCTION create_rule_events_partition(month date) RETURNS void LANGUAGE plpgsql ${AS_OWNER} AS $$
  DECLARE
    name text := create_rule_events_table(month);
  BEGIN
    IF NOT EXISTS (SELECT FROM pg_inherits WHERE inhrelid = name::regclass) THEN
      EXECUTE format('ALTER TABLE rule_events ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', name,
        month::timestamp AT TIME ZONE 'UTC', (month + interval '1 month')::timestamp AT TIME ZONE 'UTC');
      EXECUTE format('ALTER TABLE %I DROP CONSTRAINT within_month', name);
    END IF;
  END
  $$;

-- Events of a month whose partition was not made in time are kept, not lost; the worker moves them into their months.
CREATE TABLE rule_events_default PARTITION OF rule_events DEFAULT;

SELECT create_rule_events_partition((date_trunc('month', now() AT TIME ZONE 'UTC') + make_interval(months => m))::date)
  FROM generate_series(0, 2) AS m;

CREATE FUNCTION months_in_default_rule_events() RETURNS SETOF date LANGUAGE sql ${AS_OWNER} AS $$
  SELECT DISTINCT date_trunc('month', at AT TIME ZONE 'UTC')::date FROM rule_events_default
  $$;

CREATE FUNCTION is_default_rule_events_used() RETURNS boolean LANGUAGE sql ${AS_OWNER} AS $$
  SELECT EXISTS (SELECT FROM rule_events_default)
  $$;

-- A batch of a month, into its table, which is attached later. Returns the last key, null when nothing was left.
CREATE FUNCTION copy_default_rule_events(month date, after_at timestamptz, after_id bigint, batch integer,
    OUT at text, OUT id text) LANGUAGE plpgsql ${AS_OWNER} AS $$
  DECLARE
    name text := create_rule_events_table(month);
  BEGIN
    EXECUTE format('WITH copied AS (
        INSERT INTO %I SELECT * FROM rule_events_default
        WHERE at >= $1 AND at < $2 AND (at, id) > ($3, $4) ORDER BY at, id LIMIT $5 RETURNING at, id
      )
      SELECT at::text, id::text FROM copied ORDER BY copied.at DESC, copied.id DESC LIMIT 1', name)
    INTO at, id
    USING month::timestamp AT TIME ZONE 'UTC', (month + interval '1 month')::timestamp AT TIME ZONE 'UTC',
      after_at, after_id, batch;
  END
  $$;

-- Dropping the default partition deletes no event: the ledger is append-only.
CREATE FUNCTION replace_default_rule_events() RETURNS void LANGUAGE plpgsql ${AS_OWNER} AS $$
  DECLARE
    months date[];
    month date;
  BEGIN
    LOCK TABLE ONLY rule_events IN ACCESS EXCLUSIVE MODE;
    LOCK TABLE rule_events_default IN ACCESS EXCLUSIVE MODE;
    months := ARRAY(SELECT months_in_default_rule_events());
    FOREACH month IN ARRAY months LOOP
      EXECUTE format('INSERT INTO %I SELECT * FROM rule_events_default d WHERE d.at >= $1 AND d.at < $2
        AND NOT EXISTS (SELECT FROM %1$I copied WHERE copied.at = d.at AND copied.id = d.id)',
        create_rule_events_table(month))
      USING month::timestamp AT TIME ZONE 'UTC', (month + interval '1 month')::timestamp AT TIME ZONE 'UTC';
    END LOOP;
    ALTER TABLE rule_events DETACH PARTITION rule_events_default;
    DROP TABLE rule_events_default;
    FOREACH month IN ARRAY months LOOP
      PERFORM create_rule_events_partition(month);
    END LOOP;
    CREATE TABLE rule_events_default PARTITION OF rule_events DEFAULT;
  END
  $$;

-- The owner's lower bound of the retention period, one row: whoever may only call the functions cannot go below it.
CREATE TABLE retention_floor (name text PRIMARY KEY, months integer NOT NULL CHECK (months >= 1));
INSERT INTO retention_floor VALUES ('rule_events', 1);

-- The events of a rule follow its observation, by a day at the very most.
CREATE FUNCTION expired_rule_events(retention_months integer) RETURNS SETOF text LANGUAGE sql ${AS_OWNER} AS $$
  SELECT name FROM (
    SELECT c.relname::text AS name, to_date(right(c.relname, 7), 'YYYY_MM') AS month
    FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent = 'rule_events'::regclass AND c.relname ~ '^rule_events_\\d{4}_\\d{2}$'
  ) m
  WHERE month + interval '1 month' <= (now() AT TIME ZONE 'UTC') - make_interval(months => greatest(retention_months,
      (SELECT months FROM retention_floor f WHERE f.name = 'rule_events')))
    AND NOT EXISTS (
      SELECT FROM rules CROSS JOIN LATERAL (VALUES (present_since), (possible_since)) AS began(at)
      WHERE began.at AT TIME ZONE 'UTC' >= month - interval '1 day'
        AND began.at AT TIME ZONE 'UTC' < month + interval '1 month')
  ORDER BY month
  $$;

CREATE FUNCTION drop_expired_rule_events(partition text, retention_months integer) RETURNS void
  LANGUAGE plpgsql ${AS_OWNER} AS $$
  BEGIN
    IF partition IN (SELECT expired_rule_events(retention_months)) THEN
      EXECUTE format('DROP TABLE %I', partition);
    END IF;
  END
  $$;

-- Events that the ledger refused. The worker moves them into it.
CREATE TABLE unwritten_rule_events (
  id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  kept_at timestamptz NOT NULL DEFAULT now(),
  event jsonb NOT NULL
);
`;
