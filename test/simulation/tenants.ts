import { LIVE_SESSION_STATUSES, ruleKey, ruleSpecs, type OrganizationId } from '#rules';
import type { EventOracles } from './event-oracles';
import type { Faults } from './faults';
import type { ModelTarget } from './model-cloud';
import { Requests } from './requests';
import { endOf, type ResourceRow, type SessionRow, type Tables } from './tables';
import { shortId, type OracleState } from './oracle-state';
import type { Scheduler } from './scheduler';
import type { SeededRandom } from './seeded-random';

const ADDRESSES = ['203.0.113.1', '203.0.113.2', '203.0.113.3'];
/** The address of a static rule that no session shares: the robot removes its rule again and again. */
const ROBOT_ADDRESS = '192.0.2.66';
const CHANGED_ADDRESS = '198.51.100.77/32';
const HOUR_MS = 3_600_000;
/** The rule id in the mark of an orphan. */
const ORPHAN_RULE_ID = '00000000-0000-4000-8000-ffffffffffff';

/** Random requests of tenants, and random changes by other programs, until the calm. */
export class Tenants {
  private readonly requests: Requests;
  private readonly statics: string[] = [];
  private readonly intervalMs: number;
  private readonly users = ['user-1', 'user-2'];
  private readonly maxSessionMs: number;
  private readonly hasRobot: boolean;
  private wasChangedOutside = false;

  constructor(
    private readonly scheduler: Scheduler,
    private readonly random: SeededRandom,
    private readonly tables: Tables,
    private readonly modelTargets: ReadonlyMap<string, ModelTarget>,
    private readonly faults: Faults,
    private readonly state: OracleState,
    private readonly oracles: EventOracles,
    private readonly wake: (targetIds: readonly string[]) => void,
    private readonly log: (message: string) => void,
  ) {
    this.requests = new Requests(tables);
    this.intervalMs = random.pick([1500, 4000, 8000]);
    this.maxSessionMs = random.pick([4000, 20_000, 60_000]);
    this.hasRobot = random.happens(0.06);
  }

  begin(): void {
    this.scheduler.in(this.random.between(0, 500), () => this.actAndScheduleNext());
    if (!this.faults.isHealthy && this.random.happens(0.3)) this.scheduleOutsideChanges();
    if (this.hasRobot) this.scheduleRobot();
    this.scheduler.at(this.faults.calmAt, () => this.compareAll());
  }

  private actAndScheduleNext(): void {
    if (this.scheduler.now > this.faults.calmAt) return;
    this.act();
    this.scheduler.in(this.random.between(0, 2 * this.intervalMs), () => this.actAndScheduleNext());
  }

  private act(): void {
    const dice = this.random.next();
    if (dice < 0.42) this.start();
    else if (dice < 0.64) this.stop();
    else if (dice < 0.74) this.extend();
    else if (dice < 0.82) this.createStatic();
    else if (dice < 0.88) this.deleteStatic();
    else if (dice < 0.94) this.move();
    else this.activateAll();
  }

  private randomLiveSession(): SessionRow | null {
    const live = [...this.tables.sessions.values()].filter(({ status }) =>
      LIVE_SESSION_STATUSES.some((one) => one === status),
    );
    return live.length === 0 ? null : this.random.pick(live);
  }

  private randomResources(organizationId: OrganizationId): ResourceRow[] {
    const own = [...this.tables.resources.values()].filter(
      (resource) => resource.organizationId === organizationId && resource.isActive,
    );
    const chosen = own.filter(() => this.random.happens(0.6));
    return chosen.length > 0 ? chosen : own.slice(0, 1);
  }

  private start(ipv4Address = this.random.pick(ADDRESSES)): void {
    const organizationId = this.random.pick([...this.tables.credentials.values()]).organizationId;
    const resources = this.randomResources(organizationId);
    if (resources.length === 0) return;
    const ms = this.random.between(500, this.random.happens(0.8) ? this.maxSessionMs : HOUR_MS);
    const leaseMs = this.random.happens(0.4) ? this.random.between(500, this.maxSessionMs) : null;
    const started = this.requests.start({
      organizationId,
      userId: `${organizationId} ${this.random.pick(this.users)}`,
      holder: '',
      ipv4Address,
      hours: ms / HOUR_MS,
      leaseMs,
      resourceIds: resources.map((resource) => resource.id),
    });
    if (started === 'taken') return;
    const lease = leaseMs === null ? '' : `, with a lease of ${Math.round(leaseMs)} ms`;
    this.log(`starts session ${shortId(started.id)} for ${ipv4Address}, ${Math.round(ms)} ms${lease}`);
    if (leaseMs !== null) this.scheduleRenewal(started.id, leaseMs);
    // some start together: their rules wait for several access paths in one round
    if (this.random.happens(0.4)) this.start(ipv4Address);
    this.wake(started.targetIds);
  }

  private stop(): void {
    const session = this.randomLiveSession();
    if (session) this.stopOne(session.id);
  }

  private stopOne(id: string): void {
    if (this.scheduler.now > this.faults.calmAt) return;
    this.log(`stops session ${shortId(id)}`);
    const woken = this.requests.stop(id, this.random.pick(['MANUAL', 'ADMIN']));
    if (woken) this.wake(woken);
  }

  private extend(): void {
    const session = this.randomLiveSession();
    if (!session) return;
    const { id } = session;
    // half of them near the session's end, to race with the sweep
    const wait = this.random.happens(0.5) ? Math.max(0, endOf(session) - this.scheduler.now - 30) : 0;
    this.scheduler.in(wait + this.random.between(0, 60), () => {
      if (this.scheduler.now > this.faults.calmAt) return;
      const ms = this.random.between(1000, this.maxSessionMs);
      const answer = this.requests.extend(id, ms / HOUR_MS, 24);
      this.log(`extends session ${shortId(id)} by ${Math.round(ms)} ms: ${answer}`);
      if (answer === 'extended') this.oracles.prolonged(id);
    });
  }

  /** Some renew early, some at the end of the lease, to race with the sweep; others were lost, and stop at some time. */
  private scheduleRenewal(id: string, leaseMs: number): void {
    const wait = this.random.happens(0.5) ? leaseMs / 3 : leaseMs - 30 + this.random.between(0, 60);
    this.scheduler.in(wait, () => {
      if (this.scheduler.now > this.faults.calmAt || this.random.happens(0.2)) return;
      const isRenewed = this.requests.renew(id);
      this.log(`renews session ${shortId(id)}: ${isRenewed}`);
      if (!isRenewed) return;
      this.oracles.prolonged(id);
      this.scheduleRenewal(id, leaseMs);
    });
  }

  private createStatic(address = this.random.pick(ADDRESSES)): void {
    const organizationId = this.random.pick([...this.tables.credentials.values()]).organizationId;
    const resources = this.randomResources(organizationId);
    if (resources.length === 0) return;
    const { id, targetIds } = this.requests.createStatic(
      organizationId,
      address,
      resources.map((resource) => resource.id),
    );
    if (address !== ROBOT_ADDRESS) this.statics.push(id);
    this.log(`creates static rule ${shortId(id)} for ${address}`);
    this.wake(targetIds);
  }

  private deleteStatic(): void {
    const id = this.statics.pop();
    if (id === undefined) return;
    this.log(`deletes static rule ${shortId(id)}`);
    this.wake(this.requests.releaseStatic(id, [...this.tables.resources.keys()]));
    this.requests.deleteStatic(id);
  }

  private move(): void {
    if (this.tables.resources.size === 0) return;
    const resource = this.random.pick([...this.tables.resources.values()]);
    const own = [...this.tables.credentials].filter(
      ([, owner]) => owner.organizationId === resource.organizationId,
    );
    const targetId = this.random.pick([...this.tables.targets.keys()]);
    const [credentialId] = this.random.pick(own);
    this.log(`moves ${resource.name} to ${shortId(targetId)} with ${credentialId}`);
    this.wake(this.requests.move(resource.id, { targetId, credentialId, region: resource.region }));
    // some sessions end while what moved is still to be removed where it was
    const held = this.tables.ipsWhere((ip) => ip.resourceId === resource.id && ip.sessionId !== null);
    for (const { sessionId } of held)
      if (this.random.happens(0.7))
        this.scheduler.in(this.random.between(0, 300), () => this.stopOne(sessionId!));
  }

  private activateAll(): void {
    for (const resource of this.tables.resources.values()) {
      const { identifier } = this.tables.targets.get(resource.targetId)!;
      if (!this.modelTargets.get(identifier)!.isMissing) resource.isActive = true;
    }
  }

  // --- other programs

  private scheduleOutsideChanges(): void {
    for (let left = this.random.whole(1, 3); left > 0; left -= 1) {
      const target = this.random.pick([...this.modelTargets.values()]);
      this.scheduler.in(this.random.between(1000, this.faults.calmAt * 0.9), () =>
        this.changeOutside(target),
      );
    }
  }

  private changeOutside(target: ModelTarget): void {
    const comparisonDelayMs = this.random.between(0, 20_000);
    this.wasChangedOutside = true;
    if (target.isMissing) return;
    const own = target.list().filter((rule) => rule.ownRuleId !== null);
    const dice = this.random.next();
    if (dice < 0.25) {
      const spec = ruleSpecs(`${this.random.pick(ADDRESSES)}/32`, { port: 22 }, 'one')[0]!;
      target.add(ruleKey(spec), null, 'outside');
      return;
    }
    this.faults.register(
      'another program changes rules',
      Math.min(this.faults.calmAt, this.scheduler.now + comparisonDelayMs),
    );
    if (dice < 0.5 && own.length > 0) target.remove(this.random.pick(own).providerRuleId, 'outside');
    else if (dice < 0.62) this.plantOrphan(target);
    else if (dice < 0.72) this.deleteTarget(target);
    else if (dice < 0.86) this.unmark(target);
    else if (own.length > 0) this.change(target, this.random.pick(own).providerRuleId);
    this.scheduler.in(comparisonDelayMs, () => this.compareAll());
  }

  /** Adds a rule with our mark and an unknown rule id. */
  private plantOrphan(target: ModelTarget): void {
    const spec = ruleSpecs(`${this.random.pick([...ADDRESSES, '198.51.100.9'])}/32`, { port: 22 }, 'one')[0]!;
    target.add(ruleKey(spec), ORPHAN_RULE_ID, 'outside');
  }

  /**
   * Removes the mark of a rule whose provider id is recorded: without both, the product cannot know it as ours. A planted
   * rule keeps its mark, because the oracles know it as ours by nothing else.
   */
  private unmark(target: ModelTarget): void {
    const recorded = target.list().filter(({ key, providerRuleId, changed, planted }) => {
      const rule = this.state.ruleAt(target.identifier, key);
      const isRecorded =
        rule?.state === 'present' && !rule.isUnmanaged && rule.providerRuleId === providerRuleId;
      return isRecorded && !changed && !planted;
    });
    if (recorded.length === 0) return;
    const { key, providerRuleId } = this.random.pick(recorded);
    this.log(`${target.identifier}: ${key} loses its mark`);
    target.unmark(providerRuleId);
  }

  private change(target: ModelTarget, providerRuleId: string): void {
    this.log(`${target.identifier}: ${providerRuleId} is changed`);
    target.change(providerRuleId, ruleKey(ruleSpecs(CHANGED_ADDRESS, { port: 22 }, 'one')[0]!));
  }

  private deleteTarget(target: ModelTarget): void {
    const until = Math.min(this.faults.calmAt, this.scheduler.now + this.random.between(1000, 80_000));
    this.faults.register(`${target.identifier} is deleted`, until);
    target.removeAll();
    target.isMissing = true;
    this.scheduler.at(until, () => {
      target.isMissing = false;
      this.compareAll();
    });
  }

  /** Another program that removes the same rule whenever it is present. */
  private scheduleRobot(): void {
    this.wasChangedOutside = true;
    this.scheduler.in(1000, () => this.createStatic(ROBOT_ADDRESS));
    for (let at = 5000; at < this.faults.calmAt; at += 5000) {
      this.scheduler.at(at, () => {
        for (const target of this.modelTargets.values()) {
          for (const rule of target.list().filter(({ key }) => key.startsWith(ROBOT_ADDRESS))) {
            this.state.memory(target.identifier, rule.key).robotRemovals += 1;
            target.remove(rule.providerRuleId, 'outside');
          }
        }
        this.compareAll();
      });
    }
  }

  private compareAll(): void {
    if (!this.wasChangedOutside) return;
    this.state.comparedAt = this.scheduler.now;
    for (const id of this.tables.targets.keys()) this.requests.requestReconcile(id);
    this.wake([...this.tables.targets.keys()]);
  }
}
