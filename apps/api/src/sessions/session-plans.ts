import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { Tx } from '#entities';
import { LimiterPerKey, parseRuleKey, portsText, ruleKey, UnmanagedRules } from '#rules';
import { AddressTaken, type PlacedRule, type SessionRow, Tenants } from '#tenant-store';
import { ApiError, conflict } from '../errors/api-error';
import { refuseLockedDown } from '../errors/refuse-locked-down';
import type { Actor } from '../http/actor';
import { planRefusal, type PlanRefusalDto } from '../http/plan-refusal';
import type {
  ClosedRuleDto,
  PlannedResourceDto,
  PlannedRuleDto,
  SessionPlanDto,
} from './dto/session-plan.dto';
import type { StartSessionDto } from './dto/start-session.dto';
import { newSession, startedEntries } from './new-session';
import { hoursOf } from './session-demand';
import { type CompletedStart, type GivenPermission, SessionPermission } from './session-permission';
import { newResourceIps, type PlannedSession } from './session-plan';
import { SessionPlanner } from './session-planner';
import { SessionReplacement } from './session-replacement';
import { OUTDATED, refusedByIssuer } from './session-starter';
import { PlanRoom } from './plan-room';
import { longestWait } from './session.mapper';
import { startConflict } from './start-conflict';

const HOUR_MS = 3_600_000;
const AT_ONCE = 2;

interface Asked {
  readonly asked: CompletedStart;
  readonly replaced: SessionRow | null;
}

/** Says what a start would do, by the same plan and the same guard, and does nothing. */
@Injectable()
export class SessionPlans {
  private readonly turns = new LimiterPerKey(AT_ONCE, 0);

  constructor(
    private readonly stores: Tenants,
    private readonly planner: SessionPlanner,
    private readonly permission: SessionPermission,
    private readonly replacement: SessionReplacement,
  ) {}

  /** @throws ApiError 400 for what is no address; TooBusy while two others of the caller run */
  plan(actor: Actor, dto: StartSessionDto): Promise<SessionPlanDto> {
    return this.turns.run(actor.principal.userId, () => this.planInTurn(this.stores.autocommit, actor, dto));
  }

  private async planInTurn(tx: Tx, actor: Actor, dto: StartSessionDto): Promise<SessionPlanDto> {
    const asOf = new Date();
    let known: (Asked & { readonly planned: PlannedSession }) | null = null;
    let permission: GivenPermission | null = null;
    let refusal: PlanRefusalDto | null = null;
    try {
      refuseLockedDown(actor.principal);
      const asked = await this.permission.complete(tx, actor.principal, dto);
      const replaced = dto.replaces === undefined ? null : await this.replacement.find(tx, actor, dto);
      known = { asked, replaced, planned: await this.planner.plan(tx, actor, asked, replaced) };
      permission = await this.requirePermission(tx, actor, known);
    } catch (error) {
      refusal = refusalOf(
        await startConflict(tx, this.stores.sessions, actor.principal, error, dto.replaces),
      );
    }
    if (!known) return { ...NOTHING, refusal, asOf };
    const { asked, planned, replaced } = known;
    const closing = replaced ? await this.closing(tx, actor, planned, replaced) : [];
    const resources = await this.resources(tx, actor, planned, replaced, closing);
    const waits = resources.flatMap((resource) => resource.waitSeconds ?? []);
    const { grants, addresses, hours, maximum, demand } = planned;
    return {
      dryRun: true,
      refusal,
      ipv4Address: addresses.ipv4,
      ipv6Address: addresses.ipv6,
      durationHours: hoursOf(hours, planned.replaced),
      maxDurationHours: maximum.hours,
      expiresAt: planned.replaced?.expiresAt ?? new Date(asOf.getTime() + hours * HOUR_MS),
      approvalsNeeded: demand.approvals,
      deciders: demand.approverRoles.map(({ name }) => name),
      reasonNeeded: grants.some(({ roles }) =>
        roles.every((role) => role.requireReason || role.approvals > 0),
      ),
      usesAccessRequestId: asked.breakGlass ? null : (permission?.accessRequestId ?? null),
      resources,
      inactiveResources: planned.inactiveResources,
      waitSeconds: waits.length === 0 ? null : Math.max(...waits),
      closes: closing.map(({ key, resourceName }) => ({ resourceName, ...shown(parseRuleKey(key)) })),
      asOf,
    };
  }

  /** @throws what a start throws */
  private async requirePermission(
    tx: Tx,
    actor: Actor,
    { asked, planned, replaced }: Asked & { readonly planned: PlannedSession },
  ): Promise<GivenPermission> {
    const { principal } = actor;
    const { organizationId, userId } = principal;
    const { grants, addressDiffers } = planned;
    const permission = await this.permission.requirePermission(tx, principal, asked, planned);
    const stored = newSession(principal, asked, planned, permission);
    const session = {
      ...stored,
      id: randomUUID(),
      tokenHash: null,
      limits: besides(stored.limits, replaced),
    };
    const [entry] = startedEntries(actor, session, grants, { addressDiffers, replaces: asked.replaces });
    if (await this.stores.sessions.liveSession(tx, organizationId, session, replaced?.id ?? null)) {
      throw new AddressTaken(session);
    }
    if (await this.stores.sessionPlans.mayStart(tx, organizationId, session, entry)) return permission;
    throw (await this.stores.offboarding.isRefused(tx, organizationId, userId))
      ? refusedByIssuer()
      : conflict(OUTDATED);
  }

  private async resources(
    tx: Tx,
    { principal: { organizationId } }: Actor,
    { grants, opened }: PlannedSession,
    replaced: SessionRow | null,
    closing: readonly PlacedRule[],
  ): Promise<PlannedResourceDto[]> {
    const placed = newResourceIps(opened, grants).flatMap(({ resourceId, targetId, specs }) =>
      specs.map((spec) => ({ resourceId, targetId, spec, key: ruleKey(spec) })),
    );
    const places = placed.map(({ targetId, key }) => ({ targetId, key }));
    const { sessionPlans } = this.stores;
    const targets = await sessionPlans.targets(tx, organizationId, [...places, ...closing]);
    const room = new PlanRoom(targets);
    for (const rule of closing)
      for (const { targetId, config } of grants) if (targetId === rule.targetId) room.leave(rule, config);
    const held = await sessionPlans.listHeld(tx, organizationId, places, replaced?.id ?? null);
    const targetIds = [...new Set(grants.map(({ targetId }) => targetId))];
    const others = await sessionPlans.listUnmanaged(tx, organizationId, targetIds);
    const shared = new Set(held.map(at));
    const unmanaged = new Map(
      targetIds.map((id) => [
        id,
        new UnmanagedRules(
          others.filter(({ targetId }) => targetId === id).map((rule) => ({ ...rule, ownRuleId: null })),
        ),
      ]),
    );
    const planned = grants.map(({ resourceId, resourceName, account, targetId, config }) => {
      const own = placed.filter((rule) => rule.resourceId === resourceId);
      const rules = own.map(({ spec, ...rule }): PlannedRuleDto => {
        const by = unmanaged.get(targetId)!.lettingIn(rule.key);
        const isThere = unmanaged.get(targetId)!.has(rule.key);
        const full = isThere ? null : room.take(rule, config);
        const outcome = shared.has(at(rule)) ? 'SHARED' : (full ?? (by === null ? 'OPENS' : 'ALREADY_OPEN'));
        return { ...shown(spec), outcome, by };
      });
      const queue = targets.find((target) => target.targetId === targetId)?.queue;
      return {
        resourceId,
        resourceName,
        account,
        rules,
        waitSeconds: longestWait(queue ? [queue] : []),
        own,
        config,
      };
    });
    // once all of them have taken theirs
    return planned.map(({ own, config, ...resource }) => ({ ...resource, room: room.shownTo(own, config) }));
  }

  /** What goes with the replaced session, and is not opened again. */
  private async closing(
    tx: Tx,
    { principal: { organizationId } }: Actor,
    { grants, opened }: PlannedSession,
    { id }: SessionRow,
  ): Promise<(PlacedRule & { readonly resourceName: string })[]> {
    const kept = new Set(
      newResourceIps(opened, grants).flatMap(({ targetId, specs }) =>
        specs.map((spec) => at({ targetId, key: ruleKey(spec) })),
      ),
    );
    const alone = await this.stores.sessionPlans.listHeldAlone(tx, organizationId, id);
    return alone.filter((rule) => !kept.has(at(rule)));
  }
}

const at = ({ targetId, key }: PlacedRule): string => `${targetId} ${key}`;

const NOTHING = {
  dryRun: true,
  ipv4Address: null,
  ipv6Address: null,
  durationHours: null,
  maxDurationHours: null,
  expiresAt: null,
  approvalsNeeded: 0,
  deciders: [] as string[],
  reasonNeeded: false,
  usesAccessRequestId: null,
  resources: [] as PlannedResourceDto[],
  inactiveResources: null,
  waitSeconds: null,
  closes: [] as ClosedRuleDto[],
} as const;

const shown = ({
  address,
  protocol,
  ports,
}: ReturnType<typeof parseRuleKey>): Omit<ClosedRuleDto, 'resourceName'> => ({
  address,
  protocol,
  ports: portsText(ports),
});

/** The replaced session makes room for one. 0: no limit */
function besides(
  { perUser, perServiceUser }: { readonly perUser: number; readonly perServiceUser: number },
  replaced: SessionRow | null,
): { perUser: number; perServiceUser: number } {
  const more = (limit: number): number => (limit > 0 && replaced ? limit + 1 : limit);
  return { perUser: more(perUser), perServiceUser: more(perServiceUser) };
}

const ADDRESSES = ['ipv4Address', 'ipv6Address'];

/** @throws the error itself, when it is about what was sent rather than about the state of things, or unexpected */
function refusalOf(error: unknown): PlanRefusalDto {
  if (!(error instanceof ApiError)) throw error;
  const fields = Object.keys(error.extras.validationErrors ?? {});
  const isMalformed = error.extras.isAudited !== true && fields.some((field) => ADDRESSES.includes(field));
  if (isMalformed) throw error;
  return planRefusal(error);
}
