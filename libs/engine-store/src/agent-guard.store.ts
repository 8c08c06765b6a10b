import {
  listedInBoth,
  trafficOf,
  type HostGuard,
  type OrganizationId,
  type Traffic,
  type TrafficConfig,
} from '#rules';
import { type TenantStore, type Tx, first, touches } from '#entities';

/** What a host is to release, locked until the transaction ends. */
export interface HostRelease {
  readonly agentId: string;
  readonly pending: readonly Traffic[];
}

/** What hosts report as guarded, and what they are to release. */
export class AgentGuardStore implements TenantStore<AgentGuardStore> {
  /**
   * Stores a reported guard that differs from the stored one.
   * @param agentId of an agent admitted in this transaction
   * @returns the guard before, null if there was none; undefined when nothing differs and nothing was written
   */
  async report(
    tx: Tx,
    organization: OrganizationId,
    agentId: string,
    guard: HostGuard,
  ): Promise<HostGuard | null | undefined> {
    const changed = await first<{ before: HostGuard | null }>(
      tx,
      `UPDATE agents a SET guard = $3, guard_reported_at = now()
       FROM (SELECT id, guard FROM agents WHERE organization_id = $1 AND id = $2) before
       WHERE a.id = before.id AND a.guard IS DISTINCT FROM $3::jsonb RETURNING before.guard AS before`,
      [organization, agentId, JSON.stringify(guard)],
    );
    return changed?.before;
  }

  /**
   * Ends the pending release of traffic that the host no longer guards.
   * @param guarded by a report on the current state, which lists the release
   * @returns whether it changed
   */
  async endRelease(
    tx: Tx,
    organization: OrganizationId,
    targetKey: string,
    guarded: readonly Traffic[],
  ): Promise<boolean> {
    const release = await this.lockRelease(tx, organization, targetKey);
    if (!release) return false;
    const left = listedInBoth(release.pending, guarded);
    return this.setRelease(tx, organization, release, left);
  }

  /** @returns the last reported guard; null: none was reported */
  async find(
    tx: Tx,
    organization: OrganizationId,
    targetKey: string,
  ): Promise<{ guard: HostGuard; reportedAt: Date } | null> {
    return first<{ guard: HostGuard; reportedAt: Date }>(
      tx,
      `SELECT guard, guard_reported_at AS "reportedAt" FROM agents
       WHERE organization_id = $1 AND target_key = $2 AND guard IS NOT NULL`,
      [organization, targetKey],
    );
  }

  /**
   * Locks the host's agent: changes of the resources that name the host's traffic go one after the other.
   * @returns null when no agent ever connected under the name
   */
  async lockRelease(tx: Tx, organization: OrganizationId, targetKey: string): Promise<HostRelease | null> {
    return first<HostRelease>(
      tx,
      `SELECT id AS "agentId", pending_release AS pending FROM agents
       WHERE organization_id = $1 AND target_key = $2 FOR UPDATE`,
      [organization, targetKey],
    );
  }

  /** @param left in canonical order. @returns whether it differs from what was pending */
  async setRelease(
    tx: Tx,
    organization: OrganizationId,
    { agentId }: HostRelease,
    left: readonly Traffic[],
  ): Promise<boolean> {
    return touches(
      tx,
      `UPDATE agents SET pending_release = $3
       WHERE organization_id = $1 AND id = $2 AND pending_release <> $3::jsonb RETURNING 1`,
      [organization, agentId, JSON.stringify(left)],
    );
  }

  /** What the host's resources name, except this one. @param resourceId null: except none */
  async listTraffic(
    tx: Tx,
    organization: OrganizationId,
    targetKey: string,
    resourceId: string | null,
  ): Promise<Traffic[]> {
    const others = await tx.query<{ config: TrafficConfig }[]>(
      `SELECT r.config FROM resources r JOIN targets t ON t.id = r.target_id
       WHERE t.key = $2 AND r.organization_id = $1 AND r.deleted_at IS NULL AND r.id IS DISTINCT FROM $3::uuid`,
      [organization, targetKey, resourceId],
    );
    return others.flatMap(({ config }) => trafficOf(config));
  }
}
