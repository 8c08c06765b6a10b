import { Module, type Provider, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { OpenAPIObject } from '@nestjs/swagger';
import { RESOURCE_MODULES } from '../app.module';
import { API_PREFIX } from '../errors';
import { UNPREFIXED_ROUTES } from '../http/unprefixed-paths';
import { openApiDocument } from './open-api';

@Module({})
class DocumentedApi {}

const ENHANCERS = ['__guards__', '__interceptors__', '__pipes__', '__exceptionFilters__'];

/** Generates the OpenAPI document from the controllers alone, without starting their dependencies. */
export async function generateDocument(): Promise<OpenAPIObject> {
  const controllers = RESOURCE_MODULES.flatMap(
    (module) => (Reflect.getMetadata('controllers', module) as Type[] | undefined) ?? [],
  );
  const app = await NestFactory.create(
    { module: DocumentedApi, controllers, providers: stubProviders(controllers) },
    { preview: true, logger: false, abortOnError: false },
  );
  app.setGlobalPrefix(API_PREFIX.slice(1), { exclude: UNPREFIXED_ROUTES });
  const document = openApiDocument(app);
  await app.close();
  return document;
}

/** A stub for every injection token of the controllers and of their guards, interceptors, pipes and filters. */
function stubProviders(controllers: readonly Type[]): Provider[] {
  const injected = controllers.flatMap((controller) => [controller, ...enhancersOf(controller)]);
  const tokens = injected.flatMap((type) => [
    ...metadataOf<unknown>('design:paramtypes', type),
    ...metadataOf<{ param: unknown }>('self:paramtypes', type).map(({ param }) => param),
  ]);
  return [...new Set(tokens)].map((provide) => ({ provide: provide as Type, useValue: {} }));
}

function enhancersOf(controller: Type): Type[] {
  const handlers = Object.values(Object.getOwnPropertyDescriptors(controller.prototype)).map(
    ({ value }: PropertyDescriptor) => value as unknown,
  );
  const targets = [controller, ...handlers].filter((target) => typeof target === 'function');
  const enhancers = targets.flatMap((target) => ENHANCERS.flatMap((key) => metadataOf<unknown>(key, target)));
  return enhancers.filter((enhancer): enhancer is Type => typeof enhancer === 'function');
}

const metadataOf = <T>(key: string, target: object): T[] =>
  (Reflect.getMetadata(key, target) as T[] | undefined) ?? [];
