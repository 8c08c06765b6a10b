import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { ListQuery, Sliced } from '#entities';
import { type CredentialRow, type CredentialUse, Tenants } from '#tenant-store';
import type { Principal } from '#guards';
import { RETRYABLE_KINDS } from '#rules';
import { recordAction, objectNamed } from '../audit/action-records';
import { notFound, notPossible } from '../errors/api-error';
import type { Actor } from '../http/actor';
import { refuseChangedTargets, credentialFields, shapeOf } from './credential-fields';
import { CredentialVerifier } from './credential-verifier';
import { DataKeys } from './data-keys';
import type { CreateCredentialDto, UpdateCredentialDto } from './dto/credential.dto';

/**
 * Until a new credential without a secret is checked in the background: its trust can be made only when its subject is known.
 * An early check would begin the ten minutes within which Azure may not know the trust yet, and sign tokens for nothing.
 */
const SET_UP_SECONDS = 3600;

@Injectable()
export class CredentialsService {
  constructor(
    private readonly stores: Tenants,
    private readonly dataKeys: DataKeys,
    private readonly verifier: CredentialVerifier,
  ) {}

  async create(actor: Actor, dto: CreateCredentialDto): Promise<CredentialRow> {
    const { principal } = actor;
    const { organizationId } = principal;
    const { secrets, hints } = credentialFields(dto.provider, dto.credentialType, dto.credentialData ?? {});
    this.verifier.refuseWithoutIssuer(organizationId, dto);
    const id = randomUUID();
    const sealedData = await this.dataKeys.seal(organizationId, id, secrets);
    return this.stores.transaction(async (tx) => {
      const { name, provider, credentialType } = dto;
      const created = await this.stores.credentials.create(tx, organizationId, {
        id,
        name,
        provider,
        credentialType,
        hints,
        sealedData,
        checkInSeconds: checkInSeconds(dto, hints),
      });
      await recordAction(tx, actor, 'CREDENTIAL_CREATED', objectNamed('CREDENTIAL', created), {
        provider,
        credentialType,
      });
      return created;
    });
  }

  list(principal: Principal, query: ListQuery): Promise<Sliced<CredentialRow>> {
    return this.stores.credentials.list(this.stores.autocommit, principal.organizationId, query);
  }

  async find(principal: Principal, id: string): Promise<CredentialRow> {
    const { autocommit, credentials } = this.stores;
    const credential = await credentials.find(autocommit, principal.organizationId, id);
    if (!credential) throw missing(id);
    return credential;
  }

  /** Renames it or replaces its secrets, which are checked in the background as those of a new credential. */
  async update(actor: Actor, id: string, dto: UpdateCredentialDto): Promise<CredentialRow> {
    const { principal } = actor;
    const { provider, credentialType, hints } = await this.find(principal, id);
    const { organizationId } = principal;
    const given = dto.credentialData && credentialFields(provider, credentialType, dto.credentialData);
    if (given) refuseChangedTargets(provider, credentialType, hints, given.hints);
    const secrets = given && {
      hints: given.hints,
      sealedData: await this.dataKeys.seal(organizationId, id, given.secrets),
    };
    return this.stores.transaction(async (tx) => {
      const change = { name: dto.name, ...(secrets ? { secrets } : {}) };
      const updated = await this.stores.credentials.update(tx, organizationId, id, change);
      if (!updated) throw missing(id);
      await recordAction(tx, actor, 'CREDENTIAL_UPDATED', objectNamed('CREDENTIAL', updated), {
        renamed: dto.name !== undefined,
        rotated: secrets !== undefined,
      });
      return updated;
    });
  }

  /** @throws ApiError 400 while a resource or an applied rule uses it */
  async remove(actor: Actor, id: string): Promise<void> {
    const { principal } = actor;
    const { organizationId } = principal;
    await this.stores.closing.transaction(async (tx) => {
      const use = await this.stores.credentials.lockUse(tx, organizationId, id);
      if (!use) throw missing(id);
      refuseInUse(use);
      await this.stores.credentials.remove(tx, organizationId, id);
      await recordAction(tx, actor, 'CREDENTIAL_DELETED', { type: 'CREDENTIAL', id, name: use.name });
    });
  }

  /**
   * Checks the credential with its provider; one for many accounts soon in each. A refusal is recorded in the credential, not
   * thrown.
   */
  async verify(actor: Actor, id: string): Promise<CredentialRow> {
    const { principal } = actor;
    const { organizationId } = principal;
    const credential = await this.find(principal, id);
    await this.stores.cloudAccounts.requestChecks(this.stores.autocommit, organizationId, id);
    if (isForMany(credential)) {
      const object = objectNamed('CREDENTIAL', credential);
      await this.stores.transaction((tx) =>
        recordAction(tx, actor, 'CREDENTIAL_VERIFIED', object, { requested: true }),
      );
    } else await this.check(actor, id, credential);
    return this.find(principal, id);
  }

  /**
   * Checks it once, and records the outcome.
   * @param checkedId of the credential, or of its row for an account
   * @param details of the audit record
   */
  async check(
    { principal, ...actor }: Actor,
    checkedId: string,
    { id, name }: Pick<CredentialRow, 'id' | 'name'>,
    details: Readonly<Record<string, unknown>> = {},
  ): Promise<void> {
    const { organizationId } = principal;
    const { credentials } = this.stores;
    const sealed = await credentials.findSealed(this.stores.autocommit, organizationId, checkedId);
    if (!sealed) throw missing(id);
    const failure = await this.verifier.check(sealed);
    await this.stores.transaction(async (tx) => {
      const checked = { id: checkedId, sealedData: sealed.sealedData };
      if (failure && RETRYABLE_KINDS.has(failure.kind)) {
        await credentials.recordNoAnswer(tx, organizationId, checked, failure.message);
      } else {
        await credentials.recordCheck(tx, organizationId, checked, failure?.message ?? null);
      }
      const object = { type: 'CREDENTIAL', id, name, failure: failure?.message ?? null };
      await recordAction(tx, { principal, ...actor }, 'CREDENTIAL_VERIFIED', object, details);
    });
  }
}

function checkInSeconds(dto: CreateCredentialDto, hints: CredentialRow['hints']): number | null {
  const { needsIssuer, account } = shapeOf(dto.provider, dto.credentialType);
  if (account?.of(hints) === null) return null;
  return needsIssuer ? SET_UP_SECONDS : 0;
}

/** Its fields leave the account open: it is checked in each account. */
const isForMany = ({ provider, credentialType, hints }: Omit<CredentialRow, 'externalId'>): boolean =>
  shapeOf(provider, credentialType).account?.of(hints) === null;

const missing = (id: string): Error => notFound(`Credential ${id} does not exist`, 'CREDENTIAL_NOT_FOUND');

const inUse = (message: string): Error => notPossible(message, { code: 'CREDENTIAL_IN_USE' });

/** @throws ApiError 400 while it is used; rules that are being removed do not count unless they are stuck */
function refuseInUse({ name, resources, hasHeldRules, isStuck }: CredentialUse): void {
  if (resources.length > 0) {
    const names = resources.map((resource) => `"${resource}"`).join(', ');
    throw inUse(
      `Credential "${name}" is used by ${names}: delete them or give them another credential first`,
    );
  }
  if (hasHeldRules)
    throw inUse(
      `Rules that were written with credential "${name}" are still in use: end their sessions first`,
    );
  if (isStuck)
    throw inUse(
      `Rules that were written with credential "${name}" could not be removed so far: ` +
        'if the provider refuses it, replace its secrets with PATCH first',
    );
}
