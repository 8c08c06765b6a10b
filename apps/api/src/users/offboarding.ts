import { Injectable } from '@nestjs/common';
import type { WokenTargets } from '#engine-store/port';
import type { AuditActor, Trail, Tx } from '#entities';
import { OffboardingStore } from '#tenant-store';
import { WakeUps } from '#jobs';
import type { OrganizationId } from '#rules';

/** Ends what a user leaves behind who is deactivated or deleted. */
@Injectable()
export class Offboarding {
  constructor(
    private readonly store: OffboardingStore,
    private readonly wakeUps: WakeUps,
  ) {}

  /**
   * In the transaction of the offboarding: live sessions, API keys, refresh tokens, invitations and resets.
   * @returns the targets to wake workers for once it is committed
   */
  async end(
    tx: Tx,
    organization: OrganizationId,
    user: { id: string; email: string },
    actor: AuditActor,
    trail: Trail,
  ): Promise<WokenTargets[]> {
    const due = await this.store.endSessions(tx, organization, user, actor, trail);
    await this.store.revokeKeys(tx, organization, user.id, actor, trail);
    await this.store.endTokens(tx, organization, user.id);
    return due;
  }

  leaveRoles(tx: Tx, organization: OrganizationId, userId: string): Promise<void> {
    return this.store.leaveRoles(tx, organization, userId);
  }

  wakeWorkers(due: readonly WokenTargets[]): void {
    this.wakeUps.wake('revoke-rules', due);
  }
}
