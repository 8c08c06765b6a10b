import type { Schemas } from '#client';
import { group, type Organization } from '../accounts/organization';

export type Resource = Schemas['ResourceDto'] & Partial<Schemas['ResourceWithWarningsDto']>;

/** What creates a resource on a security group of the simulated AWS. @param changes override fields */
export const resourceBody = (org: Organization, changes: object = {}): object => ({
  name: 'database',
  credentialId: org.credentialId,
  provider: 'AWS',
  resourceType: 'SECURITY_GROUP',
  resourceIdentifier: group(2),
  region: 'eu-central-1',
  ...changes,
});

/** A new resource that is verified and assigned to the organization's role. @param index of its security group */
export const verifiedResource = (
  org: Organization,
  index: number,
  config: object = { port: 22 },
): Promise<Resource> =>
  org.resource<Resource>(resourceBody(org, { resourceIdentifier: group(index), config }));
