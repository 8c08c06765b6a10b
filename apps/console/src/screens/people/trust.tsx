import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { $api, api, type Schemas } from '../../api';
import {
  Action,
  ConfirmButton,
  Facts,
  Form,
  Loaded,
  Notice,
  Page,
  Row,
  Section,
  TextArea,
  TextField,
  Time,
  type Entered,
} from '../../ui';
import { Ends } from './ends';
import { Explain } from './explain';
import { JobLines } from './job-lines';
import { JOB_SCOPES, ScopePicker } from './parts';
import { conditionLines, conditionsOf, PRESETS, TrustStatus, type Trust as TrustData } from './trusts';

const route = getRouteApi('/signed-in/administrator/automation/trusts/$id');

interface TrustProps {
  readonly trust: TrustData;
}

/** One trust. */
export function Trust() {
  const { id } = route.useParams();
  const trust = $api.useQuery('get', '/api/v1/oidc-trusts/{id}', { params: { path: { id } } });
  return <Loaded query={trust}>{(data) => <Shown key={id} trust={data} />}</Loaded>;
}

const change = (id: string, body: Schemas['UpdateOidcTrustDto']): Promise<unknown> =>
  api.PATCH('/api/v1/oidc-trusts/{id}', { params: { path: { id } }, body });

const Shown = ({ trust }: TrustProps) => (
  <Page
    title={trust.name}
    lead={`${PRESETS[trust.preset]}: jobs that meet all conditions act as its service user.`}
    actions={<State trust={trust} />}
  >
    {trust.warnings.map((warning) => (
      <Notice key={warning} tone="warn">
        {warning}
      </Notice>
    ))}
    <Section title="Trust">
      <Facts
        of={{
          Status: <TrustStatus of={trust} />,
          Issuer: trust.issuer,
          Audience: <code>{trust.audience}</code>,
          'Service user': (
            <Link to="/people/$id" params={{ id: trust.serviceUserId }}>
              {trust.serviceUserEmail}
            </Link>
          ),
          'Last used': <Time at={trust.lastUsedAt} />,
          'Created by': trust.createdByEmail,
        }}
      />
    </Section>
    <Section title="Lines for the job">
      <JobLines trust={trust} />
    </Section>
    <Section title="Why is a token refused?">
      <Explain id={trust.id} />
    </Section>
    <Section title="Conditions and scopes">
      <Form submit="Save" done="Saved." send={(entered) => change(trust.id, changesOf(trust, entered))}>
        <TextField name="name" label="Name" defaultValue={trust.name} maxLength={100} />
        <TextArea
          name="conditions"
          label="Conditions"
          defaultValue={conditionLines(trust.conditions).join('\n')}
          help="A claim and an allowed value on each line. Running jobs lose their access tokens when conditions or scopes change; their sessions continue."
        />
        <ScopePicker of={JOB_SCOPES} chosen={trust.scopes} />
      </Form>
    </Section>
  </Page>
);

/** Conditions and scopes that are sent end access tokens, also when they are the same. */
function changesOf(trust: TrustData, entered: Entered): Schemas['UpdateOidcTrustDto'] {
  const lines = entered.text('conditions');
  const scopes = entered.all('scopes') as TrustData['scopes'];
  const isSame = scopes.toSorted().join(' ') === trust.scopes.toSorted().join(' ');
  return {
    name: entered.text('name'),
    ...(lines === conditionLines(trust.conditions).join('\n') ? {} : { conditions: conditionsOf(lines) }),
    ...(isSame ? {} : { scopes }),
  };
}

function State({ trust: { id, name, isEnabled, ...trust } }: TrustProps) {
  const navigate = useNavigate();
  return (
    <Row>
      {isEnabled ? (
        <ConfirmButton
          kind="normal"
          label="Disable"
          title={`Disable the trust ${name}?`}
          act={() => change(id, { isEnabled: false })}
        >
          <p>
            No job is let in, and running jobs lose their access tokens at once. Sessions that they started
            continue until they end.
          </p>
        </ConfirmButton>
      ) : (
        <Action label="Enable" act={() => change(id, { isEnabled: true })} />
      )}
      <ConfirmButton
        label="Delete"
        title={`Delete the trust ${name}?`}
        act={() => api.DELETE('/api/v1/oidc-trusts/{id}', { params: { path: { id } } })}
        onDone={() => void navigate({ to: '/automation', search: { tab: 'trusts' } })}
      >
        <p>No job is let in any more, and its service user is deleted.</p>
        <Ends user={{ id: trust.serviceUserId, email: trust.serviceUserEmail, isService: true }} />
      </ConfirmButton>
    </Row>
  );
}
