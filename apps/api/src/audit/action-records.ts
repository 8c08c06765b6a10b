import { Injectable } from '@nestjs/common';
import type { AuditEventType, Tx } from '#entities';
import { TenantStores } from '#tenant-store';
import type { OrganizationId } from '#rules';
import type { Actor } from '../http/actor';
import { auditActor } from './audit-actor';

/** What an action was about. */
export interface ActionObject {
  readonly type: string;
  readonly id: string;
  readonly name: string | null;
  /** why the action failed; null or left out: it succeeded */
  readonly failure?: string | null;
  /** whose audit trail has the record; left out: the actor's */
  readonly organizationId?: OrganizationId;
}

/** An object of the organization by its id and name. */
export const objectNamed = (type: string, { id, name }: Pick<ActionObject, 'id' | 'name'>): ActionObject => ({
  type,
  id,
  name,
});

/** Audit records of what callers of the API do. */
@Injectable()
export class ActionRecords {
  constructor(private readonly stores: TenantStores) {}

  /** Call it in the transaction of the action. */
  record(
    tx: Tx,
    actor: Pick<Actor, 'principal' | 'address'>,
    eventType: AuditEventType,
    { type, id, name, failure = null, organizationId = actor.principal.organizationId }: ActionObject,
    details: Readonly<Record<string, unknown>> = {},
  ): Promise<void> {
    return this.stores.audit.write(tx, organizationId, {
      ...auditActor(actor),
      eventType,
      resourceType: type,
      resourceId: id,
      resourceName: name,
      result: failure === null ? 'SUCCESS' : 'FAILURE',
      errorMessage: failure,
      details,
    });
  }
}
