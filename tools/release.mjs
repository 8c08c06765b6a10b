/**
 * Writes a release into dist/release: `npm run release -- <version>`. `--without-images` and
 * `--without-terraform` leave these out. The checksums are signed with the Ed25519 key in the file RELEASE_SIGNING_KEY_FILE,
 * those of the provider with the RSA key of OpenPGP in TERRAFORM_SIGNING_KEY_FILE.
 */
import { execFileSync } from 'node:child_process';
import { createHash, createPrivateKey, createPublicKey, sign } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packClient } from './client-package.mjs';
import { DOWNLOADS, PROVIDER_FILES } from './downloads.mjs';
import { filesBelow, readVersion, ROOT } from './files.mjs';
import { step } from './progress.mjs';
import { releaseImages } from './release-images.mjs';
import { npm, run } from './run.mjs';
import { buildProvider, checkGo, providerModules, signProvider } from './terraform-provider.mjs';

const RELEASE = 'dist/release';
const CHART = 'deploy/chart';
const CHECKSUMS = 'SHA256SUMS';

/**
 * Output of git.
 * @param {string[]} args
 */
const git = (...args) => execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trimEnd();

/** @param {string} version @param {string} date */
async function releaseProvider(version, date) {
  await step('Building the Terraform provider...', 'Built the Terraform provider', async () => {
    const sums = buildProvider(version, date);
    const keyFile = process.env['TERRAFORM_SIGNING_KEY_FILE'];
    if (keyFile) signProvider(sums, keyFile);
    else warn('TERRAFORM_SIGNING_KEY_FILE is not set: no registry takes the provider.');
  });
}

/** @param {string} message */
const warn = (message) => console.warn(`\nWARNING: ${message}\n`);

/**
 * What has to be right before anything is built.
 * @param {string} version
 * @param {boolean} withImages
 * @param {boolean} withTerraform
 * @throws Error that says what to do
 */
function check(version, withImages, withTerraform) {
  if (!version)
    throw new Error('Usage: npm run release -- <version> [--without-images] [--without-terraform]');
  const own = readVersion();
  if (version !== own)
    throw new Error(
      `package.json has version ${own}: npm version ${version} --no-git-tag-version, and commit it.`,
    );
  const changes = git('status', '--porcelain');
  if (changes) throw new Error(`A release is made of a commit. Commit or stash these first:\n${changes}`);
  if (withImages) {
    try {
      execFileSync('buildah', ['--version'], { stdio: 'ignore' });
    } catch {
      throw new Error(
        'buildah is missing, which builds the images: apt-get install buildah, or --without-images.',
      );
    }
  }
  if (withTerraform) checkGo();
  return { notes: notesOf(version), key: signingKey() };
}

/** The section of the changelog. @param {string} version */
function notesOf(version) {
  const sections = readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8').split(/^(?=## )/m);
  const section = sections.find((each) => each.split(/\s/)[1] === version);
  if (section) return section;
  throw new Error(`CHANGELOG.md has no section "## ${version}": write what changes for those who run it.`);
}

function signingKey() {
  const file = process.env['RELEASE_SIGNING_KEY_FILE'];
  if (!file) return undefined;
  if (!existsSync(file)) throw new Error(`RELEASE_SIGNING_KEY_FILE: there is no ${file}.`);
  const key = createPrivateKey(readFileSync(file));
  if (key.asymmetricKeyType === 'ed25519') return key;
  throw new Error(`${file} is no Ed25519 key. A new one: openssl genpkey -algorithm ed25519 -out ${file}`);
}

/**
 * The chart as `helm package` writes it.
 * @param {string} version
 * @param {string} date
 */
async function packChart(version, date) {
  if (!existsSync(join(ROOT, CHART))) return warn(`There is no ${CHART}: the release has no chart.`);
  const facts = readFileSync(join(ROOT, CHART, 'Chart.yaml'), 'utf8');
  for (const key of ['version', 'appVersion']) {
    const value = new RegExp(`^${key}: *['"]?([^'"\\s]+)`, 'm').exec(facts)?.[1];
    if (value !== version)
      throw new Error(`${CHART}/Chart.yaml has ${key} ${value}: set ${version}, and commit it.`);
  }
  const archive = join(RELEASE, `drawbridge-chart-${version}.tgz`);
  const same = ['--sort=name', `--mtime=@${date}`, '--owner=0', '--group=0', '--numeric-owner'];
  await run('tar', [
    ...same,
    '--use-compress-program=gzip -n',
    '--transform=s,^chart,drawbridge,',
    '-cf',
    archive,
    '-C',
    'deploy',
    'chart',
  ]);
}

/**
 * The npm packages of API and worker, and the Go modules of the provider, as CycloneDX. The same commit gives the same text.
 * @param {string} version
 * @param {string} date seconds since 1970
 * @param {boolean} withTerraform
 */
function packagesOf(version, date, withTerraform) {
  const only = ['--sbom-format=cyclonedx', '--omit=dev', '--omit=optional', '--package-lock-only'];
  const bom = JSON.parse(execFileSync('npm', ['sbom', ...only], { cwd: ROOT, encoding: 'utf8' }));
  delete bom.serialNumber;
  bom.metadata.timestamp = new Date(Number(date) * 1000).toISOString();
  // npm takes the name of the folder
  Object.assign(bom.metadata.component, { name: 'drawbridge', version });
  for (const { path, version: release } of withTerraform ? providerModules() : []) {
    const purl = `pkg:golang/${path}@${release}`;
    bom.components.push({ 'bom-ref': purl, type: 'library', name: path, version: release, purl });
  }
  return JSON.stringify(bom, null, 2);
}

/** Names every file in SHA256SUMS, and signs that. @param {import('node:crypto').KeyObject | undefined} key */
function sumUp(key) {
  const lines = filesBelow(RELEASE)
    .toSorted()
    .map((path) => `${hashOf(path)}  ${path.slice(RELEASE.length + 1)}\n`);
  const sums = Buffer.from(lines.join(''));
  writeFileSync(join(ROOT, RELEASE, CHECKSUMS), sums);
  if (!key) return warn('RELEASE_SIGNING_KEY_FILE is not set: it cannot be verified who made this release.');
  writeFileSync(join(ROOT, RELEASE, `${CHECKSUMS}.sig`), sign(null, sums, key));
  const publicKey = createPublicKey(key).export({ type: 'spki', format: 'pem' });
  writeFileSync(join(ROOT, RELEASE, `${CHECKSUMS}.pem`), publicKey);
}

/** @param {string} path */
const hashOf = (path) =>
  createHash('sha256')
    .update(readFileSync(join(ROOT, path)))
    .digest('hex');

/**
 * @param {string} version
 * @param {{ withImages: boolean, withTerraform: boolean }} parts
 * @param {string} work
 */
async function release(version, { withImages, withTerraform }, work) {
  const { notes, key } = check(version, withImages, withTerraform);
  const date = git('log', '-1', '--format=%ct');
  process.env['SOURCE_DATE_EPOCH'] = date;
  const folder = join(ROOT, RELEASE);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  // before the images, which offer its archives for Linux
  rmSync(join(ROOT, PROVIDER_FILES), { recursive: true, force: true });
  if (withTerraform) {
    await releaseProvider(version, date);
    cpSync(join(ROOT, PROVIDER_FILES), join(folder, 'terraform'), { recursive: true });
  } else warn('The release has no Terraform provider.');
  if (withImages) {
    await releaseImages({ version, date, folder, work });
  } else {
    warn('The release has no images.');
    await step('Building what hosts download...', 'Built', () => npm('run', 'build:agent-packages'));
    cpSync(join(ROOT, DOWNLOADS), join(folder, 'downloads'), { recursive: true });
  }
  await packChart(version, date);
  await step('Packing the client...', 'Packed', () => packClient(folder, work));
  writeFileSync(join(folder, `drawbridge-${version}.cdx.json`), packagesOf(version, date, withTerraform));
  writeFileSync(join(folder, `CHANGES-${version}.md`), notes);
  sumUp(key);
  console.log(
    `${RELEASE}:\n${filesBelow(RELEASE)
      .toSorted()
      .map((path) => `  ${path.slice(RELEASE.length + 1)}`)
      .join('\n')}`,
  );
}

mkdirSync(join(ROOT, 'dist'), { recursive: true });
const work = mkdtempSync(join(ROOT, 'dist/.release-'));
try {
  const given = process.argv.slice(2);
  const [version] = given.filter((each) => !each.startsWith('--'));
  const withImages = !given.includes('--without-images');
  const withTerraform = !given.includes('--without-terraform');
  await release(version ?? '', { withImages, withTerraform }, work);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  rmSync(work, { recursive: true, force: true });
}
