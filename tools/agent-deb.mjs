import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { UNITS } from './downloads.mjs';
import { readVersion, ROOT } from './files.mjs';
import { run } from './run.mjs';

/** Debian's names of the architectures. */
const DEBIAN = { x64: 'amd64', arm64: 'arm64' };

const NODE_NOTE =
  'The executable contains Node.js. Its license, and those of its parts: /usr/share/doc/drawbridge-agent/LICENSE.nodejs.gz';

/**
 * @typedef {object} Content
 * @property {import('./agent-executable.mjs').Architecture} architecture
 * @property {string} executable
 * @property {string} license of the Node.js in it
 */

/**
 * Writes the package for Debian and Ubuntu.
 * @param {Content} content
 * @param {string} work
 * @returns {Promise<string>} the package, in the folder `work`
 */
export async function writeDeb({ architecture, executable, license }, work) {
  const version = readVersion();
  const tree = join(work, `deb-${architecture}`);
  const source = join(ROOT, 'deploy', 'agent');
  put(tree, 'usr/bin/drawbridge-agent', readFileSync(executable), 0o755);
  for (const unit of UNITS)
    put(tree, `usr/lib/systemd/system/${basename(unit)}`, packagedUnit(join(ROOT, unit)));
  put(tree, 'etc/drawbridge-agent/environment', readFileSync(join(source, 'environment')));
  put(tree, 'usr/share/man/man8/drawbridge-agent.8.gz', gzip(join(source, 'drawbridge-agent.8')));
  const copyright = `${readFileSync(join(ROOT, 'LICENSE'), 'utf8')}\n${NODE_NOTE}\n`;
  put(tree, 'usr/share/doc/drawbridge-agent/copyright', copyright);
  put(tree, 'usr/share/doc/drawbridge-agent/LICENSE.nodejs.gz', gzip(license));

  for (const script of ['postinst', 'prerm', 'postrm']) {
    put(tree, `DEBIAN/${script}`, readFileSync(join(source, 'debian', script)), 0o755);
  }
  put(tree, 'DEBIAN/conffiles', '/etc/drawbridge-agent/environment\n');
  const control = readFileSync(join(source, 'debian', 'control'), 'utf8')
    .replace('@VERSION@', version)
    .replace('@ARCHITECTURE@', DEBIAN[architecture])
    .replace('@SIZE@', String(Math.ceil(sizeOf(tree) / 1024)));
  put(tree, 'DEBIAN/control', control);

  const file = join(work, `drawbridge-agent_${version}_${DEBIAN[architecture]}.deb`);
  await run('dpkg-deb', ['--root-owner-group', '-Zxz', '--build', tree, file]);
  return file;
}

/**
 * The unit of the repository with the path of the package, and without its first line, the path of a manual installation.
 * @param {string} file
 */
const packagedUnit = (file) =>
  readFileSync(file, 'utf8')
    .replace(/^# \/etc\/systemd\/system\/.*\n/, '')
    .replaceAll('/usr/local/bin', '/usr/bin');

/** @param {string} file */
const gzip = (file) => gzipSync(readFileSync(file), { level: 9 });

/**
 * @param {string} tree
 * @param {string} path
 * @param {string | Buffer} text
 */
function put(tree, path, text, mode = 0o644) {
  const file = join(tree, path);
  mkdirSync(join(file, '..'), { recursive: true, mode: 0o755 });
  writeFileSync(file, text);
  // the umask counts for writeFileSync
  chmodSync(file, mode);
}

/** @param {string} folder */
const sizeOf = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
