import { randomUUID } from 'node:crypto';
import type { CloudAnswer } from '../provider';
import { AzureError } from './azure-error';

/** @param outcome for the call log */
export const jsonAnswer = (
  status: number,
  body: unknown,
  outcome: string,
  headers: Readonly<Record<string, string>> = {},
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

/** An error as the resource manager returns it. */
export const errorAnswer = ({ status, code, message, details, headers }: AzureError): CloudAnswer =>
  jsonAnswer(status, { error: { code, message, details } }, code, headers);
