import { bodyOf, type Schemas } from '#client';
import { type ExitCode, usageFailure } from '../../exit-codes';
import { listOption, type Call, type Definition } from '../../program';
import { labelOption, labelsOf } from './options';
import { inBatches, showResults } from './results';
import { idsOf } from './things';

interface LabelOptions {
  readonly label: readonly string[];
  readonly unlabel: readonly string[];
}

export const labelling: Definition<LabelOptions> = {
  usage: 'label <name|id...>',
  about: 'give labels to some, or take them away',
  examples: ['resources label --label env=prod orders billing', 'resources label --unlabel env orders'],
  options: [labelOption('added, or given another value'), listOption('--unlabel <key>', 'taken away')],
  run: changeLabels,
};

async function changeLabels(call: Call<LabelOptions>): Promise<ExitCode> {
  const { api, given, output } = call;
  const { label: added, unlabel: remove } = call.options;
  if (added.length + remove.length === 0) throw usageFailure('Give what to change: --label or --unlabel');
  const ids = await idsOf(api, 'resource', given);
  const rows: (Schemas['BulkResultDto'] & { name: string })[] = [];
  for (const resourceIds of inBatches([...new Set(ids)])) {
    const body = { resourceIds, set: labelsOf(added), remove: [...remove] };
    const { results } = await bodyOf(api.POST('/api/v1/resources/labels', { body }));
    rows.push(...results.map((result) => ({ ...result, name: given[ids.indexOf(result.id!)]! })));
  }
  return showResults(rows, output);
}
