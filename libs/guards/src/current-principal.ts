import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Principal } from './principal';

/** The request property the guard leaves the principal in. */
export const PRINCIPAL = 'principal';

/** Who a request comes from, for what is no handler; null before the guard has found out, and on public routes. */
export const principalOfRequest = (request: object): Principal | null =>
  (request as { [PRINCIPAL]?: Principal })[PRINCIPAL] ?? null;

/** Handler parameter: who the request comes from. Only on routes that are not public. */
export const CurrentPrincipal = createParamDecorator((_: unknown, context: ExecutionContext): Principal => {
  const principal = context.switchToHttp().getRequest<{ [PRINCIPAL]?: Principal }>()[PRINCIPAL];
  if (!principal) throw new Error('A public route has no principal');
  return principal;
});
