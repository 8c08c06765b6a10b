import { HOLDING_STATUSES } from '#rules';
import type {
  CloudEvent,
  CloudRule,
  Evidence,
  HolderMove,
  IpMove,
  ResourceMove,
  RuleMove,
  SessionMove,
} from './evidence';
import { nameInCloud, nameInDatabase, type RuleName } from './rule-name';
import type { Span } from './spans';

/** The time in which a holder desires a rule. */
export interface Hold extends Span {
  readonly name: RuleName;
  readonly ipId: string;
  readonly sessionId: string | null;
  readonly organizationId: string;
  /** what ended it; null: it has not ended */
  readonly endedBy: 'expiry' | 'stop' | 'failure' | null;
  /** when the database released it: shortly after `to` when it expired */
  readonly releasedAt: number;
  /** the times in which its status was APPLIED */
  readonly applied: readonly Span[];
  /** it was released while its ResourceIp continued on another rule: it does not wait for this removal */
  readonly isDetached: boolean;
}

/** The time in which one rule, by its provider id, was present. */
export interface Presence extends Span {
  readonly name: RuleName;
  readonly rule: CloudRule;
}

/** The evidence by subject: which holder desired which rule when, and which rule was present when. */
export interface History {
  readonly sessions: ReadonlyMap<string, readonly SessionMove[]>;
  readonly ips: ReadonlyMap<string, readonly IpMove[]>;
  readonly rules: ReadonlyMap<string, readonly RuleMove[]>;
  readonly resources: ReadonlyMap<string, readonly ResourceMove[]>;
  readonly ruleNames: ReadonlyMap<string, RuleName>;
  readonly holds: ReadonlyMap<RuleName, readonly Hold[]>;
  readonly presences: ReadonlyMap<RuleName, readonly Presence[]>;
}

export function historyOf(evidence: Evidence): History {
  const sessions = new Map<string, SessionMove[]>();
  const ips = new Map<string, IpMove[]>();
  const rules = new Map<string, RuleMove[]>();
  const resources = new Map<string, ResourceMove[]>();
  const holders: HolderMove[] = [];
  for (const move of evidence.moves) {
    if (move.kind === 'session') push(sessions, move.sessionId, move);
    else if (move.kind === 'resource_ip') push(ips, move.ipId, move);
    else if (move.kind === 'rule') push(rules, move.ruleId, move);
    else if (move.kind === 'resource') push(resources, move.resourceId, move);
    else holders.push(move);
  }
  const targets = new Map(evidence.targets.map((target) => [target.id, target]));
  const ruleNames = new Map<string, RuleName>();
  for (const [ruleId, [first]] of rules) {
    const target = targets.get(first!.targetId);
    if (target) ruleNames.set(ruleId, nameInDatabase(target, first!.key));
  }
  const holds = holdsOf(holders, ips, sessions, ruleNames);
  return { sessions, ips, rules, resources, ruleNames, holds, presences: presencesOf(evidence) };
}

function holdsOf(
  moves: readonly HolderMove[],
  ips: ReadonlyMap<string, readonly IpMove[]>,
  sessions: ReadonlyMap<string, readonly SessionMove[]>,
  names: ReadonlyMap<string, RuleName>,
): Map<RuleName, Hold[]> {
  const holds = new Map<RuleName, Hold[]>();
  const held = new Map<string, HolderMove>();
  const addHold = (from: HolderMove, dropped: HolderMove | null): void => {
    const name = names.get(from.ruleId);
    const ipMoves = ips.get(from.ipId);
    if (!name || !ipMoves) return;
    const sessionMoves = sessions.get(ipMoves[0]!.sessionId ?? '') ?? [];
    push(holds, name, hold(name, from.at, dropped, ipMoves, sessionMoves));
  };
  for (const move of moves) {
    const pair = `${move.ruleId} ${move.ipId}`;
    const from = held.get(pair);
    if (move.now === 'held') held.set(pair, from ?? move);
    else if (from) {
      held.delete(pair);
      addHold(from, move);
    }
  }
  for (const from of held.values()) addHold(from, null);
  return holds;
}

/** Whether the ResourceIp still held other rules when this one was released. */
function isDetachment(dropped: HolderMove, ipMoves: readonly IpMove[]): boolean {
  const before = ipMoves.filter((move) => move.id < dropped.id || move.xact === dropped.xact).at(-1);
  return before !== undefined && isHolding(before);
}

const isHolding = ({ now }: IpMove): boolean => HOLDING_STATUSES.some((holding) => holding === now);

function hold(
  name: RuleName,
  from: number,
  drop: HolderMove | null,
  ipMoves: readonly IpMove[],
  sessionMoves: readonly SessionMove[],
): Hold {
  const first = ipMoves[0]!;
  const dropped = drop?.at ?? Infinity;
  const releasedMove = ipMoves.find((move) => !isHolding(move));
  const expiry = sessionEnd(sessionMoves);
  const ends = [
    { at: dropped, by: 'stop' },
    { at: releasedMove?.at ?? Infinity, by: releasedMove?.now === 'FAILED' ? 'failure' : 'stop' },
    { at: expiry, by: 'expiry' },
  ] as const;
  const end = ends.toSorted((a, b) => a.at - b.at)[0]!;
  const applied = ipMoves.flatMap((move, index) =>
    move.now === 'APPLIED'
      ? [{ from: Math.max(move.at, from), to: Math.min(ipMoves[index + 1]?.at ?? Infinity, end.at) }]
      : [],
  );
  return {
    name,
    ipId: first.ipId,
    sessionId: first.sessionId,
    organizationId: first.organizationId,
    from,
    to: end.at,
    endedBy: end.at === Infinity ? null : end.by,
    releasedAt: Math.min(dropped, releasedMove?.at ?? Infinity),
    applied,
    isDetached: drop !== null && isDetachment(drop, ipMoves),
  };
}

/** When the session expired; infinity when it was stopped before, or for a static rule. */
export function sessionEnd(moves: readonly SessionMove[]): number {
  const ended = moves.findIndex(({ now }) => now !== 'PENDING' && now !== 'ACTIVE' && now !== 'PARTIAL');
  const live = ended < 0 ? moves : moves.slice(0, ended + 1);
  const last = live.at(-1);
  if (!last || (ended >= 0 && last.endedReason !== 'EXPIRED')) return Infinity;
  // when a test sets an expiry in the past, the session ends at that moment
  const setAt = live.findLast((move, index) => move.expiresAt !== live[index - 1]?.expiresAt)!.at;
  return Math.max(last.expiresAt, setAt);
}

function presencesOf(evidence: Evidence): Map<RuleName, Presence[]> {
  const presences = new Map<RuleName, Presence[]>();
  const open = new Map<string, { rule: CloudRule; from: number }>();
  const idOf = (rule: CloudRule): string => `${nameInCloud(rule)} ${rule.providerRuleId}`;
  const addPresence = (rule: CloudRule, from: number, to: number): void =>
    push(presences, nameInCloud(rule), { name: nameInCloud(rule), rule, from, to });
  for (const rule of evidence.presentAtStart) open.set(idOf(rule), { rule, from: evidence.begunAt });
  for (const event of evidence.timeline) {
    if (event.event === 'opened') open.set(idOf(event), { rule: asRule(event), from: event.at });
    else {
      const opened = open.get(idOf(event));
      addPresence(opened?.rule ?? asRule(event), opened?.from ?? evidence.begunAt, event.at);
      open.delete(idOf(event));
    }
  }
  for (const { rule, from } of open.values()) addPresence(rule, from, Infinity);
  return presences;
}

/** The rule of a timeline event, without event and time. */
export function asRule(rule: CloudRule | CloudEvent): CloudRule {
  const { provider, target, address, protocol, fromPort, toPort, ours, providerRuleId } = rule;
  return { provider, target, address, protocol, fromPort, toPort, ours, providerRuleId };
}

function push<Key, Value>(lists: Map<Key, Value[]>, key: Key, value: Value): void {
  const list = lists.get(key);
  if (list) list.push(value);
  else lists.set(key, [value]);
}
