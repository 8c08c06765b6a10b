import { SetMetadata, type ExecutionContext, type Type } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Scope } from './scopes';

const ROUTE_POLICY = 'drawbridge:route-policy';

/** Who may call a route. Keys may only where a scope is named. */
export type RoutePolicy =
  | { readonly kind: 'public' }
  | {
      readonly kind: 'signed-in' | 'admin';
      readonly scope: Scope | null;
      /** keys may on the Free plan too, whatever their scope needs: what only shows or closes access */
      readonly onFreePlan?: boolean;
    }
  | { readonly kind: 'key'; readonly scope: Scope }
  | { readonly kind: 'platform'; readonly write: boolean; readonly scope: null };

type PolicyDecorator = ClassDecorator & MethodDecorator;

const policy = (value: RoutePolicy): PolicyDecorator => SetMetadata(ROUTE_POLICY, value);

/** Anybody, signed in or not. */
export const Public = (): PolicyDecorator => policy({ kind: 'public' });

/** Every active user; keys that hold `scope`, when one is named, on the Free plan only where `onFreePlan`. */
export const SignedIn = (options: { scope?: Scope; onFreePlan?: boolean } = {}): PolicyDecorator =>
  policy({ kind: 'signed-in', scope: options.scope ?? null, onFreePlan: options.onFreePlan ?? false });

/** The organization's admins; keys of an admin that hold `scope`, when one is named. */
export const AdminOnly = (options: { scope?: Scope } = {}): PolicyDecorator =>
  policy({ kind: 'admin', scope: options.scope ?? null });

/** Keys that hold `scope`, and nobody who is signed in: what programs do that nobody's hands shall. */
export const KeyOnly = (options: { scope: Scope }): PolicyDecorator =>
  policy({ kind: 'key', scope: options.scope });

/** Those who run the service: SUPER_ADMIN all, SUPPORT what is not `write`. No keys. */
export const Platform = (options: { write?: boolean } = {}): PolicyDecorator =>
  policy({ kind: 'platform', write: options.write ?? false, scope: null });

const reflector = new Reflector();

/** The policy of a route: its handler's, else its controller's. @returns undefined when neither has one */
export function routePolicyOf(
  handler: ReturnType<ExecutionContext['getHandler']>,
  controller: Type,
): RoutePolicy | undefined {
  return reflector.getAllAndOverride<RoutePolicy | undefined>(ROUTE_POLICY, [handler, controller]);
}
