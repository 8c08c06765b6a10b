import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { CannotStart } from './cannot-start';
import { codeOf } from './processes';

/**
 * Reads a file of texts by name.
 * @returns an empty object when there is no such file
 * @throws CannotStart when it is no JSON object of texts: what it held may be needed, so it is not written over
 */
export function readPrivateFile(path: string): Record<string, string> {
  try {
    const content: unknown = JSON.parse(readFileSync(path, 'utf8'));
    if (isTexts(content)) return content;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return {};
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new CannotStart(`${path} is damaged: repair it or move it away.`);
}

/** Writes the file whole or not at all, readable by its owner only. */
export function writePrivateFile(path: string, content: Readonly<Record<string, string>>): void {
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, `${JSON.stringify(content, undefined, 2)}\n`, { mode: 0o600, flush: true });
  renameSync(draft, path);
}

const isTexts = (content: unknown): content is Record<string, string> =>
  typeof content === 'object' &&
  content !== null &&
  !Array.isArray(content) &&
  Object.values(content).every((value) => typeof value === 'string');
