import { createHmac, randomUUID } from 'node:crypto';
import { ForbiddenException, UnauthorizedException } from '@nestjs/common';
import { CompanySignInRequired } from './company-sign-in';
import type { Principal } from './principal';
import { tokenKeyOf } from './token-keys';
import {
  secret,
  previous,
  user,
  Routes,
  MfaController,
  WholeController,
  directory,
  tokens,
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

  describe('without a credential', () => {
    it('allows public routes', async () => {
      await expect(call(routes.open)).resolves.toEqual({ headers: {}, method: 'GET' });
      await expect(call(WholeController.prototype.open, {}, WholeController)).resolves.toBeDefined();
    });

    it.each([
      ['a route for members', routes.members],
      ['a route for admins', routes.admins],
      ['a route with a scope', routes.start],
    ])('requires one on %s', async (_, handler) => {
      await expect(call(handler)).rejects.toThrow(UnauthorizedException);
      await expect(call(handler, { authorization: 'Basic YTpi' })).rejects.toThrow(UnauthorizedException);
    });

    it('applies a controller’s policy to its handlers', async () => {
      await expect(call(WholeController.prototype.members, {}, WholeController)).rejects.toThrow(
        UnauthorizedException,
      );
    });
  });

  it('denies a route without a policy, even to a signed-in admin', async () => {
    directory.user = { ...user, isOrgAdmin: true };
    await expect(call(routes.forgotten, await bearer())).rejects.toThrow(ForbiddenException);
  });

  describe('with a bearer token', () => {
    it('allows members and sets the principal', async () => {
      await expect(call(routes.members, await bearer())).resolves.toMatchObject({
        principal: { ...user, signIn },
      });
      await expect(call(routes.start, await bearer())).resolves.toMatchObject({
        principal: { ...user, signIn },
      });
    });

    it('reads the admin right from the database, not from the token', async () => {
      const headers = await bearer();
      await expect(call(routes.admins, headers)).rejects.toThrow(ForbiddenException);
      directory.user = { ...user, isOrgAdmin: true };
      await expect(call(routes.admins, headers)).resolves.toBeDefined();
      directory.user = null;
      await expect(call(routes.members, headers)).rejects.toThrow(UnauthorizedException);
    });

    it('allows nobody whom an identity provider must vouch for, until one does', async () => {
      const headers = await bearer();
      directory.user = { ...user, isOrgAdmin: true, companySignIn: 'missing' };
      for (const closed of [routes.members, routes.admins, routes.setUpMfa])
        await expect(call(closed, headers)).rejects.toThrow(CompanySignInRequired);
      directory.user = { ...directory.user, companySignIn: 'used' };
      await expect(call(routes.admins, headers)).resolves.toBeDefined();
    });

    it('allows a user who must set up MFA only the routes for that', async () => {
      directory.user = { ...user, isOrgAdmin: true };
      const headers = await bearer(true);
      for (const closed of [routes.members, routes.admins, routes.start]) {
        await expect(call(closed, headers)).rejects.toThrow(ForbiddenException);
      }
      await expect(call(routes.open, headers)).resolves.toBeDefined();
      await expect(call(routes.setUpMfa, headers)).resolves.toMatchObject({
        principal: { signIn: { mfaSetupOnly: true } },
      });
      await expect(call(MfaController.prototype.setUp, headers, MfaController)).resolves.toBeDefined();
    });

    it('allows a suspended organization to read, to delete, and to call routes marked for it', async () => {
      directory.user = { ...user, suspended: true };
      const headers = await bearer();
      for (const method of ['GET', 'DELETE'])
        await expect(call(routes.members, headers, Routes, method)).resolves.toBeDefined();
      for (const method of ['POST', 'PUT', 'PATCH']) {
        await expect(call(routes.members, headers, Routes, method)).rejects.toThrow(ForbiddenException);
        await expect(call(routes.close, headers, Routes, method)).resolves.toBeDefined();
      }
    });

    it('allows a user who is locked down, and its keys, to read and to call routes marked for it', async () => {
      const lockdown = {
        reason: 'INC-12',
        declaredBy: 'bob@example.com',
        declaredAt: 'now',
        staticRules: false,
      };
      const lockedDown: Principal = { ...user, isOrgAdmin: true, lockdown: { ...lockdown, scope: 'USER' } };
      const key: Principal = { ...lockedDown, kind: 'key', scopes: ['sessions:write'] };
      directory.user = lockedDown;
      directory.keys.set('hash of dbk_writer', key);
      for (const headers of [await bearer(), { 'x-api-key': 'dbk_writer' }]) {
        await expect(call(routes.start, headers)).resolves.toBeDefined();
        for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
          await expect(call(routes.start, headers, Routes, method)).rejects.toThrow('You are locked down');
          await expect(call(routes.stop, headers, Routes, method)).resolves.toBeDefined();
        }
      }
      await expect(call(routes.admins, await bearer(), Routes, 'DELETE')).rejects.toThrow('bob@example.com');
      directory.user = { ...lockedDown, lockdown: { ...lockdown, scope: 'ORGANIZATION' } };
      await expect(call(routes.admins, await bearer(), Routes, 'POST')).resolves.toBeDefined();
    });

    it('prefers the token to a key, even when the token is invalid', async () => {
      const both = { ...(await bearer()), 'x-api-key': 'dbk_unknown' };
      await expect(call(routes.start, both)).resolves.toMatchObject({ principal: { kind: 'user' } });
      const bad = { authorization: 'Bearer bad', 'x-api-key': 'dbk_writer' };
      await expect(call(routes.start, bad)).rejects.toThrow(UnauthorizedException);
      expect(directory.asked).toEqual([]);
    });

    it.each([
      ['SUPER_ADMIN', true, true],
      ['SUPPORT', true, false],
      ['CUSTOMER', false, false],
    ] as const)('%s may read platform routes: %p, may write: %p', async (platformRole, reads, writes) => {
      directory.user = { ...user, isOrgAdmin: true, platformRole };
      const attempt = async (handler: () => void): Promise<boolean> =>
        call(handler, await bearer()).then(
          () => true,
          (error: unknown) => {
            expect(error).toBeInstanceOf(ForbiddenException);
            return false;
          },
        );
      await expect(attempt(routes.survey)).resolves.toBe(reads);
      await expect(attempt(routes.suspend)).resolves.toBe(writes);
    });

    it('names the right header when an API key is sent as a bearer token', async () => {
      await expect(call(routes.start, { authorization: 'Bearer dbk_writer' })).rejects.toThrow('X-API-Key');
      expect(directory.asked).toEqual([]);
    });

    it('rethrows an error of the look-up', async () => {
      const broken = vi.spyOn(directory, 'ofUser').mockRejectedValueOnce(new Error('connection lost'));
      await expect(call(routes.members, await bearer())).rejects.toThrow('connection lost');
      broken.mockRestore();
    });
  });

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

    it('accepts one that names the current or the previous key', async () => {
      for (const key of [secret, previous]) {
        const token = forge({ ...hs256, kid: tokenKeyOf(key).id }, good, key);
        const authorization = `Bearer ${token}`;
        await expect(call(routes.members, { authorization })).resolves.toBeDefined();
        await expect(tokens.verify(token)).resolves.toMatchObject({ userId: user.userId });
      }
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
      ['another organization', forge(hs256, { ...good, org: randomUUID() })],
      [
        'a payload changed afterwards',
        forge(hs256, good).replace(/\.[^.]+\./, `.${encode({ ...good, x: 1 })}.`),
      ],
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
