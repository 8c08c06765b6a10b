import { RequestMethod, type INestApplicationContext, type Type } from '@nestjs/common';
import { METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants.js';
import { ModulesContainer } from '@nestjs/core';
import { isAllowedWhileSuspended, routePolicyOf, type RoutePolicy } from '#guards';
import { API_PREFIX } from '../errors';
import { isUnprefixed } from '../http/unprefixed-paths';
import { isUncounted } from '../rate-limit/rate-limit.decorators';

export interface Route {
  readonly operationId: string;
  /** `GET`; `ALL`: every method */
  readonly method: string;
  /** as the OpenAPI document writes it: `/api/v1/roles/{id}` */
  readonly path: string;
  /** undefined: every request is denied */
  readonly policy: RoutePolicy | undefined;
  /** false: suspended organizations get 403 */
  readonly allowedWhileSuspended: boolean;
  /** false: not rate limited */
  readonly counted: boolean;
}

type Handler = (...given: unknown[]) => unknown;

/** The operation id in the OpenAPI document: `Sessions_start`. */
export const operationIdOf = (controller: string, method: string): string =>
  `${controller.replace(/Controller$/, '')}_${method}`;

export function routesOf(controller: Type): Route[] {
  const methods = Object.entries(Object.getOwnPropertyDescriptors(controller.prototype));
  return methods.flatMap(([name, { value }]: [string, PropertyDescriptor]) => {
    if (!isRouteHandler(value)) return [];
    const method = RequestMethod[Reflect.getMetadata(METHOD_METADATA, value) as RequestMethod];
    const policy = routePolicyOf(value, controller);
    const shared = {
      operationId: operationIdOf(controller.name, name),
      method,
      policy,
      allowedWhileSuspended:
        policy?.kind === 'public' ||
        policy?.kind === 'platform' ||
        isAllowedWhileSuspended(method, value, controller),
      counted: !isUncounted(value, controller),
    };
    return pathsOf(controller, value).map((path) => ({ ...shared, path }));
  });
}

export function routeTable(app: INestApplicationContext): Route[] {
  const modules = [...app.get(ModulesContainer).values()];
  return modules
    .flatMap((module) => [...module.controllers.values()])
    .flatMap(({ metatype }) => (isClass(metatype) ? routesOf(metatype) : []));
}

/** A controller and a handler may each have one path or several. */
function pathsOf(controller: Type, handler: Handler): string[] {
  return pathMetadata(controller).flatMap((base) =>
    pathMetadata(handler).map((own) => {
      const parts = [base, own].flatMap((part) => part.split('/')).filter((part) => part !== '');
      const prefix = isUnprefixed(parts.join('/')) ? '' : API_PREFIX;
      return [prefix, ...parts].join('/').replaceAll(/:(\w+)/g, '{$1}');
    }),
  );
}

function pathMetadata(target: object): string[] {
  const path = Reflect.getMetadata(PATH_METADATA, target) as string | string[] | undefined;
  return [path ?? ''].flat();
}

const isRouteHandler = (value: unknown): value is Handler =>
  typeof value === 'function' && Reflect.hasMetadata(METHOD_METADATA, value);

const isClass = (value: unknown): value is Type => typeof value === 'function' && 'prototype' in value;
