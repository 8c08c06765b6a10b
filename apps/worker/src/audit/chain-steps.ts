import type { Tx } from '#entities';
import type { OrganizationId } from '#rules';
import type { AuditChainStore, ChainLink, ExportedRange } from '#tenant-store';
import type { ExportFolder } from './export-folder';

/** The next part of a chain: a link, or a range that is in an export. */
export type ChainStep =
  | { readonly kind: 'link'; readonly link: ChainLink }
  /** `isRead`: its links came before */
  | { readonly kind: 'range'; readonly range: ExportedRange; readonly isRead: boolean };

const BEFORE_ALL = String(-(2n ** 63n));

/**
 * An organization's chain from its beginning: links of the database, and for the ranges that are no longer there those of
 * their exports.
 * @param exports null: ranges are passed over
 * @throws ExportProblem
 */
export async function* chainSteps(
  tx: Tx,
  chain: AuditChainStore,
  organization: OrganizationId,
  exports: ExportFolder | null,
  batchSize: number,
): AsyncGenerator<ChainStep> {
  const ranges = await chain.listExported(tx, organization);
  const [lowest] = await chain.linksAfter(tx, organization, BEFORE_ALL, 1);
  if (lowest && BigInt(lowest.position) < 1n) yield { kind: 'link', link: lowest };
  let after = '0';
  for (const range of ranges) {
    const { firstPosition, lastPosition } = range;
    const before = String(BigInt(firstPosition) - 1n);
    yield* linksUpTo(tx, chain, organization, { after, last: before }, batchSize);
    if (exports) for await (const link of exports.links(range)) yield { kind: 'link', link };
    yield { kind: 'range', range, isRead: exports !== null };
    after = lastPosition;
  }
  yield* linksUpTo(tx, chain, organization, { after, last: null }, batchSize);
}

/** @param last null: to the end of the chain */
async function* linksUpTo(
  tx: Tx,
  chain: AuditChainStore,
  organization: OrganizationId,
  { after: first, last }: { readonly after: string; readonly last: string | null },
  batchSize: number,
): AsyncGenerator<ChainStep> {
  const isBeforeLast = (position: string): boolean => last === null || BigInt(position) < BigInt(last);
  for (let after = first; isBeforeLast(after);) {
    const links = await chain.linksAfter(tx, organization, after, batchSize);
    for (const link of links) {
      if (last !== null && BigInt(link.position) > BigInt(last)) return;
      yield { kind: 'link', link };
    }
    if (links.length < batchSize) return;
    after = links.at(-1)!.position;
  }
}
