import { type AccessEnd, ApiFailure, NotReachable, Unreachable } from '#client';

/** An error of the user's world, with what to do about it. */
export class ActionFailure extends Error {
  override readonly name = 'ActionFailure';

  constructor(
    message: string,
    readonly fix: string,
  ) {
    super(message);
  }
}

/** The job was cancelled, or its runner is shutting down. */
export class Cancelled extends Error {
  override readonly name = 'Cancelled';

  constructor() {
    super('Cancelled: the access was ended');
  }
}

/** An error in one line, with its fix: no stack, no secret. */
export function failureLine(error: unknown): string {
  const message = reasonOf(error).replaceAll(/\s+/g, ' ').trim();
  const fix = fixOf(error);
  return fix === null ? message : `${message}. Fix: ${fix}.`;
}

/** What a stop without an answer leaves. */
export const notKnown = (error: unknown, { latest }: AccessEnd): string =>
  `It is not known whether the access was stopped (${reasonOf(error)}): it ends at ${latest.toISOString()} at the latest`;

export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

function fixOf(error: unknown): string | null {
  if (error instanceof ActionFailure) return error.fix;
  if (error instanceof ApiFailure) return fixOfAnswer(error);
  if (error instanceof NotReachable)
    return 'check host and port of the input probe, and what the resource guards';
  if (error instanceof Unreachable) return 'check the input url, and that this runner may connect to it';
  return null;
}

function fixOfAnswer({ status, fields }: ApiFailure): string | null {
  if (status === 401) return 'check the input api-key: the key is unknown, revoked or expired';
  if (status === 403) return "check the scopes, and the service user's roles";
  if (status === 404) return 'correct the input resources';
  if (status === 429) return 'run the job again: requests are counted for all jobs behind one address';
  if (status >= 500) return 'run the job again, or ask the operator of the server';
  const details = Object.entries(fields).map(([field, problem]) => `${field} ${problem}`);
  return details.length > 0 ? details.join('; ') : null;
}
