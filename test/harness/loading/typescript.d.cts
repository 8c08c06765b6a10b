import type { SourceEdit } from '../../simulation/planted-bugs';

/** Edits sources that are loaded from now on. */
export function editSources(edits: readonly SourceEdit[]): void;
