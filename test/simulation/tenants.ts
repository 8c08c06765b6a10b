import { LIVE_SESSION_STATUSES, ruleKey, ruleSpecs, type OrganizationId } from '#rules';
import type { Chance } from './chance';
import type { Faults } from './faults';
import type { CloudObject } from './model-cloud';
import { ModelRequests } from './model/requests';
import type { ResourceRow, SessionRow, Tables } from './model/tables';
import { short, type Oracles } from './oracles';
import type { Scheduler } from './scheduler';

const ADDRESSES = ['203.0.113.1', '203.0.113.2', '203.0.113.3'];
/** Of a static rule that no session shares: what a robot takes out again and again. */
const FOUGHT_OVER = '192.0.2.66';
const CHANGED_TO = '198.51.100.77/32';
const HOUR_MS = 3_600_000;
const DEAD_RULE = '00000000-0000-4000-8000-ffffffffffff';

/** People, jobs and other hands: what they do at random, for as long as they do anything. */
export class Tenants {
  private readonly requests: ModelRequests;
  private readonly statics: string[] = [];
  private readonly everyMs: number;
  private readonly users = ['user-1', 'user-2'];
  private readonly shortMs: number;
  private readonly robot: boolean;
  private needsComparing = false;

  constructor(
    private readonly scheduler: Scheduler,
    private readonly chance: Chance,
    private readonly tables: Tables,
    private readonly objects: ReadonlyMap<string, CloudObject>,
    private readonly faults: Faults,
    private readonly oracles: Oracles,
    private readonly wake: (targetIds: readonly string[]) => void,
    private readonly tell: (words: string) => void,
  ) {
    this.requests = new ModelRequests(tables);
    this.everyMs = chance.pick([1500, 4000, 8000]);
    this.shortMs = chance.pick([4000, 20_000, 60_000]);
    this.robot = chance.happens(0.06);
  }

  begin(): void {
    this.scheduler.in(this.chance.between(0, 500), () => this.actAndPlanNext());
    if (!this.faults.isHealthy && this.chance.happens(0.3)) this.planOutsideHands();
    if (this.robot) this.planRobot();
    this.scheduler.at(this.faults.calmAt, () => this.compareAll());
  }

  private actAndPlanNext(): void {
    if (this.scheduler.now > this.faults.calmAt) return;
    this.act();
    this.scheduler.in(this.chance.between(0, 2 * this.everyMs), () => this.actAndPlanNext());
  }

  private act(): void {
    const dice = this.chance.next();
    if (dice < 0.42) this.start();
    else if (dice < 0.64) this.stop();
    else if (dice < 0.74) this.extend();
    else if (dice < 0.82) this.createStatic();
    else if (dice < 0.9) this.deleteStatic();
    else if (dice < 0.94) this.move();
    else this.verify();
  }

  private someSession(): SessionRow | null {
    const live = [...this.tables.sessions.values()].filter(({ status }) =>
      LIVE_SESSION_STATUSES.some((one) => one === status),
    );
    return live.length === 0 ? null : this.chance.pick(live);
  }

  private usable(organizationId: OrganizationId): ResourceRow[] {
    const own = [...this.tables.resources.values()].filter(
      (resource) => resource.organizationId === organizationId && resource.isActive,
    );
    const some = own.filter(() => this.chance.happens(0.6));
    return some.length > 0 ? some : own.slice(0, 1);
  }

  private start(): void {
    const organizationId = this.chance.pick([...this.tables.credentials.values()]).organizationId;
    const ipv4Address = this.chance.pick(ADDRESSES);
    const resources = this.usable(organizationId);
    if (resources.length === 0) return;
    const ms = this.chance.between(500, this.chance.happens(0.8) ? this.shortMs : HOUR_MS);
    const started = this.requests.start({
      organizationId,
      userId: `${organizationId} ${this.chance.pick(this.users)}`,
      holder: '',
      ipv4Address,
      hours: ms / HOUR_MS,
      resourceIds: resources.map((resource) => resource.id),
    });
    if (started === 'taken') return;
    this.tell(`starts session ${short(started.id)} for ${ipv4Address}, ${Math.round(ms)} ms`);
    this.wake(started.targetIds);
  }

  private stop(): void {
    const session = this.someSession();
    if (!session) return;
    this.tell(`stops session ${short(session.id)}`);
    const woken = this.requests.stop(session.id, this.chance.pick(['MANUAL', 'ADMIN']));
    if (woken) this.wake(woken);
  }

  private extend(): void {
    const session = this.someSession();
    if (!session) return;
    const { id, expiresAt } = session;
    // near its end, where it meets the sweep
    const wait = this.chance.happens(0.5) ? Math.max(0, expiresAt - this.scheduler.now - 30) : 0;
    this.scheduler.in(wait + this.chance.between(0, 60), () => {
      if (this.scheduler.now > this.faults.calmAt) return;
      const ms = this.chance.between(1000, this.shortMs);
      const answer = this.requests.extend(id, ms / HOUR_MS, 24);
      this.tell(`extends session ${short(id)} by ${Math.round(ms)} ms: ${answer}`);
      if (answer === 'extended') this.oracles.extended(id);
    });
  }

  private createStatic(address = this.chance.pick(ADDRESSES)): void {
    const organizationId = this.chance.pick([...this.tables.credentials.values()]).organizationId;
    const resources = this.usable(organizationId);
    if (resources.length === 0) return;
    const { id, targetIds } = this.requests.createStatic(
      organizationId,
      address,
      resources.map((resource) => resource.id),
    );
    if (address !== FOUGHT_OVER) this.statics.push(id);
    this.tell(`creates static rule ${short(id)} for ${address}`);
    this.wake(targetIds);
  }

  private deleteStatic(): void {
    const id = this.statics.pop();
    if (id === undefined) return;
    this.tell(`deletes static rule ${short(id)}`);
    this.wake(this.requests.releaseStatic(id, [...this.tables.resources.keys()]));
    this.requests.deleteStatic(id);
  }

  private move(): void {
    if (this.tables.resources.size === 0) return;
    const resource = this.chance.pick([...this.tables.resources.values()]);
    const own = [...this.tables.credentials].filter(
      ([, owner]) => owner.organizationId === resource.organizationId,
    );
    const targetId = this.chance.pick([...this.tables.targets.keys()]);
    const [credentialId] = this.chance.pick(own);
    this.tell(`moves ${resource.name} to ${short(targetId)} with ${credentialId}`);
    this.wake(this.requests.move(resource.id, { targetId, credentialId, region: resource.region }));
  }

  private verify(): void {
    for (const resource of this.tables.resources.values()) {
      const { identifier } = this.tables.targets.get(resource.targetId)!;
      if (!this.objects.get(identifier)!.isGone) resource.isActive = true;
    }
  }

  // --- other hands

  private planOutsideHands(): void {
    for (let left = this.chance.whole(1, 3); left > 0; left -= 1) {
      const object = this.chance.pick([...this.objects.values()]);
      this.scheduler.in(this.chance.between(1000, this.faults.calmAt * 0.9), () => this.meddle(object));
    }
  }

  private meddle(object: CloudObject): void {
    const comparedIn = this.chance.between(0, 20_000);
    this.needsComparing = true;
    if (object.isGone) return;
    const own = object.list().filter((rule) => rule.ownRuleId !== null);
    const dice = this.chance.next();
    if (dice < 0.25) {
      const spec = ruleSpecs(`${this.chance.pick(ADDRESSES)}/32`, { port: 22 }, 'one')[0]!;
      object.add(ruleKey(spec), null, 'outside');
      return;
    }
    this.faults.lasts(
      'another hand is at work',
      Math.min(this.faults.calmAt, this.scheduler.now + comparedIn),
    );
    if (dice < 0.5 && own.length > 0) object.remove(this.chance.pick(own).providerRuleId, 'outside');
    else if (dice < 0.62) this.plantOrphan(object);
    else if (dice < 0.72) this.loseObject(object);
    else if (dice < 0.86) this.unmark(object);
    else if (own.length > 0) this.change(object, this.chance.pick(own).providerRuleId);
    this.scheduler.in(comparedIn, () => this.compareAll());
  }

  /** A rule with our mark that the database may know nothing of. */
  private plantOrphan(object: CloudObject): void {
    const spec = ruleSpecs(`${this.chance.pick([...ADDRESSES, '198.51.100.9'])}/32`, { port: 22 }, 'one')[0]!;
    object.add(ruleKey(spec), DEAD_RULE, 'outside');
  }

  /**
   * Only of what the database has recorded the id of: nobody could know another as ours. One that was planted with our mark
   * and taken over is ours by that id as well, and not the engine's to the oracles: it keeps its mark.
   */
  private unmark(object: CloudObject): void {
    const recorded = object.list().filter(({ key, providerRuleId, changed, planted }) => {
      const rule = this.oracles.ruleAt(object.identifier, key);
      const isKnown =
        rule?.state === 'present' && !rule.isUnmanaged && rule.providerRuleId === providerRuleId;
      return isKnown && !changed && !planted;
    });
    if (recorded.length === 0) return;
    const { key, providerRuleId } = this.chance.pick(recorded);
    this.tell(`${object.identifier}: ${key} loses its mark`);
    object.unmark(providerRuleId);
  }

  private change(object: CloudObject, providerRuleId: string): void {
    this.tell(`${object.identifier}: ${providerRuleId} is changed`);
    object.change(providerRuleId, ruleKey(ruleSpecs(CHANGED_TO, { port: 22 }, 'one')[0]!));
  }

  private loseObject(object: CloudObject): void {
    const until = Math.min(this.faults.calmAt, this.scheduler.now + this.chance.between(1000, 80_000));
    this.faults.lasts(`${object.identifier} is deleted`, until);
    object.empty();
    object.isGone = true;
    this.scheduler.at(until, () => {
      object.isGone = false;
      this.compareAll();
    });
  }

  /** Takes out the same rule whenever it is back. */
  private planRobot(): void {
    this.needsComparing = true;
    this.scheduler.in(1000, () => this.createStatic(FOUGHT_OVER));
    for (let at = 5000; at < this.faults.calmAt; at += 5000) {
      this.scheduler.at(at, () => {
        for (const object of this.objects.values()) {
          for (const rule of object.list().filter(({ key }) => key.startsWith(FOUGHT_OVER))) {
            this.oracles.memory(object.identifier, rule.key).takenOutByOthers += 1;
            object.remove(rule.providerRuleId, 'outside');
          }
        }
        this.compareAll();
      });
    }
  }

  private compareAll(): void {
    if (!this.needsComparing) return;
    this.oracles.comparedAt = this.scheduler.now;
    for (const id of this.tables.targets.keys()) this.requests.requestReconcile(id);
    this.wake([...this.tables.targets.keys()]);
  }
}
