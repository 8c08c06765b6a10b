import { group, type Organization } from '../accounts/organization';

export interface Resource {
  readonly id: string;
  readonly name: string;
  readonly credentialId: string;
  readonly credentialName: string;
  readonly provider: string;
  readonly resourceType: string;
  readonly resourceIdentifier: string;
  readonly region?: string;
  readonly endpoint: string | null;
  readonly config: object;
  readonly isActive: boolean;
  readonly lastVerifiedAt: string | null;
  readonly verificationError: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  /** of POST and PATCH only */
  readonly warnings?: readonly string[];
}

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
export async function verifiedResource(
  org: Organization,
  index: number,
  config: object = { port: 22 },
): Promise<Resource> {
  const { admin } = org;
  const body = resourceBody(org, { resourceIdentifier: group(index), config });
  const resource = await admin.created<Resource>('/resources', body);
  await admin.posted(`/resources/${resource.id}/verify`);
  await admin.posted(`/roles/${org.roleId}/resources/${resource.id}`);
  return resource;
}
