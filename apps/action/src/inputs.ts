import { type Endpoint, InvalidServerUrl, parseEndpoint, parseServerUrl } from '#client';
import { ActionFailure } from './failure';

/** As whom the job starts its session. */
export type Identity =
  | { readonly kind: 'key'; readonly apiKey: string }
  | { readonly kind: 'trust'; readonly audience: string; readonly trustId: string | null };

/** The inputs of action.yml, checked. */
export interface Inputs {
  /** without `/api/v1` */
  readonly url: string;
  readonly identity: Identity;
  /** names or ids; empty: all of the service user's roles */
  readonly resources: readonly string[];
  /** null: the server decides */
  readonly hours: number | null;
  /** why, for the record; empty: none is given */
  readonly reason: string;
  readonly ticket: string;
  readonly leaseSeconds: number;
  readonly addresses: 'observed' | 'all';
  readonly probe: Endpoint | null;
  /** a command of the shell that must succeed before the job goes on; empty: none */
  readonly ready: string;
  readonly readySeconds: number;
  /** for the rules to be written */
  readonly waitSeconds: number;
  readonly allowPartial: boolean;
}

const MAX_HOURS = 24;
const MIN_LEASE_SECONDS = 60;
const MAX_LEASE_SECONDS = 3600;
const MAX_WAIT_SECONDS = 3600;
const MAX_TEXT = 200;
const TRUST = /^https?:\/\/\S+\/o\/[0-9a-f-]{36}$/;
const KEY = /^[\x21-\x7e]{1,500}$/;

/**
 * Checks the inputs. No message repeats a secret.
 * @param input its text; empty when it is left out
 * @throws ActionFailure
 */
export function readInputs(input: (name: string) => string): Inputs {
  return {
    url: url(input('url')),
    identity: identity(input('trust'), input('api-key')),
    resources: input('resources')
      .split(/[\n,]/)
      .map((one) => one.trim())
      .filter(Boolean),
    hours: input('hours') === '' ? null : whole('hours', input('hours'), 1, MAX_HOURS),
    reason: input('reason'),
    ticket: input('ticket'),
    leaseSeconds: whole('lease', input('lease'), MIN_LEASE_SECONDS, MAX_LEASE_SECONDS),
    addresses: oneOf('addresses', input('addresses'), ['observed', 'all']),
    probe: input('probe') === '' ? null : endpoint(input('probe')),
    ready: input('ready').trim(),
    readySeconds: whole('ready-seconds', input('ready-seconds'), 1, MAX_WAIT_SECONDS),
    waitSeconds: whole('wait-seconds', input('wait-seconds'), 1, MAX_WAIT_SECONDS),
    allowPartial: oneOf('allow-partial', input('allow-partial'), ['false', 'true']) === 'true',
  };
}

function url(given: string): string {
  if (given === '')
    throw new ActionFailure('The input url is missing', 'add url: https://drawbridge.example.com');
  try {
    return parseServerUrl(given);
  } catch (error) {
    if (!(error instanceof InvalidServerUrl)) throw error;
    throw new ActionFailure(`The input url ${error.message}`, 'set it to the address that people use');
  }
}

function identity(trust: string, apiKey: string): Identity {
  if (trust !== '' && apiKey !== '') {
    throw new ActionFailure(
      'trust and api-key are both given',
      'remove api-key: a trust needs no stored key',
    );
  }
  if (apiKey !== '') {
    if (KEY.test(apiKey)) return { kind: 'key', apiKey };
    throw new ActionFailure(
      'The input api-key is no API key',
      'a key is one line of letters and digits: check the secret',
    );
  }
  if (trust === '') {
    throw new ActionFailure(
      'Neither trust nor api-key is given',
      'set trust to the audience of a trust; a secret is empty for workflows of forks and of Dependabot',
    );
  }
  const [audience = '', trustId] = trust.split('#');
  if (TRUST.test(audience)) return { kind: 'trust', audience, trustId: trustId ?? null };
  throw new ActionFailure(
    `The input trust is "${trust.slice(0, MAX_TEXT)}"`,
    'set it to the audience that POST /oidc-trusts returned: https://drawbridge.example.com/o/ORGANIZATION',
  );
}

function whole(name: string, text: string, minimum: number, maximum: number): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= minimum && value <= maximum) return value;
  throw new ActionFailure(
    `The input ${name} is "${text.slice(0, MAX_TEXT)}"`,
    `set it to a whole number from ${minimum} to ${maximum}`,
  );
}

function oneOf<const T extends string>(name: string, text: string, allowed: readonly T[]): T {
  const found = allowed.find((one) => one === text.toLowerCase());
  if (found !== undefined) return found;
  throw new ActionFailure(
    `The input ${name} is "${text.slice(0, MAX_TEXT)}"`,
    `set it to ${allowed.join(' or ')}`,
  );
}

function endpoint(text: string): Endpoint {
  const parsed = parseEndpoint(text);
  if (parsed) return parsed;
  throw new ActionFailure(
    `The input probe is "${text.slice(0, MAX_TEXT)}"`,
    'set it to HOST:PORT, such as db.example.com:5432 or [2001:db8::1]:5432',
  );
}
