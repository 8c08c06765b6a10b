import { Module, type Provider, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { OpenAPIObject } from '@nestjs/swagger';
import { RESOURCE_MODULES } from '../app.module';
import { API_PREFIX } from '../errors';
import { openApiDocument } from './open-api';

@Module({})
class DescribedApi {}

const ENHANCERS = ['__guards__', '__interceptors__', '__pipes__', '__exceptionFilters__'];

/** The OpenAPI document, from the code alone: the routes are there, nothing they rest on is started. */
export async function describedApi(): Promise<OpenAPIObject> {
  const controllers = RESOURCE_MODULES.flatMap(
    (module) => (Reflect.getMetadata('controllers', module) as Type[] | undefined) ?? [],
  );
  const app = await NestFactory.create(
    { module: DescribedApi, controllers, providers: standIns(controllers) },
    { preview: true, logger: false, abortOnError: false },
  );
  app.setGlobalPrefix(API_PREFIX.slice(1));
  const document = openApiDocument(app);
  await app.close();
  return document;
}

/** Something under every name the controllers, and what is put around their routes, ask for. */
function standIns(controllers: readonly Type[]): Provider[] {
  const asking = controllers.flatMap((controller) => [controller, ...enhancersOf(controller)]);
  const tokens = asking.flatMap((asker) => [
    ...metadataOf<unknown>('design:paramtypes', asker),
    ...metadataOf<{ param: unknown }>('self:paramtypes', asker).map(({ param }) => param),
  ]);
  return [...new Set(tokens)].map((provide) => ({ provide: provide as Type, useValue: {} }));
}

function enhancersOf(controller: Type): Type[] {
  const handlers = Object.values(Object.getOwnPropertyDescriptors(controller.prototype)).map(
    ({ value }: PropertyDescriptor) => value as unknown,
  );
  const places = [controller, ...handlers].filter((place) => typeof place === 'function');
  const found = places.flatMap((place) => ENHANCERS.flatMap((key) => metadataOf<unknown>(key, place)));
  return found.filter((enhancer): enhancer is Type => typeof enhancer === 'function');
}

const metadataOf = <T>(key: string, target: object): T[] =>
  (Reflect.getMetadata(key, target) as T[] | undefined) ?? [];
