import type { OpenAPIObject } from '@nestjs/swagger';

type PathItem = OpenAPIObject['paths'][string];
export type Operation = NonNullable<PathItem['get']>;
export type DocumentedResponse = Exclude<NonNullable<Operation['responses'][string]>, { $ref: string }>;
type Schema = Exclude<
  NonNullable<NonNullable<OpenAPIObject['components']>['schemas']>[string],
  { $ref: string }
>;
export type SchemaOrRef = Schema | { $ref: string };
export type Schemas = Readonly<Record<string, SchemaOrRef>>;

export const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;
export type Method = (typeof METHODS)[number];
