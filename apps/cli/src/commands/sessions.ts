import {
  addressesOf,
  bodyOf,
  everyPage,
  newHolder,
  refusedRules,
  requestedAddresses,
  resourceIds,
  settle,
  startSession,
  type Api,
  type Session,
  type SessionStatus,
  visible,
} from '#client';
import { observe, sessionExitCode } from '../access/held-access';
import { CommandFailure, EXIT, type ExitCode } from '../exit-codes';
import { table, type Output } from '../output';
import { connect, type ConnectionOptions } from '../profiles/connection';

export interface StartOptions extends ConnectionOptions {
  readonly resource: readonly string[];
  readonly hours?: number;
  readonly ipv4?: string;
  readonly ipv6?: string;
  readonly holder?: string;
  readonly timeout: number;
  /** false: do not wait */
  readonly wait: boolean;
}

export async function start(options: StartOptions, output: Output): Promise<ExitCode> {
  const server = connect(options, output);
  const ids = await resourceIds(server.api, options.resource);
  const isChosen = options.ipv4 !== undefined || options.ipv6 !== undefined;
  const addresses = isChosen
    ? {
        ...(options.ipv4 === undefined ? {} : { ipv4Address: options.ipv4 }),
        ...(options.ipv6 === undefined ? {} : { ipv6Address: options.ipv6 }),
      }
    : requestedAddresses(await observe(server.url, 1))[0];
  const request = {
    ...addresses,
    holder: options.holder ?? newHolder('cli-start'),
    ...(ids.length > 0 ? { resourceIds: ids } : {}),
    ...(options.hours === undefined ? {} : { durationHours: options.hours }),
  };
  const { session, control } = await startSession(server, request, !isChosen);
  const settled = options.wait
    ? await settle(control, session.id, { timeoutMs: 1000 * options.timeout })
    : session;
  output.result(settled, detailsOf(settled));
  return options.wait ? sessionExitCode([settled]) : EXIT.ok;
}

export interface StopOptions extends ConnectionOptions {
  readonly all?: boolean;
  readonly timeout: number;
  readonly wait: boolean;
}

export async function stop(
  given: readonly string[],
  options: StopOptions,
  output: Output,
): Promise<ExitCode> {
  if (given.length > 0 === (options.all ?? false)) {
    throw new CommandFailure(EXIT.usage, 'Give the ids of sessions, or --all', 'drawbridge list shows them');
  }
  const { api } = connect(options, output);
  const ids = options.all ? (await ownSessions(api, { active: true })).map(({ id }) => id) : given;
  const sessions = await Promise.all(
    ids.map(async (id) => {
      const stopped = await bodyOf(api.POST('/api/v1/sessions/{id}/stop', { params: { path: { id } } }));
      return options.wait ? settle(api, id, { timeoutMs: 1000 * options.timeout }) : stopped;
    }),
  );
  output.result({ sessions }, sessions.length === 0 ? 'Nothing to stop.' : sessionTable(sessions));
  const isOpen = options.wait && sessions.some(({ status }) => status === 'EXPIRING');
  if (isOpen) output.note(`rules are still being removed after ${options.timeout} s`);
  return isOpen ? EXIT.failed : EXIT.ok;
}

export async function extend(
  id: string,
  options: ConnectionOptions & { readonly hours: number },
  output: Output,
): Promise<ExitCode> {
  const { api } = connect(options, output);
  const body = { additionalHours: options.hours };
  const session = await bodyOf(api.POST('/api/v1/sessions/{id}/extend', { params: { path: { id } }, body }));
  output.result(session, detailsOf(session));
  return EXIT.ok;
}

/** One session, or the live ones. The exit code says what became of them. */
export async function showStatus(
  id: string | undefined,
  options: ConnectionOptions,
  output: Output,
): Promise<ExitCode> {
  const { api } = connect(options, output);
  if (id === undefined) {
    const sessions = await ownSessions(api, { active: true });
    output.result({ sessions }, sessions.map(detailsOf).join('\n\n') || 'No live session.');
    return sessionExitCode(sessions);
  }
  const session = await bodyOf(api.GET('/api/v1/sessions/{id}', { params: { path: { id } } }));
  output.result(session, detailsOf(session));
  return sessionExitCode([session]);
}

export interface ListOptions extends ConnectionOptions {
  readonly resource: readonly string[];
  readonly all?: boolean;
  readonly status?: readonly SessionStatus[];
}

export async function list(options: ListOptions, output: Output): Promise<ExitCode> {
  const { api } = connect(options, output);
  const [resourceId] = await resourceIds(api, options.resource);
  const sessions = await ownSessions(api, {
    ...(options.all || options.status ? {} : { active: true }),
    ...(options.status ? { status: [...options.status] } : {}),
    ...(resourceId === undefined ? {} : { resourceId }),
  });
  output.result({ sessions }, sessionTable(sessions) || 'No session.');
  return EXIT.ok;
}

interface Filter {
  readonly active?: boolean;
  readonly status?: SessionStatus[];
  readonly resourceId?: string;
}

const ownSessions = (api: Api, filter: Filter): Promise<Session[]> =>
  everyPage((page) => bodyOf(api.GET('/api/v1/sessions', { params: { query: { ...filter, ...page } } })));

const sessionTable = (sessions: readonly Session[]): string =>
  table(
    ['id', 'status', 'addresses', 'resources', 'ends'],
    sessions.map((session) => [
      session.id,
      session.status,
      addressesOf(session).join(', '),
      [...new Set(session.resourceIps.map(({ resourceName }) => resourceName))].join(', '),
      session.endedAt ?? session.expiresAt,
    ]),
  );

function detailsOf(session: Session): string {
  const head = `${session.id}  ${session.status}  until ${session.endedAt ?? session.expiresAt}`;
  const rules = session.resourceIps.map(
    ({ ipAddress, resourceName, status: state }) => `  ${ipAddress} on ${visible(resourceName)}: ${state}`,
  );
  const problems = refusedRules(session).map((problem) => `  ${visible(problem)}`);
  return [head, ...rules, ...problems].join('\n');
}
