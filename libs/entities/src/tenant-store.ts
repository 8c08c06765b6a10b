import type { OrganizationId } from '#rules';
import type { Tx } from './database';

type TenantMethod = [Tx, OrganizationId, ...unknown[]];

/**
 * `class SessionStore implements TenantStore<SessionStore>` compiles only if every public method takes the transaction
 * first and the organization second, so that a query without an organization is a type error.
 */
export type TenantStore<T> = {
  [Method in keyof T]: T[Method] extends (...given: infer Given) => unknown
    ? Given extends TenantMethod
      ? T[Method]
      : never
    : never;
};
