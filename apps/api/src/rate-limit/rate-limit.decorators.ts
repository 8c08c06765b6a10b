import { Reflector } from '@nestjs/core';
import { SkipThrottle } from '@nestjs/throttler';

/** The general limit is `default`; the others count in addition, only where a route names them. */
export type ExtraLimit = 'password' | 'registration';

/** Route: counted against these limits too. */
export const CountedAs = Reflector.createDecorator<readonly ExtraLimit[]>();

/** Route: not counted at all. */
export const Uncounted = (): MethodDecorator & ClassDecorator => SkipThrottle({ default: true });
