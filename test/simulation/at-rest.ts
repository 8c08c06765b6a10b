import { LIVE_SESSION_STATUSES } from '#rules';
import type { Faults } from './faults';
import { isOurs, type CloudObject } from './model-cloud';
import type { ResourceIpRow, SessionRow, Tables } from './model/tables';
import { FAULT_BOUND_MS, HEALTHY_BOUND_MS, short, type Oracles } from './oracles';

/** Calls that one change may take at rest: looks before and after, once more for everybody who waits. */
const CALLS_FOR_A_CHANGE = 8;
/** Of the changes that are sent when all is well, how many may change nothing. */
const REDUNDANT = 0.2;

/** What must hold a while after the last fault: everything is decided, and the clouds hold exactly what is desired. */
export class AtRest {
  constructor(
    private readonly tables: Tables,
    private readonly faults: Faults,
    private readonly objects: ReadonlyMap<string, CloudObject>,
    private readonly oracles: Oracles,
  ) {}

  check(): void {
    for (const session of this.tables.sessions.values()) this.session(session);
    for (const ip of this.tables.resourceIps.values()) this.address(ip);
    for (const object of this.objects.values()) this.exactCount(object);
    this.liveState();
    this.oracles.accessReport();
    this.calls();
  }

  /** Long enough ago to be done with. */
  private isLongAgo(moment: number): boolean {
    const now = this.tables.now();
    return now - moment > (this.faults.isHealthy ? HEALTHY_BOUND_MS : FAULT_BOUND_MS);
  }

  private session({ id, status, expiresAt, endedAt, startedAt }: SessionRow): void {
    const isLive = LIVE_SESSION_STATUSES.some((live) => live === status);
    if (isLive && this.isLongAgo(expiresAt)) this.oracles.violated('O2', `session ${short(id)} never ends`);
    if (status === 'PENDING' && this.isLongAgo(startedAt)) {
      this.oracles.violated('O2', `session ${short(id)} is PENDING for ever`);
    }
    if (status === 'EXPIRING' && this.isLongAgo(endedAt!)) {
      this.oracles.violated('O2', `session ${short(id)} is EXPIRING for ever`);
    }
  }

  private address(ip: ResourceIpRow): void {
    const { id, status, pendingSince, releasedAt } = ip;
    if (status === 'PENDING' && this.isLongAgo(pendingSince) && !this.isFoughtOver(ip)) {
      this.oracles.violated('O2', `address ${short(id)} is PENDING for ever`);
    }
    if (status === 'REMOVING' && this.isLongAgo(releasedAt!)) {
      this.oracles.violated('O2', `address ${short(id)} is REMOVING for ever`);
    }
  }

  /** Another hand takes its rule out again and again: it is left alone for an hour. */
  private isFoughtOver(ip: ResourceIpRow): boolean {
    return this.tables.heldBy(ip).some(({ lostCount }) => lostCount > 3);
  }

  private exactCount(object: CloudObject): void {
    for (const rule of this.tables.rules.values()) {
      if (this.oracles.identifierOf(rule) !== object.identifier) continue;
      const applied = this.oracles.liveHolders(rule).filter((ip) => ip.status === 'APPLIED');
      // room that was made a moment ago is taken at the next try
      const hadNoRoom = object.list().length >= object.quota || (rule.lastError?.includes('quota') ?? false);
      const leftAlone = hadNoRoom || (rule.dueAt !== null && rule.dueAt > this.tables.now() + FAULT_BOUND_MS);
      if (applied.length > 0 && !leftAlone && object.standing(rule.key).length === 0) {
        this.oracles.violated('O3', `${rule.key} is absent, and ${short(applied[0]!.id)} is APPLIED`);
      }
    }
    const now = this.tables.now();
    for (const rule of object.list()) {
      const { key } = rule;
      if (!isOurs(rule) || this.oracles.isOutOfReach(object, rule)) continue;
      const { unheldSince } = this.oracles.memory(object.identifier, key);
      if (unheldSince !== null && now - unheldSince > HEALTHY_BOUND_MS) {
        this.oracles.violated('O3', `${key} stands, and nobody holds it`);
      }
    }
  }

  /** What is settled is forgotten. */
  private liveState(): void {
    for (const { ruleId, resourceIpId } of this.tables.allHolders()) {
      const { status, removedAt, pendingSince } = this.tables.resourceIps.get(resourceIpId)!;
      if (status !== 'REMOVED' && status !== 'FAILED') continue;
      if (!this.isLongAgo(removedAt ?? pendingSince)) continue;
      const { key } = this.tables.rules.get(ruleId)!;
      this.oracles.violated('live', `${short(resourceIpId)} is ${status}, and counts as a holder of ${key}`);
    }
    for (const rule of this.tables.rules.values()) {
      const isOver = rule.state === 'absent' && rule.dueAt === null;
      if (isOver && this.tables.holderRows(rule).length === 0)
        this.oracles.violated('live', `${rule.key} is settled, and is not forgotten`);
    }
  }

  private calls(): void {
    const since = this.tables.now() - 25_000;
    const late = this.oracles.calls.filter((at) => at > since).length;
    const ended = [...this.tables.sessions.values()].filter((one) => one.expiresAt > since - 10_000);
    const mayCall = CALLS_FOR_A_CHANGE * (2 + ended.length);
    if (late > mayCall) this.oracles.violated('O9', `${late} calls at rest, ${mayCall} are enough`);
    const { sent, redundant } = this.oracles;
    if (this.faults.isHealthy && redundant > 1 + REDUNDANT * sent) {
      this.oracles.violated('O9', `${redundant} of ${sent} changes changed nothing though all was well`);
    }
  }
}
