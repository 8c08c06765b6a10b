import { networkInterfaces } from 'node:os';
import {
  ApiFailure,
  bodyOf,
  discover,
  EGRESS_CONNECTIONS,
  isUnprotected,
  observeAddresses,
  type Discovery,
  type Observed,
  visible,
} from '#client';
import { EXIT, type ExitCode } from '../exit-codes';
import { reportOf } from '../failure-report';
import type { Output } from '../output';
import type { Call } from '../program';
import { connect, serverOf, type Connection, type ConnectionOptions } from '../profiles/connection';
import { VERSION } from '../version';
import { resources } from './setup/things';

type State = 'ok' | 'warning' | 'failed';

interface Check {
  readonly name: string;
  readonly state: State;
  readonly message: string;
  /** of the command, when it failed */
  readonly exitCode: ExitCode;
}

/** Codes and tokens are judged by the server's clock. */
const MAX_CLOCK_DIFFERENCE_MS = 30_000;
/** RFC 6598: the addresses between a carrier's NAT and its customers. */
const CARRIER_NAT = /^100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])\./;
const UNKNOWN_SESSION = '00000000-0000-4000-8000-000000000000';

const ok = (name: string, message: string): Check => ({ name, state: 'ok', message, exitCode: EXIT.ok });
const warning = (name: string, message: string): Check => ({ ...ok(name, message), state: 'warning' });

async function reportFailure(name: string, error: unknown): Promise<Check> {
  const { message, fix, exitCode } = await reportOf(error);
  return { name, state: 'failed', message: fix === null ? message : `${message}. ${fix}`, exitCode };
}

/** Checks everything between this machine and a session. The exit code is that of the first failed check. */
export async function doctor({ options, output }: Call): Promise<ExitCode> {
  const url = serverOf(options);
  const checks = await checksOf(url, options, output);
  const text = checks
    .map(({ name, state, message }) => `${MARKS[state]} ${name}: ${visible(message)}`)
    .join('\n');
  output.result({ url, checks: checks.map(({ exitCode: _, ...check }) => check) }, text);
  return checks.find(({ state }) => state === 'failed')?.exitCode ?? EXIT.ok;
}

const MARKS: Readonly<Record<State, string>> = { ok: 'ok     ', warning: 'warning', failed: 'FAILED ' };

async function checksOf(url: string, options: ConnectionOptions, output: Output): Promise<Check[]> {
  try {
    const discovery = await discover(url);
    return [
      ...serverChecks(url, discovery),
      ...(await addressChecks(url, discovery)),
      ...(await accountChecks(options, output)),
    ];
  } catch (error) {
    return [await reportFailure('server', error)];
  }
}

function serverChecks(url: string, { version, clockAheadMs }: Discovery): Check[] {
  const seconds = Math.round(Math.abs(clockAheadMs ?? 0) / 1000);
  const isFar = Math.abs(clockAheadMs ?? 0) > MAX_CLOCK_DIFFERENCE_MS;
  const direction = (clockAheadMs ?? 0) > 0 ? 'behind' : 'ahead of';
  return [
    version === VERSION
      ? ok('server', `${url}, release ${version}`)
      : warning(
          'server',
          `${url} is release ${version}, this is ${VERSION}: get ${url}/downloads/drawbridge.mjs`,
        ),
    ...(isUnprotected(url) ? [warning('encryption', `${url} is not encrypted`)] : []),
    isFar
      ? warning('clock', `this machine is ${seconds} s ${direction} the server: synchronize its clock`)
      : ok('clock', 'agrees with the server'),
    ...(process.env['HTTPS_PROXY'] || process.env['https_proxy']
      ? [
          warning(
            'proxy',
            'HTTPS_PROXY is not used: the server has to observe the address that resources see',
          ),
        ]
      : []),
  ];
}

async function addressChecks(url: string, discovery: Discovery): Promise<Check[]> {
  try {
    const observed = await observeAddresses(url, discovery, EGRESS_CONNECTIONS.pool);
    return [familyCheck('IPv4', observed.ipv4), familyCheck('IPv6', observed.ipv6), ...natChecks(observed)];
  } catch (error) {
    return [await reportFailure('addresses', error)];
  }
}

function familyCheck(family: string, addresses: readonly string[]): Check {
  if (addresses.length === 0) return ok(family, 'not used to reach the server');
  if (addresses.length === 1) return ok(family, addresses[0]!);
  return warning(
    family,
    `connections leave through a pool: ${addresses.join(', ')}. Add --addresses all, or ask for one fixed address`,
  );
}

function natChecks({ ipv4 }: Observed): Check[] {
  const local = Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .map(({ address }) => address);
  if (![...local, ...ipv4].some((address) => CARRIER_NAT.test(address))) return [];
  const shared =
    'behind the NAT of a carrier: other customers share the IPv4 address and get the same access';
  return [warning('carrier NAT', `${shared}. Prefer IPv6`)];
}

async function accountChecks(options: ConnectionOptions, output: Output): Promise<Check[]> {
  try {
    const connection = connect(options, output);
    const who = connection.usesKey ? await keyChecks(connection) : [await userCheck(connection)];
    return [...who, await resourceCheck(connection)];
  } catch (error) {
    return [await reportFailure('sign-in', error)];
  }
}

async function userCheck({ api }: Connection): Promise<Check> {
  const me = await bodyOf(api.GET('/api/v1/auth/me', {}));
  const place = `${me.email} of ${me.organization.name}`;
  if (me.lockdown)
    return warning('sign-in', `${place}, locked down by ${me.lockdown.declaredBy}: ${me.lockdown.reason}`);
  return me.organization.suspended
    ? warning('sign-in', `${place}, which is suspended: it starts no sessions`)
    : ok('sign-in', place);
}

/** No request lists the scopes of a key: harmless ones show which it has. */
async function keyChecks({ api }: Connection): Promise<Check[]> {
  const query = { size: 1 };
  const reads = await scopeOf(api.GET('/api/v1/sessions', { params: { query } }));
  const writes = await scopeOf(
    api.POST('/api/v1/sessions/{id}/renew', { params: { path: { id: UNKNOWN_SESSION } } }),
  );
  return [
    reads ? ok('sessions:read', 'granted') : warning('sessions:read', 'missing: status cannot be read'),
    writes
      ? ok('sessions:write', 'granted')
      : warning('sessions:write', 'missing: no session can be started'),
  ];
}

/** @returns false when the scope is missing. @throws ApiFailure when the key is not accepted */
async function scopeOf(request: Promise<unknown>): Promise<boolean> {
  try {
    await request;
    return true;
  } catch (error) {
    if (error instanceof ApiFailure && error.status === 404) return true;
    if (error instanceof ApiFailure && error.status === 403) return false;
    throw error;
  }
}

async function resourceCheck({ api }: Connection): Promise<Check> {
  try {
    const own = await resources(api, true);
    const active = own.filter(({ isActive }) => isActive).map(({ name }) => name);
    if (active.length > 0) return ok('resources', active.join(', '));
    const reason = own.length === 0 ? 'none is assigned to you' : 'none of yours is active';
    return warning('resources', `${reason}: an administrator assigns and verifies them`);
  } catch (error) {
    if (!(error instanceof ApiFailure) || error.status !== 403) throw error;
    return warning('resources:read', 'missing: resources cannot be listed');
  }
}
