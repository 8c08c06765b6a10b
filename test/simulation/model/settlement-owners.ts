import type { AffectedSession, AffectedStaticRule, SettlementOwnersStore } from '#engine-store';
import type { OrganizationId, SessionStatus } from '#rules';
import type { Modelled } from './modelled';
import type { Tables } from './tables';

/** `SettlementOwnersStore` in memory. */
export class ModelSettlementOwners implements Modelled<SettlementOwnersStore> {
  constructor(private readonly tables: Tables) {}

  sessions(ids: readonly string[]): AffectedSession[] {
    return [...ids].sort().flatMap((id) => {
      const session = this.tables.sessions.get(id);
      if (!session) return [];
      const { organizationId, status, endedReason, userId } = session;
      const ips = this.tables.ipsWhere((ip) => ip.sessionId === id);
      const messages = ips.filter((ip) => ip.status === 'FAILED').flatMap((ip) => ip.errorMessage ?? []);
      const isSuspended = ips.some(
        (ip) => ip.status === 'PENDING' && this.tables.heldBy(ip).some((rule) => rule.isSuspended),
      );
      return [
        {
          id,
          organizationId,
          status,
          endedReason,
          userId,
          userEmail: userId,
          errorMessage: messages.sort()[0] ?? null,
          statuses: ips.map((ip) => ip.status),
          leaseLost: false,
          isSuspended: status !== 'PENDING' && status !== 'EXPIRING' && isSuspended,
        },
      ];
    });
  }

  moveSessions(
    moves: readonly { readonly id: string; readonly from: SessionStatus; readonly to: SessionStatus }[],
  ): string[] {
    return moves.flatMap(({ id, from, to }) => {
      const session = this.tables.sessions.get(id);
      if (session?.status !== from) return [];
      this.tables.moveSession(session, to);
      return [id];
    });
  }

  staticRules(ids: readonly string[]): AffectedStaticRule[] {
    return ids.flatMap((id) => {
      const rule = this.tables.staticIpRules.get(id);
      if (!rule || rule.deletedAt !== null) return [];
      const { organizationId, label, ipAddress } = rule;
      const statuses = this.tables
        .ipsWhere(
          ({ staticIpRuleId, status, releasedAt }) =>
            staticIpRuleId === id && status !== 'REMOVING' && status !== 'REMOVED' && releasedAt === null,
        )
        .map((ip) => ip.status);
      return [{ id, organizationId, label, ipAddress, statuses }];
    });
  }

  writeVerifiedResources(targetId: string): { id: string; organizationId: OrganizationId; name: string }[] {
    return [...this.tables.resources.values()]
      .filter((one) => one.targetId === targetId && one.writeVerified && one.deletedAt === null)
      .map(({ id, organizationId, name }) => ({ id, organizationId, name }));
  }
}
