import { AGENT_AWAY_SECONDS, ruleLife, type Instant, type OrganizationId } from '#rules';
import { withoutContent } from './agent-state';
import { type TenantStore, type Tx, first, touches } from '#entities';
import { lockOwners } from './lock-owners';
import type { RuleStore } from './rule.store';

/** An agent's request under a name. */
export interface AgentVisit {
  /** in lower case */
  readonly name: string;
  readonly targetKey: string;
  /** of the API key of the request */
  readonly keyId: string;
  /** identifies one installation across its restarts */
  readonly instance: string;
  readonly address: string | null;
  readonly software: string | null;
}

/** Facts that decide whether a key may serve a name. */
export interface AgentKeyRow {
  /** names the key is bound to, in lower case; empty: not bound yet */
  readonly agents: readonly string[];
  readonly isAgentKey: boolean;
  /** a resource points at the host, or its agent has connected before */
  readonly isKnownHost: boolean;
  /** the name is served with another key that is neither revoked nor expired */
  readonly isHeldByOther: boolean;
}

/** The installation that serves under a name. */
export interface ServingAgent {
  readonly id: string;
  readonly targetKey: string;
  readonly servedVersion: string | null;
}

export type Admission =
  /** `connected`: it is new, was away, or took over from another installation or key */
  | { readonly kind: 'serving'; readonly agent: ServingAgent; readonly connected: boolean }
  /**
   * another installation serves, or this one with another key; `unreported`: the conflict has not been reported within
   * `REPORT_INTERVAL`
   */
  | {
      readonly kind: 'rival';
      readonly id: string;
      readonly serving: Pick<AgentVisit, 'instance' | 'address'>;
      /** the name is served with another API key */
      readonly otherKey: boolean;
      readonly unreported: boolean;
    };

interface Known {
  id: string;
  instance: string;
  address: string | null;
  servedVersion: string | null;
  /** as text, in full precision */
  seenAt: string;
  away: boolean;
  /** served with another key than that of the request */
  otherKey: boolean;
  /** the serving key is revoked or expired */
  keyEnded: boolean;
  released: boolean;
  unreported: boolean;
}

/** An unused name is deleted after this long without a request, when a new agent is created. */
const UNUSED_NAME_TTL = '30 days';
/** How long another key may take over a name after an administrator released it. */
const TAKEOVER_WINDOW = '1 hour';
/** Throttle for reports of the same conflict. */
const REPORT_INTERVAL = '10 minutes';

/** An agent whose name another key may take over. */
export interface ReleasedAgent {
  readonly id: string;
  readonly name: string;
  readonly releasedUntil: Date;
}

/** SQL: the API key `k` of the user `u` is valid. */
const VALID_KEY = 'k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now()) AND u.is_active';

/** Agents, the keys that may serve each name, and the installation that does. */
export class AgentStore implements TenantStore<AgentStore> {
  constructor(private readonly rules: RuleStore) {}

  /**
   * Notes a request of the installation that serves already, with its valid key, and was not away. It waits for no lock.
   * @returns null for every other request: `admit` decides
   */
  async heard(tx: Tx, organization: OrganizationId, visit: AgentVisit): Promise<ServingAgent | null> {
    return first<ServingAgent>(
      tx,
      `UPDATE agents SET address = $5, software = $6, seen_at = now() WHERE id = (
         SELECT a.id FROM agents a JOIN api_keys k ON k.id = a.key_id JOIN users u ON u.id = k.user_id
         WHERE a.organization_id = $1 AND a.name = $2 AND a.key_id = $3 AND a.instance = $4
           AND a.seen_at > now() - make_interval(secs => $7)
           AND a.name = ANY (k.agents) AND 'agent:connect' = ANY (k.scopes) AND ${VALID_KEY}
         FOR NO KEY UPDATE OF a SKIP LOCKED)
       RETURNING id, target_key AS "targetKey", served_version AS "servedVersion"`,
      [
        organization,
        visit.name,
        visit.keyId,
        visit.instance,
        visit.address,
        visit.software,
        AGENT_AWAY_SECONDS,
      ],
    );
  }

  /** @returns null when the key is revoked, expired or deleted, or its user inactive */
  async key(tx: Tx, organization: OrganizationId, visit: AgentVisit): Promise<AgentKeyRow | null> {
    return first<AgentKeyRow>(
      tx,
      `SELECT k.agents, 'agent:connect' = ANY (k.scopes) AS "isAgentKey", a.id IS NOT NULL OR EXISTS (
           SELECT FROM targets t JOIN resources r ON r.target_id = t.id
           WHERE t.key = $4 AND r.organization_id = $1) AS "isKnownHost",
         other.id IS NOT NULL AND other.revoked_at IS NULL AND (other.expires_at IS NULL OR other.expires_at > now())
           AS "isHeldByOther"
       FROM api_keys k JOIN users u ON u.id = k.user_id
       LEFT JOIN agents a ON a.organization_id = $1 AND a.name = $3
       LEFT JOIN api_keys other ON other.id = a.key_id AND other.id <> k.id
       WHERE k.organization_id = $1 AND k.id = $2 AND ${VALID_KEY}`,
      [organization, visit.keyId, visit.name, visit.targetKey],
    );
  }

  /** Binds an unbound key to the name. Of two concurrent requests, one succeeds. @returns false when it is already bound */
  async bindKey(tx: Tx, organization: OrganizationId, { keyId, name }: AgentVisit): Promise<boolean> {
    return touches(
      tx,
      `UPDATE api_keys SET agents = ARRAY[$3::text]
       WHERE organization_id = $1 AND id = $2 AND agents = '{}' AND revoked_at IS NULL RETURNING id`,
      [organization, keyId, name],
    );
  }

  /**
   * Admits one installation at a time under a name: the first one, until it is away or its key is revoked. A different key
   * takes over only when the serving key is revoked or expired, or the name was released, never because the host is
   * silent. The row stays locked until the transaction ends. A new connection or conflict requests a health check.
   *
   * Lock order of requests: the agent, its target, owners, rules. Workers begin at the target, and never wait for an agent.
   */
  async admit(tx: Tx, organization: OrganizationId, visit: AgentVisit): Promise<Admission> {
    const before = await this.lock(tx, organization, visit);
    const created = !before && (await this.create(tx, organization, visit));
    const known = before ?? (await this.lock(tx, organization, visit))!;
    const same = !known.otherKey && known.instance === visit.instance;
    if (!same && !mayTakeOver(known)) {
      await this.noteRival(tx, known.id, visit);
      const { id, otherKey, unreported } = known;
      if (unreported) await this.requestCheck(tx, organization, visit.targetKey, true);
      return { kind: 'rival', id, serving: known, otherKey, unreported };
    }
    const servedVersion = same ? known.servedVersion : withoutContent(known.servedVersion);
    await tx.query(
      `UPDATE agents SET instance = $2, address = $3, software = $4, seen_at = now(), told_away = false,
         served_version = $5, key_id = $6, released_until = CASE WHEN $7 THEN released_until END,
         guard = CASE WHEN $7 THEN guard END, guard_reported_at = CASE WHEN $7 THEN guard_reported_at END WHERE id = $1`,
      [known.id, visit.instance, visit.address, visit.software, servedVersion, visit.keyId, same],
    );
    const agent = { id: known.id, targetKey: visit.targetKey, servedVersion };
    const connected = created || known.away || !same;
    if (connected) await this.requestCheck(tx, organization, visit.targetKey, false);
    if (!same || known.away) await this.invalidateRules(tx, visit.targetKey, known.seenAt);
    return { kind: 'serving', agent, connected };
  }

  /** Lets another key or installation take over the name for `TAKEOVER_WINDOW`. @returns null when no agent has the name */
  async release(tx: Tx, organization: OrganizationId, name: string): Promise<ReleasedAgent | null> {
    return first<ReleasedAgent>(
      tx,
      `UPDATE agents SET released_until = now() + interval '${TAKEOVER_WINDOW}'
       WHERE organization_id = $1 AND name = $2 RETURNING id, name, released_until AS "releasedUntil"`,
      [organization, name.toLowerCase()],
    );
  }

  /** Seconds since the agent's last request. @returns null when there was none */
  async secondsAway(tx: Tx, organization: OrganizationId, name: string): Promise<number | null> {
    const [agent] = await tx.query<{ seconds: number }[]>(
      `SELECT extract(epoch FROM now() - seen_at)::float8 AS seconds FROM agents WHERE organization_id = $1 AND name = $2`,
      [organization, name.toLowerCase()],
    );
    return agent?.seconds ?? null;
  }

  /**
   * Schedules a comparison of the host, which locks its target, and a verification of resources suspended while the agent
   * was away. A resource that is just being edited or verified keeps its schedule: its editor waits for the agent.
   * @param report resources get a health event whatever the outcome
   */
  async requestCheck(
    tx: Tx,
    organization: OrganizationId,
    targetKey: string,
    report: boolean,
  ): Promise<void> {
    await tx.query(
      `UPDATE resources SET verify_due_at = now() WHERE id IN (
         SELECT r.id FROM resources r JOIN targets t ON t.id = r.target_id
         WHERE t.key = $2 AND r.organization_id = $1 AND r.suspended_by_check FOR NO KEY UPDATE OF r SKIP LOCKED)`,
      [organization, targetKey],
    );
    await tx.query(
      `UPDATE targets SET reconcile_due_at = now(), reconcile_requested = reconcile_requested OR $2 WHERE key = $1`,
      [targetKey, report],
    );
  }

  private lock(tx: Tx, organization: OrganizationId, visit: AgentVisit): Promise<Known | null> {
    return first<Known>(
      tx,
      `SELECT a.id, a.instance, a.address, a.served_version AS "servedVersion",
         a.seen_at::text AS "seenAt", a.seen_at <= now() - make_interval(secs => $4) AS away,
         a.key_id IS NOT NULL AND a.key_id <> $5 AS "otherKey",
         coalesce(k.revoked_at IS NOT NULL OR k.expires_at <= now(), false) AS "keyEnded",
         coalesce(a.released_until > now(), false) AS released,
         a.rival_instance IS DISTINCT FROM $3 OR a.rival_told_at <= now() - interval '${REPORT_INTERVAL}' AS unreported
       FROM agents a LEFT JOIN api_keys k ON k.id = a.key_id
       WHERE a.organization_id = $1 AND a.name = $2 FOR UPDATE OF a`,
      [organization, visit.name, visit.instance, AGENT_AWAY_SECONDS, visit.keyId],
    );
  }

  /** @returns whether this request inserted it */
  private async create(tx: Tx, organization: OrganizationId, visit: AgentVisit): Promise<boolean> {
    await tx.query(
      `DELETE FROM agents a WHERE organization_id = $1 AND seen_at < now() - interval '${UNUSED_NAME_TTL}'
         AND NOT EXISTS (SELECT FROM targets t JOIN resources r ON r.target_id = t.id WHERE t.key = a.target_key)`,
      [organization],
    );
    return touches(
      tx,
      `INSERT INTO agents (organization_id, name, target_key, instance, address, software, key_id, seen_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7, now()) ON CONFLICT DO NOTHING RETURNING 1`,
      [organization, visit.name, visit.targetKey, visit.instance, visit.address, visit.software, visit.keyId],
    );
  }

  private async noteRival(tx: Tx, id: string, { instance, address }: AgentVisit): Promise<void> {
    await tx.query(
      `UPDATE agents SET rival_instance = $2, rival_address = $3, rival_seen_at = now(),
         rival_told_at = CASE WHEN rival_instance IS DISTINCT FROM $2 OR rival_told_at <= now() - interval '${REPORT_INTERVAL}'
           THEN now() ELSE rival_told_at END
       WHERE id = $1`,
      [id, instance, address],
    );
  }

  /**
   * The rules of the host become unknown: reports of another installation prove nothing about this one, and a host that
   * was away may have closed rules whose silence limit had passed.
   * @param since the last request before: from then on a rule may have been absent until it is observed again
   */
  private async invalidateRules(tx: Tx, targetKey: string, since: string): Promise<void> {
    await lockOwners(
      tx,
      `targets t JOIN rules r ON r.target_id = t.id JOIN rule_holders holder ON holder.rule_id = r.id
       JOIN resource_ips ip ON ip.id = holder.resource_ip_id
       WHERE t.key = $1 AND r.state <> 'absent'`,
      [targetKey],
    );
    const [target] = await tx.query<{ id: string; since: Instant }[]>(
      'SELECT id, (extract(epoch FROM $2::timestamptz) * 1000)::float8 AS since FROM targets WHERE key = $1',
      [targetKey, since],
    );
    if (!target) return;
    const { rules, now } = await this.rules.lockAlone(tx, await this.rules.live(tx, target.id));
    await this.rules.save(tx, { rules: rules.map((rule) => ruleLife.unproven(rule, target.since, now)) });
  }
}

const mayTakeOver = ({ released, otherKey, keyEnded, away }: Known): boolean =>
  released || (otherKey ? keyEnded : away);
