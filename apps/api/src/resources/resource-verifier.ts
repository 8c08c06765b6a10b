import { Injectable } from '@nestjs/common';
import { agentAbsence, DriverError, DriverRegistry, driverErrorOf } from '#drivers';
import { AgentStore, CredentialStore, Database, type ResourceRow } from '#entities';
import type { OrganizationId } from '#rules';
import { MasterKeys } from '#secrets';
import { ApiSettings } from '../api.settings';
import { openedCredential } from '../credentials/opened-credential';

/** Asks the cloud whether a resource can be reached. The request waits for the answer. */
@Injectable()
export class ResourceVerifier {
  constructor(
    private readonly database: Database,
    private readonly credentials: CredentialStore,
    private readonly agents: AgentStore,
    private readonly masterKeys: MasterKeys,
    private readonly drivers: DriverRegistry,
    private readonly settings: ApiSettings,
  ) {}

  /** @returns why it cannot be used, null when it can */
  async check(organization: OrganizationId, resource: ResourceRow): Promise<DriverError | null> {
    if (!DriverRegistry.isDriven(resource.provider)) {
      const { resourceIdentifier: name } = resource;
      return agentAbsence(name, await this.agents.secondsAway(this.database.autocommit, organization, name));
    }
    const sealed = await this.credentials.sealed(
      this.database.autocommit,
      organization,
      resource.credentialId,
    );
    if (!sealed) return new DriverError('denied', 'The credential was deleted');
    const driver = await this.drivers.driver(resource.provider);
    return driverErrorOf(() =>
      driver.verify({
        resourceType: resource.resourceType,
        identifier: resource.objectIdentifier,
        region: resource.region,
        credential: openedCredential(this.masterKeys, sealed),
        deployment: this.settings.DEPLOYMENT_ID,
        claims: new Map(),
      }),
    );
  }
}
