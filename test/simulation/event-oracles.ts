import type { Lease, LedgerRow } from '#engine-store';
import type { RuleChange } from '#drivers';
import {
  LIVE_SESSION_STATUSES,
  ruleKey,
  RESOURCE_IP_MOVES,
  SESSION_MOVES,
  type DueRule,
  type ObservedRule,
  type ResourceIpStatus,
  type SessionStatus,
} from '#rules';
import { isOurs, type Actor, type CloudRule, type CloudWatcher, type ModelTarget } from './model-cloud';
import type { CallWatcher } from './model-driver';
import { endOf, HOLDING, type MoveWatcher, type ResourceIpRow, type SessionRow } from './tables';
import { isAddedByEngine, shortId, type OracleState } from './oracle-state';
import type { SimulatedProcess } from './simulated-process';
import type { Timeline } from './timeline';

/** Maximum time for which a stale read may show a rule that was removed, ms. */
const MAX_STALE_MS = 10_000;
/** The product stops after three repairs; a new holder, or a move of the resource, allows one more each. */
const MAX_ADDED_AGAIN = 15;

/** Checks every database move, cloud change and cloud call as it happens. Oracles are named as in docs/guarantees.md. */
export class EventOracles implements MoveWatcher, CloudWatcher, CallWatcher {
  /** when a target was last read through a credential */
  private readonly readAt = new Map<string, number>();
  /** the lease generation that each process took last */
  private readonly leases = new Map<string, string>();
  /** whether a rule had live holders when it was last returned as due to a process */
  private readonly hadHolders = new Map<string, boolean>();

  constructor(
    private readonly state: OracleState,
    private readonly modelTargets: ReadonlyMap<string, ModelTarget>,
    private readonly timeline: Timeline,
  ) {}

  // --- database

  sessionMoves(session: SessionRow, to: SessionStatus): void {
    this.state.log(`session ${shortId(session.id)} ${session.status} -> ${to}`);
    if (!SESSION_MOVES[session.status].includes(to)) {
      this.state.violated('O7', `session ${shortId(session.id)} moves from ${session.status} to ${to}`);
    }
  }

  resourceIpMoves(ip: ResourceIpRow, to: ResourceIpStatus): void {
    this.state.log(`address ${shortId(ip.id)} ${ip.status} -> ${to}`);
    if (!RESOURCE_IP_MOVES[ip.status].includes(to)) {
      this.state.violated('O7', `address ${shortId(ip.id)} moves from ${ip.status} to ${to}`);
    }
    this.heldUntilNow(ip, to);
    if (to === 'APPLIED') this.appliedWasObserved(ip);
    if (to === 'REMOVED') this.removedWasObserved(ip);
  }

  recorded(event: LedgerRow): void {
    const { kind, target, address, protocol, ports, cause, holderKind } = event;
    const possible = [event.possibleFrom, event.possibleUntil].map(seconds).join('–');
    const certain = [event.certainFrom, event.certainUntil].map(seconds).join('–');
    this.state.log(
      `records ${kind} ${address} ${ports} on ${target}, ${cause}: ${possible}, certain ${certain}`,
    );
    if (kind !== 'CLOSED' || holderKind === 'UNMANAGED') return;
    const present = this.modelTargets
      .get(target)!
      .rulesWith(`${address} ${protocol} ${ports}`)
      .filter(isAddedByEngine);
    if (present.length > 0)
      this.state.violated('O13', `${address} ${ports} is recorded as CLOSED while it is present`);
  }

  /** Its rules were held until now, or until its session ended, even if no periodic check saw it. */
  private heldUntilNow(ip: ResourceIpRow, to: ResourceIpStatus): void {
    if (!HOLDING.has(ip.status) || HOLDING.has(to)) return;
    const { tables } = this.state;
    const session = ip.sessionId === null ? undefined : tables.sessions.get(ip.sessionId);
    const until = Math.min(this.state.now(), session ? endOf(session) : Infinity);
    for (const rule of tables.desiredBy(ip)) {
      const memory = this.state.memory(this.state.identifierOf(rule), rule.key);
      if (memory.unheldSince !== null) memory.unheldSince = Math.max(memory.unheldSince, until);
    }
  }

  private appliedWasObserved(ip: ResourceIpRow): void {
    const { tables } = this.state;
    const { credentialId } = tables.resources.get(ip.resourceId)!;
    const now = this.state.now();
    for (const rule of tables.desiredBy(ip)) {
      const identifier = this.state.identifierOf(rule);
      const { presentAt, absentAt, removedByOthers } = this.state.memory(identifier, rule.key);
      if (presentAt < 0 || (presentAt < absentAt && !removedByOthers && now - presentAt > MAX_STALE_MS)) {
        this.state.violated('O10', `${shortId(ip.id)} is APPLIED, and no read showed ${rule.key}`);
      }
      // a holder of a suspended rule has its pendingSince in the future
      const since = ip.pendingSince > now ? -1 : ip.pendingSince;
      if ((this.readAt.get(`${identifier} ${credentialId}`) ?? -1) < since) {
        this.state.violated('O6', `${shortId(ip.id)} is APPLIED without a read through its own credential`);
      }
    }
  }

  private removedWasObserved(ip: ResourceIpRow): void {
    const { tables } = this.state;
    for (const rule of tables.waitedFor(ip)) {
      if (tables.isDesired(rule)) continue;
      const identifier = this.state.identifierOf(rule);
      const own = this.modelTargets.get(identifier)!.rulesWith(rule.key).filter(isAddedByEngine);
      const { removedAt, absentAt } = this.state.memory(identifier, rule.key);
      if (own.length > 0)
        this.state.violated('O10', `${shortId(ip.id)} is REMOVED while ${rule.key} is present`);
      else if (removedAt > absentAt) {
        this.state.violated(
          'O10',
          `${shortId(ip.id)} is REMOVED without a read after ${rule.key} was removed`,
        );
      }
    }
  }

  // --- clouds

  added(target: ModelTarget, rule: CloudRule, actor: Actor): void {
    const { identifier } = target;
    this.state.log(`${identifier} + ${rule.key} (${actor}${rule.ownRuleId === null ? ', unmanaged' : ''})`);
    const memory = this.state.memory(identifier, rule.key);
    memory.cutAt = null;
    this.timeline.added(identifier, rule.key, rule.providerRuleId, actor);
    if (actor !== 'outside' && this.state.tables.isRestored)
      this.state.violated('O9', `${rule.key} is added before an operator has confirmed`);
    if (actor === 'outside' || memory.robotRemovals === 0) return;
    memory.addedAgain += 1;
    if (memory.addedAgain > MAX_ADDED_AGAIN) {
      this.state.violated('O9', `${rule.key} is added again for the ${memory.addedAgain}th time`);
    }
  }

  removed(target: ModelTarget, rule: CloudRule, actor: Actor): void {
    const { identifier } = target;
    this.state.log(`${identifier} - ${rule.key} (${actor})`);
    const memory = this.state.memory(identifier, rule.key);
    memory.unheldSince = null;
    this.timeline.removed(identifier, rule.providerRuleId, actor);
    if (actor === 'outside') {
      memory.removedByOthers = true;
      return;
    }
    memory.removedAt = this.state.now();
    const row = this.state.ruleAt(identifier, rule.key);
    if (this.state.tables.isRestored && row?.cause === 'ORPHAN')
      this.state.violated('O9', `${rule.key} is unknown, and removed before an operator has confirmed`);
    if (!isOurs(rule)) {
      this.state.violated('O5', `${rule.key} is removed, and is not ours`);
      return;
    }
    const cut = row ? this.state.keepers(row).filter((ip) => ip.status === 'APPLIED') : [];
    if (cut.length > 0 && actor === 'late') memory.cutAt = this.state.now();
    else if (cut.length > 0) {
      const holders = cut.map(({ id }) => shortId(id)).join();
      this.state.violated('O4', `${rule.key} is removed while ${holders} hold it`);
    }
  }

  // --- cloud calls

  reads(target: ModelTarget, credentialId: string, observed: readonly ObservedRule[]): void {
    const now = this.state.now();
    const { identifier } = target;
    this.state.calls.push(now);
    this.state.log(`${identifier} read: ${observed.map(({ key }) => key).join('; ') || 'nothing'}`);
    for (const rule of observed) this.state.memory(identifier, rule.key).presentAt = now;
    this.readAt.set(`${identifier} ${credentialId}`, now);
    const addedByEngine = new Set(
      target
        .list()
        .filter(isAddedByEngine)
        .map(({ providerRuleId }) => providerRuleId),
    );
    const own = new Set(
      observed
        .filter(({ ownRuleId, providerRuleId }) => ownRuleId !== null || addedByEngine.has(providerRuleId))
        .map(({ key }) => key),
    );
    this.state.rememberRead(identifier, own);
  }

  writes(process: SimulatedProcess, target: ModelTarget, changes: readonly RuleChange[]): void {
    const { state } = this;
    const { identifier } = target;
    state.calls.push(state.now());
    const row = [...state.tables.targets.values()].find((one) => one.identifier === identifier)!;
    if (this.leases.get(`${process.name} ${row.id}`) !== `${row.leaseGeneration}`) {
      state.violated('lease', `${process.name} writes to ${identifier} under a lease it has lost`);
    }
    for (const change of changes) {
      state.changesSent += 1;
      const description =
        change.action === 'remove' ? `remove ${change.providerRuleId}` : `add ${shortId(change.ruleId)}`;
      state.log(`${process.name} sends ${description} to ${identifier}`);
      if (change.action === 'remove') {
        if (!target.list().some((rule) => rule.providerRuleId === change.providerRuleId))
          state.changesRedundant += 1;
        continue;
      }
      const { endsAt } = change;
      if (target.rulesWith(ruleKey(change.spec)).some((rule) => rule.endsAt === endsAt))
        state.changesRedundant += 1;
      if (this.hadHolders.get(`${process.name} ${change.ruleId}`) === false) {
        state.violated('H12', `${description} is sent after its last holder had ended`);
      }
    }
  }

  // --- answers of the database

  leaseTaken(process: SimulatedProcess, lease: Lease): void {
    this.leases.set(`${process.name} ${lease.targetId}`, lease.generation);
  }

  dueRulesRead(process: SimulatedProcess, due: readonly DueRule[]): void {
    for (const { ruleId } of due) {
      const hasHolders = this.state.liveHolders(this.state.tables.rules.get(ruleId)!).length > 0;
      this.hadHolders.set(`${process.name} ${ruleId}`, hasHolders);
    }
  }

  /** A request was answered that the session is extended or its lease renewed. */
  prolonged(sessionId: string): void {
    const session = this.state.tables.sessions.get(sessionId)!;
    const { status } = session;
    if (!LIVE_SESSION_STATUSES.some((live) => live === status) || endOf(session) <= this.state.now()) {
      this.state.violated('H3', `session ${shortId(sessionId)} is reported as prolonged, and is ${status}`);
    }
  }
}

const seconds = (ms: number | null): string => (ms === null ? '' : (ms / 1000).toFixed(3));
