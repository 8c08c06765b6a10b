import { Injectable } from '@nestjs/common';
import { DeploymentId } from '#connections';
import { CredentialOpener } from '#credentials';
import { DriverError, DriverRegistry, driverErrorOf } from '#drivers';
import { EnginePort } from '#engine-store/port';
import type { SealedCredential } from '#entities';
import { type ResourceRow, Tenants } from '#tenant-store';
import { agentAbsence, overrideWarnings, type OrganizationId } from '#rules';

/** The outcome of a verification and the secrets it used. */
export interface Verification {
  /** why the resource cannot be used; null: it can */
  readonly failure: DriverError | null;
  /** null: no credential was used */
  readonly secrets: SealedCredential['sealedData'] | null;
  /** what forbids nothing */
  readonly warnings?: readonly string[];
}

/** Checks synchronously whether a resource's target can be read. */
@Injectable()
export class ResourceVerifier {
  constructor(
    private readonly stores: Tenants,
    private readonly engine: EnginePort,
    private readonly opener: CredentialOpener,
    private readonly drivers: DriverRegistry,
    private readonly deploymentId: DeploymentId,
  ) {}

  async check(organization: OrganizationId, resource: ResourceRow): Promise<Verification> {
    if (!DriverRegistry.isDriven(resource.provider)) {
      const { resourceIdentifier: name, targetKey } = resource;
      const secondsAway = await this.engine.agents.secondsAway(this.stores.autocommit, organization, name);
      const absence = agentAbsence(name, secondsAway);
      const failure = absence && new DriverError(absence.kind, absence.message);
      const reported = await this.engine.agentGuards.find(this.stores.autocommit, organization, targetKey);
      const chains = reported?.guard.otherChains?.map((chain) => `the nftables chain ${chain}`);
      return { failure, secrets: null, warnings: overrideWarnings(chains ?? []) };
    }
    const { autocommit, credentials } = this.stores;
    const sealed = await credentials.findSealed(autocommit, organization, resource.accessId);
    if (!sealed) return { failure: new DriverError('denied', 'The credential was deleted'), secrets: null };
    const driver = await this.drivers.driverFor(resource.provider, resource.resourceType);
    let warnings: readonly string[] = [];
    const failure = await driverErrorOf(async () => {
      const verified = await driver.verify(
        {
          resourceType: resource.resourceType,
          identifier: resource.targetIdentifier,
          region: resource.region,
          credential: this.opener.open(sealed),
          deployment: this.deploymentId.value,
          claims: new Map(),
        },
        resource.config,
      );
      warnings = (verified && verified.warnings) ?? [];
    });
    return { failure, secrets: sealed.sealedData, warnings };
  }
}
