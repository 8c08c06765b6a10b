import type { OrganizationId } from '#rules';
import type { Tables } from './tables';
import { ModelTarget, type CloudWatcher } from './model-cloud';
import type { SeededRandom } from './seeded-random';

/** Creates the organizations, targets, credentials and resources that a history begins with. */
export class InitialRows {
  constructor(
    private readonly tables: Tables,
    private readonly modelTargets: Map<string, ModelTarget>,
    private readonly random: SeededRandom,
    private readonly watcher: CloudWatcher,
    /** targets may have a small quota */
    private readonly limitsQuota: boolean,
    /** the clouds end rules by their own clock, unless they are renewed */
    private readonly rulesEnd: boolean,
  ) {}

  create(): void {
    const organizations = ['org-a', 'org-b'].slice(0, this.random.whole(1, 2)) as OrganizationId[];
    for (const name of ['sg-1', 'sg-2'].slice(0, this.random.whole(1, 2))) this.addTarget(name);
    for (const organization of organizations) {
      this.addCredential(`${organization}-key`, organization);
      if (this.random.happens(0.6)) this.addCredential(`${organization}-key-2`, organization);
      const resources = this.random.whole(1, 2);
      for (let index = 0; index < resources; index += 1) this.addResource(organization, index);
    }
  }

  private addCredential(id: string, organizationId: OrganizationId): void {
    this.tables.credentials.set(id, { organizationId });
  }

  private addTarget(identifier: string): void {
    const modelTarget = new ModelTarget(identifier, this.watcher);
    if (this.limitsQuota && this.random.happens(0.15)) modelTarget.quota = this.random.whole(1, 3);
    this.modelTargets.set(identifier, modelTarget);
    const id = this.tables.newId();
    this.tables.targets.set(id, {
      id,
      provider: 'AWS',
      resourceType: this.rulesEnd ? 'PROJECT' : 'SECURITY_GROUP',
      identifier,
      leaseUntil: null,
      leaseGeneration: 0,
      lastWriteAt: null,
      lastWriteSize: 0,
      wasShort: false,
      inFlightUntil: null,
      reconcileDueAt: this.random.between(0, 600_000),
      reconcileRequested: false,
      comparedAt: null,
      unmanagedDigest: null,
    });
  }

  private addResource(organizationId: OrganizationId, index: number): void {
    const id = this.tables.newId();
    const own = [...this.tables.credentials].filter(([, owner]) => owner.organizationId === organizationId);
    this.tables.resources.set(id, {
      id,
      organizationId,
      name: `${organizationId}-${index}`,
      config: this.random.happens(0.7) ? { port: 22 } : { ports: [22, 443] },
      credentialId: this.random.pick(own)[0],
      region: null,
      targetId: this.random.pick([...this.tables.targets.keys()]),
      isActive: true,
      writeVerified: this.random.happens(0.8),
      revision: 0,
    });
  }
}
