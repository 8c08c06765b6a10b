import { group, ownOrganization, sshTo } from '../../builders/accounts/organization';
import type { Session } from '../../harness/product/api-client';
import { Drawbridge } from '../../harness/product/drawbridge';
import { until } from '../../harness/until';
import { watchEachTest } from './watch-each-test';

/** The only worker is killed once, with five sessions at five different points; another one continues. */
describe('A. A worker is killed with SIGKILL', () => {
  const drawbridge = Drawbridge.own();
  const org = ownOrganization(drawbridge, sshTo(5));
  let added: Session;
  let removed: Session;
  let inDoubt: Session;
  let stopped: Session;
  let unattended: Session;

  const ruleCount = async (target: string): Promise<number> => (await drawbridge.cloud.rules(target)).length;

  const startOn = (index: number): Promise<Session> =>
    org.started({ ipv4Address: `203.0.113.6${index}`, resourceIds: [org.resourceIds[index]] });

  const loseAnswer = (kind: string, index: number, operation: string): Promise<void> =>
    drawbridge.cloud.fault({
      kind,
      target: group(index),
      operation: `${operation}SecurityGroupIngress`,
      count: 1,
    });

  const watch = watchEachTest(() => drawbridge);
  beforeAll(async () => {
    removed = await startOn(1);
    await org.reaches(removed.id, 'ACTIVE');

    const fault = watch().fault('answers are lost, and the worker is killed');
    await loseAnswer('timeout-after-success', 0, 'Authorize');
    await loseAnswer('timeout-after-success', 1, 'Revoke');
    await loseAnswer('timeout-before', 2, 'Authorize');
    await loseAnswer('timeout-after-success', 3, 'Authorize');
    [added, inDoubt, stopped] = await Promise.all([startOn(0), startOn(2), startOn(3)]);
    await org.admin.posted(`/sessions/${removed.id}/stop`);

    await until('the cloud has executed the unanswered calls', async () => {
      const [first, second, fourth] = await Promise.all([0, 1, 3].map((index) => ruleCount(group(index))));
      return first === 1 && second === 0 && fourth === 1;
    });
    await until('the third call is in flight', async () => {
      const calls = await drawbridge.cloud.calls();
      return calls.some((call) => call.target === group(2) && call.operation.startsWith('Authorize'));
    });
    await org.admin.posted(`/sessions/${stopped.id}/stop`);
    await drawbridge.worker.stop('SIGKILL');
    watch().workerKilled();
    unattended = await startOn(4);
    await drawbridge.startWorker();
    fault.end();
  });

  const events = async (target: string): Promise<string[]> =>
    (await drawbridge.cloud.timeline())
      .filter((entry) => entry.target === target)
      .map((entry) => entry.event);

  it('after the cloud added the rule, before the commit: the rule is adopted, not added again [A2]', async () => {
    const active = await org.reaches(added.id, 'ACTIVE');
    expect(active.resourceIps[0]!.providerRuleId).toMatch(/^sgr-/);
    expect(await events(group(0))).toEqual(['opened']);
  });

  it('after the cloud removed the rule, before the commit: REMOVED without an error [A3]', async () => {
    const ended = await org.reaches(removed.id, 'CANCELLED');
    expect(ended.resourceIps[0]).toMatchObject({ status: 'REMOVED', errorMessage: null });
    expect(await events(group(1))).toEqual(['opened', 'closed']);
  });

  it('before the cloud received the add: the next worker adds the rule [A1]', async () => {
    await org.reaches(inDoubt.id, 'ACTIVE');
    expect(await events(group(2))).toEqual(['opened']);
  });

  it('a session stopped while its add is in doubt: the rule is removed [A2]', async () => {
    const ended = await org.reaches(stopped.id, 'CANCELLED');
    expect(ended.resourceIps[0]!.status).toBe('REMOVED');
    expect(await events(group(3))).toEqual(['opened', 'closed']);
  });

  it('a session started without any worker: applied when a worker starts [A1]', async () => {
    expect(unattended.status).toBe('PENDING');
    await org.reaches(unattended.id, 'ACTIVE');
  });
});
