import { randomUUID } from 'node:crypto';
import { group, organization, type Organization } from '../builders/accounts/organization';
import { Drawbridge } from '../harness/product/drawbridge';
import { figure, quantile, type Figure } from './figure';
import { freshAddress } from './load';
import { measureSessions } from './tenant';

/** Together 100 resources with denied credentials; 20 is the limit per organization on one target. */
const DENIED_ORGANIZATIONS = 5;
const RESOURCES_EACH = 20;
const SESSIONS = 100;
const INTERVAL_MS = 250;
/** Interval at which the denied organizations start sessions, each on all of its resources. */
const DENIED_INTERVAL_MS = 500;
const MAX_RATIO = 1.5;

/** Times of one tenant while 100 resources of other tenants point at the same target with denied credentials. */
export async function deniedNeighbours(): Promise<Figure[]> {
  const drawbridge = await Drawbridge.start({
    worker: false,
    simulator: { SIMULATOR_LATENCY_MS: '100', SIMULATOR_RULES_PER_GROUP: '1000' },
  });
  try {
    await drawbridge.startWorker();
    const org = await organization(drawbridge);
    await measureSessions(org, 20, INTERVAL_MS);
    const quiet = await measureSessions(org, SESSIONS, INTERVAL_MS);
    const denied: Organization[] = [];
    for (let index = 0; index < DENIED_ORGANIZATIONS; index += 1) denied.push(await deniedOn(drawbridge));
    const stop = startRepeatedly(denied);
    const meanwhile = await measureSessions(org, SESSIONS, INTERVAL_MS);
    await stop();
    const [before, after] = [quiet, meanwhile].map(({ toClosed }) => quantile(toClosed, 0.99)) as [
      number,
      number,
    ];
    return [
      figure('stop to closed, p99, alone on the target', 'ms', quiet.toClosed, null, 0.99),
      figure('stop to closed, p99, with 100 denied resources', 'ms', meanwhile.toClosed, null, 0.99),
      figure('stop to closed, p99, with 100 denied resources: times alone', '', [after / before], {
        atMost: MAX_RATIO,
      }),
      figure('POST to ACTIVE, p99, alone on the target', 'ms', quiet.toActive, null, 0.99),
      figure('POST to ACTIVE, p99, with 100 denied resources', 'ms', meanwhile.toActive, null, 0.99),
    ];
  } finally {
    await drawbridge.stop();
  }
}

/** An organization whose resources point at the other one's group, each with an access key unknown to AWS. */
async function deniedOn(drawbridge: Drawbridge): Promise<Organization> {
  const org = await organization(drawbridge, []);
  for (let index = 0; index < RESOURCES_EACH; index += 1) {
    const accessKeyId = `AKIA${randomUUID().replaceAll('-', '').slice(0, 16).toUpperCase()}`;
    const credential = await org.admin.created<{ id: string }>('/credentials', {
      name: accessKeyId,
      provider: 'AWS',
      credentialType: 'ACCESS_KEY',
      credentialData: { accessKeyId, secretAccessKey: 'of another account' },
    });
    const resource = await org.admin.created<{ id: string }>('/resources', {
      name: `resource-${index}`,
      credentialId: credential.id,
      provider: 'AWS',
      resourceType: 'SECURITY_GROUP',
      resourceIdentifier: group(0),
      region: 'eu-central-1',
      config: { port: 22 },
    });
    await org.admin.posted(`/roles/${org.roleId}/resources/${resource.id}`);
    await org.admin.expect(200, org.admin.patch(`/resources/${resource.id}`, { isActive: true }));
  }
  return org;
}

/** @returns a function that stops it */
function startRepeatedly(orgs: readonly Organization[]): () => Promise<void> {
  const sent: Promise<unknown>[] = [];
  const timer = setInterval(() => {
    for (const org of orgs) sent.push(org.start({ ipv4Address: freshAddress() }));
  }, DENIED_INTERVAL_MS);
  return async () => {
    clearInterval(timer);
    await Promise.all(sent);
  };
}
