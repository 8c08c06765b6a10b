import type { ChangeResult, DriverErrorKind, PassFacts } from '#rules';

/** Why a change was not done: refused as, or without an answer. */
export type FailedChange = DriverErrorKind | 'unknown';

/** Why a change was not done; null: it was. */
export const failureOf = (result: ChangeResult): FailedChange | null =>
  result.result === 'done' ? null : result.result === 'refused' ? result.kind : 'unknown';

const failuresOf = ({ sent }: PassFacts): (FailedChange | null)[] =>
  [...sent.values()].map(({ result }) => failureOf(result));

/** Whether the provider says that the target does not exist. */
export const isNotFound = (facts: PassFacts): boolean =>
  facts.error?.kind === 'target-missing' ||
  (facts.firstRead !== null && failuresOf(facts).includes('target-missing'));

/** How a pass ended, for metrics; null: the target was neither read nor changed. */
export function endOf(facts: PassFacts): 'ok' | FailedChange | null {
  const { error } = facts;
  if (error) return error.kind === 'postponed' ? null : error.kind;
  return failuresOf(facts).find((failure) => failure !== null) ?? 'ok';
}
