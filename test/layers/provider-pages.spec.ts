import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DriverRegistry } from '#drivers';
import { PROVIDERS } from '#rules';

const ROOT = resolve(__dirname, '../..');
const PAGES = join(ROOT, 'docs/providers');
const guarantees = readFileSync(join(ROOT, 'docs/guarantees.md'), 'utf8');

const HEADINGS = [
  'What is written',
  'Policy to paste',
  'Limits',
  'Tested against',
  'Does revoking cut connections',
];
const ANSWERS = { yes: 'Yes', no: 'No', depends: 'It depends' } as const;

/** The text below each heading, without code blocks. */
function sectionsOf(page: string): Map<string, string> {
  const [, ...sections] = page.split(/^## /m);
  return new Map(
    sections.map((section) => [section.split('\n', 1)[0]!, section.slice(section.indexOf('\n'))]),
  );
}

const blocks = (text: string): (string | undefined)[] =>
  [...text.matchAll(/^```\w*\n([^]*?)^```$/gm)].map(([, block]) => block);

describe('Provider pages', () => {
  it('exist for each provider, and for nothing else', () => {
    const expected = PROVIDERS.map((provider) => `${provider.toLowerCase()}.md`);
    expect(readdirSync(PAGES).toSorted()).toEqual(expected.toSorted());
  });

  describe.each(PROVIDERS)('%s', (provider) => {
    const name = `${provider.toLowerCase()}.md`;
    const sections = sectionsOf(readFileSync(join(PAGES, name), 'utf8'));
    const types = Object.values(DriverRegistry.facts(provider).resourceTypes);

    it('has the same headings as every other page', () => {
      expect([...sections.keys()]).toEqual(HEADINGS);
    });

    it('contains the policies that the API returns', () => {
      const policies = new Set(types.map(({ policy }) => policy));
      expect(blocks(sections.get('Policy to paste')!)).toEqual(expect.arrayContaining([...policies]));
    });

    it('states whether revoking cuts connections, as the API does', () => {
      const words = sections.get('Does revoking cut connections')!.replaceAll('`', '').trim();
      for (const { revocation } of types)
        expect(words).toContain(`${ANSWERS[revocation.cutsConnections]}. ${revocation.words}`);
    });

    it('says what closes when Drawbridge is gone for good, in a row of the one page that says it', () => {
      expect(sections.get('Limits')).toContain('(../guarantees.md#when-drawbridge-is-gone-for-good)');
      const [, gone = ''] = guarantees.split('## When Drawbridge is gone for good');
      expect(gone.split('\n## ')[0]).toMatch(
        new RegExp(`^\\| \\[[\\w ]+\\]\\(providers/${name}\\) +\\|`, 'm'),
      );
    });

    it('is linked in README', () => {
      expect(readFileSync(join(ROOT, 'README.md'), 'utf8')).toContain(`(docs/providers/${name})`);
    });
  });
});
