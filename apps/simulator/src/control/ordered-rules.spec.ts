import { startSimulator, type RunningSimulator } from '../start-simulator';

let simulator: RunningSimulator;

beforeAll(async () => {
  simulator = await startSimulator();
});

afterAll(() => simulator.close());

const control = async (method: string, path: string, body?: object): Promise<object> => {
  const answer = await fetch(`${simulator.url}${path}`, {
    method,
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: answer.status, body: (await answer.json()) as unknown };
};

const open = (): Promise<object> => control('GET', '/_rules');

describe('rules with an order', () => {
  const NETWORK = { provider: 'GCP', target: 'default', address: '0.0.0.0/0', fromPort: 22 };
  const ordered = { access: 'deny', priority: 200 };

  it('can deny, which opens nothing, and apply to a part of the target', async () => {
    expect(await control('POST', '/_rules', { ...NETWORK, ...ordered })).toEqual({ status: 201, body: null });
    expect(await open()).toMatchObject({ body: [] });
    const group = { ...NETWORK, provider: 'AZURE', target: 'simulated-group/simulated-nsg' };
    expect(await control('POST', '/_rules', { ...group, ...ordered })).toEqual({ status: 201, body: null });
    expect(await open()).toMatchObject({ body: [] });
    expect(await control('POST', '/_rules', { ...group, priority: 201, part: '10.0.0.5' })).toMatchObject({
      status: 201,
      body: { address: '0.0.0.0/0' },
    });
    expect(await control('POST', '/_rules', { ...group, priority: 200 })).toMatchObject({
      status: 409,
      body: { error: 'SecurityRuleConflict' },
    });
  });

  it.each(['access', 'priority', 'part'])('exist in clouds that have it only: %s', async (field) => {
    const values: Record<string, unknown> = { ...ordered, part: 'web' };
    expect(
      await control('POST', '/_rules', {
        ...NETWORK,
        provider: 'AWS',
        target: 'sg-0123456789abcdef0',
        [field]: values[field],
      }),
    ).toMatchObject({
      status: 400,
      body: { field },
    });
  });
});
