import { Injectable } from '@nestjs/common';
import type { WokenTargets } from '#engine-store/port';
import type { Tx } from '#entities';
import { LIVE_SESSION_STATUSES, type MaximumDuration } from '#rules';
import { type NewSession, type SessionRow, TenantStores } from '#tenant-store';
import { stopRequest } from './stop-request';
import { invalidField, conflict, forbidden, notFound, notPossible } from '../errors/api-error';
import type { Actor } from '../http/actor';
import type { StartSessionDto } from './dto/start-session.dto';

const NO_DURATION = 'must be left out with replaces: the end of the replaced session is taken over';

const isOver = (): Error => conflict('The session cannot be replaced: it is over');

/** The stopped session, and the targets of its rules. */
interface Replaced {
  readonly session: SessionRow;
  readonly targets: WokenTargets[];
}

/** Stops the session that a new one takes the place of, in the transaction that starts the new one. */
@Injectable()
export class SessionReplacement {
  constructor(private readonly stores: TenantStores) {}

  /**
   * @throws ApiError 400 with `durationHours`, 404 when the session is not in the organization, 403 when it is another
   *   user's, 409 when it is not live
   */
  async find(
    tx: Tx,
    { principal: { organizationId, userId } }: Actor,
    { replaces, durationHours }: Pick<StartSessionDto, 'replaces' | 'durationHours'>,
  ): Promise<SessionRow> {
    if (durationHours !== undefined) {
      throw invalidField('durationHours', NO_DURATION);
    }
    const session = await this.stores.sessions.find(tx, organizationId, replaces!);
    if (!session) throw notFound(`Session ${replaces!} does not exist`);
    if (session.userId !== userId) throw forbidden('The session belongs to another user');
    const hasEnded = (session.leaseUntil ?? session.expiresAt).getTime() <= Date.now();
    if (hasEnded || !LIVE_SESSION_STATUSES.some((status) => status === session.status)) throw isOver();
    return session;
  }

  /** @throws ApiError as `find` */
  async stop(
    tx: Tx,
    actor: Actor,
    dto: Pick<StartSessionDto, 'replaces' | 'durationHours'>,
  ): Promise<Replaced> {
    const session = await this.find(tx, actor, dto);
    const request = stopRequest(actor, session.id, 'MANUAL');
    const targets = await this.stores.sessions.stop(tx, actor.principal.organizationId, request);
    if (!targets) throw isOver();
    return { session, targets };
  }
}

/**
 * What a session keeps of the one that it replaces. Its end is not later than its own resources allow.
 * @throws ApiError 400 when they allow no more time
 */
export function keptTimes(
  { startedAt, expiresAt }: Pick<SessionRow, 'startedAt' | 'expiresAt'>,
  maximum: MaximumDuration,
): NonNullable<NewSession['replaced']> {
  const latest = startedAt.getTime() + maximum.hours * 60 * 60 * 1000;
  if (latest <= Date.now()) {
    throw notPossible(
      `The session cannot be replaced: it has lasted ${maximum.hours} hours, the maximum set by ${maximum.setBy}`,
    );
  }
  return { startedAt, expiresAt: new Date(Math.min(expiresAt.getTime(), latest)) };
}
