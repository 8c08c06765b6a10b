import {
  applyDecorators,
  RequestMethod,
  SetMetadata,
  type ExecutionContext,
  type Type,
} from '@nestjs/common';
import { METHOD_METADATA } from '@nestjs/common/constants.js';
import { Reflector } from '@nestjs/core';
import { SkipThrottle } from '@nestjs/throttler';

/** Limits besides the general limit `default`, for routes decorated with them. `agent`: counted by API key. */
export type ExtraLimit = 'password' | 'registration' | 'issuer' | 'agent' | 'detection';

/** Route decorator: also counted against these limits. */
export const CountedAs = Reflector.createDecorator<readonly ExtraLimit[]>();

/** Route decorator: counted against these limits, and not against the general one. */
export const CountedOnlyAs = (limits: readonly ExtraLimit[]): MethodDecorator & ClassDecorator =>
  applyDecorators(SkipThrottle({ default: true }), CountedAs(limits));

const UNCOUNTED = 'drawbridge:uncounted';

/** Route decorator: not rate limited. For what closes or keeps access, and for what every client asks first. */
export const Uncounted = (): MethodDecorator & ClassDecorator => SetMetadata(UNCOUNTED, true);

const reflector = new Reflector();

/** Whether a route is not rate limited: one with `Uncounted`, and every DELETE. A limit must not keep access open. */
export const isUncounted = (handler: ReturnType<ExecutionContext['getHandler']>, controller: Type): boolean =>
  (reflector.getAllAndOverride<boolean | undefined>(UNCOUNTED, [handler, controller]) ?? false) ||
  Reflect.getMetadata(METHOD_METADATA, handler) === RequestMethod.DELETE;
