import { KEY_FILE } from '../../../apps/simulator/src/gcp/service-account';
import type { Organization } from '../accounts/organization';

interface Created {
  readonly id: string;
}

/** The simulated Google network `default` as a verified resource of the organization's role. @returns its id */
export async function networkResource({ admin, roleId }: Organization, config: object): Promise<string> {
  const credential = await admin.created<Created>('/credentials', {
    name: 'Simulated Google',
    provider: 'GCP',
    credentialType: 'SERVICE_ACCOUNT',
    credentialData: KEY_FILE,
  });
  const resource = await admin.created<Created>('/resources', {
    name: 'network',
    credentialId: credential.id,
    provider: 'GCP',
    resourceType: 'FIREWALL',
    resourceIdentifier: 'default',
    config,
  });
  await admin.posted(`/resources/${resource.id}/verify`);
  await admin.posted(`/roles/${roleId}/resources/${resource.id}`);
  return resource.id;
}
