import { HttpStatus, Injectable, Logger } from '@nestjs/common';
import type { WokenTargets } from '#engine-store/port';
import type { AuditActor, Tx } from '#entities';
import { WakeUps } from '#jobs';
import type { OrganizationId } from '#rules';
import { CredentialStore, OrganizationDeletionStore, ResourceRulesStore, UserStore } from '#tenant-store';
import { auditActor } from '../audit/audit-actor';
import { BillingService } from '../billing/billing.service';
import { ApiError, badRequest, conflict, forbidden, notPossible } from '../errors';
import type { Actor } from '../http/actor';
import { CodeProtectedActions } from '../mfa/code-protected-actions';
import { MfaCodes } from '../mfa/mfa-codes';
import { Offboarding } from '../users/offboarding';
import type { DeleteOrganizationDto } from './dto/organization.dto';

/**
 * Deletes organizations: at once for people, keys and trusts, in the clouds as their rules are removed. A worker closes
 * them when the last rule is gone.
 */
@Injectable()
export class OrganizationDeletion {
  private readonly logger = new Logger('OrganizationDeletion');

  constructor(
    private readonly deletions: OrganizationDeletionStore,
    private readonly users: UserStore,
    private readonly rules: ResourceRulesStore,
    private readonly credentials: CredentialStore,
    private readonly offboarding: Offboarding,
    private readonly billing: BillingService,
    private readonly protectedActions: CodeProtectedActions,
    private readonly codes: MfaCodes,
    private readonly wakeUps: WakeUps,
  ) {}

  /** @throws ApiError 403 without MFA; 400 for another slug, a wrong code, and while there are other administrators */
  async deleteOwn(actor: Actor, { confirmSlug, code }: DeleteOrganizationDto): Promise<void> {
    const { principal } = actor;
    const { organizationId, organizationName, organizationSlug, userId } = principal;
    if (!principal.mfaEnabled)
      throw forbidden('Deleting the organization takes a second factor: set it up with POST /mfa/setup');
    if (confirmSlug !== organizationSlug)
      throw badRequest('confirmSlug must be the slug of your organization', {
        confirmSlug: 'must be the slug of your organization, see GET /organization',
      });
    const named = {
      resourceType: 'ORGANIZATION',
      resourceId: organizationId,
      resourceName: organizationName,
    };
    const targets = await this.protectedActions.withCode(
      actor,
      'ORGANIZATION_DELETED',
      async (tx) => {
        if (!(await this.deletions.lock(tx, organizationId)))
          throw conflict('The organization is deleted already');
        const others = await this.deletions.otherAdmins(tx, organizationId, userId);
        if (others.length > 0) throw notTheLast(others);
        return (await this.codes.consume(tx, principal, code))
          ? this.begin(tx, organizationId, auditActor(actor))
          : null;
      },
      named,
    );
    await this.goOn(actor, organizationId, targets);
  }

  /**
   * Ends everything that can open something, within the caller's transaction. Call `goOn` after the commit.
   * @returns the targets to wake workers for; null when there is no such organization, or it is deleted
   */
  async begin(tx: Tx, organization: OrganizationId, by: AuditActor): Promise<WokenTargets[] | null> {
    if (!(await this.deletions.lock(tx, organization))) return null;
    const keeper = await this.deletions.keepAgents(tx, organization);
    await this.deletions.mark(tx, organization);
    const { resourceIds, credentialIds } = await this.deletions.owned(tx, organization);
    const due: WokenTargets[] = [];
    for (const user of await this.users.deleteAll(tx, organization, keeper))
      due.push(...(await this.offboarding.end(tx, organization, user, by, 'audit_records')));
    for (const id of resourceIds) due.push(...(await this.rules.delete(tx, organization, id)));
    for (const id of credentialIds) await this.credentials.remove(tx, organization, id);
    return due;
  }

  /** Idempotent. A subscription that cannot be cancelled keeps the organization from being closed. */
  async goOn(actor: Actor, organizationId: OrganizationId, due: readonly WokenTargets[]): Promise<void> {
    this.wakeUps.wake('revoke-rules', due);
    try {
      await this.billing.cancel({ ...actor, principal: { ...actor.principal, organizationId } });
    } catch (error) {
      if (error instanceof ApiError && error.getStatus() === HttpStatus.NOT_FOUND) return;
      this.logger.error({
        msg: 'The subscription of a deleted organization is not cancelled: delete it again through /platform',
        organizationId,
        err: error,
      });
    }
  }
}

const notTheLast = (others: readonly string[]): ApiError =>
  notPossible(
    `Only the last administrator can delete the organization: ${others.slice(0, 3).join(', ')} ${others.length === 1 ? 'is another' : 'are others'}, see PATCH /users/{id}`,
  );
