/** Written into every cloud rule of ours, so that reading a target tells ours from unmanaged. */
export interface OwnershipMark {
  /** which Drawbridge wrote it: two deployments may share a cloud account */
  readonly deployment: string;
  readonly ruleId: string;
  /** when its last holder was due to end at the time of writing, seconds since 1970; null: no end planned */
  readonly expiresAt: number | null;
}

const MARK =
  /^drawbridge:([a-z0-9-]{1,32}):([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}):(0|[1-9]\d{0,11}|never)$/;

/** `drawbridge:<deployment>:<rule id>:<expiry>`, at most 100 characters of a-z, 0-9, `:` and `-`: fits every provider. */
export function formatMark(mark: OwnershipMark): string {
  return `drawbridge:${mark.deployment}:${mark.ruleId}:${mark.expiresAt ?? 'never'}`;
}

/** Reads a mark; null when the text is none of ours, however similar. */
export function parseMark(text: string | null | undefined): OwnershipMark | null {
  const [, deployment, ruleId, expiry] = MARK.exec(text ?? '') ?? [];
  if (!deployment || !ruleId || !expiry) return null;
  return { deployment, ruleId, expiresAt: expiry === 'never' ? null : Number(expiry) };
}
