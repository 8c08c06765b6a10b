import type { Type } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { RESOURCE_MODULES } from '../app.module';
import { routesOf } from './route-table';

const controllersOf = (module: Type): Type[] =>
  new Reflector().get<Type[] | undefined>('controllers', module) ?? [];

const routes = RESOURCE_MODULES.flatMap(controllersOf).flatMap(routesOf);

describe('routesOf', () => {
  it('returns the routes of every module', () => {
    expect(routes.map((route) => route.operationId)).toEqual(
      expect.arrayContaining([
        'Health_health',
        'Auth_login',
        'Sessions_start',
        'Resources_list',
        'ApiKeys_create',
      ]),
    );
  });

  it('finds an access policy for every route', () => {
    expect(routes.filter((route) => !route.policy).map((route) => route.operationId)).toEqual([]);
  });

  it('finds no public routes other than the expected ones', () => {
    const open = routes.filter((route) => route.policy?.kind === 'public').map((route) => route.operationId);
    const expected =
      /^(Health|Auth|Passwords|PaymentWebhook|SandboxPage|ReturnPage|AccountPages|Downloads|Discovery|Issuer|OidcExchange|SsoSignIn)_/;
    expect(open.filter((id) => !expected.test(id))).toEqual([]);
  });

  it('returns unique operation ids', () => {
    const ids = routes.map((route) => route.operationId);
    expect(new Set(ids).size).toBe(ids.length);
  });
});
