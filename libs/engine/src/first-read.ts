import type { Access } from '#rules';
import type { ProviderDriver } from '#drivers';
import type { DueRuleRow } from '#engine-store';
import type { HeldLease } from './held-lease';
import type { Pass } from './passes';
import type { TimedRead } from './timed-read';
import type { Timing } from './timing';

/** How long a read of the target serves the next pass too, ms: so long another program's change may go unnoticed. */
export const REUSED_FOR_MS = 1000;
/** Reads that are kept. They are dropped with the next one after their time. */
const MAX_KEPT_READS = 200;

/**
 * Whether the additions of a pass need no read before them: nothing of it was written before, and the provider refuses to
 * add what exists.
 */
export const needsNoRead = (driver: ProviderDriver, held: HeldLease, { rules, shared }: Pass): boolean =>
  (driver.traits.refusesDuplicates?.includes(held.lease.resourceType) ?? false) &&
  // another pass of the round may have added a shared rule already
  rules.every((rule) => isNew(rule) && !shared.has(rule.ruleId));

const isNew = (rule: DueRuleRow): boolean =>
  rule.desired &&
  rule.mayOpen &&
  rule.state === 'absent' &&
  !rule.inFlight &&
  !rule.inDoubt &&
  !rule.recordedId &&
  rule.attempts === 0;

/** What a pass that needs no read takes for one: its rules are recorded as absent. */
export const assumedRead = (timing: Pick<Timing, 'now'>): TimedRead => {
  const now = timing.now();
  return { rules: [], startedAt: now, endedAt: now };
};

interface KeptRead extends Access {
  readonly read: TimedRead;
  readonly generation: bigint;
}

/** The last reads of this worker, for removals that follow soon after an addition. */
export class RecentReads {
  private readonly kept = new Map<string, KeptRead>();

  constructor(private readonly timing: Pick<Timing, 'now'>) {}

  /** Keeps what a read showed of the rules of a pass. */
  keep(
    { lease }: Pick<HeldLease, 'lease'>,
    { access, rules }: Pass,
    { rules: observed, ...times }: TimedRead,
  ): void {
    const { targetId, generation } = lease;
    const { credentialId, region } = access;
    const keys = new Set(rules.map(({ key }) => key));
    const read = { ...times, rules: observed.filter(({ key }) => keys.has(key)) };
    this.kept.delete(targetId);
    this.kept.set(targetId, { read, credentialId, region, generation: BigInt(generation) });
    for (const [oldest, { read: last }] of this.kept) {
      if (this.kept.size <= MAX_KEPT_READS && this.isRecent(last)) break;
      this.kept.delete(oldest);
    }
  }

  /** @returns null unless the pass only removes what the read showed, and no other worker held the target since */
  before({ lease }: Pick<HeldLease, 'lease'>, { access, rules }: Pass): TimedRead | null {
    const kept = this.kept.get(lease.targetId);
    if (!kept || !this.isRecent(kept.read)) return null;
    const isSamePath = kept.credentialId === access.credentialId && kept.region === access.region;
    const isOwn = BigInt(lease.generation) - kept.generation <= 1n;
    const shown = new Set(kept.read.rules.map(({ key }) => key));
    const onlyRemoves = rules.every(
      (rule) => !rule.desired && !rule.inFlight && !rule.inDoubt && shown.has(rule.key),
    );
    return isSamePath && isOwn && onlyRemoves ? kept.read : null;
  }

  private isRecent({ startedAt }: TimedRead): boolean {
    return this.timing.now() - startedAt <= REUSED_FOR_MS;
  }
}
