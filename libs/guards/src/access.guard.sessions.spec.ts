import { randomUUID } from 'node:crypto';
import { ForbiddenException, UnauthorizedException } from '@nestjs/common';
import type { Principal } from './principal';
import {
  call,
  directory,
  registerStrategy,
  resetDirectory,
  routes,
  Routes,
  user,
  type Headers,
} from './access.guard.testing';

const id = randomUUID();
const headers: Headers = { authorization: 'Session dbs_known' };
const principal: Principal = { ...user, kind: 'session', sessionId: id };

/* eslint-disable typescript/unbound-method -- handlers are only looked up, never called */
const renew = (given: Headers = headers, sessionId: string = id): Promise<{ principal?: Principal }> =>
  call(routes.renew, given, Routes, 'POST', { id: sessionId });

describe('AccessGuard with the token of a session', () => {
  beforeAll(registerStrategy);
  beforeEach(() => {
    resetDirectory();
    directory.sessions.set('hash of dbs_known', principal);
  });

  it('accepts it for its session, in any notation of its id', async () => {
    await expect(renew()).resolves.toMatchObject({ principal: { kind: 'session', sessionId: id } });
    await expect(renew(headers, id.toUpperCase())).resolves.toBeDefined();
  });

  it('refuses it for another session, and for a path without one', async () => {
    await expect(renew(headers, randomUUID())).rejects.toThrow(ForbiddenException);
    await expect(call(routes.renew, headers, Routes, 'POST')).rejects.toThrow(ForbiddenException);
  });

  it('rejects it on every other route without a look-up, whatever its user may do', async () => {
    directory.sessions.set('hash of dbs_known', {
      ...principal,
      isOrgAdmin: true,
      platformRole: 'SUPER_ADMIN',
    });
    for (const route of [
      routes.start,
      routes.members,
      routes.admins,
      routes.survey,
      routes.agents,
      routes.audit,
    ])
      await expect(call(route, headers)).rejects.toThrow('takes no session token');
    expect(directory.asked).toEqual([]);
  });

  it('rejects a malformed one without a look-up, and an unknown one after one', async () => {
    await expect(renew({ authorization: 'Session nonsense' })).rejects.toThrow(UnauthorizedException);
    expect(directory.asked).toEqual([]);
    await expect(renew({ authorization: 'Session dbs_gone' })).rejects.toThrow(
      'The session token is invalid',
    );
    expect(directory.asked).toEqual(['hash of dbs_gone']);
  });

  it('takes precedence over a key, and names the right scheme when it is sent as a bearer token', async () => {
    await expect(renew({ authorization: 'Session dbs_gone', 'x-api-key': 'dbk_writer' })).rejects.toThrow(
      UnauthorizedException,
    );
    await expect(renew({ authorization: 'Bearer dbs_known' })).rejects.toThrow('Authorization: Session');
  });

  it('is accepted while the organization is suspended', async () => {
    directory.sessions.set('hash of dbs_known', { ...principal, suspended: true });
    await expect(renew()).resolves.toBeDefined();
  });
});
