import type { Address, Holder, TargetRule } from '#engine-store';
import {
  DETACHING_CAUSES,
  HOLDING_STATUSES,
  type Access,
  type ResourceIpStatus,
  type RuleState,
} from '#rules';
import type { TargetRows } from './target-rows';

/** An address that waits for a pass, and has waited since then. */
export interface Waiting {
  readonly resourceIpId: string;
  readonly pendingSince: number;
}

/** A holder of a rule of an affected address. */
export interface AffectedHolder {
  readonly ruleId: string;
  readonly resourceIpId: string;
  readonly status: ResourceIpStatus;
  readonly organizationId: string;
  readonly writeVerified: boolean;
  /** released here while its address continues on another target */
  readonly isDetached: boolean;
  /** not released, and its address is PENDING or APPLIED */
  readonly isLive: boolean;
  /** PENDING for this pass since before the pass began */
  readonly waits: boolean;
}

type AffectedRule = Pick<
  TargetRule,
  'key' | 'isUnmanaged' | 'writerOrganizationId' | 'providerRuleId' | 'lastError'
> & {
  readonly ruleId: string;
  /** `unknown` for a due rule outside this pass: it may be gone by now */
  readonly state: RuleState;
};

/** Everything a settlement may move, and the state that decides it. */
export interface Affected {
  readonly ips: readonly Address[];
  readonly holders: readonly AffectedHolder[];
  /** ordered by key */
  readonly rules: readonly AffectedRule[];
}

const isDetached = ({ releaseCause }: Holder): boolean =>
  DETACHING_CAUSES.some((cause) => cause === releaseCause);

/**
 * The addresses of these rules whose status may change: those being removed, and those that wait for this pass through their
 * own access path.
 * @param access of the pass; null: any
 */
export function affectedBy(
  rows: TargetRows,
  ruleIds: ReadonlySet<string>,
  waiting: readonly Waiting[],
  access: Access | null,
): Affected {
  const since = new Map(waiting.map(({ resourceIpId, pendingSince }) => [resourceIpId, pendingSince]));
  const waits = ({ id, status, pendingSince }: Address): boolean =>
    status === 'PENDING' && since.get(id) === pendingSince;
  const isOwnPath = ({ resource }: Address): boolean =>
    access === null ||
    (resource?.access.credentialId === access.credentialId && resource.access.region === access.region);
  const own = [...ruleIds].flatMap((id) => rows.holdersOf(id));
  const ips = [...new Set(own.map(({ resourceIpId }) => resourceIpId))]
    .toSorted()
    .map((id) => rows.address(id))
    .filter((address) => address.status === 'REMOVING' || (waits(address) && isOwnPath(address)));
  const held = new Set([
    ...ips.flatMap(({ id }) => rows.heldBy(id)).map(({ ruleId }) => ruleId),
    ...own.filter(isDetached).map(({ ruleId }) => ruleId),
  ]);
  const rules = rows.loaded.rules.filter(({ id }) => held.has(id)).map(({ id }) => rows.rule(id)!);
  return {
    ips,
    holders: rules.flatMap(({ id }) =>
      rows.holdersOf(id).map((holder): AffectedHolder => {
        const address = rows.address(holder.resourceIpId);
        const { status, organizationId, resource } = address;
        return {
          ruleId: id,
          resourceIpId: address.id,
          status,
          organizationId,
          writeVerified: resource?.writeVerified ?? false,
          isDetached: isDetached(holder),
          isLive: holder.releasedAt === null && HOLDING_STATUSES.some((holding) => holding === status),
          waits: waits(address),
        };
      }),
    ),
    rules: rules.map((rule) => ({
      ...rule,
      ruleId: rule.id,
      state:
        rule.state === 'present' && rule.dueAt !== null && !ruleIds.has(rule.id) ? 'unknown' : rule.state,
    })),
  };
}
