const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** Shorter beginnings of ids are taken for names. */
const ID_PREFIX = /^[0-9a-f]{4}[0-9a-f-]{0,31}$/i;
const MAX_SHOWN = 10;

/** A name that belongs to nothing, or to several things. */
export class UnknownName extends Error {
  override readonly name = 'UnknownName';
}

export const isId = (text: string): boolean => UUID.test(text);

/** Ids as people read and give them. */
export const shortId = (id: string): string => id.slice(0, 8);

interface Thing {
  readonly id: string;
  readonly name?: string;
}

/** What a name or the beginning of an id means: the exact name first, then one in other letters' case, then the id. */
export function meantBy<T extends Thing>(
  given: string,
  known: readonly T[],
  namesOf: (thing: T) => readonly string[] = ownName,
): readonly T[] {
  const composed = given.normalize('NFC');
  const lower = composed.toLowerCase();
  const found = [
    (thing: T) => namesOf(thing).some((name) => name.normalize('NFC') === composed),
    (thing: T) => namesOf(thing).some((name) => name.normalize('NFC').toLowerCase() === lower),
    (thing: T) => ID_PREFIX.test(given) && thing.id.startsWith(lower),
  ].map((fits) => known.filter(fits));
  return found.find(({ length }) => length > 0) ?? [];
}

const ownName = ({ name = '' }: Thing): string[] => [name];

/**
 * The only one that is meant, see `meantBy`.
 * @param namesOf of each thing, the one to be shown first
 * @throws UnknownName with those there are
 */
export function named<T extends Thing>(
  given: string,
  known: readonly T[],
  noun: { readonly one: string; readonly several: string },
  namesOf: (thing: T) => readonly string[] = ownName,
): T {
  const found = meantBy(given, known, namesOf);
  if (found.length === 1) return found[0]!;
  if (found.length > 1) {
    const ids = found.map(({ id }) => id).join(', ');
    throw new UnknownName(`Several ${noun.several} are named "${given}": give the id, one of ${ids}`);
  }
  const lower = given.toLowerCase();
  const all = known.map((thing) => namesOf(thing)[0] ?? '');
  const close = all.filter((name) => name.toLowerCase().includes(lower));
  const shown = (close.length > 0 ? close : all).slice(0, MAX_SHOWN).map((name) => `"${name}"`);
  const hint = shown.length === 0 ? `there are no ${noun.several} yet` : `there are ${shown.join(', ')}`;
  throw new UnknownName(`There is no ${noun.one} "${given}": ${hint}`);
}
