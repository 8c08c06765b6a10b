import type { ApiFailure } from '#client';
import { CommandFailure, EXIT, type ExitCode } from './exit-codes';

/** A failure as it is shown: no stack, no secret. */
export interface FailureReport {
  readonly exitCode: ExitCode;
  readonly message: string;
  readonly fix: string | null;
  /** one message for each invalid field of the request */
  readonly fields: Readonly<Record<string, string>>;
  /** names the request in the server's log */
  readonly requestId: string | null;
}

/** Loaded only after a failure. */
export async function reportOf(error: unknown): Promise<FailureReport> {
  const { ApiFailure, NoAddress, NotDrawbridge, UnknownName, Unreachable } = await import('#client');
  const plain = { fix: null, fields: {}, requestId: null };
  if (error instanceof CommandFailure) {
    return { ...plain, exitCode: error.exitCode, message: typed(error.message), fix: error.fix };
  }
  if (error instanceof ApiFailure) {
    const { requestId } = error;
    const message = named(error.message);
    const exitCode = exitCodeOf(error.status);
    const fields = withOptions(error.fields);
    return { exitCode, message, fields, requestId, fix: fixOf(error, message) };
  }
  if (error instanceof UnknownName) return { ...plain, exitCode: EXIT.usage, message: error.message };
  if (error instanceof NotDrawbridge) {
    const fix = 'check the address; where a network has a page to sign in on, open that in a browser first';
    return { ...plain, exitCode: EXIT.unreachable, message: error.message, fix };
  }
  if (error instanceof NoAddress) return { ...plain, exitCode: EXIT.unreachable, message: error.message };
  if (error instanceof Unreachable) {
    const fix = 'check the address, and the network with: drawbridge doctor';
    return { ...plain, exitCode: EXIT.unreachable, message: error.message, fix };
  }
  const message = error instanceof Error ? error.message : String(error);
  return { ...plain, exitCode: EXIT.failed, message };
}

/** The options of commands, by the fields of requests that they fill. */
const OPTIONS: Readonly<Record<string, string>> = {
  additionalHours: '--hours',
  billingAddressLine1: '--address',
  billingCity: '--city',
  billingCountry: '--country',
  billingEmail: '--email',
  billingPostalCode: '--postal-code',
  breakGlass: '--break-glass',
  companyName: '--company',
  conditions: '--condition',
  credentialData: '--data, --from-env or --set',
  credentialType: '--type',
  durationHours: '--hours',
  expiresAt: '--expires, --days or --until',
  ipAddress: '<address>',
  ipv4Address: '--ipv4',
  ipv6Address: '--ipv6',
  leaseSeconds: '--lease',
  maxSessionDurationHours: '--max-hours',
  organizationSlug: '--organization',
  reason: '--reason',
  resourceIdentifier: '--identifier',
  resourceIds: '--resource',
  resourceNames: '--resource',
  resourceType: '--type',
  roleIds: '--role',
  scopes: '--scope',
  ticket: '--ticket',
  userId: '--user',
};

const optionOf = (field: string): string =>
  Object.hasOwn(OPTIONS, field) ? `${OPTIONS[field]} (${field})` : field;

/** What is typed for the requests that refusals name. */
const COMMANDS: Readonly<Record<string, string>> = {
  'DELETE /organization/lockdown': 'drawbridge lockdown lift',
  'DELETE /users/{id}/lockdown': 'drawbridge lockdown lift --user E-MAIL',
  'POST /access-requests': '--reason TEXT',
};

const typed = (text: string): string =>
  text.replaceAll(/\b(?:POST|DELETE) \/[\w/{}-]+/g, (request) => COMMANDS[request] ?? request);

/** The text with the options beside the names of fields. */
const named = (text: string): string => typed(text).replaceAll(/\b[a-z][a-z\d]*[A-Z]\w*/g, optionOf);

const withOptions = (fields: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(fields).map(([field, problem]) => [optionOf(field), named(problem)]));

function exitCodeOf(status: number): ExitCode {
  if (status === 401 || status === 403) return EXIT.denied;
  return status === 429 || status >= 500 ? EXIT.unreachable : EXIT.usage;
}

function fixOf({ status, fields }: ApiFailure, message: string): string | null {
  if (fields['reason']?.includes('is required')) return 'add --reason TEXT';
  if (status === 401 && process.env['DRAWBRIDGE_API_KEY'])
    return 'DRAWBRIDGE_API_KEY is set, and comes before a sign-in: check it, or unset it';
  if (status === 401) return 'sign in with: drawbridge login';
  if (status === 429) return 'wait a minute: requests are counted for all clients behind one address';
  if (status >= 500) return 'try again; drawbridge doctor shows whether the server is up';
  const scope =
    status === 403 && /(?:required scope:|Only an API key with the scope) (\S+)/.exec(message)?.[1];
  return scope
    ? `make a key with it: drawbridge keys create NAME --user SERVICE_USER --scope ${scope}`
    : null;
}
