import type { CloudDriver } from '../provider-driver';
import { thrown, type Reply, type ScriptedApi } from '../scripted-server.testing';
import { SECRET, target, refusal, LIST, AzureFixture } from './azure.driver.testing';

describe('Azure driver: tokens and permissions', () => {
  const fixture = new AzureFixture();
  const { azure } = fixture;
  let driver: CloudDriver;

  beforeEach(() => {
    driver = fixture.newDriver();
  });

  describe('tokens', () => {
    const tokenRequests = (): number => azure.calls.filter(({ path }) => path.endsWith('/token')).length;

    it('are requested once and sent in the header of each call', async () => {
      await Promise.all([driver.readRules(target()), driver.readRules(target())]);
      await driver.readRules(target());
      expect(tokenRequests()).toBe(1);
      const [, call] = azure.calls;
      expect(call!.headers.authorization).toBe('Bearer a-token');
      expect(Object.keys(call!.headers).filter((name) => name.startsWith('x-drawbridge'))).toEqual([]);
    });

    it('are requested with the fields of the credential only', async () => {
      await driver.readRules(target());
      expect(azure.calls[0]!.path).toBe('/00000000-0000-4000-8000-000000000002/oauth2/v2.0/token');
      expect(Object.fromEntries(new URLSearchParams(azure.calls[0]!.body))).toEqual({
        grant_type: 'client_credentials',
        client_id: '00000000-0000-4000-8000-000000000003',
        client_secret: SECRET,
        scope: `${azure.url}/.default`,
      });
    });

    it('are cached by secret', async () => {
      await driver.readRules(target());
      await driver.readRules(target('another'));
      expect(tokenRequests()).toBe(2);
    });

    it.each([
      ['expired', refusal(401, 'ExpiredAuthenticationToken'), 'transient'],
      ['refused', refusal(403, 'AuthorizationFailed'), 'denied'],
    ])('that are %s are requested again by the next call', async (_, reply, kind) => {
      azure.on(LIST, reply, { body: { value: [] } });
      expect(await thrown(driver.readRules(target()))).toMatchObject({ kind });
      expect((await driver.readRules(target())).rules).toEqual([]);
      expect(tokenRequests()).toBe(2);
    });

    it.each([
      ['no token', {}],
      ['no lifetime', { access_token: 'x' }],
      ['a line break', { access_token: 'x\r\ny: z', expires_in: 3599 }],
    ])('are not accepted with %s', async (_, body) => {
      azure.on('POST v2.0/token', { body });
      expect(await thrown(driver.readRules(target()))).toMatchObject({ kind: 'transient' });
    });
  });

  describe('verify', () => {
    const permissions = (reply: Reply): ScriptedApi =>
      azure
        .on('GET networkSecurityGroups/nsg', { body: { name: 'nsg' } })
        .on('GET Microsoft.Authorization/permissions', reply);

    it('succeeds with a role that grants rule changes', async () => {
      permissions({ body: { value: [{ actions: ['Microsoft.Network/*'], notActions: [] }] } });
      await driver.verify(target(), {});
      expect(azure.steps).toEqual(['GET nsg', 'GET securityRules', 'GET permissions', 'GET locks']);
    });

    it('is denied with a read-only role and names the missing actions', async () => {
      permissions({ body: { value: [{ actions: ['*/read'], notActions: [] }] } });
      const { kind, message } = await thrown(driver.verify(target(), {}));
      expect(kind).toBe('denied');
      expect(message).toContain(
        'securityRules/write, Microsoft.Network/networkSecurityGroups/securityRules/delete',
      );
    });

    it('is denied when the rules cannot be listed', async () => {
      permissions({ body: { value: [] } }).on(LIST, refusal(403, 'AuthorizationFailed'));
      expect(await thrown(driver.verify(target(), {}))).toMatchObject({ kind: 'denied' });
    });

    it('succeeds when the credential may not list its permissions', async () => {
      permissions(refusal(403, 'AuthorizationFailed'));
      await driver.verify(target(), {});
      expect(azure.steps).toEqual(['GET nsg', 'GET securityRules', 'GET permissions', 'GET locks']);
    });
  });
});
