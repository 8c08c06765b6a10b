import type { Schemas } from '#client';
import { EXIT, type ExitCode } from '../../exit-codes';
import type { Output } from '../../output';

type Result = Schemas['BulkResultDto'];

/** As many objects as one request takes. */
const AT_ONCE = 100;

export function* inBatches<Item>(items: readonly Item[]): Generator<Item[]> {
  for (let from = 0; from < items.length; from += AT_ONCE) yield items.slice(from, from + AT_ONCE);
}

/** Shows what became of each of many objects. @returns whether all are as asked */
export function showResults(
  rows: readonly (Result & { readonly name: string })[],
  output: Output,
  empty = '',
): ExitCode {
  const columns = {
    name: ({ name }: (typeof rows)[number]) => name,
    outcome: ({ outcome }: Result) => outcome,
    message: ({ message }: Result) => message ?? '',
  };
  output.list('results', rows, columns, empty);
  return rows.every(({ outcome }) => outcome !== 'REFUSED') ? EXIT.ok : EXIT.failed;
}
