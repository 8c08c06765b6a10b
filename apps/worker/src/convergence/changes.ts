import { randomUUID } from 'node:crypto';
import { DriverError, type CloudTarget, type ProviderDriver, type RuleChange } from '#drivers';
import type { DueRuleRow } from '#entities';
import {
  type ChangeResult,
  type ObservedRule,
  type PlannedChange,
  type SuperfluousRule,
  type Verdict,
} from '#rules';
import { BUDGET_SPENT } from './settle-rule';

/** A planned change as the driver takes it. */
export function toRuleChange(
  change: PlannedChange,
  rules: readonly DueRuleRow[],
  deployment: string,
): RuleChange {
  if (change.action === 'remove') return change;
  const rule = rules.find(({ ruleId }) => ruleId === change.ruleId)!;
  return {
    action: 'add',
    ruleId: rule.ruleId,
    spec: rule.spec,
    config: rule.holders.find(({ status }) => status !== 'REMOVING')?.config ?? {},
    mark: { deployment, ruleId: rule.ruleId, expiresAt: lastEnd(rule) },
  };
}

/** When the last of its holders ends; null: one has no end. */
function lastEnd({ holders }: DueRuleRow): number | null {
  const ends = holders.flatMap(({ expiresAt }) => (expiresAt === null ? [] : [expiresAt]));
  return ends.length < holders.length ? null : Math.max(...ends);
}

/** What makes room in a full object, as much as one batch takes. What the database does not know gets an id for now. */
export const removalsOf = (rules: readonly SuperfluousRule[], most: number): PlannedChange[] =>
  rules.slice(0, most).map(({ ruleId, providerRuleId }) => ({
    action: 'remove',
    ruleId: ruleId ?? randomUUID(),
    providerRuleId,
  }));

/** A batch of which nothing was sent. */
export function notSent(
  changes: readonly RuleChange[],
  { kind, message, retryAfterMs }: DriverError,
): Map<string, ChangeResult> {
  const wait = retryAfterMs === null ? {} : { retryAfterMs };
  return new Map(changes.map(({ ruleId }) => [ruleId, { result: 'refused', kind, message, ...wait }]));
}

/** The object had no room for what was to be added. */
export const isRoomless = (
  results: ReadonlyMap<string, ChangeResult>,
  { ruleId }: PlannedChange,
): boolean => {
  const result = results.get(ruleId);
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
export function heldBack(planned: readonly PlannedChange[]): Map<string, ChangeResult> {
  return new Map(
    planned.map(({ ruleId }) => [ruleId, { result: 'refused', kind: 'throttled', message: BUDGET_SPENT }]),
  );
}

/** The look after the change failed: what was changed is not settled, whatever the look before showed. */
export function unseen(verdict: Verdict, results: ReadonlyMap<string, ChangeResult>): Verdict {
  const result = results.get(verdict.ruleId);
  if (!result || verdict.kind === 'retry' || verdict.kind === 'failed') return verdict;
  return { ruleId: verdict.ruleId, kind: 'retry', message: null, unknown: result.result === 'unknown' };
}

/** What stands in the cloud; null when it could not be read. */
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

/** Of a call's deadline: by then an add that nobody heard of has landed or never will. */
const IN_FLIGHT_DEADLINES = 2;

/** How long after its intent a change may still land, ms. */
export const horizonMs = (driver: ProviderDriver): number =>
  IN_FLIGHT_DEADLINES * driver.traits.callTimeoutMs;
