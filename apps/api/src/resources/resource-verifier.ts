import { Injectable } from '@nestjs/common';
import { DriverError, DriverRegistry } from '#drivers';
import { CredentialStore, Database, type ResourceRow } from '#entities';
import { MasterKeys, openCredential } from '#secrets';
import type { OrganizationId } from '#rules';
import { ApiSettings } from '../api.settings';

/** Asks the cloud whether a resource can be reached. The only place where a request waits for a cloud. */
@Injectable()
export class ResourceVerifier {
  constructor(
    private readonly database: Database,
    private readonly credentials: CredentialStore,
    private readonly masterKeys: MasterKeys,
    private readonly drivers: DriverRegistry,
    private readonly settings: ApiSettings,
  ) {}

  /** @returns why it cannot be used, null when it can */
  async check(organization: OrganizationId, resource: ResourceRow): Promise<DriverError | null> {
    const sealed = await this.credentials.sealed(
      this.database.autocommit,
      organization,
      resource.credentialId,
    );
    if (!sealed) return new DriverError('denied', 'The credential was deleted');
    const driver = await this.drivers.driver(resource.provider);
    try {
      await driver.verify({
        resourceType: resource.resourceType,
        identifier: resource.resourceIdentifier,
        region: resource.region,
        credential: {
          credentialType: sealed.credentialType,
          data: openCredential(this.masterKeys, sealed),
          externalId: sealed.externalId,
        },
        deployment: this.settings.DEPLOYMENT_ID,
      });
      return null;
    } catch (error) {
      if (error instanceof DriverError) return error;
      throw error;
    }
  }
}
