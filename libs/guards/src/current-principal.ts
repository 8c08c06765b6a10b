import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Principal } from './principal';

/** The request property that the guard stores the principal in. */
export const PRINCIPAL = 'principal';

/** The principal of a request, for code outside of handlers; null before the guard has run and on public routes. */
export const principalOfRequest = (request: object): Principal | null =>
  (request as { [PRINCIPAL]?: Principal })[PRINCIPAL] ?? null;

/** The request property with `renewPrincipal`'s work. */
export const RENEWAL = Symbol('renewal');

/**
 * Reads the principal of a request again and authorizes it for the route again.
 * @throws what the guard throws
 */
export async function renewPrincipal(request: object): Promise<Principal> {
  const { [RENEWAL]: renewal } = request as { [RENEWAL]?: () => Promise<Principal> };
  if (!renewal) throw new Error('A public route has no principal');
  return renewal();
}

/** The request property that says whether its principal was remembered. */
export const REMEMBERED = Symbol('remembered');

/**
 * The principal as read for this request: reads it unless it was.
 * @throws what the guard throws
 */
export const freshPrincipal = async (request: object): Promise<Principal> =>
  (request as { [REMEMBERED]?: boolean })[REMEMBERED]
    ? renewPrincipal(request)
    : (request as { [PRINCIPAL]: Principal })[PRINCIPAL];

/** Handler parameter: the principal. Not for public routes. */
export const CurrentPrincipal = createParamDecorator((_: unknown, context: ExecutionContext): Principal => {
  const principal = context.switchToHttp().getRequest<{ [PRINCIPAL]?: Principal }>()[PRINCIPAL];
  if (!principal) throw new Error('A public route has no principal');
  return principal;
});
