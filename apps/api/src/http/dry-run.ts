import { Reflector } from '@nestjs/core';
import type { Request } from 'express';
import type { TrialSubjectKind } from '#tenant-store';
import { invalidField } from '../errors';

/** Handler decorator: it has a dry run, which compares whose rights, or those on what: the object in the path; null: none. */
export const HasDryRun = Reflector.createDecorator<{ readonly rightsOf: TrialSubjectKind | null }>();

const YES: ReadonlySet<unknown> = new Set([true, 'true']);
const NO: ReadonlySet<unknown> = new Set([false, 'false']);

/** Whether the query or the body asks for a dry run, where there is one. @throws ApiError 400 when that is not clear */
export function asksForDryRun({ query, body }: Pick<Request, 'query' | 'body'>): boolean {
  const given = [query, body as unknown].map(
    (fields) => (fields as { dryRun?: unknown } | undefined)?.dryRun,
  );
  const asks = given.some((value) => YES.has(value));
  if (given.every((value) => (value ?? null) === null || (asks ? YES : NO).has(value))) return asks;
  throw invalidField('dryRun', 'must be true or false, and the same in the query and the body');
}
