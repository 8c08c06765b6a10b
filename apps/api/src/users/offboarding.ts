import { Injectable } from '@nestjs/common';
import type { WokenTargets } from '#engine-store/port';
import type { AuditActor, Tx } from '#entities';
import { OffboardingStore } from '#tenant-store';
import { WakeUps } from '#jobs';
import type { OrganizationId } from '#rules';

/** Ends the access of a user who is deactivated or deleted. */
@Injectable()
export class Offboarding {
  constructor(
    private readonly store: OffboardingStore,
    private readonly wakeUps: WakeUps,
  ) {}

  /**
   * Within the caller's transaction.
   * @returns the targets to wake workers for after the commit
   */
  end(
    tx: Tx,
    organization: OrganizationId,
    user: { id: string; email: string },
    actor: AuditActor,
  ): Promise<WokenTargets[]> {
    return this.store.end(tx, organization, user, actor);
  }

  removeFromRoles(tx: Tx, organization: OrganizationId, userId: string): Promise<void> {
    return this.store.removeFromRoles(tx, organization, userId);
  }

  wakeWorkers(due: readonly WokenTargets[]): void {
    this.wakeUps.wake('revoke-rules', due);
  }
}
