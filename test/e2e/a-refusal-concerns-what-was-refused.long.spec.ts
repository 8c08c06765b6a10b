import { group, organization, SIMULATED_KEY, type Organization } from '../builders/accounts/organization';
import type { Session } from '../harness/product/api-client';
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

const AWS = { provider: 'AWS', credentialType: 'ACCESS_KEY', credentialData: () => SIMULATED_KEY };

/** Rules by themselves, a list with marks, and one without. What the others answer: test/conformance. */
const CLOUDS: readonly Cloud[] = [
  {
    ...AWS,
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
    ...AWS,
    resourceType: 'PREFIX_LIST',
    target: (index) => `pl-0123456789abcdef${index}`,
    operations: {
      read: 'GetManagedPrefixListEntries',
      add: 'ModifyManagedPrefixList',
      remove: 'ModifyManagedPrefixList',
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

/** All cells run at the same time. */
describe('When a provider refuses one operation on one target', () => {
  const drawbridge = Drawbridge.shared();
  let addresses = 0;
  const cells = new Map<string, Promise<Cell>>();

  interface Furnished {
    readonly org: Organization;
    /** resources on a target each, by what it refuses */
    readonly refusing: readonly string[];
    /** on another target, by credential */
    readonly elsewhere: readonly string[];
  }

  interface Cell {
    readonly org: Organization;
    readonly isOpen: (session: Session) => Promise<boolean>;
    /** on the target that refuses: started before, started since, and stopped since */
    readonly kept: Session;
    readonly started: Session | number;
    readonly stopped: Session;
    /** on another target, by credential: since the refusal */
    readonly elsewhere: readonly Session[];
  }

  const start = async (org: Organization, resourceId: string): Promise<Session | number> => {
    addresses += 1;
    const ipv4Address = `203.0.113.${addresses}`;
    const { status, body } = await org.start({ resourceIds: [resourceId], ipv4Address, holder: ipv4Address });
    return status === 200 ? body : status;
  };
  const started = async (org: Organization, resourceId: string): Promise<Session> => {
    const session = await start(org, resourceId);
    if (typeof session === 'number') throw new Error(`POST /sessions: ${session}`);
    return session;
  };
  const stop = (org: Organization, { id }: Session): Promise<unknown> =>
    org.admin.posted(`/sessions/${id}/stop`);
  /** Waits until it has the status, or says in the provider's words why it does not. */
  const settles = (org: Organization, { id }: Session, status: string, words: RegExp): Promise<Session> =>
    until(
      `session ${id} is ${status} or says why not`,
      async () => {
        const session = await org.session(id);
        const { errorMessage } = session.resourceIps[0]!;
        return (session.status === status || words.test(errorMessage ?? '')) && session;
      },
      WAIT_MS,
    );

  /** An organization with a resource on each target, and a second one with another credential on the last. */
  const furnish = async (cloud: Cloud): Promise<Furnished> => {
    const org = await organization(drawbridge, []);
    const { admin, roleId } = org;
    const { provider, resourceType, credentialType } = cloud;
    const credential = async (name: string): Promise<string> => {
      const credentialData = cloud.credentialData(drawbridge.cloud.url);
      const body = { name, provider, credentialType, credentialData };
      return (await admin.created<{ id: string }>('/credentials', body)).id;
    };
    const resource = async (credentialId: string, index: number): Promise<string> => {
      const { id } = await admin.created<{ id: string }>('/resources', {
        name: `${credentialId} ${index}`,
        credentialId,
        provider,
        resourceType,
        resourceIdentifier: cloud.target(index),
        ...(provider === 'AWS' && { region: 'eu-central-1' }),
        config: resourceType === 'SECURITY_GROUP' ? { port: 22 } : {},
      });
      await admin.posted(`/resources/${id}/verify`);
      await admin.posted(`/roles/${roleId}/resources/${id}`);
      return id;
    };
    const same = await credential('same');
    const refusing: string[] = [];
    for (const index of REFUSED.keys()) refusing.push(await resource(same, index));
    const last = REFUSED.length;
    return {
      org,
      refusing,
      elsewhere: [await resource(same, last), await resource(await credential('other'), last)],
    };
  };

  const run = async (cloud: Cloud, refused: Refused, furnished: Furnished): Promise<Cell> => {
    const { org, elsewhere } = furnished;
    const index = REFUSED.indexOf(refused);
    const resourceId = furnished.refusing[index]!;
    const refusing = cloud.target(index);
    const before = [await started(org, resourceId), await started(org, resourceId)];
    const [kept, stopped] = (await Promise.all(
      before.map(({ id }) => org.reaches(id, 'ACTIVE', WAIT_MS)),
    )) as [Session, Session];
    const operation = cloud.operations[refused]!;
    await drawbridge.cloud.fault({ provider: cloud.provider, kind: 'refuse', target: refusing, operation });
    if (refused === 'verify')
      expect((await org.admin.post(`/resources/${resourceId}/verify`)).status).toBe(400);
    await stop(org, stopped);
    const stoppedNow = await settles(org, stopped, 'CANCELLED', cloud.words);
    const since = await start(org, resourceId);
    const startedNow = typeof since === 'number' ? since : await settles(org, since, 'ACTIVE', cloud.words);
    const others = await Promise.all(
      elsewhere.map(async (id) => {
        const session = await started(org, id);
        await org.reaches(session.id, 'ACTIVE', WAIT_MS);
        await stop(org, session);
        return org.reaches(session.id, 'CANCELLED', WAIT_MS);
      }),
    );
    return {
      org,
      isOpen: async ({ resourceIps }) =>
        (await drawbridge.cloud.rules(refusing, cloud.provider)).some(
          ({ address }) => address === resourceIps[0]!.ipAddress,
        ),
      kept,
      started: startedNow,
      stopped: stoppedNow,
      elsewhere: others,
    };
  };

  beforeAll(async () => {
    for (const cloud of CLOUDS) {
      const furnished = await furnish(cloud);
      for (const refused of REFUSED.filter((one) => cloud.operations[one])) {
        const cell = run(cloud, refused, furnished);
        cell.catch(() => undefined);
        cells.set(`${cloud.resourceType} ${refused}`, cell);
      }
    }
  });

  it.each(CELLS)(
    '%s, %s: only that waits, and its ResourceIp says why',
    async (resourceType, refused, cloud) => {
      const cell = await cells.get(`${resourceType} ${refused}`)!;
      const { org, kept, stopped, elsewhere } = cell;
      expect(elsewhere.map(({ status }) => status)).toEqual(['CANCELLED', 'CANCELLED']);
      expect((await org.session(kept.id)).status).toBe('ACTIVE');
      const writesList = cloud.operations.add === cloud.operations.remove;
      const isRefused = (one: Refused): boolean =>
        refused === one || refused === 'read' || (writesList && refused !== 'verify' && one !== 'verify');
      const why = expect.stringMatching(cloud.words) as string;
      expect(stopped).toMatchObject(
        isRefused('remove')
          ? { status: 'EXPIRING', resourceIps: [{ status: 'REMOVING', errorMessage: why }] }
          : { status: 'CANCELLED', resourceIps: [{ status: 'REMOVED', errorMessage: null }] },
      );
      const expected = isRefused('add')
        ? { status: 'FAILED', resourceIps: [{ status: 'FAILED', errorMessage: why }] }
        : { status: 'ACTIVE', resourceIps: [{ status: 'APPLIED', errorMessage: null }] };
      expect([cell.started]).toMatchObject([refused === 'verify' ? 400 : expected]);
      if (refused !== 'read' || writesList) return;
      // what was written is removed by its id, though no read shows that it is gone
      for (const session of [stopped, cell.started as Session])
        await until(`${session.id} is closed`, async () => !(await cell.isOpen(session)), WAIT_MS);
    },
    120_000,
  );

  it('what waited is closed when it is allowed again, and its message is gone', async () => {
    const settled = await Promise.all(cells.values());
    await drawbridge.cloud.clearFaults();
    // instead of waiting for the backoff
    await drawbridge.query('UPDATE rules SET due_at = now() WHERE attempts > 0 AND due_at > now()');
    for (const { org, stopped } of settled)
      expect(await org.reaches(stopped.id, 'CANCELLED', WAIT_MS)).toMatchObject({
        resourceIps: [{ status: 'REMOVED', errorMessage: null }],
      });
  });
});
