import { AGENT_AWAY_SECONDS, type OrganizationId } from '#rules';
import { withoutContent } from './agent-version';
import { type TenantStore, type Tx, returned } from '#entities';

/** Who asks under an agent's name. */
export interface AgentVisit {
  /** in lower case */
  readonly name: string;
  readonly targetKey: string;
  /** of the API key it asks with */
  readonly keyId: string;
  /** the same for one installation, across its restarts */
  readonly instance: string;
  readonly address: string | null;
  readonly software: string | null;
}

/** The installation that serves under a name. Its row is locked until the transaction ends. */
export interface ServingAgent {
  readonly id: string;
  readonly targetKey: string;
  readonly servedVersion: string | null;
}

export type Admission =
  /** `connected`: it is new, was away, or took over from another installation or key */
  | { readonly kind: 'serving'; readonly agent: ServingAgent; readonly connected: boolean }
  /**
   * another installation serves, or this one with another key; `untold`: nobody was told of the two yet, or not for a
   * while
   */
  | {
      readonly kind: 'rival';
      readonly id: string;
      readonly serving: Pick<AgentVisit, 'instance' | 'address'>;
      /** the name is served with another API key */
      readonly otherKey: boolean;
      readonly untold: boolean;
    };

interface Known {
  id: string;
  instance: string;
  address: string | null;
  servedVersion: string | null;
  away: boolean;
  /** served with another key than the one asked with */
  otherKey: boolean;
  /** that key is revoked or expired */
  keyEnded: boolean;
  released: boolean;
  untold: boolean;
}

/** A name that no resource has is forgotten after so long without its agent, when a new one comes. */
const FORGOTTEN_AFTER = '30 days';
/** How long another key may take over a name after an administrator released it. */
const RELEASED_FOR = '1 hour';
/** Between two reports of the same two installations. */
const REPORT_INTERVAL = '10 minutes';

/** An agent whose name another key may take over. */
export interface ReleasedAgent {
  readonly id: string;
  readonly name: string;
  readonly releasedUntil: Date;
}

/** Agents, and which installation serves under a name. */
export class AgentStore implements TenantStore<AgentStore> {
  /**
   * Lets one installation at a time serve under a name: the first one, for as long as it is not away, and until its key
   * is revoked. Another key takes over when that one is revoked or expired, or the name was released: not because the
   * host is silent. One agent's requests go one after the other from here on.
   */
  async admit(tx: Tx, organization: OrganizationId, visit: AgentVisit): Promise<Admission> {
    const before = await this.locked(tx, organization, visit);
    const created = !before && (await this.create(tx, organization, visit));
    const known = before ?? (await this.locked(tx, organization, visit))!;
    const same = !known.otherKey && known.instance === visit.instance;
    if (!same && !mayTakeOver(known)) {
      await this.noteRival(tx, known.id, visit);
      const { id, otherKey, untold } = known;
      return { kind: 'rival', id, serving: known, otherKey, untold };
    }
    const servedVersion = same ? known.servedVersion : withoutContent(known.servedVersion);
    await tx.query(
      `UPDATE agents SET instance = $2, address = $3, software = $4, seen_at = now(), told_away = false,
         served_version = $5, key_id = $6, released_until = CASE WHEN $7 THEN released_until END WHERE id = $1`,
      [known.id, visit.instance, visit.address, visit.software, servedVersion, visit.keyId, same],
    );
    const agent = { id: known.id, targetKey: visit.targetKey, servedVersion };
    if (!same) await this.doubtRules(tx, visit.targetKey);
    return { kind: 'serving', agent, connected: created || known.away || !same };
  }

  /** For a while another key or installation may take the name over. @returns null when no agent has the name */
  async release(tx: Tx, organization: OrganizationId, name: string): Promise<ReleasedAgent | null> {
    const [released] = returned<ReleasedAgent>(
      await tx.query(
        `UPDATE agents SET released_until = now() + interval '${RELEASED_FOR}'
         WHERE organization_id = $1 AND name = $2 RETURNING id, name, released_until AS "releasedUntil"`,
        [organization, name.toLowerCase()],
      ),
    );
    return released ?? null;
  }

  /** Since the agent was heard of. @returns null when none ever was */
  async secondsAway(tx: Tx, organization: OrganizationId, name: string): Promise<number | null> {
    const [agent] = await tx.query<{ seconds: number }[]>(
      `SELECT extract(epoch FROM now() - seen_at)::float8 AS seconds FROM agents WHERE organization_id = $1 AND name = $2`,
      [organization, name.toLowerCase()],
    );
    return agent?.seconds ?? null;
  }

  /** Asks a worker to tell how the host stands, and to verify again what was given up while the agent was away. */
  async lookAgain(tx: Tx, organization: OrganizationId, targetKey: string, tell: boolean): Promise<void> {
    await tx.query(
      `UPDATE resources r SET verify_due_at = now() FROM targets t
       WHERE t.key = $2 AND r.target_id = t.id AND r.organization_id = $1 AND r.suspended_by_check`,
      [organization, targetKey],
    );
    await tx.query(
      `UPDATE targets SET reconcile_due_at = now(), reconcile_requested = reconcile_requested OR $2 WHERE key = $1`,
      [targetKey, tell],
    );
  }

  private async locked(tx: Tx, organization: OrganizationId, visit: AgentVisit): Promise<Known | undefined> {
    const [known] = await tx.query<Known[]>(
      `SELECT a.id, a.instance, a.address, a.served_version AS "servedVersion",
         a.seen_at <= now() - make_interval(secs => $4) AS away,
         a.key_id IS NOT NULL AND a.key_id <> $5 AS "otherKey",
         coalesce(k.revoked_at IS NOT NULL OR k.expires_at <= now(), false) AS "keyEnded",
         coalesce(a.released_until > now(), false) AS released,
         a.rival_instance IS DISTINCT FROM $3 OR a.rival_told_at <= now() - interval '${REPORT_INTERVAL}' AS untold
       FROM agents a LEFT JOIN api_keys k ON k.id = a.key_id
       WHERE a.organization_id = $1 AND a.name = $2 FOR UPDATE OF a`,
      [organization, visit.name, visit.instance, AGENT_AWAY_SECONDS, visit.keyId],
    );
    return known;
  }

  /** @returns whether it was this request that made it */
  private async create(tx: Tx, organization: OrganizationId, visit: AgentVisit): Promise<boolean> {
    await tx.query(
      `DELETE FROM agents a WHERE organization_id = $1 AND seen_at < now() - interval '${FORGOTTEN_AFTER}'
         AND NOT EXISTS (SELECT FROM targets t JOIN resources r ON r.target_id = t.id WHERE t.key = a.target_key)`,
      [organization],
    );
    const made = await tx.query<unknown[]>(
      `INSERT INTO agents (organization_id, name, target_key, instance, address, software, key_id, seen_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7, now()) ON CONFLICT DO NOTHING RETURNING 1`,
      [organization, visit.name, visit.targetKey, visit.instance, visit.address, visit.software, visit.keyId],
    );
    return made.length > 0;
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

  /** What another installation reported is no proof of what stands on this one. */
  private async doubtRules(tx: Tx, targetKey: string): Promise<void> {
    await tx.query(
      `UPDATE rules SET state = 'unknown', due_at = now(), revision = revision + 1, attempts = 0
       FROM targets t WHERE t.key = $1 AND rules.target_id = t.id AND rules.state = 'present'`,
      [targetKey],
    );
  }
}

const mayTakeOver = ({ released, otherKey, keyEnded, away }: Known): boolean =>
  released || (otherKey ? keyEnded : away);
