import type { ExecutionContext, Type } from '@nestjs/common';
import { Reflector } from '@nestjs/core';

/** The handler of a route and its controller: what a decorator says of the one counts before what it says of the other. */
export type Route = [handler: ReturnType<ExecutionContext['getHandler']>, controller: Type];

/** Reads what decorators say of routes. */
export const reflector = new Reflector();
