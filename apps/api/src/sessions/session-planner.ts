import { Injectable } from '@nestjs/common';
import type { Tx } from '#entities';
import { maximumDuration, widened, type Caller } from '#rules';
import { type SessionRow, TenantStores } from '#tenant-store';
import { ApiSettings } from '../api.settings';
import type { Actor } from '../http/actor';
import { hoursOf, sessionDemand } from './session-demand';
import type { CompletedStart } from './session-permission';
import { keptTimes } from './session-replacement';
import {
  fieldDifferingFromCaller,
  inactiveResources,
  mustBeCallerAddress,
  refuseTooMany,
  selectGrants,
  sessionAddresses,
  sessionHours,
  type PlannedSession,
} from './session-plan';

/** For addresses that are not the caller's. */
const UNKNOWN: Caller = { address: null, unusable: null };

/** What a start, an access request and a plan ask for. */
type AskedSession = Pick<
  CompletedStart,
  | 'resourceIds'
  | 'resourceNames'
  | 'ipv4Address'
  | 'ipv6Address'
  | 'durationHours'
  | 'reason'
  | 'breakGlass'
  | 'isDetected'
>;

/** Plans sessions, once for whatever asks for one: a start, an access request, and who wants to see what a start would do. */
@Injectable()
export class SessionPlanner {
  constructor(
    private readonly stores: TenantStores,
    private readonly settings: ApiSettings,
  ) {}

  /**
   * @param replaced the session whose times are taken over; null: none
   * @throws ApiError 400, 403 or 404 naming what keeps it from being opened, approvals aside
   */
  async plan(
    tx: Tx,
    actor: Actor,
    asked: AskedSession,
    replaced: SessionRow | null = null,
  ): Promise<PlannedSession> {
    const { principal } = actor;
    const { organizationId, userId, tier } = principal;
    const policy = { allowPrivate: this.settings.ALLOW_PRIVATE_ADDRESSES };
    const known = await this.stores.sessions.grants(tx, organizationId, userId, asked);
    const addresses = sessionAddresses(asked, asked.isDetected ? actor : UNKNOWN, policy);
    const field = fieldDifferingFromCaller(asked, addresses, actor);
    if (field !== null && principal.requireDetectedAddress) throw mustBeCallerAddress(field, actor);
    const grants = selectGrants(known, asked);
    refuseTooMany(grants.length, principal.maxResourcesPerSession);
    const maximum = maximumDuration(tier, grants);
    const hours = sessionHours(asked.durationHours, this.settings.SESSION_DEFAULT_HOURS, maximum);
    const kept = replaced && keptTimes(replaced, maximum);
    const demand = sessionDemand(tier, grants, { ...asked, hours: hoursOf(hours, kept) });
    const ipv6 = addresses.ipv6 && widened(addresses.ipv6, demand.ipv6PrefixLength, policy);
    return {
      grants,
      inactiveResources: inactiveResources(known, asked),
      addresses,
      opened: { ...addresses, ipv6 },
      addressDiffers: field !== null,
      hours,
      maximum,
      replaced: kept,
      demand,
      limits: {
        perUser: this.settings.MAX_LIVE_SESSIONS_PER_USER,
        perServiceUser: this.settings.MAX_LIVE_SESSIONS_PER_SERVICE_USER,
      },
    };
  }
}
