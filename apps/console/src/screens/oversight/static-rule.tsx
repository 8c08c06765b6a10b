import { getRouteApi } from '@tanstack/react-router';
import { $api, api, live, type Schemas } from '../../api';
import { Action, ButtonLink, ConfirmButton, Facts, Form, Loaded, Page, Row, Section, Stack } from '../../ui';
import { TextField, Time } from '../../ui';
import { ResourceStates, Status } from './states';
import { ResourcePicker } from './static-rules';

type Rule = Schemas['StaticIpRuleDto'];

const route = getRouteApi('/signed-in/administrator/static-rules/$id');

/** One static IP rule. */
export function StaticRule() {
  const { id } = route.useParams();
  const rule = $api.useQuery(
    'get',
    '/api/v1/static-ip-rules/{id}',
    { params: { path: { id } } },
    live(({ status }: Rule) => status === 'PENDING'),
  );
  return (
    <Loaded query={rule}>
      {(shown) => (
        <Page
          title={shown.label}
          actions={
            <Row>
              <ButtonLink to="/audit" search={{ resourceId: id }}>
                Audit trail
              </ButtonLink>
              <Delete rule={shown} />
            </Row>
          }
        >
          <Section title="Always let in">
            <Facts
              of={{
                Address: <code>{shown.ipAddress}</code>,
                State: <Status of={shown.status} />,
                Resources: <ResourceStates of={shown.resources} />,
                Added: (
                  <>
                    <Time at={shown.createdAt} /> by {shown.createdByEmail}
                  </>
                ),
              }}
            />
            {shown.resources.some(({ status }) => status === 'FAILED') ? (
              <Row>
                <Action label="Try what failed again" act={() => patch(id, { resourceIds: idsOf(shown) })} />
              </Row>
            ) : null}
          </Section>
          <Section title="Change">
            {/* what is being entered stays while the rule is read again */}
            <Form
              key={id}
              submit="Save"
              done="Saved. Resources that you took away are being closed."
              send={(entered) =>
                patch(id, { label: entered.text('label'), resourceIds: entered.all('resourceIds') })
              }
            >
              <TextField name="label" label="Name" maxLength={200} defaultValue={shown.label} />
              <ResourcePicker chosen={idsOf(shown)} />
            </Form>
          </Section>
        </Page>
      )}
    </Loaded>
  );
}

const idsOf = ({ resources }: Rule): string[] => resources.map(({ resourceId }) => resourceId);

const patch = (id: string, body: Schemas['UpdateStaticIpRuleDto']): Promise<unknown> =>
  api.PATCH('/api/v1/static-ip-rules/{id}', { params: { path: { id } }, body });

function Delete({ rule: { id, label, ipAddress, resources } }: { readonly rule: Rule }) {
  const navigate = route.useNavigate();
  return (
    <ConfirmButton
      label="Delete"
      title={`Delete “${label}”?`}
      act={() => api.DELETE('/api/v1/static-ip-rules/{id}', { params: { path: { id } } })}
      onDone={() => void navigate({ to: '/static-rules' })}
    >
      <Stack>
        <p>
          <code>{ipAddress}</code> will be closed on:
        </p>
        <ul>
          {resources.map(({ resourceId, resourceName }) => (
            <li key={resourceId}>{resourceName}</li>
          ))}
        </ul>
      </Stack>
    </ConfirmButton>
  );
}
