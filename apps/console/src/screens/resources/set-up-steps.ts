export const STEPS = ['credential', 'resource', 'role', 'done'] as const;
export type Step = (typeof STEPS)[number];

export const TITLES: Readonly<Record<Step, string>> = {
  credential: 'Credential',
  resource: 'Resource',
  role: 'Role',
  done: 'Let people in',
};

/** The step, and what was made or chosen in those before: all of it is in the address. */
export interface SetUpSearch {
  readonly step?: Step;
  readonly credential?: string;
  readonly resource?: string;
  readonly role?: string;
}

const MADE = ['credential', 'resource', 'role'] as const;

/** Reads an address. What does not fit is ignored. */
export function readSetUp(search: Record<string, unknown>): SetUpSearch {
  const step = STEPS.find((each) => each === search['step']);
  const made = MADE.map((name) => [name, search[name]] as const).filter(([, id]) => typeof id === 'string');
  return { ...(step ? { step } : {}), ...Object.fromEntries(made) };
}

/** The step that is shown: each needs what those before have made. */
export function stepOf({ step = 'credential', credential, resource, role }: SetUpSearch): Step {
  const missing = [credential, resource, role].indexOf(undefined);
  const reachable = missing === -1 ? STEPS : STEPS.slice(0, missing + 1);
  return reachable.includes(step) ? step : reachable.at(-1)!;
}

/** The address of a step, without what it and the later ones have made: it asks again. */
export function backTo(step: Step, search: SetUpSearch): SetUpSearch {
  const kept = MADE.slice(0, STEPS.indexOf(step)).map((name) => [name, search[name]] as const);
  return readSetUp({ step, ...Object.fromEntries(kept) });
}
