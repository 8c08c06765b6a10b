/** Functions run with the rights of the tables' owner, so they look for tables in no schema a caller may choose. */
export const AS_OWNER = 'SECURITY DEFINER SET search_path = public, pg_temp';

/** What tables in monthly partitions share. */
export const MONTHLY = `
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    RAISE EXCEPTION '% are append-only', replace(TG_TABLE_NAME, '_', ' ');
  END
  $$;

-- The partitions of a table but the default one, each named after the last month it covers.
CREATE FUNCTION monthly_partitions(parent regclass)
  RETURNS TABLE (name text, month date, first timestamptz, next timestamptz) LANGUAGE sql STABLE AS $$
  SELECT c.relname::text, to_date(right(c.relname, 7), 'YYYY_MM'),
    substring(bounds from 'FROM \\(''([^'']+)''\\)')::timestamptz, substring(bounds from 'TO \\(''([^'']+)''\\)')::timestamptz
  FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
  CROSS JOIN LATERAL pg_get_expr(c.relpartbound, c.oid) AS bounds
  WHERE i.inhparent = parent AND c.relname ~ '_\\d{4}_\\d{2}$'
  $$;
`;

/**
 * Makes a partitioned table append-only and gives it its partitions: this month, some ahead, and the default one. The functions
 * are all that the service role has for its upkeep.
 * @param time column that the table is partitioned by
 */
export const monthly = (table: string, time: string, monthsAhead: number): string => `
CREATE TRIGGER ${table}_append_only BEFORE UPDATE OR DELETE ON ${table}
  FOR EACH ROW EXECUTE FUNCTION refuse_change();
-- no partition inherits this one
CREATE TRIGGER ${table}_never_truncated BEFORE TRUNCATE ON ${table}
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- Rows of a month whose partition was not made in time are kept, and no action fails.
CREATE FUNCTION create_default_${table}() RETURNS void LANGUAGE plpgsql AS $$
  BEGIN
    CREATE TABLE ${table}_default PARTITION OF ${table} DEFAULT;
    CREATE TRIGGER ${table}_never_truncated BEFORE TRUNCATE ON ${table}_default
      FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
  END
  $$;

CREATE FUNCTION is_default_${table}_used() RETURNS boolean LANGUAGE plpgsql ${AS_OWNER} AS $$
  BEGIN
    RETURN EXISTS (SELECT FROM ${table}_default);
  END
  $$;

-- What the default partition holds becomes the partition of its months: nothing is copied.
CREATE FUNCTION attach_default_${table}() RETURNS void LANGUAGE plpgsql ${AS_OWNER} AS $$
  DECLARE
    first date;
    last date;
  BEGIN
    IF NOT EXISTS (SELECT FROM ${table}_default) THEN
      RETURN;
    END IF;
    LOCK TABLE ONLY ${table} IN ACCESS EXCLUSIVE MODE;
    LOCK TABLE ${table}_default IN ACCESS EXCLUSIVE MODE;
    SELECT date_trunc('month', min(${time} AT TIME ZONE 'UTC')), date_trunc('month', max(${time} AT TIME ZONE 'UTC'))
    INTO first, last FROM ${table}_default;
    IF to_regclass('${table}_' || to_char(last, 'YYYY_MM')) IS NOT NULL THEN
      RETURN;
    END IF;
    ALTER TABLE ${table} DETACH PARTITION ${table}_default;
    EXECUTE format('ALTER TABLE ${table}_default RENAME TO %I', '${table}_' || to_char(last, 'YYYY_MM'));
    EXECUTE format('ALTER TABLE ${table} ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
      '${table}_' || to_char(last, 'YYYY_MM'),
      first::timestamp AT TIME ZONE 'UTC', (last + interval '1 month')::timestamp AT TIME ZONE 'UTC');
    PERFORM create_default_${table}();
  EXCEPTION
    -- another month lies between them: they stay where they are
    WHEN invalid_object_definition THEN
      NULL;
  END
  $$;

-- False: rows of the month are in the default partition. A table of its own first: attaching locks no other month.
CREATE FUNCTION create_${table}_partition(month date) RETURNS boolean LANGUAGE plpgsql ${AS_OWNER} AS $$
  DECLARE
    name text := '${table}_' || to_char(month, 'YYYY_MM');
    first timestamptz := month::timestamp AT TIME ZONE 'UTC';
    next timestamptz := (month + interval '1 month')::timestamp AT TIME ZONE 'UTC';
  BEGIN
    IF month <> date_trunc('month', month) OR next < now() OR first > now() + interval '1 year' THEN
      RAISE EXCEPTION '% is no month to come', month;
    END IF;
    IF to_regclass(name) IS NOT NULL OR EXISTS (
      SELECT FROM ${table}_default d WHERE d.${time} >= first AND d.${time} < next)
    THEN
      RETURN false;
    END IF;
    EXECUTE format('CREATE TABLE %I (LIKE ${table} INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING INDEXES,
      CONSTRAINT within_month CHECK (${time} >= %L AND ${time} < %L))', name, first, next);
    EXECUTE format('CREATE TRIGGER ${table}_never_truncated BEFORE TRUNCATE ON %I
      FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()', name);
    EXECUTE format('ALTER TABLE ${table} ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', name, first, next);
    EXECUTE format('ALTER TABLE %I DROP CONSTRAINT within_month', name);
    RETURN true;
  END
  $$;

SELECT create_default_${table}();
SELECT create_${table}_partition((date_trunc('month', now() AT TIME ZONE 'UTC') + make_interval(months => m))::date)
  FROM generate_series(0, ${monthsAhead}) AS m;
`;
