import {
  AuthorizeSecurityGroupIngressCommand,
  DescribeSecurityGroupRulesCommand,
  EC2Client,
} from '@aws-sdk/client-ec2';
import { createPrivateKey, randomUUID } from 'node:crypto';
import { DriverRegistry, signedJwt } from '#drivers';
import { startSimulator } from '../../apps/simulator/src/start-simulator';
import { KEY_FILE } from '../../apps/simulator/src/gcp/service-account';
import { simulatedObjects } from '../builders/driver-load';
import { SIMULATED_KEY } from '../builders/organization';
import { simulatedClouds } from '../harness/drawbridge';

/** A tool that writes kinds of rules which Drawbridge never writes, and reads what the cloud then holds. */
interface OtherTool {
  readonly write: () => Promise<unknown>;
  readonly read: () => Promise<unknown>;
  /** what must be among its rules, with the cloud's own fields */
  readonly held: readonly object[];
}

async function sent(url: string, token: string, method: string, body?: object): Promise<unknown> {
  const headers = { authorization: `Bearer ${token}` };
  const response = await fetch(url, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  if (!response.ok) throw new Error(await response.text());
  return response.json();
}

async function tokenFrom(url: string, form: Record<string, string>): Promise<string> {
  const response = await fetch(url, { method: 'POST', body: new URLSearchParams(form) });
  return ((await response.json()) as { access_token: string }).access_token;
}

function aws(url: string): OtherTool {
  const { identifier } = simulatedObjects(url).AWS;
  const ec2 = new EC2Client({
    endpoint: `${url}/aws/ec2`,
    region: 'eu-central-1',
    credentials: SIMULATED_KEY,
  });
  const ssh = { IpProtocol: 'tcp', FromPort: 22, ToPort: 22 };
  const [office, list, other] = ['office', 'pl-0123456789abcdef0', 'sg-0123456789abcdef1'];
  const permissions = [
    { ...ssh, UserIdGroupPairs: [{ GroupId: other, Description: office }] },
    { ...ssh, PrefixListIds: [{ PrefixListId: list, Description: office }] },
    { ...ssh, Ipv6Ranges: [{ CidrIpv6: '2001:db8:1::/48', Description: office }] },
  ];
  return {
    write: () =>
      ec2.send(
        new AuthorizeSecurityGroupIngressCommand({
          GroupId: identifier,
          IpPermissions: permissions,
          TagSpecifications: [
            { ResourceType: 'security-group-rule', Tags: [{ Key: 'Name', Value: office }] },
          ],
        }),
      ),
    read: async () => {
      const filter = { Name: 'group-id', Values: [identifier] };
      const { SecurityGroupRules } = await ec2.send(
        new DescribeSecurityGroupRulesCommand({ Filters: [filter] }),
      );
      return SecurityGroupRules?.filter(({ IsEgress }) => !IsEgress);
    },
    held: [
      { ReferencedGroupInfo: { GroupId: other }, Description: office },
      { PrefixListId: list, Tags: [{ Key: 'Name', Value: office }] },
      { CidrIpv6: '2001:db8:1::/48', Description: office },
    ],
  };
}

function azure(url: string): OtherTool {
  const { identifier, credential } = simulatedObjects(url).AZURE;
  const { tenantId, clientId: client_id, clientSecret: client_secret } = credential.data;
  const token = (): Promise<string> =>
    tokenFrom(`${url}/azure/login/${tenantId}/oauth2/v2.0/token`, {
      grant_type: 'client_credentials',
      client_id: client_id!,
      client_secret: client_secret!,
      scope: `${url}/azure/arm/.default`,
    });
  const rules = `${url}/azure/arm${identifier}/securityRules`;
  const ssh = { protocol: 'Tcp', access: 'Allow', direction: 'Inbound', sourcePortRange: '*' };
  const id = '/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/applicationSecurityGroups/web';
  const sources = [
    { sourceAddressPrefix: 'Storage.WestEurope', priority: 200 },
    { sourceApplicationSecurityGroups: [{ id }], priority: 201 },
  ];
  const all = { destinationAddressPrefix: '*', destinationPortRange: '22' };
  return {
    write: async () => {
      for (const source of sources) {
        const body = { properties: { ...ssh, ...all, ...source } };
        await sent(`${rules}/r${source.priority}?api-version=2024-05-01`, await token(), 'PUT', body);
      }
    },
    read: async () => {
      const { value } = (await sent(`${rules}?api-version=2024-05-01`, await token(), 'GET')) as {
        value: object[];
      };
      return value;
    },
    held: sources.map((properties) => ({ properties })),
  };
}

function gcp(url: string): OtherTool {
  const rules = `${url}/gcp/compute/v1/projects/simulated-project/global/firewalls`;
  const now = Math.floor(Date.now() / 1000);
  const claims = {
    iss: KEY_FILE.client_email,
    aud: 'https://oauth2.googleapis.com/token',
    scope: 'https://www.googleapis.com/auth/compute',
    iat: now,
    exp: now + 3600,
  };
  const token = (): Promise<string> =>
    tokenFrom(`${url}/gcp/token`, {
      grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
      assertion: signedJwt(claims, null, createPrivateKey(KEY_FILE.private_key)),
    });
  const ssh = [{ IPProtocol: 'tcp', ports: ['22'] }];
  const held = [
    { name: 'tagged', sourceTags: ['web'], allowed: ssh },
    { name: 'of-accounts', sourceServiceAccounts: ['a@b.iam.gserviceaccount.com'], allowed: ssh },
    { name: 'denied', sourceRanges: ['198.51.100.0/24'], denied: ssh },
  ];
  return {
    write: async () => {
      for (const rule of held) await sent(rules, await token(), 'POST', rule);
    },
    read: async () => ((await sent(rules, await token(), 'GET')) as { items: object[] }).items,
    held,
  };
}

describe.each([
  ['AWS', aws],
  ['AZURE', azure],
  ['GCP', gcp],
] as const)('Rules of other tools in %s, without an address', (provider, tool) => {
  let simulator: Awaited<ReturnType<typeof startSimulator>>;
  beforeAll(async () => {
    simulator = await startSimulator({ port: 0, gcpOperationMs: 0, azureOperationMs: 0 });
  });
  afterAll(() => simulator.close());

  it('let no address in, and stay as they are beside ours', async () => {
    const { write, read, held } = tool(simulator.url);
    await write();
    const before = (await read()) as object[];
    expect(before).toEqual(
      expect.arrayContaining(held.map((rule) => expect.objectContaining(deep(rule)) as unknown)),
    );

    const driver = await new DriverRegistry(simulatedClouds(simulator.url)).driver(provider);
    const target = { ...simulatedObjects(simulator.url)[provider], claims: new Map<string, never>() };
    await driver.verify(target, { port: 22 });
    const unmanaged = await driver.readRules(target);
    expect(unmanaged.filter(({ key }) => !key.includes('2001:db8:1::/48'))).toEqual([]);

    const spec = { address: '203.0.113.7/32', protocol: 'tcp', ports: [{ from: 22, to: 22 }] } as const;
    const ruleId = randomUUID();
    const mark = { deployment: 'test', ruleId, expiresAt: null };
    const [added] = await driver.applyChanges(target, [{ action: 'add', ruleId, spec, mark, config: {} }]);
    if (added?.result !== 'done') throw new Error(JSON.stringify(added));
    const removal = { action: 'remove', ruleId, providerRuleId: added.providerRuleId! } as const;
    expect(await driver.applyChanges(target, [removal])).toMatchObject([{ result: 'done' }]);
    expect(await read()).toEqual(before);
  });
});

/** Matches objects within objects by their given fields. */
const deep = (rule: object): object =>
  Object.fromEntries(
    Object.entries(rule).map(([name, value]: [string, unknown]) => [
      name,
      typeof value === 'object' && !Array.isArray(value) ? expect.objectContaining(value as object) : value,
    ]),
  );
