import { createReadStream, existsSync } from 'node:fs';
import { mkdir, open, rename, rm, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { ChainLink, ExportedRange } from '#tenant-store';

type BegunRange = Pick<ExportedRange, 'organizationId' | 'month' | 'hashBefore'>;

/** Why an export cannot be read, or is not what was exported. */
export class ExportProblem extends Error {}

/**
 * A folder with exported audit records: a file for each range of a chain, in JSON lines. A line is one link, the record with
 * its position and its seal; the last one, `{"end": …}`, says which range it is and in which hash it ends.
 */
export class ExportFolder {
  constructor(private readonly path: string) {}

  async create(): Promise<void> {
    await mkdir(this.path, { recursive: true, mode: 0o700 });
  }

  /** @param range `hashBefore`: of the seal before it */
  async begin(range: BegunRange): Promise<ExportFile> {
    const partial = join(this.path, `.audit-${range.organizationId}.partial`);
    return new ExportFile(this.path, partial, range, await open(partial, 'w', 0o600));
  }

  /** The path of a range's file. */
  pathOf(range: ExportedRange): string {
    return join(this.path, fileName(range));
  }

  /** The links of a range, as far as its file goes. @throws ExportProblem */
  async *links(range: ExportedRange): AsyncGenerator<ChainLink> {
    const path = this.pathOf(range);
    if (!existsSync(path)) throw new ExportProblem(`its export is missing: ${path}`);
    let end: ExportedRange | null = null;
    for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Infinity })) {
      const content = parsed(line, path);
      if (end !== null) throw new ExportProblem(`${path} goes on after its end`);
      if (content.end) end = content.end;
      else yield content as ChainLink;
    }
    const isSame = end !== null && KEYS.every((key) => end[key] === range[key]);
    if (!isSame)
      throw new ExportProblem(`${path} does not end as the database says: ${JSON.stringify(range)}`);
  }
}

const KEYS = ['organizationId', 'firstPosition', 'lastPosition', 'hashBefore', 'hash', 'month'] as const;

const fileName = ({ organizationId, month, firstPosition, lastPosition }: ExportedRange): string =>
  `audit-${organizationId}-${month}-${firstPosition}-${lastPosition}.jsonl`;

function parsed(line: string, path: string): Partial<ChainLink> & { readonly end?: ExportedRange } {
  try {
    return JSON.parse(line) as ChainLink;
  } catch {
    throw new ExportProblem(`${path} has a line that is no JSON`);
  }
}

/** The file of a range that is being written. It gets its name when it is complete and on disk. */
export class ExportFile {
  private first: string | null = null;
  private last: ChainLink | null = null;

  constructor(
    private readonly folder: string,
    private readonly partial: string,
    private readonly range: BegunRange,
    private readonly file: FileHandle,
  ) {}

  async write(links: readonly ChainLink[]): Promise<void> {
    this.first ??= links[0]?.position ?? null;
    this.last = links.at(-1) ?? this.last;
    await this.file.write(links.map((link) => `${JSON.stringify(link)}\n`).join(''));
  }

  /** @returns what was written */
  async end(): Promise<ExportedRange> {
    const range: ExportedRange = {
      ...this.range,
      firstPosition: this.first!,
      lastPosition: this.last!.position,
      hash: this.last!.hash,
    };
    await this.file.write(`${JSON.stringify({ end: range })}\n`);
    await this.file.sync();
    await this.file.close();
    await rename(this.partial, join(this.folder, fileName(range)));
    return range;
  }

  /** Instead of `end`. */
  async remove(): Promise<void> {
    await this.file.close();
    await rm(this.partial);
  }
}
