import type { ConvergenceStore, Intent } from '#engine-store';
import type { Tx } from '#entities';
import type { CloudTarget, ProviderDriver } from '#drivers';
import { claimsOf, type ChangeResult } from '#rules';
import type { DueChange } from './changes';
import type { HeldLease } from './held-lease';
import type { Pass } from './passes';
import type { Reconciler } from './reconciler';

type Claims = CloudTarget['claims'];

/** What stands in the object by our record: of a list that is written as a whole everything, else what is looked at. */
export async function claimsBefore(
  tx: Tx,
  store: ConvergenceStore,
  held: HeldLease,
  { traits }: ProviderDriver,
  { rules }: Pass,
): Promise<Claims> {
  return claimsOf(traits.wholeList ? await store.standing(tx, held.lease) : rules);
}

/** Our record once the changes are noted. */
export function claimsAfter(before: Claims, planned: readonly DueChange[]): Claims {
  const added = planned.flatMap((change) =>
    change.action === 'add' ? [[change.rule.key, change.rule.ruleId] as const] : [],
  );
  return new Map([...before, ...added]);
}

/** A list that may still be written by a call nobody heard of is compared again when it no longer can be. */
export async function noteAnswer(
  tx: Tx,
  store: ConvergenceStore,
  reconciler: Pick<Reconciler, 'askIn'>,
  sent: {
    readonly held: HeldLease;
    readonly intent: Intent;
    readonly results: readonly ChangeResult[];
    readonly horizonMs: number;
  },
): Promise<void> {
  const isInDoubt = sent.results.some(({ result }) => result === 'unknown');
  if (isInDoubt) await reconciler.askIn(sent.held, sent.horizonMs / 1000);
  else await store.heard(tx, sent.held.lease, sent.intent);
}
