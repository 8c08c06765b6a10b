import { createContext, useContext } from 'react';

interface Problems {
  readonly fields: Readonly<Record<string, string>>;
  readonly alias: Readonly<Record<string, string>>;
}

const Context = createContext<Problems>({ fields: {}, alias: {} });

/** Gives the fields below their messages. */
export const FieldProblems = Context.Provider;

/** The API's messages follow the name of the field, as in "must be an address". */
export const messageFor = (label: string, message: string): string => `${label} ${message}`;

/** What the API says about a field of the form. @param name of the field */
export function useProblem(name: string): string | null {
  const { fields, alias } = useContext(Context);
  const named = Object.entries(fields).find(([field]) => (alias[field] ?? field) === name);
  return named?.[1] ?? null;
}
