import { CHOICES } from '#client';
import { CONDITIONS, type OidcTrust } from '../../builders/sso/oidc';
import { organization } from '../../builders/accounts/organization';
import type { Answer, ApiClient } from '../../harness/product/api-client';
import { Drawbridge } from '../../harness/product/drawbridge';
import { until } from '../../harness/until';

const CUSTOM = 'https://issuer.example.com';
const BUILDKITE = 'https://agent.buildkite.com';
const HCP = 'https://app.terraform.io';
const OWN_GITLAB = 'https://gitlab.example.com';
const GITHUB_ACTIONS = 'https://token.actions.githubusercontent.com';
const IDS = { repository_id: ['74'], repository_owner_id: ['65'] };
const WORKFLOW = 'octo/app/.github/workflows/deploy.yml';

const drawbridge = Drawbridge.own({
  worker: false,
  api: {
    OIDC_ISSUERS: `${CUSTOM},${GITHUB_ACTIONS},https://gitlab.com,${BUILDKITE},${HCP},GITLAB=${OWN_GITLAB}`,
  },
});
let admin: ApiClient;
let names = 0;

beforeAll(async () => {
  ({ admin } = await organization(drawbridge));
});

interface Preset {
  readonly preset: string;
  readonly issuer: string | null;
  readonly demanded: readonly string[];
  readonly oneOf: readonly (readonly { readonly claim: string; readonly words: string | null }[])[];
}

type Refusal = Answer<{ message: string; validationErrors: Record<string, string> }>;

const GITHUB = { preset: 'GITHUB', conditions: CONDITIONS };
const post = <T>(body: object): Promise<Answer<T>> =>
  admin.post<T>('/oidc-trusts', { name: `Trust ${(names += 1)}`, scopes: ['sessions:write'], ...body });
const made = (body: object): Promise<OidcTrust> => admin.expect(201, post<OidcTrust>(body));
const refusalOf = async (body: object): Promise<string[]> => {
  const { status, body: refusal }: Refusal = await post(body);
  return [String(status), ...Object.entries(refusal.validationErrors).flat()];
};

describe('GET /oidc-trusts/presets', () => {
  it('says what each preset demands: conditions that follow it are taken', async () => {
    const presets = await admin.expect(200, admin.get<Preset[]>('/oidc-trusts/presets'));
    expect(presets.map(({ preset }) => preset)).toEqual(CHOICES.OidcPreset);
    for (const { preset, issuer, demanded, oneOf } of presets) {
      for (const further of oneOf.length > 0 ? oneOf : [[{ claim: 'environment', words: null }]]) {
        const exact = further.map(({ claim, words }) => [claim, words === '["true"]' ? ['true'] : ['main']]);
        const conditions = Object.fromEntries([
          ...demanded.map((claim) => [claim, ['7']]),
          ...exact,
        ]) as object;
        expect(await made({ preset, conditions, ...(issuer ? {} : { issuer: CUSTOM }) })).toMatchObject({
          preset,
        });
        if (oneOf.length === 0) continue;
        const [[name]] = exact as [[string]];
        expect(await refusalOf({ preset, conditions: { ...conditions, [name]: undefined } })).toContain(
          '400',
        );
      }
    }
  });
});

describe('POST /oidc-trusts', () => {
  it.each([
    ['GITLAB', { project_id: ['7'], ref_protected: ['true'] }, 'https://gitlab.com'],
    [
      'GITLAB',
      { project_id: ['7'], environment: ['production'], environment_protected: ['true'] },
      'https://gitlab.com',
    ],
    ['BUILDKITE', { organization_id: ['o'], pipeline_id: ['p'] }, BUILDKITE],
    ['GITHUB', { ...IDS, ref: ['refs/heads/*'] }, GITHUB_ACTIONS],
    [
      'GITHUB',
      { ...IDS, job_workflow_ref: [`${WORKFLOW}@*`], workflow_ref: [`${WORKFLOW}@refs/heads/*`] },
      GITHUB_ACTIONS,
    ],
  ])('takes for %s the conditions %j, with the issuer %s', async (preset, conditions, issuer) => {
    expect(await made({ preset, conditions })).toMatchObject({ issuer });
  });

  it('takes an issuer that the operator has bound to a preset', async () => {
    const conditions = { project_id: ['7'], ref_protected: ['true'] };
    const trust = await made({ preset: 'GITLAB', issuer: OWN_GITLAB, conditions });
    expect([trust.issuer, trust.warnings]).toEqual([OWN_GITLAB, []]);
  });

  it('without a preset takes an issuer that the operator allows', async () => {
    const trust = await made({ issuer: CUSTOM, conditions: { sub: ['job'] } });
    expect([trust.preset, trust.issuer]).toEqual(['CUSTOM', CUSTOM]);
  });

  const PRODUCTION = { project_id: ['7'], environment: ['production'] };
  const TERRAFORM = { terraform_organization_id: ['org-1'], terraform_workspace_id: ['ws-1'] };
  const OF_ONE_BRANCH = 'environment or ref or workflow_ref';
  const IF_PROTECTED = 'ref_protected ["true"] or environment and environment_protected ["true"]';

  it.each<[preset: string, conditions: object, words: string]>([
    ['GITHUB', { repository_id: ['1'], ref: ['r'] }, 'repository_owner_id'],
    ['GITHUB', { ref: ['r'] }, 'repository_id and repository_owner_id'],
    ['GITHUB', { repository: ['octo/repo'], ref: ['r'] }, 'repository_id'],
    ['GITHUB', IDS, OF_ONE_BRANCH],
    // every branch may call a reusable workflow
    ['GITHUB', { ...IDS, job_workflow_ref: [`${WORKFLOW}@refs/heads/main`] }, OF_ONE_BRANCH],
    ['GITHUB', { ...IDS, workflow_ref: [`${WORKFLOW}@*`] }, OF_ONE_BRANCH],
    ['GITHUB', { ...CONDITIONS, sub: ['x'] }, 'sub'],
    ['GITHUB', { ...IDS, ref: ['*'] }, 'ref'],
    ['GITHUB', { ...IDS, ref: ['refs/*'] }, 'refs/heads/'],
    ['GITLAB', { ref_protected: ['true'] }, 'project_id'],
    ['GITLAB', { project_id: ['7'] }, IF_PROTECTED],
    // the pipeline file of every branch may name an environment
    ['GITLAB', PRODUCTION, IF_PROTECTED],
    ['GITLAB', { ...PRODUCTION, environment_protected: ['false'] }, 'environment_protected'],
    ['GITLAB', { project_id: ['7'], ref_protected: ['true', 'false'] }, 'ref_protected'],
    ['BUILDKITE', { organization_id: ['o'] }, 'pipeline_id'],
    // which lets in the plans of pull requests
    ['HCP_TERRAFORM', TERRAFORM, 'terraform_run_phase'],
    [
      'HCP_TERRAFORM',
      { terraform_workspace_name: ['network'], terraform_run_phase: ['apply'] },
      'terraform_organization_id and terraform_workspace_id',
    ],
    ['GITHUB', [], 'must be an object'],
    ['GITHUB', { ...CONDITIONS, actor: 'ada' }, 'actor'],
    ['GITHUB', { ...CONDITIONS, actor: [] }, 'actor'],
    ['GITHUB', { ...CONDITIONS, repository_id: [74] }, 'repository_id'],
    ['GITHUB', { ...CONDITIONS, environment: ['prod*'] }, 'environment'],
    ['GITHUB', { ...CONDITIONS, ref: ['refs/heads/*/x'] }, 'at the end'],
    ['GITHUB', { ...CONDITIONS, job_workflow_ref: ['octo-org*'] }, 'after a /'],
    ['GITHUB', { ...CONDITIONS, aud: ['x'] }, 'always checked'],
    ['GITHUB', { ...CONDITIONS, 'a b': ['x'] }, 'must name claims'],
  ])('refuses for %s the conditions %j: 400 that says %s', async (preset, conditions, words) => {
    expect(await refusalOf({ preset, conditions })).toEqual([
      '400',
      'conditions',
      expect.stringContaining(words),
    ]);
  });

  const SUB = { conditions: { sub: ['x'] } };
  it.each<[string, object, string, string]>([
    [
      'an unknown preset',
      { ...SUB, preset: 'JENKINS' },
      'preset',
      'GITHUB, GITLAB, BUILDKITE, HCP_TERRAFORM, CUSTOM',
    ],
    ['CUSTOM without an issuer', SUB, 'issuer', 'needed'],
    ['CUSTOM with the issuer of GitHub', { ...SUB, issuer: GITHUB_ACTIONS }, 'issuer', 'GITHUB'],
    ['CUSTOM with the issuer of HCP Terraform', { ...SUB, issuer: HCP }, 'issuer', 'HCP_TERRAFORM'],
    ['CUSTOM with an issuer bound to a preset', { ...SUB, issuer: OWN_GITLAB }, 'issuer', 'GITLAB'],
    ['an issuer not allowed', { ...SUB, issuer: 'https://evil.example.com' }, 'issuer', 'OIDC_ISSUERS'],
    ['no conditions', { issuer: CUSTOM, conditions: {} }, 'conditions', 'at least one claim'],
    ['a scope for administrators', { ...GITHUB, scopes: ['audit:read'] }, 'scopes', 'must hold only'],
    ['a scope for hosts', { ...GITHUB, scopes: ['agent:connect'] }, 'scopes', 'must hold only'],
    ['no scope', { ...GITHUB, scopes: [] }, 'scopes', 'at least one'],
    ['no name', { ...GITHUB, name: ' ' }, 'name', 'must not be empty'],
  ])('refuses %s: 400 that names the field and the fix', async (_, body, field, text) => {
    expect(await refusalOf(body)).toEqual(['400', field, expect.stringContaining(text)]);
  });
});

describe('A trust of before that lets more jobs in than its preset would', () => {
  it('says what to add, in the API and in the log of a start', async () => {
    const conditions = { project_id: ['7'], ref_protected: ['true'] };
    const { id } = await made({ preset: 'GITLAB', conditions });
    await drawbridge.query(
      `UPDATE oidc_trusts SET conditions = '{"project_id": ["7"], "environment": ["production"]}' WHERE id = $1`,
      [id],
    );
    const warning =
      'conditions must also name ref_protected ["true"] or environment and environment_protected ["true"]';
    const weak = await admin.expect(200, admin.get<OidcTrust>(`/oidc-trusts/${id}`));
    expect(weak.warnings).toEqual([warning]);
    const api = await drawbridge.startApi({ OIDC_ISSUERS: 'https://gitlab.com' });
    await until('the start names the trust', () => Promise.resolve(api.output.includes(id)));
    const line = api.output.split('\n').find((text) => text.includes(id));
    expect(JSON.parse(line!)).toMatchObject({ level: 40, trustId: id, warnings: [warning] });
  });
});
