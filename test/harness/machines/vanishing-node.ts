import { copyFileSync, linkSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A copy of Node.js that can be taken away: what it runs then starts no process with it. */
export function vanishingNode(node: string): { readonly node: string; readonly vanish: () => void } {
  const folder = mkdtempSync(join(tmpdir(), 'drawbridge-node-'));
  const copy = join(folder, 'node');
  try {
    linkSync(node, copy);
  } catch {
    // on another file system
    copyFileSync(node, copy);
  }
  return { node: copy, vanish: () => rmSync(folder, { recursive: true, force: true }) };
}
