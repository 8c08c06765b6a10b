import {
  LIVE_SESSION_STATUSES,
  portsText,
  ruleKey,
  ruleSpecs,
  SESSION_MOVES,
  type AdditionCause,
  type OrganizationId,
} from '#rules';
import { endSessions, release, releaseClaims } from './releases';
import { endOf, HOLDING, type ResourceIpRow, type ResourceRow, type SessionRow, type Tables } from './tables';

const HOUR_MS = 60 * 60_000;
const isLive = ({ status }: SessionRow): boolean => LIVE_SESSION_STATUSES.some((live) => live === status);

export interface SessionToStart {
  readonly organizationId: OrganizationId;
  readonly userId: string;
  readonly holder: string;
  readonly ipv4Address: string;
  readonly hours: number;
  /** null: no lease */
  readonly leaseMs: number | null;
  readonly resourceIds: readonly string[];
}

type Owner = Pick<ResourceIpRow, 'organizationId' | 'sessionId' | 'staticIpRuleId' | 'ipAddress'>;

/** What tenants ask for, in memory: the statements of the API's stores, which decide about sessions, holders and releases. */
export class Requests {
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
      leaseUntil: like.leaseMs === null ? null : now + like.leaseMs,
      endedAt: null,
      endedReason: null,
    });
    const { organizationId, ipv4Address: ipAddress } = like;
    const owner = { organizationId, sessionId: id, staticIpRuleId: null, ipAddress };
    return { id, targetIds: this.open(owner, resourceIds, 'SESSION_STARTED') };
  }

  /** @returns the targets to wake; null when it is not live */
  stop(id: string, reason: 'MANUAL' | 'ADMIN'): string[] | null {
    const session = this.tables.sessions.get(id);
    if (!session || !SESSION_MOVES[session.status].includes('EXPIRING')) return null;
    const cause = reason === 'ADMIN' ? 'SESSION_STOPPED_BY_ADMIN' : 'SESSION_STOPPED';
    return endSessions(this.tables, [session], reason, cause);
  }

  /** In the model, one role without a time limit has every resource. */
  extend(id: string, hours: number, tierHours: number): 'extended' | 'over' | 'refused' {
    const session = this.tables.sessions.get(id);
    if (!session || !isLive(session) || endOf(session) <= this.tables.now()) return 'over';
    const until = session.expiresAt + hours * HOUR_MS;
    if (until > session.startedAt + tierHours * HOUR_MS) return 'refused';
    const held = [...this.tables.resourceIps.values()].filter(
      (ip) => ip.sessionId === id && HOLDING.has(ip.status),
    );
    if (held.some((ip) => !this.tables.resources.get(ip.resourceId)!.isActive)) return 'refused';
    session.expiresAt = until;
    for (const rule of held.flatMap((ip) => this.tables.heldBy(ip)))
      if (rule.nativeEndAt !== null)
        Object.assign(rule, { dueAt: this.tables.now(), revision: rule.revision + 1 });
    return 'extended';
  }

  /** @returns whether its lease begins anew */
  renew(id: string): boolean {
    const session = this.tables.sessions.get(id);
    const now = this.tables.now();
    if (!session || !isLive(session) || session.leaseMs === null || endOf(session) <= now) return false;
    session.leaseUntil = now + session.leaseMs;
    return true;
  }

  createStatic(
    organizationId: OrganizationId,
    ipAddress: string,
    resourceIds: readonly string[],
  ): { id: string; targetIds: string[] } {
    const id = this.tables.newId();
    this.tables.staticIpRules.set(id, {
      id,
      organizationId,
      ipAddress,
      deletedAt: null,
    });
    const owner = { organizationId, sessionId: null, staticIpRuleId: id, ipAddress };
    return { id, targetIds: this.open(owner, resourceIds, 'STATIC_RULE_CREATED') };
  }

  /** Releases its holders on these resources. @returns the targets to wake */
  releaseStatic(id: string, resourceIds: readonly string[]): string[] {
    const entries = this.tables.ipsWhere(
      (ip) => ip.staticIpRuleId === id && resourceIds.includes(ip.resourceId),
    );
    for (const ip of entries.filter(({ status }) => status === 'FAILED')) ip.releasedAt = this.tables.now();
    return release(this.tables, 'STATIC_RULE_DELETED', entries);
  }

  deleteStatic(id: string): void {
    const rule = this.tables.staticIpRules.get(id);
    if (rule) rule.deletedAt = this.tables.now();
  }

  /**
   * Points the resource at another target, or changes its credential or region, and updates its holders.
   * @returns the targets to wake
   */
  move(id: string, to: Pick<ResourceRow, 'targetId' | 'credentialId' | 'region'>): string[] {
    const resource = this.tables.resources.get(id)!;
    const again = to.credentialId !== resource.credentialId || to.region !== resource.region;
    const cause = to.targetId === resource.targetId ? 'CONFIG_CHANGED' : 'RESOURCE_MOVED';
    Object.assign(resource, to, { revision: resource.revision + 1 });
    const ips = this.tables.ipsWhere((one) => one.resourceId === id && HOLDING.has(one.status));
    const isDesired = (ip: ResourceIpRow, { targetId, key }: { targetId: string; key: string }): boolean =>
      this.desired(resource, ip.ipAddress).some((want) => want.targetId === targetId && want.key === key);
    const left = ips.flatMap((ip) =>
      this.tables
        .holdersBy(ip)
        .filter(
          ({ ruleId, releasedAt }) => releasedAt === null && !isDesired(ip, this.tables.rules.get(ruleId)!),
        ),
    );
    const woken = new Set(releaseClaims(this.tables, cause, left));
    const touched = new Set<string>();
    for (const ip of ips) {
      const live = this.tables.holdersBy(ip).filter(({ releasedAt }) => releasedAt === null);
      const held = live.map(({ ruleId }) => this.tables.rules.get(ruleId)!);
      const fresh = this.desired(resource, ip.ipAddress).filter(
        (want) => again || !held.some((rule) => rule.targetId === want.targetId && rule.key === want.key),
      );
      for (const want of fresh) this.hold(ip, want, cause, woken, touched);
      if (fresh.length > 0) this.waitAgain(ip);
    }
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

  private open(owner: Owner, resourceIds: readonly string[], cause: AdditionCause): string[] {
    const woken = new Set<string>();
    const made = resourceIds.map((resourceId) => {
      const ip: ResourceIpRow = {
        ...owner,
        id: this.tables.newId(),
        resourceId,
        createdAt: this.tables.now(),
        status: 'PENDING',
        pendingSince: this.tables.now(),
        providerRuleId: null,
        appliedAt: null,
        releasedAt: null,
        removedAt: null,
        errorMessage: null,
        wrongFamily: false,
        givenUp: null,
        stillAllowedBy: null,
      };
      this.tables.resourceIps.set(ip.id, ip);
      return ip;
    });
    // one statement: a rule that several of them desire is written once
    const touched = new Set<string>();
    for (const ip of made) {
      for (const want of this.desired(this.tables.resources.get(ip.resourceId)!, ip.ipAddress))
        this.hold(ip, want, cause, woken, touched);
    }
    return [...woken];
  }

  private desired(
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
    { targetId, key, spec }: ReturnType<Requests['desired']>[number],
    cause: AdditionCause,
    woken: Set<string>,
    touched: Set<string>,
  ): void {
    const now = this.tables.now();
    woken.add(targetId);
    const found = this.tables.rulesOf(targetId).find((rule) => rule.key === key);
    const { address, protocol, ports } = spec;
    const rule =
      found ??
      this.tables.addRule({
        targetId,
        key,
        address,
        protocol,
        ports: portsText(ports),
        dueAt: now,
      });
    this.tables.hold({ ruleId: rule.id, resourceIpId: ip.id, cause, releasedAt: null, releaseCause: null });
    if (found && !touched.has(rule.id)) {
      const desired = { cause: null, unwantedSince: null, overdueAt: null, isSuspended: false };
      const revision = rule.revision + 1;
      Object.assign(rule, { ...desired, dueAt: now, revision, attempts: 0, closing: false });
    }
    touched.add(rule.id);
  }
}
