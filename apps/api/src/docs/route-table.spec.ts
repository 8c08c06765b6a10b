import type { Type } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { RESOURCE_MODULES } from '../app.module';
import { routesOf } from './route-table';

const controllersOf = (module: Type): Type[] =>
  new Reflector().get<Type[] | undefined>('controllers', module) ?? [];

const routes = RESOURCE_MODULES.flatMap(controllersOf).flatMap(routesOf);

describe('the route table', () => {
  it('is read from every module', () => {
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

  it('says of every route who may call it', () => {
    expect(routes.filter((route) => !route.policy).map((route) => route.operationId)).toEqual([]);
  });

  it('opens to everybody only what must be', () => {
    const open = routes.filter((route) => route.policy?.kind === 'public').map((route) => route.operationId);
    const known = /^(Health|Auth|Passwords|PaymentWebhook|SandboxPage|ReturnPage|AccountPages)_/;
    expect(open.filter((id) => !known.test(id))).toEqual([]);
  });

  it('names each operation once', () => {
    const ids = routes.map((route) => route.operationId);
    expect(new Set(ids).size).toBe(ids.length);
  });
});
