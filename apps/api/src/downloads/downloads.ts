import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Injectable } from '@nestjs/common';
import type { DownloadDto } from './dto/download.dto';

/** `dist/downloads`, beside the compiled applications. */
export const DOWNLOADS_FOLDER = resolve(__dirname, '../../../../downloads');
const CHECKSUMS = 'SHA256SUMS';

const DESCRIPTIONS: readonly (readonly [pattern: RegExp, description: string])[] = [
  [/^drawbridge\.mjs$/, 'The command line as one file, for Node.js 22 or newer'],
  [/^install-agent\.sh$/, 'Installs or upgrades the agent on a host'],
  [/^drawbridge-agent\.cjs$/, 'The agent as one file, for hosts with Node.js'],
  [/^drawbridge-agent-linux-.+\.xz$/, 'The agent as an executable that needs no Node.js'],
  [/^drawbridge-agent_.+\.deb$/, 'The agent as a package for Debian and Ubuntu'],
  [/^drawbridge-.+\.service$/, 'A unit for systemd, used by the installer'],
  [
    /^terraform-provider-drawbridge_.+\.zip$/,
    'The provider for Terraform and OpenTofu, for a mirror of your own',
  ],
  [/^SHA256SUMS$/, 'SHA-256 of the other files, for sha256sum --check'],
];

/**
 * The files of the build that people and hosts download. Only files that SHA256SUMS names are served. It is read with each request:
 * packages that are built while the API runs need no restart.
 */
@Injectable()
export class Downloads {
  async list(): Promise<DownloadDto[]> {
    const checksums = await unlessMissing(readFile(join(DOWNLOADS_FOLDER, CHECKSUMS)));
    if (!checksums) return [];
    const listed = [...checksums.toString('utf8').matchAll(/^([\da-f]{64}) {2}([\w.-]+)$/gm)];
    const files = listed.map(([, sha256, name]) => [name!, sha256!] as const);
    const own = [CHECKSUMS, createHash('sha256').update(checksums).digest('hex')] as const;
    const found = await Promise.all([...files, own].map(([name, sha256]) => this.describe(name, sha256)));
    return found.filter((file) => file !== null);
  }

  async find(name: string): Promise<DownloadDto | undefined> {
    return (await this.list()).find((file) => file.name === name);
  }

  private async describe(name: string, sha256: string): Promise<DownloadDto | null> {
    const [, description] = DESCRIPTIONS.find(([pattern]) => pattern.test(name)) ?? [];
    if (description === undefined) return null;
    const size = await unlessMissing(stat(join(DOWNLOADS_FOLDER, name)).then((file) => file.size));
    return size === null ? null : { name, size, sha256, description };
  }
}

/** @returns null when there is no such file */
async function unlessMissing<T>(reading: Promise<T>): Promise<T | null> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
}
