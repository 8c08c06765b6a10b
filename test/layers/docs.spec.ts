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
