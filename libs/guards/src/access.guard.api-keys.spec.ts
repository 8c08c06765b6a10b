import { ForbiddenException, UnauthorizedException } from '@nestjs/common';
import { ScopeError } from './scope-error';
import {
  user,
  type Headers,
  directory,
  call,
  routes,
  bearer,
  registerStrategy,
  resetDirectory,
} from './access.guard.testing';

/* eslint-disable typescript/unbound-method -- handlers are only looked up, never called */
describe('AccessGuard with an API key', () => {
  beforeAll(registerStrategy);
  beforeEach(resetDirectory);

  it.each([
    ['X-API-Key', { 'x-api-key': 'dbk_writer' }],
    ['Authorization', { authorization: 'ApiKey dbk_writer' }],
    ['Authorization in another case', { authorization: 'APIKEY  dbk_writer ' }],
  ])('accepts it in %s and records the address', async (_, headers: Headers) => {
    await expect(call(routes.start, headers)).resolves.toMatchObject({ principal: { kind: 'key' } });
    expect(directory.asked).toEqual(['hash of dbk_writer from 203.0.113.7']);
  });

  it('rejects it on routes without a scope', async () => {
    await expect(call(routes.members, { 'x-api-key': 'dbk_writer' })).rejects.toThrow(UnauthorizedException);
    await expect(call(routes.admins, { 'x-api-key': 'dbk_writer' })).rejects.toThrow(UnauthorizedException);
    await expect(call(routes.survey, { 'x-api-key': 'dbk_writer' })).rejects.toThrow(UnauthorizedException);
  });

  it('rejects a malformed key without a look-up, and an unknown key after one', async () => {
    await expect(call(routes.start, { 'x-api-key': 'nonsense' })).rejects.toThrow(UnauthorizedException);
    expect(directory.asked).toEqual([]);
    await expect(call(routes.start, { 'x-api-key': 'dbk_gone' })).rejects.toThrow(UnauthorizedException);
  });

  it('names the missing scope in two fields', async () => {
    const refusal = call(routes.agents, { 'x-api-key': 'dbk_writer' });
    await expect(refusal).rejects.toThrow(ScopeError);
    await expect(refusal).rejects.toMatchObject({
      status: 403,
      response: {
        error: 'Insufficient permissions',
        message: 'API key does not have required scope: agent:connect',
      },
    });
  });

  it('never has more rights than its user', async () => {
    await expect(call(routes.audit, { 'x-api-key': 'dbk_auditor' })).rejects.toThrow(ForbiddenException);
    directory.keys.set('hash of dbk_auditor', { ...user, isOrgAdmin: true, scopes: ['audit:read'] });
    await expect(call(routes.audit, { 'x-api-key': 'dbk_auditor' })).resolves.toBeDefined();
  });

  it('is required on routes for keys: a signed-in admin is denied', async () => {
    directory.user = { ...user, isOrgAdmin: true };
    await expect(call(routes.agents, await bearer())).rejects.toThrow(
      'Only an API key with the scope agent:connect may do this',
    );
    await expect(call(routes.agents)).rejects.toThrow(UnauthorizedException);
  });

  it('needs the paid plan, except for agents', async () => {
    directory.keys.set('hash of dbk_free', {
      ...user,
      kind: 'key',
      tier: 'FREE',
      scopes: ['sessions:write', 'agent:connect'],
    });
    await expect(call(routes.start, { 'x-api-key': 'dbk_free' })).rejects.toThrow(ForbiddenException);
    await expect(call(routes.agents, { 'x-api-key': 'dbk_free' })).resolves.toBeDefined();
  });

  it('reads it again for each request', async () => {
    const asWriter = { 'x-api-key': 'dbk_writer' };
    await call(routes.start, asWriter);
    directory.keys.delete('hash of dbk_writer');
    await expect(call(routes.start, asWriter)).rejects.toThrow(UnauthorizedException);
  });
});
