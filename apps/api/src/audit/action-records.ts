import { AuditTrail, type AuditEventType, type Tx } from '#entities';
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

export const objectNamed = (type: string, { id, name }: Pick<ActionObject, 'id' | 'name'>): ActionObject => ({
  type,
  id,
  name,
});

const trail = new AuditTrail();

/** Records what a caller of the API has done. Call it in the transaction of the action. */
export const recordAction = (
  tx: Tx,
  actor: Pick<Actor, 'principal' | 'address'>,
  eventType: AuditEventType,
  { type, id, name, failure = null, organizationId = actor.principal.organizationId }: ActionObject,
  details: Readonly<Record<string, unknown>> = {},
): Promise<void> =>
  trail.write(tx, organizationId, {
    ...auditActor(actor),
    eventType,
    resourceType: type,
    resourceId: id,
    resourceName: name,
    result: failure === null ? 'SUCCESS' : 'FAILURE',
    errorMessage: failure,
    details,
  });
