import { chownSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Traffic } from '#rules';
import { GuardFile, NOTHING_DECIDED, type GuardDecisions } from './guard-file';

const SSH: readonly Traffic[] = [{ protocol: 'tcp', ports: [22] }];
const ALL: readonly Traffic[] = [{ protocol: 'all', ports: [] }];

const guarding = (guarded: readonly Traffic[]): GuardDecisions => ({ ...NOTHING_DECIDED, guarded });

describe('The guard file', () => {
  let folder: string;
  let path: string;
  let warnings: string[];
  let file: GuardFile;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'guard-file-'));
    path = join(folder, 'guard.json');
    warnings = [];
    file = new GuardFile(path, (message) => warnings.push(message));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('knows nothing before it is written', () => {
    expect(file.read()).toBeNull();
    expect(warnings).toEqual([]);
  });

  it('is readable by its user only, and keeps the copy before', async () => {
    await file.write(guarding(SSH));
    await file.write(guarding(ALL));
    expect(file.read()).toEqual(guarding(ALL));
    expect(JSON.parse(readFileSync(`${path}.previous`, 'utf8'))).toMatchObject({ guarded: SSH });
    for (const one of [path, `${path}.previous`]) expect(statSync(one).mode & 0o777).toBe(0o600);
  });

  it.each([
    ['empty', ''],
    ['truncated', '{"format":1,"guar'],
    ['of another program', '{"name":"drawbridge"}'],
    ['of a newer format', '{"format":2,"guarded":[]}'],
    ['with one invalid port', '{"format":1,"guarded":[{"protocol":"tcp","ports":[22,0]}]}'],
  ])('%s: the copy before counts, and a warning names the file', async (_, text) => {
    await file.write(guarding(SSH));
    await file.write(guarding(ALL));
    writeFileSync(path, text);
    expect(file.read()).toEqual(guarding(SSH));
    expect(warnings).toEqual([expect.stringContaining(`${path} cannot be used`)]);
  });

  it('keeps no copy that guards nothing, as before the first verification', async () => {
    await file.write(NOTHING_DECIDED);
    await file.write(guarding(SSH));
    writeFileSync(path, 'damaged');
    expect(file.read()).toEqual(guarding(SSH));
  });

  it('damaged: the next write does not replace the readable copy before with it', async () => {
    await file.write(guarding(SSH));
    await file.write(guarding(ALL));
    writeFileSync(path, 'damaged');
    await file.write(guarding(ALL));
    writeFileSync(path, 'damaged again');
    expect(file.read()).toEqual(guarding(SSH));
  });

  it('belongs to the owner of its folder, also when an operator wrote it as root', async () => {
    if (process.getuid?.() === 0) chownSync(folder, 65_534, 65_534);
    await file.write(guarding(SSH));
    expect(statSync(path).uid).toBe(statSync(folder).uid);
  });
});
