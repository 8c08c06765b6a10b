import { Link } from '@tanstack/react-router';
import { api, type Schemas } from '../../api';
import { Collection, timeColumn } from '../../parts/collection';
import { stateFilter } from '../../parts/filters';
import type { Credential } from '../../parts/types';
import { count, Lines, Reason, wordsOf } from '../../parts/words';
import { Action, Badge, Empty, FormButton, Muted, Notice, Row, Section, TextField } from '../../ui';
import type { Column } from '../../ui';
import { CredentialBadge, VALIDITY } from './credential';

type Account = Schemas['CloudAccountDto'];

const PATH = '/api/v1/credentials/{id}/accounts';

const columnsOf = (id: string): readonly Column<Account>[] => [
  {
    head: 'Account',
    sort: 'account',
    cell: ({ account, label, listedState }) => (
      <Lines>
        {label ?? <Muted>no name</Muted>}
        <code>{account}</code>
        {listedState === null ? null : <Muted>{wordsOf(listedState)}</Muted>}
      </Lines>
    ),
  },
  { head: 'Resources', sort: 'resources', cell: ({ resources }) => count(resources, 'resource') },
  {
    head: 'State',
    cell: (account) =>
      account.resources === 0 && account.isValid === null ? (
        <Badge>not in use</Badge>
      ) : (
        <Lines>
          <CredentialBadge of={account} />
          {account.verificationError === null ? null : <Reason isBad>{account.verificationError}</Reason>}
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
          <FormButton
            label="Rename"
            title={`Rename the account ${account}`}
            submit="Save"
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
          </FormButton>
          {resources === 0 ? null : (
            <Action label="Verify" act={() => api.POST(`${PATH}/{account}/verify`, { params })} />
          )}
        </Row>
      );
    },
  },
];

const STATE = stateFilter({ ...VALIDITY, UNUSED: 'not in use' });

/** The accounts that one credential reaches. */
export const CloudAccounts = ({ of: { id, accountsError } }: { of: Credential }) => (
  <Section
    title="Accounts"
    actions={
      <Action
        label="Refresh the list"
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
      search="account, name"
      filters={[STATE]}
      sort="account"
      empty={
        <Empty title="No resource is in an account yet">
          <Link to="/set-up" search={{ step: 'resource', credential: id }}>
            Add a resource
          </Link>
        </Empty>
      }
    />
  </Section>
);
