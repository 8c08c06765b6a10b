import type { SourceEdit } from '../simulation/planted-bugs';

/** Sources loaded from now on are edited. */
export function editSources(edits: readonly SourceEdit[]): void;
