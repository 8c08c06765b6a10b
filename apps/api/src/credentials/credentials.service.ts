import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { AuditStore, CredentialStore, Database, type CredentialRow } from '#entities';
import type { Principal } from '#guards';
import type { HostAddress } from '#rules';
import { MasterKeys, sealCredential } from '#secrets';
import { auditActor } from '../audit/audit-actor';
import { notFound } from '../errors/api-error';
import { credentialFields } from './credential-fields';
import { DataKeys } from './data-keys';
import type { CreateCredentialDto } from './dto/credential.dto';

@Injectable()
export class CredentialsService {
  constructor(
    private readonly database: Database,
    private readonly credentials: CredentialStore,
    private readonly audit: AuditStore,
    private readonly masterKeys: MasterKeys,
    private readonly dataKeys: DataKeys,
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
    const sealedData = sealCredential(this.masterKeys, await this.dataKeys.of(organizationId), id, secrets);
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
      await this.audit.write(tx, organizationId, {
        ...auditActor(principal, caller?.text ?? null),
        eventType: 'CREDENTIAL_CREATED',
        resourceType: 'CREDENTIAL',
        resourceId: id,
        resourceName: name,
        details: { provider, credentialType },
      });
      return created;
    });
  }

  list(principal: Principal): Promise<CredentialRow[]> {
    return this.credentials.list(this.database.autocommit, principal.organizationId);
  }

  async find(principal: Principal, id: string): Promise<CredentialRow> {
    const credential = await this.credentials.find(this.database.autocommit, principal.organizationId, id);
    if (!credential) throw notFound(`Credential ${id} does not exist`, 'CREDENTIAL_NOT_FOUND');
    return credential;
  }
}
