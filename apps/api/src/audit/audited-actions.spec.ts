import { PATH_METADATA, METHOD_METADATA } from '@nestjs/common/constants.js';
import { RequestMethod, type Type } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { RESOURCE_MODULES } from '../app.module';
import { routePolicyOf } from '#guards';
import { auditedActionOf } from './audited-actions';

/** Where people look after their own accounts, and agents report: nothing there is refused to some and not to others. */
const OPEN_TO_ALL = /^\w+ \/(auth\/|mfa\/|agents\/report$)/;

const reflector = new Reflector();
const controllersOf = (module: Type): Type[] =>
  reflector.get<Type[] | undefined>('controllers', module) ?? [];

/** `POST /roles/:id`, of every route that somebody signed in changes something with. */
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

describe('the deeds of routes', () => {
  const routes = RESOURCE_MODULES.flatMap(controllersOf).flatMap(changingRoutes);

  it('are known for every route that changes something, so that a refusal leaves a record', () => {
    expect(routes).toContain('POST /sessions/:id/stop');
    const unknown = routes.filter((route) => {
      const [method, path] = route.split(' ') as [string, string];
      return !auditedActionOf(method, `/api/v1${path}`) && !OPEN_TO_ALL.test(route);
    });
    expect(unknown).toEqual([]);
  });

  it.each([
    ['GET', '/api/v1/roles'],
    ['POST', '/api/v1/{*path}'],
    ['POST', ''],
    ['POST', '/api/v1/auth/login'],
  ])('are none for %s %s', (method, path) => {
    expect(auditedActionOf(method, path)).toBeUndefined();
  });

  it('do not depend on what a parameter is called', () => {
    expect(auditedActionOf('DELETE', '/api/v1/roles/:role/users/:who')).toEqual({
      eventType: 'ROLE_USER_UNASSIGNED',
      resourceType: 'ROLE',
    });
  });
});
