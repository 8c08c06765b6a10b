import { fullMessage, isFull, learnedFrom, roomFor, type PassFacts } from '#rules';
import { configOf, type DueChange } from './provider-calls';

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
