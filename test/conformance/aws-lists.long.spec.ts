import type { CloudTarget, ProviderDriver } from '#drivers';
import { SIMULATED_KEY } from '../builders/accounts/organization';
import { describeDriver } from './driver-conformance';
import { addition, allOf, claiming, kinds, remove, simulatedTarget, thrown } from './driver-actions';
import type { BenchOptions, CloudFacts, DriverBench } from './driver-bench';
import { SimulatedCloud } from './simulated-cloud';

const KEYS = SIMULATED_KEY;
const ACCOUNT = '123456789012';
/** Stands on the list of each simulated cluster: an empty one would let everybody in. */
const OFFICE = '192.0.2.10/32 all *';

interface List {
  readonly resourceType: string;
  readonly service: 'eks' | 'wafv2';
  readonly arn: (number: number) => string;
  readonly missing: string;
  readonly operations: Record<'read' | 'add' | 'remove', string[]>;
}

const WAF: List = {
  resourceType: 'WAF_IP_SET',
  service: 'wafv2',
  arn: (number) =>
    `arn:aws:wafv2:eu-central-1:${ACCOUNT}:regional/ipset/simulated-${number}/0c8a5f2e-1b5d-4f6e-9a3b-7d2c1e0f4a6${number}`,
  missing: `arn:aws:wafv2:eu-central-1:${ACCOUNT}:regional/ipset/none/0c8a5f2e-1b5d-4f6e-9a3b-7d2c1e0f4a60`,
  operations: { read: ['GetIPSet'], add: ['UpdateIPSet'], remove: ['UpdateIPSet'] },
};
const EKS: List = {
  resourceType: 'EKS_CLUSTER',
  service: 'eks',
  arn: (number) => `arn:aws:eks:eu-central-1:${ACCOUNT}:cluster/simulated-${number + 1}`,
  missing: `arn:aws:eks:eu-central-1:${ACCOUNT}:cluster/none`,
  operations: { read: ['DescribeCluster'], add: ['UpdateClusterConfig'], remove: ['UpdateClusterConfig'] },
};

const targetOf = (
  { resourceType }: Pick<List, 'resourceType'>,
  identifier: string,
  data: Record<string, string> = KEYS,
): CloudTarget => ({ ...simulatedTarget('AWS', identifier, data), resourceType });

const driverOf = ({ resourceType }: List, cloud: SimulatedCloud): Promise<ProviderDriver> =>
  cloud.drivers().driverFor('AWS', resourceType);

/** The same driver, without the entry of the office in what it reads. */
const withoutOffice = (driver: ProviderDriver): ProviderDriver => ({
  ...driver,
  readRules: async (target) => ({
    rules: (await driver.readRules(target)).rules.filter(({ key }) => key !== OFFICE),
  }),
});

const startBench =
  (list: List) =>
  async ({ capacity, operationMs }: BenchOptions): Promise<DriverBench> => {
    const cloud = await SimulatedCloud.start('AWS', list.operations, capacity, operationMs);
    const driver = await driverOf(list, cloud);
    const facts: CloudFacts = {
      ports: false,
      marks: false,
      batch: 'whole-list',
      adoptsUnmanagedRules: false,
      capacityPerIpVersion: false,
      singleIpVersion: true,
      sharedList: true,
      addressIsIdentity: true,
    };
    const nameOf = ({ identifier }: CloudTarget): string => identifier;
    return {
      cloud: facts,
      driver: list === EKS ? withoutOffice(driver) : driver,
      target: (number) => targetOf(list, list.arn(number)),
      // names are case-sensitive
      respell: (identifier) => identifier,
      missingTarget: () => targetOf(list, list.missing),
      withWrongSecret: ({ identifier }) =>
        targetOf(list, identifier, { ...KEYS, secretAccessKey: 'another-secret' }),
      unknownCredential: () =>
        targetOf(list, list.arn(0), { ...KEYS, accessKeyId: 'AKIANOBODYKNOWSTHIS1' }).credential,
      malformedSpec: {
        address: list === EKS ? '10.1.2.3/32' : '203.0.113.250/33',
        protocol: 'all',
        ports: [],
      },
      changes: [],
      role: {
        verified: [...list.operations.read, ...list.operations.add].map((each) => `${list.service}:${each}`),
        polling: [],
        withdraw: (permissions) => cloud.withdraw(permissions),
      },
      ...cloud.handles('GetCallerIdentity', list.operations.read, nameOf),
    };
  };

describeDriver('AWS', startBench(WAF), 'IP sets of WAF');
describeDriver('AWS', startBench(EKS), 'endpoints of EKS');

describe('IP sets of WAF', () => {
  let cloud: SimulatedCloud;
  let driver: ProviderDriver;
  beforeAll(async () => {
    cloud = await SimulatedCloud.start('AWS', WAF.operations, 100);
    driver = await driverOf(WAF, cloud);
  });
  beforeEach(() => cloud.reset());
  afterAll(() => cloud.close());

  it('for IPv6 take IPv6 addresses, in whatever spelling AWS returns them', async () => {
    const arn = `arn:aws:wafv2:eu-central-1:${ACCOUNT}:regional/ipset/simulated-ipv6/0c8a5f2e-1b5d-4f6e-9a3b-7d2c1e0f4a66`;
    const target = claiming(targetOf(WAF, arn), '2001:db8::7/128');
    const results = await driver.applyChanges(target, [
      addition(allOf('2001:db8::7/128')),
      addition(allOf('203.0.113.7/32')),
    ]);
    expect(kinds(results)).toEqual(['done', 'wrong-family']);
    expect((await driver.readRules(target)).rules.map(({ ownRuleId }) => ownRuleId)).toEqual([
      'rule of 2001:db8::7/128',
    ]);
    expect(kinds(await driver.applyChanges(target, [remove('2001:db8::7/128')]))).toEqual(['done']);
    expect((await driver.readRules(target)).rules).toEqual([]);
  });

  it('of CloudFront are called in us-east-1', async () => {
    const arn = `arn:aws:wafv2:us-east-1:${ACCOUNT}:global/ipset/simulated-global/0c8a5f2e-1b5d-4f6e-9a3b-7d2c1e0f4a67`;
    expect(kinds(await driver.applyChanges(targetOf(WAF, arn), [addition(allOf('203.0.113.7/32'))]))).toEqual(
      ['done'],
    );
  });

  it('say that they may be used to block', async () => {
    const verified = await driver.verify(targetOf(WAF, WAF.arn(0)), {});
    expect(verified && verified.warnings).toEqual([expect.stringContaining('turns access into a block')]);
  });
});

describe('Endpoints of EKS', () => {
  let cloud: SimulatedCloud;
  let driver: ProviderDriver;
  const start = async (operationMs: number): Promise<void> => {
    cloud = await SimulatedCloud.start('AWS', EKS.operations, 100, operationMs);
    driver = await driverOf(EKS, cloud);
  };
  afterEach(() => cloud.close());

  it('keep the last entry, of any program: an empty list lets every address in', async () => {
    await start(0);
    const arn = EKS.arn(0);
    const target = claiming(targetOf(EKS, arn), '203.0.113.7/32', '203.0.113.8/32', '192.0.2.10/32');
    await driver.applyChanges(target, [addition(allOf('203.0.113.7/32')), addition(allOf('203.0.113.8/32'))]);
    const results = await driver.applyChanges(
      target,
      ['192.0.2.10/32', '203.0.113.7/32', '203.0.113.8/32'].map(remove),
    );
    expect(kinds(results)).toEqual(['done', 'done', 'invalid']);
    expect(results[2]).toMatchObject({ message: expect.stringContaining('empty list') as string });
    expect((await cloud.rules(arn)).map(({ address }) => address)).toEqual(['203.0.113.8']);
  });

  it('are not read while they are updated, and a change that takes longer is unknown', async () => {
    await start(600_000);
    const target = targetOf(EKS, EKS.arn(0));
    expect(await driver.applyChanges(target, [addition(allOf('203.0.113.7/32'))])).toMatchObject([
      { result: 'unknown', message: expect.stringContaining('minutes') as string, retryAfterMs: 15_000 },
    ]);
    expect(await thrown(driver.readRules(target))).toBe('conflict');
    expect(await thrown(driver.applyChanges(target, [addition(allOf('203.0.113.8/32'))]))).toBe('conflict');
  });
});
