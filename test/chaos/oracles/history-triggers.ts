/** What is recorded of each table: kind, id, state, and other columns that the oracles need. */
const TABLES = {
  sessions: {
    kind: 'session',
    id: 'id',
    state: (row: string) => `${row}.status`,
    when: ['status', 'expires_at'],
    facts: `'organizationId', r.organization_id, 'expiresAt', extract(epoch FROM r.expires_at) * 1000,
      'endedReason', r.ended_reason, 'address', coalesce(r.ipv4_address, r.ipv6_address)`,
  },
  resource_ips: {
    kind: 'resource_ip',
    id: 'id',
    state: (row: string) => `${row}.status`,
    when: ['status'],
    facts: `'organizationId', r.organization_id, 'sessionId', r.session_id, 'resourceId', r.resource_id`,
  },
  rules: {
    kind: 'rule',
    id: 'id',
    state: (row: string) => `${row}.state`,
    when: ['state', 'attempts', 'credential_id'],
    facts: `'targetId', r.target_id, 'key', r.key, 'attempts', r.attempts, 'credentialId', r.credential_id`,
  },
  rule_holders: {
    kind: 'holder',
    id: 'rule_id',
    state: (row: string) => `CASE WHEN ${row}.released_at IS NULL THEN 'held' ELSE 'released' END`,
    when: ['released_at'],
    facts: `'ipId', r.resource_ip_id`,
  },
  resources: {
    kind: 'resource',
    id: 'id',
    state: (row: string) => `CASE WHEN ${row}.deleted_at IS NULL THEN 'live' ELSE 'deleted' END`,
    when: ['target_id', 'write_verified', 'deleted_at'],
    facts: `'organizationId', r.organization_id, 'targetId', r.target_id, 'writeVerified', r.write_verified`,
  },
} as const;

type Table = keyof typeof TABLES;

function recorder(table: Table): string {
  const { kind, id, facts, state, when } = TABLES[table];
  const changed = when.map((column) => `OLD.${column} IS DISTINCT FROM NEW.${column}`).join(' OR ');
  return `
    CREATE FUNCTION chaos_note_${table}() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $note$
    DECLARE r public.${table}; was text; now_is text;
    BEGIN
      IF TG_OP <> 'DELETE' THEN r := NEW; now_is := ${state('NEW')}; ELSE r := OLD; END IF;
      IF TG_OP <> 'INSERT' THEN was := ${state('OLD')}; END IF;
      INSERT INTO public.chaos_moves (kind, row_id, was, now, facts)
      VALUES ('${kind}', r.${id}, was, now_is, jsonb_build_object(${facts}));
      RETURN NULL;
    END $note$;
    CREATE TRIGGER chaos_made AFTER INSERT OR DELETE ON ${table} FOR EACH ROW EXECUTE FUNCTION chaos_note_${table}();
    CREATE TRIGGER chaos_moved AFTER UPDATE ON ${table} FOR EACH ROW WHEN (${changed}) EXECUTE FUNCTION chaos_note_${table}();
    INSERT INTO chaos_moves (kind, row_id, was, now, facts, seeded)
    SELECT '${kind}', r.${id}, NULL, ${state('r')}, jsonb_build_object(${facts}), true FROM ${table} r;`;
}

const removal = (table: Table): string => `
    DROP TRIGGER IF EXISTS chaos_made ON ${table};
    DROP TRIGGER IF EXISTS chaos_moved ON ${table};
    DROP FUNCTION IF EXISTS chaos_note_${table}();`;

const ALL = Object.keys(TABLES) as Table[];

/**
 * Records every change of a session, a ResourceIp, a rule, a holder and a resource, in the transaction of the change.
 * Existing rows are recorded first, marked as seeded. An older history of the database is deleted. Several statements in
 * one query are one transaction.
 */
export const INSTALL_HISTORY = `
    DROP TABLE IF EXISTS chaos_moves CASCADE;
    ${ALL.map(removal).join('')}
    CREATE TABLE chaos_moves (
      id bigserial PRIMARY KEY, at timestamptz NOT NULL DEFAULT clock_timestamp(),
      xact text NOT NULL DEFAULT pg_current_xact_id()::text, seeded boolean NOT NULL DEFAULT false,
      kind text NOT NULL, row_id uuid NOT NULL, was text, now text, facts jsonb NOT NULL);
    ${ALL.map(recorder).join('')}`;
