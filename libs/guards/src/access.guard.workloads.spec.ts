import { randomUUID } from 'node:crypto';
import { ForbiddenException, UnauthorizedException } from '@nestjs/common';
import { ScopeError } from './scope-error';
import {
  bearer,
  call,
  directory,
  registerStrategy,
  resetDirectory,
  routes,
  user,
  workloadTokens,
  type Headers,
} from './access.guard.testing';

const trustId = randomUUID();
const { userId, organizationId } = user;

const headers = async (changes: object = {}): Promise<Headers> => {
  const claims = { userId, organizationId, trustId, revision: 1, ...changes };
  return { authorization: `Bearer ${(await workloadTokens.issue(claims)).accessToken}` };
};

/* eslint-disable typescript/unbound-method -- handlers are only looked up, never called */
describe('AccessGuard with the access token of a CI job', () => {
  beforeAll(registerStrategy);
  beforeEach(() => {
    resetDirectory();
    directory.workloads.set(trustId, { ...user, kind: 'workload', scopes: ['sessions:write'] });
  });

  it('accepts it where a key with its scopes is accepted', async () => {
    await expect(call(routes.start, await headers())).resolves.toMatchObject({
      principal: { kind: 'workload' },
    });
  });

  it('names a scope that it lacks', async () => {
    await expect(call(routes.audit, await headers())).rejects.toThrow(ScopeError);
    await expect(call(routes.agents, await headers())).rejects.toThrow(ScopeError);
  });

  it('rejects it where no key is accepted, whatever its user may do', async () => {
    directory.workloads.set(trustId, {
      ...user,
      kind: 'workload',
      isOrgAdmin: true,
      platformRole: 'SUPER_ADMIN',
      scopes: [],
    });
    for (const route of [routes.members, routes.admins, routes.survey, routes.setUpMfa])
      await expect(call(route, await headers())).rejects.toThrow(UnauthorizedException);
  });

  it('rejects it when the trust is not found, and an access token of its user is another thing', async () => {
    await expect(call(routes.start, await headers({ trustId: randomUUID() }))).rejects.toThrow(
      UnauthorizedException,
    );
    await expect(call(routes.start, await bearer())).resolves.toMatchObject({ principal: { kind: 'user' } });
  });

  it('rejects one without a trust or a revision', async () => {
    for (const changes of [
      { trustId: 'x' },
      { trustId: undefined },
      { revision: undefined },
      { revision: 1.5 },
    ])
      await expect(call(routes.start, await headers(changes))).rejects.toThrow(UnauthorizedException);
  });

  it('needs the paid plan, and starts nothing while suspended', async () => {
    directory.workloads.set(trustId, { ...user, kind: 'workload', tier: 'FREE', scopes: ['sessions:write'] });
    await expect(call(routes.start, await headers())).rejects.toThrow(ForbiddenException);
    directory.workloads.set(trustId, {
      ...user,
      kind: 'workload',
      suspended: true,
      scopes: ['sessions:write'],
    });
    await expect(call(routes.start, await headers(), undefined, 'POST')).rejects.toThrow(ForbiddenException);
  });

  it('lives for at most 15 minutes', async () => {
    const { expiresIn } = await workloadTokens.issue({ userId, organizationId, trustId, revision: 1 });
    expect(expiresIn).toBe(900);
  });
});
