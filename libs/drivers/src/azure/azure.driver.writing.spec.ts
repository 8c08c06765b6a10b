import { ruleKey, type ChangeResult } from '#rules';
import type { CloudDriver, RuleChange } from '../provider-driver';
import {
  RULE_ID,
  SSH,
  NAME,
  target,
  add,
  remove,
  rule,
  own,
  refusal,
  LIST,
  PUT,
  GET,
  DELETE,
  operationHeaders,
  AzureFixture,
} from './azure.driver.testing';
import { pauseBefore } from './network-security-group';

describe('Azure driver: writing rules', () => {
  const fixture = new AzureFixture();
  const { azure } = fixture;
  let driver: CloudDriver;

  beforeEach(() => {
    driver = fixture.newDriver();
  });

  /** @returns the result of the first change */
  const apply = async (...changes: RuleChange[]): Promise<ChangeResult> =>
    (await driver.applyChanges(target(), changes))[0]!;
  const priorities = (): number[] =>
    azure.calls
      .filter(({ method }) => method === 'PUT')
      .map(({ body }) => (JSON.parse(body) as { properties: { priority: number } }).properties.priority);

  describe('asynchronous operations', () => {
    it('are polled by Azure-AsyncOperation', async () => {
      const running = { body: { status: 'InProgress' }, headers: { 'retry-after': '0' } };
      azure.on('GET operations/one', running, running, { body: { status: 'Succeeded' } });
      expect(await apply(add())).toEqual({ result: 'done', providerRuleId: NAME, isNew: true });
      expect(azure.steps).toEqual([
        'GET securityRules',
        `PUT ${NAME}`,
        'GET one',
        'GET one',
        'GET one',
        `GET ${NAME}`,
      ]);
    });

    it('are polled each half second at first', () => {
      expect([1, 2, 3, 4, 5, 6].map(pauseBefore)).toEqual([500, 500, 500, 500, 2000, 2000]);
    });

    it('are polled by Location', async () => {
      const headers = { location: `${azure.url}/operationResults/one` };
      azure.on(DELETE, { status: 202, headers });
      azure.on('GET operationResults/one', { status: 202, headers }, { status: 204 });
      expect(await apply(remove(NAME))).toEqual({ result: 'done', providerRuleId: null });
      expect(azure.steps).toEqual(['GET securityRules', `DELETE ${NAME}`, 'GET one', 'GET one']);
    });

    it('are tracked by the state of the rule when the credential may not poll operations', async () => {
      azure
        .on(PUT, {
          status: 201,
          headers: operationHeaders('one', azure),
          body: own(NAME, 1000, { provisioningState: 'Updating' }),
        })

        .on('GET operations/one', refusal(403, 'AuthorizationFailed'))
        .on(
          GET,
          { body: own(NAME, 1000, { provisioningState: 'Updating' }) },
          { body: own(NAME, 1234) },
          { body: own(NAME, 1000) },
        );
      expect(await apply(add())).toEqual({ result: 'done', providerRuleId: NAME, isNew: true });
      expect(azure.steps.slice(2)).toEqual(['GET one', `GET ${NAME}`, `GET ${NAME}`, `GET ${NAME}`]);
    });

    it('are unknown, and later changes retryable, when the credential may read neither operation nor rule', async () => {
      azure
        .on(PUT, {
          status: 201,
          headers: operationHeaders('one', azure),
          body: own(NAME, 1000, { provisioningState: 'Updating' }),
        })

        .on('GET operations/one', refusal(403, 'AuthorizationFailed'))
        .on(GET, refusal(403, 'AuthorizationFailed'));
      const other = { ...SSH, address: '203.0.113.8/32' };
      const results = await driver.applyChanges(target(), [add(), add(other)]);
      expect(results).toMatchObject([{ result: 'unknown' }, { result: 'refused', kind: 'transient' }]);
    });

    it('that fail are refused with the message of the operation', async () => {
      const body = { status: 'Failed', error: { code: 'SecurityRuleCountLimitReached', message: 'full' } };
      azure.on('GET operations/one', { body: { status: 'InProgress' } }, { body });
      expect(await apply(add())).toEqual({
        result: 'refused',
        kind: 'quota',
        message: 'SecurityRuleCountLimitReached: full',
      });
    });

    it('that exceed the deadline are unknown, and no further change is sent', async () => {
      azure.on('GET operations/one', { body: { status: 'InProgress' } });
      const results = await driver.applyChanges(target(), [add(), add({ ...SSH, protocol: 'udp' })]);
      expect(results.map(({ result }) => result)).toEqual(['unknown', 'refused']);
      expect(azure.calls.filter(({ method }) => method === 'PUT')).toHaveLength(1);
    });

    it.each([
      ['fails', refusal(500, 'InternalServerError')],
      ['is refused', refusal(404, 'OperationNotFound')],
      ['is throttled', refusal(429, 'TooManyRequests')],
    ])('are unknown when the poll %s', async (_, reply) => {
      azure.on('GET operations/one', reply);
      expect(await apply(add())).toMatchObject({ result: 'unknown' });
    });
  });

  describe('rule priorities', () => {
    it('use the first one that no inbound rule has', async () => {
      const value = [
        rule('a', 1000),
        rule('b', 1001, { access: 'Deny' }),
        rule('c', 1002, { direction: 'Outbound' }),
      ];
      azure.on(LIST, { body: { value } });
      await driver.applyChanges(target(), [add({ ...SSH, address: '198.51.100.1/32' })]);
      expect(priorities()).toEqual([1002]);
    });

    it('that another writer took meanwhile are skipped after reading the rules again', async () => {
      azure.on(
        LIST,
        { body: { value: [] } },
        { body: { value: [rule('rival', 1000, { protocol: 'Udp' })] } },
      );
      azure.on(PUT, refusal(400, 'SecurityRuleConflict'), {
        status: 201,
        body: own(NAME, 1001),
        headers: operationHeaders('one', azure),
      });
      expect(await apply(add())).toEqual({ result: 'done', providerRuleId: NAME, isNew: true });
      expect(priorities()).toEqual([1000, 1001]);
    });

    it('are retried a limited number of times', async () => {
      azure.on(PUT, refusal(400, 'SecurityRuleConflict'));
      expect(await apply(add())).toMatchObject({ result: 'refused', kind: 'conflict' });
      expect(priorities()).toHaveLength(5);
    });

    it('that are all taken cause a quota refusal without a write', async () => {
      azure.on(LIST, {
        body: { value: [rule('a', 200, { protocol: 'Udp' }), rule('b', 201, { protocol: 'Udp' })] },
      });
      expect(await apply(add(SSH, { priorityFrom: 200, priorityTo: 201 }))).toEqual({
        result: 'refused',
        kind: 'quota',
        message: 'No priority from 200 to 201 is free in the network security group',
      });
      expect(priorities()).toEqual([]);
    });
  });

  describe('existing rules', () => {
    it('with our name that are not ours are not overwritten', async () => {
      azure.on(LIST, { body: { value: [rule(NAME, 1000, { protocol: 'Udp' })] } });
      azure.on(`PUT securityRules/${NAME}-2`, { status: 201, body: own(`${NAME}-2`, 1001) });
      expect(await apply(add())).toEqual({ result: 'done', providerRuleId: `${NAME}-2`, isNew: true });
    });

    it('with neither our mark nor a name of ours are not removed', async () => {
      azure.on(LIST, { body: { value: [rule('office', 1000)] } });
      expect(await apply(remove('office'))).toMatchObject({ result: 'refused', kind: 'conflict' });
      expect(azure.steps).toEqual(['GET securityRules']);
    });

    it('that were deleted meanwhile are absent', async () => {
      azure.on(LIST, { body: { value: [rule(NAME, 1000, { protocol: 'Udp' })] } });
      azure.on(`DELETE securityRules/${NAME}`, { status: 204 });
      expect(await apply(remove(NAME))).toEqual({ result: 'done', providerRuleId: null, wasAbsent: true });
    });

    it('without our mark are removed when they allow what was written under their name', async () => {
      azure.on(LIST, { body: { value: [rule(`${NAME}-2`, 1000)] } });
      azure.on(`DELETE securityRules/${NAME}-2`, { status: 200 });
      expect(await apply(remove(`${NAME}-2`))).toEqual({ result: 'done', providerRuleId: null });
      expect(azure.steps).toEqual(['GET securityRules', `DELETE ${NAME}-2`]);
    });

    it('without our mark are reported after a denying rule and overwritten with the same priority', async () => {
      const denying = rule('no', 900, { access: 'Deny', sourceAddressPrefix: '*' });
      azure.on(LIST, { body: { value: [denying, rule(NAME, 1234)] } });
      expect((await driver.readRules(target())).rules).toMatchObject([
        { key: ruleKey(SSH), providerRuleId: NAME, ownRuleId: null, inForce: false },
      ]);
      expect(await apply(add())).toEqual({ result: 'done', providerRuleId: NAME });
      expect(priorities()).toEqual([1234]);
    });

    it('that are missing in the list are removed anyway, because the list may be outdated', async () => {
      azure.on(DELETE, { status: 204 });
      expect(await apply(remove(NAME))).toEqual({ result: 'done', providerRuleId: null, wasAbsent: true });
      expect(azure.steps).toEqual(['GET securityRules', `DELETE ${NAME}`]);
    });

    it.each([
      ['has failed', { provisioningState: 'Failed' }],
      ['was changed to deny', { access: 'Deny' }],
    ])('of ours are overwritten with the same priority when one %s', async (_, changed) => {
      azure.on(LIST, { body: { value: [own(NAME, 1234, changed)] } });
      expect(await apply(add())).toEqual({ result: 'done', providerRuleId: NAME });
      expect(priorities()).toEqual([1234]);
    });

    it('that Azure is still writing are unknown and not written again', async () => {
      azure.on(LIST, { body: { value: [own(NAME, 1000, { provisioningState: 'Updating' })] } });
      expect(await apply(add())).toMatchObject({ result: 'unknown' });
      expect(azure.steps).toEqual(['GET securityRules']);
      expect((await driver.readRules(target())).rules).toMatchObject([
        { ownRuleId: RULE_ID, inForce: false },
      ]);
    });
  });

  it.each([
    [429, 'RetryableError'],
    [409, 'AnotherOperationInProgress'],
  ])('reports a concurrent change of the group (HTTP %i %s) as a conflict', async (status, code) => {
    azure.on(PUT, refusal(status, code));
    expect(await apply(add())).toMatchObject({ result: 'refused', kind: 'conflict' });
  });
});
