import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startSimulator } from '../start-simulator';
import type { OpenRule } from './ledger';

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
  const add = async (url: string): Promise<void> => {
    const target = 'sg-0123456789abcdef0';
    const rule = {
      provider: 'AWS',
      target,
      address: '203.0.113.7',
      protocol: 'tcp',
      fromPort: 22,
      toPort: 22,
    };
    await fetch(`${url}/_rules`, { method: 'POST', body: JSON.stringify(rule) });
  };

  it('restores open rules after a restart, with their ids', async () => {
    const before = await during(async (url) => {
      await add(url);
      return rules(url);
    });
    const after = await during(rules);
    expect(after.map((rule) => [rule.address, rule.providerRuleId])).toEqual(
      before.map((rule) => [rule.address, rule.providerRuleId]),
    );
    expect(after).toHaveLength(1);
  });

  it('restores nothing after a reset', async () => {
    await during(async (url) => {
      await add(url);
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
