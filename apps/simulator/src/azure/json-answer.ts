import { randomUUID } from 'node:crypto';
import type { CloudError } from '../cloud-error';
import type { CloudAnswer, LockLevel } from '../provider';

/** @param outcome for the call log */
export const jsonAnswer = (
  status: number,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
  outcome = 'OK',
): CloudAnswer => ({
  status,
  headers: {
    ...headers,
    'x-ms-request-id': randomUUID(),
    ...(body !== undefined && { 'content-type': 'application/json; charset=utf-8' }),
  },
  body: body === undefined ? '' : JSON.stringify(body),
  outcome,
});

export const permissionsAnswer = (granted: readonly string[]): CloudAnswer =>
  jsonAnswer(200, { value: [{ actions: granted, notActions: [] }] });

export const locksAnswer = (level: LockLevel | undefined): CloudAnswer =>
  jsonAnswer(200, { value: level ? [{ name: 'simulated-lock', properties: { level } }] : [] });

/** The error body of the resource manager. */
export const errorOf = ({ code, message, more }: CloudError): object => ({
  code,
  message,
  details: [],
  ...more,
});

/** An error as the resource manager answers it. */
export const render = (error: CloudError): CloudAnswer =>
  jsonAnswer(error.status, { error: errorOf(error) }, error.headers, error.code);
