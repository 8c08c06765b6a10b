import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { PROVIDERS } from '#rules';

const DRIVERS = resolve(__dirname, '../../libs/drivers/src');
const REGISTRY = 'registry.ts';
const FOLDERS = PROVIDERS.map((provider) => provider.toLowerCase());

/** Names that mean something else. */
const OTHER_MEANINGS: Readonly<Record<string, readonly string[]>> = {
  // Node's word for a pool of connections
  'tenant-url/pinned-connection.ts': ['agent'],
  // says whose metadata service has which address
  'tenant-url/reachable.ts': ['aws', 'azure'],
};

/** The providers a source names, in code or comments: `createAwsDriver`, `AWS_FACTS`, `'./aws/…'`. */
function namedIn(source: string): string[] {
  const words = source.split(/[^A-Za-z]+|(?<=[a-z])(?=[A-Z])/).map((word) => word.toLowerCase());
  return FOLDERS.filter((folder) => words.includes(folder)).toSorted();
}

const read = (file: string): string => readFileSync(join(DRIVERS, file), 'utf8');

/** Of libs/drivers, what is no provider's own. */
const sharedFiles = (): string[] =>
  readdirSync(DRIVERS, { recursive: true, encoding: 'utf8' })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => file.endsWith('.ts') && file !== REGISTRY && !FOLDERS.includes(file.split('/')[0]!));

describe('A provider is a folder and a line of the registry', () => {
  it.each(FOLDERS)('%s has its folder, with its facts', (folder) => {
    expect(readdirSync(join(DRIVERS, folder))).toContain(`${folder}.facts.ts`);
  });

  it.each(FOLDERS)('%s has one line of the registry, and the import for it', (folder) => {
    const naming = read(REGISTRY)
      .split('\n')
      .filter((line) => namedIn(line).includes(folder));
    expect(naming).toEqual([
      expect.stringMatching(/^import /),
      expect.stringMatching(`^  ${folder.toUpperCase()}: entry\\(`),
    ]);
  });

  it('no other place in libs/drivers names one', () => {
    const files = sharedFiles();
    expect(files).toContain('provider-driver.ts');
    const named = files.flatMap((file) =>
      namedIn(read(file))
        .filter((provider) => !OTHER_MEANINGS[file]?.includes(provider))
        .map((provider) => `${file}: ${provider}`),
    );
    expect(named).toEqual([]);
  });

  it('and a name is found in whatever form it is written', () => {
    expect(namedIn(`import { GCP_FACTS } from './x'; // of Vercel's`)).toEqual(['gcp', 'vercel']);
    expect(namedIn('createAwsDriver(); const azureGroup = agentAbsence')).toEqual(['agent', 'aws', 'azure']);
    expect(namedIn('laws of agents')).toEqual([]);
  });
});
