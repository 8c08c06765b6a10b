import { id, oneOf, searchOf } from '../../parts/search';

/** The step of the set-up, and what was made or chosen in those before. */
export const setUpSearch = searchOf({
  step: oneOf(['credential', 'resource', 'role', 'done']),
  credential: id,
  resource: id,
  role: id,
});
export type SetUpSearch = ReturnType<typeof setUpSearch>;

/** The parts of a resource's page. */
export const TABS = ['rules', 'people', 'events', 'health', 'guard', 'settings'] as const;
