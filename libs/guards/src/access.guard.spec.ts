import { createHmac, randomUUID } from 'node:crypto';
import { ForbiddenException, UnauthorizedException } from '@nestjs/common';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { asOrganizationId } from '#rules';
import { AccessGuard } from './access.guard';
import { AccessTokens } from './access-tokens';
import { JwtStrategy } from './jwt.strategy';
import type { GuardSettings } from './guard-settings';
import { PrincipalLookup, type Principal } from './principal';
import { OpenDuringMfaSetup } from './mfa-setup';
import { AdminOnly, KeyOnly, Platform, Public, SignedIn } from './route-policy';
import { ScopeError } from './scope-error';
import { AllowedWhileSuspended } from './suspension';
import { tokenKeyOf } from './token-keys';

const secret = 'a secret of thirty-two characters';
const previous = 'the secret before of thirty-two letters';
const settings: GuardSettings = {
  tokenKeys: [tokenKeyOf(secret), tokenKeyOf(previous)],
  accessTokenTtlSeconds: 900,
  hashApiKey: (text) => (text.startsWith('dbk_') ? `hash of ${text}` : null),
  callerAddressOf: () => '203.0.113.7',
};

const user: Principal = {
  kind: 'user',
  userId: randomUUID(),
  organizationId: asOrganizationId(randomUUID()),
  email: 'ada@example.com',
  name: 'Ada',
  isOrgAdmin: false,
  platformRole: 'CUSTOMER',
  mfaEnabled: false,
  organizationName: 'Example',
  organizationSlug: 'example',
  tier: 'PAID',
  suspended: false,
  keyId: null,
  keyName: null,
  scopes: [],
  signIn: null,
};

class Directory extends PrincipalLookup {
  user: Principal | null = user;
  readonly keys = new Map<string, Principal>();
  readonly asked: string[] = [];

  async ofUser(userId: string, organizationId: string): Promise<Principal | null> {
    const known = this.user?.userId === userId && this.user.organizationId === organizationId;
    return known ? this.user : null;
  }

  async ofApiKey(keyHash: string, callerAddress: string | null): Promise<Principal | null> {
    this.asked.push(`${keyHash} from ${callerAddress}`);
    return this.keys.get(keyHash) ?? null;
  }
}

class Routes {
  @Public() open(): void {}
  @SignedIn() members(): void {}
  @SignedIn() @AllowedWhileSuspended() close(): void {}
  @SignedIn({ scope: 'sessions:write' }) start(): void {}
  @KeyOnly({ scope: 'agent:connect' }) agents(): void {}
  @AdminOnly() admins(): void {}
  @AdminOnly({ scope: 'audit:read' }) audit(): void {}
  @Platform() survey(): void {}
  @Platform({ write: true }) suspend(): void {}
  @SignedIn() @OpenDuringMfaSetup() setUpMfa(): void {}
  forgotten(): void {}
}

@SignedIn()
@OpenDuringMfaSetup()
class MfaController {
  setUp(): void {}
}

@SignedIn()
class WholeController {
  members(): void {}
  @Public() open(): void {}
}

type Headers = Record<string, string>;

const directory = new Directory();
const tokens = new AccessTokens(settings);
const guard = new AccessGuard(settings, directory);

const knock = async (
  handler: () => void,
  headers: Headers = {},
  controller: new () => object = Routes,
  method = 'GET',
): Promise<{ principal?: Principal }> => {
  const request: { headers: Headers; method: string; principal?: Principal } = { headers, method };
  await guard.canActivate(new ExecutionContextHost([request, {}], controller, handler));
  return request;
};
const routes = Routes.prototype;
const signIn = { id: randomUUID(), mfaSetupOnly: false };
const bearer = async (mfaSetupOnly = false): Promise<Headers> => ({
  authorization: `Bearer ${(await tokens.issue(user, { ...signIn, mfaSetupOnly })).accessToken}`,
});

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/* eslint-disable typescript/unbound-method -- handlers are only looked up, never called */
describe('AccessGuard', () => {
  // the strategy registers itself with passport
  beforeAll(() => new JwtStrategy(settings, directory));

  beforeEach(() => {
    directory.user = user;
    directory.asked.length = 0;
    directory.keys.clear();
    directory.keys.set('hash of dbk_writer', { ...user, kind: 'key', scopes: ['sessions:write'] });
    directory.keys.set('hash of dbk_auditor', { ...user, kind: 'key', scopes: ['audit:read'] });
  });

  describe('without a credential', () => {
    it('opens public routes', async () => {
      await expect(knock(routes.open)).resolves.toEqual({ headers: {}, method: 'GET' });
      await expect(knock(WholeController.prototype.open, {}, WholeController)).resolves.toBeDefined();
    });

    it.each([
      ['a route for members', routes.members],
      ['a route for admins', routes.admins],
      ['a route with a scope', routes.start],
    ])('asks for one on %s', async (_, handler) => {
      await expect(knock(handler)).rejects.toThrow(UnauthorizedException);
      await expect(knock(handler, { authorization: 'Basic YTpi' })).rejects.toThrow(UnauthorizedException);
    });

    it('takes a controller’s policy for its handlers', async () => {
      await expect(knock(WholeController.prototype.members, {}, WholeController)).rejects.toThrow(
        UnauthorizedException,
      );
    });
  });

  it('closes a route without a policy, even to a signed-in admin', async () => {
    directory.user = { ...user, isOrgAdmin: true };
    await expect(knock(routes.forgotten, await bearer())).rejects.toThrow(ForbiddenException);
  });

  describe('with a bearer token', () => {
    it('lets members in and tells who they are', async () => {
      await expect(knock(routes.members, await bearer())).resolves.toMatchObject({
        principal: { ...user, signIn },
      });
      await expect(knock(routes.start, await bearer())).resolves.toMatchObject({
        principal: { ...user, signIn },
      });
    });

    it('reads the right to administer from the directory, not from the token', async () => {
      const headers = await bearer();
      await expect(knock(routes.admins, headers)).rejects.toThrow(ForbiddenException);
      directory.user = { ...user, isOrgAdmin: true };
      await expect(knock(routes.admins, headers)).resolves.toBeDefined();
      directory.user = null;
      await expect(knock(routes.members, headers)).rejects.toThrow(UnauthorizedException);
    });

    it('lets who has to set up MFA first reach only what serves that', async () => {
      directory.user = { ...user, isOrgAdmin: true };
      const headers = await bearer(true);
      for (const closed of [routes.members, routes.admins, routes.start]) {
        await expect(knock(closed, headers)).rejects.toThrow(ForbiddenException);
      }
      await expect(knock(routes.open, headers)).resolves.toBeDefined();
      await expect(knock(routes.setUpMfa, headers)).resolves.toMatchObject({
        principal: { signIn: { mfaSetupOnly: true } },
      });
      await expect(knock(MfaController.prototype.setUp, headers, MfaController)).resolves.toBeDefined();
    });

    it('lets a suspended organization read and delete, and change only what says so', async () => {
      directory.user = { ...user, suspended: true };
      const headers = await bearer();
      for (const method of ['GET', 'DELETE'])
        await expect(knock(routes.members, headers, Routes, method)).resolves.toBeDefined();
      for (const method of ['POST', 'PUT', 'PATCH']) {
        await expect(knock(routes.members, headers, Routes, method)).rejects.toThrow(ForbiddenException);
        await expect(knock(routes.close, headers, Routes, method)).resolves.toBeDefined();
      }
    });

    it('prefers the token to a key, also when the token is bad', async () => {
      const both = { ...(await bearer()), 'x-api-key': 'dbk_unknown' };
      await expect(knock(routes.start, both)).resolves.toMatchObject({ principal: { kind: 'user' } });
      const bad = { authorization: 'Bearer bad', 'x-api-key': 'dbk_writer' };
      await expect(knock(routes.start, bad)).rejects.toThrow(UnauthorizedException);
      expect(directory.asked).toEqual([]);
    });

    it.each([
      ['SUPER_ADMIN', true, true],
      ['SUPPORT', true, false],
      ['CUSTOMER', false, false],
    ] as const)('lets %s read the platform: %p, and change it: %p', async (platformRole, reads, writes) => {
      directory.user = { ...user, isOrgAdmin: true, platformRole };
      const attempt = async (handler: () => void): Promise<boolean> =>
        knock(handler, await bearer()).then(
          () => true,
          (error: unknown) => {
            expect(error).toBeInstanceOf(ForbiddenException);
            return false;
          },
        );
      await expect(attempt(routes.survey)).resolves.toBe(reads);
      await expect(attempt(routes.suspend)).resolves.toBe(writes);
    });

    it('tells who sends a key as one which header it belongs in', async () => {
      await expect(knock(routes.start, { authorization: 'Bearer dbk_writer' })).rejects.toThrow('X-API-Key');
      expect(directory.asked).toEqual([]);
    });

    it('passes a broken look-up on as what it is', async () => {
      const broken = jest.spyOn(directory, 'ofUser').mockRejectedValueOnce(new Error('connection lost'));
      await expect(knock(routes.members, await bearer())).rejects.toThrow('connection lost');
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

    it('would accept a well-made one', async () => {
      await expect(
        knock(routes.members, { authorization: `bearer ${forge(hs256, good)}` }),
      ).resolves.toBeDefined();
    });

    it('would accept one that names a key of ours, the one before too', async () => {
      for (const key of [secret, previous]) {
        const token = forge({ ...hs256, kid: tokenKeyOf(key).id }, good, key);
        const authorization = `Bearer ${token}`;
        await expect(knock(routes.members, { authorization })).resolves.toBeDefined();
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
      ['no end', forge(hs256, { ...good, exp: undefined })],
      ['an end that is no number', forge(hs256, { ...good, exp: '2100-01-01' })],
      ['an extension that must be understood', forge({ ...hs256, crit: ['b64'], b64: true }, good)],
      ['a key that is not ours', forge({ ...hs256, kid: 'elsewhere' }, good)],
      ['another key of ours than it names', forge({ ...hs256, kid: tokenKeyOf(previous).id }, good)],
      ['the key before without its name', forge(hs256, good, previous)],
      ['an end in the past', forge(hs256, { ...good, exp: now - 1 })],
      ['no user', forge(hs256, { ...good, sub: undefined })],
      ['a user that is no id', forge(hs256, { ...good, sub: "' OR 1=1" })],
      ['another organization', forge(hs256, { ...good, org: randomUUID() })],
      [
        'a payload changed afterwards',
        forge(hs256, good).replace(/\.[^.]+\./, `.${encode({ ...good, x: 1 })}.`),
      ],
    ])('refuses %s', async (_, token) => {
      await expect(knock(routes.members, { authorization: `Bearer ${token}` })).rejects.toThrow(
        UnauthorizedException,
      );
      await expect(tokens.verify(token)).resolves.not.toEqual(
        expect.objectContaining({ userId: user.userId, organizationId: user.organizationId }),
      );
    });
  });

  describe('with a key', () => {
    it.each([
      ['X-API-Key', { 'x-api-key': 'dbk_writer' }],
      ['Authorization', { authorization: 'ApiKey dbk_writer' }],
      ['Authorization in another case', { authorization: 'APIKEY  dbk_writer ' }],
    ])('takes it from %s and notes the address', async (_, headers: Headers) => {
      await expect(knock(routes.start, headers)).resolves.toMatchObject({ principal: { kind: 'key' } });
      expect(directory.asked).toEqual(['hash of dbk_writer from 203.0.113.7']);
    });

    it('refuses it where no scope is named', async () => {
      await expect(knock(routes.members, { 'x-api-key': 'dbk_writer' })).rejects.toThrow(
        UnauthorizedException,
      );
      await expect(knock(routes.admins, { 'x-api-key': 'dbk_writer' })).rejects.toThrow(
        UnauthorizedException,
      );
      await expect(knock(routes.survey, { 'x-api-key': 'dbk_writer' })).rejects.toThrow(
        UnauthorizedException,
      );
    });

    it('refuses what cannot be a key without asking, and an unknown one after', async () => {
      await expect(knock(routes.start, { 'x-api-key': 'nonsense' })).rejects.toThrow(UnauthorizedException);
      expect(directory.asked).toEqual([]);
      await expect(knock(routes.start, { 'x-api-key': 'dbk_gone' })).rejects.toThrow(UnauthorizedException);
    });

    it('names the missing scope in two fields', async () => {
      const refusal = knock(routes.agents, { 'x-api-key': 'dbk_writer' });
      await expect(refusal).rejects.toThrow(ScopeError);
      await expect(refusal).rejects.toMatchObject({
        status: 403,
        response: {
          error: 'Insufficient permissions',
          message: 'API key does not have required scope: agent:connect',
        },
      });
    });

    it('never exceeds its user', async () => {
      await expect(knock(routes.audit, { 'x-api-key': 'dbk_auditor' })).rejects.toThrow(ForbiddenException);
      directory.keys.set('hash of dbk_auditor', { ...user, isOrgAdmin: true, scopes: ['audit:read'] });
      await expect(knock(routes.audit, { 'x-api-key': 'dbk_auditor' })).resolves.toBeDefined();
    });

    it('is the only way to a route for keys: an admin who is signed in may not', async () => {
      directory.user = { ...user, isOrgAdmin: true };
      await expect(knock(routes.agents, await bearer())).rejects.toThrow(
        'Only an API key with the scope agent:connect may do this',
      );
      await expect(knock(routes.agents)).rejects.toThrow(UnauthorizedException);
    });

    it('needs the paid plan, but for agents', async () => {
      directory.keys.set('hash of dbk_free', {
        ...user,
        kind: 'key',
        tier: 'FREE',
        scopes: ['sessions:write', 'agent:connect'],
      });
      await expect(knock(routes.start, { 'x-api-key': 'dbk_free' })).rejects.toThrow(ForbiddenException);
      await expect(knock(routes.agents, { 'x-api-key': 'dbk_free' })).resolves.toBeDefined();
    });
  });
});
