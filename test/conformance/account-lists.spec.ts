import { DriverRegistry, type CloudAccount, type CloudDriver, type DriverCredential } from '#drivers';
import { PRINCIPAL } from './azure-services';
import { simulatedTarget, thrown } from './driver-actions';
import { SimulatedCloud } from './simulated-cloud';

const LISTING = 'arn:aws:iam::123456789012:role/simulated';
const NONE = { read: [], add: [], remove: [] };

const aws = (listingRoleArn: string): DriverCredential => ({
  credentialType: 'ASSUME_ROLE',
  data: { roleArn: 'arn:aws:iam::{account}:role/drawbridge', listingRoleArn },
  externalId: 'conformance-external-id',
  identity: null,
});
const AZURE: DriverCredential = {
  credentialType: 'SERVICE_PRINCIPAL',
  data: PRINCIPAL,
  externalId: null,
  identity: null,
};

describe('The accounts of a cloud', () => {
  let cloud: SimulatedCloud;
  let registry: DriverRegistry;

  beforeAll(async () => {
    cloud = await SimulatedCloud.start('AWS', NONE, 60);
    registry = cloud.drivers({
      DRAWBRIDGE_AWS_ACCESS_KEY_ID: 'AKIASIMULATED0000001',
      DRAWBRIDGE_AWS_SECRET_ACCESS_KEY: 'simulated-secret-access-key',
    });
  });
  beforeEach(() => cloud.reset());
  afterAll(() => cloud.close());

  const list = async (
    provider: 'AWS' | 'AZURE' | 'GCP',
    credential: DriverCredential,
  ): Promise<CloudAccount[]> => {
    const driver: CloudDriver = await registry.driver(provider);
    return [...(await driver.listAccounts!(credential))];
  };
  const make = async (provider: string, accounts: readonly string[], more: object = {}): Promise<void> => {
    for (const account of accounts)
      await cloud.account({ provider, account, name: `the ${account}`, roles: ['drawbridge'], ...more });
  };

  it('of AWS are read over full and empty pages', async () => {
    const made = Array.from({ length: 45 }, (_, index) => String(200_000_000_000 + index));
    await make('AWS', made);
    const found = await list('AWS', aws(LISTING));
    expect(found.map(({ account }) => account)).toEqual(['123456789012', ...made]);
    expect(found[1]).toEqual({ account: made[0], label: `the ${made[0]}`, state: 'ACTIVE' });
  });

  it('of AWS are for the management account, and a role with a condition', async () => {
    await make('AWS', ['222222222222']);
    await make('AWS', ['333333333333'], { isOpen: true });
    const role = (account: string): string => `arn:aws:iam::${account}:role/drawbridge`;
    expect(await thrown(list('AWS', aws(role('222222222222'))))).toBe('denied');
    await expect(list('AWS', aws(role('333333333333')))).rejects.toThrow('without an external id');
    expect(await thrown(list('AWS', aws('')))).toBe('denied');
  });

  it('of Azure are those with an assignment', async () => {
    const ids = ['a', 'b', 'c'].map((end) => `00000000-0000-4000-8000-00000000000${end}`);
    await make('AZURE', ids);
    await make('AZURE', ['00000000-0000-4000-8000-00000000000d'], { roles: [] });
    const found = await list('AZURE', AZURE);
    expect(found.map(({ account }) => account)).toEqual(['00000000-0000-4000-8000-000000000001', ...ids]);
  });

  it('of Google come in any order, and late', async () => {
    await make('GCP', ['one-project', 'two-projects']);
    await make('GCP', ['new-project'], { late: 1 });
    const { credential } = simulatedTarget('GCP', '');
    const names = async (): Promise<string[]> =>
      (await list('GCP', credential)).map(({ account }) => account).toSorted();
    expect(await names()).toEqual(['one-project', 'simulated-project', 'two-projects']);
    expect(await names()).toContain('new-project');
  });

  it('have names without hidden characters', async () => {
    await make('AWS', ['222222222222'], { name: 'pay\u202Ements\n' });
    expect((await list('AWS', aws(LISTING)))[1]).toMatchObject({ label: 'payments' });
  });
});
