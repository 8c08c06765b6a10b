import type { CloudDriver } from '../provider-driver';
import { duringTests, thrown } from '../scripted-server.testing';
import { SECRET, ScriptedEndpoint, refusal, rule, listed, add, target } from './aws.driver.testing';

describe('AWS driver: credentials', () => {
  const endpoint = duringTests(new ScriptedEndpoint());
  let driver: CloudDriver;

  beforeEach(() => {
    driver = endpoint.newDriver();
  });

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

  it('uses a rotated secret immediately', async () => {
    endpoint.respond = (_, response) => response.end(listed([rule('sgr-1', '203.0.113.1/32')]));
    await driver.readRules(target({ sessionToken: 'first' }));
    await driver.readRules(target({ sessionToken: 'second' }));
    expect(endpoint.calls.map(({ headers }) => headers['x-amz-security-token'])).toEqual(['first', 'second']);
  });
});
