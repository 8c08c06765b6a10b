import { DriverError, type ProviderDriver, type RuleChange } from '#drivers';
import type { Reading } from '#engine-store';
import {
  BUDGET_SPENT,
  fullMessage,
  isFull,
  lastEnd,
  learnedFrom,
  roomFor,
  type ChangeResult,
  type DriverErrorKind,
  type DueRule,
  type PassFacts,
  type PlannedChange,
  type ResourceConfig,
  type SentChange,
  type TargetRead,
  type TimedRead,
} from '#rules';
import type { Timing } from './timing';

type Clock = Pick<Timing, 'now'>;

/** A read that took longer than this is repeated. */
export const SLOW_READ_MS = 3000;

/**
 * Reads, and reads again, once, when it took long: the process may have been paused after the provider answered, and the time
 * does not show how old the answer is.
 */
export async function readFresh(timing: Clock, read: () => Promise<TargetRead>): Promise<TimedRead> {
  const first = await readTimed(timing, read);
  return first.endedAt - first.startedAt > SLOW_READ_MS ? readTimed(timing, read) : first;
}

async function readTimed(timing: Clock, read: () => Promise<TargetRead>): Promise<TimedRead> {
  const startedAt = timing.now();
  const found = await read();
  return { ...found, startedAt, endedAt: timing.now() };
}

/** A read whose refusal does not matter: the next pass reads again. @returns null: the provider refused it */
export async function readOrNull(timing: Clock, read: () => Promise<TargetRead>): Promise<TimedRead | null> {
  try {
    return await readTimed(timing, read);
  } catch (error) {
    if (error instanceof DriverError) return null;
    throw error;
  }
}

/**
 * Age of the read, which the database subtracts from its own clock.
 * @param first the read of the pass before its changes
 */
export function age(
  timing: Clock,
  { startedAt, endedAt }: TimedRead,
  first: Pick<TimedRead, 'startedAt'> = { startedAt },
): Reading {
  const now = timing.now();
  return {
    startedAgoMs: now - startedAt,
    firstStartedAgoMs: now - first.startedAt,
    endedAgoMs: now - endedAt,
  };
}

/** A planned change of a due rule. */
export type DueChange = PlannedChange<DueRule>;

/** Converts a planned change to the driver's format: to renew a rule is to add it with a later end. */
export function toRuleChange(change: DueChange, deployment: string): RuleChange {
  const { ruleId } = change.rule;
  if (change.action === 'remove') return { action: 'remove', ruleId, providerRuleId: change.providerRuleId };
  const { spec, holders } = change.rule;
  return {
    action: 'add',
    ruleId,
    spec,
    ...(change.action === 'add' && change.replaces && { replaces: change.replaces }),
    ...(change.endsAt !== undefined && { endsAt: change.endsAt }),
    config: configOf(change.rule),
    mark: { deployment, ruleId, expiresAt: lastEnd(holders) },
  };
}

/** The config of the resource that a rule is written for. */
const configOf = ({ holders }: Pick<DueRule, 'holders'>): ResourceConfig =>
  holders.find(({ status }) => status !== 'REMOVING')?.config ?? {};

/** The same refusal for all changes of a batch that was not sent. */
export function refusedAll(
  planned: readonly DueChange[],
  { kind, message, retryAfterMs }: DriverError,
): Map<string, SentChange> {
  const wait = retryAfterMs === null ? {} : { retryAfterMs };
  return answeredWith(planned, () => ({ result: 'refused', kind, message, ...wait }));
}

/** The changes with their results. @param resultOf of the change at an index */
export const answeredWith = (
  planned: readonly DueChange[],
  resultOf: (index: number) => ChangeResult,
): Map<string, SentChange> =>
  new Map(
    planned.map(({ action, cause, rule }, index) => [
      rule.ruleId,
      { action, cause, result: resultOf(index) },
    ]),
  );

/** The longest wait requested by the provider, also for what it has accepted and not done yet; null: none. */
export function longestWait(sent: PassFacts['sent']): number | null {
  const waits = [...sent.values()].flatMap(({ result }) =>
    result.result === 'done' ? [] : (result.retryAfterMs ?? []),
  );
  return waits.length === 0 ? null : Math.max(...waits);
}

/** Results of changes that were not sent because the account's write budget is spent. @param waitMs until their turn */
export const throttledByBudget = (planned: readonly DueChange[], waitMs: number): Map<string, SentChange> =>
  answeredWith(planned, () => ({
    result: 'refused',
    kind: 'throttled',
    message: BUDGET_SPENT,
    retryAfterMs: waitMs,
    isTurn: true,
  }));

/** A change is sent within the deadline of its call. After another one it has taken effect, or never will. */
const IN_FLIGHT_DEADLINES = 2;

/** How long after its intent a change may still take effect, ms. */
export const horizonMs = (driver: ProviderDriver): number =>
  IN_FLIGHT_DEADLINES * driver.traits.callTimeoutMs;

type Found = Pick<PassFacts, 'sent' | 'lastRead'>;

/**
 * What a pass found, with what it shows of the target's room: a refusal for want of room says how many rules are there, and what
 * no document limits has no room beyond them.
 * @param resourceType for the message
 */
export function withRoom(
  { sent, lastRead }: Found,
  planned: readonly DueChange[],
  resourceType: string,
): Found {
  const refused = planned.flatMap((change) =>
    change.action !== 'remove' && isQuota(sent, change.rule.ruleId) ? [change.rule] : [],
  );
  if (refused.length === 0 || !lastRead?.room) return { sent, lastRead };
  const room = learnedFrom(
    lastRead.room,
    refused.map(({ key }) => key),
  );
  const worded = refused.flatMap((rule) => {
    const full = roomFor(room, configOf(rule), rule.key).find(isFull);
    const change = sent.get(rule.ruleId)!;
    if (!full || change.result.result === 'done') return [];
    const message = `${fullMessage(resourceType, full)}. ${change.result.message}`;
    return [[rule.ruleId, { ...change, result: { ...change.result, message } }] as const];
  });
  return { sent: new Map([...sent, ...worded]), lastRead: { ...lastRead, room } };
}

function isQuota(sent: Found['sent'], ruleId: string): boolean {
  const { result } = sent.get(ruleId) ?? {};
  return result?.result === 'refused' && result.kind === 'quota';
}

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
