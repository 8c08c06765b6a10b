import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { PROVIDERS } from '#rules';

const DRIVERS = resolve(__dirname, '../../libs/drivers/src');
const REGISTRY = 'registry.ts';
const FOLDERS = PROVIDERS.map((provider) => provider.toLowerCase());

/** Words that only look like a provider's name. */
const OTHER_MEANINGS: Readonly<Record<string, readonly string[]>> = {
  // Node's word for a pool of connections
  'tenant-url/pinned-connection.ts': ['agent'],
  'egress.ts': ['agent'],
  // the header user-agent
  'request-json.ts': ['agent'],
  // names the metadata service of each provider
  'tenant-url/reachable.ts': ['aws', 'azure'],
};

/** The providers a source names, in code or comments: `createAwsDriver`, `AWS_FACTS`, `'./aws/…'`. */
function namedIn(source: string): string[] {
  const words = source.split(/[^A-Za-z]+|(?<=[a-z])(?=[A-Z])/).map((word) => word.toLowerCase());
  return FOLDERS.filter((folder) => words.includes(folder)).toSorted();
}

const read = (file: string): string => readFileSync(join(DRIVERS, file), 'utf8');

/** Files of libs/drivers outside of the providers' folders. */
const sharedFiles = (): string[] =>
  readdirSync(DRIVERS, { recursive: true, encoding: 'utf8' })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => file.endsWith('.ts') && file !== REGISTRY && !FOLDERS.includes(file.split('/')[0]!));

describe('A provider consists of a folder and a registry entry', () => {
  it.each(FOLDERS)('%s has a folder with its facts', (folder) => {
    expect(readdirSync(join(DRIVERS, folder))).toContain(`${folder}.facts.ts`);
  });

  it.each(FOLDERS)('%s has one registry entry and its import', (folder) => {
    const naming = read(REGISTRY)
      .split('\n')
      .filter((line) => namedIn(line).includes(folder));
    expect(naming).toEqual([
      expect.stringMatching(/^import /),
      expect.stringMatching(`^  ${folder.toUpperCase()}: entry\\(`),
    ]);
  });

  it('no other file in libs/drivers names a provider', () => {
    const files = sharedFiles();
    expect(files).toContain('provider-driver.ts');
    const named = files.flatMap((file) =>
      namedIn(read(file))
        .filter((provider) => !OTHER_MEANINGS[file]?.includes(provider))
        .map((provider) => `${file}: ${provider}`),
    );
    expect(named).toEqual([]);
  });

  it('detects a provider’s name in any spelling', () => {
    expect(namedIn(`import { GCP_FACTS } from './x'; // of Vercel's`)).toEqual(['gcp', 'vercel']);
    expect(namedIn('createAwsDriver(); const azureGroup = agentAbsence')).toEqual(['agent', 'aws', 'azure']);
    expect(namedIn('laws of agents')).toEqual([]);
  });
});
