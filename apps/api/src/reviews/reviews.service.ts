import { Injectable } from '@nestjs/common';
import type { Sliced, Tx } from '#entities';
import type { Principal } from '#guards';
import { type Reviewed, type ReviewKind, type ReviewRow, Tenants } from '#tenant-store';
import { recordAction } from '../audit/action-records';
import { Bulk } from '../audit/bulk';
import { forbidden, notFound } from '../errors';
import type { Actor } from '../http/actor';
import type { BulkResultsDto } from '../http/bulk.dto';
import { RolesService } from '../roles/roles.service';
import { StaticIpRulesService } from '../static-ip-rules/static-ip-rules.service';
import type { ReviewDecisionDto, ReviewQueryDto } from './dto/review.dto';

const AUDITED = {
  MEMBERSHIP: { eventType: 'MEMBERSHIP_REVIEWED', resourceType: 'ROLE' },
  STATIC_RULE: { eventType: 'STATIC_IP_RULE_REVIEWED', resourceType: 'STATIC_IP_RULE' },
} as const;

/** What administrators confirm, or take away, after a time. */
@Injectable()
export class ReviewsService {
  constructor(
    private readonly stores: Tenants,
    private readonly many: Bulk,
    private readonly roles: RolesService,
    private readonly staticIpRules: StaticIpRulesService,
  ) {}

  list({ organizationId }: Principal, { kind, ...query }: ReviewQueryDto): Promise<Sliced<ReviewRow>> {
    return this.stores.reviews.list(this.stores.autocommit, organizationId, kind, query);
  }

  /** Each in a transaction of its own. A removal is recorded as one of the role or the rule, too. */
  decide(actor: Actor, decisions: readonly ReviewDecisionDto[]): Promise<BulkResultsDto> {
    return this.many.alone(
      actor,
      ({ kind }) => AUDITED[kind],
      decisions,
      async (decided) => {
        const { organizationId } = actor.principal;
        const { autocommit } = this.stores;
        const reviewed = await this.stores.reviews.find(autocommit, organizationId, decided.kind, decided.id);
        if (!reviewed) throw missing(decided);
        if (decided.decision === 'CONFIRM') await this.confirm(actor, decided, reviewed);
        else await this.remove(actor, decided, reviewed);
        return 'DONE';
      },
    );
  }

  private confirm(actor: Actor, decided: ReviewDecisionDto, reviewed: Reviewed): Promise<void> {
    const { organizationId, userId } = actor.principal;
    return this.stores.transaction(async (tx) => {
      const { kind, id } = decided;
      if (!(await this.stores.reviews.confirm(tx, organizationId, kind, id, userId))) {
        if (!(await this.stores.reviews.find(tx, organizationId, kind, id))) throw missing(decided);
        throw forbidden('It is your own: another administrator confirms it, or you remove it');
      }
      await this.record(tx, actor, decided, reviewed);
    });
  }

  private async remove(actor: Actor, decided: ReviewDecisionDto, reviewed: Reviewed): Promise<void> {
    if (decided.kind === 'STATIC_RULE') await this.staticIpRules.delete(actor, reviewed.id);
    else await this.roles.unassign(actor, reviewed.roleId!, { kind: 'user', id: reviewed.userId! }, true);
    await this.record(this.stores.autocommit, actor, decided, reviewed);
  }

  private record(
    tx: Tx,
    actor: Actor,
    { kind, decision, note }: ReviewDecisionDto,
    { id, roleId, userId, name, email }: Reviewed,
  ): Promise<void> {
    const { eventType, resourceType } = AUDITED[kind];
    const details = {
      decision,
      ...(note ? { note } : {}),
      ...(userId === null ? {} : { userId, userEmail: email }),
    };
    return recordAction(tx, actor, eventType, { type: resourceType, id: roleId ?? id, name }, details);
  }
}

const missing = ({ kind, id }: { readonly kind: ReviewKind; readonly id: string }): Error =>
  notFound(`${kind === 'MEMBERSHIP' ? 'Membership' : 'Static IP rule'} ${id} does not exist, or has ended`);
