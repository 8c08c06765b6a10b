import type { ProviderDriver } from '#drivers';
import type { DueRules } from '#engine-store';
import {
  grouped,
  isAtRest,
  type Access,
  type DueRule,
  type Instant,
  type OwnedAccess,
  type PassFacts,
} from '#rules';
import type { HeldLease } from './held-lease';
import type { Timing } from './timing';

/** One step of a convergence: the rules of a target that wait for one access path. */
export interface Step {
  readonly access: OwnedAccess;
  readonly rules: readonly DueRule[];
  /** when they were read: a ResourceIp that was PENDING by then waits for this step */
  readonly since: Instant;
}

/** Limit per organization and round, so that other organizations and newly due rules get their turn. */
const MAX_ADDING_STEPS = 2;

const hasReleased = (rule: DueRule): boolean => rule.holders.some(({ status }) => status === 'REMOVING');

/** Rules to be settled without reading the target, of those kept by others only the released holders; and all that need a read. */
export function sortDue(due: readonly DueRule[]): { local: DueRule[]; open: DueRule[] } {
  const open = due.filter((rule) => !isAtRest(rule));
  const kept = open.filter((rule) => rule.desired && hasReleased(rule));
  return { local: [...due.filter(isAtRest), ...kept], open };
}

/**
 * The steps of one round: all with removals, then a few per organization with additions only. Slow or denied credentials of
 * one tenant delay another's removals by one round at most.
 */
export function stepsOf({ now, rules }: DueRules): Step[] {
  const all = pathsOf(rules).map((step) => ({ ...step, since: now }));
  const removes = ({ rules: some }: Step): boolean => some.some((rule) => !rule.desired);
  const additions = all.filter((step) => !removes(step));
  const turns = [...grouped(additions, ({ access }) => access.organizationId).values()];
  return [...all.filter(removes), ...turns.flatMap((own) => own.slice(0, MAX_ADDING_STEPS))];
}

/** The step through an access path, by the rows as they are now; undefined: nothing waits for it. */
export const stepThrough = (access: Access, { now, rules }: DueRules): Step | undefined =>
  pathsOf(sortDue(rules).open)
    .map((step) => ({ ...step, since: now }))
    .find((step) => accessKey(step.access) === accessKey(access));

/**
 * Groups rules by access path. Each waiting holder observes its rule through its own credential, so that pointing at another
 * tenant's target gives no access. An unwanted rule is removed through the path it was written through.
 */
function pathsOf(open: readonly DueRule[]): Pick<Step, 'access' | 'rules'>[] {
  const pairs = open.flatMap((rule) => accessPathsOf(rule).map((access) => ({ access, rule })));
  return [...grouped(pairs, ({ access }) => accessKey(access)).values()].map((pairsOfPath) => ({
    access: pairsOfPath[0]!.access,
    rules: pairsOfPath.map(({ rule }) => rule),
  }));
}

/**
 * Whether the additions of a step need no read before them: nothing of it was written before, and the provider refuses to
 * add what exists.
 */
export const needsNoRead = ({ traits }: Pick<ProviderDriver, 'traits'>, { rules }: Step): boolean =>
  (traits.refusesDuplicates ?? false) && rules.every(isNew);

/** Whether something proves that the access path may write: a verified resource, or a rule that was written through it. */
export const isProven = ({ access, rules }: Step): boolean =>
  rules.some(
    ({ state, writtenWith, holders }) =>
      (state === 'present' && writtenWith !== null && accessKey(writtenWith) === accessKey(access)) ||
      holders.some((holder) => holder.writeVerified && accessKey(holder.access) === accessKey(access)),
  );

const isNew = (rule: DueRule): boolean =>
  rule.desired &&
  rule.mayOpen &&
  rule.state === 'absent' &&
  !rule.inFlight &&
  !rule.inDoubt &&
  rule.recordedId === null &&
  rule.row.attempts === 0;

const accessKey = (access: Access): string => `${access.credentialId} ${access.region ?? ''}`;

const distinct = (paths: readonly OwnedAccess[]): OwnedAccess[] => [
  ...new Map(paths.map((access) => [accessKey(access), access])).values(),
];

/** The access paths of waiting holders; without any, one path for the rule's next attempt. */
function accessPathsOf(rule: DueRule): OwnedAccess[] {
  const ofStatus = (status: string): OwnedAccess[] =>
    rule.holders.filter((holder) => holder.status === status).map((holder) => holder.access);
  const waiting = rule.desired ? ofStatus('PENDING') : [];
  if (waiting.length > 0) return distinct(waiting);
  const { writtenWith, row } = rule;
  const written = writtenWith ? [{ ...writtenWith, organizationId: row.writerOrganizationId }] : [];
  const paths = distinct(
    rule.desired ? [...ofStatus('APPLIED'), ...written] : [...written, ...ofStatus('REMOVING')],
  );
  // a path may no longer work: each attempt takes the next one
  const path = paths[row.attempts % paths.length];
  return path ? [path] : [];
}

const MIN_DENIED_MS = 1000;
const MAX_DENIED_MS = 30_000;

interface Denial {
  readonly until: number;
  readonly waitMs: number;
  readonly message: string;
}

type DeniedTarget = Pick<HeldLease, 'lease'>;

/**
 * Access paths through which a target denied this worker's last additions. More of them wait, so that one organization's
 * denied credentials do not take turns from others on a shared target. Removals never wait for it, and neither does
 * anything on another target. Forgotten by another worker, which tries once.
 */
export class DeniedAdditions {
  private readonly last = new Map<string, Denial>();

  constructor(private readonly timing: Pick<Timing, 'now'>) {}

  /** @returns for how long the additions of a step wait, and the provider's words; null: they do not wait */
  waitOf(target: DeniedTarget, step: Step): Pick<Denial, 'waitMs' | 'message'> | null {
    const denial = this.last.get(keyOf(target, step));
    const waitMs = (denial?.until ?? 0) - this.timing.now();
    return denial && waitMs > 0 && onlyAdds(step) ? { waitMs, message: denial.message } : null;
  }

  note(target: DeniedTarget, step: Step, facts: PassFacts): void {
    if (!onlyAdds(step)) return;
    const now = this.timing.now();
    for (const [key, { until }] of this.last) if (until + MAX_DENIED_MS < now) this.last.delete(key);
    const key = keyOf(target, step);
    const message = denialOf(facts);
    if (message === null) this.last.delete(key);
    else {
      const waitMs = Math.min(MAX_DENIED_MS, 2 * (this.last.get(key)?.waitMs ?? MIN_DENIED_MS / 2));
      this.last.set(key, { until: now + waitMs, waitMs, message });
    }
  }
}

const keyOf = ({ lease }: DeniedTarget, { access }: Step): string => `${lease.targetId} ${accessKey(access)}`;

const onlyAdds = ({ rules }: Step): boolean => rules.every(({ desired }) => desired);

function denialOf({ error, sent }: PassFacts): string | null {
  if (error) return error.kind === 'denied' ? error.message : null;
  for (const { result } of sent.values())
    if (result.result === 'refused' && result.kind === 'denied') return result.message;
  return null;
}
