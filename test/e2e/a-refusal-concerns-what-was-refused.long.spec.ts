import { group, organization, SIMULATED_KEY, type Organization } from '../builders/accounts/organization';
import type { Answer, Session } from '../harness/product/api-client';
import { Drawbridge } from '../harness/product/drawbridge';
import { until } from '../harness/until';

type Refused = 'read' | 'add' | 'remove' | 'verify';

interface Cloud {
  readonly provider: string;
  readonly resourceType: string;
  readonly credentialType: string;
  readonly credentialData: (url: string) => object;
  readonly target: (index: number) => string;
  /** one operation for `add` and `remove`: the whole list is written. No `verify`: it only reads */
  readonly operations: Readonly<Partial<Record<Refused, string>>>;
  /** in the provider's refusals */
  readonly words: RegExp;
}

/** Rules by themselves, and a list that is written whole. What the others answer: test/conformance. */
const CLOUDS: readonly Cloud[] = [
  {
    provider: 'AWS',
    credentialType: 'ACCESS_KEY',
    credentialData: () => SIMULATED_KEY,
    resourceType: 'SECURITY_GROUP',
    target: group,
    operations: {
      read: 'DescribeSecurityGroupRules',
      add: 'AuthorizeSecurityGroupIngress',
      remove: 'RevokeSecurityGroupIngress',
      verify: 'DescribeSecurityGroups',
    },
    words: /UnauthorizedOperation/,
  },
  {
    provider: 'APISIX',
    resourceType: 'ROUTE',
    credentialType: 'ADMIN_KEY',
    credentialData: (url) => ({ adminUrl: `${url}/apisix-gateway`, adminKey: 'simulated-admin-key' }),
    target: (index) => `simulated-route-${index + 1}`,
    operations: { read: 'GetObject', add: 'PatchObject', remove: 'PatchObject' },
    words: /refuses the admin key/,
  },
];

const REFUSED: readonly Refused[] = ['add', 'remove', 'read', 'verify'];
const CELLS = CLOUDS.flatMap((cloud) =>
  REFUSED.flatMap((refused) =>
    cloud.operations[refused] ? ([[cloud.resourceType, refused, cloud]] as const) : [],
  ),
);
/** Backoff, and for the longest of them a call that may still take effect. */
const WAIT_MS = 45_000;

/** All at the same time. */
describe('When a provider refuses one operation on one target', () => {
  const drawbridge = Drawbridge.shared();
  const waited: [Organization, Session][] = [];
  let addresses = 0;

  /** Verified resources of an organization on the targets of these indexes. @returns their ids */
  const resources = async (
    org: Organization,
    cloud: Cloud,
    indexes: readonly number[],
  ): Promise<string[]> => {
    const { admin, roleId } = org;
    const { provider, resourceType, credentialType } = cloud;
    const credentialData = cloud.credentialData(drawbridge.cloud.url);
    const credential = { name: `for ${indexes.join()}`, provider, credentialType, credentialData };
    const { id: credentialId } = await admin.created<{ id: string }>('/credentials', credential);
    const ids: string[] = [];
    for (const index of indexes) {
      const { id } = await admin.created<{ id: string }>('/resources', {
        name: `${credential.name}: ${index}`,
        credentialId,
        provider,
        resourceType,
        resourceIdentifier: cloud.target(index),
        ...(provider === 'AWS' && { region: 'eu-central-1' }),
        config: resourceType === 'SECURITY_GROUP' ? { port: 22 } : {},
      });
      await admin.posted(`/resources/${id}/verify`);
      await admin.posted(`/roles/${roleId}/resources/${id}`);
      ids.push(id);
    }
    return ids;
  };
  const start = (org: Organization, resourceId: string): Promise<Answer<Session>> => {
    const ipv4Address = `203.0.113.${(addresses += 1)}`;
    return org.start({ resourceIds: [resourceId], ipv4Address, holder: ipv4Address });
  };
  const opened = async (org: Organization, resourceId: string): Promise<Session> =>
    org.reaches((await start(org, resourceId)).body.id, 'ACTIVE', WAIT_MS);
  const stop = (org: Organization, { id }: Session): Promise<Session> =>
    org.admin.posted<Session>(`/sessions/${id}/stop`);

  it.concurrent.each(CELLS)(
    '%s, %s: only that waits, and its ResourceIp says why',
    async (_, refused, cloud) => {
      const org = await organization(drawbridge, []);
      const index = REFUSED.indexOf(refused);
      const last = REFUSED.length;
      const [refusing, sameCredential] = (await resources(org, cloud, [index, last])) as [string, string];
      const [otherCredential] = (await resources(org, cloud, [last])) as [string];
      const [kept, stopped] = [await opened(org, refusing), await opened(org, refusing)];
      const target = cloud.target(index);
      const operation = cloud.operations[refused]!;
      await drawbridge.cloud.fault({ provider: cloud.provider, kind: 'refuse', target, operation });
      if (refused === 'verify') await org.admin.expect(400, org.admin.post(`/resources/${refusing}/verify`));

      /** Waits until it has the status, or says in the provider's words why it does not. */
      const settles = ({ id }: Session, status: string): Promise<Session> =>
        until(
          `session ${id} is ${status} or says why not`,
          async () => {
            const session = await org.session(id);
            const { errorMessage } = session.resourceIps[0]!;
            return (session.status === status || cloud.words.test(errorMessage ?? '')) && session;
          },
          WAIT_MS,
        );
      const writesList = cloud.operations.add === cloud.operations.remove;
      const isRefused = (one: Refused): boolean =>
        refused === one || refused === 'read' || (writesList && refused !== 'verify');
      const errorMessage = expect.stringMatching(cloud.words) as string;
      await stop(org, stopped);
      waited.push([org, stopped]);
      expect(await settles(stopped, 'CANCELLED')).toMatchObject(
        isRefused('remove')
          ? { status: 'EXPIRING', resourceIps: [{ status: 'REMOVING', errorMessage }] }
          : { status: 'CANCELLED', resourceIps: [{ status: 'REMOVED', errorMessage: null }] },
      );
      const { status, body } = await start(org, refusing);
      const since = status === 200 ? await settles(body, 'ACTIVE') : { status };
      const started = isRefused('add')
        ? { status: 'FAILED', resourceIps: [{ status: 'FAILED', errorMessage }] }
        : { status: 'ACTIVE', resourceIps: [{ status: 'APPLIED', errorMessage: null }] };
      expect(since).toMatchObject(refused === 'verify' ? { status: 400 } : started);
      for (const elsewhere of [sameCredential, otherCredential]) {
        const session = await opened(org, elsewhere);
        await stop(org, session);
        await org.reaches(session.id, 'CANCELLED', WAIT_MS);
      }
      expect((await org.session(kept.id)).status).toBe('ACTIVE');
      if (refused !== 'read' || writesList) return;
      // what was written is removed by its id, though no read shows that it is gone
      const closed = [stopped, body].map(({ ipv4Address }) => ipv4Address);
      const isClosed = async (): Promise<boolean> =>
        (await drawbridge.cloud.rules(target)).every(({ address }) => !closed.includes(address));
      expect(await until('both are closed', isClosed, WAIT_MS)).toBe(true);
    },
  );

  it('what waited is closed when it is allowed again, and its message is gone', async () => {
    await drawbridge.cloud.clearFaults();
    // instead of waiting for the backoff
    await drawbridge.query('UPDATE rules SET due_at = now() WHERE attempts > 0 AND due_at > now()');
    expect(waited).toHaveLength(CELLS.length);
    for (const [org, { id }] of waited)
      expect(await org.reaches(id, 'CANCELLED', WAIT_MS)).toMatchObject({
        resourceIps: [{ status: 'REMOVED', errorMessage: null }],
      });
  });
});
