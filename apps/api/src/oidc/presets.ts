import type { OidcPreset } from '#entities';
import type { OidcConditions } from '#tenant-store';

/** What the conditions of a CI system's trusts must pin, so that no other project fits. */
interface Preset {
  /** null: any issuer that the operator allows */
  readonly issuer: string | null;
  /** claims with ids that are never used again: names can be taken over after a deletion or a change of name */
  readonly ids: readonly string[];
  /** at least one of these lists: what not everybody who may push a branch can put into a token */
  readonly oneOf: readonly (readonly Demand[])[];
  /** claims that must not be used, with the reason */
  readonly never: Readonly<Record<string, string>>;
  /** prefixes that a value of `ref` with `*` may have; none: any */
  readonly refPrefixes: readonly string[];
}

interface Demand {
  readonly claim: string;
  /** what every value must be like, with its text; absent: anything */
  readonly like?: readonly [RegExp, text: string];
}

const TRUE = [/^true$/, '["true"]'] as const;
/** A `*` before the ref would let every branch in. */
const WITH_REF = [/^[^*]*$|@refs\/(?:heads|tags)\//, 'with @refs/heads/ or @refs/tags/ in it'] as const;

export const PRESETS: Readonly<Record<OidcPreset, Preset>> = {
  GITHUB: {
    issuer: 'https://token.actions.githubusercontent.com',
    ids: ['repository_id', 'repository_owner_id'],
    // job_workflow_ref names the called workflow: any branch may call it
    oneOf: [[{ claim: 'environment' }], [{ claim: 'ref' }], [{ claim: 'workflow_ref', like: WITH_REF }]],
    never: { sub: 'its form depends on settings of the repository' },
    refPrefixes: ['refs/heads/', 'refs/tags/'],
  },
  GITLAB: {
    issuer: 'https://gitlab.com',
    ids: ['project_id'],
    // the pipeline file of any branch may name an environment: GitLab limits who deploys to a protected one only
    oneOf: [
      [{ claim: 'ref_protected', like: TRUE }],
      [{ claim: 'environment' }, { claim: 'environment_protected', like: TRUE }],
    ],
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
  HCP_TERRAFORM: {
    issuer: 'https://app.terraform.io',
    ids: ['terraform_organization_id', 'terraform_workspace_id'],
    // speculative plans of pull requests get tokens as well
    oneOf: [[{ claim: 'terraform_run_phase' }]],
    never: {},
    refPrefixes: [],
  },
  CUSTOM: { issuer: null, ids: [], oneOf: [], never: {}, refPrefixes: [] },
};

/** Why well-formed conditions do not suffice for a preset, follows the name of the field; null: they do. */
export function presetRefusal(preset: OidcPreset, conditions: OidcConditions): string | null {
  const { ids, oneOf, never, refPrefixes } = PRESETS[preset];
  const missing = ids.filter((claim) => !Object.hasOwn(conditions, claim));
  if (missing.length > 0) return `must name ${missing.join(' and ')}: ids that are never used again`;
  if (oneOf.length > 0 && !oneOf.some((demands) => demands.every((one) => isMet(one, conditions))))
    return `must also name ${oneOf.map((demands) => demands.map(described).join(' and ')).join(' or ')}`;
  const [refused] = Object.keys(never).filter((claim) => Object.hasOwn(conditions, claim));
  if (refused !== undefined) return `must not name ${refused}: ${never[refused]}`;
  const wide = (conditions['ref'] ?? []).some(
    (value) => value.endsWith('*') && !refPrefixes.some((prefix) => value.startsWith(prefix)),
  );
  return wide && refPrefixes.length > 0
    ? `must have ${refPrefixes.join(' or ')} at the start of a ref with *`
    : null;
}

const isMet = ({ claim, like: [form] = [/^/, ''] }: Demand, conditions: OidcConditions): boolean =>
  Object.hasOwn(conditions, claim) && conditions[claim]!.every((allowed) => form.test(allowed));

const described = ({ claim, like }: Demand): string => (like ? `${claim} ${like[1]}` : claim);

/** Events of GitHub that run a workflow with the repository's rights on what strangers wrote. */
const EVENTS_OF_STRANGERS: readonly string[] = ['pull_request_target', 'issue_comment', 'workflow_run'];

/** Whether a trust of GitHub refuses an event that it does not name. An absent one is refused, too. */
export const isEventOfStrangers = (event: unknown): boolean =>
  typeof event !== 'string' || EVENTS_OF_STRANGERS.includes(event);

export const EVENTS_OF_STRANGERS_TEXT = `none of ${EVENTS_OF_STRANGERS.join(', ')}, which a trust has to name`;
