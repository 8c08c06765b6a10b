import { applyDecorators, SetMetadata, type ExecutionContext, type Type } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { SkipThrottle } from '@nestjs/throttler';

/** The general limit is `default`; the others count in addition, only where a route names them. */
export type ExtraLimit = 'password' | 'registration';

/** Route: counted against these limits too. */
export const CountedAs = Reflector.createDecorator<readonly ExtraLimit[]>();

const UNCOUNTED = 'drawbridge:uncounted';

/** Route: not counted at all. */
export const Uncounted = (): MethodDecorator & ClassDecorator =>
  applyDecorators(SkipThrottle({ default: true }), SetMetadata(UNCOUNTED, true));

const reflector = new Reflector();

/** Whether a route is outside of the rate limit. */
export const isUncounted = (handler: ReturnType<ExecutionContext['getHandler']>, controller: Type): boolean =>
  reflector.getAllAndOverride<boolean | undefined>(UNCOUNTED, [handler, controller]) ?? false;
