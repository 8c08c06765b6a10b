import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { ListQuery, Sliced, Tx } from '#entities';
import type { WokenTargets } from '#engine-store/port';
import type { Principal } from '#guards';
import { WakeUps } from '#jobs';
import { MasterKeys, openCredential, sealCredential } from '#secrets';
import { checkIssuer, type IssuerCheck, IssuerClients } from '#sso';
import {
  type GroupMapping,
  type IdentityProviderChanges,
  type IdentityProviderRow,
  Tenants,
} from '#tenant-store';
import { recordAction, objectNamed } from '../audit/action-records';
import { changesBetween, type Changes } from '../audit/changes';
import { DataKeys } from '../credentials/data-keys';
import { invalidField, nameTaken, notFound, notPossible, type ApiError } from '../errors';
import type { Actor } from '../http/actor';
import type {
  CreateIdentityProviderDto,
  GroupMappingDto,
  UpdateIdentityProviderDto,
} from './dto/identity-provider.dto';
import { SsoAddresses } from './sso-addresses';

const MAX_PROVIDERS = 10;
const OBJECT = 'IDENTITY_PROVIDER';
const SHOWN = [
  'name',
  'issuer',
  'clientId',
  'groupsClaim',
  'groupPattern',
  'emailDomains',
  'createUsers',
  'trustsSecondFactor',
  'isEnabled',
  'groupMappings',
] as const satisfies readonly (keyof IdentityProviderRow)[];

export interface IdentityProviderTest {
  readonly ok: boolean;
  readonly checks: IssuerCheck[];
}

/** The issuers that an organization's people sign in with. */
@Injectable()
export class IdentityProvidersService {
  constructor(
    private readonly stores: Tenants,
    private readonly dataKeys: DataKeys,
    private readonly masterKeys: MasterKeys,
    private readonly issuers: IssuerClients,
    private readonly addresses: SsoAddresses,
    private readonly wakeUps: WakeUps,
  ) {}

  list({ organizationId }: Principal, query: ListQuery): Promise<Sliced<IdentityProviderRow>> {
    return this.stores.identityProviders.list(this.stores.autocommit, organizationId, query);
  }

  async find({ organizationId }: Principal, id: string): Promise<IdentityProviderRow> {
    const provider = await this.stores.identityProviders.find(this.stores.autocommit, organizationId, id);
    if (!provider) throw missingProvider(id);
    return provider;
  }

  /** @throws ApiError 400 for what the fields must not be together, 404 when a role does not exist */
  async create(actor: Actor, dto: CreateIdentityProviderDto): Promise<IdentityProviderRow> {
    const { organizationId, email } = actor.principal;
    const { name, issuer, clientId, clientSecret, groupMappings = [] } = dto;
    const id = randomUUID();
    const dataKey = await this.dataKeys.of(organizationId);
    const created = {
      id,
      name,
      issuer,
      clientId,
      sealedData: sealCredential(this.masterKeys, dataKey, id, { clientSecret }),
      groupsClaim: dto.groupsClaim ?? null,
      groupPattern: dto.groupPattern ?? null,
      emailDomains: [...new Set(dto.emailDomains)],
      createUsers: dto.createUsers ?? false,
      trustsSecondFactor: dto.trustsSecondFactor ?? false,
      isEnabled: dto.enabled ?? true,
      createdByEmail: email,
    };
    refuseUnlimited(created);
    return this.stores.transaction(async (tx) => {
      await this.stores.users.lock(tx, organizationId);
      if ((await this.stores.identityProviders.count(tx, organizationId)) >= MAX_PROVIDERS)
        throw notPossible(
          `The organization has ${MAX_PROVIDERS} identity providers, the maximum: delete one`,
        );
      if (!(await this.stores.identityProviders.create(tx, organizationId, created)))
        throw nameTaken('An identity provider', name);
      await this.map(tx, actor.principal, id, groupMappings);
      const row = (await this.stores.identityProviders.find(tx, organizationId, id))!;
      const details = Object.fromEntries(SHOWN.map((field) => [field, row[field]]));
      await recordAction(tx, actor, 'IDENTITY_PROVIDER_CREATED', objectNamed(OBJECT, row), details);
      return row;
    });
  }

  /** @throws ApiError 400, also for another issuer while there are identities of this one */
  async update(actor: Actor, id: string, dto: UpdateIdentityProviderDto): Promise<IdentityProviderRow> {
    const { organizationId } = actor.principal;
    const dataKey = await this.dataKeys.of(organizationId);
    const { row, woken } = await this.changing(actor, id, async (tx, before) => {
      const { clientSecret, enabled, groupMappings, emailDomains, patternMemberships, ...others } = dto;
      const changes: IdentityProviderChanges = {
        ...others,
        emailDomains: emailDomains && [...new Set(emailDomains)],
        isEnabled: enabled,
        ...(clientSecret !== undefined && {
          sealedData: sealCredential(this.masterKeys, dataKey, id, { clientSecret }),
        }),
      };
      refuseUnlimited({
        emailDomains: changes.emailDomains ?? before.emailDomains,
        createUsers: changes.createUsers ?? before.createUsers,
      });
      if (dto.issuer !== undefined && dto.issuer !== before.issuer) await this.refuseMoved(tx, actor, id);
      const left = await this.leavePattern(tx, actor, before, dto);
      if (!(await this.stores.identityProviders.update(tx, organizationId, id, changes)))
        throw nameTaken('An identity provider', dto.name ?? before.name);
      if (groupMappings) await this.map(tx, actor.principal, id, groupMappings);
      if (enabled === false && before.isEnabled) await this.end(tx, actor, id);
      const after = (await this.stores.identityProviders.find(tx, organizationId, id))!;
      const changed = changesOf(before, after, clientSecret !== undefined);
      if (Object.keys(changed).length > 0)
        await recordAction(tx, actor, 'IDENTITY_PROVIDER_UPDATED', objectNamed(OBJECT, after), {
          changed,
        });
      return { row: after, woken: left };
    });
    this.wakeUps.wake('revoke-rules', woken);
    return row;
  }

  /** @throws ApiError 400 when what the former pattern has given is neither to stay nor to go */
  private async leavePattern(
    tx: Tx,
    { principal: { organizationId } }: Actor,
    before: IdentityProviderRow,
    { groupPattern, patternMemberships }: UpdateIdentityProviderDto,
  ): Promise<WokenTargets[]> {
    if (groupPattern === undefined || groupPattern === before.groupPattern) return [];
    if (!(await this.stores.groupRoles.hasGiven(tx, organizationId, before.id))) return [];
    if (patternMemberships)
      return this.stores.groupRoles.leavePattern(tx, organizationId, before, patternMemberships);
    const message = 'must say KEEP or REMOVE: the former groupPattern has given roles';
    throw invalidField('patternMemberships', message);
  }

  /** Ends the sign-ins by it. */
  async delete(actor: Actor, id: string): Promise<void> {
    await this.changing(actor, id, async (tx, provider) => {
      await this.end(tx, actor, id);
      await this.stores.identityProviders.delete(tx, actor.principal.organizationId, id);
      await recordAction(tx, actor, 'IDENTITY_PROVIDER_DELETED', objectNamed(OBJECT, provider));
    });
  }

  async test(actor: Actor, id: string): Promise<IdentityProviderTest> {
    const { organizationId } = actor.principal;
    const tx = this.stores.autocommit;
    const provider = await this.stores.identityProviders.findSealed(tx, organizationId, id);
    if (!provider) throw missingProvider(id);
    const { issuer, clientId, groupsClaim } = provider;
    const { clientSecret = '' } = openCredential(this.masterKeys, provider);
    const registration = { issuer, clientId, clientSecret, groupsClaim };
    const redirectUri = this.addresses.callback(actor.principal.organizationSlug);
    const checks = await checkIssuer(this.issuers, registration, redirectUri);
    const ok = checks.every((check) => check.ok);
    const failed = checks.filter((check) => !check.ok).map(({ name }) => name);
    await recordAction(tx, actor, 'IDENTITY_PROVIDER_TESTED', objectNamed(OBJECT, provider), {
      ok,
      failed,
    });
    return { ok, checks };
  }

  /** Runs a change while users and this provider are locked. @throws ApiError 404 */
  private changing<T>(
    { principal }: Actor,
    id: string,
    change: (tx: Tx, before: IdentityProviderRow) => Promise<T>,
  ): Promise<T> {
    return this.stores.transaction(async (tx) => {
      await this.stores.users.lock(tx, principal.organizationId);
      const before = await this.stores.identityProviders.findLocked(tx, principal.organizationId, id);
      if (!before) throw missingProvider(id);
      return change(tx, before);
    });
  }

  /** Ends its sign-ins. @throws ApiError 400 when no user could sign in any more */
  private async end(tx: Tx, { principal }: Actor, id: string): Promise<void> {
    const { organizationId } = principal;
    const { ssoRequired } = await this.stores.organizations.find(tx, organizationId);
    if (ssoRequired && !(await this.stores.identityProviders.hasEnabled(tx, organizationId, id)))
      throw notPossible(
        'The organization asks for company sign-in, and has no other identity provider that is enabled: enable another ' +
          'one, or set ssoRequired to false with PATCH /organization first',
      );
    await this.stores.ssoSignIns.endOfProvider(tx, organizationId, id);
  }

  private async refuseMoved(tx: Tx, { principal }: Actor, id: string): Promise<void> {
    const one = { page: 0, size: 1 };
    const { total } = await this.stores.userIdentities.list(tx, principal.organizationId, id, one);
    if (total === 0) return;
    const message =
      'cannot be changed while there are identities of the issuer: create another identity provider';
    throw notPossible(`issuer ${message}`, { validationErrors: { issuer: message } });
  }

  private async map(
    tx: Tx,
    { organizationId }: Principal,
    id: string,
    given: readonly GroupMappingDto[],
  ): Promise<void> {
    const mappings = given.map(mappingOf);
    const roleIds = [...new Set(mappings.flatMap(({ roleId }) => roleId ?? []))];
    const [unknown] = await this.stores.users.missingRoles(tx, organizationId, roleIds);
    if (unknown !== undefined) throw notFound(`Role ${unknown} does not exist`);
    const distinct = new Map(mappings.map((mapping) => [JSON.stringify(mapping), mapping]));
    await this.stores.identityProviders.replaceMappings(tx, organizationId, id, [...distinct.values()]);
  }
}

function mappingOf({ group, roleId = null, isOrgAdmin = false }: GroupMappingDto): GroupMapping {
  if ((roleId !== null) !== isOrgAdmin) return { group, roleId };
  throw invalidField('groupMappings', 'must each have either roleId or isOrgAdmin true');
}

function refuseUnlimited({
  createUsers,
  emailDomains,
}: Pick<IdentityProviderRow, 'createUsers' | 'emailDomains'>): void {
  if (!createUsers || emailDomains.length > 0) return;
  throw invalidField('emailDomains', 'must name the domains of your people while createUsers is true');
}

/** @param hasSecret a secret was given, which no record shows */
function changesOf(before: IdentityProviderRow, after: IdentityProviderRow, hasSecret: boolean): Changes {
  return {
    ...changesBetween(before, after, SHOWN),
    ...(hasSecret && { clientSecret: { from: null, to: null } }),
  };
}

export const missingProvider = (id: string): ApiError => notFound(`Identity provider ${id} does not exist`);
