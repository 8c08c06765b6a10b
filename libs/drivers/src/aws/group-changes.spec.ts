import { Outcomes } from '../outcomes';
import type { AddChange } from '../provider-driver';
import { addRules } from './addition';
import { removeRules } from './removal';

const ADD: AddChange = {
  action: 'add',
  ruleId: 'rule',
  spec: { address: '203.0.113.1/32', protocol: 'tcp', ports: [{ from: 22, to: 22 }] },
  mark: { deployment: 'd', ruleId: 'rule', expiresAt: null },
  config: {},
};

describe('A process that was suspended between two requests of a call', () => {
  afterEach(() => vi.restoreAllMocks());

  it('adds nothing any more', async () => {
    let now = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => now);
    const sent: unknown[] = [];
    const group = {
      listRules: () => Promise.resolve([]),
      authorize: (permissions: unknown[]) => Promise.resolve(void sent.push(...permissions)).then(() => []),
      revoke: async (ids: readonly string[]) => {
        sent.push(...ids);
        now += 600_000;
        await Promise.resolve();
      },
    };
    const outcomes = new Outcomes('AWS', 5000);
    await removeRules(group, ['sgr-1'], outcomes);
    outcomes.beginAdditions();
    await addRules(group, [ADD], outcomes);
    expect(sent).toEqual(['sgr-1']);
    expect([outcomes.of('sgr-1'), ...outcomes.resultsOf([ADD])]).toMatchObject([
      { result: 'done' },
      { result: 'refused', kind: 'transient' },
    ]);
  });
});
