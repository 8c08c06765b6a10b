import type { Type } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { RESOURCE_MODULES } from '../app.module';
import { routesOf } from '../docs/route-table';
import { auditedActionOf } from './audited-actions';

/** Routes for the caller's own account, for agent reports and for plans: they deny nothing by role, or change nothing. */
const WITHOUT_ACTION = /^\/api\/v1\/(auth\/|mfa\/|agents\/report$|sessions\/plan$)/;

const controllersOf = (module: Type): Type[] =>
  new Reflector().get<Type[] | undefined>('controllers', module) ?? [];

it('The action of every route that changes something is known, so that a denial is recorded', () => {
  const changing = RESOURCE_MODULES.flatMap(controllersOf)
    .flatMap(routesOf)
    .filter(({ method, policy }) => method !== 'GET' && policy?.kind !== 'public')
    .map(({ method, path }) => ({ method, path: path.replaceAll(/\{(\w+)\}/g, ':$1') }));
  expect(changing).toContainEqual({ method: 'POST', path: '/api/v1/sessions/:id/stop' });
  const unknown = changing.filter(({ method, path }) => !auditedActionOf(method, path));
  expect(unknown.filter(({ path }) => !WITHOUT_ACTION.test(path))).toEqual([]);
});
