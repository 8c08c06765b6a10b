import { Injectable, Logger } from '@nestjs/common';
import type { WokenTargets } from '#engine-store/port';
import type { Tx } from '#entities';
import { WakeUps } from '#jobs';
import type { OrganizationId } from '#rules';
import { TenantStores } from '#tenant-store';
import { auditActor } from '../audit/audit-actor';
import { BillingService } from '../billing/billing.service';
import { ApiError, conflict, forbidden, invalidField, notPossible } from '../errors';
import type { Actor } from '../http/actor';
import { CodeProtectedActions } from '../mfa/code-protected-actions';
import { MfaCodes } from '../mfa/mfa-codes';
import type { DeleteOrganizationDto } from './dto/organization.dto';

/** Deletes organizations: at once for people, keys and trusts, in the clouds as their rules are removed. */
@Injectable()
export class OrganizationDeletion {
  private readonly logger = new Logger('OrganizationDeletion');

  constructor(
    private readonly stores: TenantStores,
    private readonly billing: BillingService,
    private readonly protectedActions: CodeProtectedActions,
    private readonly codes: MfaCodes,
    private readonly wakeUps: WakeUps,
  ) {}

  /** @throws ApiError 403 without MFA; 400 for another slug, a wrong code, and while there are other administrators */
  async deleteOwn(actor: Actor, { confirmSlug, code }: DeleteOrganizationDto): Promise<void> {
    const { principal } = actor;
    const { organizationId, organizationName, organizationSlug } = principal;
    if (!principal.mfaEnabled)
      throw forbidden('Deleting the organization takes a second factor: set it up with POST /mfa/setup');
    if (confirmSlug !== organizationSlug) {
      throw invalidField('confirmSlug', 'must be the slug of your organization: see GET /organization');
    }
    const woken = await this.protectedActions.withCode(
      actor,
      'ORGANIZATION_DELETED',
      async (tx) => {
        if (!(await this.stores.organizationDeletion.lock(tx, organizationId)))
          throw conflict('The organization is deleted already');
        const others = await this.stores.organizationDeletion.otherAdmins(
          tx,
          organizationId,
          principal.userId,
        );
        if (others.length > 0) throw notTheLast(others);
        const isRight = await this.codes.consume(tx, principal, code);
        return isRight ? this.stores.organizationDeletion.begin(tx, organizationId, auditActor(actor)) : null;
      },
      { resourceType: 'ORGANIZATION', resourceId: organizationId, resourceName: organizationName },
    );
    await this.goOn(actor, organizationId, woken);
  }

  /** For platform operators. Call `goOn` after the commit. @returns null when there is nothing to delete */
  async begin(tx: Tx, actor: Actor, organization: OrganizationId): Promise<WokenTargets[] | null> {
    if (!(await this.stores.organizationDeletion.lock(tx, organization))) return null;
    return this.stores.organizationDeletion.begin(tx, organization, auditActor(actor));
  }

  /** Idempotent. A subscription that cannot be cancelled keeps the organization from being closed. */
  async goOn(actor: Actor, organizationId: OrganizationId, woken: readonly WokenTargets[]): Promise<void> {
    this.wakeUps.wake('revoke-rules', woken);
    try {
      await this.billing.cancel({ ...actor, principal: { ...actor.principal, organizationId } });
    } catch (error) {
      // there is none
      if (error instanceof ApiError && error.getStatus() === 404) return;
      const msg = 'The subscription of a deleted organization is not cancelled: delete it again by /platform';
      this.logger.error({ msg, organizationId, err: error });
    }
  }
}

const notTheLast = (others: readonly string[]): ApiError =>
  notPossible(
    `Only the last administrator can delete the organization: demote ${others.slice(0, 3).join(', ')} first`,
  );
