import { DriverError, type CloudTarget, type ProviderDriver, type RuleChange } from '#drivers';
import type { DueRuleRow } from '#engine-store';
import type { ChangeResult, ObservedRule, PlannedChange, Verdict } from '#rules';
import { BUDGET_SPENT } from './settle-rule';

/** A planned change of a due rule. */
export type DueChange = PlannedChange<DueRuleRow>;

/** A planned change as the driver takes it. */
export function toRuleChange(change: DueChange, deployment: string): RuleChange {
  const { ruleId } = change.rule;
  if (change.action === 'remove') return { action: 'remove', ruleId, providerRuleId: change.providerRuleId };
  const { spec, holders } = change.rule;
  return {
    action: 'add',
    ruleId,
    spec,
    config: holders.find(({ status }) => status !== 'REMOVING')?.config ?? {},
    mark: { deployment, ruleId, expiresAt: lastEnd(change.rule) },
  };
}

/** When the last of its holders ends; null: one has no end. */
function lastEnd({ holders }: DueRuleRow): number | null {
  const ends = holders.flatMap(({ expiresAt }) => (expiresAt === null ? [] : [expiresAt]));
  return ends.length < holders.length ? null : Math.max(...ends);
}

/** A batch of which nothing was sent. */
export function notSent(
  planned: readonly DueChange[],
  { kind, message, retryAfterMs }: DriverError,
): Map<string, ChangeResult> {
  const wait = retryAfterMs === null ? {} : { retryAfterMs };
  return new Map(planned.map(({ rule }) => [rule.ruleId, { result: 'refused', kind, message, ...wait }]));
}

/** The target had no room for what was to be added. */
export const isRoomless = (results: ReadonlyMap<string, ChangeResult>, { rule }: DueChange): boolean => {
  const result = results.get(rule.ruleId);
  return result?.result === 'refused' && result.kind === 'quota';
};

/** The longest that the provider asked us to wait, if it did. */
export function longestWait(results: ReadonlyMap<string, ChangeResult>): number | null {
  const waits = [...results.values()].flatMap((result) =>
    result.result === 'refused' ? (result.retryAfterMs ?? []) : [],
  );
  return waits.length === 0 ? null : Math.max(...waits);
}

/** Changes held back because the account's write budget is spent. */
export function heldBack(planned: readonly DueChange[]): Map<string, ChangeResult> {
  return new Map(
    planned.map(({ rule }) => [rule.ruleId, { result: 'refused', kind: 'throttled', message: BUDGET_SPENT }]),
  );
}

/** The read after the change failed: what was changed is not settled, whatever the read before showed. */
export function unseen(
  verdict: Verdict<DueRuleRow>,
  results: ReadonlyMap<string, ChangeResult>,
): Verdict<DueRuleRow> {
  const { rule } = verdict;
  const result = results.get(rule.ruleId);
  if (!result || verdict.kind === 'retry' || verdict.kind === 'failed') return verdict;
  const unknown = result.result === 'unknown';
  return { rule, kind: 'retry', message: null, unknown, stands: false, refused: false };
}

/** What is present on the target; null when it could not be read. */
export async function readOrNull(
  driver: ProviderDriver,
  target: CloudTarget,
): Promise<ObservedRule[] | null> {
  try {
    return await driver.readRules(target);
  } catch (error) {
    if (error instanceof DriverError) return null;
    throw error;
  }
}

/** @throws what was thrown, when it is not a driver's */
export function asDriverError(error: unknown): DriverError {
  if (error instanceof DriverError) return error;
  throw error;
}

/** Of a call's deadline: by then an add without an answer has landed or never will. */
const IN_FLIGHT_DEADLINES = 2;

/** How long after its intent a change may still land, ms. */
export const horizonMs = (driver: ProviderDriver): number =>
  IN_FLIGHT_DEADLINES * driver.traits.callTimeoutMs;
