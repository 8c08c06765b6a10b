import { EC2Client } from '@aws-sdk/client-ec2';
import { LRUCache } from 'lru-cache';
import type { RuleSpec } from '#rules';
import type { CloudDriver, RuleChange } from '../provider-driver';
import { duringTests, kinds, thrown } from '../scripted-server.testing';
import {
  account,
  add,
  added,
  denied,
  duplicate,
  formOf,
  GROUP,
  groupShown,
  listed,
  listShown,
  MARK,
  notFound,
  refusal,
  remove,
  revoked,
  roleTarget,
  rule,
  RULE_ID,
  ScriptedEndpoint,
  SECRET,
  session,
  target,
} from './aws.driver.testing';
import { accessWith } from './ec2-clients';
import { SdkSettings } from './sdk-settings';
import { SecurityGroup } from './security-group';

describe('AWS driver', () => {
  const endpoint = duringTests(new ScriptedEndpoint());
  let driver: CloudDriver;

  beforeEach(() => {
    driver = endpoint.newDriver();
  });

  describe('credentials', () => {
    it.each([
      ['no secret', { secretAccessKey: '' }, 'secretAccessKey'],
      ['no key id', { accessKeyId: '' }, 'accessKeyId'],
    ])('refuses a credential with %s and uses no other', async (_, data, field) => {
      const error = await thrown(driver.readRules(target(data)));
      expect(error).toMatchObject({ kind: 'denied', message: `The credential has no ${field}` });
      expect((await thrown(driver.applyChanges(target(data), [add('203.0.113.1/32')]))).kind).toBe('denied');
      expect(endpoint.calls).toEqual([]);
    });

    it.each([null, '', 'eu-west-1.example.com/', 'localhost'])('refuses the region %p', async (region) => {
      expect((await thrown(driver.readRules({ ...target(), region }))).kind).toBe('invalid');
    });

    it('refuses other resource types and credential types', async () => {
      expect((await thrown(driver.readRules({ ...target(), resourceType: 'ROUTE' }))).kind).toBe('invalid');
      const credential = { ...target().credential, credentialType: 'TOKEN' };
      expect((await thrown(driver.readRules({ ...target(), credential }))).kind).toBe('denied');
    });

    it('masks secrets in messages, because AWS quotes the signed headers', async () => {
      const quoted = `The Canonical String should have been 'x-amz-security-token:tenant-session-token' ${SECRET}`;
      endpoint.reply(refusal(403, 'SignatureDoesNotMatch', quoted));
      const { kind, message } = await thrown(
        driver.readRules(target({ sessionToken: 'tenant-session-token' })),
      );
      expect(kind).toBe('denied');
      expect(message).toContain('x-amz-security-token:[secret]');
      expect(message).not.toContain(SECRET);
    });
  });

  describe('reading rules', () => {
    it('continues after an empty page with a next token', async () => {
      endpoint.reply(listed([], 'more'), listed([rule('sgr-2', '203.0.113.2/32', '')]));
      expect((await driver.readRules(target())).rules.map(({ providerRuleId }) => providerRuleId)).toEqual([
        'sgr-2',
      ]);
    });

    it('fails when a page token repeats', async () => {
      endpoint.respond = (_, response) => response.end(listed([], 'same'));
      expect((await thrown(driver.readRules(target()))).kind).toBe('transient');
      expect(endpoint.calls).toHaveLength(2);
    });

    it.each([
      [59, []],
      [60, [expect.stringContaining('60 inbound IPv4 rules: the group is full')]],
    ])('says at its verification that a group with %i rules is full', async (count, warnings) => {
      const rules = Array.from({ length: count }, (_, host) => rule(`sgr-${host}`, `203.0.113.${host}/32`));
      const isAllowed = refusal(412, 'DryRunOperation');
      endpoint.reply(groupShown, listed(rules), isAllowed, isAllowed);
      expect(await driver.verify(target(), {})).toEqual({ warnings });
    });

    it('counts as the quotas do: groups once for both IP versions, prefix lists as many as they may have', async () => {
      const from = (id: string, source: string): string =>
        rule(id, '').replace(/<cidrIpv4>.*<.cidrIpv4>/, source);
      const rules = [
        rule('sgr-1', '203.0.113.1/32'),
        from('sgr-2', '<cidrIpv6>2001:db8::1/128</cidrIpv6>'),
        from('sgr-3', '<referencedGroupInfo><groupId>sg-1</groupId></referencedGroupInfo>'),
        from('sgr-4', '<prefixListId>pl-1</prefixListId>'),
        from('sgr-5', '<prefixListId>pl-1</prefixListId>'),
        from('sgr-6', '<cidrIpv4>0.0.0.0/0</cidrIpv4>').replace('>false<', '>true<'),
      ];
      const size = { limit: 60, limitFrom: 'DEFAULT' };
      endpoint.reply(listed(rules), listShown(20), listed(rules));
      const known = [
        { family: 4, used: 42, ...size },
        { family: 6, used: 2, ...size },
      ];
      expect((await driver.readRules(target())).room).toEqual(known);
      expect((await driver.readRules(target())).room).toEqual(known);
      expect(endpoint.actions.filter((action) => action.includes('PrefixLists'))).toHaveLength(1);
      endpoint.reply(listed(rules), refusal(403, 'UnauthorizedOperation'));
      expect((await endpoint.newDriver().readRules(target())).room).toEqual([
        { family: 4, used: 2, ...size, isAtLeast: true },
        { family: 6, used: 2, ...size, isAtLeast: true },
      ]);
    });

    it('checks that the group exists when the list is empty', async () => {
      endpoint.reply(listed([]), groupShown, listed([]), refusal(400, 'InvalidGroup.NotFound'));
      expect((await driver.readRules(target())).rules).toEqual([]);
      expect((await thrown(driver.readRules(target()))).kind).toBe('target-missing');
    });

    it.each([
      ['an empty response', ''],
      ['a rule without an id', listed(['<item><isEgress>false</isEgress></item>'])],
    ])('never treats %s as an empty list', async (_, body) => {
      endpoint.reply(body);
      expect((await thrown(driver.readRules(target()))).kind).toBe('transient');
      endpoint.reply(body);
      expect((await thrown(driver.verify(target(), {}))).kind).toBe('transient');
    });
  });

  describe('assumed roles', () => {
    it('assumes the role once, with the external id and the deployment’s keys', async () => {
      endpoint.respond = account(() => session(3600));
      await Promise.all([driver.readRules(roleTarget()), driver.readRules(roleTarget())]);
      await driver.readRules(roleTarget());
      const [first, ...rest] = endpoint.calls;
      expect(first?.path).toBe('/sts/');
      expect(Object.fromEntries(formOf(first!))).toMatchObject({
        Action: 'AssumeRole',
        RoleArn: 'arn:aws:iam::123456789012:role/doors',
        RoleSessionName: 'drawbridge',
        ExternalId: 'external-id',
      });
      expect(first?.headers.authorization).toContain('Credential=AKIADEPLOYMENT/');
      expect(rest.map(({ headers }) => headers['x-amz-security-token'])).toEqual(
        rest.map(() => 'role-session-token'),
      );
      expect(rest.map((call) => formOf(call).get('Action'))).toEqual(
        rest.map(() => 'DescribeSecurityGroupRules'),
      );
    });

    it('assumes the role again five minutes before the session expires, for another external id, and after a denial', async () => {
      endpoint.respond = account(() => session(299));
      await driver.readRules(roleTarget());
      await driver.readRules(roleTarget());
      expect(endpoint.actions.filter((action) => action === 'AssumeRole')).toHaveLength(2);
      endpoint.respond = account(() => session(3600));
      await driver.readRules(roleTarget());
      await driver.readRules(roleTarget('another'));
      expect(endpoint.actions.filter((action) => action === 'AssumeRole')).toHaveLength(4);
      endpoint.reply(refusal(403, 'UnauthorizedOperation'));
      await thrown(driver.readRules(roleTarget()));
      endpoint.reply(session(3600), refusal(403, 'UnauthorizedOperation'));
      expect(kinds(await driver.applyChanges(roleTarget(), [remove('sgr-1')]))).toEqual(['denied']);
      endpoint.respond = account(() => session(3600));
      await driver.readRules(roleTarget());
      expect(endpoint.actions.filter((action) => action === 'AssumeRole')).toHaveLength(6);
    });

    it('does not cache a refused AssumeRole', async () => {
      endpoint.respond = account(() => denied);
      const error = await thrown(driver.readRules(roleTarget()));
      expect(error).toMatchObject({ kind: 'denied', message: 'AccessDenied: not you' });
      endpoint.respond = account(() => session(3600));
      expect((await driver.readRules(roleTarget())).rules).toHaveLength(1);
    });

    it('verify accepts a role that requires the external id and refuses one that does not', async () => {
      endpoint.respond = account((form) =>
        form.get('ExternalId') === 'external-id' ? session(3600) : denied,
      );
      await driver.verify(roleTarget(), {});
      endpoint.respond = account(() => session(3600));
      const error = await thrown(driver.verify(roleTarget(), {}));
      expect(error.kind).toBe('denied');
      expect(error.message).toContain('sts:ExternalId');
      expect((await thrown(driver.readRules(roleTarget(null)))).kind).toBe('denied');
    });

    it('checkCredential assumes the role without the cache and refuses one without external id', async () => {
      endpoint.respond = account((form) =>
        form.get('ExternalId') === 'external-id' ? session(3600) : denied,
      );
      const { credential } = roleTarget();
      await driver.checkCredential(credential);
      await driver.checkCredential(credential);
      expect(endpoint.calls.map((call) => formOf(call).get('ExternalId'))).toEqual([
        'external-id',
        null,
        'external-id',
        null,
      ]);
      endpoint.respond = account(() => session(3600));
      expect((await thrown(driver.checkCredential(credential))).message).toContain('sts:ExternalId');
      endpoint.respond = account(() => denied);
      expect(await thrown(driver.checkCredential(credential))).toMatchObject({
        kind: 'denied',
        message: 'AccessDenied: not you',
      });
    });

    it.each([
      ['arn:aws:iam::123456789012:role/doors', 'us-east-1'],
      ['arn:aws-us-gov:iam::123456789012:role/doors', 'us-gov-west-1'],
      ['arn:aws-cn:iam::123456789012:role/doors', 'cn-north-1'],
      ['arn:aws-eusc:iam::123456789012:role/doors', 'eusc-de-east-1'],
      ['arn:aws-iso:iam::123456789012:role/doors', 'us-iso-east-1'],
      ['arn:aws-iso-b:iam::123456789012:role/doors', 'us-isob-east-1'],
      ['arn:aws-iso-e:iam::123456789012:role/doors', 'eu-isoe-west-1'],
      ['arn:aws-iso-f:iam::123456789012:role/doors', 'us-isof-south-1'],
    ])('checks %s in region %s', async (roleArn, region) => {
      endpoint.respond = account((form) => (form.has('ExternalId') ? session(3600) : denied));
      await driver.checkCredential({ ...roleTarget().credential, data: { roleArn } });
      expect(endpoint.calls[0]?.headers.authorization).toContain(`/${region}/sts/`);
    });

    it('uses the write budget of the role or key, per region', () => {
      expect(driver.accountKey(target())).toMatch(/^AWS:AKIATENANT:eu-west-1:/);
      expect(driver.accountKey(roleTarget())).toBe('AWS:123456789012:eu-west-1');
      const unproven = { ...roleTarget(), unprovenPath: 'credential' };
      expect(driver.accountKey(unproven)).toBe('AWS:123456789012:eu-west-1:credential');
    });
  });

  describe('writing rules', () => {
    const apply = async (...changes: RuleChange[]): Promise<string[]> =>
      kinds(await driver.applyChanges(target(), changes));

    it('reports unknown for a rule that is missing in the response', async () => {
      endpoint.reply(added(rule('sgr-2', '203.0.113.2/32')));
      const changes = [add('203.0.113.1/32'), add('203.0.113.2/32')];
      expect(await apply(...changes)).toEqual(['unknown', 'done']);
    });

    it('reports unknown when the response is empty', async () => {
      endpoint.reply('', '');
      expect(await apply(add('203.0.113.1/32'))).toEqual(['unknown']);
      expect(await apply(remove('sgr-1'))).toEqual(['unknown']);
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
      expect(await apply(...changes)).toEqual(['done', 'done', 'throttled', 'throttled']);
      endpoint.reply(malformed, refusal(503, 'RequestLimitExceeded'));
      expect(await apply(...changes)).toEqual(changes.map(() => 'throttled'));
    });

    it('stops when the list cannot be read after a refusal', async () => {
      endpoint.reply(duplicate, refusal(503, 'RequestLimitExceeded'));
      expect(await apply(add('203.0.113.1/32'), add('203.0.113.2/32'))).toEqual(['throttled', 'throttled']);
      endpoint.reply(notFound, refusal(500, 'InternalError'));
      expect(await apply(remove('sgr-1'), add('203.0.113.1/32'))).toEqual(['transient', 'transient']);
    });

    it('reports a missing rule as removed only when the list confirms it', async () => {
      endpoint.reply(notFound, listed([rule('sgr-1', '203.0.113.1/32')]), notFound);
      expect(await apply(remove('sgr-1'), remove('sgr-2'))).toEqual(['conflict', 'done']);
    });

    it('removes the other rules when one id is malformed', async () => {
      const malformed = refusal(400, 'InvalidSecurityGroupRuleId.Malformed');
      endpoint.reply(malformed, revoked, malformed, malformed, revoked);
      const changes = ['sgr-1', 'sgr-2', 'rubbish', 'sgr-4'].map(remove);
      expect(await apply(...changes)).toEqual(['done', 'done', 'invalid', 'done']);
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
});
