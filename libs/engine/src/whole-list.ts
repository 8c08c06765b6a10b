import type { ConvergenceStore, Intent } from '#engine-store';
import type { Tx } from '#entities';
import type { CloudTarget, ProviderDriver } from '#drivers';
import { claimsOf, type ChangeResult } from '#rules';
import type { DueChange } from './changes';
import type { HeldLease } from './held-lease';
import type { Pass } from './passes';
import type { Reconciler } from './reconciler';

type Claims = CloudTarget['claims'];

/** Recorded rules of ours on the target: all of them if the provider replaces its whole list, else those of the pass. */
export async function claimsBefore(
  tx: Tx,
  store: ConvergenceStore,
  held: HeldLease,
  { traits }: ProviderDriver,
  { rules }: Pass,
): Promise<Claims> {
  return claimsOf(traits.wholeList ? await store.possiblyPresent(tx, held.lease) : rules);
}

/** The claims once the intent of the changes is recorded. */
export function claimsAfter(before: Claims, planned: readonly DueChange[]): Claims {
  const added = planned.flatMap((change) =>
    change.action === 'add' ? [[change.rule.key, change.rule.ruleId] as const] : [],
  );
  return new Map([...before, ...added]);
}

/** Ends the doubt about a whole-list write that was answered. For one in doubt, schedules a comparison after its deadline. */
export async function recordAnswer(
  tx: Tx,
  store: ConvergenceStore,
  reconciler: Pick<Reconciler, 'scheduleComparison'>,
  sent: {
    readonly held: HeldLease;
    readonly intent: Intent;
    readonly results: readonly ChangeResult[];
    readonly horizonMs: number;
  },
): Promise<void> {
  const isInDoubt = sent.results.some(({ result }) => result === 'unknown');
  if (isInDoubt) await reconciler.scheduleComparison(sent.held, sent.horizonMs / 1000);
  else await store.confirmWrite(tx, sent.held.lease, sent.intent);
}
