import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { banner } from './banner';

const addresses = { port: 3000, simulatorPort: 4666, publicUrl: 'http://localhost:3000', metricsPorts: null };
const own = { demo: null, mailLog: null, hasConsole: true, isClosed: false };
const demo = { email: 'a@demo.example', password: 'p', apiKey: 'k', refreshToken: 'once', slug: 'demo' };

describe('banner', () => {
  it('shows where mail goes: the log file when no mail server is configured', () => {
    expect(banner(addresses, { ...own, mailLog: '/data/logs/api.log' })).toContain('/data/logs/api.log');
    expect(banner(addresses, own)).toContain('  Mail           sent through SMTP_URL\n');
  });

  it.each([
    ['a link that signs in', demo, /^\n {2}Console +http:\/\/localhost:3000\/sign-in#refreshToken=once\n/],
    [
      'its address, with a second factor',
      { ...demo, refreshToken: null },
      /^\n {2}Console +http:\/\/localhost:3000\/\n/,
    ],
    ['its address, without a demo', null, /^\n {2}Console +http:\/\/localhost:3000\/\n/],
  ])('begins with the console: %s', (_, given, first) => {
    expect(banner(addresses, { ...own, demo: given })).toMatch(first);
  });

  it('stops a session with its key as it is, whatever letters the key has', () => {
    const text = banner(addresses, { ...own, demo: { ...demo, apiKey: 'adb_ID-id_Id' } });
    const line = text.split('\n').find((each) => each.includes('/stop'))!;
    const programs = mkdtempSync(join(tmpdir(), 'drawbridge-paste-'));
    const curl = `#!/bin/sh\necho "$@" '{"id":"3f0"}'\n`;
    writeFileSync(join(programs, 'curl'), curl, { mode: 0o755 });
    const env = { PATH: `${programs}:${process.env['PATH']}` };
    const sent = execFileSync('bash', ['-c', line], { env, encoding: 'utf8' });
    rmSync(programs, { recursive: true });
    expect(sent).toContain('X-API-Key: adb_ID-id_Id http://localhost:3000/api/v1/sessions/3f0/stop');
  });

  it('names no way in that does not count at an address of the network', () => {
    const text = banner({ ...addresses, publicUrl: 'http://10.0.0.5:3000' }, { ...own, demo });
    expect(text).toMatch(/^\n {2}Console +http:\/\/10\.0\.0\.5:3000\/\n/);
    expect(text).not.toContain('Company');
  });

  it('names the way in that is open', () => {
    expect(banner(addresses, own)).toContain('/auth/register');
    const closed = banner(addresses, { ...own, isClosed: true });
    expect(closed).toContain('npm run admin -- create-organization --name');
    expect(closed).not.toContain('/auth/register');
  });
});
