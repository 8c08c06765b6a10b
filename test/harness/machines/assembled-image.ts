import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

const ROOT = resolve(__dirname, '../../..');

/** What the Dockerfile copies into the image, in a folder that has no other packages above it. */
export interface AssembledImage {
  readonly folder: string;
  /** all production packages */
  readonly installedMb: number;
  /** the part of them that is in the image */
  readonly imageMb: number;
  readonly remove: () => Promise<void>;
}

export async function assembleImage(): Promise<AssembledImage> {
  const folder = await mkdtemp(join(tmpdir(), 'drawbridge-image-'));
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
  try {
    const script = join(ROOT, 'tools/image.mjs');
    const { stdout } = await promisify(execFile)(process.execPath, [script, folder]);
    const sizes = JSON.parse(stdout) as Pick<AssembledImage, 'installedMb' | 'imageMb'>;
    return { folder, ...sizes, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}
