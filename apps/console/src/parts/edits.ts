import { useState } from 'react';
import { Failure } from '../api';

type Fields = Readonly<Record<string, unknown>>;

/** By field of a form: those of an inner object, such as a config, have its name before theirs. */
const flat = (of: object): Fields =>
  Object.fromEntries(
    Object.entries(of).flatMap(([name, value]: [string, unknown]) =>
      typeof value === 'object' && value !== null && !Array.isArray(value)
        ? Object.entries(value).map(([inner, each]) => [`${name}.${inner}`, each])
        : [[name, value]],
    ),
  );

/** Lists of ids have no order, and an empty field is none. */
const textOf = (value: unknown): string =>
  JSON.stringify(
    Array.isArray(value) ? value.map(textOf).toSorted((a, b) => a.localeCompare(b)) : (value ?? ''),
  );

/** @throws Failure naming the fields of the form that others have changed, and that it does not show */
function refuseOverwriting(form: object, before: object, now: object): void {
  const [mine, drawn, theirs] = [flat(form), flat(before), flat(now)];
  const lost = Object.keys(mine).filter(
    (name) => textOf(theirs[name]) !== textOf(drawn[name]) && textOf(theirs[name]) !== textOf(mine[name]),
  );
  if (lost.length === 0) return;
  const conflictOf = (name: string): string =>
    `was changed by another person meanwhile${['string', 'number'].includes(typeof theirs[name]) ? `, to “${theirs[name] as string}”` : ''}. Save again to overwrite that.`;
  const fields = Object.fromEntries(lost.map((name) => [name, conflictOf(name)]));
  throw new Failure(`Not saved: ${lost.join(', ')} ${conflictOf('')}`, 409, 'CHANGED_MEANWHILE', fields);
}

type Answer<Data> = Promise<{ data?: Data | undefined }>;

/**
 * For a form that changes an object: sends what differs from the object as it is now. What another person has changed since the
 * form was drawn is reported first, once, rather than overwritten.
 * @param drawn the object as the form shows it
 * @param read reads it again
 * @returns sends a form; null: nothing was to be changed
 */
export function useEdit<Data extends object>(drawn: Data, read: () => Answer<Data>) {
  const [before, setBefore] = useState(drawn);
  return async <Body extends object>(
    form: Body,
    send: (changes: Partial<Body>) => Answer<Data>,
  ): Promise<Data | null> => {
    const now = (await read()).data!;
    setBefore(now);
    refuseOverwriting(form, before, now);
    const isChanged = ([name, value]: [string, unknown]): boolean => {
      const [mine, theirs] = [flat({ [name]: value }), flat({ [name]: (now as Fields)[name] })];
      return Object.keys({ ...mine, ...theirs }).some((each) => textOf(mine[each]) !== textOf(theirs[each]));
    };
    const changes = Object.fromEntries(Object.entries(form).filter(isChanged)) as Partial<Body>;
    if (Object.keys(changes).length === 0) return null;
    const saved = (await send(changes)).data ?? now;
    setBefore(saved);
    return saved;
  };
}
