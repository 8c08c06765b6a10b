import { group, SIMULATED_KEY } from '../builders/accounts/organization';
import { founder, newcomer, paid } from '../builders/accounts/people';
import type { ApiClient } from '../harness/product/api-client';
import type { Drawbridge } from '../harness/product/drawbridge';

/** What the pictures show: the same at every drawing, but for the time. */
export interface Scene {
  readonly administrator: string;
  readonly member: string;
  readonly memberAddress: string;
  readonly resourceId: string;
}

const RESOURCES = [
  ['Production database', 5432, 'db.example.com:5432'],
  ['Staging', 22, 'staging.example.com:22'],
  ['Reporting', 443, 'reports.example.com:443'],
] as const;

const PEOPLE = [
  ['Ada Lovelace', 'ada', '203.0.113.24'],
  ['Alan Turing', 'alan', '198.51.100.7'],
  ['Grace Hopper', 'grace', '192.0.2.81'],
  ['Edsger Dijkstra', 'edsger', null],
] as const;

const addressOf = (name: string): string => `${name}@example.com`;

export async function seeded(drawbridge: Drawbridge): Promise<Scene> {
  const administrator = addressOf('admin');
  const founded = await founder(drawbridge, 'Example Ltd', administrator);
  const { client: admin, organizationId } = founded;
  await admin.patched(`/users/${founded.id}`, { name: 'Administrator' });
  await paid(drawbridge, organizationId);
  const made = async (path: string, body: object): Promise<string> => (await admin.created(path, body)).id;

  const credentialId = await made('/credentials', {
    name: 'AWS, main account',
    provider: 'AWS',
    credentialType: 'ACCESS_KEY',
    credentialData: SIMULATED_KEY,
  });
  await admin.posted(`/credentials/${credentialId}/verify`);
  const resourceIds: string[] = [];
  for (const [index, [name, port, endpoint]] of RESOURCES.entries())
    resourceIds.push(
      await made('/resources', {
        name,
        endpoint,
        credentialId,
        provider: 'AWS',
        resourceType: 'SECURITY_GROUP',
        resourceIdentifier: group(index),
        region: 'eu-central-1',
        config: { port },
        labels: { env: index === 1 ? 'staging' : 'prod' },
      }),
    );
  for (const id of resourceIds) await admin.posted(`/resources/${id}/verify`);
  const everyone = await made('/roles', { name: 'Developers', resourceIds: resourceIds.slice(0, 2) });
  const analysts = await made('/roles', { name: 'Analysts', resourceIds, maxSessionDurationHours: 4 });

  await drawbridge.cloud.addUnmanaged({
    target: group(0),
    address: '10.20.0.0/16',
    protocol: 'tcp',
    fromPort: 5432,
    toPort: 5432,
    description: 'VPN',
  });
  await made('/static-ip-rules', {
    label: 'Office',
    ipAddress: '198.51.100.240/28',
    resourceIds: resourceIds.slice(0, 2),
  });
  await made('/api-keys', { name: 'Deployment', scopes: ['sessions:read', 'sessions:write'] });
  for (const [name, account, address] of PEOPLE) {
    const email = addressOf(account);
    const roleIds = account === 'grace' ? [analysts] : [everyone];
    const person = { name, email, roleIds };
    // who has not been here yet has only an invitation
    if (address === null) await admin.created('/users', person);
    else await letIn((await newcomer(drawbridge, admin, person)).client, address);
  }
  const [, , memberAddress] = PEOPLE[0];
  return { administrator, member: addressOf('ada'), memberAddress, resourceId: resourceIds[0]! };
}

async function letIn(person: ApiClient, ipv4Address: string): Promise<void> {
  const { id } = await person.posted<{ id: string }>('/sessions', { ipv4Address, durationHours: 4 });
  await person.read(`/sessions/${id}?waitSeconds=20`);
}
