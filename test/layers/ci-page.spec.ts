import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { ROOT } from './layer-violations';

interface Step {
  readonly uses?: string;
  readonly with?: Readonly<Record<string, string>>;
}

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const page = read('docs/ci.md');
const { inputs, outputs } = parse(read('apps/action/action.yml')) as Record<'inputs' | 'outputs', object>;

const section = (title: string): string => page.split(`\n## ${title}\n`)[1]!.split('\n## ')[0]!;
const blocks = (text: string, language: string): string[] =>
  text
    .split('\n```')
    .filter((block) => block.startsWith(`${language}\n`))
    .map((block) => block.slice(language.length + 1));

/** The steps in a document, wherever they are. */
function stepsIn(value: unknown): Step[] {
  if (typeof value !== 'object' || value === null) return [];
  return [...('uses' in value ? [value as Step] : []), ...Object.values(value).flatMap(stepsIn)];
}

describe('The page on CI', () => {
  it('lists every input and output of the action', () => {
    const rows = [...section('GitHub').matchAll(/^\| `([a-z-]+)`/gm)].map(([, name]) => name!);
    expect(rows.toSorted()).toEqual(Object.keys(inputs).toSorted());
    for (const name of Object.keys(outputs)) expect(section('GitHub')).toContain(`\`${name}\``);
  });

  it.each(['docs/ci.md', 'README.md'])('in %s the action gets only inputs that it has', (path) => {
    const uses = blocks(read(path), 'yaml')
      .flatMap((block) => stepsIn(parse(block)))
      .filter((step) => step.uses?.includes('/apps/action@'));
    expect(uses.length).toBeGreaterThan(0);
    for (const step of uses)
      expect(Object.keys(inputs)).toEqual(expect.arrayContaining(Object.keys(step.with!)));
  });

  it.each(['GitLab', 'Buildkite', 'Bitbucket', 'Jenkins'])(
    'on %s a job gets the command line and runs it',
    (title) => {
      const text = section(title);
      for (const block of blocks(text, 'yaml')) expect(() => parse(block) as unknown).not.toThrow();
      expect(text).toMatch(/curl -fsSLO "\$+DRAWBRIDGE_URL\/downloads\/drawbridge\.mjs"/);
      expect(text).toMatch(/node drawbridge\.mjs run .*-- \.\/deploy\.sh/);
    },
  );
});
