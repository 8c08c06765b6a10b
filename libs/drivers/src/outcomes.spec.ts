import type { IpPermission } from '@aws-sdk/client-ec2';
import { addRules } from './aws/addition';
import type { WritableGroup } from './aws/aws-target';
import { removeRules } from './aws/removal';
import { sendPaced, type Write } from './gcp/paced-writes';
import { Outcomes } from './outcomes';
import type { AddChange } from './provider-driver';

const ADD: AddChange = {
  action: 'add',
  ruleId: 'rule',
  spec: { address: '203.0.113.1/32', protocol: 'tcp', ports: [{ from: 22, to: 22 }] },
  mark: { deployment: 'd', ruleId: 'rule', expiresAt: null },
  config: {},
};
const LATE = { result: 'refused', kind: 'transient' } as const;

/** A process that is suspended during the first request, for longer than its call may last. */
const suspended = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 30));
const withinTenMs = (cloud: string): Outcomes => new Outcomes(cloud, performance.now() + 10);

describe('A process that was suspended between two requests of a call', () => {
  it('adds nothing to a security group any more', async () => {
    const sent: (string | IpPermission)[] = [];
    const group: WritableGroup = {
      listRules: () => Promise.resolve([]),
      authorize: (permissions) => Promise.resolve(void sent.push(...permissions)).then(() => []),
      revoke: (ids) => Promise.resolve(void sent.push(...ids)).then(suspended),
    };
    const outcomes = withinTenMs('AWS');
    await removeRules(group, ['sgr-1'], outcomes);
    outcomes.beginAdditions();
    await addRules(group, [ADD], outcomes);
    expect(sent).toEqual(['sgr-1']);
    expect(outcomes.resultsOf([{ ...ADD, action: 'remove', providerRuleId: 'sgr-1' }, ADD])).toMatchObject([
      { result: 'done' },
      LATE,
    ]);
  });

  it('sends no further write to a network', async () => {
    const sent: string[] = [];
    const write = (key: string): Write => ({
      key,
      start: async () => {
        sent.push(key);
        await suspended();
        return () => Promise.resolve({ id: key });
      },
    });
    const outcomes = withinTenMs('Google');
    await sendPaced(['first', 'second'].map(write), outcomes);
    expect(sent).toEqual(['first']);
    expect([outcomes.of('first').result, outcomes.of('second')]).toMatchObject(['done', LATE]);
  });
});
