import type { CloudDriver } from '../provider-driver';
import { thrown } from '../scripted-server.testing';
import { TOKEN, target, refusal, READ, VercelFixture } from './vercel.driver.testing';

describe('Vercel driver: credentials and targets', () => {
  const fixture = new VercelFixture();
  const { vercel } = fixture;
  let driver: CloudDriver;

  beforeEach(() => {
    driver = fixture.newDriver();
  });

  describe('credentials', () => {
    it('are valid when Vercel returns their owner and team', async () => {
      vercel.on('GET user', { body: { user: { id: 'u' } } }).on('GET team_one', { body: { id: 'team_one' } });
      await driver.checkCredential(target({ teamId: 'team_one' }).credential);
      expect(vercel.steps).toEqual(['GET user', 'GET team_one']);
    });

    it.each([
      ['the user request is refused', refusal(403, 'forbidden'), { body: {} }],
      ['the team request is refused', { body: { user: {} } }, refusal(403, 'forbidden')],
      ['the team does not exist', { body: { user: {} } }, refusal(404, 'not_found')],
    ])('are denied when %s', async (_, user, team) => {
      vercel.on('GET user', user).on('GET team_one', team);
      const { credential } = target({ teamId: 'team_one' });
      expect((await thrown(driver.checkCredential(credential))).kind).toBe('denied');
    });

    it('get no verdict from a malformed response', async () => {
      vercel.on('GET user', { body: { name: 'somebody' } });
      expect((await thrown(driver.checkCredential(target().credential))).kind).toBe('transient');
    });

    it.each([
      ['another credential type', { credentialType: 'ACCESS_KEY', data: { token: TOKEN } }],
      ['no token', { credentialType: 'TOKEN', data: {} }],
      ['a token with a line break', { credentialType: 'TOKEN', data: { token: 'a\r\nx: y' } }],
      ['a malformed team id', { credentialType: 'TOKEN', data: { token: TOKEN, teamId: '../x' } }],
    ])('with %s are denied without a request', async (_, given) => {
      const credential = { ...given, externalId: null, identity: null };
      expect((await thrown(driver.readRules({ ...target(), credential }))).kind).toBe('denied');
      expect(vercel.calls).toEqual([]);
    });

    it('are masked in messages that quote them', async () => {
      vercel.on(READ, refusal(403, 'forbidden', `The token ${TOKEN} is wrong`));
      expect((await thrown(driver.readRules(target()))).message).toBe(
        'forbidden: The token [secret] is wrong',
      );
    });

    it('of another team have another write budget', () => {
      const one = driver.accountKey(target({ teamId: 'team_one' }));
      expect(driver.accountKey(target({ teamId: 'team_one' }))).toBe(one);
      expect(driver.accountKey(target({ teamId: 'team_two' }))).not.toBe(one);
    });
  });

  it.each([
    ['another resource type', { resourceType: 'ROUTE' }],
    ['an identifier that is not a project', { identifier: '../v2/user' }],
  ])('rejects %s', async (_, changed) => {
    expect((await thrown(driver.readRules({ ...target(), ...changed }))).kind).toBe('invalid');
    expect(vercel.calls).toEqual([]);
  });
});
