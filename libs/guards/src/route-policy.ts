import { SetMetadata } from '@nestjs/common';
import { reflector, type Route } from './route';
import type { Scope } from './scopes';

const ROUTE_POLICY = 'drawbridge:route-policy';

/**
 * Who may call a route. API keys only where a scope is given, the token of a session only with `sessionToken`, and for the
 * session that `:id` names.
 */
export type RoutePolicy =
  | { readonly kind: 'public' }
  | {
      readonly kind: 'signed-in' | 'admin';
      readonly scope: Scope | null;
      /** keys are allowed on the Free plan regardless of their scope: for routes that only show or revoke access */
      readonly onFreePlan?: boolean;
      readonly sessionToken?: boolean;
    }
  | { readonly kind: 'key'; readonly scope: Scope }
  | { readonly kind: 'platform'; readonly write: boolean; readonly scope: null };

type PolicyDecorator = ClassDecorator & MethodDecorator;

const policy = (value: RoutePolicy): PolicyDecorator => SetMetadata(ROUTE_POLICY, value);

/** Everyone, without authentication. */
export const Public = (): PolicyDecorator => policy({ kind: 'public' });

/**
 * Every active user; keys with `scope`, if given, on the Free plan only with `onFreePlan`; with `sessionToken` the token of
 * the session in the path.
 */
export const SignedIn = ({
  scope = null,
  onFreePlan = false,
  sessionToken = false,
}: {
  scope?: Scope | null;
  onFreePlan?: boolean;
  sessionToken?: boolean;
} = {}): PolicyDecorator => policy({ kind: 'signed-in', scope, onFreePlan, sessionToken });

/** The organization's admins; keys of an admin with `scope`, if given. */
export const AdminOnly = (options: { scope?: Scope } = {}): PolicyDecorator =>
  policy({ kind: 'admin', scope: options.scope ?? null });

/** Keys with `scope` only, no signed-in users: for programs. */
export const KeyOnly = (options: { scope: Scope }): PolicyDecorator => policy({ kind: 'key', ...options });

/** Platform operators: SUPER_ADMIN all routes, SUPPORT those without `write`. No keys. */
export const Platform = (options: { write?: boolean } = {}): PolicyDecorator =>
  policy({ kind: 'platform', write: options.write ?? false, scope: null });

/** The policy of a route: its handler's, else its controller's. @returns undefined when neither has one */
export const routePolicyOf = (...route: Route): RoutePolicy | undefined =>
  reflector.getAllAndOverride<RoutePolicy | undefined>(ROUTE_POLICY, route);
