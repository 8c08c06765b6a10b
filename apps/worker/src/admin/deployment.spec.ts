import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { embeddedDatabaseUrl } from './deployment';

it('The URL of the embedded database follows data-location.json when the launcher moved the data', () => {
  const folder = mkdtempSync(join(tmpdir(), 'drawbridge-url-'));
  const elsewhere = join(folder, 'elsewhere');
  for (const made of [elsewhere, join(folder, 'postgres')]) mkdirSync(made);
  writeFileSync(join(folder, 'postgres', 'data-location.json'), JSON.stringify({ data: elsewhere }));
  writeFileSync(join(elsewhere, 'password'), 'secret\n');
  writeFileSync(join(elsewhere, 'port'), '5434\n');
  expect(embeddedDatabaseUrl(folder)).toContain('secret@127.0.0.1:5434/');
  rmSync(folder, { recursive: true });
});
