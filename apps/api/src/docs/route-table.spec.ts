import type { Type } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { RESOURCE_MODULES } from '../app.module';
import { routesOf } from './route-table';

const EXPECTED =
  /^(Health|Auth|Passwords|PaymentWebhook|SandboxPage|ReturnPage|AccountPages|Downloads|Discovery|Issuer|OidcExchange|SsoSignIn)_/;

const controllersOf = (module: Type): Type[] =>
  new Reflector().get<Type[] | undefined>('controllers', module) ?? [];

it('No routes are public other than the expected ones', () => {
  const routes = RESOURCE_MODULES.flatMap(controllersOf).flatMap(routesOf);
  const open = routes.filter(({ policy }) => policy?.kind === 'public').map(({ operationId }) => operationId);
  expect(open).toContain('Health_health');
  expect(open.filter((id) => !EXPECTED.test(id))).toEqual([]);
});
