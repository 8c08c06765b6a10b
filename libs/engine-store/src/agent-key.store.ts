import type { OrganizationId } from '#rules';
import { type TenantStore, type Tx, returned } from '#entities';

/** Facts that decide whether a key may serve a name. */
export interface AgentKeyRow {
  /** names the key is bound to, in lower case; empty: not bound yet */
  readonly agents: readonly string[];
  readonly isAgentKey: boolean;
  /** a resource points at the host, or its agent has connected before */
  readonly isKnownHost: boolean;
  /** the name is served with another key that is neither revoked nor expired */
  readonly isHeldByOther: boolean;
  /** until the key expires; null: never */
  readonly secondsLeft: number | null;
}

/** Hosts that the API keys of agents may serve. */
export class AgentKeyStore implements TenantStore<AgentKeyStore> {
  /** Checked again while an agent waits. @returns null when the key is revoked, expired or deleted, or its user inactive */
  async find(
    tx: Tx,
    organization: OrganizationId,
    keyId: string,
    host: { readonly name: string; readonly targetKey: string },
  ): Promise<AgentKeyRow | null> {
    const [key] = await tx.query<AgentKeyRow[]>(
      `SELECT k.agents, 'agent:connect' = ANY (k.scopes) AS "isAgentKey", a.id IS NOT NULL OR EXISTS (
           SELECT FROM targets t JOIN resources r ON r.target_id = t.id
           WHERE t.key = $4 AND r.organization_id = $1) AS "isKnownHost",
         coalesce(other.revoked_at IS NULL AND (other.expires_at IS NULL OR other.expires_at > now()), false)
           AND other.id IS NOT NULL AS "isHeldByOther",
         extract(epoch FROM k.expires_at - now())::float8 AS "secondsLeft"
       FROM api_keys k JOIN users u ON u.id = k.user_id
       LEFT JOIN agents a ON a.organization_id = $1 AND a.name = $3
       LEFT JOIN api_keys other ON other.id = a.key_id AND other.id <> k.id
       WHERE k.organization_id = $1 AND k.id = $2 AND k.revoked_at IS NULL
         AND (k.expires_at IS NULL OR k.expires_at > now()) AND u.is_active`,
      [organization, keyId, host.name, host.targetKey],
    );
    return key ?? null;
  }

  /**
   * Binds an unbound key to a name. Of two concurrent requests, one succeeds.
   * @returns false when it is already bound
   */
  async bind(tx: Tx, organization: OrganizationId, keyId: string, name: string): Promise<boolean> {
    const bound = returned<{ id: string }>(
      await tx.query(
        `UPDATE api_keys SET agents = ARRAY[$3::text]
         WHERE organization_id = $1 AND id = $2 AND agents = '{}' AND revoked_at IS NULL RETURNING id`,
        [organization, keyId, name],
      ),
    );
    return bound.length > 0;
  }
}
