import type { OidcPreset } from '#entities';
import type { OidcConditions } from '#tenant-store';

/** What the conditions of a CI system's trusts must pin, so that no other project fits. */
interface Preset {
  /** null: any issuer that the operator allows */
  readonly issuer: string | null;
  /** claims with ids that are never used again: names can be taken over after a deletion or a change of name */
  readonly ids: readonly string[];
  /** at least one of them; a value: exactly this one */
  readonly oneOf: readonly { readonly claim: string; readonly value?: string }[];
  /** claims that must not be used, with the reason */
  readonly never: Readonly<Record<string, string>>;
  /** prefixes that a value of `ref` with `*` may have; none: any */
  readonly refPrefixes: readonly string[];
}

export const PRESETS: Readonly<Record<OidcPreset, Preset>> = {
  GITHUB: {
    issuer: 'https://token.actions.githubusercontent.com',
    ids: ['repository_id', 'repository_owner_id'],
    oneOf: [{ claim: 'environment' }, { claim: 'ref' }, { claim: 'job_workflow_ref' }],
    never: { sub: 'its form depends on settings of the repository' },
    refPrefixes: ['refs/heads/', 'refs/tags/'],
  },
  GITLAB: {
    issuer: 'https://gitlab.com',
    ids: ['project_id'],
    oneOf: [{ claim: 'ref_protected', value: 'true' }, { claim: 'environment' }],
    never: {},
    refPrefixes: [],
  },
  BUILDKITE: {
    issuer: 'https://agent.buildkite.com',
    ids: ['organization_id', 'pipeline_id'],
    oneOf: [],
    never: {},
    refPrefixes: [],
  },
  CUSTOM: { issuer: null, ids: [], oneOf: [], never: {}, refPrefixes: [] },
};

/** The preset of a public issuer: CUSTOM would avoid its demands. */
export const presetOfIssuer = (issuer: string): OidcPreset | null =>
  (Object.keys(PRESETS) as OidcPreset[]).find((name) => PRESETS[name].issuer === issuer) ?? null;

/** Why well-formed conditions do not suffice for a preset, follows the name of the field; null: they do. */
export function presetRefusal(preset: OidcPreset, conditions: OidcConditions): string | null {
  const { ids, oneOf, never, refPrefixes } = PRESETS[preset];
  const missing = ids.filter((claim) => !Object.hasOwn(conditions, claim));
  if (missing.length > 0) return `must name ${missing.join(' and ')}: ids that are never used again`;
  if (oneOf.length > 0 && !oneOf.some((one) => isMet(one, conditions)))
    return `must also name ${oneOf.map(described).join(' or ')}`;
  const [refused] = Object.keys(never).filter((claim) => Object.hasOwn(conditions, claim));
  if (refused !== undefined) return `must not name ${refused}: ${never[refused]}`;
  const wide = (conditions['ref'] ?? []).some(
    (value) => value.endsWith('*') && !refPrefixes.some((prefix) => value.startsWith(prefix)),
  );
  return wide && refPrefixes.length > 0
    ? `must have ${refPrefixes.join(' or ')} at the start of a ref with *`
    : null;
}

type OneOf = Preset['oneOf'][number];

const isMet = ({ claim, value }: OneOf, conditions: OidcConditions): boolean =>
  Object.hasOwn(conditions, claim) &&
  (value === undefined || conditions[claim]!.every((allowed) => allowed === value));

const described = ({ claim, value }: OneOf): string =>
  value === undefined ? claim : `${claim} ["${value}"]`;

/** Events of GitHub that run a workflow with the repository's rights on what strangers wrote. */
const EVENTS_OF_STRANGERS: readonly string[] = ['pull_request_target', 'issue_comment', 'workflow_run'];

/** Whether a trust of GitHub refuses an event that it does not name. An absent one is refused, too. */
export const isEventOfStrangers = (event: unknown): boolean =>
  typeof event !== 'string' || EVENTS_OF_STRANGERS.includes(event);

export const EVENTS_OF_STRANGERS_TEXT = `none of ${EVENTS_OF_STRANGERS.join(', ')}, which a trust has to name`;
