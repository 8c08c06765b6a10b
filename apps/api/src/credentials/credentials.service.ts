import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { type AuditEntry, Database, type Slice, type Sliced, type Tx } from '#entities';
import { AuditStore, type CredentialRow, CredentialStore, type CredentialUse } from '#tenant-store';
import type { Principal } from '#guards';
import { RETRYABLE_KINDS, type HostAddress, type OrganizationId } from '#rules';
import { MasterKeys, sealCredential } from '#secrets';
import { auditActor } from '../audit/audit-actor';
import { notFound, notPossible } from '../errors/api-error';
import { checkSamePlaces, credentialFields } from './credential-fields';
import { CredentialVerifier } from './credential-verifier';
import { DataKeys } from './data-keys';
import type { CreateCredentialDto, UpdateCredentialDto } from './dto/credential.dto';

@Injectable()
export class CredentialsService {
  constructor(
    private readonly database: Database,
    private readonly credentials: CredentialStore,
    private readonly audit: AuditStore,
    private readonly masterKeys: MasterKeys,
    private readonly dataKeys: DataKeys,
    private readonly verifier: CredentialVerifier,
  ) {}

  async create(
    principal: Principal,
    asked: CreateCredentialDto,
    caller: HostAddress | null,
  ): Promise<CredentialRow> {
    const { organizationId } = principal;
    const { secrets, hints } = credentialFields(
      asked.provider,
      asked.credentialType,
      asked.credentialData ?? {},
    );
    const id = randomUUID();
    const sealedData = await this.sealed(organizationId, id, secrets);
    return this.database.transaction(async (tx) => {
      const { name, provider, credentialType } = asked;
      const created = await this.credentials.create(tx, organizationId, {
        id,
        name,
        provider,
        credentialType,
        hints,
        sealedData,
      });
      await this.record(tx, principal, caller, created, {
        eventType: 'CREDENTIAL_CREATED',
        details: { provider, credentialType },
      });
      return created;
    });
  }

  list(principal: Principal, slice: Slice): Promise<Sliced<CredentialRow>> {
    return this.credentials.list(this.database.autocommit, principal.organizationId, slice);
  }

  async find(principal: Principal, id: string): Promise<CredentialRow> {
    const credential = await this.credentials.find(this.database.autocommit, principal.organizationId, id);
    if (!credential) throw missing(id);
    return credential;
  }

  /** Renames it or puts other secrets in; those are checked in the background as a new credential's are. */
  async update(
    principal: Principal,
    id: string,
    asked: UpdateCredentialDto,
    caller: HostAddress | null,
  ): Promise<CredentialRow> {
    const { provider, credentialType, hints } = await this.find(principal, id);
    const { organizationId } = principal;
    const given = asked.credentialData && credentialFields(provider, credentialType, asked.credentialData);
    if (given) checkSamePlaces(provider, credentialType, hints, given.hints);
    const secrets = given && {
      hints: given.hints,
      sealedData: await this.sealed(organizationId, id, given.secrets),
    };
    return this.database.transaction(async (tx) => {
      const change = { name: asked.name, ...(secrets ? { secrets } : {}) };
      const updated = await this.credentials.update(tx, organizationId, id, change);
      if (!updated) throw missing(id);
      await this.record(tx, principal, caller, updated, {
        eventType: 'CREDENTIAL_UPDATED',
        details: { renamed: asked.name !== undefined, rotated: secrets !== undefined },
      });
      return updated;
    });
  }

  /** @throws ApiError 400 while a resource or a rule in the cloud needs it */
  async remove(principal: Principal, id: string, caller: HostAddress | null): Promise<void> {
    const { organizationId } = principal;
    await this.database.transaction(async (tx) => {
      const use = await this.credentials.lockedUse(tx, organizationId, id);
      if (!use) throw missing(id);
      refuseInUse(use);
      await this.credentials.remove(tx, organizationId, id);
      await this.record(tx, principal, caller, { id, name: use.name }, { eventType: 'CREDENTIAL_DELETED' });
    });
  }

  /** Asks the provider now. A refusal is an answer: the record says so. */
  async verify(principal: Principal, id: string, caller: HostAddress | null): Promise<CredentialRow> {
    const { organizationId } = principal;
    const sealed = await this.credentials.sealed(this.database.autocommit, organizationId, id);
    if (!sealed) throw missing(id);
    const failure = await this.verifier.check(sealed);
    return this.database.transaction(async (tx) => {
      if (failure && RETRYABLE_KINDS.has(failure.kind)) {
        await this.credentials.recordNoAnswer(tx, organizationId, sealed, failure.message);
      } else {
        await this.credentials.recordCheck(tx, organizationId, sealed, failure?.message ?? null);
      }
      const credential = await this.credentials.find(tx, organizationId, id);
      if (!credential) throw missing(id);
      await this.record(tx, principal, caller, credential, {
        eventType: 'CREDENTIAL_VERIFIED',
        result: failure ? 'FAILURE' : 'SUCCESS',
        errorMessage: failure?.message ?? null,
      });
      return credential;
    });
  }

  private async sealed(
    organization: OrganizationId,
    id: string,
    secrets: Readonly<Record<string, string>>,
  ): Promise<Record<string, string>> {
    return sealCredential(this.masterKeys, await this.dataKeys.of(organization), id, secrets);
  }

  private record(
    tx: Tx,
    principal: Principal,
    caller: HostAddress | null,
    { id, name }: Pick<CredentialRow, 'id' | 'name'>,
    deed: Pick<AuditEntry, 'eventType' | 'result' | 'errorMessage' | 'details'>,
  ): Promise<void> {
    return this.audit.write(tx, principal.organizationId, {
      ...auditActor(principal, caller?.text ?? null),
      resourceType: 'CREDENTIAL',
      resourceId: id,
      resourceName: name,
      ...deed,
    });
  }
}

const missing = (id: string): Error => notFound(`Credential ${id} does not exist`, 'CREDENTIAL_NOT_FOUND');

const inUse = (words: string): Error => notPossible(words, { code: 'CREDENTIAL_IN_USE' });

/** @throws ApiError 400 unless nothing needs it; rules that are being removed go on with it */
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
      `Rules that were written with credential "${name}" cannot be removed, as the provider refuses it: ` +
        'replace its secrets with PATCH first',
    );
}
