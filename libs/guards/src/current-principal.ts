import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Principal } from './principal';

/** The request property that the guard stores the principal in. */
export const PRINCIPAL = 'principal';

/** The principal of a request, for code outside of handlers; null before the guard has run and on public routes. */
export const principalOfRequest = (request: object): Principal | null =>
  (request as { [PRINCIPAL]?: Principal })[PRINCIPAL] ?? null;

/** Handler parameter: the principal. Not for public routes. */
export const CurrentPrincipal = createParamDecorator((_: unknown, context: ExecutionContext): Principal => {
  const principal = context.switchToHttp().getRequest<{ [PRINCIPAL]?: Principal }>()[PRINCIPAL];
  if (!principal) throw new Error('A public route has no principal');
  return principal;
});
