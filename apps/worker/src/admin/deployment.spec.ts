import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { embeddedDatabaseUrl } from './deployment';

describe('embeddedDatabaseUrl', () => {
  const folders: string[] = [];
  const dataDir = (): string => {
    folders.push(mkdtempSync(join(tmpdir(), 'drawbridge-url-')));
    return folders.at(-1)!;
  };
  afterAll(() => folders.forEach((folder) => rmSync(folder, { recursive: true })));

  it('reads password and port from the data folder', () => {
    const folder = dataDir();
    mkdirSync(join(folder, 'postgres'));
    writeFileSync(join(folder, 'postgres', 'password'), 'a_b-c\n');
    writeFileSync(join(folder, 'postgres', 'port'), '5433\n');
    expect(embeddedDatabaseUrl(folder)).toBe('postgresql://postgres:a_b-c@127.0.0.1:5433/drawbridge');
  });

  it('follows data-location.json when the launcher moved the data', () => {
    const [folder, elsewhere] = [dataDir(), dataDir()];
    mkdirSync(join(folder, 'postgres'));
    writeFileSync(join(folder, 'postgres', 'data-location.json'), JSON.stringify({ data: elsewhere }));
    writeFileSync(join(elsewhere, 'password'), 'secret\n');
    writeFileSync(join(elsewhere, 'port'), '5434\n');
    expect(embeddedDatabaseUrl(folder)).toContain('secret@127.0.0.1:5434/');
  });

  it('returns null when no database was ever started', () => {
    expect(embeddedDatabaseUrl(dataDir())).toBeNull();
  });
});
