import { bodyOf, type Schemas } from '#client';
import { CommandFailure, type ExitCode, usageFailure } from '../../exit-codes';
import type { Call, Definition } from '../../program';
import { textFrom } from '../../terminal/inputs';
import { inBatches, showResults } from './results';
import { all } from './things';

type Body = Schemas['CreateResourceDto'];
type Result = Schemas['BulkResultDto'];

/** What a file says of a resource: texts by the names of its columns or fields. */
type Line = Readonly<Record<string, unknown>>;

const COLUMNS = 'name, credential, type, identifier, region, account, endpoint, ports, protocol, label:KEY';

export const importing: Definition<object> = {
  usage: 'import <file>',
  about: `add many, from a CSV file with the columns ${COLUMNS}, or one JSON object a line; repeatable`,
  examples: ['resources import resources.csv', 'resources import - < resources.jsonl'],
  run: importFile,
};

async function importFile({ api, name: file, output }: Call): Promise<ExitCode> {
  const lines = linesOf(await textFrom(file, 'resources import'));
  const credentials = await all(api, 'credential');
  const bodies = lines.map((line, index) => bodyFor(line, index + 1, credentials));
  const rows: (Result & { name: string })[] = [];
  for (const resources of inBatches(bodies)) {
    const { results } = await bodyOf(api.POST('/api/v1/resources/bulk', { body: { resources } }));
    rows.push(...results.map((result, index) => ({ ...result, name: resources[index]!.name })));
  }
  const code = showResults(rows, output, 'The file names no resource.');
  const added = rows.flatMap(({ id, outcome }) => (outcome === 'DONE' && id !== null ? [id] : []));
  for (const resourceIds of inBatches(added))
    await api.POST('/api/v1/resources/verify', { body: { resourceIds } });
  if (added.length > 0)
    output.note(
      'each can be opened once it is verified, which goes on by itself: drawbridge resources shows it',
    );
  return code;
}

/** @throws CommandFailure naming the line */
function bodyFor(line: Line, number: number, credentials: readonly Schemas['CredentialDto'][]): Body {
  const text = (name: string): string => {
    const value = line[name];
    return typeof value === 'string' || typeof value === 'number' ? String(value).trim() : '';
  };
  const credential = credentials.find(({ id, name }) => [id, name].includes(text('credential')));
  const missing = ['name', 'type', 'identifier'].find((name) => text(name) === '');
  if (missing !== undefined) throw wrong(number, `lacks ${missing}: it may have ${COLUMNS}`);
  if (!credential) throw wrong(number, `names no known credential: "${text('credential')}"`);
  const ports = text('ports')
    .split(/[\s,;]+/)
    .filter(Boolean)
    .map(Number);
  if (ports.some((port) => !Number.isInteger(port)))
    throw wrong(number, `has ports like "22 443", not "${text('ports')}"`);
  const optional = ['region', 'account', 'endpoint'].flatMap((name): [string, string][] =>
    text(name) === '' ? [] : [[name, text(name)]],
  );
  const protocol = text('protocol');
  const inColumns = Object.keys(line)
    .filter((name) => name.startsWith('label:') && text(name) !== '')
    .map((name): [string, string] => [name.slice('label:'.length), text(name)]);
  const labels = {
    ...(line['labels'] as Record<string, string> | undefined),
    ...Object.fromEntries(inColumns),
  };
  return {
    name: text('name'),
    credentialId: credential.id,
    provider: credential.provider,
    resourceType: text('type').toUpperCase(),
    resourceIdentifier: text('identifier'),
    ...Object.fromEntries(optional),
    ...(Object.keys(labels).length > 0 && { labels }),
    config: { ...(ports.length > 0 && { ports }), ...(protocol !== '' && { protocol }) } as NonNullable<
      Body['config']
    >,
  };
}

const wrong = (number: number, what: string): CommandFailure =>
  usageFailure(`Resource ${number} of the file ${what}`);

/** JSON lines where the first character says so, else CSV with a line of column names. @throws CommandFailure */
function linesOf(content: string): Line[] {
  const rows = content.replace(/^\uFEFF/, '');
  if (!rows.trimStart().startsWith('{')) {
    const [head = [], ...others] = csvRows(rows);
    return others.map((cells) => Object.fromEntries(head.map((name, index) => [name.trim(), cells[index]])));
  }
  return rows
    .split('\n')
    .filter((row) => row.trim() !== '')
    .map((row, index) => {
      try {
        return JSON.parse(row) as Line;
      } catch {
        throw wrong(index + 1, 'is no JSON object on one line');
      }
    });
}

/** RFC 4180: quotes hold separators, line ends and doubled quotes. Empty lines are none. */
function csvRows(content: string): string[][] {
  const rows: string[][] = [['']];
  let isQuoted = false;
  for (const character of content.replaceAll('\r\n', '\n')) {
    const cells = rows.at(-1)!;
    if (character === '"') {
      // the second of two quotes, which stand for one, opens again what the first has closed
      if (!isQuoted && cells.at(-1) !== '') cells[cells.length - 1] += character;
      isQuoted = !isQuoted;
    } else if (isQuoted || !',\n'.includes(character)) cells[cells.length - 1] += character;
    else if (character === ',') cells.push('');
    else rows.push(['']);
  }
  return rows.filter((cells) => cells.some((cell) => cell !== ''));
}
