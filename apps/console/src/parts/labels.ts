/** What is entered with commas between. */
export const wordsIn = (entered: string): string[] =>
  entered
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');

/** Key and value of each label that is entered: `env=prod, team=web`. */
const pairsIn = (entered: string): (readonly [key: string, value: string])[] =>
  wordsIn(entered).map((word) => {
    const [key = '', ...value] = word.split('=');
    return [key.trim(), value.join('=').trim()];
  });

export const labelsIn = (entered: string): Record<string, string> => Object.fromEntries(pairsIn(entered));

type Labelled = { readonly labels: Readonly<Record<string, string>> };

/** Without the labels that each resource has by itself. */
export const ownLabelsOf = <Item extends Labelled>(item: Item): Item => ({
  ...item,
  labels: Object.fromEntries(Object.entries(item.labels).filter(([key]) => !key.startsWith('drawbridge/'))),
});

/** Own labels as they are entered. */
export const labelsText = (item: Labelled): string =>
  Object.entries(ownLabelsOf(item).labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(', ');

type Selector = Record<string, string[]>;

/** Several values of one key are alternatives. null: nothing is entered */
export function selectorIn(entered: string): Selector | null {
  const selector: Selector = {};
  for (const [key, value] of pairsIn(entered)) (selector[key] ??= []).push(value);
  return Object.keys(selector).length === 0 ? null : selector;
}

export const selectorText = (selector: Readonly<Selector> | null): string =>
  Object.entries(selector ?? {})
    .flatMap(([key, values]) => values.map((value) => `${key}=${value}`))
    .join(', ');

/** Each choice of one value of every key, as labels: no resource has two of them. */
export const combinationsOf = (selector: Readonly<Selector>): readonly (readonly string[])[] =>
  Object.entries(selector).reduce<readonly (readonly string[])[]>(
    (before, [key, values]) =>
      before.flatMap((labels) => values.map((value) => [...labels, `${key}=${value}`])),
    [[]],
  );
