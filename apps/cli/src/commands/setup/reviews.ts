import { Option, type Command } from 'commander';
import { type Api, bodyOf, definedFields, everyPage, type Schemas, shortId } from '#client';
import { type ExitCode, usageFailure } from '../../exit-codes';
import { define, group, type Call } from '../../program';
import { timeText } from '../../terminal/times';
import { inBatches, showResults } from './results';

type Review = Schemas['ReviewDto'];
type Decision = Schemas['ReviewDecisionDto']['decision'];

export function registerReviews(program: Command): void {
  const reviews = group(program, 'reviews', 'rights to confirm again from time to time (administrators)');
  define(reviews, {
    usage: 'list',
    about: 'show who has which role, and the static IP rules, what is due first',
    isDefault: true,
    examples: ['reviews', 'reviews --due', 'reviews --due --output json'],
    options: [new Option('--due', 'only what is to be reviewed now')],
    run: list,
  });
  for (const [verb, decision, about] of [
    ['confirm', 'CONFIRM', 'confirm some: they are still needed'],
    ['remove', 'REMOVE', 'remove some: the user loses the role, or the rule is deleted'],
  ] as const)
    define(reviews, {
      usage: `${verb} <id...>`,
      about,
      examples: [`reviews ${verb} 6c5f2a7e --note "On call until March"`],
      options: [new Option('--note <text>', 'is recorded with the decision')],
      run: (call: Call<{ readonly note?: string }>) => decide(call, decision),
    });
}

const all = async (api: Api, due?: boolean): Promise<Review[]> => {
  const kinds = ['MEMBERSHIP', 'STATIC_RULE'] as const;
  const found = kinds.map((kind) =>
    everyPage((page) => {
      const query = { ...page, kind, ...(due && { due }) };
      return bodyOf(api.GET('/api/v1/reviews', { params: { query } }));
    }),
  );
  return (await Promise.all(found)).flat();
};

async function list({ api, options: { due }, output }: Call<{ readonly due?: boolean }>): Promise<void> {
  const columns = {
    due: ({ dueAt, givenBy }: Review) => (dueAt === null ? (givenBy ?? 'never') : timeText(dueAt)),
    what: ({ kind, name }: Review) => `${kind === 'MEMBERSHIP' ? 'role' : 'static IP rule'} ${name}`,
    who: ({ email }: Review) => email,
    resources: ({ resources }: Review) => String(resources),
    used: ({ lastUsedAt }: Review) => (lastUsedAt === null ? '' : timeText(lastUsedAt)),
    id: ({ id }: Review) => shortId(id),
  };
  output.list('reviews', await all(api, due), columns, 'Nothing is to be reviewed.');
}

/** @throws CommandFailure when an id means none or several */
async function decide(
  { api, given, options: { note }, output }: Call<{ readonly note?: string }>,
  decision: Decision,
): Promise<ExitCode> {
  const known = await all(api);
  const meant = given.map((id) => {
    const [one, ...others] = known.filter((review) => review.id.startsWith(id));
    if (one && others.length === 0) return one;
    const message = `${id} means ${one ? 'several' : 'none'} of the reviews`;
    throw usageFailure(message, 'reviews lists their ids');
  });
  const rows: (Schemas['BulkResultDto'] & { name: string })[] = [];
  for (const some of inBatches([...new Set(meant)])) {
    const decisions = some.map(({ kind, id }) => ({ kind, id, decision, ...definedFields({ note }) }));
    const { results } = await bodyOf(api.POST('/api/v1/reviews', { body: { decisions } }));
    rows.push(
      ...results.map((result, index) => ({ ...result, name: `${some[index]!.name}, ${some[index]!.email}` })),
    );
  }
  return showResults(rows, output);
}
