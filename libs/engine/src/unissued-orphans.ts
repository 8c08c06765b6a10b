import type { ComparisonStore } from '#engine-store';
import type { Tx } from '#entities';
import type { Drift, ObservedRule } from '#rules';

type UnissuedStore = Pick<ComparisonStore, 'findUnissued' | 'noteUnissuedRemoval'>;

/** Ids of rules in one message. */
const MAX_NAMED = 5;

/** Orphans with an id that this database has not issued: a second installation with the same DEPLOYMENT_ID may have made them. */
export interface UnissuedOrphans {
  /** what people are asked; null: there are none */
  readonly question: string | null;
  readonly keys: ReadonlySet<string>;
  /** how many are left alone */
  readonly held: number;
}

export const NO_UNISSUED: UnissuedOrphans = { question: null, keys: new Set(), held: 0 };

/**
 * Decides which orphans are removed. Of those with an id that this database has not issued, one is in ten minutes: should a
 * second installation exist, its users keep their access while people are asked. The others count as unmanaged.
 */
export async function judgeOrphans(
  tx: Tx,
  store: UnissuedStore,
  targetId: string,
  drift: Drift,
): Promise<{ drift: Drift; unissued: UnissuedOrphans }> {
  if (drift.orphans.length === 0) return { drift, unissued: NO_UNISSUED };
  const { deploymentId, ids, hasRemoved } = await store.findUnissued(tx, targetId, drift.orphans.map(markOf));
  const unissued = drift.orphans.filter((rule) => ids.includes(markOf(rule)));
  if (unissued.length === 0) return { drift, unissued: NO_UNISSUED };
  const held = new Set(hasRemoved ? unissued : unissued.slice(1));
  if (!hasRemoved) await store.noteUnissuedRemoval(tx, targetId);
  return {
    drift: {
      ...drift,
      orphans: drift.orphans.filter((rule) => !held.has(rule)),
      unmanaged: [...drift.unmanaged, ...held],
    },
    unissued: {
      question: questionOf(deploymentId, unissued, held.size),
      keys: new Set(unissued.map(({ key }) => key)),
      held: held.size,
    },
  };
}

const markOf = ({ ownRuleId }: ObservedRule): string => ownRuleId ?? '';

function questionOf(deploymentId: string, rules: readonly ObservedRule[], held: number): string {
  const named = rules.slice(0, MAX_NAMED).map((rule) => `${rule.key} (rule id ${markOf(rule)})`);
  const outcome = [
    ...(rules.length > held ? [`removal of ${rules.length - held} scheduled`] : []),
    ...(held > 0 ? [`${held} left alone for now`] : []),
  ];
  return `${rules.length} with our mark and a rule id that this database has never known, ${outcome.join(', ')}: ${named.join(', ')}${rules.length > MAX_NAMED ? ', …' : ''}. Is there a second installation with DEPLOYMENT_ID=${deploymentId}?`;
}
