/** Written into every rule of ours, to distinguish it from unmanaged rules. */
export interface OwnershipMark {
  /** the deployment that wrote it: several may share a cloud account */
  readonly deployment: string;
  readonly ruleId: string;
  /** planned end of its last holder at the time of writing, seconds since 1970; null: no planned end */
  readonly expiresAt: number | null;
}

const MARK =
  /^drawbridge:([a-z0-9-]{1,32}):([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}):(0|[1-9]\d{0,11}|never)$/;

/** `drawbridge:<deployment>:<rule id>:<expiry>`, at most 100 characters of a-z, 0-9, `:` and `-`: fits every provider. */
export function formatMark(mark: OwnershipMark): string {
  return `drawbridge:${mark.deployment}:${mark.ruleId}:${mark.expiresAt ?? 'never'}`;
}

/** Parses a mark. @returns null when the text is not exactly a mark */
export function parseMark(text: string | null | undefined): OwnershipMark | null {
  const [, deployment, ruleId, expiry] = MARK.exec(text ?? '') ?? [];
  if (!deployment || !ruleId || !expiry) return null;
  return { deployment, ruleId, expiresAt: expiry === 'never' ? null : Number(expiry) };
}
