import { createHmac, randomUUID } from 'node:crypto';
import { ForbiddenException, UnauthorizedException } from '@nestjs/common';
import { tokenKeyOf } from './token-keys';
import {
  secret,
  previous,
  user,
  directory,
  tokens,
  workloadTokens,
  call,
  routes,
  signIn,
  bearer,
  registerStrategy,
  resetDirectory,
} from './access.guard.testing';

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/* eslint-disable typescript/unbound-method -- handlers are only looked up, never called */
describe('AccessGuard', () => {
  beforeAll(registerStrategy);
  beforeEach(resetDirectory);

  it('denies a route without a policy, even to a signed-in admin', async () => {
    directory.user = { ...user, isOrgAdmin: true };
    await expect(call(routes.forgotten, await bearer())).rejects.toThrow(ForbiddenException);
  });

  it('takes the scheme of a credential in any case', async () => {
    const writer = call(routes.start, { authorization: 'APIKEY  dbk_writer ' });
    await expect(writer).resolves.toMatchObject({ principal: { kind: 'key' } });
  });

  it('prefers what Authorization has to a key, even when it is invalid', async () => {
    const both = { ...(await bearer()), 'x-api-key': 'dbk_unknown' };
    await expect(call(routes.start, both)).resolves.toMatchObject({ principal: { kind: 'user' } });
    for (const authorization of ['Bearer bad', 'Session dbs_gone'])
      await expect(call(routes.renew, { authorization, 'x-api-key': 'dbk_writer' })).rejects.toThrow(
        UnauthorizedException,
      );
    expect(directory.asked).toEqual(['hash of dbs_gone']);
  });

  it('takes the token of a session for it, in any notation of its id', async () => {
    const sessionId = randomUUID();
    directory.sessions.set('hash of dbs_known', { ...user, kind: 'session', sessionId });
    const renewed = call(routes.renew, { authorization: 'Session dbs_known' }, sessionId.toUpperCase());
    await expect(renewed).resolves.toMatchObject({ principal: { sessionId } });
  });

  it.each([{ trustId: 'x' }, { trustId: undefined }, { revision: undefined }, { revision: 1.5 }])(
    'refuses the access token of a CI job with %j',
    async (changes) => {
      const { userId, organizationId } = user;
      const claims = { userId, organizationId, trustId: directory.trustId, revision: 1 };
      const started = async (given: typeof claims): Promise<unknown> =>
        call(routes.start, {
          authorization: `Bearer ${(await workloadTokens.issue(given)).accessToken}`,
        });
      await expect(started(claims)).resolves.toBeDefined();
      await expect(started({ ...claims, ...changes } as typeof claims)).rejects.toThrow(
        UnauthorizedException,
      );
    },
  );

  describe('with forged tokens', () => {
    const now = Math.floor(Date.now() / 1000);
    const good = {
      typ: 'access',
      sub: user.userId,
      org: user.organizationId,
      sid: signIn.id,
      iss: 'drawbridge',
      aud: 'drawbridge-api',
      iat: now,
      exp: now + 900,
    };
    const forge = (header: object, payload: object, key = secret, digest = 'sha256'): string => {
      const text = `${encode(header)}.${encode(payload)}`;
      return `${text}.${createHmac(digest, key).update(text).digest('base64url')}`;
    };
    const hs256 = { alg: 'HS256', typ: 'JWT' };

    it('accepts a well-formed one', async () => {
      await expect(
        call(routes.members, { authorization: `bearer ${forge(hs256, good)}` }),
      ).resolves.toBeDefined();
    });

    it.each([
      ['nothing', ''],
      ['no token', 'abc'],
      ['another key', forge(hs256, good, 'another secret of 32 characters!')],
      ['alg none', `${encode({ alg: 'none' })}.${encode(good)}.`],
      ['another algorithm', forge({ alg: 'HS512' }, good, secret, 'sha512')],
      ['another type', forge(hs256, { ...good, typ: 'mfa-challenge' })],
      ['no type', forge(hs256, { ...good, typ: undefined })],
      ['no sign-in', forge(hs256, { ...good, sid: undefined })],
      ['another issuer', forge(hs256, { ...good, iss: 'elsewhere' })],
      ['another audience', forge(hs256, { ...good, aud: 'elsewhere' })],
      ['no expiry', forge(hs256, { ...good, exp: undefined })],
      ['an expiry that is not a number', forge(hs256, { ...good, exp: '2100-01-01' })],
      ['a critical extension', forge({ ...hs256, crit: ['b64'], b64: true }, good)],
      ['an unknown key', forge({ ...hs256, kid: 'elsewhere' }, good)],
      ['another known key than it names', forge({ ...hs256, kid: tokenKeyOf(previous).id }, good)],
      ['the previous key without its id', forge(hs256, good, previous)],
      ['an expiry in the past', forge(hs256, { ...good, exp: now - 1 })],
      ['no user', forge(hs256, { ...good, sub: undefined })],
      ['a user that is not an id', forge(hs256, { ...good, sub: "' OR 1=1" })],
    ])('rejects %s', async (_, token) => {
      await expect(call(routes.members, { authorization: `Bearer ${token}` })).rejects.toThrow(
        UnauthorizedException,
      );
      await expect(tokens.verify(token)).resolves.not.toEqual(
        expect.objectContaining({ userId: user.userId, organizationId: user.organizationId }),
      );
    });
  });
});
