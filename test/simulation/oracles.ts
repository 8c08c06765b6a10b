import type { DueRuleRow, Lease } from '#engine-store';
import type { RuleChange } from '#drivers';
import {
  APPLY_TIMEOUT_MS,
  keepsRule,
  ruleKey,
  RESOURCE_IP_MOVES,
  SESSION_MOVES,
  type ObservedRule,
  type ResourceIpStatus,
  type SessionStatus,
} from '#rules';
import type { Faults } from './faults';
import { isOurs, type CloudObject, type CloudRule, type CloudWatcher, type Hand } from './model-cloud';
import type { CallWatcher } from './model-driver';
import type { EventRow, MoveWatcher, ResourceIpRow, RuleRow, SessionRow, Tables } from './model/tables';
import type { SimulatedProcess } from './simulated-process';
import { Timeline } from './timeline';

/** Lateness when all is well, ms. */
export const HEALTHY_BOUND_MS = 5000;
/** Lateness after the end of a fault, ms. */
export const FAULT_BOUND_MS = 60_000;
/** For so long a stale look may have shown what is out, ms. */
/** From a read that shows a rule to the call about it: it cannot see what happens meanwhile. */
const CALL_TAKES_MS = 1000;
const STALE_MS = 10_000;
/** From a removal that landed late to the rule's return, ms. */
const HANDED_OVER_MS = 20_000;
/** The product gives up after three; whoever holds the rule anew, or moves it, has it put back once more. */
const MAX_READDED = 15;

/** From the moment on at which it is noted that a rule is unwanted, ms. */
const REPORT_TIMEOUT_MS = 60_500;
/** How often what is overdue is looked for, ms. */
const ALARM_MS = 5500;
/** From the end of the last holder's time on: workers that stand still note that late, ms. */
const UNHELD_REPORT_TIMEOUT_MS = 120_000;
/** What a ResourceIp shows while its rule is suspended. */
const SUSPENDED = 'Another program keeps removing';

export interface Violation {
  readonly oracle: string;
  readonly atMs: number;
  readonly words: string;
}

/** What is remembered of one key in one target. */
interface Remembered {
  presentAt: number;
  /** when our rule was seen to be absent */
  absentAt: number;
  /** when the whole object was said to be gone */
  goneAt: number;
  /** when the engine last took our rule out */
  outAt: number;
  /** since when our rule stands and nobody needs it */
  unheldSince: number | null;
  takenByOthers: boolean;
  /** when a removal that nobody heard of took it out under a holder */
  cutAt: number | null;
  takenOutByOthers: number;
  addedAgain: number;
}

/** Watches everything that happens, and says what must never happen. Names as in docs/guarantees.md. */
export class Oracles implements MoveWatcher, CloudWatcher, CallWatcher {
  readonly violations: Violation[] = [];
  /** when a comparison was asked for last */
  comparedAt = -1;
  /** calls to the clouds: when, and changes sent that changed nothing */
  readonly calls: number[] = [];
  sent = 0;
  redundant = 0;
  private readonly remembered = new Map<string, Remembered>();
  /** when an object was read through a credential */
  /** when another hand changed what a rule lets in, by its object and id */
  private readonly changedAt = new Map<string, number>();
  private readonly readAt = new Map<string, number>();
  private readonly held = new Map<string, string>();
  /** when no resource named the object last, and a rule of another hand stood in it */
  private readonly unnamedAt = new Map<string, number>();
  private readonly openable = new Map<string, boolean>();
  private readonly timeline: Timeline;
  private readonly misreported = new Set<string>();

  constructor(
    private readonly tables: Tables,
    private readonly faults: Faults,
    private readonly objects: ReadonlyMap<string, CloudObject>,
    private readonly tell: (words: string) => void,
  ) {
    this.timeline = new Timeline(tables);
  }

  violated(oracle: string, words: string): void {
    this.tell(`VIOLATED ${oracle}: ${words}`);
    this.violations.push({ oracle, atMs: this.tables.now(), words });
  }

  memory(identifier: string, key: string): Remembered {
    const name = `${identifier} ${key}`;
    const known = this.remembered.get(name);
    if (known) return known;
    const fresh: Remembered = {
      presentAt: -1,
      absentAt: -1,
      goneAt: -1,
      outAt: -1,
      unheldSince: null,
      takenByOthers: false,
      cutAt: null,
      takenOutByOthers: 0,
      addedAgain: 0,
    };
    this.remembered.set(name, fresh);
    return fresh;
  }

  /** Those whose time is not over and who want it. */
  liveHolders(rule: RuleRow): ResourceIpRow[] {
    const now = this.tables.now();
    return this.tables.liveHoldersOf(rule).filter((ip) => {
      return ip.sessionId === null || this.tables.sessions.get(ip.sessionId)!.expiresAt > now;
    });
  }

  /** Of those, the ones whose credential may write it. */
  private keepers(rule: RuleRow): ResourceIpRow[] {
    const { credentials, resources } = this.tables;
    const writerOrganizationId = credentials.get(rule.credentialId ?? '')?.organizationId ?? null;
    return this.liveHolders(rule).filter(({ organizationId, resourceId }) =>
      keepsRule(
        { organizationId, writeVerified: resources.get(resourceId)!.writeVerified },
        { isUnmanaged: rule.isUnmanaged, writerOrganizationId },
      ),
    );
  }

  ruleAt(identifier: string, key: string): RuleRow | undefined {
    return [...this.tables.rules.values()].find(
      (rule) => rule.key === key && this.identifierOf(rule) === identifier,
    );
  }

  identifierOf(rule: RuleRow): string {
    return this.tables.targets.get(rule.targetId)!.identifier;
  }

  /** A resource names it: else nobody gave us a way to it. */
  private isNamed(identifier: string): boolean {
    for (const { targetId, deletedAt } of this.tables.resources.values()) {
      if (deletedAt === null && this.tables.targets.get(targetId)!.identifier === identifier) return true;
    }
    return false;
  }

  /** Another hand put it there, and nobody gave us a way to it or asked for a look since nobody holds it. */
  isOutOfReach(object: CloudObject, rule: CloudRule): boolean {
    if (!rule.planted) return false;
    const { identifier } = object;
    const { unheldSince } = this.memory(identifier, rule.key);
    const noticeable = Math.max(unheldSince ?? this.tables.now(), this.unnamedAt.get(identifier) ?? -1);
    const isBeingCompared = this.tables.now() - this.comparedAt < HEALTHY_BOUND_MS;
    return isBeingCompared || noticeable > this.comparedAt - HEALTHY_BOUND_MS || !this.isNamed(identifier);
  }

  // --- the database

  sessionMoves(session: SessionRow, to: SessionStatus): void {
    this.tell(`session ${short(session.id)} ${session.status} -> ${to}`);
    if (!SESSION_MOVES[session.status].includes(to)) {
      this.violated('O7', `session ${short(session.id)} moves from ${session.status} to ${to}`);
    }
  }

  resourceIpMoves(ip: ResourceIpRow, to: ResourceIpStatus): void {
    this.tell(`address ${short(ip.id)} ${ip.status} -> ${to}`);
    if (!RESOURCE_IP_MOVES[ip.status].includes(to)) {
      this.violated('O7', `address ${short(ip.id)} moves from ${ip.status} to ${to}`);
    }
    if (to === 'APPLIED') this.appliedWasSeen(ip);
    if (to === 'REMOVED') this.removedWasSeen(ip);
  }

  recorded(event: EventRow): void {
    const { kind, target, address, protocol, ports, cause, holderKind } = event;
    const possible = [event.possibleFrom, event.possibleUntil].map(seconds).join('–');
    const certain = [event.certainFrom, event.certainUntil].map(seconds).join('–');
    this.tell(`records ${kind} ${address} ${ports} on ${target}, ${cause}: ${possible}, certain ${certain}`);
    if (kind !== 'CLOSED' || holderKind === 'UNMANAGED') return;
    const stands = this.objects.get(target)!.standing(`${address} ${protocol} ${ports}`).filter(isEngines);
    if (stands.length > 0) this.violated('O13', `${address} ${ports} is recorded as CLOSED while it stands`);
  }

  private appliedWasSeen(ip: ResourceIpRow): void {
    const { credentialId } = this.tables.resources.get(ip.resourceId)!;
    const now = this.tables.now();
    for (const rule of this.tables.desiredBy(ip)) {
      const identifier = this.identifierOf(rule);
      const { presentAt, absentAt, takenByOthers } = this.memory(identifier, rule.key);
      if (presentAt < 0 || (presentAt < absentAt && !takenByOthers && now - presentAt > STALE_MS)) {
        this.violated('O10', `${short(ip.id)} is APPLIED, and ${rule.key} was not seen`);
      }
      // whoever waits for a suspended rule is not given up before it is tried: its time is ahead
      const since = ip.pendingSince > now ? -1 : ip.pendingSince;
      if ((this.readAt.get(`${identifier} ${credentialId}`) ?? -1) < since) {
        this.violated('O6', `${short(ip.id)} is APPLIED, and nobody looked through its own way`);
      }
    }
  }

  private removedWasSeen(ip: ResourceIpRow): void {
    for (const rule of this.tables.waitedFor(ip)) {
      if (this.tables.isDesired(rule)) continue;
      const identifier = this.identifierOf(rule);
      const own = this.objects.get(identifier)!.standing(rule.key).filter(isEngines);
      const { outAt, absentAt, goneAt } = this.memory(identifier, rule.key);
      if (own.length > 0) this.violated('O10', `${short(ip.id)} is REMOVED while ${rule.key} stands`);
      else if (outAt > Math.max(absentAt, goneAt)) {
        this.violated('O10', `${short(ip.id)} is REMOVED, and nobody looked whether ${rule.key} is out`);
      }
    }
  }

  // --- the clouds

  added(object: CloudObject, rule: CloudRule, hand: Hand): void {
    if (rule.changed) this.changedAt.set(`${object.identifier} ${rule.providerRuleId}`, this.tables.now());
    this.tell(`${object.identifier} + ${rule.key} (${hand}${rule.ownRuleId === null ? ', unmanaged' : ''})`);
    const memory = this.memory(object.identifier, rule.key);
    memory.cutAt = null;
    this.timeline.added(object.identifier, rule.key, rule.providerRuleId, hand);
    if (hand === 'outside' || memory.takenOutByOthers === 0) return;
    memory.addedAgain += 1;
    if (memory.addedAgain > MAX_READDED) {
      this.violated('O9', `${rule.key} is put back for the ${memory.addedAgain}th time: a fight without end`);
    }
  }

  removed(object: CloudObject, rule: CloudRule, hand: Hand): void {
    this.tell(`${object.identifier} - ${rule.key} (${hand})`);
    const memory = this.memory(object.identifier, rule.key);
    memory.unheldSince = null;
    this.timeline.removed(object.identifier, rule.providerRuleId, hand);
    if (hand === 'outside') {
      memory.takenByOthers = true;
      return;
    }
    memory.outAt = this.tables.now();
    const row = this.ruleAt(object.identifier, rule.key);
    // a removal under way names it by its id, whatever that lets in by the time it lands
    const changedAt = this.changedAt.get(`${object.identifier} ${rule.providerRuleId}`) ?? -Infinity;
    const isOvertaken = rule.changed && (hand === 'late' || this.tables.now() - changedAt < CALL_TAKES_MS);
    if (!isOurs(rule) && !isOvertaken && !(rule.changed && row)) {
      this.violated('O5', `${rule.key} is taken out, and is not ours`);
      return;
    }
    const cut = row ? this.keepers(row).filter((ip) => ip.status === 'APPLIED') : [];
    if (cut.length > 0 && hand === 'late') memory.cutAt = this.tables.now();
    else if (cut.length > 0)
      this.violated('O4', `${rule.key} is taken out under ${cut.map(({ id }) => short(id)).join()}`);
  }

  // --- the calls

  reads(object: CloudObject, credentialId: string, observed: readonly ObservedRule[]): void {
    const now = this.tables.now();
    this.calls.push(now);
    this.tell(`${object.identifier} read: ${observed.map(({ key }) => key).join('; ') || 'nothing'}`);
    for (const rule of observed) this.memory(object.identifier, rule.key).presentAt = now;
    this.readAt.set(`${object.identifier} ${credentialId}`, now);
    const engines = new Set(
      object
        .list()
        .filter(isEngines)
        .map(({ providerRuleId }) => providerRuleId),
    );
    const own = new Set(
      observed
        .filter(({ ownRuleId, providerRuleId }) => ownRuleId !== null || engines.has(providerRuleId))
        .map(({ key }) => key),
    );
    this.sawAbsent(object, own);
  }

  misses(object: CloudObject): void {
    this.tell(`${object.identifier} is missing`);
    for (const { key } of this.tables.rules.values()) {
      this.memory(object.identifier, key).goneAt = this.tables.now();
    }
  }

  private sawAbsent({ identifier }: CloudObject, own: ReadonlySet<string>): void {
    const prefix = `${identifier} `;
    for (const [name, memory] of this.remembered) {
      if (!name.startsWith(prefix) || own.has(name.slice(prefix.length))) continue;
      memory.absentAt = this.tables.now();
    }
  }

  writes(process: SimulatedProcess, object: CloudObject, changes: readonly RuleChange[]): void {
    this.calls.push(this.tables.now());
    const target = [...this.tables.targets.values()].find((one) => one.identifier === object.identifier)!;
    if (this.held.get(`${process.name} ${target.id}`) !== `${target.leaseGeneration}`) {
      this.violated('lease', `${process.name} writes to ${object.identifier} under a lease it has lost`);
    }
    for (const change of changes) {
      this.sent += 1;
      const words =
        change.action === 'remove' ? `remove ${change.providerRuleId}` : `add ${short(change.ruleId)}`;
      this.tell(`${process.name} sends ${words} to ${object.identifier}`);
      if (change.action === 'remove') {
        if (!object.list().some((rule) => rule.providerRuleId === change.providerRuleId)) this.redundant += 1;
        continue;
      }
      if (object.standing(ruleKey(change.spec)).length > 0) this.redundant += 1;
      if (this.openable.get(`${process.name} ${change.ruleId}`) === false) {
        this.violated('H12', `${words} is sent though its last holder's time was over`);
      }
    }
  }

  took(process: SimulatedProcess, lease: Lease): void {
    this.held.set(`${process.name} ${lease.targetId}`, lease.generation);
  }

  /** What a worker was told is due. */
  dueTo(process: SimulatedProcess, due: readonly DueRuleRow[]): void {
    for (const { ruleId } of due) {
      const live = this.liveHolders(this.tables.rules.get(ruleId)!).length > 0;
      this.openable.set(`${process.name} ${ruleId}`, live);
    }
  }

  /** A request was told that the session lives on. */
  extended(sessionId: string): void {
    const { status, expiresAt } = this.tables.sessions.get(sessionId)!;
    if (status === 'EXPIRING' || expiresAt <= this.tables.now()) {
      this.violated('H3', `session ${short(sessionId)} is said to be extended, and is ${status}`);
    }
  }

  // --- time

  /** To be called twice a second: what a removal that nobody heard of took out is to be put back. */
  gaps(): void {
    const now = this.tables.now();
    if (now <= this.faults.endsAt + FAULT_BOUND_MS) return;
    for (const rule of this.tables.rules.values()) {
      const memory = this.memory(this.identifierOf(rule), rule.key);
      if (memory.cutAt === null || now - memory.cutAt < HANDED_OVER_MS) continue;
      memory.cutAt = null;
      if (rule.lastError?.includes('quota')) continue;
      if (memory.takenByOthers || !this.liveHolders(rule).some((ip) => ip.status === 'APPLIED')) continue;
      this.violated('O4', `${rule.key} was taken out under a holder, and is not put back`);
    }
  }

  /** To be called twice a second: our rules that nobody needs any more. */
  leaks(): void {
    const now = this.tables.now();
    const late = now > this.faults.endsAt + FAULT_BOUND_MS;
    for (const object of this.objects.values()) {
      for (const rule of object.list()) {
        if (!isOurs(rule)) continue;
        const memory = this.memory(object.identifier, rule.key);
        const row = this.ruleAt(object.identifier, rule.key);
        if (row && this.liveHolders(row).length > 0) memory.unheldSince = null;
        else if (rule.planted && !this.isNamed(object.identifier)) memory.unheldSince = now;
        else memory.unheldSince ??= now;
        if (rule.planted && !this.isNamed(object.identifier)) this.unnamedAt.set(object.identifier, now);
        if (this.isOutOfReach(object, rule)) continue;
        if (!late || memory.unheldSince === null || now - memory.unheldSince <= HEALTHY_BOUND_MS) continue;
        this.violated('O1', `${rule.key} has stood for ${now - memory.unheldSince} ms without a holder`);
        memory.unheldSince = Number.POSITIVE_INFINITY;
      }
    }
  }

  /** To be called twice a second: what should be gone is known as such, and reported. */
  overdue(): void {
    const now = this.tables.now();
    for (const rule of this.tables.rules.values()) {
      if (rule.state === 'absent') continue;
      const { unwantedSince, overdueAt, key, cause } = rule;
      const holders = this.tables.holderRows(rule);
      if (
        holders.every(({ releasedAt }) => releasedAt !== null) &&
        (unwantedSince === null || cause === null)
      )
        this.violated('O12', `nobody wants ${key}, and that is not noted`);
      const isNew = rule.possibleSince !== null && now - rule.possibleSince < ALARM_MS;
      const isLate = unwantedSince !== null && now - unwantedSince > REPORT_TIMEOUT_MS;
      if (isLate && overdueAt === null && !isNew)
        this.violated('O12', `${key} should be gone for ${now - unwantedSince} ms, and nobody is told`);
      if (rule.isSuspended) this.suspended(rule);
    }
    for (const object of this.objects.values()) {
      for (const rule of object.list().filter(isEngines)) this.isReported(object, rule);
    }
  }

  /** Whoever waits for a suspended rule is not given up before it is tried again. */
  private suspended(rule: RuleRow): void {
    for (const ip of this.tables.liveHoldersOf(rule)) {
      const waitsForIt = ip.status === 'PENDING' && ip.errorMessage?.startsWith(SUSPENDED);
      if (waitsForIt && rule.dueAt !== null && ip.pendingSince + APPLY_TIMEOUT_MS < rule.dueAt)
        this.violated('O2', `${short(ip.id)} is given up before ${rule.key} is tried again`);
    }
  }

  /** A rule without a holder, by the cloud's own account, has been reported. */
  private isReported(object: CloudObject, { key }: CloudRule): void {
    const memory = this.memory(object.identifier, key);
    const { unheldSince } = memory;
    if (unheldSince === null || this.tables.now() - unheldSince < UNHELD_REPORT_TIMEOUT_MS) return;
    const row = this.ruleAt(object.identifier, key);
    if (row && row.overdueAt !== null) return;
    this.violated('O12', `${key} stands without a holder, and nobody is told`);
    memory.unheldSince = Number.POSITIVE_INFINITY;
  }

  /** To be called at random moments: the access report says what was, and nothing else for certain. */
  accessReport(): void {
    for (const { identifier } of this.objects.values()) {
      const [first] = this.timeline.mistakes(identifier);
      if (first !== undefined && !this.misreported.has(identifier))
        this.violated('O14', `${identifier}: ${first}`);
      if (first !== undefined) this.misreported.add(identifier);
    }
  }
}

/** The engine put it there, and nobody changed what it lets in. */
const isEngines = ({ planted, changed }: CloudRule): boolean => !planted && !changed;

const seconds = (ms: number | null): string => (ms === null ? '' : (ms / 1000).toFixed(3));

export const short = (id: string): string => Number.parseInt(id.slice(-12), 16).toString();
