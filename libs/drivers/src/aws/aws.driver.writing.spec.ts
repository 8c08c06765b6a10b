import { EC2Client } from '@aws-sdk/client-ec2';
import { LRUCache } from 'lru-cache';
import type { RuleSpec } from '#rules';
import type { CloudDriver, RuleChange } from '../provider-driver';
import { accessWith } from './ec2-clients';
import { SdkSettings } from './sdk-settings';
import { SecurityGroup } from './security-group';
import { duringTests, kinds, thrown } from '../scripted-server.testing';
import {
  GROUP,
  RULE_ID,
  SECRET,
  MARK,
  ScriptedEndpoint,
  refusal,
  duplicate,
  notFound,
  rule,
  added,
  listed,
  revoked,
  add,
  remove,
  target,
} from './aws.driver.testing';

describe('AWS driver: writing rules', () => {
  const endpoint = duringTests(new ScriptedEndpoint());
  let driver: CloudDriver;

  beforeEach(() => {
    driver = endpoint.newDriver();
  });

  it('matches the created rules by address and ports', async () => {
    endpoint.reply(added(rule('sgr-2', '203.0.113.2/32'), rule('sgr-1', '203.0.113.1/32')));
    expect(await driver.applyChanges(target(), [add('203.0.113.1/32'), add('203.0.113.2/32')])).toEqual([
      { result: 'done', providerRuleId: 'sgr-1', isNew: true },
      { result: 'done', providerRuleId: 'sgr-2', isNew: true },
    ]);
  });

  it('reports unknown for a rule that is missing in the response', async () => {
    endpoint.reply(added(rule('sgr-2', '203.0.113.2/32')));
    const changes = [add('203.0.113.1/32'), add('203.0.113.2/32')];
    expect(kinds(await driver.applyChanges(target(), changes))).toEqual(['unknown', 'done']);
  });

  it.each([
    ['an HTML page', '<html><body>maintenance</body></html>'],
    ['an empty response', ''],
    ['a truncated response', added(rule('sgr-1', '203.0.113.1/32')).slice(0, -50)],
    ['an error with HTTP 200', refusal(200, 'InvalidParameterValue').body],
  ])('reports unknown when the response is %s', async (_, body) => {
    endpoint.reply(body, body);
    expect(kinds(await driver.applyChanges(target(), [add('203.0.113.1/32')]))).toEqual(['unknown']);
    expect(kinds(await driver.applyChanges(target(), [remove('sgr-1')]))).toEqual(['unknown']);
  });

  it('reports unknown after a broken connection', async () => {
    endpoint.respond = (_, response) => response.destroy();
    expect(kinds(await driver.applyChanges(target(), [add('203.0.113.1/32')]))).toEqual(['unknown']);
  });

  it('reports done for a duplicate rule that the list does not show yet', async () => {
    endpoint.reply(duplicate, listed([rule('sgr-9', '198.51.100.9/32')]), duplicate);
    expect(await driver.applyChanges(target(), [add('203.0.113.1/32')])).toEqual([
      { result: 'done', providerRuleId: null },
    ]);
    expect(endpoint.actions).toEqual(['AuthorizeIngress', 'DescribeRules', 'AuthorizeIngress']);
  });

  it('adds rules one by one when EC2 keeps refusing the batch', async () => {
    endpoint.reply(duplicate, listed([]), duplicate, duplicate, added(rule('sgr-2', '203.0.113.2/32')));
    const changes = [add('203.0.113.1/32'), add('203.0.113.2/32')];
    expect(await driver.applyChanges(target(), changes)).toEqual([
      { result: 'done', providerRuleId: null },
      { result: 'done', providerRuleId: 'sgr-2', isNew: true },
    ]);
  });

  it('stops when EC2 throttles while a batch is bisected', async () => {
    const malformed = refusal(400, 'InvalidParameterValue');
    endpoint.reply(
      malformed,
      added(rule('sgr-1', '203.0.113.1/32'), rule('sgr-2', '203.0.113.2/32')),
      refusal(503, 'RequestLimitExceeded'),
    );
    const changes = [1, 2, 3, 4].map((host) => add(`203.0.113.${host}/32`));
    expect(kinds(await driver.applyChanges(target(), changes))).toEqual([
      'done',
      'done',
      'throttled',
      'throttled',
    ]);
    endpoint.reply(malformed, refusal(503, 'RequestLimitExceeded'));
    expect(kinds(await driver.applyChanges(target(), changes))).toEqual(changes.map(() => 'throttled'));
  });

  it('stops when the list cannot be read after a refusal', async () => {
    endpoint.reply(duplicate, refusal(503, 'RequestLimitExceeded'));
    expect(
      kinds(await driver.applyChanges(target(), [add('203.0.113.1/32'), add('203.0.113.2/32')])),
    ).toEqual(['throttled', 'throttled']);
    endpoint.reply(notFound, refusal(500, 'InternalError'));
    expect(kinds(await driver.applyChanges(target(), [remove('sgr-1'), add('203.0.113.1/32')]))).toEqual([
      'transient',
      'transient',
    ]);
  });

  it('reports a missing rule as removed only when the list confirms it', async () => {
    endpoint.reply(notFound, listed([rule('sgr-1', '203.0.113.1/32')]), notFound);
    expect(kinds(await driver.applyChanges(target(), [remove('sgr-1'), remove('sgr-2')]))).toEqual([
      'conflict',
      'done',
    ]);
  });

  it('removes the other rules when one id is malformed', async () => {
    const malformed = refusal(400, 'InvalidSecurityGroupRuleId.Malformed');
    endpoint.reply(malformed, revoked, malformed, malformed, revoked);
    const changes = ['sgr-1', 'sgr-2', 'rubbish', 'sgr-4'].map(remove);
    expect(kinds(await driver.applyChanges(target(), changes))).toEqual(['done', 'done', 'invalid', 'done']);
  });

  it('refuses a rule with several port ranges, which EC2 would split into several rules', async () => {
    const spec: RuleSpec = {
      address: '203.0.113.1/32',
      protocol: 'tcp',
      ports: [
        { from: 22, to: 22 },
        { from: 80, to: 80 },
      ],
    };
    const changes: RuleChange[] = [{ action: 'add', ruleId: RULE_ID, spec, mark: MARK, config: {} }];
    expect((await thrown(driver.applyChanges(target(), changes))).kind).toBe('invalid');
    expect(endpoint.calls).toEqual([]);
  });

  it('times out when the response does not end', async () => {
    endpoint.respond = (_, response) => {
      response.writeHead(200).write('<AuthorizeSecurityGroupIngressResponse>');
    };
    const settings = new SdkSettings({ AWS_ENDPOINT_URL_EC2: endpoint.url }, 200);
    const keys = { accessKeyId: 'AKIATENANT', secretAccessKey: SECRET };
    const client = new EC2Client(settings.clientConfig('AWS_ENDPOINT_URL_EC2', 'eu-west-1', keys));
    const group = new SecurityGroup(
      GROUP,
      { ...accessWith(client, keys), listSizes: new LRUCache({ max: 1 }) },
      settings,
    );
    expect(await thrown(group.authorize([]))).toMatchObject({ kind: 'transient', settled: false });
  });
});
