import { LIVE_SESSION_STATUSES, ruleKey, ruleSpecs, SESSION_MOVES, type OrganizationId } from '#rules';
import { endSessions, releaseIps } from './sweep';
import { HOLDING, type ResourceIpRow, type ResourceRow, type SessionRow, type Tables } from './tables';

const HOUR_MS = 60 * 60_000;
const isLive = ({ status }: SessionRow): boolean => LIVE_SESSION_STATUSES.some((live) => live === status);

export interface SessionToStart {
  readonly organizationId: OrganizationId;
  readonly userId: string;
  readonly holder: string;
  readonly ipv4Address: string;
  readonly hours: number;
  readonly resourceIds: readonly string[];
}

type Owner = Pick<ResourceIpRow, 'organizationId' | 'sessionId' | 'staticIpRuleId' | 'ipAddress'>;

/** What requests do to the database: the statements of `SessionStore`, `StaticIpRuleStore`, `ResourceRulesStore`. */
export class ModelRequests {
  constructor(private readonly tables: Tables) {}

  start(asked: SessionToStart): { id: string; targetIds: string[] } | 'taken' {
    const { resourceIds, hours, ...like } = asked;
    const taken = [...this.tables.sessions.values()].some(
      (session) =>
        isLive(session) &&
        session.userId === like.userId &&
        session.holder === like.holder &&
        session.ipv4Address === like.ipv4Address,
    );
    if (taken) return 'taken';
    const now = this.tables.now();
    const id = this.tables.newId();
    this.tables.sessions.set(id, {
      ...like,
      id,
      startedAt: now,
      status: 'PENDING',
      expiresAt: now + hours * HOUR_MS,
      endedAt: null,
      endedReason: null,
    });
    const { organizationId, ipv4Address: ipAddress } = like;
    const owner = { organizationId, sessionId: id, staticIpRuleId: null, ipAddress };
    return { id, targetIds: this.open(owner, resourceIds) };
  }

  /** @returns the cloud objects to wake; null when it is not live */
  stop(id: string, reason: 'MANUAL' | 'ADMIN'): string[] | null {
    const session = this.tables.sessions.get(id);
    if (!session || !SESSION_MOVES[session.status].includes('EXPIRING')) return null;
    return endSessions(this.tables, [session], reason);
  }

  extend(id: string, hours: number, maximumHours: number): 'extended' | 'over' | 'beyond-maximum' {
    const session = this.tables.sessions.get(id);
    if (!session || !isLive(session) || session.expiresAt <= this.tables.now()) return 'over';
    const until = session.expiresAt + hours * HOUR_MS;
    if (until > session.startedAt + maximumHours * HOUR_MS) return 'beyond-maximum';
    session.expiresAt = until;
    return 'extended';
  }

  createStatic(
    organizationId: OrganizationId,
    ipAddress: string,
    resourceIds: readonly string[],
  ): { id: string; targetIds: string[] } {
    const id = this.tables.newId();
    this.tables.staticIpRules.set(id, { id, organizationId, ipAddress, deletedAt: null });
    const owner = { organizationId, sessionId: null, staticIpRuleId: id, ipAddress };
    return { id, targetIds: this.open(owner, resourceIds) };
  }

  /** Takes it out of these resources. @returns the cloud objects to wake */
  releaseStatic(id: string, resourceIds: readonly string[]): string[] {
    const entries = this.tables.ipsWhere(
      (ip) => ip.staticIpRuleId === id && resourceIds.includes(ip.resourceId),
    );
    for (const ip of entries.filter(({ status }) => status === 'FAILED')) this.tables.deleteIp(ip);
    return releaseIps(
      this.tables,
      entries.filter(({ status }) => HOLDING.has(status)),
    );
  }

  deleteStatic(id: string): void {
    const rule = this.tables.staticIpRules.get(id);
    if (rule) rule.deletedAt = this.tables.now();
  }

  /**
   * The resource names another cloud object, or takes another way to it; its ResourceIps hold what they want now.
   * @returns the cloud objects to wake
   */
  move(id: string, to: Pick<ResourceRow, 'targetId' | 'credentialId' | 'region'>): string[] {
    const resource = this.tables.resources.get(id)!;
    const again = to.credentialId !== resource.credentialId || to.region !== resource.region;
    Object.assign(resource, to, { revision: resource.revision + 1 });
    const woken = new Set<string>();
    const dropped = new Set<string>();
    const touched = new Set<string>();
    for (const ip of this.tables.ipsWhere((one) => one.resourceId === id && HOLDING.has(one.status))) {
      const held = this.tables.heldBy(ip);
      const wanted = this.wanted(resource, ip.ipAddress);
      const isWanted = (rule: { targetId: string; key: string }): boolean =>
        wanted.some((want) => want.targetId === rule.targetId && want.key === rule.key);
      const fresh = wanted.filter(
        (want) => again || !held.some((rule) => rule.targetId === want.targetId && rule.key === want.key),
      );
      for (const want of fresh) this.hold(ip, want, woken, touched);
      for (const rule of held.filter((one) => !isWanted(one))) {
        rule.holders.delete(ip.id);
        dropped.add(rule.id);
      }
      if (fresh.length > 0) this.waitAgain(ip);
    }
    this.bump(dropped, woken);
    return [...woken];
  }

  requestReconcile(targetId: string): void {
    const target = this.tables.targets.get(targetId)!;
    target.reconcileDueAt = this.tables.now();
    target.reconcileRequested = true;
  }

  private waitAgain(ip: ResourceIpRow): void {
    if (ip.status !== 'PENDING') this.tables.moveIp(ip, 'PENDING');
    Object.assign(ip, {
      pendingSince: this.tables.now(),
      appliedAt: null,
      providerRuleId: null,
      errorMessage: null,
    });
  }

  private open(owner: Owner, resourceIds: readonly string[]): string[] {
    const woken = new Set<string>();
    const made = resourceIds.map((resourceId) => {
      const ip: ResourceIpRow = {
        ...owner,
        id: this.tables.newId(),
        resourceId,
        status: 'PENDING',
        pendingSince: this.tables.now(),
        providerRuleId: null,
        appliedAt: null,
        releasedAt: null,
        removedAt: null,
        errorMessage: null,
      };
      this.tables.resourceIps.set(ip.id, ip);
      return ip;
    });
    // one statement: a rule that several of them want is written once
    const touched = new Set<string>();
    for (const ip of made) {
      for (const want of this.wanted(this.tables.resources.get(ip.resourceId)!, ip.ipAddress))
        this.hold(ip, want, woken, touched);
    }
    return [...woken];
  }

  private wanted(
    resource: ResourceRow,
    ipAddress: string,
  ): { targetId: string; key: string; spec: ReturnType<typeof ruleSpecs>[number] }[] {
    return ruleSpecs(`${ipAddress}/32`, resource.config, 'one').map((spec) => ({
      targetId: resource.targetId,
      key: ruleKey(spec),
      spec,
    }));
  }

  private hold(
    ip: ResourceIpRow,
    { targetId, key, spec }: ReturnType<ModelRequests['wanted']>[number],
    woken: Set<string>,
    touched: Set<string>,
  ): void {
    const now = this.tables.now();
    woken.add(targetId);
    const found = this.tables.rulesOf(targetId).find((rule) => rule.key === key);
    if (found) {
      found.holders.add(ip.id);
      if (touched.has(found.id)) return;
      Object.assign(found, { dueAt: now, revision: found.revision + 1, attempts: 0, closing: false });
      touched.add(found.id);
      return;
    }
    const id = this.tables.newId();
    touched.add(id);
    this.tables.rules.set(id, {
      id,
      targetId,
      key,
      spec,
      state: 'absent',
      isForeign: false,
      providerRuleId: null,
      credentialId: null,
      region: null,
      dueAt: now,
      closing: false,
      revision: 0,
      attempts: 0,
      inFlightUntil: null,
      lastError: null,
      lostCount: 0,
      lostAt: null,
      targetMissingSince: null,
      holders: new Set([ip.id]),
    });
  }

  private bump(ruleIds: ReadonlySet<string>, woken: Set<string>): void {
    for (const id of ruleIds) {
      const rule = this.tables.rules.get(id)!;
      const revision = rule.revision + 1;
      Object.assign(rule, { dueAt: this.tables.now(), revision, attempts: 0, closing: true });
      woken.add(rule.targetId);
    }
  }
}
