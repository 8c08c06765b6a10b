import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startSimulator } from '../start-simulator';
import type { OpenRule } from './ledger';

const PORTS = { protocol: 'tcp', fromPort: 22, toPort: 22 };

/** What an edit outside Drawbridge opens, per target. */
const OPENS: Readonly<Record<string, object>> = {
  'sg-0123456789abcdef0': { provider: 'AWS', ...PORTS },
  'pl-0123456789abcdef0': { provider: 'AWS' },
  default: { provider: 'GCP', ...PORTS },
  'simulated-group/simulated-nsg': { provider: 'AZURE', ...PORTS },
  'simulated-route-1': { provider: 'APISIX' },
  prj_simulated1: { provider: 'VERCEL' },
};

describe('The state file of the simulated clouds', () => {
  let folder: string;
  let stateFile: string;
  const warnings: string[] = [];

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'drawbridge-simulator-'));
    stateFile = join(folder, 'clouds.json');
    warnings.length = 0;
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  /** Runs a simulator while `work` runs. */
  const during = async <T>(work: (url: string) => Promise<T>): Promise<T> => {
    const simulator = await startSimulator({ stateFile, onWarning: (message) => warnings.push(message) });
    try {
      return await work(simulator.url);
    } finally {
      await simulator.close();
    }
  };
  const rules = async (url: string): Promise<OpenRule[]> =>
    (await (await fetch(`${url}/_rules`)).json()) as OpenRule[];
  const add = async (url: string, target: string, address = '203.0.113.7'): Promise<void> => {
    const answer = await fetch(`${url}/_rules`, {
      method: 'POST',
      body: JSON.stringify({ ...OPENS[target], target, address }),
    });
    expect(answer.status).toBe(201);
  };

  it.each(Object.keys(OPENS))('restores what %s opens after a restart, with its ids', async (target) => {
    const before = await during(async (url) => {
      await add(url, target);
      return rules(url);
    });
    expect(before).toHaveLength(1);
    const after = await during(async (url) => {
      // The second address changes what the cloud itself holds, not only what is recorded about it.
      await add(url, target, '203.0.113.8');
      return rules(url);
    });
    expect(after.map(({ address }) => address)).toEqual(['203.0.113.7', '203.0.113.8']);
    const { since: _, ...first } = before[0]!;
    expect(after[0]).toMatchObject(first);
  });

  it('restores nothing after a reset', async () => {
    await during(async (url) => {
      await add(url, 'sg-0123456789abcdef0');
      await fetch(`${url}/_reset`, { method: 'POST' });
    });
    expect(await during(rules)).toEqual([]);
  });

  it('is ignored with a warning when it is damaged', async () => {
    writeFileSync(stateFile, '{"AWS": [');
    expect(await during(rules)).toEqual([]);
    expect(warnings).toEqual([expect.stringContaining('the clouds start empty')]);
  });
});
