import type { ConvergenceStore, Tx } from '#entities';
import type { CloudTarget, ProviderDriver } from '#drivers';
import { claimsOf, type PlannedChange } from '#rules';
import type { HeldLease } from './held-lease';
import type { Pass } from './passes';

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
export function claimsAfter(before: Claims, { rules }: Pass, planned: readonly PlannedChange[]): Claims {
  const added = new Set(planned.filter(({ action }) => action === 'add').map(({ ruleId }) => ruleId));
  return new Map([
    ...before,
    ...rules.filter(({ ruleId }) => added.has(ruleId)).map(({ key, ruleId }) => [key, ruleId] as const),
  ]);
}
