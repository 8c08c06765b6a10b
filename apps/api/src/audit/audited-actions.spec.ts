import { PATH_METADATA, METHOD_METADATA } from '@nestjs/common/constants.js';
import { RequestMethod, type Type } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { RESOURCE_MODULES } from '../app.module';
import { routePolicyOf } from '#guards';
import { auditedActionOf } from './audited-actions';

/** Routes for the caller's own account, for agent reports and for plans: they deny nothing by role, or change nothing. */
const WITHOUT_ACTION = /^\w+ \/(auth\/|mfa\/|agents\/report$|sessions\/plan$)/;

const reflector = new Reflector();
const controllersOf = (module: Type): Type[] =>
  reflector.get<Type[] | undefined>('controllers', module) ?? [];

/** Non-public routes of a controller that change something, as `POST /roles/:id`. */
function changingRoutes(controller: Type): string[] {
  const base = reflector.get<string>(PATH_METADATA, controller);
  return Object.values(Object.getOwnPropertyDescriptors(controller.prototype)).flatMap(({ value }) => {
    const handler = value as (() => unknown) | undefined;
    if (typeof handler !== 'function' || !Reflect.hasMetadata(METHOD_METADATA, handler)) return [];
    const method = RequestMethod[reflector.get<RequestMethod>(METHOD_METADATA, handler)];
    if (method === 'GET' || routePolicyOf(handler, controller)?.kind === 'public') return [];
    const path = reflector.get<string>(PATH_METADATA, handler);
    return [`${method} /${base}${path === '/' ? '' : `/${path}`}`];
  });
}

describe('auditedActionOf', () => {
  const routes = RESOURCE_MODULES.flatMap(controllersOf).flatMap(changingRoutes);

  it('knows the action of every route that changes something, so that a denial is recorded', () => {
    expect(routes).toContain('POST /sessions/:id/stop');
    const unknown = routes.filter((route) => {
      const [method, path] = route.split(' ') as [string, string];
      return !auditedActionOf(method, `/api/v1${path}`) && !WITHOUT_ACTION.test(route);
    });
    expect(unknown).toEqual([]);
  });

  it.each([
    ['GET', '/api/v1/roles'],
    ['POST', '/api/v1/{*path}'],
    ['POST', ''],
    ['POST', '/api/v1/auth/login'],
  ])('returns undefined for %s %s', (method, path) => {
    expect(auditedActionOf(method, path)).toBeUndefined();
  });

  it('does not depend on the names of path parameters', () => {
    expect(auditedActionOf('DELETE', '/api/v1/roles/:role/users/:user')).toEqual({
      eventType: 'ROLE_USER_UNASSIGNED',
      resourceType: 'ROLE',
    });
  });
});
