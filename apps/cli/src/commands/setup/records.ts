import { Option, type Command } from 'commander';
import { ApiFailure, bodyOf, definedFields, type Schemas, serverTime, shortId } from '#client';
import { usageFailure } from '../../exit-codes';
import { define, listOption, numberOption, type Call } from '../../program';
import { timeText } from '../../terminal/times';
import { idOf } from './things';

type AuditRecord = Schemas['AuditRecordDto'];
type Access = Schemas['AccessItemDto'];
type Attention = Schemas['AttentionDto'];

const MAX_PAGE = 100;
const SHOWN_EVENTS = 4;
const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A time, or how long ago: `2026-01-31`, `2026-01-31T09:30Z`, `90m`, `2h`, `7d`. @throws CommandFailure naming the option */
async function timeIn(text: string, option: string, url: string): Promise<string> {
  const [, count, unit = ''] = /^(\d+)([mhd])$/.exec(text) ?? [];
  const time =
    count === undefined ? Date.parse(text) : (await serverTime(url)) - Number(count) * UNITS[unit]!;
  if (!Number.isNaN(time)) return new Date(time).toISOString();
  throw usageFailure(`${option}: "${text}" is no time`, '2026-01-31T09:30Z, or 2h for two hours ago');
}

export function registerRecords(program: Command): void {
  define(program, {
    usage: 'attention',
    about: 'show what is not as it should be, worst first (administrators)',
    examples: ['attention', 'attention --output json'],
    run: attention,
  });
  define(program, {
    usage: 'audit',
    about: 'show what was done, the newest first',
    examples: ['audit', 'audit --since 2h --event SESSION_STARTED --actor ada@example.com'],
    options: [
      listOption('--event <type>', 'only this type of event', 'all'),
      new Option('--actor <e-mail>', 'only what this user did'),
      new Option('--since <time>', 'such as 2026-01-31T09:30Z, or 2h for two hours ago'),
      numberOption('--limit <n>', 'how many', 1000).default(20),
    ],
    run: audit,
  });
  define(program, {
    usage: 'report',
    about: 'show who had access, by observation: now, at a time, or between two',
    examples: ['report', 'report --resource database', 'report --user ada@example.com --from 7d'],
    options: [
      new Option('--resource <name|id>', 'access to this resource'),
      new Option('--user <e-mail|name|id>', 'access of this user'),
      new Option('--address <address>', 'access of this address or range'),
      new Option('--at <time>', 'default: now'),
      new Option('--from <time>', 'such as 2026-01-31T09:30Z, or 7d for seven days ago'),
      new Option('--to <time>', 'default: now'),
    ],
    run: report,
  });
}

async function attention({ api, output }: Call): Promise<void> {
  const items = await bodyOf(api.GET('/api/v1/attention', { params: { query: { size: MAX_PAGE } } }));
  const columns = {
    severity: ({ severity }: Attention) => severity,
    what: ({ kind }: Attention) => kind,
    where: ({ objectName }: Attention) => objectName,
    since: ({ since }: Attention) => (since === null ? '' : timeText(since)),
    message: ({ message, action }: Attention) => message ?? action,
  };
  output.list('attention', items, columns, 'All is as it should be.');
}

interface AuditOptions {
  readonly event: readonly string[];
  readonly actor?: string;
  readonly since?: string;
  readonly limit: number;
}

async function audit({ api, connection, options, output }: Call<AuditOptions>): Promise<void> {
  const { actor, event, since, limit } = options;
  const query = {
    ...(event.length === 0 ? {} : { eventType: event.map(eventIn) }),
    ...(since === undefined ? {} : { from: await timeIn(since, '--since', connection.url) }),
    ...definedFields({ actorEmail: actor }),
  };
  const records: AuditRecord[] = [];
  for (let page = 0, isLast = false; !isLast && records.length < limit; page += 1) {
    const some = await bodyOf(
      api.GET('/api/v1/audit-logs', {
        params: { query: { ...query, page, size: Math.min(MAX_PAGE, limit) } },
      }),
    ).catch((error: unknown) => {
      throw closestEvents(event, error);
    });
    records.push(...some.content);
    isLast = some.last;
  }
  const columns = {
    time: ({ timestamp }: AuditRecord) => timeText(timestamp),
    event: ({ eventType, result }: AuditRecord) =>
      result === 'FAILURE' ? `${eventType} (refused)` : eventType,
    actor: ({ actorEmail, actorType }: AuditRecord) => actorEmail ?? actorType,
    from: ({ ipAddress }: AuditRecord) => ipAddress,
    object: ({ resourceName, resourceId }: AuditRecord) =>
      resourceName ?? (resourceId && shortId(resourceId)),
  };
  output.list('records', records.slice(0, limit), columns, 'No record.');
}

const eventIn = (text: string): AuditRecord['eventType'] => text.toUpperCase() as AuditRecord['eventType'];

/** The server names all events there are: too many to find one in. @returns a refusal that names the closest, or the error */
function closestEvents(given: readonly string[], error: unknown): unknown {
  const known = error instanceof ApiFailure ? error.fields['eventType']?.match(/[A-Z_]{3,}/g) : null;
  const wrong = given.find((one) => known && !known.includes(eventIn(one)));
  if (!known || wrong === undefined) return error;
  const rank = (name: string): number => likeness(eventIn(wrong), name);
  const closest = known.toSorted((one, other) => rank(other) - rank(one)).slice(0, SHOWN_EVENTS);
  return usageFailure(`--event: there is no "${wrong}"`, `one of ${closest.join(', ')} …`);
}

/** The share of pairs of letters that two words have in common. */
function likeness(one: string, other: string): number {
  const [first, second] = [one, other].map(
    (word) => new Set(Array.from(word, (letter, at) => letter + (word[at + 1] ?? ''))),
  ) as [Set<string>, Set<string>];
  return [...first].filter((pair) => second.has(pair)).length / (first.size + second.size);
}

interface ReportOptions {
  readonly resource?: string;
  readonly user?: string;
  readonly address?: string;
  readonly at?: string;
  readonly from?: string;
  readonly to?: string;
}

async function report({ api, connection: { url }, options, output }: Call<ReportOptions>): Promise<void> {
  const { resource, user, address, at, from, to } = options;
  const filters = [resource, user, address].filter((one) => one !== undefined).length;
  // at one time, everybody's can be shown
  if (filters > 1 || (filters === 0 && from !== undefined)) {
    throw usageFailure('Give one of --resource, --user and --address');
  }
  const time =
    from === undefined
      ? { ...(at !== undefined && { at: await timeIn(at, '--at', url) }) }
      : { from: await timeIn(from, '--from', url), to: await timeIn(to ?? '0m', '--to', url) };
  const query = {
    ...(resource === undefined ? {} : { resourceId: await idOf(api, 'resource', resource) }),
    ...(user === undefined ? {} : { userId: await idOf(api, 'user', user) }),
    ...definedFields({ address }),
    ...time,
  };
  // CSV only where it is asked for
  const access = (await bodyOf(api.GET('/api/v1/reports/access', { params: { query } }))) as Access[];
  const columns = {
    address: (item: Access) => item.address,
    resource: (item: Access) => item.resource.name,
    ports: ({ protocol, ports }: Access) => `${protocol} ${ports}`,
    for: ({ userEmail, holderKind }: Access) => userEmail ?? holderKind,
    from: ({ certainFrom }: Access) => (certainFrom === null ? 'not observed yet' : timeText(certainFrom)),
    until: ({ possibleUntil }: Access) => (possibleUntil === null ? 'open' : timeText(possibleUntil)),
  };
  output.list('access', access, columns, 'No access.');
}
