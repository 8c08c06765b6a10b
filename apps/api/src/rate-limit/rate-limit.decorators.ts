import { applyDecorators, SetMetadata, type ExecutionContext, type Type } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { SkipThrottle } from '@nestjs/throttler';

/**
 * Limits in addition to the general limit `default`, for routes decorated with them. `agent`: counted by API key instead of
 * by address; `refusal`: only requests whose credential is refused are counted.
 */
export type ExtraLimit = 'password' | 'registration' | 'issuer' | 'agent' | 'refusal';

/** Route decorator: also counted against these limits. */
export const CountedAs = Reflector.createDecorator<readonly ExtraLimit[]>();

/** Route decorator: counted against these limits, and not against the general one. */
export const CountedOnlyAs = (limits: readonly ExtraLimit[]): MethodDecorator & ClassDecorator =>
  applyDecorators(SkipThrottle({ default: true }), CountedAs(limits));

const UNCOUNTED = 'drawbridge:uncounted';

/** Route decorator: not rate limited. */
export const Uncounted = (): MethodDecorator & ClassDecorator =>
  applyDecorators(SkipThrottle({ default: true }), SetMetadata(UNCOUNTED, true));

const reflector = new Reflector();

/** Whether a route is not rate limited. */
export const isUncounted = (handler: ReturnType<ExecutionContext['getHandler']>, controller: Type): boolean =>
  reflector.getAllAndOverride<boolean | undefined>(UNCOUNTED, [handler, controller]) ?? false;
