import { Injectable } from '@nestjs/common';
import type { Logger as PinoLogger } from 'pino';
import type { OidcPreset, ListQuery, Sliced } from '#entities';
import type { Principal, WorkloadScope } from '#guards';
import { type OidcConditions, type OidcTrustRow, Tenants } from '#tenant-store';
import { recordAction, objectNamed } from '../audit/action-records';
import { changesBetween, type Changes } from '../audit/changes';
import { invalidField, nameTaken, notFound, notPossible, refuseSuspended, type ApiError } from '../errors';
import type { Actor } from '../http/actor';
import { Plans } from '../plans/plans';
import { ServiceUsers } from '../users/service-users';
import { sameConditions } from './conditions';
import type { CreateOidcTrustDto, UpdateOidcTrustDto } from './dto/oidc-trust.dto';
import { Issuers } from './issuers';
import { PRESETS, presetRefusal } from './presets';

const MAX_TRUSTS = 100;

/** An organization's trusts, each with a service user of its own. */
@Injectable()
export class OidcTrustsService {
  constructor(
    private readonly stores: Tenants,
    private readonly serviceUsers: ServiceUsers,
    private readonly issuers: Issuers,
    private readonly plans: Plans,
  ) {}

  list(principal: Principal, query: ListQuery): Promise<Sliced<OidcTrustRow>> {
    return this.stores.oidcTrusts.list(this.stores.autocommit, principal.organizationId, query);
  }

  async find(principal: Principal, id: string): Promise<OidcTrustRow> {
    const trust = await this.stores.oidcTrusts.find(this.stores.autocommit, principal.organizationId, id);
    if (!trust) throw missing(id);
    return trust;
  }

  /** Why a trust of earlier releases or settings would be refused today: it lets in more jobs. */
  warningsOf(trust: Pick<OidcTrustRow, 'preset' | 'issuer' | 'conditions'>): string[] {
    const refusal = presetRefusal(this.demandingPreset(trust), trust.conditions);
    return refusal === null ? [] : [`conditions ${refusal}`];
  }

  /** Logs the enabled trusts of all organizations that have warnings. */
  async logWeakTrusts(log: Pick<PinoLogger, 'warn'>): Promise<void> {
    for (const trust of await this.stores.allOidcTrusts.listEnabled(this.stores.autocommit)) {
      const { id: trustId, name, organizationId } = trust;
      const warnings = this.warningsOf(trust);
      if (warnings.length > 0)
        log.warn({ organizationId, trustId, name, warnings }, 'A trust lets in more jobs than it should');
    }
  }

  /** @throws ApiError 400 that names what the conditions lack, 403 on the Free plan, 404 when a role does not exist */
  async create(actor: Actor, dto: CreateOidcTrustDto): Promise<OidcTrustRow> {
    const { principal } = actor;
    const { organizationId } = principal;
    const { name, conditions } = dto;
    const preset = dto.preset ?? 'CUSTOM';
    const issuer = this.issuerOf(preset, dto.issuer ?? null);
    this.plans.refuseBeyond(principal.tier, 'Trusts', dto.scopes);
    refuseInsufficient(preset, conditions);
    const scopes = [...new Set(dto.scopes)];
    return this.stores.transaction(async (tx) => {
      await this.stores.users.lock(tx, organizationId);
      if ((await this.stores.oidcTrusts.count(tx, organizationId)) >= MAX_TRUSTS)
        throw notPossible(`The organization has ${MAX_TRUSTS} trusts, the maximum: delete one`);
      const { id: serviceUserId } = await this.serviceUsers.insert(tx, actor, name, dto.roleIds ?? []);
      const createdByEmail = principal.email;
      const given = { name, preset, issuer, serviceUserId, conditions, scopes, createdByEmail };
      const id = await this.stores.oidcTrusts.create(tx, organizationId, given);
      if (id === null) throw nameTaken('A trust', name);
      const details = { preset, issuer, conditions, scopes, serviceUserId };
      await recordAction(tx, actor, 'OIDC_TRUST_CREATED', { type: 'OIDC_TRUST', id, name }, details);
      return (await this.stores.oidcTrusts.find(tx, organizationId, id))!;
    });
  }

  /** @throws ApiError 400 as `create`; 403 while suspended, except for a new name and for disabling */
  async update(actor: Actor, id: string, dto: UpdateOidcTrustDto): Promise<OidcTrustRow> {
    const { principal } = actor;
    const { organizationId } = principal;
    return this.stores.transaction(async (tx) => {
      const before = await this.stores.oidcTrusts.findLocked(tx, organizationId, id);
      if (!before) throw missing(id);
      if (mayWiden(before, dto)) refuseSuspended(principal);
      this.plans.refuseBeyond(principal.tier, 'Trusts', addedScopes(before, dto));
      if (dto.conditions) refuseInsufficient(this.demandingPreset(before), dto.conditions);
      const { name, conditions, isEnabled } = dto;
      const scopes = dto.scopes && [...new Set(dto.scopes)];
      const given = { name, conditions, scopes, isEnabled };
      if (!(await this.stores.oidcTrusts.update(tx, organizationId, id, given)))
        throw nameTaken('A trust', dto.name ?? before.name);
      const after = (await this.stores.oidcTrusts.find(tx, organizationId, id))!;
      const changed = changesOf(before, after);
      if (Object.keys(changed).length > 0)
        await recordAction(tx, actor, 'OIDC_TRUST_UPDATED', objectNamed('OIDC_TRUST', after), {
          changed,
        });
      return after;
    });
  }

  /** Deletes its service user too, whose sessions and keys end. */
  async delete(actor: Actor, id: string): Promise<void> {
    const { organizationId } = actor.principal;
    const due = await this.stores.closing.revocation(async (tx) => {
      await this.stores.users.lock(tx, organizationId);
      const trust = await this.stores.oidcTrusts.findLocked(tx, organizationId, id);
      if (!trust || !(await this.stores.oidcTrusts.delete(tx, organizationId, id))) throw missing(id);
      const { serviceUserId } = trust;
      await recordAction(tx, actor, 'OIDC_TRUST_DELETED', objectNamed('OIDC_TRUST', trust), {
        serviceUserId,
      });
      return this.serviceUsers.remove(tx, actor, serviceUserId);
    });
    this.serviceUsers.wakeWorkers(due);
  }

  /** Its own one, or what its issuer was bound to later. */
  private demandingPreset({ preset, issuer }: Pick<OidcTrustRow, 'preset' | 'issuer'>): OidcPreset {
    return this.issuers.presetOf(issuer) ?? preset;
  }

  private issuerOf(preset: OidcPreset, given: string | null): string {
    const issuer = given ?? PRESETS[preset].issuer;
    if (issuer === null) throw invalidField('issuer', 'is needed without a preset');
    const owner = this.issuers.presetOf(issuer);
    if (owner !== null && owner !== preset)
      throw invalidField('issuer', `belongs to the preset ${owner}: name that one`);
    if (this.issuers.allows(issuer)) return issuer;
    throw invalidField(
      'issuer',
      `must be one that this deployment allows: ${this.issuers.all.join(', ')}; its operator adds others to OIDC_ISSUERS`,
    );
  }
}

const addedScopes = (
  before: OidcTrustRow,
  { scopes = [] }: Pick<UpdateOidcTrustDto, 'scopes'>,
): WorkloadScope[] => scopes.filter((scope) => !before.scopes.includes(scope));

const mayWiden = (before: OidcTrustRow, dto: UpdateOidcTrustDto): boolean =>
  (dto.conditions !== undefined && !sameConditions(before.conditions, dto.conditions)) ||
  addedScopes(before, dto).length > 0 ||
  (dto.isEnabled === true && !before.isEnabled);

function changesOf(before: OidcTrustRow, after: OidcTrustRow): Changes {
  const others = changesBetween(before, after, ['name', 'isEnabled', 'scopes']);
  if (sameConditions(before.conditions, after.conditions)) return others;
  return { ...others, conditions: { from: before.conditions, to: after.conditions } };
}

function refuseInsufficient(preset: OidcPreset, conditions: OidcConditions): void {
  const refusal = presetRefusal(preset, conditions);
  if (refusal !== null) throw invalidField('conditions', refusal);
}

const missing = (id: string): ApiError => notFound(`Trust ${id} does not exist`);
