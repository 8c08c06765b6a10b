import { api, type Schemas } from '../../api';
import { Collection, timeColumn } from '../../parts/collection';
import type { Credential } from '../../parts/types';
import { count, Lines, Reason } from '../../parts/words';
import {
  Action,
  Badge,
  DialogButton,
  Empty,
  Form,
  Muted,
  Notice,
  Row,
  Section,
  TextField,
  type Column,
} from '../../ui';

type Account = Schemas['CloudAccountDto'];

const PATH = '/api/v1/credentials/{id}/accounts';

/** Whether a credential is for many accounts: each of its resources names its own. */
export const isForMany = ({ hints }: Credential): boolean =>
  Object.values(hints).some((hint) => hint.includes('{account}'));

const columnsOf = (id: string): readonly Column<Account>[] => [
  {
    head: 'Account',
    sort: 'account',
    cell: ({ account, label, listedState }) => (
      <Lines>
        {label ?? <Muted>no name</Muted>}
        <code>{account}</code>
        {listedState === null ? null : <Muted>{listedState}</Muted>}
      </Lines>
    ),
  },
  { head: 'Resources', sort: 'resources', cell: ({ resources }) => count(resources, 'resource') },
  {
    head: 'State',
    cell: ({ isValid, verificationError }) =>
      isValid === null ? (
        <Badge>not verified yet</Badge>
      ) : (
        <Lines>
          <Badge tone={isValid ? 'good' : 'bad'}>{isValid ? 'accepted' : 'refused'}</Badge>
          {verificationError === null ? null : <Reason isBad>{verificationError}</Reason>}
        </Lines>
      ),
  },
  timeColumn('Last verified', 'lastVerifiedAt'),
  {
    head: 'Change',
    cell: ({ account, label, resources }) => {
      const params = { path: { id, account } };
      return (
        <Row>
          <DialogButton label="Name" title={`Name the account ${account}`}>
            {(close) => (
              <Form
                submit="Save"
                onDone={close}
                onCancel={close}
                send={(entered) =>
                  api.PATCH(`${PATH}/{account}`, { params, body: { label: entered.text('label') || null } })
                }
              >
                <TextField
                  name="label"
                  label="Name"
                  required={false}
                  maxLength={100}
                  defaultValue={label ?? ''}
                  help="Empty: as the provider calls it."
                />
              </Form>
            )}
          </DialogButton>
          {resources === 0 ? null : (
            <Action label="Verify" act={() => api.POST(`${PATH}/{account}/verify`, { params })} />
          )}
        </Row>
      );
    },
  },
];

/** The accounts that one credential reaches. */
export const CloudAccounts = ({ of: { id, accountsError } }: { of: Credential }) => (
  <Section
    title="Accounts"
    actions={
      <Action
        label="List those of the provider"
        announcement="The provider is asked. The accounts appear here."
        act={() => api.POST(`${PATH}/refresh`, { params: { path: { id } } })}
      />
    }
  >
    {accountsError === null ? null : <Notice tone="warn">{accountsError}</Notice>}
    <Collection
      caption="Accounts"
      path={PATH}
      of={{ id }}
      columns={columnsOf(id)}
      sort="account"
      isBeside
      empty={<Empty title="No resource is in an account yet" />}
    />
  </Section>
);
