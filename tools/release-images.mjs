import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { step } from './progress.mjs';
import { run } from './run.mjs';

const TARGETS = ['worker', 'agent', 'api'];

/** Where the API's image has what hosts download. */
const DOWNLOADS = 'drawbridge/dist/downloads';

/** @typedef {{ mediaType: string, digest: string, size: number, annotations?: Record<string, string> }} Blob */
/** @typedef {{ config: Blob, layers: Blob[] }} Manifest */

/**
 * Builds the images and writes them into one archive, in which they share their layers. It is an OCI layout with the list
 * that `docker load` reads beside it.
 * @param {{ version: string, date: string, folder: string, work: string }} release `date` in seconds
 */
export async function releaseImages({ version, date, folder, work }) {
  // such as another base, where registries are out of reach
  const options = (process.env['RELEASE_BUILD_OPTIONS'] ?? '').split(/\s+/).filter(Boolean);
  // in docker's format, as OCI's has no health check
  const fixed = ['--format', 'docker', '--layers', '--timestamp', date, '--file', 'deploy/Dockerfile'];
  const epoch = ['--build-arg', `SOURCE_DATE_EPOCH=${date}`];
  for (const target of TARGETS) {
    const name = nameOf(target, version);
    await step(`Building ${name}...`, `Built ${name}`, () =>
      run('buildah', ['bud', ...fixed, ...epoch, ...options, '--target', target, '--tag', name, '.']),
    );
  }
  const layout = join(work, 'images');
  mkdirSync(layout);
  const archive = join(folder, `drawbridge-images-${version}-${process.arch}.tar`);
  await step('Writing the archive of the images...', 'Images written', async () => {
    for (const target of TARGETS) {
      const name = nameOf(target, version);
      await run('buildah', ['push', '--quiet', name, `oci:${layout}:${name}`]);
    }
    const layers = complete(layout);
    await run('tar', [
      '--sort=name',
      `--mtime=@${date}`,
      '--owner=0',
      '--group=0',
      '--numeric-owner',
      '-cf',
      archive,
      '-C',
      layout,
      '.',
    ]);
    const [top] = layers[nameOf('api', version)]?.slice(-1) ?? [];
    await run('tar', ['-xzf', join(layout, String(top)), '-C', folder, '--strip-components=2', DOWNLOADS]);
  });
  rmSync(layout, { recursive: true });
}

/**
 * @param {string} target
 * @param {string} version
 */
const nameOf = (target, version) => `drawbridge-${target}:${version}`;

/**
 * Adds what buildah leaves out of a layout: the health checks, which Docker reads there too, and `manifest.json`, without
 * which Docker loads no archive unless it stores images as containerd does.
 * @param {string} layout
 * @returns {Record<string, string[]>} the layers' files by the image's name
 */
function complete(layout) {
  /** @param {Blob} blob */
  const pathOf = ({ digest }) => join('blobs', digest.replace(':', '/'));
  /** @param {Blob} blob */
  const read = (blob) => JSON.parse(readFileSync(join(layout, pathOf(blob)), 'utf8'));
  /**
   * @param {Blob} blob
   * @param {unknown} value
   * @returns {Blob}
   */
  const rewritten = (blob, value) => {
    const text = JSON.stringify(value);
    rmSync(join(layout, pathOf(blob)), { force: true });
    const digest = `sha256:${createHash('sha256').update(text).digest('hex')}`;
    const changed = { ...blob, digest, size: Buffer.byteLength(text) };
    writeFileSync(join(layout, pathOf(changed)), text);
    return changed;
  };
  /** @type {{ manifests: Blob[] }} */
  const index = JSON.parse(readFileSync(join(layout, 'index.json'), 'utf8'));
  const images = index.manifests.map((blob) => {
    const name = String(blob.annotations?.['org.opencontainers.image.ref.name']);
    /** @type {Manifest} */
    const manifest = read(blob);
    const inspected = JSON.parse(
      execFileSync('buildah', ['inspect', '--type', 'image', name], { encoding: 'utf8' }),
    );
    const { Healthcheck } = inspected.Docker.config;
    const config = read(manifest.config);
    manifest.config = rewritten(manifest.config, { ...config, config: { ...config.config, Healthcheck } });
    const entry = { Config: pathOf(manifest.config), RepoTags: [name], Layers: manifest.layers.map(pathOf) };
    return { blob: rewritten(blob, manifest), entry };
  });
  index.manifests = images.map(({ blob }) => blob);
  writeFileSync(join(layout, 'index.json'), JSON.stringify(index));
  writeFileSync(join(layout, 'manifest.json'), JSON.stringify(images.map(({ entry }) => entry)));
  return Object.fromEntries(images.map(({ entry }) => [String(entry.RepoTags[0]), entry.Layers]));
}
