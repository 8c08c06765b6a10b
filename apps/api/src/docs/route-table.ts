import type { INestApplicationContext, Type } from '@nestjs/common';
import { METHOD_METADATA } from '@nestjs/common/constants.js';
import { ModulesContainer } from '@nestjs/core';
import { routePolicyOf, type RoutePolicy } from '#guards';

export interface Route {
  readonly operationId: string;
  /** undefined: the route is closed to everybody */
  readonly policy: RoutePolicy | undefined;
}

type Handler = (...given: unknown[]) => unknown;

/** The name of an operation in the OpenAPI document: `Sessions_start`. */
export const operationIdOf = (controller: string, method: string): string =>
  `${controller.replace(/Controller$/, '')}_${method}`;

/** The routes of one controller. */
export function routesOf(controller: Type): Route[] {
  const methods = Object.entries(Object.getOwnPropertyDescriptors(controller.prototype));
  return methods.flatMap(([name, { value }]: [string, PropertyDescriptor]) => {
    if (!isRouteHandler(value)) return [];
    return [{ operationId: operationIdOf(controller.name, name), policy: routePolicyOf(value, controller) }];
  });
}

/** Every route of the application. */
export function routeTable(app: INestApplicationContext): Route[] {
  const modules = [...app.get(ModulesContainer).values()];
  return modules
    .flatMap((module) => [...module.controllers.values()])
    .flatMap(({ metatype }) => (isClass(metatype) ? routesOf(metatype) : []));
}

const isRouteHandler = (value: unknown): value is Handler =>
  typeof value === 'function' && Reflect.hasMetadata(METHOD_METADATA, value);

const isClass = (value: unknown): value is Type => typeof value === 'function' && 'prototype' in value;
