import type { CloudDriver } from '../provider-driver';
import { createAwsDriver } from './aws.driver';
import { duringTests, kinds, thrown } from '../scripted-server.testing';
import {
  OWN_KEYS,
  ScriptedEndpoint,
  refusal,
  session,
  account,
  denied,
  remove,
  target,
  roleTarget,
  formOf,
} from './aws.driver.testing';

describe('AWS driver: assumed roles', () => {
  const endpoint = duringTests(new ScriptedEndpoint());
  let driver: CloudDriver;

  beforeEach(() => {
    driver = endpoint.newDriver();
  });

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
    endpoint.respond = account((form) => (form.get('ExternalId') === 'external-id' ? session(3600) : denied));
    await driver.verify(roleTarget(), {});
    endpoint.respond = account(() => session(3600));
    const error = await thrown(driver.verify(roleTarget(), {}));
    expect(error.kind).toBe('denied');
    expect(error.message).toContain('sts:ExternalId');
    expect((await thrown(driver.readRules(roleTarget(null)))).kind).toBe('denied');
  });

  it('checkCredential assumes the role without the cache and refuses one without external id', async () => {
    endpoint.respond = account((form) => (form.get('ExternalId') === 'external-id' ? session(3600) : denied));
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

  it('names the missing variables when the deployment has no keys', async () => {
    const without = createAwsDriver({
      AWS_ENDPOINT_URL_STS: endpoint.url,
      AWS_ENDPOINT_URL_EC2: endpoint.url,
    });
    const error = await thrown(without.readRules(roleTarget()));
    expect(error.kind).toBe('denied');
    for (const variable of Object.keys(OWN_KEYS)) expect(error.message).toContain(variable);
    expect(endpoint.calls).toEqual([]);
  });

  it('uses the write budget of the role or key, per region', () => {
    expect(driver.accountKey(target())).toMatch(/^AWS:AKIATENANT:eu-west-1:/);
    expect(driver.accountKey(roleTarget())).toBe('AWS:123456789012:eu-west-1');
    const unproven = { ...roleTarget(), unprovenPath: 'credential' };
    expect(driver.accountKey(unproven)).toBe('AWS:123456789012:eu-west-1:credential');
  });
});
