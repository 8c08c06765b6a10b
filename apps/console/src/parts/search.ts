type Reader<Value> = (given: unknown) => Value | undefined;
type Given = Readonly<Record<string, unknown>>;

/** of each page of a list */
export const PAGE_SIZE = 50;

const MAX_LENGTH = 200;
const UUID = /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/i;

/** Any short text. An address that names only digits is read as a number, and `true` as such. */
export const text: Reader<string> = (given) => {
  const found = ['string', 'number', 'boolean'].includes(typeof given) ? String(given).trim() : '';
  return found === '' || found.length > MAX_LENGTH ? undefined : found;
};

const textThat =
  (fits: (found: string) => boolean): Reader<string> =>
  (given) => {
    const found = text(given);
    return found !== undefined && fits(found) ? found : undefined;
  };

export const id = textThat((found) => UUID.test(found));
export const time = textThat((found) => !Number.isNaN(Date.parse(found)));

/** Counted from 0, which is left out. */
export const page: Reader<number> = (given) =>
  Number.isSafeInteger(given) && Number(given) > 0 ? Number(given) : undefined;

export const oneOf =
  <Value extends string>(values: readonly Value[]): Reader<Value> =>
  (given) =>
    values.find((value) => value === given);

/** Reads what a screen's address holds, its filters, tab and page. What does not fit is undefined: left out, it would stay. */
export const searchOf =
  <Shape extends Readonly<Record<string, Reader<unknown>>>>(shape: Shape) =>
  (given: Given): { [Name in keyof Shape]?: NonNullable<ReturnType<Shape[Name]>> | undefined } => {
    const read = Object.entries(shape).map(([name, reader]) => [name, reader(given[name])] as const);
    // each value is of its reader
    return Object.fromEntries(read) as never;
  };

/** What the addresses of lists hold. */
const LIST = {
  search: text,
  sort: text,
  page,
  state: text,
  status: text,
  provider: text,
  label: text,
  isOrgAdmin: text,
  contains: text,
  eventType: text,
  actorEmail: text,
  roleId: id,
  userId: id,
  resourceId: id,
  from: time,
  to: time,
};

/** Of a list on one of several tabs. */
export const listOn = <Tab extends string>(tabs: readonly Tab[]) => searchOf({ ...LIST, tab: oneOf(tabs) });

export const list = searchOf(LIST);

/** Without what is undefined, as requests have it. */
export const defined = <Search extends object>(search: Search) =>
  Object.fromEntries(Object.entries(search).filter(([, value]) => value !== undefined)) as {
    [Name in keyof Search]?: Exclude<Search[Name], undefined>;
  };
