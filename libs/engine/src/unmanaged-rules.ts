import { createHash } from 'node:crypto';
import type { LedgerRow, Origin, EngineStore } from '#engine-store';
import type { Tx } from '#entities';
import type { ObservedRule } from '#rules';

const nameOf = ({ key, providerRuleId }: Pick<ObservedRule, 'key' | 'providerRuleId'>): string =>
  `${providerRuleId} ${key}`;

/**
 * Records unmanaged rules that appeared or disappeared since the last comparison.
 * @param observed the unmanaged rules
 * @param all all rules of the read
 */
export async function recordUnmanaged(
  tx: Tx,
  { unmanaged, ledger }: EngineStore,
  targetId: string,
  observed: readonly ObservedRule[],
  all: readonly ObservedRule[],
  ago: () => number,
  origin: Origin,
): Promise<LedgerRow[]> {
  const before = new Map((await unmanaged.seen(tx, targetId)).map((rule) => [nameOf(rule), rule]));
  const now = new Map(observed.map((rule) => [nameOf(rule), rule]));
  const appeared = [...now].flatMap(([name, rule]) => (before.has(name) ? [] : [rule]));
  const left = [...before].flatMap(([name, rule]) => (now.has(name) ? [] : [rule]));
  const present = new Set(all.map(nameOf));
  const gone = left.filter((rule) => !present.has(nameOf(rule)));
  const events: LedgerRow[] = [];
  if (gone.length > 0) {
    const closed = gone.map((rule) => ({ ...rule, kind: 'CLOSED' as const }));
    events.push(...(await ledger.recordUnmanaged(tx, targetId, closed, ago(), origin)));
  }
  // a rule that is still present is no longer unmanaged: it is an orphan
  if (left.length > 0) await unmanaged.remove(tx, targetId, left);
  if (appeared.length > 0) {
    await unmanaged.add(tx, targetId, appeared, ago());
    const seen = appeared.map(({ key, providerRuleId }) => ({
      kind: 'FOUND' as const,
      key,
      providerRuleId,
    }));
    events.push(...(await ledger.recordUnmanaged(tx, targetId, seen, ago(), origin)));
  }
  return events;
}

/** Changes exactly when an unmanaged rule appears or disappears. */
export function digestOf(observed: readonly ObservedRule[]): string {
  const names = observed.map(nameOf).sort();
  return createHash('sha256').update(names.join('\n')).digest('base64url');
}
