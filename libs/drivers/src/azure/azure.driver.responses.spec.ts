import type { ChangeResult } from '#rules';
import type { CloudDriver, RuleChange } from '../provider-driver';
import { thrown, type Reply } from '../scripted-server.testing';
import {
  SECRET,
  ID,
  NAME,
  target,
  add,
  remove,
  rule,
  own,
  LIST,
  PUT,
  DELETE,
  operationHeaders,
  AzureFixture,
} from './azure.driver.testing';

describe('Azure driver: untrusted responses', () => {
  const fixture = new AzureFixture();
  const { azure, elsewhere } = fixture;
  let driver: CloudDriver;

  beforeEach(() => {
    driver = fixture.newDriver();
  });

  /** @returns the result of the first change */
  const apply = async (...changes: RuleChange[]): Promise<ChangeResult> =>
    (await driver.applyChanges(target(), changes))[0]!;

  describe('URLs of other hosts', () => {
    it('are not called for a next page', async () => {
      azure.on(LIST, { body: { value: [], nextLink: `${elsewhere.url}${ID}/securityRules` } });
      expect(await thrown(driver.readRules(target()))).toMatchObject({ kind: 'transient' });
      expect(elsewhere.calls).toEqual([]);
    });

    it('are not called for an operation', async () => {
      azure.on(PUT, { status: 201, body: own(NAME, 1000), headers: operationHeaders('one', elsewhere) });
      expect(await apply(add())).toMatchObject({ result: 'unknown' });
      expect(elsewhere.calls).toEqual([]);
    });

    it.each([LIST, 'POST v2.0/token'])('are not called after a redirect of %s', async (call) => {
      azure.on(call, { status: 307, headers: { location: `${elsewhere.url}/` } });
      expect(await thrown(driver.readRules(target()))).toMatchObject({ kind: 'transient' });
      expect(elsewhere.calls).toEqual([]);
    });
  });

  describe('rule lists', () => {
    it('are read to the last page', async () => {
      const nextLink = `${azure.url}${ID}/securityRules?api-version=1&$skiptoken=2`;
      azure.on(LIST, { body: { value: [rule('a', 100)], nextLink } }, { body: { value: [rule('b', 101)] } });
      expect((await driver.readRules(target())).rules.map(({ providerRuleId }) => providerRuleId)).toEqual([
        'a',
        'b',
      ]);
    });

    it('with a repeated page link are an unexpected response', async () => {
      azure.on(LIST, { body: { value: [], nextLink: `${azure.url}${ID}/securityRules` } });
      expect(await thrown(driver.readRules(target()))).toMatchObject({ kind: 'transient' });
    });
  });

  const malformed: [string, Reply][] = [
    ['a value that is not a list', { body: { value: 'nothing' } }],
    ['rules without names', { body: { value: [{ properties: {} }] } }],
    ['an empty response', {}],
  ];
  it.each(malformed)('treats %s as transient for a read and unknown for a write', async (_, reply) => {
    azure.on(LIST, reply);
    expect(await thrown(driver.readRules(target()))).toMatchObject({ kind: 'transient' });
    azure.on(LIST, { body: { value: [] } }).on(PUT, reply);
    expect(await apply(add())).toMatchObject({ result: 'unknown' });
  });

  it.each(malformed.filter(([name]) => name !== 'an empty response'))(
    'does not treat %s as confirmation of a removal',
    async (_, reply) => {
      azure.on(DELETE, reply);
      expect(await apply(remove(NAME))).toMatchObject({ result: 'unknown' });
    },
  );

  it('reports a transient failure when the connection is refused', async () => {
    await azure.close();
    expect(await thrown(driver.readRules(target()))).toMatchObject({ kind: 'transient' });
    await azure.open();
  });

  it('masks a secret that Azure quotes', async () => {
    azure.on('POST v2.0/token', {
      status: 401,
      body: { error: 'invalid_client', error_description: `AADSTS7000215: not ${SECRET}` },
    });
    const { message } = await thrown(driver.checkCredential(target().credential));
    expect(message).toBe('invalid_client: AADSTS7000215: not [secret]');
  });
});
