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

/** Somebody who wants a cloud rule to exist, for as long as he does. */
export interface Hold extends Span {
  readonly name: RuleName;
  readonly ipId: string;
  readonly sessionId: string | null;
  readonly organizationId: string;
  /** what ended it; null: it lasts */
  readonly endedBy: 'expiry' | 'stop' | 'failure' | null;
  /** when the database let go: a moment after the end, when a time ran out */
  readonly releasedAt: number;
  /** while the API said APPLIED */
  readonly applied: readonly Span[];
  /** it was released while its ResourceIp went on elsewhere, and does not wait for this rule */
  readonly isDetached: boolean;
}

/** One rule with the cloud's own id, from its opening to its closing. */
export interface Standing extends Span {
  readonly name: RuleName;
  readonly rule: CloudRule;
}

/** The evidence, put together: who desired what when, and what stood when. */
export interface History {
  readonly sessions: ReadonlyMap<string, readonly SessionMove[]>;
  readonly ips: ReadonlyMap<string, readonly IpMove[]>;
  readonly rules: ReadonlyMap<string, readonly RuleMove[]>;
  readonly resources: ReadonlyMap<string, readonly ResourceMove[]>;
  readonly ruleNames: ReadonlyMap<string, RuleName>;
  readonly holds: ReadonlyMap<RuleName, readonly Hold[]>;
  readonly standings: ReadonlyMap<RuleName, readonly Standing[]>;
}

/** Puts the evidence together. */
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
  return { sessions, ips, rules, resources, ruleNames, holds, standings: standingsOf(evidence) };
}

function holdsOf(
  moves: readonly HolderMove[],
  ips: ReadonlyMap<string, readonly IpMove[]>,
  sessions: ReadonlyMap<string, readonly SessionMove[]>,
  names: ReadonlyMap<string, RuleName>,
): Map<RuleName, Hold[]> {
  const holds = new Map<RuleName, Hold[]>();
  const held = new Map<string, HolderMove>();
  const note = (from: HolderMove, dropped: HolderMove | null): void => {
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
      note(from, move);
    }
  }
  for (const from of held.values()) note(from, null);
  return holds;
}

/** Whether the ResourceIp kept its claim, on another rule, when this one was released. */
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
  const letGo = ipMoves.find((move) => !isHolding(move));
  const expiry = sessionEnd(sessionMoves);
  const ends = [
    { at: dropped, by: 'stop' },
    { at: letGo?.at ?? Infinity, by: letGo?.now === 'FAILED' ? 'failure' : 'stop' },
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
    releasedAt: Math.min(dropped, letGo?.at ?? Infinity),
    applied,
    isDetached: drop !== null && isDetachment(drop, ipMoves),
  };
}

/** When the session's time ran out; infinity when it was stopped before, or is a static rule's. */
export function sessionEnd(moves: readonly SessionMove[]): number {
  const ended = moves.findIndex(({ now }) => now !== 'PENDING' && now !== 'ACTIVE' && now !== 'PARTIAL');
  const live = ended < 0 ? moves : moves.slice(0, ended + 1);
  const last = live.at(-1);
  if (!last || (ended >= 0 && last.endedReason !== 'EXPIRED')) return Infinity;
  // an end that a test puts into the past ends the session when it is put there
  const setAt = live.findLast((move, index) => move.expiresAt !== live[index - 1]?.expiresAt)!.at;
  return Math.max(last.expiresAt, setAt);
}

function standingsOf(evidence: Evidence): Map<RuleName, Standing[]> {
  const standings = new Map<RuleName, Standing[]>();
  const open = new Map<string, { rule: CloudRule; from: number }>();
  const idOf = (rule: CloudRule): string => `${nameInCloud(rule)} ${rule.providerRuleId}`;
  const note = (rule: CloudRule, from: number, to: number): void =>
    push(standings, nameInCloud(rule), { name: nameInCloud(rule), rule, from, to });
  for (const rule of evidence.standingAtBegin) open.set(idOf(rule), { rule, from: evidence.begunAt });
  for (const event of evidence.timeline) {
    if (event.event === 'opened') open.set(idOf(event), { rule: asRule(event), from: event.at });
    else {
      const opened = open.get(idOf(event));
      note(opened?.rule ?? asRule(event), opened?.from ?? evidence.begunAt, event.at);
      open.delete(idOf(event));
    }
  }
  for (const { rule, from } of open.values()) note(rule, from, Infinity);
  return standings;
}

/** What the cloud shows of a rule, without when. */
export function asRule(rule: CloudRule | CloudEvent): CloudRule {
  const { provider, target, address, protocol, fromPort, toPort, ours, providerRuleId } = rule;
  return { provider, target, address, protocol, fromPort, toPort, ours, providerRuleId };
}

function push<Key, Value>(lists: Map<Key, Value[]>, key: Key, value: Value): void {
  const list = lists.get(key);
  if (list) list.push(value);
  else lists.set(key, [value]);
}
