import { getRouteApi } from '@tanstack/react-router';
import { $api, api, type Schemas } from '../../api';
import { Collection, nameColumn } from '../../parts/collection';
import { stateFilter } from '../../parts/filters';
import { Lines } from '../../parts/words';
import { Badge, Empty, Form, Loaded, Muted, Page, Section, SelectField } from '../../ui';
import { TextArea, TextField, Time, type Column } from '../../ui';
import { JOB_SCOPES, RolePicker, ScopePicker } from './parts';

const route = getRouteApi('/signed-in/administrator/automation/trusts/new');

export type Trust = Schemas['OidcTrustDto'];

export const PRESETS: Readonly<Record<Trust['preset'], string>> = {
  GITHUB: 'GitHub Actions',
  GITLAB: 'GitLab CI',
  BUILDKITE: 'Buildkite',
  HCP_TERRAFORM: 'HCP Terraform',
  CUSTOM: 'Another system',
};

const COLUMNS: readonly Column<Trust>[] = [
  nameColumn('/automation/trusts/$id'),
  { head: 'System', cell: ({ preset }) => PRESETS[preset] },
  { head: 'Conditions', cell: ({ conditions }) => <Muted>{linesOf(conditions).join(', ')}</Muted> },
  { head: 'Status', cell: (trust) => <TrustStatus of={trust} /> },
  { head: 'Last used', cell: ({ lastUsedAt }) => <Time at={lastUsedAt} none="never" /> },
];

/** The trusts of CI jobs. */
export const Trusts = () => (
  <Collection
    caption="CI trusts"
    path="/api/v1/oidc-trusts"
    columns={COLUMNS}
    search="name, issuer"
    filters={[stateFilter()]}
    sort="name"
    empty={
      <Empty title="With a trust, jobs of GitHub Actions, GitLab, Buildkite and HCP Terraform need no stored key." />
    }
  />
);

/** Whether jobs are let in, and whether too many are. */
export const TrustStatus = ({ of: { isEnabled, isServiceUserActive, warnings } }: { of: Trust }) => (
  <Lines>
    {isEnabled ? null : <Badge>Disabled</Badge>}
    {isServiceUserActive ? null : <Badge tone="warn">Its service user is inactive</Badge>}
    {isEnabled && isServiceUserActive ? <Badge tone="good">Enabled</Badge> : null}
    {warnings.length > 0 ? <Badge tone="warn">Lets in too much</Badge> : null}
  </Lines>
);

/** Conditions as they are typed: a claim and an allowed value on each line. */
export const linesOf = (conditions: Trust['conditions']): string[] =>
  Object.entries(conditions).flatMap(([claim, values]) => values.map((value) => `${claim}=${value}`));

/** @param lines as `linesOf` has them; several values of one claim are alternatives */
export function conditionsOf(lines: string): Trust['conditions'] {
  const conditions: Trust['conditions'] = {};
  for (const line of lines.split('\n').filter((each) => each.trim() !== '')) {
    const [claim = '', ...value] = line.split('=');
    (conditions[claim.trim()] ??= []).push(value.join('=').trim());
  }
  return conditions;
}

const ADVICE =
  'A claim and an allowed value on each line. Anyone who may push a branch writes what its jobs do: demand what only trusted people decide, and ids rather than names, which can be taken over.';

/** Words are such as `["true"]` where only one value is possible. */
const lineOf = ({ claim, words }: Schemas['DemandedClaimDto']): string =>
  `${claim}=${/^\["(\w+)"\]$/.exec(words ?? '')?.[1] ?? ''}`;

/** A trust that is to be, from the preset of a CI system. */
export function NewTrust() {
  const presets = $api.useQuery('get', '/api/v1/oidc-trusts/presets');
  return (
    <Page
      title="Create a CI trust"
      lead="Jobs whose ID token meets all conditions act as a service user, which gets the name of the trust."
    >
      <Section>
        <Loaded query={presets}>{(all) => <PresetForm all={all} />}</Loaded>
      </Section>
    </Page>
  );
}

function PresetForm({ all }: { all: readonly Schemas['OidcPresetDto'][] }) {
  const navigate = route.useNavigate();
  const { preset: wanted } = route.useSearch();
  const { preset, issuer, demanded, oneOf } = all.find((each) => each.preset === wanted) ?? all[0]!;
  const [first = [], ...others] = oneOf.map((claims) => claims.map(lineOf));
  const ways = others.map((lines) => `Or ${lines.join(' and ')} instead of ${first.join(' and ')}.`);
  return (
    <Form
      submit="Create the trust"
      send={async (entered) => {
        const body = {
          name: entered.text('name'),
          preset,
          conditions: conditionsOf(entered.text('conditions')),
          scopes: entered.all('scopes') as Schemas['WorkloadScope'][],
          roleIds: entered.all('roleIds'),
          issuer: entered.optional('issuer') ?? null,
        };
        const { id } = (await api.POST('/api/v1/oidc-trusts', { body })).data!;
        await navigate({ to: '/automation/trusts/$id', params: { id } });
      }}
    >
      <SelectField
        name="preset"
        label="CI system"
        value={preset}
        options={all.map((each) => [each.preset, PRESETS[each.preset]])}
        onChange={(next) => void navigate({ search: { preset: next }, replace: true })}
      />
      <TextField name="name" label="Name" maxLength={100} help="What the jobs do: Deploy to production." />
      <TextArea
        key={preset}
        name="conditions"
        label="Conditions"
        rows={5}
        placeholder="claim=value"
        defaultValue={[...demanded.map((claim) => `${claim}=`), ...first].join('\n')}
        help={[ADVICE, ...ways].join(' ')}
      />
      <TextField
        name="issuer"
        label="Issuer"
        type="url"
        required={issuer === null}
        placeholder={issuer ?? 'https://'}
        help="The iss claim of its tokens. The operator of this deployment decides which issuers are allowed."
      />
      <RolePicker />
      <ScopePicker of={JOB_SCOPES} />
    </Form>
  );
}
