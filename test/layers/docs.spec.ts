import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

const ROOT = resolve(__dirname, '../..');
const DECISIONS = join(ROOT, 'docs/decisions');
const SECTIONS = ['Context', 'Decision', 'Consequences', 'Rejected alternatives'];

const FOLDERS = ['.github', 'apps', 'deploy', 'docs', 'libs', 'test'].filter((folder) =>
  existsSync(join(ROOT, folder)),
);

const pages = [
  ...readdirSync(ROOT),
  ...FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((path) => join(folder, path)),
  ),
].filter((path) => path.endsWith('.md'));
const text = (page: string): string => readFileSync(page, 'utf8');

/** Anchors of headings: lower case, without punctuation, spaces as hyphens. */
const anchorsOf = (page: string): string[] =>
  [...text(page).matchAll(/^#{1,6} (.+)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );

/** @returns broken relative links of a page */
const brokenLinks = (page: string): string[] => {
  const links = [...text(join(ROOT, page)).matchAll(/\]\(([^()\s]+)\)/g)].map(([, link]) => link!);
  return links.filter((link) => {
    if (/^(?:https?|mailto):/.test(link)) return false;
    const [path = '', anchor] = link.split('#');
    const target = path === '' ? join(ROOT, page) : resolve(ROOT, dirname(page), path);
    if (!existsSync(target)) return true;
    return anchor !== undefined && target.endsWith('.md') && !anchorsOf(target).includes(anchor);
  });
};

describe('Links between documentation pages', () => {
  it.each(pages)('of %s resolve', (page) => expect(brokenLinks(page)).toEqual([]));
});

describe('What documents repeat', () => {
  const isRecord = (page: string): boolean => page.startsWith('docs/decisions/') || page.startsWith('test/');
  const documents = pages.filter((page) => !isRecord(page) && page !== 'CHANGELOG.md');
  const found = (pattern: RegExp, page: string): string[] =>
    [...text(join(ROOT, page)).matchAll(pattern)].map(([, first]) => first!);

  it('is one version of Node.js, which README alone explains', () => {
    expect(text(join(ROOT, '.nvmrc'))).toBe('22\n');
    expect(found(/Node\.js (22 or 24), npm/g, 'README.md')).toHaveLength(1);
    for (const page of documents.filter((each) => each !== 'README.md'))
      expect(found(/(20\.1\d)/g, page)).toEqual([]);
    for (const page of documents)
      for (const asked of found(/Node\.js ([\d.]+)(?= or | is\.|, installed)/g, page))
        expect(`${page}: ${asked}`).toBe(`${page}: 22`);
  });

  it('are commands that exist', () => {
    const { scripts } = JSON.parse(text(join(ROOT, 'package.json'))) as { scripts: object };
    const programs = readdirSync(join(ROOT, 'bin')).map((name) => `bin/${name}`);
    const [, ...server] = text(join(ROOT, 'bin/server')).split('#   bin/server ');
    for (const page of documents) {
      expect(Object.keys(scripts)).toEqual(
        expect.arrayContaining(found(/npm run (?:-s |--silent )?([a-z][a-z:-]*)/g, page)),
      );
      expect(programs).toEqual(expect.arrayContaining(found(/(?<![\w/.-])(bin\/[a-z-]+)/g, page)));
      for (const [, verb, secret] of text(join(ROOT, page)).matchAll(/bin\/server (\w+)(?: ([a-z-]+)`)?/g)) {
        const help = server.find((line) => line.startsWith(`${verb!} `));
        expect(`${page}: ${verb!} ${help ?? ''}`).toContain(secret ?? `${verb!} ${verb!}`);
      }
    }
  });

  it('is the source layout, with every app and library', () => {
    const folders = ['apps', 'libs'].flatMap((layer) =>
      readdirSync(join(ROOT, layer)).map((name) => `${layer}/${name}`),
    );
    const named = found(/`((?:apps|libs)\/[\w-]+)`/g, 'docs/architecture.md');
    expect(named).toEqual(expect.arrayContaining(folders));
  });

  it('is the same duration of a command on every page', () => {
    const durations = documents.flatMap((page) => found(/(npm test` takes [^,.]*? minutes)/g, page));
    expect(durations.length).toBeGreaterThan(1);
    expect(new Set(durations).size).toBe(1);
    for (const page of documents) expect(found(/((?:\d+|hundred) seeds a second)/g, page)).toEqual([]);
  });

  it('is what was tried, with every provider, in one table that README links', () => {
    expect(text(join(ROOT, 'README.md'))).toContain('(docs/tried.md)');
    const providers = readdirSync(join(ROOT, 'docs/providers')).filter((name) => name !== 'agent.md');
    expect(found(/\(providers\/([\w.]+)\)/g, 'docs/tried.md').toSorted()).toEqual(providers.toSorted());
  });
});

describe('Decision records', () => {
  const records = readdirSync(DECISIONS).filter((name) => /^\d{4}-/.test(name));
  const index = text(join(DECISIONS, 'README.md'));

  it('are numbered without a gap', () => {
    expect(records.map((name) => Number(name.slice(0, 4)))).toEqual(records.map((_, at) => at + 1));
  });

  it.each(records)('%s has a date, a status, every section, and an index entry', (name) => {
    const record = text(join(DECISIONS, name));
    const [, title] = /^# (.+)\n/.exec(record) ?? [];
    expect(record).toMatch(/^Date: \d{4}-\d{2}-\d{2}\. Status: (?:accepted|replaced by \d{4})\./m);
    for (const section of SECTIONS) expect(record).toContain(`\n## ${section}\n`);
    expect(index).toContain(`[${title}](${name})`);
  });
});
