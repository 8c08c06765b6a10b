import { Option, type Command } from 'commander';
import { bodyOf, everyPage, shortId, type Api, type Schemas } from '#client';
import { CommandFailure, EXIT } from '../../exit-codes';
import { define, group, type Call } from '../../program';
import { timeText } from '../../terminal/times';

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
    ['confirm', 'CONFIRM', 'confirm one: it is still needed'],
    ['remove', 'REMOVE', 'remove one: the user loses the role, or the rule is deleted'],
  ] as const)
    define(reviews, {
      usage: `${verb} <id>`,
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
  output.list('reviews', await all(api, due), columns, { empty: 'Nothing is to be reviewed.' });
}

/** @throws CommandFailure when the id means none or several, or the decision is refused */
async function decide(
  { api, name, options: { note }, output }: Call<{ readonly note?: string }>,
  decision: Decision,
): Promise<void> {
  const [one, ...others] = (await all(api)).filter(({ id }) => id.startsWith(name));
  if (!one || others.length > 0)
    throw new CommandFailure(
      EXIT.usage,
      `${name} means ${one ? 'several' : 'none'} of the reviews`,
      'reviews lists their ids',
    );
  const body = { decisions: [{ kind: one.kind, id: one.id, decision, ...(note !== undefined && { note }) }] };
  const [result] = (await bodyOf(api.POST('/api/v1/reviews', { body }))).results;
  if (result!.outcome === 'REFUSED')
    throw new CommandFailure(EXIT.denied, result!.message ?? 'It was refused');
  output.result(result!, `${decision === 'CONFIRM' ? 'Confirmed' : 'Removed'}: ${one.name}, ${one.email}`);
}
