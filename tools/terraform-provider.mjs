/** Builds the provider for Terraform and OpenTofu, as registries take it. The same commit gives the same bytes. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PROVIDER_FILES } from './downloads.mjs';
import { ROOT } from './files.mjs';

const MODULE = join(ROOT, 'integrations/terraform');
const NAME = 'terraform-provider-drawbridge';
/** Of TERRAFORM_SYSTEMS, to build fewer than a release has: each takes a minute of a core. */
const SYSTEMS = (
  process.env['TERRAFORM_SYSTEMS'] ?? 'linux_amd64 linux_arm64 darwin_amd64 darwin_arm64 windows_amd64'
).split(' ');
const NOTICES = 'NOTICES';
/** Protocol 6.0 is spoken by Terraform 1.0 and newer, and by OpenTofu. */
const MANIFEST = { version: 1, metadata: { protocol_versions: ['6.0'] } };
/** Algorithms of OpenPGP that registries take. */
const ALGORITHMS = ['1', '17'];

/** @typedef {{ path: string, version: string, folder: string }} Module */

/** @param {string[]} args @param {NodeJS.ProcessEnv} [env] */
const go = (args, env) =>
  execFileSync('go', args, { cwd: MODULE, env: { ...process.env, ...env }, encoding: 'utf8' });

/** The Go modules that are part of the provider. @returns {Module[]} */
export function providerModules() {
  const format = '{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}} {{.Dir}}{{end}}{{end}}';
  const lines = new Set(go(['list', '-deps', '-f', format, '.']).split('\n').filter(Boolean));
  return [...lines].toSorted().map((line) => {
    const [path = '', version = '', folder = ''] = line.split(' ');
    return { path, version, folder };
  });
}

/** @throws Error that says what to install */
export function checkGo() {
  for (const [program, fix] of [
    ['go', 'install Go, or add --without-terraform'],
    ['zip', 'apt-get install zip'],
  ]) {
    try {
      execFileSync(String(program), [program === 'go' ? 'version' : '-v'], { stdio: 'ignore' });
    } catch {
      throw new Error(`${program} is missing, which builds the Terraform provider: ${fix}.`);
    }
  }
}

/**
 * Writes the archives, the manifest and their checksums, where builds of the API take those for Linux from.
 * @param {string} version
 * @param {string} date in seconds since 1970
 */
export function buildProvider(version, date) {
  const work = mkdtempSync(join(tmpdir(), 'drawbridge-terraform-'));
  const written = join(ROOT, PROVIDER_FILES);
  rmSync(written, { recursive: true, force: true });
  mkdirSync(written, { recursive: true });
  const file = (/** @type {string} */ rest) => join(written, `${NAME}_${version}_${rest}`);
  writeFileSync(join(work, NOTICES), notices());
  for (const system of SYSTEMS) {
    const [GOOS, GOARCH] = system.split('_');
    const binary = `${NAME}_v${version}${GOOS === 'windows' ? '.exe' : ''}`;
    const flags = ['-trimpath', '-buildvcs=false', `-ldflags=-s -w -buildid= -X main.version=${version}`];
    go(['build', ...flags, '-o', join(work, binary), '.'], { GOOS, GOARCH, CGO_ENABLED: '0' });
    for (const name of [binary, NOTICES]) {
      chmodSync(join(work, name), name === binary ? 0o755 : 0o644);
      utimesSync(join(work, name), Number(date), Number(date));
    }
    // without the owner and the times of this machine
    const env = { ...process.env, TZ: 'UTC' };
    execFileSync('zip', ['-X', '-q', file(`${system}.zip`), binary, NOTICES], { cwd: work, env });
  }
  writeFileSync(file('manifest.json'), `${JSON.stringify(MANIFEST)}\n`);
  const sums = readdirSync(written)
    .toSorted()
    .map((name) => `${hashOf(join(written, name))}  ${name}\n`);
  writeFileSync(file('SHA256SUMS'), sums.join(''));
  rmSync(work, { recursive: true });
  return file('SHA256SUMS');
}

/** @param {string} path */
const hashOf = (path) => createHash('sha256').update(readFileSync(path)).digest('hex');

/** The licences of what is in the binary. */
const notices = () =>
  providerModules()
    .map(({ path, version, folder }) => {
      const licence = readdirSync(folder).find((name) => /^(licen[cs]e|copying)/i.test(name));
      if (licence === undefined) throw new Error(`${path} has no licence`);
      return `${path} ${version}\n\n${readFileSync(join(folder, licence), 'utf8')}\n`;
    })
    .join(`${'-'.repeat(80)}\n\n`);

/**
 * Signs checksums as registries want it: a detached OpenPGP signature by an RSA or DSA key.
 * @param {string} sums
 * @param {string} keyFile a private key without a passphrase
 * @throws Error when it is another key
 */
export function signProvider(sums, keyFile) {
  if (!existsSync(keyFile)) throw new Error(`TERRAFORM_SIGNING_KEY_FILE: there is no ${keyFile}.`);
  const home = mkdtempSync(join(tmpdir(), 'drawbridge-gpg-'));
  const gpg = (/** @type {string[]} */ ...args) =>
    execFileSync('gpg', ['--homedir', home, '--batch', '--quiet', ...args], { encoding: 'utf8' });
  try {
    gpg('--import', keyFile);
    const [algorithm = ''] =
      gpg('--list-secret-keys', '--with-colons').match(/(?<=^sec:[^:]*:[^:]*:)\d+/m) ?? [];
    if (!ALGORITHMS.includes(algorithm))
      throw new Error(`${keyFile} is no RSA key, which registries demand.`);
    gpg('--detach-sign', '--output', `${sums}.sig`, sums);
  } finally {
    execFileSync('gpgconf', ['--homedir', home, '--kill', 'all'], { stdio: 'ignore' });
    rmSync(home, { recursive: true, force: true });
  }
}
