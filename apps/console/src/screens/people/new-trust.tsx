import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { $api, api, type Schemas } from '../../api';
import {
  Form,
  Loaded,
  Notice,
  Page,
  Section,
  SelectField,
  Tabs,
  TextArea,
  TextField,
  type Entered,
} from '../../ui';
import { JOB_SCOPES, RolePicker, ScopePicker } from './parts';
import { conditionsOf, PRESETS } from './trusts';

const route = getRouteApi('/signed-in/administrator/automation/trusts/new');

type Preset = Schemas['OidcPresetDto'];

/** A trust that is to be, from the preset of a CI system. */
export function NewTrust() {
  const presets = $api.useQuery('get', '/api/v1/oidc-trusts/presets');
  const { preset: wanted } = route.useSearch();
  return (
    <Page
      title="Create a CI trust"
      lead="Jobs whose ID token meets all conditions act as a service user, which gets the name of the trust."
    >
      <Loaded query={presets}>
        {(all) => {
          const preset = all.find((each) => each.preset === wanted) ?? all[0];
          return (
            <>
              <Tabs label="CI system">
                {all.map((each) => (
                  <Link
                    key={each.preset}
                    to="/automation/trusts/new"
                    search={{ preset: each.preset }}
                    {...(each === preset ? { 'aria-current': 'page' } : {})}
                  >
                    {PRESETS[each.preset]}
                  </Link>
                ))}
              </Tabs>
              <Section>{preset ? <PresetForm key={preset.preset} preset={preset} /> : null}</Section>
            </>
          );
        }}
      </Loaded>
    </Page>
  );
}

function PresetForm({ preset: { preset, demanded, oneOf, refused, issuer } }: { readonly preset: Preset }) {
  const navigate = useNavigate();
  const [alternative, setAlternative] = useState(0);
  const claims = [...demanded, ...(oneOf[alternative] ?? []).map(({ claim }) => claim)];
  return (
    <Form
      submit="Create the trust"
      send={async (entered) => {
        const body = {
          name: entered.text('name'),
          preset,
          conditions: conditionsFrom(entered, claims),
          scopes: entered.all('scopes') as Schemas['WorkloadScope'][],
          roleIds: entered.all('roleIds'),
          issuer: entered.optional('issuer') ?? null,
        };
        const { id } = (await api.POST('/api/v1/oidc-trusts', { body })).data!;
        await navigate({ to: '/automation/trusts/$id', params: { id } });
      }}
    >
      <TextField
        name="name"
        label="Name"
        maxLength={100}
        help="What the jobs do, such as Deploy to production."
      />
      {demanded.map((claim) => (
        <Claim key={claim} claim={claim} help="Its id, not its name: a name can be taken over." />
      ))}
      {oneOf.length > 1 ? (
        <SelectField
          name="alternative"
          label="Which jobs"
          value={String(alternative)}
          onChange={(value) => setAlternative(Number(value))}
          options={oneOf.map((each, index) => [
            `${index}`,
            `by ${each.map(({ claim }) => claim).join(' and ')}`,
          ])}
          help="Whoever may push a branch writes what its jobs do: choose what only trusted people decide."
        />
      ) : null}
      {(oneOf[alternative] ?? []).map(({ claim, words }) => (
        <Claim
          key={claim}
          claim={claim}
          value={onlyValue(words)}
          help={words && `It must be ${onlyValue(words) ?? words}.`}
        />
      ))}
      {oneOf.length === 0 ? (
        <Notice tone="warn">
          Nothing here limits the branches: add a condition that only trusted people decide, or use a pipeline
          that only they can start.
        </Notice>
      ) : null}
      <TextArea
        name="conditions"
        label={claims.length > 0 ? 'Further conditions' : 'Conditions'}
        required={claims.length === 0}
        placeholder="claim=value"
        help={`A claim and an allowed value on each line; one claim may have several. ${refused
          .map(({ claim, reason }) => `Not ${claim}: ${reason}.`)
          .join(' ')}`}
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

const Claim = (of: { claim: string; value?: string | undefined; help: string | null }) => (
  <TextField name={`claim.${of.claim}`} label={of.claim} defaultValue={of.value} help={of.help} />
);

/** @param words such as `["true"]`: then there is nothing to choose */
const onlyValue = (words: string | null): string | undefined => /^\["(\w+)"\]$/.exec(words ?? '')?.[1];

function conditionsFrom(entered: Entered, claims: readonly string[]): Record<string, string[]> {
  const conditions = conditionsOf(entered.text('conditions'));
  for (const claim of claims)
    conditions[claim] = [entered.text(`claim.${claim}`), ...(conditions[claim] ?? [])];
  return conditions;
}
