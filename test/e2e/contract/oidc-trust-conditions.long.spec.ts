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

const drawbridge = Drawbridge.own({
  worker: false,
  api: {
    OIDC_ISSUERS: `${CUSTOM},https://token.actions.githubusercontent.com,https://gitlab.com,${BUILDKITE},${HCP},GITLAB=${OWN_GITLAB}`,
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
    ['GITLAB', 'https://gitlab.com', { project_id: ['7'], ref_protected: ['true'] }],
    [
      'GITLAB',
      'https://gitlab.com',
      { project_id: ['7'], environment: ['production'], environment_protected: ['true'] },
    ],
    ['BUILDKITE', BUILDKITE, { organization_id: ['o'], pipeline_id: ['p'] }],
    ['GITHUB', undefined, { repository_id: ['1'], repository_owner_id: ['2'], ref: ['refs/heads/*'] }],
    [
      'GITHUB',
      undefined,
      {
        repository_id: ['1'],
        repository_owner_id: ['2'],
        job_workflow_ref: ['octo/ci/.github/workflows/deploy.yml@*'],
        workflow_ref: ['octo/app/.github/workflows/deploy.yml@refs/heads/*'],
      },
    ],
  ])('takes conditions that suffice for %s (%s)', async (preset, at, conditions) => {
    const trust = await made({ preset, conditions });
    expect(trust.issuer).toBe(at ?? 'https://token.actions.githubusercontent.com');
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

  const IDS = { repository_id: ['74'], repository_owner_id: ['65'] };
  it.each<[string, object, string, string]>([
    [
      'GITHUB without the owner',
      { preset: 'GITHUB', conditions: { repository_id: ['1'], ref: ['r'] } },
      'conditions',
      'repository_owner_id',
    ],
    [
      'GITHUB without ids',
      { preset: 'GITHUB', conditions: { ref: ['r'] } },
      'conditions',
      'repository_id and repository_owner_id',
    ],
    [
      'GITHUB with names only',
      { preset: 'GITHUB', conditions: { repository: ['octo/repo'], ref: ['r'] } },
      'conditions',
      'repository_id',
    ],
    [
      'GITHUB with ids only',
      { preset: 'GITHUB', conditions: IDS },
      'conditions',
      'environment or ref or workflow_ref',
    ],
    [
      'GITHUB with a reusable workflow, which every branch may call',
      {
        preset: 'GITHUB',
        conditions: { ...IDS, job_workflow_ref: ['octo/ci/.github/workflows/deploy.yml@refs/heads/main'] },
      },
      'conditions',
      'environment or ref or workflow_ref',
    ],
    [
      'GITHUB with a workflow of any branch',
      {
        preset: 'GITHUB',
        conditions: { ...IDS, workflow_ref: ['octo/app/.github/workflows/deploy.yml@*'] },
      },
      'conditions',
      'environment or ref or workflow_ref',
    ],
    ['GITHUB with sub', { preset: 'GITHUB', conditions: { ...CONDITIONS, sub: ['x'] } }, 'conditions', 'sub'],
    ['GITHUB with any ref', { preset: 'GITHUB', conditions: { ...IDS, ref: ['*'] } }, 'conditions', 'ref'],
    [
      'GITHUB with almost any ref',
      { preset: 'GITHUB', conditions: { ...IDS, ref: ['refs/*'] } },
      'conditions',
      'refs/heads/',
    ],
    [
      'GITLAB without the project',
      { preset: 'GITLAB', conditions: { ref_protected: ['true'] } },
      'conditions',
      'project_id',
    ],
    [
      'GITLAB with the project only',
      { preset: 'GITLAB', conditions: { project_id: ['7'] } },
      'conditions',
      'ref_protected ["true"] or environment and environment_protected ["true"]',
    ],
    [
      'GITLAB with an environment, which the pipeline file of every branch may name',
      { preset: 'GITLAB', conditions: { project_id: ['7'], environment: ['production'] } },
      'conditions',
      'environment and environment_protected ["true"]',
    ],
    [
      'GITLAB with environments that are not protected',
      {
        preset: 'GITLAB',
        conditions: { project_id: ['7'], environment: ['production'], environment_protected: ['false'] },
      },
      'conditions',
      'environment_protected',
    ],
    [
      'GITLAB with unprotected refs',
      { preset: 'GITLAB', conditions: { project_id: ['7'], ref_protected: ['true', 'false'] } },
      'conditions',
      'ref_protected',
    ],
    [
      'BUILDKITE without the pipeline',
      { preset: 'BUILDKITE', conditions: { organization_id: ['o'] } },
      'conditions',
      'pipeline_id',
    ],
    [
      'HCP_TERRAFORM without a phase, which lets in the plans of pull requests',
      {
        preset: 'HCP_TERRAFORM',
        conditions: { terraform_organization_id: ['org-1'], terraform_workspace_id: ['ws-1'] },
      },
      'conditions',
      'terraform_run_phase',
    ],
    [
      'HCP_TERRAFORM with names only',
      {
        preset: 'HCP_TERRAFORM',
        conditions: { terraform_workspace_name: ['network'], terraform_run_phase: ['apply'] },
      },
      'conditions',
      'terraform_organization_id and terraform_workspace_id',
    ],
    [
      'an unknown preset',
      { preset: 'JENKINS', conditions: { sub: ['x'] } },
      'preset',
      'GITHUB, GITLAB, BUILDKITE, HCP_TERRAFORM, CUSTOM',
    ],
    ['CUSTOM without an issuer', { conditions: { sub: ['x'] } }, 'issuer', 'needed'],
    [
      'CUSTOM with the issuer of GitHub',
      { issuer: 'https://token.actions.githubusercontent.com', conditions: { sub: ['x'] } },
      'issuer',
      'GITHUB',
    ],
    [
      'CUSTOM with the issuer of HCP Terraform',
      { issuer: HCP, conditions: { sub: ['x'] } },
      'issuer',
      'HCP_TERRAFORM',
    ],
    [
      'CUSTOM with an issuer that the operator has bound to a preset',
      { issuer: OWN_GITLAB, conditions: { sub: ['x'] } },
      'issuer',
      'GITLAB',
    ],
    [
      'an issuer that is not allowed',
      { issuer: 'https://evil.example.com', conditions: { sub: ['x'] } },
      'issuer',
      'OIDC_ISSUERS',
    ],
    [
      'no conditions',
      { issuer: 'https://x.example.com', conditions: {} },
      'conditions',
      'at least one claim',
    ],
    ['a list of conditions', { preset: 'GITHUB', conditions: [] }, 'conditions', 'must be an object'],
    [
      'a text as condition',
      { preset: 'GITHUB', conditions: { ...CONDITIONS, actor: 'ada' } },
      'conditions',
      'actor',
    ],
    [
      'an empty list of values',
      { preset: 'GITHUB', conditions: { ...CONDITIONS, actor: [] } },
      'conditions',
      'actor',
    ],
    [
      'a number as value',
      { preset: 'GITHUB', conditions: { ...CONDITIONS, repository_id: [74] } },
      'conditions',
      'repository_id',
    ],
    [
      '* in an exact claim',
      { preset: 'GITHUB', conditions: { ...CONDITIONS, environment: ['prod*'] } },
      'conditions',
      'environment',
    ],
    [
      '* in the middle',
      { preset: 'GITHUB', conditions: { ...CONDITIONS, ref: ['refs/heads/*/x'] } },
      'conditions',
      'at the end',
    ],
    [
      '* within the name of a repository',
      { preset: 'GITHUB', conditions: { ...CONDITIONS, job_workflow_ref: ['octo-org*'] } },
      'conditions',
      'after a /',
    ],
    [
      'a condition on aud',
      { preset: 'GITHUB', conditions: { ...CONDITIONS, aud: ['x'] } },
      'conditions',
      'always checked',
    ],
    [
      'a claim of a strange name',
      { preset: 'GITHUB', conditions: { ...CONDITIONS, 'a b': ['x'] } },
      'conditions',
      'must name claims',
    ],
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
